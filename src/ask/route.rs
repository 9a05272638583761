//! Who is asked, in what order, for how long; and why a hop is passed over.

use super::names::{GroupName, PersonName, SessionRef};
use super::time::{Span, Timestamp};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Whom a hop names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// Exactly this session of exactly this agent.
    Session(SessionRef),
    /// Any of these people.
    People {
        /// The set's name, where it has one.
        group: Option<GroupName>,
        /// Its members; never empty where an ask waits.
        people: Vec<PersonName>,
    },
}

impl Target {
    /// One person.
    pub fn person(name: PersonName) -> Self {
        Target::People { group: None, people: vec![name] }
    }

    /// Whether this person is asked by it.
    pub fn has(&self, person: &PersonName) -> bool {
        matches!(self, Target::People { people, .. } if people.contains(person))
    }

    /// The session, where it is one.
    pub fn session(&self) -> Option<&SessionRef> {
        match self {
            Target::Session(session) => Some(session),
            Target::People { .. } => None,
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Target::Session(session) => session.fmt(f),
            Target::People { group: Some(group), .. } => group.fmt(f),
            Target::People { people, .. } => {
                let names: Vec<_> = people.iter().map(PersonName::as_str).collect();
                f.write_str(&names.join(", "))
            }
        }
    }
}

/// One entry of a route.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hop {
    /// Who is asked.
    pub to: Target,
    /// For how long, before the next hop; none on the last.
    pub timeout: Option<Span>,
    /// The time from the filing after which it is not asked any more: a climb over several senders
    /// is bounded in total. None where only `timeout` bounds it.
    pub within: Option<Span>,
}

impl Hop {
    /// When it stops being asked, where it comes into force at `now` in an ask filed at `filed`.
    pub(super) fn deadline(&self, filed: Timestamp, now: Timestamp) -> Option<Timestamp> {
        let timeout = self.timeout.map(|timeout| now + timeout);
        timeout.into_iter().chain(self.within.map(|within| filed + within)).min()
    }

    /// Whether its share of a climb was over before it came into force.
    fn is_too_late(&self, elapsed: Span) -> bool {
        self.within.is_some_and(|within| within <= elapsed)
    }
}

/// The ordered list of who is asked: data, fixed when the ask is filed. The last hop is people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Route {
    /// Never empty.
    pub hops: Vec<Hop>,
}

impl Route {
    /// The same, with those people alone who are there.
    pub fn with_people(mut self, are_there: impl Fn(&PersonName) -> bool) -> Self {
        for hop in &mut self.hops {
            if let Target::People { people, .. } = &mut hop.to {
                people.retain(&are_there);
            }
        }
        self
    }

    /// Without this person, wherever they would be asked.
    pub(super) fn drop_person(&mut self, person: &PersonName) {
        for hop in &mut self.hops {
            if let Target::People { people, .. } = &mut hop.to {
                people.retain(|one| one != person);
            }
        }
    }

    /// The same, without the sessions.
    pub fn of_people(&self) -> Self {
        let people = self.hops.iter().filter(|hop| hop.to.session().is_none());
        Self { hops: people.cloned().collect() }
    }

    /// Whom hop `index` asks: as written, or `owner` where that is nobody (rule 9).
    pub fn target(&self, index: usize) -> Target {
        match &self.hops[index].to {
            Target::People { people, .. } if people.is_empty() => {
                Target::person(PersonName::owner())
            }
            target => target.clone(),
        }
    }

    /// The first hop from `start` on that is not idle, and those passed over on the way. Where all
    /// are idle it is the last, which [`target`](Self::target) makes `owner` when it is empty.
    /// None when `start` is past the end. `elapsed` is the age of the ask.
    pub(super) fn first_awake(
        &self,
        start: usize,
        idle: &[Option<Idle>],
        elapsed: Span,
    ) -> Option<Landing> {
        self.first(start, idle, elapsed, |_| true)
    }

    /// The same among the hops of people alone; the sessions between are not asked.
    pub(super) fn first_people(
        &self,
        start: usize,
        idle: &[Option<Idle>],
        elapsed: Span,
    ) -> Option<Landing> {
        self.first(start, idle, elapsed, |hop| hop.to.session().is_none())
    }

    fn first(
        &self,
        start: usize,
        idle: &[Option<Idle>],
        elapsed: Span,
        fits: impl Fn(&Hop) -> bool,
    ) -> Option<Landing> {
        if start >= self.hops.len() {
            return None;
        }
        let mut skipped = Vec::new();
        for index in (start..self.hops.len()).filter(|index| fits(&self.hops[*index])) {
            let too_late = self.hops[index].is_too_late(elapsed).then_some(Idle::TooLate);
            match idle
                .get(index)
                .copied()
                .flatten()
                .or(too_late)
                .filter(|_| !planted!("idle_is_asked"))
            {
                Some(why) => skipped.push(Skipped { hop: index, why }),
                None => return Some(Landing { index, skipped }),
            }
        }
        skipped.pop();
        Some(Landing { index: self.hops.len() - 1, skipped })
    }
}

/// Where an ask comes to wait, and what was passed over.
pub(super) struct Landing {
    pub index: usize,
    pub skipped: Vec<Skipped>,
}

/// Why a hop cannot answer now, so that waiting on it would be waiting for nothing (rule 9).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Idle {
    /// Its session has ended, or is not known any more.
    Ended,
    /// Its session is paused.
    Paused,
    /// It is the asker itself.
    IsAsker,
    /// It is blocked on the asker, or on a session between it and the asker.
    Blocked,
    /// It has said that it does not answer asks.
    AnswersNone,
    /// It is a set of people without members.
    EmptyGroup,
    /// As many asks wait on it already as may (rule 14).
    Full,
    /// The time in which senders are asked, in all, is over.
    TooLate,
    /// It is a session, and a person's word is demanded.
    NotPerson,
}

impl Idle {
    /// The cause an escalation past such a hop has.
    pub fn cause(self) -> Cause {
        match self {
            Idle::Blocked | Idle::IsAsker | Idle::Full => Cause::SenderBlocked,
            Idle::TooLate => Cause::Timeout,
            Idle::NotPerson => Cause::NeedsPerson,
            Idle::Ended | Idle::Paused | Idle::AnswersNone | Idle::EmptyGroup => Cause::SenderGone,
        }
    }

    /// A sentence about `who`.
    pub fn sentence(self, who: &Target) -> String {
        match self {
            Idle::Ended => format!("{who} has ended"),
            Idle::Paused => format!("{who} is paused"),
            Idle::IsAsker => format!("{who} is the asker"),
            Idle::Blocked => format!("{who} is blocked until this work is done"),
            Idle::AnswersNone => format!("{who} does not answer asks"),
            Idle::EmptyGroup => "nobody is in the group".to_owned(),
            Idle::Full => format!("{who} is asked as much as it may be already"),
            Idle::TooLate => format!("there was no time left to ask {who}"),
            Idle::NotPerson => format!("{who} is a session, and a person must answer this"),
        }
    }
}

/// A hop that was passed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skipped {
    /// Its place in the route.
    pub hop: usize,
    /// Why.
    pub why: Idle,
}

/// Why the hop in force is in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// It is where the ask was filed to.
    Filed,
    /// The route timer of the hop before it ran out.
    Timeout,
    /// Who was asked refused, or a person moved it on.
    Refused,
    /// Who was to be asked is gone.
    SenderGone,
    /// Who was to be asked is blocked on this very work.
    SenderBlocked,
    /// The asker's own deadline came while a session was asked.
    AskersExpiry,
    /// Who was to be asked is a session, and a person must answer.
    NeedsPerson,
}

/// Who is waited on now, since when, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HopInForce {
    /// Its place in the route.
    pub index: usize,
    /// Why the ask is here.
    pub cause: Cause,
    /// The same in words; what a refuser said, where one did.
    pub reason: Option<String>,
    /// When the move here was committed.
    pub since: Timestamp,
    /// The route timer; none on the last hop.
    pub deadline: Option<Timestamp>,
    /// What was passed over on the way here.
    pub skipped: Vec<Skipped>,
}
