//! Reading: one read transaction, everything of one moment.

use super::keys::{self, Table};
use super::open::fault;
use crate::ask::{AskId, Event, SessionId, Timestamp, fold};
use crate::session::Session;
use crate::store::{Fault, Key, Record, SessionScope, record};
use redb::{Database, ReadTransaction, ReadableDatabase, ReadableTable};
use serde::de::DeserializeOwned;
use std::sync::Arc;

/// Bytes before a record that is written more than once: its revision, so that a guard is checked
/// without reading the record.
pub(super) const REVISION_BYTES: usize = 8;

/// One moment of the store.
pub(super) struct Reading(ReadTransaction);

impl Reading {
    pub(super) fn begin(db: &Database) -> Result<Self, Fault> {
        db.begin_read().map(Self).map_err(fault)
    }

    pub(super) fn record(&self, key: &Key) -> Result<Option<Record>, Fault> {
        Ok(match key {
            Key::Ask(id) => {
                let events = self.history(*id, 0, usize::MAX)?;
                fold(&events).map(|ask| Record::Ask(Arc::new(ask)))
            }
            Key::Session(id) => self
                .revised(keys::SESSIONS, &id.to_bytes(), "a session")?
                .map(|session| Record::Session(Arc::new(session))),
            Key::Ticket(hash) => self
                .revised(keys::TICKETS, &hash.to_bytes(), "a ticket")?
                .map(|ticket| Record::Ticket(Arc::new(ticket))),
            Key::Token(hash) => self
                .revised(keys::TOKENS, &hash.to_bytes(), "a token")?
                .map(|token| Record::Token(Arc::new(token))),
            Key::Work(id) => self
                .plain(keys::WORKS, &id.to_bytes(), "a work")?
                .map(|work| Record::Work(Arc::new(work))),
            Key::Receipt(key) => self
                .plain(keys::RECEIPTS, &keys::receipt(key), "a receipt")?
                .map(|receipt| Record::Receipt(Arc::new(receipt))),
            Key::Clock => self.plain(keys::META, keys::CLOCK, "the clock")?.map(Record::Clock),
        })
    }

    fn plain<T: DeserializeOwned>(
        &self,
        table: Table,
        key: &[u8],
        what: &str,
    ) -> Result<Option<T>, Fault> {
        let table = self.0.open_table(table).map_err(fault)?;
        let bytes = table.get(key).map_err(fault)?;
        bytes.map(|bytes| record::decode(what, bytes.value())).transpose()
    }

    fn revised<T: DeserializeOwned>(
        &self,
        table: Table,
        key: &[u8],
        what: &str,
    ) -> Result<Option<T>, Fault> {
        let table = self.0.open_table(table).map_err(fault)?;
        let bytes = table.get(key).map_err(fault)?;
        bytes.map(|bytes| revised(what, bytes.value())).transpose()
    }

    pub(super) fn history(
        &self,
        ask: AskId,
        after: u64,
        limit: usize,
    ) -> Result<Vec<Event>, Fault> {
        let mut events = Vec::new();
        if after == 0 && limit > 0 {
            match self.plain(keys::FILED, &ask.to_bytes(), "an ask")? {
                Some(filed) => events.push(filed),
                None => return Ok(events),
            }
        }
        let table = self.0.open_table(keys::EVENTS).map_err(fault)?;
        let (from, to) = (keys::event(ask, after.saturating_add(1)), keys::event(ask, u64::MAX));
        for entry in table.range(from.as_slice()..=to.as_slice()).map_err(fault)? {
            if events.len() >= limit {
                break;
            }
            let (_, bytes) = entry.map_err(fault)?;
            events.push(record::decode("an event", bytes.value())?);
        }
        Ok(events)
    }

    pub(super) fn retiring(
        &self,
        until: Timestamp,
        limit: usize,
    ) -> Result<Vec<(Timestamp, AskId)>, Fault> {
        let table = self.0.open_table(keys::RETIRE).map_err(fault)?;
        let mut retiring = Vec::new();
        for entry in table.iter().map_err(fault)?.take(limit) {
            let (time, ask) = keys::read_retire(entry.map_err(fault)?.0.value())?;
            if time > until {
                break;
            }
            retiring.push((time, ask));
        }
        Ok(retiring)
    }

    pub(super) fn sessions(
        &self,
        scope: &SessionScope,
        after: Option<SessionId>,
        limit: usize,
    ) -> Result<Vec<Arc<Session>>, Fault> {
        match scope {
            SessionScope::ToSweep => self.flagged(keys::TO_SWEEP, after, limit),
            SessionScope::Held => self.flagged(keys::HELD, after, limit),
            SessionScope::Namespace(_) | SessionScope::Family(_) => {
                self.scanned(scope, after, limit)
            }
        }
    }

    fn flagged(
        &self,
        kind: u8,
        after: Option<SessionId>,
        limit: usize,
    ) -> Result<Vec<Arc<Session>>, Fault> {
        let flags = self.0.open_table(keys::FLAGS).map_err(fault)?;
        let first = keys::flag(kind, SessionId::from_bytes([0; 12]));
        let from = after.map_or(first, |after| keys::flag(kind, after));
        let to = keys::flag(kind, SessionId::from_bytes([u8::MAX; 12]));
        let mut sessions = Vec::new();
        for entry in flags.range(from.as_slice()..=to.as_slice()).map_err(fault)? {
            let id = keys::read_flag(entry.map_err(fault)?.0.value())?;
            if sessions.len() >= limit {
                break;
            }
            if Some(id) == after {
                continue;
            }
            if let Some(Record::Session(session)) = self.record(&Key::Session(id))? {
                sessions.push(session);
            }
        }
        Ok(sessions)
    }

    fn scanned(
        &self,
        scope: &SessionScope,
        after: Option<SessionId>,
        limit: usize,
    ) -> Result<Vec<Arc<Session>>, Fault> {
        let table = self.0.open_table(keys::SESSIONS).map_err(fault)?;
        let from = after.map_or([0; 12], SessionId::to_bytes);
        let mut sessions = Vec::new();
        for entry in table.range(from.as_slice()..).map_err(fault)? {
            if sessions.len() >= limit {
                break;
            }
            let (_, bytes) = entry.map_err(fault)?;
            let session: Session = revised("a session", bytes.value())?;
            if Some(session.id) != after && scope.has(&session) {
                sessions.push(Arc::new(session));
            }
        }
        Ok(sessions)
    }
}

/// A record behind its revision.
pub(super) fn revised<T: DeserializeOwned>(what: &str, bytes: &[u8]) -> Result<T, Fault> {
    let record = bytes.get(REVISION_BYTES..).ok_or_else(|| keys::damaged(what))?;
    record::decode(what, record)
}
