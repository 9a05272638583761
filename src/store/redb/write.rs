//! Writing: a batch is one transaction and one sync. Each change is checked before any of it is
//! written, so that a conflict leaves nothing to undo.

use super::keys::{self, Table};
use super::open::fault;
use super::read::REVISION_BYTES;
use crate::ask::{Ask, AskId};
use crate::session::{Session, Standing};
use crate::store::index::{Index, Row};
use crate::store::{Batch, Change, Committed, Fault, Key, Record, record};
use redb::{Database, Durability, ReadableTable, WriteTransaction};
use std::sync::Arc;

/// What the index learns of a change, once it is on disk.
pub(super) enum RowChange {
    /// The ask as it is now.
    Put(Arc<Ask>),
    /// The ask is no more.
    Removed(AskId),
}

impl RowChange {
    pub(super) fn apply(self, index: &mut Index) {
        match self {
            RowChange::Put(ask) => index.put(&ask),
            RowChange::Removed(ask) => index.remove(ask),
        }
    }
}

/// Applies `batch`; durable on return.
pub(super) fn commit(
    db: &Database,
    batch: &Batch,
) -> Result<(Vec<Committed>, Vec<RowChange>), Fault> {
    let mut writing = db.begin_write().map_err(fault)?;
    writing.set_durability(Durability::Immediate).map_err(fault)?;
    // A restart after a kill then opens in milliseconds instead of walking the whole file.
    writing.set_quick_repair(true);
    let mut rows = Vec::new();
    let mut outcomes = Vec::with_capacity(batch.changes.len());
    let write = Writing(&writing);
    for change in &batch.changes {
        outcomes.push(write.apply(change, &mut rows)?);
    }
    if let Some(mark) = &batch.mark {
        write.put(keys::META, keys::CLOCK, &record::encode(mark))?;
    }
    writing.commit().map_err(fault)?;
    Ok((outcomes, rows))
}

struct Writing<'a>(&'a WriteTransaction);

impl Writing<'_> {
    fn apply(&self, change: &Change, rows: &mut Vec<RowChange>) -> Result<Committed, Fault> {
        for (key, expected) in &change.expects {
            if self.revision(key)? != *expected {
                return Ok(Committed::Conflict);
            }
        }
        for (ask, event) in &change.events {
            let bytes = record::encode(event);
            if event.revision == 1 {
                self.put(keys::FILED, &ask.to_bytes(), &bytes)?;
            } else {
                self.put(keys::EVENTS, &keys::event(*ask, event.revision), &bytes)?;
            }
        }
        for record in &change.writes {
            self.write(record, rows)?;
        }
        for key in &change.removes {
            self.remove(key, rows)?;
        }
        Ok(Committed::Done)
    }

    fn revision(&self, key: &Key) -> Result<u64, Fault> {
        let present = |found: bool| Ok(u64::from(found));
        match key {
            Key::Ask(id) => self.revision_of_ask(*id),
            Key::Session(id) => self.revision_of_row(keys::SESSIONS, &id.to_bytes()),
            Key::Ticket(hash) => self.revision_of_row(keys::TICKETS, &hash.to_bytes()),
            Key::Token(hash) => self.revision_of_row(keys::TOKENS, &hash.to_bytes()),
            Key::Work(id) => present(self.has(keys::WORKS, &id.to_bytes())?),
            Key::Receipt(key) => present(self.has(keys::RECEIPTS, &keys::receipt(key))?),
            Key::Clock => present(self.has(keys::META, keys::CLOCK)?),
        }
    }

    fn revision_of_ask(&self, ask: AskId) -> Result<u64, Fault> {
        let events = self.0.open_table(keys::EVENTS).map_err(fault)?;
        let (from, to) = (keys::event(ask, 0), keys::event(ask, u64::MAX));
        let mut range = events.range(from.as_slice()..=to.as_slice()).map_err(fault)?;
        match range.next_back() {
            Some(entry) => keys::revision_of_event(entry.map_err(fault)?.0.value()),
            None => Ok(u64::from(self.has(keys::FILED, &ask.to_bytes())?)),
        }
    }

    fn revision_of_row(&self, table: Table, key: &[u8]) -> Result<u64, Fault> {
        let table = self.0.open_table(table).map_err(fault)?;
        let Some(bytes) = table.get(key).map_err(fault)? else { return Ok(0) };
        let revision = bytes.value().get(..REVISION_BYTES).and_then(|bytes| bytes.try_into().ok());
        revision.map(u64::from_be_bytes).ok_or_else(|| keys::damaged("a record's revision"))
    }

    fn has(&self, table: Table, key: &[u8]) -> Result<bool, Fault> {
        let table = self.0.open_table(table).map_err(fault)?;
        Ok(table.get(key).map_err(fault)?.is_some())
    }

    fn put(&self, table: Table, key: &[u8], bytes: &[u8]) -> Result<(), Fault> {
        let mut table = self.0.open_table(table).map_err(fault)?;
        table.insert(key, bytes).map_err(fault)?;
        Ok(())
    }

    fn delete(&self, table: Table, key: &[u8]) -> Result<(), Fault> {
        let mut table = self.0.open_table(table).map_err(fault)?;
        table.remove(key).map_err(fault)?;
        Ok(())
    }

    fn write(&self, record: &Record, rows: &mut Vec<RowChange>) -> Result<(), Fault> {
        let revised = |bytes: Vec<u8>| [&record.revision().to_be_bytes()[..], &bytes].concat();
        match record {
            Record::Ask(ask) => {
                rows.push(RowChange::Put(ask.clone()));
                self.write_ask(ask)
            }
            Record::Session(session) => {
                self.write_flags(session)?;
                let bytes = revised(record::encode(&**session));
                self.put(keys::SESSIONS, &session.id.to_bytes(), &bytes)
            }
            Record::Ticket(ticket) => {
                let bytes = revised(record::encode(&**ticket));
                self.put(keys::TICKETS, &ticket.secret.to_bytes(), &bytes)
            }
            Record::Token(token) => {
                let bytes = revised(record::encode(&**token));
                self.put(keys::TOKENS, &token.secret.to_bytes(), &bytes)
            }
            Record::Work(work) => {
                self.put(keys::WORKS, &work.id.to_bytes(), &record::encode(&**work))
            }
            Record::Receipt(receipt) => {
                let key = keys::receipt(&receipt.key);
                self.put(keys::RECEIPTS, &key, &record::encode(&**receipt))
            }
            Record::Clock(mark) => self.put(keys::META, keys::CLOCK, &record::encode(mark)),
        }
    }

    /// An ask's events are its record; here only what lists and the timer need of it.
    fn write_ask(&self, ask: &Ask) -> Result<(), Fault> {
        let id = ask.id.to_bytes();
        match Row::of(ask) {
            Some(row) => self.put(keys::LIVE, &id, &record::encode(&row)),
            None => {
                self.delete(keys::LIVE, &id)?;
                match ask.deadline() {
                    Some(time) => self.put(keys::RETIRE, &keys::retire(time, ask.id), &[]),
                    None => Ok(()),
                }
            }
        }
    }

    fn write_flags(&self, session: &Session) -> Result<(), Fault> {
        let held = session.held && session.standing == Standing::Active;
        for (kind, set) in [(keys::TO_SWEEP, session.sweep), (keys::HELD, held)] {
            let key = keys::flag(kind, session.id);
            if set {
                self.put(keys::FLAGS, &key, &[])?;
            } else {
                self.delete(keys::FLAGS, &key)?;
            }
        }
        Ok(())
    }

    fn remove(&self, key: &Key, rows: &mut Vec<RowChange>) -> Result<(), Fault> {
        match key {
            Key::Ask(id) => {
                rows.push(RowChange::Removed(*id));
                self.remove_ask(*id)
            }
            Key::Session(id) => {
                self.delete(keys::FLAGS, &keys::flag(keys::TO_SWEEP, *id))?;
                self.delete(keys::FLAGS, &keys::flag(keys::HELD, *id))?;
                self.delete(keys::SESSIONS, &id.to_bytes())
            }
            Key::Work(id) => self.delete(keys::WORKS, &id.to_bytes()),
            Key::Ticket(hash) => self.delete(keys::TICKETS, &hash.to_bytes()),
            Key::Token(hash) => self.delete(keys::TOKENS, &hash.to_bytes()),
            Key::Receipt(key) => self.delete(keys::RECEIPTS, &keys::receipt(key)),
            Key::Clock => self.delete(keys::META, keys::CLOCK),
        }
    }

    fn remove_ask(&self, id: AskId) -> Result<(), Fault> {
        let filed = self.0.open_table(keys::FILED).map_err(fault)?;
        let filed = filed.get(id.to_bytes().as_slice()).map_err(fault)?;
        let mut history: Vec<crate::ask::Event> = Vec::new();
        history.extend(filed.map(|bytes| record::decode("an ask", bytes.value())).transpose()?);
        let mut events = self.0.open_table(keys::EVENTS).map_err(fault)?;
        let (from, to) = (keys::event(id, 0), keys::event(id, u64::MAX));
        for entry in events.range(from.as_slice()..=to.as_slice()).map_err(fault)? {
            history.push(record::decode("an event", entry.map_err(fault)?.1.value())?);
        }
        for event in &history {
            events.remove(keys::event(id, event.revision).as_slice()).map_err(fault)?;
        }
        if let Some(time) = crate::ask::fold(&history).and_then(|ask| ask.deadline()) {
            self.delete(keys::RETIRE, &keys::retire(time, id))?;
        }
        self.delete(keys::LIVE, &id.to_bytes())?;
        self.delete(keys::FILED, &id.to_bytes())
    }
}
