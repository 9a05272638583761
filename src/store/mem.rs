//! A store in memory: for tests, and to read first. What a restart of a process forgets, it forgets.

use super::index::Index;
use super::{Batch, Change, Committed, Fault, Key, Listing, Record, Scope, SessionScope, Store};
use crate::ask::{AskId, Event, SessionId, Timestamp};
use crate::session::{Session, Standing};
use async_trait::async_trait;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Everything, behind one lock.
#[derive(Debug, Default)]
pub struct Mem {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    records: HashMap<Key, Record>,
    events: HashMap<AskId, Vec<Event>>,
    sessions: BTreeMap<SessionId, Arc<Session>>,
    index: Index,
    /// Settled asks that are neither open nor unread, by when they may be removed.
    retire: BTreeSet<(Timestamp, AskId)>,
}

impl Mem {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Store for Mem {
    async fn load(&self, keys: &[Key]) -> Result<Vec<Option<Record>>, Fault> {
        let state = self.state();
        Ok(keys.iter().map(|key| state.records.get(key).cloned()).collect())
    }

    async fn commit(&self, batch: Batch) -> Result<Vec<Committed>, Fault> {
        let mut state = self.state();
        let outcomes = batch.changes.into_iter().map(|change| state.apply(change)).collect();
        if let Some(mark) = batch.mark {
            state.records.insert(Key::Clock, Record::Clock(mark));
        }
        Ok(outcomes)
    }

    async fn history(&self, ask: AskId, after: u64, limit: usize) -> Result<Vec<Event>, Fault> {
        let state = self.state();
        let events = state.events.get(&ask).map(Vec::as_slice).unwrap_or_default();
        let later = events.iter().filter(|event| event.revision > after);
        Ok(later.take(limit).cloned().collect())
    }

    async fn list(
        &self,
        scope: &Scope,
        after: Option<AskId>,
        limit: usize,
    ) -> Result<Listing, Fault> {
        Ok(self.state().index.list(scope, after, limit))
    }

    async fn sessions(
        &self,
        scope: &SessionScope,
        after: Option<SessionId>,
        limit: usize,
    ) -> Result<Vec<Arc<Session>>, Fault> {
        let state = self.state();
        let later = state.sessions.values().filter(|session| Some(session.id) > after);
        Ok(later.filter(|session| scope.has(session)).take(limit).cloned().collect())
    }

    async fn deadlines(
        &self,
        until: Timestamp,
        limit: usize,
    ) -> Result<Vec<(Timestamp, AskId)>, Fault> {
        let state = self.state();
        let mut due = state.index.deadlines(until, limit);
        due.extend(state.retire.iter().take_while(|(time, _)| *time <= until).take(limit));
        due.sort_unstable();
        due.truncate(limit);
        Ok(due)
    }

    async fn resolve(&self, prefix: &str, limit: usize) -> Result<Vec<AskId>, Fault> {
        Ok(self.state().index.resolve(prefix, limit))
    }
}

impl SessionScope {
    /// Whether `session` is in it.
    pub fn has(&self, session: &Session) -> bool {
        match self {
            SessionScope::Namespace(namespace) => session.namespace == *namespace,
            SessionScope::Family(parent) => {
                session.id == *parent
                    || session.parent.as_ref().is_some_and(|by| by.session == *parent)
            }
            SessionScope::ToSweep => session.sweep,
            SessionScope::Held => session.held && session.standing == Standing::Active,
        }
    }
}

impl State {
    fn apply(&mut self, change: Change) -> Committed {
        let revision = |key| self.records.get(key).map_or(0, Record::revision);
        if change.expects.iter().any(|(key, expected)| revision(key) != *expected) {
            return Committed::Conflict;
        }
        for (ask, event) in change.events {
            self.events.entry(ask).or_default().push(event);
        }
        for record in change.writes {
            self.write(record);
        }
        for key in change.removes {
            self.remove(&key);
        }
        Committed::Done
    }

    fn write(&mut self, record: Record) {
        match &record {
            Record::Ask(ask) => {
                self.unretire(ask.id);
                self.index.put(ask);
                if !ask.is_open() && !ask.is_unread() {
                    self.retire.extend(ask.deadline().map(|time| (time, ask.id)));
                }
            }
            Record::Session(session) => {
                self.sessions.insert(session.id, session.clone());
            }
            _ => {}
        }
        self.records.insert(record.key(), record);
    }

    fn remove(&mut self, key: &Key) {
        match key {
            Key::Ask(id) => {
                self.unretire(*id);
                self.index.remove(*id);
                self.events.remove(id);
            }
            Key::Session(id) => {
                self.sessions.remove(id);
            }
            _ => {}
        }
        self.records.remove(key);
    }

    fn unretire(&mut self, id: AskId) {
        if let Some(Record::Ask(before)) = self.records.get(&Key::Ask(id))
            && let Some(time) = before.deadline()
        {
            self.retire.remove(&(time, id));
        }
    }
}
