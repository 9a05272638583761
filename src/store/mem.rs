//! Everything in memory, behind one lock: for tests and examples. Nothing outlives the value; for
//! what does, see [`redb`](super::redb).

use super::index::{Index, Row, earliest};
use super::snapshot::{Saved, Snapshot};
use super::{
    Batch, Change, ClockMark, Committed, Due, Fault, Key, Listing, ReceiptKey, Record, Scope,
    SessionScope, Store, StoredReceipt,
};
use crate::ask::{
    Ask, AskId, ContentDigest, Event, Namespace, SessionId, StandingNo, Timestamp, Twin, WorkId,
};
use crate::session::{Roster, SecretHash, Session, Ticket, Token, Work};
use async_trait::async_trait;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Bound;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A store in memory.
#[derive(Debug, Default)]
pub struct Mem {
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    asks: BTreeMap<AskId, Arc<Ask>>,
    histories: HashMap<AskId, Vec<Event>>,
    sessions: BTreeMap<SessionId, Arc<Session>>,
    works: HashMap<WorkId, Arc<Work>>,
    tickets: HashMap<SecretHash, Arc<Ticket>>,
    tokens: HashMap<SecretHash, Arc<Token>>,
    receipts: BTreeMap<ReceiptKey, Arc<StoredReceipt>>,
    twins: HashMap<(WorkId, ContentDigest), Arc<Twin>>,
    standing: HashMap<(WorkId, ContentDigest), Arc<StandingNo>>,
    rosters: HashMap<Namespace, Arc<Roster>>,
    mark: Option<ClockMark>,
    index: Index,
    // The deadlines of the asks that the index has no more, and of the sessions.
    due: BTreeSet<(Timestamp, Due)>,
}

impl Kept {
    fn saved(&self) -> Whole {
        let asks = self.asks.keys().rev();
        let asks = asks.map(|id| Saved::Ask { id: *id, events: self.histories[id].clone() });
        let mut all: Vec<_> = self.mark.iter().cloned().map(Saved::Clock).collect();
        all.extend(self.rosters.values().cloned().map(Saved::Roster));
        all.extend(self.standing.values().cloned().map(Saved::StandingNo));
        all.extend(self.twins.values().cloned().map(Saved::Twin));
        all.extend(self.receipts.values().cloned().map(Saved::Receipt));
        all.extend(self.tokens.values().cloned().map(Saved::Token));
        all.extend(self.tickets.values().cloned().map(Saved::Ticket));
        all.extend(self.works.values().cloned().map(Saved::Work));
        all.extend(self.sessions.values().cloned().map(Saved::Session));
        all.extend(asks);
        Whole(all)
    }
}

impl Mem {
    /// A store that holds nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What was kept at one moment, last things first: it is taken from the end.
struct Whole(Vec<Saved>);

#[async_trait]
impl Snapshot for Whole {
    async fn next(&mut self, limit: usize) -> Result<Vec<Saved>, Fault> {
        let rest = self.0.len().saturating_sub(limit);
        Ok(self.0.drain(rest..).rev().collect())
    }
}

#[async_trait]
impl Store for Mem {
    async fn load(&self, keys: &[Key]) -> Result<Vec<Option<Record>>, Fault> {
        let kept = self.kept();
        Ok(keys.iter().map(|key| kept.get(key)).collect())
    }

    async fn commit(&self, batch: Batch) -> Result<Vec<Committed>, Fault> {
        let mut kept = self.kept();
        let committed = batch.changes.into_iter().map(|change| kept.apply(change)).collect();
        if let Some(mark) = batch.mark {
            kept.mark = Some(mark);
        }
        Ok(committed)
    }

    async fn history(&self, ask: AskId, after: u64, limit: usize) -> Result<Vec<Event>, Fault> {
        let kept = self.kept();
        let events = kept.histories.get(&ask).into_iter().flatten();
        Ok(events.filter(|event| event.revision > after).take(limit).cloned().collect())
    }

    async fn list(
        &self,
        scope: &Scope,
        after: Option<AskId>,
        limit: usize,
    ) -> Result<Listing, Fault> {
        Ok(self.kept().index.list(scope, after, limit))
    }

    async fn sessions(
        &self,
        scope: &SessionScope,
        after: Option<SessionId>,
        limit: usize,
    ) -> Result<Vec<Arc<Session>>, Fault> {
        let kept = self.kept();
        let later = kept.sessions.values().filter(|session| after.is_none_or(|at| session.id > at));
        Ok(later.filter(|session| scope.has(session)).take(limit).cloned().collect())
    }

    async fn asks(&self, after: Option<AskId>, limit: usize) -> Result<Vec<Arc<Ask>>, Fault> {
        let kept = self.kept();
        let first = after.map_or(Bound::Unbounded, Bound::Excluded);
        let later = kept.asks.range((first, Bound::Unbounded));
        Ok(later.take(limit).map(|(_, ask)| ask.clone()).collect())
    }

    async fn receipts(
        &self,
        after: Option<&ReceiptKey>,
        limit: usize,
    ) -> Result<Vec<Arc<StoredReceipt>>, Fault> {
        let kept = self.kept();
        let first = after.map_or(Bound::Unbounded, Bound::Excluded);
        let later = kept.receipts.range((first, Bound::Unbounded));
        Ok(later.take(limit).map(|(_, receipt)| receipt.clone()).collect())
    }

    async fn deadlines(
        &self,
        until: Timestamp,
        limit: usize,
    ) -> Result<Vec<(Timestamp, Due)>, Fault> {
        let kept = self.kept();
        let due = kept.due.iter().take_while(|(time, _)| *time <= until);
        let due = due.take(limit).copied().collect();
        Ok(earliest(kept.index.deadlines(until, limit), due, limit))
    }

    async fn notices(
        &self,
        until: Timestamp,
        limit: usize,
    ) -> Result<Vec<(Timestamp, AskId)>, Fault> {
        Ok(self.kept().index.notices(until, limit))
    }

    async fn snapshot(&self) -> Result<Box<dyn Snapshot>, Fault> {
        Ok(Box::new(self.kept().saved()))
    }

    fn incarnation(&self) -> String {
        "memory".into()
    }

    async fn resolve(&self, prefix: &str, limit: usize) -> Result<Vec<AskId>, Fault> {
        Ok(self.kept().index.resolve(prefix, limit))
    }
}

impl Kept {
    fn get(&self, key: &Key) -> Option<Record> {
        match key {
            Key::Ask(id) => self.asks.get(id).cloned().map(Record::Ask),
            Key::Session(id) => self.sessions.get(id).cloned().map(Record::Session),
            Key::Work(id) => self.works.get(id).cloned().map(Record::Work),
            Key::Ticket(secret) => self.tickets.get(secret).cloned().map(Record::Ticket),
            Key::Token(secret) => self.tokens.get(secret).cloned().map(Record::Token),
            Key::Receipt(key) => self.receipts.get(key).cloned().map(Record::Receipt),
            Key::Twin(key) => self.twins.get(key).cloned().map(Record::Twin),
            Key::StandingNo(key) => self.standing.get(key).cloned().map(Record::StandingNo),
            Key::Roster(namespace) => self.rosters.get(namespace).cloned().map(Record::Roster),
            Key::Clock => self.mark.clone().map(Record::Clock),
        }
    }

    fn apply(&mut self, change: Change) -> Committed {
        let revision_of = |key: &Key| Ok::<_, Fault>(self.get(key).map_or(0, |r| r.revision()));
        if change.stands(revision_of) != Ok(true) {
            return Committed::Conflict;
        }
        for (ask, event) in change.events {
            self.histories.entry(ask).or_default().push(event);
        }
        for record in change.writes {
            self.put(record);
        }
        for key in &change.removes {
            self.remove(key);
        }
        Committed::Done
    }

    fn put(&mut self, record: Record) {
        match record {
            Record::Ask(ask) => {
                self.disarm(Due::Ask(ask.id));
                match (Row::of(&ask), ask.deadline()) {
                    (Some(row), _) => self.index.put(&row),
                    (None, deadline) => {
                        self.index.settle(ask.id);
                        self.due.extend(deadline.map(|time| (time, Due::Ask(ask.id))));
                    }
                }
                self.asks.insert(ask.id, ask);
            }
            Record::Session(session) => {
                self.disarm(Due::Session(session.id));
                self.due.extend(session.deadline().map(|time| (time, Due::Session(session.id))));
                self.sessions.insert(session.id, session);
            }
            Record::Work(work) => drop(self.works.insert(work.id, work)),
            Record::Ticket(ticket) => drop(self.tickets.insert(ticket.secret, ticket)),
            Record::Token(token) => drop(self.tokens.insert(token.secret, token)),
            Record::Receipt(receipt) => drop(self.receipts.insert(receipt.key.clone(), receipt)),
            Record::Twin(twin) => drop(self.twins.insert((twin.work, twin.digest), twin)),
            Record::StandingNo(no) => drop(self.standing.insert((no.tree, no.digest), no)),
            Record::Roster(roster) => {
                drop(self.rosters.insert(roster.namespace.clone(), roster));
            }
            Record::Clock(mark) => self.mark = Some(mark),
        }
    }

    fn remove(&mut self, key: &Key) {
        match key {
            Key::Ask(id) => {
                self.disarm(Due::Ask(*id));
                self.index.remove(*id);
                self.asks.remove(id);
                self.histories.remove(id);
            }
            Key::Session(id) => {
                self.disarm(Due::Session(*id));
                self.sessions.remove(id);
            }
            Key::Work(id) => drop(self.works.remove(id)),
            Key::Ticket(secret) => drop(self.tickets.remove(secret)),
            Key::Token(secret) => drop(self.tokens.remove(secret)),
            Key::Receipt(key) => drop(self.receipts.remove(key)),
            Key::Twin(key) => drop(self.twins.remove(key)),
            Key::StandingNo(key) => drop(self.standing.remove(key)),
            Key::Roster(namespace) => drop(self.rosters.remove(namespace)),
            Key::Clock => self.mark = None,
        }
    }

    fn disarm(&mut self, due: Due) {
        let deadline = match due {
            Due::Ask(id) => self.asks.get(&id).and_then(|ask| ask.deadline()),
            Due::Session(id) => self.sessions.get(&id).and_then(|session| session.deadline()),
        };
        if let Some(deadline) = deadline {
            self.due.remove(&(deadline, due));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::suite;

    #[tokio::test]
    async fn memory_keeps_every_law() {
        suite::all(|| async { Arc::new(Mem::new()) as Arc<dyn Store> }).await;
    }
}
