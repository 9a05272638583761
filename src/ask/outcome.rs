//! How an ask ends, and whether its asker has heard.

use super::names::{Actor, AskId, LeaseId};
use super::{Answers, Assurance, Timestamp};
use serde::{Deserialize, Serialize};

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
    /// The ask whose decline still stood when this one was filed, and declined it too.
    pub stands_from: Option<AskId>,
    /// How surely the person who ended it is who they say; none where no person did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assurance: Option<Assurance>,
    /// Whether that person's word was typed in an agent's environment.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_agent: bool,
}

/// The ways an ask ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// With an answer to every question.
    Answered(Answers),
    /// A person said no.
    Declined,
    /// The asker's deadline passed; with the default it had named, where that applied.
    Expired(Option<Answers>),
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

/// A worker's turn to hand over what is unread: one holder at a time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    /// Its name, which whoever holds it gives with an acknowledgement.
    pub id: LeaseId,
    /// What the holder calls itself. Words, not identity.
    pub holder: String,
    /// Until when it holds.
    pub until: Timestamp,
}

impl Lease {
    /// Whether it still holds.
    pub fn is_in_force(&self, time: Timestamp) -> bool {
        self.until > time
    }
}
