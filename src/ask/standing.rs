//! The same content asked once more: when it is the same ask (rule 13), and when a person's no to it
//! still stands.

use super::names::{AskId, Namespace, PersonName, WorkId};
use super::{Actor, Ask, Assurance, ContentDigest, Delivery, Draft, Ending, Now, State, Timestamp};
use serde::{Deserialize, Serialize};

/// Which ask a work filed last with this content. A record of its own, so that its absence can be
/// guarded too.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Twin {
    /// The work.
    pub work: WorkId,
    /// The content.
    pub digest: ContentDigest,
    /// The ask.
    pub ask: AskId,
    /// How often this record was written.
    pub revision: u64,
}

/// A person's no to some content, which binds in the whole tree of works for a while.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StandingNo {
    /// The root of the works it binds.
    pub tree: WorkId,
    /// What was declined.
    pub digest: ContentDigest,
    /// Where it lives.
    pub namespace: Namespace,
    /// The ask that was declined.
    pub ask: AskId,
    /// Who declined it.
    pub by: PersonName,
    /// What they said.
    pub note: Option<String>,
    /// When.
    pub time: Timestamp,
    /// Until when it binds; the time of a person's answer once one has lifted it.
    pub until: Timestamp,
    /// How often it was asked again all the same.
    pub again: u32,
    /// How often this record was written.
    pub revision: u64,
    /// How surely they are who they say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assurance: Option<Assurance>,
    /// Whether it was typed in an agent's environment.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_agent: bool,
}

impl Ask {
    /// Whether the same content in the same work is this very ask: it is open, or its outcome is on
    /// its way (rule 13). What was withdrawn or abandoned is asked anew.
    pub fn is_same_once_more(&self) -> bool {
        match &self.state {
            State::Open => true,
            State::Settled { outcome, delivery } => {
                let ended = matches!(outcome.ending, Ending::Withdrawn | Ending::Abandoned);
                !ended && (*delivery == Delivery::Unread || planted!("read_is_the_same_ask"))
            }
        }
    }
}

impl Draft {
    /// Where `ask`, which is the same question, differs from what was sent beside it: field by field.
    /// An expiry that was dropped on the way to people differs: it is not in force any more.
    pub fn differs(&self, ask: &Ask) -> Vec<&'static str> {
        let expire = ask.expiry.map(|expiry| (expiry.after, expiry.action));
        let route = self.route.clone().unwrap_or_default();
        let differ = [
            ("route", ask.route_name != route),
            ("assurance", ask.assurance > self.assurance),
            ("expire", expire != self.expire || ask.defaults != self.defaults),
        ];
        differ.into_iter().filter(|(_, differs)| *differs).map(|(field, _)| field).collect()
    }
}

impl StandingNo {
    /// Whether it binds.
    pub fn stands(&self, now: Now) -> bool {
        self.until > now.time && !planted!("a_no_is_forgotten")
    }

    /// What the end of `ask` makes of the no to its content in its tree, `before`; none where it
    /// leaves it as it is. A decline puts it there, a person's answer lifts it.
    pub fn after(ask: &Ask, before: Option<&StandingNo>) -> Option<StandingNo> {
        let outcome = ask.outcome()?;
        match (&outcome.ending, &outcome.by) {
            // A decline that only repeats a standing one prolongs nothing.
            (Ending::Declined, Actor::Person(by)) if outcome.stands_from.is_none() => {
                let still = before.filter(|before| before.until > outcome.time);
                let until = outcome.time + ask.terms.decline_stands;
                Some(StandingNo {
                    tree: ask.tree,
                    digest: ask.digest,
                    namespace: ask.namespace.clone(),
                    ask: ask.id,
                    by: by.clone(),
                    note: outcome.note.clone(),
                    time: outcome.time,
                    // A second no neither shortens the first nor forgets how often it was asked again.
                    until: still.map_or(until, |still| still.until.max(until)),
                    again: still.map_or(ask.again, |still| still.again.max(ask.again)),
                    revision: before.map_or(0, |before| before.revision) + 1,
                    assurance: outcome.assurance,
                    in_agent: outcome.in_agent,
                })
            }
            (Ending::Answered(_), Actor::Person(_)) => {
                let before = before.filter(|before| before.until > outcome.time)?;
                let revision = before.revision + 1;
                Some(StandingNo { until: outcome.time, revision, ..before.clone() })
            }
            _ => None,
        }
    }

    /// The same, asked again all the same.
    pub fn asked_again(&self) -> Self {
        Self { again: self.again + 1, revision: self.revision + 1, ..self.clone() }
    }
}
