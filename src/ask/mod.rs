//! The domain: what an ask is, what may be done to it, and what then has happened.
//!
//! Pure: no clock, no async, no wire, no store. [`decide()`] looks at an ask and a command and says
//! which events follow, or why none may; [`evolve()`] folds an event into the ask. Everything else in
//! the program only moves their inputs and outputs. Start reading at [`decide()`].

pub mod answer;
pub mod command;
pub mod content;
mod decide;
pub mod event;
mod evolve;
pub mod limits;
mod moves;
pub mod names;
pub mod plan;
pub mod route;
pub mod text;
pub mod time;

pub use answer::{Answer, Answers};
pub use command::{Command, Draft, Filing, Gone, IdleHops, Rejection};
pub use content::{Content, ContentDigest, Question, QuestionOption, Violation};
pub use decide::decide;
pub use event::{Event, EventKind};
pub use evolve::{evolve, fold};
pub use names::{
    Actor, AgentName, AskId, GroupName, HostName, Namespace, PersonName, RequestId, RouteName,
    SessionId, SessionRef, WorkId,
};
pub use plan::{Plan, PlanFault, PlanHop, PlanPart, PlanTo, Plans};
pub use route::{Cause, Hop, HopInForce, Idle, Route, Skipped, Target};
pub use time::{Now, Span, Timestamp};

use serde::{Deserialize, Serialize};

/// The record: one to four questions, their route and their fate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ask {
    /// Its name everywhere.
    pub id: AskId,
    /// Where it lives; nothing outside sees it.
    pub namespace: Namespace,
    /// How many events have happened to it.
    pub revision: u64,
    /// When it was filed.
    pub create_time: Timestamp,
    /// What is asked.
    pub content: Content,
    /// The fingerprint of `content`.
    pub digest: ContentDigest,
    /// How much it matters to the asker.
    pub priority: Priority,
    /// The session that filed it.
    pub asker: SessionRef,
    /// The work it belongs to.
    pub work: WorkId,
    /// The root of that work: all works under one root are a tree.
    pub tree: WorkId,
    /// Who sent the work, who sent them theirs, and so on: nearest first. Fixed when filed.
    pub chain: Vec<SessionRef>,
    /// Who is asked in turn. Fixed when filed.
    pub route: Route,
    /// Who is asked now, or was last.
    pub hop: HopInForce,
    /// The hops it has waited at, in order.
    pub visited: Vec<usize>,
    /// The asker's own deadline.
    pub expiry: Option<Expiry>,
    /// The person who is on it.
    pub claim: Option<Claim>,
    /// Who was shown what.
    pub seen: Vec<Seen>,
    /// The talk so far.
    pub turns: Vec<Turn>,
    /// Open, or settled with an outcome.
    pub state: State,
}

/// How much an ask matters to its asker. Orders an inbox, moves no timer.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Priority {
    /// When there is time.
    Low,
    /// As it comes.
    #[default]
    Normal,
    /// Before others.
    High,
}

/// Open or settled; there is no third. Who is waited on is data, not state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Somebody may still decide.
    Open,
    /// Decided, once and for all (rule 2).
    Settled {
        /// How, by whom, when.
        outcome: Outcome,
        /// Whether the asker has it.
        delivery: Delivery,
    },
}

/// How an ask ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    /// Which way.
    pub ending: Ending,
    /// Who ended it.
    pub by: Actor,
    /// What they said with it.
    pub note: Option<String>,
    /// When it was committed.
    pub time: Timestamp,
    /// The revision of its event, which is also its delivery's id within the ask.
    pub revision: u64,
}

/// The ways an ask ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// With an answer to every question.
    Answered(Answers),
    /// A person said no.
    Declined,
    /// The asker's deadline passed.
    Expired,
    /// The asker took it back.
    Withdrawn,
    /// The asker's session ended.
    Abandoned,
}

/// Whether the asker has the outcome (rule 11).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Delivery {
    /// On its way.
    Unread,
    /// The asker said so, at this time.
    Acknowledged(Timestamp),
    /// Nobody is left to deliver to.
    Undeliverable {
        /// Why, in words.
        reason: String,
        /// Since when.
        time: Timestamp,
    },
}

/// The asker's own deadline, and what happens then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Expiry {
    /// Its length when filed; a reply starts it anew.
    pub after: Span,
    /// When it comes.
    pub time: Timestamp,
    /// What happens then.
    pub action: ExpiryAction,
}

/// What an expiry does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExpiryAction {
    /// The ask ends as expired; nothing is chosen.
    Stop,
}

/// A person's "I am on it": the timers stand still for a while.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// Who.
    pub by: PersonName,
    /// Since when.
    pub since: Timestamp,
    /// When it lapses by itself.
    pub lapse: Timestamp,
    /// What the route timer had left when the first claim began.
    pub route_left: Option<Span>,
    /// What the expiry had left then.
    pub expiry_left: Option<Span>,
}

/// A person was shown this content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen {
    /// Who.
    pub by: PersonName,
    /// What.
    pub digest: ContentDigest,
    /// When.
    pub time: Timestamp,
}

/// One turn of talk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turn {
    /// The revision of its event, which is also its delivery's id within the ask.
    pub revision: u64,
    /// Who spoke.
    pub by: Actor,
    /// What they said.
    pub text: String,
    /// When.
    pub time: Timestamp,
    /// Whether the asker has yet to acknowledge it. Never so for the asker's own.
    pub unread: bool,
}

impl Ask {
    /// Whether somebody may still decide.
    pub fn is_open(&self) -> bool {
        matches!(self.state, State::Open)
    }

    /// The outcome, once settled.
    pub fn outcome(&self) -> Option<&Outcome> {
        match &self.state {
            State::Open => None,
            State::Settled { outcome, .. } => Some(outcome),
        }
    }

    /// The delivery of the outcome, once settled.
    pub fn delivery(&self) -> Option<&Delivery> {
        match &self.state {
            State::Open => None,
            State::Settled { delivery, .. } => Some(delivery),
        }
    }

    /// Whom the hop in force names; none once settled.
    pub fn waiting_on(&self) -> Option<Target> {
        self.is_open().then(|| self.route.target(self.hop.index))
    }

    /// Whether it is open and waits on exactly this session of this agent (rule 5).
    pub fn waits_on_session(&self, session: &SessionRef) -> bool {
        self.is_open() && self.route.hops[self.hop.index].to.session() == Some(session)
    }

    /// Whether it is open and waits on this person.
    pub fn waits_on_person(&self, person: &PersonName) -> bool {
        match self.waiting_on() {
            Some(Target::People { people, .. }) => people.contains(person),
            Some(Target::Session(_)) | None => false,
        }
    }

    /// Whether a session may know of it (rule 15): its own, those it is or was a hop of, and those
    /// of works below the works it sent.
    pub fn is_visible_to(&self, session: &SessionRef) -> bool {
        let asked = |hop: &usize| self.route.hops[*hop].to.session() == Some(session);
        self.asker == *session || self.chain.contains(session) || self.visited.iter().any(asked)
    }

    /// Whether the asker still has something to acknowledge: a turn, or the outcome.
    pub fn is_unread(&self) -> bool {
        match self.delivery() {
            Some(Delivery::Unread) => true,
            Some(Delivery::Undeliverable { .. }) => false,
            // A withdrawal needs no delivery, and leaves what was said before it unread.
            Some(Delivery::Acknowledged(_)) | None => self.turns.iter().any(|turn| turn.unread),
        }
    }

    /// The instant at which time alone next changes this ask; the store indexes it in the commit
    /// that sets it. None when only somebody's act can.
    pub fn deadline(&self) -> Option<Timestamp> {
        match &self.state {
            State::Open => match &self.claim {
                Some(claim) => Some(claim.lapse),
                None => earliest(self.hop.deadline, self.expiry.map(|expiry| expiry.time)),
            },
            State::Settled { .. } => Some(self.purge_time()),
        }
    }

    /// Whether it has been kept long enough and may be removed.
    pub fn is_past_retention(&self, now: Now) -> bool {
        !self.is_open() && self.purge_time() <= now.time
    }

    fn purge_time(&self) -> Timestamp {
        match &self.state {
            State::Open => unreachable!("an open ask is never purged"),
            State::Settled { outcome, delivery } => match delivery {
                Delivery::Unread => outcome.time + limits::RETENTION_UNREAD,
                Delivery::Acknowledged(time) | Delivery::Undeliverable { time, .. } => {
                    *time + limits::RETENTION
                }
            },
        }
    }
}

fn earliest(one: Option<Timestamp>, other: Option<Timestamp>) -> Option<Timestamp> {
    one.into_iter().chain(other).min()
}

#[cfg(test)]
mod tests;
