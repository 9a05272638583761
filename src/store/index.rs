//! What a store can derive from its asks and keeps in memory: who waits for what, which deadline is
//! next, which id a prefix means. Shared by the stores that keep everything in one process.
//!
//! A row is derived from the ask it stands for, and replaced in the commit that changes the ask, so
//! it cannot disagree with it. Only open and unread asks have one.

use super::{Listing, Scope};
use crate::ask::{Ask, AskId, Namespace, PersonName, SessionId, SessionRef, Target, Timestamp};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::ops::Bound;

/// Asks settled and delivered lately whose prefixes still resolve: some hours of a busy machine.
const LATELY: usize = 10_000;

/// What the index knows of an open or unread ask.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    /// Which ask.
    pub id: AskId,
    /// At which revision.
    pub revision: u64,
    /// Where it lives.
    pub namespace: Namespace,
    /// Whom it waits on; none once settled.
    pub waits_on: Option<WaitsOn>,
    /// Who filed it.
    pub asker: SessionId,
    /// The other sessions that may know of it.
    pub known_to: Vec<SessionRef>,
    /// When time alone changes it next.
    pub deadline: Option<Timestamp>,
}

/// Whom an ask waits on, as the index needs it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WaitsOn {
    /// A session.
    Session(SessionId),
    /// People.
    People(Vec<PersonName>),
}

impl Row {
    /// The row of `ask`; none when it is neither open nor unread.
    pub fn of(ask: &Ask) -> Option<Self> {
        if !ask.is_open() && !ask.is_unread() {
            return None;
        }
        let hops = ask.visited.iter().filter_map(|hop| ask.route.hops[*hop].to.session());
        let mut known_to: Vec<SessionRef> = Vec::new();
        for session in [&ask.asker].into_iter().chain(&ask.chain).chain(hops) {
            if !known_to.contains(session) {
                known_to.push(session.clone());
            }
        }
        let waits_on = ask.waiting_on().map(|target| match target {
            Target::Session(session) => WaitsOn::Session(session.session),
            Target::People { people, .. } => WaitsOn::People(people),
        });
        Some(Self {
            id: ask.id,
            revision: ask.revision,
            namespace: ask.namespace.clone(),
            waits_on,
            asker: ask.asker.session,
            known_to,
            deadline: ask.deadline(),
        })
    }

    fn scopes(&self) -> Vec<Scope> {
        let mut scopes = vec![Scope::AskedBy(self.asker)];
        let Some(waits_on) = &self.waits_on else { return scopes };
        scopes.push(Scope::Open(self.namespace.clone()));
        scopes.extend(self.known_to.iter().cloned().map(Scope::VisibleTo));
        match waits_on {
            WaitsOn::Session(session) => scopes.push(Scope::WaitingOnSession(*session)),
            WaitsOn::People(people) => {
                scopes.push(Scope::OnPeople(self.namespace.clone()));
                let of = |person: &PersonName| {
                    Scope::WaitingOnPerson(self.namespace.clone(), person.clone())
                };
                scopes.extend(people.iter().map(of));
            }
        }
        scopes
    }
}

/// The rows, by whatever they are looked for.
#[derive(Debug, Default)]
pub struct Index {
    rows: HashMap<AskId, Row>,
    scopes: HashMap<Scope, BTreeSet<AskId>>,
    deadlines: BTreeSet<(Timestamp, AskId)>,
    spelled: BTreeMap<String, AskId>,
    lately: VecDeque<AskId>,
}

impl Index {
    /// Takes `ask` in as it is now.
    pub fn put(&mut self, ask: &Ask) {
        self.replace(ask.id, Row::of(ask));
    }

    /// Takes in a row as it is now: none where the ask is neither open nor unread any more.
    pub fn replace(&mut self, id: AskId, row: Option<Row>) {
        let had = self.drop_row(id);
        match row {
            Some(row) => self.add(row),
            None if had => self.remember_lately(id),
            None => {}
        }
    }

    /// Forgets an ask altogether.
    pub fn remove(&mut self, id: AskId) {
        self.drop_row(id);
        self.spelled.remove(&id.to_string());
    }

    /// Lets a settled and delivered ask's prefix resolve for a while.
    pub fn remember_lately(&mut self, id: AskId) {
        self.spelled.insert(id.to_string(), id);
        self.lately.push_back(id);
        if self.lately.len() > LATELY
            && let Some(oldest) = self.lately.pop_front()
            && !self.rows.contains_key(&oldest)
        {
            self.spelled.remove(&oldest.to_string());
        }
    }

    /// The asks of `scope` after `after`, at most `limit`, and their whole number.
    pub fn list(&self, scope: &Scope, after: Option<AskId>, limit: usize) -> Listing {
        let Some(ids) = self.scopes.get(scope) else { return Listing::default() };
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        let page = ids.range((from, Bound::Unbounded)).take(limit);
        let asks = page.map(|id| (*id, self.rows[id].revision)).collect();
        Listing { asks, total: ids.len() }
    }

    /// The earliest deadlines at or before `until`, at most `limit`.
    pub fn deadlines(&self, until: Timestamp, limit: usize) -> Vec<(Timestamp, AskId)> {
        self.deadlines.iter().take_while(|(time, _)| *time <= until).take(limit).copied().collect()
    }

    /// The asks whose spelled ids begin with `prefix`, at most `limit`.
    pub fn resolve(&self, prefix: &str, limit: usize) -> Vec<AskId> {
        let from = self.spelled.range(prefix.to_owned()..);
        from.take_while(|(text, _)| text.starts_with(prefix))
            .take(limit)
            .map(|(_, id)| *id)
            .collect()
    }

    fn add(&mut self, row: Row) {
        for scope in row.scopes() {
            self.scopes.entry(scope).or_default().insert(row.id);
        }
        self.deadlines.extend(row.deadline.map(|time| (time, row.id)));
        self.spelled.insert(row.id.to_string(), row.id);
        self.rows.insert(row.id, row);
    }

    fn drop_row(&mut self, id: AskId) -> bool {
        let Some(row) = self.rows.remove(&id) else { return false };
        for scope in row.scopes() {
            if let Some(ids) = self.scopes.get_mut(&scope) {
                ids.remove(&id);
                if ids.is_empty() {
                    self.scopes.remove(&scope);
                }
            }
        }
        if let Some(time) = row.deadline {
            self.deadlines.remove(&(time, id));
        }
        true
    }
}
