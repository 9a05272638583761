//! Reading the tables, in a reading transaction or within a writing one.

use super::Trouble;
use super::tables::{
    Access, CLOCK, Tables, content_key, deadline_key, deadline_of, event_key, list_key, list_of,
    listed_session, receipt_key, revision_of,
};
use crate::ask::{Ask, AskId, Event, SessionId, Timestamp};
use crate::session::Session;
use crate::store::index::{Index, LATELY, Row};
use crate::store::record::{damaged, decode, fold_history};
use crate::store::{Due, Key, ReceiptKey, Record, SessionScope, StoredReceipt};
use ::redb::{AccessGuard, ReadableTable};
use std::ops::Bound;
use std::sync::Arc;

const LAST: AskId = AskId::from_bytes([255; 12]);

impl<A: Access> Tables<A> {
    /// The record of a key.
    pub fn get(&self, key: &Key) -> Result<Option<Record>, Trouble> {
        Ok(match key {
            Key::Ask(id) => self.ask(*id)?.map(|ask| Record::Ask(Arc::new(ask))),
            Key::Session(id) => self.session(*id)?.map(Record::Session),
            Key::Work(id) => {
                let found = self.access.of(&self.works)?.get(&id.to_bytes())?;
                read(found, || format!("the work {id}"))?.map(Record::Work)
            }
            Key::Ticket(secret) => {
                let found = self.access.of(&self.tickets)?.get(&secret.to_bytes())?;
                read(found, || "a ticket".into())?.map(Record::Ticket)
            }
            Key::Token(secret) => {
                let found = self.access.of(&self.tokens)?.get(&secret.to_bytes())?;
                read(found, || "a token".into())?.map(Record::Token)
            }
            Key::Receipt(key) => {
                let found = self.access.of(&self.receipts)?.get(receipt_key(key).as_slice())?;
                read(found, || format!("the receipt of request {}", key.request))?
                    .map(Record::Receipt)
            }
            Key::Twin(key) => {
                let found = self.access.of(&self.twins)?.get(&content_key(key))?;
                read(found, || format!("which ask {} filed", key.0))?.map(Record::Twin)
            }
            Key::StandingNo(key) => {
                let found = self.access.of(&self.standing)?.get(&content_key(key))?;
                read(found, || format!("a decline under {}", key.0))?.map(Record::StandingNo)
            }
            Key::Roster(namespace) => {
                let found = self.access.of(&self.rosters)?.get(namespace.as_str())?;
                read(found, || format!("the roster of {namespace}"))?.map(Record::Roster)
            }
            Key::Clock => {
                read(self.access.of(&self.meta)?.get(CLOCK)?, || "the clock's mark".into())?
                    .map(Record::Clock)
            }
        })
    }

    /// How often the record of a key was written; 0 for none. An ask is not folded for it.
    pub fn revision(&self, key: &Key) -> Result<u64, Trouble> {
        let once = |found: bool| Ok(u64::from(found));
        match key {
            Key::Ask(id) => {
                let (first, last) = (event_key(*id, 0), event_key(*id, u64::MAX));
                if let Some(entry) =
                    self.access.of(&self.events)?.range::<&[u8; 20]>(&first..=&last)?.next_back()
                {
                    return Ok(revision_of(entry?.0.value()));
                }
                once(self.access.of(&self.filed)?.get(&id.to_bytes())?.is_some())
            }
            Key::Work(id) => once(self.access.of(&self.works)?.get(&id.to_bytes())?.is_some()),
            Key::Receipt(key) => {
                once(self.access.of(&self.receipts)?.get(receipt_key(key).as_slice())?.is_some())
            }
            Key::Clock => once(self.access.of(&self.meta)?.get(CLOCK)?.is_some()),
            Key::Session(_)
            | Key::Ticket(_)
            | Key::Token(_)
            | Key::Twin(_)
            | Key::StandingNo(_)
            | Key::Roster(_) => Ok(self.get(key)?.map_or(0, |record| record.revision())),
        }
    }

    /// See [`Store::history`](crate::store::Store::history).
    pub fn history(&self, id: AskId, after: u64, limit: usize) -> Result<Vec<Event>, Trouble> {
        let name = || format!("an event of {id}");
        let mut events = Vec::new();
        if after == 0 {
            events.extend(read(self.access.of(&self.filed)?.get(&id.to_bytes())?, name)?);
        }
        let first = event_key(id, after.saturating_add(1));
        let later =
            self.access.of(&self.events)?.range::<&[u8; 20]>(&first..=&event_key(id, u64::MAX))?;
        for entry in later.take(limit.saturating_sub(events.len())) {
            let event: Event = decode(&name(), entry?.1.value())?;
            if event.revision > after {
                events.push(event);
            }
        }
        events.truncate(limit);
        Ok(events)
    }

    /// An ask, folded from its whole history. Its row says at which revision it must be: an event
    /// lost from the end would else make what is settled open again.
    pub fn ask(&self, id: AskId) -> Result<Option<Ask>, Trouble> {
        let ask = fold_history(id, &self.history(id, 0, usize::MAX)?)?;
        let row: Option<Row> =
            read(self.access.of(&self.live)?.get(&id.to_bytes())?, || row_name(id))?;
        let listed = ask.as_ref().filter(|ask| ask.is_listed());
        if row.map(|row| row.revision) != listed.map(|ask| ask.revision) {
            return Err(damaged(&format!("the history of {id}"), "it ends too early").into());
        }
        Ok(ask)
    }

    /// A session.
    pub fn session(&self, id: SessionId) -> Result<Option<Arc<Session>>, Trouble> {
        Ok(read(self.access.of(&self.sessions)?.get(&id.to_bytes())?, || {
            format!("the session {id}")
        })?)
    }

    /// See [`Store::sessions`](crate::store::Store::sessions).
    pub fn sessions(
        &self,
        scope: &SessionScope,
        after: Option<SessionId>,
        limit: usize,
    ) -> Result<Vec<Arc<Session>>, Trouble> {
        let after = after.map(SessionId::to_bytes);
        let mut found = Vec::new();
        let Some((list, head)) = list_of(scope) else {
            let first = after.as_ref().map_or(Bound::Unbounded, Bound::Excluded);
            for entry in
                self.access.of(&self.sessions)?.range::<&[u8; 12]>((first, Bound::Unbounded))?
            {
                if found.len() == limit {
                    break;
                }
                let session: Arc<Session> = decode("a session", entry?.1.value())?;
                found.extend(scope.has(&session).then_some(session));
            }
            return Ok(found);
        };
        let first = list_key(list, head, after.unwrap_or([0; 12]));
        let first = if after.is_some() { Bound::Excluded(&first) } else { Bound::Included(&first) };
        let last = list_key(list, head, [255; 12]);
        for entry in self
            .access
            .of(&self.session_lists)?
            .range::<&[u8; 25]>((first, Bound::Included(&last)))?
            .take(limit)
        {
            let id = listed_session(entry?.0.value());
            let session = self.session(id)?;
            found.push(session.ok_or_else(|| damaged(&format!("the session {id}"), "missing"))?);
        }
        Ok(found)
    }

    /// See [`Store::asks`](crate::store::Store::asks).
    pub fn asks(&self, after: Option<AskId>, limit: usize) -> Result<Vec<Arc<Ask>>, Trouble> {
        let after = after.map(AskId::to_bytes);
        let first = after.as_ref().map_or(Bound::Unbounded, Bound::Excluded);
        let mut found = Vec::new();
        for entry in
            self.access.of(&self.filed)?.range::<&[u8; 12]>((first, Bound::Unbounded))?.take(limit)
        {
            let id = AskId::from_bytes(*entry?.0.value());
            found.extend(self.ask(id)?.map(Arc::new));
        }
        Ok(found)
    }

    /// See [`Store::receipts`](crate::store::Store::receipts).
    pub fn receipts(
        &self,
        after: Option<&ReceiptKey>,
        limit: usize,
    ) -> Result<Vec<Arc<StoredReceipt>>, Trouble> {
        let after = after.map(receipt_key);
        let first = after.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
        let later = self.access.of(&self.receipts)?.range::<&[u8]>((first, Bound::Unbounded))?;
        later.take(limit).map(|entry| Ok(decode("a receipt", entry?.1.value())?)).collect()
    }

    /// What is due by `until` and not in the index: settled asks that are to be removed, and
    /// sessions.
    pub fn due(&self, until: Timestamp, limit: usize) -> Result<Vec<(Timestamp, Due)>, Trouble> {
        let last = deadline_key(until, LAST.to_bytes());
        let mut found = Vec::new();
        for entry in self.access.of(&self.retire)?.range::<&[u8; 20]>(..=&last)?.take(limit) {
            let (time, id) = deadline_of(entry?.0.value());
            found.push((time, Due::Ask(AskId::from_bytes(id))));
        }
        for entry in self.access.of(&self.session_due)?.range::<&[u8; 20]>(..=&last)?.take(limit) {
            let (time, id) = deadline_of(entry?.0.value());
            found.push((time, Due::Session(SessionId::from_bytes(id))));
        }
        Ok(found)
    }

    /// The index, from the rows kept of open and unread asks; no ask is read for it.
    pub fn index(&self) -> Result<Index, Trouble> {
        let mut index = Index::default();
        let mut lately = Vec::new();
        for entry in self.access.of(&self.retire)?.iter()?.rev().take(LATELY) {
            lately.push(AskId::from_bytes(deadline_of(entry?.0.value()).1));
        }
        lately.into_iter().rev().for_each(|ask| index.settle(ask));
        for entry in self.access.of(&self.live)?.iter()? {
            let (key, bytes) = entry?;
            let id = AskId::from_bytes(*key.value());
            let row: Row = decode(&row_name(id), bytes.value())?;
            if row.id != id {
                return Err(damaged(&row_name(id), "it is another ask's").into());
            }
            index.put(&row);
        }
        Ok(index)
    }
}

fn row_name(id: AskId) -> String {
    format!("the index row of {id}")
}

fn read<T: serde::de::DeserializeOwned>(
    found: Option<AccessGuard<'_, &'static [u8]>>,
    name: impl Fn() -> String,
) -> Result<Option<T>, crate::store::Fault> {
    found.map(|bytes| decode(&name(), bytes.value())).transpose()
}
