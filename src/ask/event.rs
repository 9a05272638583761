//! What happened to an ask, in the past tense. The history of events is the record: the ask is what
//! they fold to (rule 18).

use super::content::{Content, ContentDigest};
use super::names::{
    Actor, AskId, HostName, LeaseId, Namespace, PersonName, RouteName, SessionRef, WorkId,
};
use super::route::{Cause, Route, Skipped};
use super::time::{Span, Timestamp};
use super::{Answers, Assurance, Carried, Expiry, NoticeWhy, Priority, Terms, WhyNoDefault};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// One thing that happened. Dense per ask: revisions run 1, 2, 3, …
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// Its place in the history, from 1.
    pub revision: u64,
    /// The service time of its commit.
    pub time: Timestamp,
    /// What.
    pub kind: EventKind,
    /// Whether it is a person's word that was typed in an agent's environment: an agent may have.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_agent: bool,
}

impl Event {
    /// What happens to an ask at `revision`.
    pub(super) fn new(revision: u64, time: Timestamp, kind: EventKind) -> Self {
        Self { revision, time, kind, in_agent: false }
    }
}

/// What can happen.
#[expect(missing_docs, reason = "each variant's sentence names its fields")]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EventKind {
    /// It was filed, and routed to its first hop.
    Filed(Box<Filed>),
    /// It moved to another hop.
    Escalated(Escalated),
    /// Every question was answered; how surely the person is who they say, where it was one.
    Answered {
        by: Actor,
        answers: Answers,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        assurance: Option<Assurance>,
    },
    /// A person said no: to this ask, or to the same content before, which still stands.
    Declined {
        by: PersonName,
        note: Option<String>,
        stands_from: Option<AskId>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        assurance: Option<Assurance>,
    },
    /// The asker took it back.
    Withdrawn { by: SessionRef, note: Option<String> },
    /// A person was removed: they are asked no more, in this hop or a later one.
    PersonGone { person: PersonName },
    /// The asker's deadline passed, with the default it had named where that applied.
    Expired { answers: Option<Answers> },
    /// The asker's deadline passed, and its default may not be applied yet: why, and until when
    /// where time alone changes that.
    DefaultHeld { why: WhyNoDefault, until: Option<Timestamp> },
    /// The asker's session was ended, by whom it says.
    Abandoned { by: Actor },
    /// Somebody asked, or a person, spoke.
    Said {
        by: Actor,
        text: String,
        /// How surely a person's word is theirs; none of a session's, and where it was not kept.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        assurance: Option<Assurance>,
    },
    /// The asker spoke; the content where it changed, the expiry where it started anew.
    Replied { by: SessionRef, text: String, content: Option<Content>, expiry: Option<Expiry> },
    /// A person was shown this content.
    Seen { by: PersonName, digest: ContentDigest },
    /// A person is on it: the timers stand still, the hop's with this much left.
    Claimed { by: PersonName, lapse: Timestamp, route_left: Option<Span> },
    /// They are not any more: the timers run on.
    Released { by: PersonName },
    /// Their time was up: the timers run on.
    ClaimLapsed { by: PersonName },
    /// A person's turn has held the expiry for as long as it may: it runs on.
    TurnHoldLapsed,
    /// A worker of the asker's has what is unread in hand.
    Leased { by: Actor, lease: LeaseId, holder: String, until: Timestamp },
    /// The asker has the turn or outcome of this revision, and every turn before it.
    Acknowledged { delivery: u64 },
    /// Nobody is left to give the outcome to.
    Undeliverable { reason: String },
    /// The sender knows that.
    SenderTold { by: SessionRef },
    /// People were told of the ask as it was at revision `of`, or could not be.
    Noticed { why: NoticeWhy, of: u64, failure: Option<String> },
}

/// An ask, as filed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Filed {
    /// Its id.
    pub id: AskId,
    /// Where it lives.
    pub namespace: Namespace,
    /// What is asked.
    pub content: Arc<Content>,
    /// How much it matters.
    pub priority: Priority,
    /// Who asks.
    pub asker: SessionRef,
    /// Whose credential it was enrolled with.
    pub host: HostName,
    /// For which work.
    pub work: WorkId,
    /// The root of that work.
    pub tree: WorkId,
    /// Who sent the work, nearest first.
    pub chain: Vec<SessionRef>,
    /// What its route is called.
    pub route_name: RouteName,
    /// Who is asked in turn.
    pub route: Route,
    /// The lengths of time it lives by.
    pub terms: Terms,
    /// Where it waits first.
    pub first: Escalated,
    /// The asker's deadline.
    pub expiry: Option<Expiry>,
    /// What the asker named as default.
    pub defaults: Answers,
    /// What travels with it.
    pub carried: Carried,
    /// How often it was asked again after a person's no.
    pub again: u32,
    /// How surely a person's word must be theirs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assurance: Option<Assurance>,
}

/// A move to a hop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Escalated {
    /// The hop now in force.
    pub hop: usize,
    /// Why.
    pub cause: Cause,
    /// Who moved it.
    pub by: Actor,
    /// Why, in words.
    pub reason: Option<String>,
    /// Its route timer.
    pub deadline: Option<Timestamp>,
    /// Hops passed over on the way.
    pub skipped: Vec<Skipped>,
}

impl EventKind {
    /// Whether the ask is settled by it.
    pub fn settles(&self) -> bool {
        matches!(
            self,
            EventKind::Answered { .. }
                | EventKind::Declined { .. }
                | EventKind::Withdrawn { .. }
                | EventKind::Expired { .. }
                | EventKind::Abandoned { .. }
        )
    }
}
