//! Applying changes to the tables, within one writing transaction. What the index must then be told
//! is returned, for after the commit.

use super::Trouble;
use super::recent::Committing;
use super::tables::{
    CLOCK, Tables, Writing, content_key, deadline_key, deadline_of, event_key, lists_of,
    receipt_key,
};
use crate::ask::{Ask, AskId, Event, EventKind, SessionId};
use crate::session::Session;
use crate::store::index::{Index, Row};
use crate::store::record::encode;
use crate::store::{Change, ClockMark, Committed, Key, Record};
use ::redb::ReadableTable;
use std::sync::Arc;

/// What a commit means to the index.
pub(super) enum Effect {
    /// An ask is listed so.
    Put(Box<Row>),
    /// An ask is settled and delivered.
    Settle(AskId),
    /// An ask is removed.
    Remove(AskId),
}

impl Effect {
    /// Tells the index.
    pub fn apply(self, index: &mut Index) {
        match self {
            Effect::Put(row) => index.put(&row),
            Effect::Settle(id) => index.settle(id),
            Effect::Remove(id) => index.remove(id),
        }
    }
}

impl Tables<Writing<'_>> {
    /// Applies a change when all it rests on stands.
    pub fn apply(
        &mut self,
        change: Change,
        committing: &mut Committing<'_>,
        effects: &mut Vec<Effect>,
    ) -> Result<Committed, Trouble> {
        let revision = |key: &Key| match committing.look(key) {
            Some(record) => Ok(record.map_or(0, |record| record.revision())),
            None => self.revision(key),
        };
        if !change.stands(revision)? {
            return Ok(Committed::Conflict);
        }
        for (ask, event) in &change.events {
            self.append(*ask, event)?;
        }
        for record in &change.writes {
            self.put(record, committing, effects)?;
            committing.write(record);
        }
        for key in &change.removes {
            self.remove(key, committing, effects)?;
            committing.remove(key);
        }
        Ok(Committed::Done)
    }

    /// Keeps the clock's mark.
    pub fn mark(&mut self, mark: &ClockMark) -> Result<(), Trouble> {
        self.meta.insert(CLOCK, encode(mark)?.as_slice())?;
        Ok(())
    }

    fn append(&mut self, ask: AskId, event: &Event) -> Result<(), Trouble> {
        let bytes = encode(event)?;
        match event.kind {
            EventKind::Seen { .. } if planted!("history_has_a_hole") => return Ok(()),
            EventKind::Filed(_) => self.filed.insert(&ask.to_bytes(), bytes.as_slice())?,
            _ => self.events.insert(&event_key(ask, event.revision), bytes.as_slice())?,
        };
        Ok(())
    }

    fn put(
        &mut self,
        record: &Record,
        committing: &Committing<'_>,
        effects: &mut Vec<Effect>,
    ) -> Result<(), Trouble> {
        match record {
            Record::Ask(ask) => self.list(ask, effects)?,
            Record::Session(session) => {
                let before = self.session_before(session.id, committing)?;
                self.put_session(before.as_deref(), session)?;
            }
            Record::Work(work) => {
                self.works.insert(&work.id.to_bytes(), encode(work)?.as_slice())?;
            }
            Record::Ticket(ticket) => {
                self.tickets.insert(&ticket.secret.to_bytes(), encode(ticket)?.as_slice())?;
            }
            Record::Token(token) => {
                self.tokens.insert(&token.secret.to_bytes(), encode(token)?.as_slice())?;
            }
            Record::Receipt(receipt) => {
                let key = receipt_key(&receipt.key);
                self.receipts.insert(key.as_slice(), encode(receipt)?.as_slice())?;
            }
            Record::Twin(twin) => {
                let key = content_key(&(twin.work, twin.digest));
                self.twins.insert(&key, encode(twin)?.as_slice())?;
            }
            Record::StandingNo(no) => {
                let key = content_key(&(no.tree, no.digest));
                self.standing.insert(&key, encode(no)?.as_slice())?;
            }
            Record::Roster(roster) => {
                let namespace = roster.namespace.as_str();
                self.rosters.insert(namespace, encode(roster)?.as_slice())?;
            }
            Record::Clock(mark) => self.mark(mark)?,
        }
        Ok(())
    }

    /// The ask itself is its events; what is written of it is where it is listed. Settled is final
    /// and so is a delivery, so an ask goes from `live` to `retire` and never back.
    fn list(&mut self, ask: &Ask, effects: &mut Vec<Effect>) -> Result<(), Trouble> {
        let id = ask.id.to_bytes();
        match Row::of(ask) {
            Some(row) => {
                self.live.insert(&id, encode(&row)?.as_slice())?;
                effects.push(Effect::Put(Box::new(row)));
            }
            None => {
                self.live.remove(&id)?;
                if let Some(time) = ask.deadline() {
                    self.retire.insert(&deadline_key(time, id), ())?;
                }
                effects.push(Effect::Settle(ask.id));
            }
        }
        Ok(())
    }

    fn session_before(
        &self,
        id: SessionId,
        committing: &Committing<'_>,
    ) -> Result<Option<Arc<Session>>, Trouble> {
        match committing.look(&Key::Session(id)) {
            Some(Some(Record::Session(session))) => Ok(Some(session)),
            Some(_) => Ok(None),
            None => self.session(id),
        }
    }

    fn put_session(&mut self, before: Option<&Session>, session: &Session) -> Result<(), Trouble> {
        self.disarm(before)?;
        if let Some(time) = session.deadline() {
            self.session_due.insert(&deadline_key(time, session.id.to_bytes()), ())?;
        }
        let before = before.map_or_else(Vec::new, lists_of);
        let after = lists_of(session);
        for place in before.iter().filter(|place| !after.contains(place)) {
            self.session_lists.remove(place)?;
        }
        for place in after.iter().filter(|place| !before.contains(place)) {
            self.session_lists.insert(place, ())?;
        }
        self.sessions.insert(&session.id.to_bytes(), encode(session)?.as_slice())?;
        Ok(())
    }

    fn disarm(&mut self, session: Option<&Session>) -> Result<(), Trouble> {
        if let Some((session, time)) = session.and_then(|s| Some((s, s.deadline()?))) {
            self.session_due.remove(&deadline_key(time, session.id.to_bytes()))?;
        }
        Ok(())
    }

    fn remove(
        &mut self,
        key: &Key,
        committing: &Committing<'_>,
        effects: &mut Vec<Effect>,
    ) -> Result<(), Trouble> {
        match key {
            Key::Ask(id) => {
                self.remove_ask(*id)?;
                effects.push(Effect::Remove(*id));
            }
            Key::Session(id) => {
                if let Some(session) = self.session_before(*id, committing)? {
                    self.disarm(Some(&session))?;
                    for place in lists_of(&session) {
                        self.session_lists.remove(&place)?;
                    }
                    self.sessions.remove(&id.to_bytes())?;
                }
            }
            Key::Work(id) => drop(self.works.remove(&id.to_bytes())?),
            Key::Ticket(secret) => drop(self.tickets.remove(&secret.to_bytes())?),
            Key::Token(secret) => drop(self.tokens.remove(&secret.to_bytes())?),
            Key::Receipt(key) => drop(self.receipts.remove(receipt_key(key).as_slice())?),
            Key::Twin(key) => drop(self.twins.remove(&content_key(key))?),
            Key::StandingNo(key) => drop(self.standing.remove(&content_key(key))?),
            Key::Roster(namespace) => drop(self.rosters.remove(namespace.as_str())?),
            Key::Clock => drop(self.meta.remove(CLOCK)?),
        }
        Ok(())
    }

    fn remove_ask(&mut self, id: AskId) -> Result<(), Trouble> {
        let was_live = self.live.remove(&id.to_bytes())?.is_some();
        if !was_live {
            self.unretire(id)?;
        }
        self.filed.remove(&id.to_bytes())?;
        let (first, last) = (event_key(id, 0), event_key(id, u64::MAX));
        self.events.retain_in::<&[u8; 20], _>(&first..=&last, |_, _| false)?;
        Ok(())
    }

    /// Takes an ask out of `retire`. Its place there is of its deadline; one that was put there
    /// under another retention, or whose history cannot be read, is looked for: what is removed is
    /// due, and so near the head.
    fn unretire(&mut self, id: AskId) -> Result<(), Trouble> {
        let deadline = match self.ask(id) {
            Ok(ask) => ask.and_then(|ask| ask.deadline()),
            Err(trouble) if trouble.of_redb => return Err(trouble),
            Err(_) => None,
        };
        if let Some(time) = deadline
            && self.retire.remove(&deadline_key(time, id.to_bytes()))?.is_some()
        {
            return Ok(());
        }
        let mut place = None;
        for entry in self.retire.iter()? {
            let key = *entry?.0.value();
            if deadline_of(&key).1 == id.to_bytes() {
                place = Some(key);
                break;
            }
        }
        if let Some(key) = place {
            self.retire.remove(&key)?;
        }
        Ok(())
    }
}
