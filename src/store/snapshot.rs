//! All that a store keeps, as of one moment, record by record: what backups and exports are made of, and
//! what another store is filled from. What is derived is not among it: every store makes its own.

use super::record::fold_history;
use super::{Change, ClockMark, Fault, Key, Record, StoredReceipt};
use crate::ask::{AskId, Event, StandingNo, Twin};
use crate::session::{Roster, Session, Ticket, Token, Work};
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// One record with all that makes it: an ask is its history.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Saved {
    /// An ask.
    Ask {
        /// Which.
        id: AskId,
        /// Everything that happened to it, from its filing.
        events: Vec<Event>,
    },
    /// A session.
    Session(Arc<Session>),
    /// A work.
    Work(Arc<Work>),
    /// A ticket: the hash of its secret, and never the secret.
    Ticket(Arc<Ticket>),
    /// A token; the same.
    Token(Arc<Token>),
    /// A receipt.
    Receipt(Arc<StoredReceipt>),
    /// The ask a work filed last with some content.
    Twin(Arc<Twin>),
    /// A person's no to some content.
    StandingNo(Arc<StandingNo>),
    /// Who is known in a namespace.
    Roster(Arc<Roster>),
    /// The clock's mark.
    Clock(ClockMark),
}

impl Saved {
    /// The change that puts it where nothing of its name is.
    ///
    /// # Errors
    ///
    /// [`Fault::Unreadable`] when an ask's events are not a whole history.
    pub fn into_change(self) -> Result<Change, Fault> {
        let record = match self {
            Saved::Ask { id, events } => {
                let none = || Fault::Unreadable(format!("the ask {id} has no history"));
                let ask = fold_history(id, &events)?.ok_or_else(none)?;
                return Ok(Change {
                    expects: vec![(Key::Ask(id), 0)],
                    events: events.into_iter().map(|event| (id, event)).collect(),
                    writes: vec![Record::Ask(Arc::new(ask))],
                    removes: Vec::new(),
                });
            }
            Saved::Session(session) => Record::Session(session),
            Saved::Work(work) => Record::Work(work),
            Saved::Ticket(ticket) => Record::Ticket(ticket),
            Saved::Token(token) => Record::Token(token),
            Saved::Receipt(receipt) => Record::Receipt(receipt),
            Saved::Twin(twin) => Record::Twin(twin),
            Saved::StandingNo(no) => Record::StandingNo(no),
            Saved::Roster(roster) => Record::Roster(roster),
            Saved::Clock(mark) => Record::Clock(mark),
        };
        let expects = vec![(record.key(), 0)];
        Ok(Change { expects, writes: vec![record], ..Change::default() })
    }
}

/// A store as it was at one moment, whatever is written to it since. It may keep what is removed from
/// taking less room while it lives: read it to its end, and drop it.
#[async_trait]
pub trait Snapshot: Send {
    /// The next records, at most `limit`, in an order that is the same each time; none after the last.
    async fn next(&mut self, limit: usize) -> Result<Vec<Saved>, Fault>;
}

/// Counts of what is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Asks, open or not.
    pub asks: u64,
    /// Those of them that are open.
    pub open: u64,
    /// What happened to them.
    pub events: u64,
    /// Sessions.
    pub sessions: u64,
    /// All else.
    pub others: u64,
}

impl Counts {
    /// With one more.
    ///
    /// # Errors
    ///
    /// As [`Saved::into_change`].
    pub fn add(&mut self, saved: &Saved) -> Result<(), Fault> {
        match saved {
            Saved::Ask { id, events } => {
                let ask = fold_history(*id, events)?;
                self.asks += 1;
                self.open += u64::from(ask.is_some_and(|ask| ask.is_open()));
                self.events += events.len() as u64;
            }
            Saved::Session(_) => self.sessions += 1,
            _ => self.others += 1,
        }
        Ok(())
    }
}
