//! The domain: what an ask is, what may be done to it, and what then has happened.
//!
//! Pure: no clock, no async, no wire, no store. [`decide()`] looks at an ask and a command and says
//! which events follow, or why none may; [`evolve()`] folds an event into the ask. Everything else in
//! the program only moves their inputs and outputs. Start reading at [`decide()`].

pub mod answer;
mod assurance;
pub mod command;
pub mod content;
mod decide;
mod deliveries;
pub mod event;
mod evolve;
mod expiry;
mod follow_up;
pub mod limits;
mod moves;
pub mod names;
mod notice;
mod outcome;
pub mod plan;
pub mod policy;
pub mod route;
mod standing;
pub mod text;
pub mod time;

pub use answer::{Answer, Answers};
pub use assurance::Assurance;
pub use command::{Carried, Command, Crowd, Draft, Filing, Gone, IdleHops, Rejection};
pub use content::{Content, ContentDigest, Question, QuestionOption, Violation};
pub use decide::decide;
pub use event::{Event, EventKind, Filed};
pub use evolve::{evolve, fold};
pub use expiry::{Expiry, ExpiryAction, ExpiryClock, WhyNoDefault};
pub use names::{
    Actor, AgentName, AskId, GroupName, HostName, LeaseId, Namespace, PersonName, RequestId,
    RouteName, SessionId, SessionRef, TokenId, WorkId,
};
pub use notice::{Notice, NoticeFailure, NoticeWhy};
pub use outcome::{Delivery, Ending, Lease, Outcome, State};
pub use plan::{Plan, PlanFault, PlanHop, PlanPart, PlanTo, Plans};
pub use policy::{Policy, Terms};
pub use route::{Cause, Hop, HopInForce, Idle, Route, Skipped, Target};
pub use standing::{Asked, StandingNo, Twin};
pub use time::{Now, Span, Timestamp};

use serde::{Deserialize, Serialize};
use std::sync::Arc;

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
    /// What is asked; shared, for the ask is cloned with each event and the content changes with few.
    pub content: Arc<Content>,
    /// The fingerprint of `content`.
    pub digest: ContentDigest,
    /// How much it matters to the asker.
    pub priority: Priority,
    /// The session that filed it.
    pub asker: SessionRef,
    /// Whose credential that session was enrolled with; may take its deliveries.
    pub host: HostName,
    /// The work it belongs to.
    pub work: WorkId,
    /// The root of that work: all works under one root are a tree.
    pub tree: WorkId,
    /// Who sent the work, who sent them theirs, and so on: nearest first. Fixed when filed.
    pub chain: Vec<SessionRef>,
    /// What its route is called.
    pub route_name: RouteName,
    /// Who is asked in turn. Fixed when filed; only a person who is removed leaves it.
    pub route: Route,
    /// How surely a person's word must be theirs; none where a session may answer, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assurance: Option<Assurance>,
    /// The lengths of time it lives by. Fixed when filed.
    pub terms: Terms,
    /// Who is asked now, or was last.
    pub hop: HopInForce,
    /// The hops it has waited at, in order.
    pub visited: Vec<usize>,
    /// The asker's own deadline, while it is in force.
    pub expiry: Option<Expiry>,
    /// What the asker named as default beside its recommendations, question by question.
    pub defaults: Answers,
    /// What travels with it and is read by nobody here.
    pub carried: Carried,
    /// How often it was asked again after a person's no; 0 for a first time.
    pub again: u32,
    /// The person who is on it.
    pub claim: Option<Claim>,
    /// Until when a person's unread turn holds the expiry.
    pub turn_hold: Option<Timestamp>,
    /// Who was shown the content as it is.
    pub seen: Vec<Seen>,
    /// The talk so far.
    pub turns: Vec<Turn>,
    /// Who is handing over what is unread.
    pub lease: Option<Lease>,
    /// Whether the sender knows that its outcome found nobody.
    pub sender_told: bool,
    /// What people are still to be told of it.
    pub notice: Option<Notice>,
    /// When people were told last.
    pub noticed: Option<Timestamp>,
    /// Why they could not be, where that is how it went last.
    pub notice_failure: Option<NoticeFailure>,
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

/// A person's "I am on it": the timers stand still for a while.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// Who.
    pub by: PersonName,
    /// Since when.
    pub since: Timestamp,
    /// When it lapses by itself.
    pub lapse: Timestamp,
    /// What the route timer had left when the first claim began, or the hop came into force under
    /// it.
    pub route_left: Option<Span>,
    /// Whether it was typed in an agent's environment.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_agent: bool,
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
    /// Whether it is a person's, typed in an agent's environment.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_agent: bool,
    /// How surely a person's word is theirs; none of a session's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assurance: Option<Assurance>,
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
        let seen = planted!("foreign_is_seen") || self.asker == *session;
        seen || self.chain.contains(session) || self.visited.iter().any(asked)
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

    /// Whether the asker's word is next: the last turn is somebody else's.
    pub fn awaits_reply(&self) -> bool {
        let asker = Actor::Session(self.asker.clone());
        self.is_open() && self.turns.last().is_some_and(|turn| turn.by != asker)
    }

    /// Whether the last turn is a person's: whoever spoke was not silent (rule 4).
    pub fn person_spoke_last(&self) -> bool {
        self.turns.last().is_some_and(|turn| matches!(turn.by, Actor::Person(_)))
    }

    /// The sender that has yet to learn that what was decided found nobody: its worker ended before.
    pub fn orphan_of(&self) -> Option<&SessionRef> {
        let State::Settled { outcome, delivery: Delivery::Undeliverable { .. } } = &self.state
        else {
            return None;
        };
        let decided = !matches!(outcome.ending, Ending::Abandoned | Ending::Withdrawn);
        self.chain.first().filter(|_| decided && !self.sender_told)
    }

    /// Whether somebody still waits for something of it, so that lists have it.
    pub fn is_listed(&self) -> bool {
        self.is_open() || self.is_unread() || self.orphan_of().is_some()
    }

    /// Since when a person has been shown the content as it is.
    pub fn shown_since(&self) -> Option<Timestamp> {
        self.seen.iter().map(|seen| seen.time).min()
    }

    /// Whether a principal receives its turns and outcome: the asker, and its host.
    pub fn is_delivered_to(&self, who: &Actor) -> bool {
        match who {
            Actor::Session(session) => *session == self.asker,
            Actor::Host(host) => *host == self.host,
            Actor::Person(_) | Actor::Timer => false,
        }
    }

    /// The instant at which time alone next changes this ask; the store indexes it in the commit
    /// that sets it. None when only somebody's act can.
    pub fn deadline(&self) -> Option<Timestamp> {
        match &self.state {
            State::Open => {
                let timers = match &self.claim {
                    Some(claim) => [Some(claim.lapse), None],
                    None => [self.hop.deadline, self.expiry.and_then(|expiry| expiry.due())],
                };
                timers.into_iter().chain([self.turn_hold]).flatten().min()
            }
            State::Settled { .. } => Some(self.purge_time()),
        }
    }

    /// Whether it has been kept long enough and may be removed.
    pub fn is_past_retention(&self, now: Now) -> bool {
        !self.is_open() && self.purge_time() <= now.time
    }

    /// Kept for a while after its delivery ended, and no longer than that after it was settled; a
    /// decline at least as long as it binds.
    fn purge_time(&self) -> Timestamp {
        let State::Settled { outcome, delivery } = &self.state else {
            unreachable!("an open ask is never purged");
        };
        let longest = outcome.time + limits::KEEP_MAX;
        let kept = match delivery {
            Delivery::Unread => longest,
            Delivery::Acknowledged(time) | Delivery::Undeliverable { time, .. } => {
                longest.min(*time + self.terms.keep)
            }
        };
        match outcome.ending {
            Ending::Declined => kept.max(outcome.time + self.terms.decline_stands),
            _ => kept,
        }
    }
}

#[cfg(test)]
mod tests;
