//! What is derived from asks and kept in memory: who is asked what, which deadline is next, whom to
//! tell when, which ids a prefix fits. Never written for its own sake: it is made from [`Row`]s, and each row from
//! its ask, so none can disagree with the records. Shared by [`mem`](super::mem) and
//! [`redb`](super::redb), which say when a row changes.
//!
//! Only open and unread asks are in it, and the ids of some settled lately. Measured with four asks
//! a session: an open ask takes 500 bytes, a settled one that is unread 250.

use super::{Due, Listing, Scope};
use crate::ask::{
    Ask, AskId, HostName, Namespace, PersonName, SessionRef, Target, Timestamp, WorkId, names,
};
use foldhash::quality::RandomState;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, VecDeque};
use std::ops::Bound;
use std::sync::Arc;

/// How many asks that are neither open nor unread can still be found by a prefix: what a person
/// may have seen in the last days, for a hundred bytes each.
pub const LATELY: usize = 10_000;

/// What the index knows of an ask that is open or unread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    /// Which ask.
    pub id: AskId,
    /// At which revision.
    pub revision: u64,
    /// Where it lives.
    pub namespace: Namespace,
    /// Whether it is open; else it is settled, and unread.
    pub open: bool,
    /// Whom it waits on.
    pub waits_on: WaitsOn,
    /// The sender that has yet to be told that its outcome found nobody.
    pub orphan_of: Option<SessionRef>,
    /// Who filed it.
    pub asker: SessionRef,
    /// Whose session that is.
    pub host: HostName,
    /// The root of its work.
    pub tree: WorkId,
    /// The sessions that may know of it, the asker first; each once.
    pub known_to: Vec<SessionRef>,
    /// When time alone next changes it.
    pub deadline: Option<Timestamp>,
    /// When people are next to be told of it.
    #[serde(default)]
    pub notice: Option<Timestamp>,
    /// Whether they could not be, when that was last tried.
    #[serde(default)]
    pub untold: bool,
}

/// Whom an ask waits on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WaitsOn {
    /// Nobody: it is settled.
    Nobody,
    /// A session.
    Session(SessionRef),
    /// Any of these people.
    People(Vec<PersonName>),
}

impl Row {
    /// The row of an ask; none when it is neither open nor unread.
    pub fn of(ask: &Ask) -> Option<Self> {
        if !ask.is_listed() {
            return None;
        }
        let waits_on = match ask.waiting_on() {
            None => WaitsOn::Nobody,
            Some(Target::Session(session)) => WaitsOn::Session(session),
            Some(Target::People { people, .. }) => WaitsOn::People(people),
        };
        let asked = ask.visited.iter().filter_map(|hop| ask.route.hops[*hop].to.session());
        let mut known_to: Vec<SessionRef> = Vec::new();
        for session in [&ask.asker].into_iter().chain(&ask.chain).chain(asked) {
            if !known_to.contains(session) {
                known_to.push(session.clone());
            }
        }
        Some(Self {
            id: ask.id,
            revision: ask.revision,
            namespace: ask.namespace.clone(),
            open: ask.is_open(),
            waits_on,
            orphan_of: ask.orphan_of().cloned(),
            asker: ask.asker.clone(),
            host: ask.host.clone(),
            tree: ask.tree,
            known_to,
            deadline: ask.deadline(),
            notice: ask.notice_due(),
            untold: ask.notice_failure().is_some(),
        })
    }

    /// The scopes that list it.
    pub fn scopes(&self) -> Vec<Scope> {
        let of_host = Scope::OfHost(self.namespace.clone(), self.host.clone());
        if let Some(sender) = &self.orphan_of {
            return vec![Scope::InboxOf(sender.session)];
        }
        let mut scopes = vec![Scope::AskedBy(self.asker.session), of_host];
        if !self.open {
            return scopes;
        }
        scopes.push(Scope::Open(self.namespace.clone()));
        scopes.push(Scope::Tree(self.tree));
        if self.untold {
            scopes.push(Scope::Untold(self.namespace.clone()));
        }
        scopes.extend(self.known_to.iter().cloned().map(Scope::VisibleTo));
        match &self.waits_on {
            WaitsOn::Nobody => {}
            WaitsOn::Session(session) => {
                scopes.push(Scope::WaitingOnSession(session.session));
                scopes.push(Scope::InboxOf(session.session));
            }
            WaitsOn::People(people) => {
                scopes.push(Scope::OnPeople(self.namespace.clone()));
                let on = |person: &PersonName| {
                    Scope::WaitingOnPerson(self.namespace.clone(), person.clone())
                };
                scopes.extend(people.iter().map(on));
            }
        }
        scopes
    }
}

/// The index.
#[derive(Debug, Default)]
pub struct Index {
    asks: HashMap<AskId, Entry>,
    // Most scopes list a few asks, so one sorted set holds the members of all, by number.
    members: BTreeSet<(Number, AskId)>,
    numbers: HashMap<Arc<Scope>, Number>,
    scopes: Vec<Option<Listed>>,
    free: Vec<Number>,
    deadlines: BTreeSet<(Timestamp, AskId)>,
    notices: BTreeSet<(Timestamp, AskId)>,
    // Of the asks above and those settled lately: ids as they are spelled, the random half first.
    spelled: BTreeSet<[u8; 12]>,
    lately: VecDeque<AskId>,
}

type HashMap<K, V> = std::collections::HashMap<K, V, RandomState>;

/// A scope's place in `scopes`; used again once the scope lists nothing.
type Number = u32;

#[derive(Debug)]
struct Entry {
    revision: u64,
    deadline: Option<Timestamp>,
    notice: Option<Timestamp>,
    scopes: Box<[Number]>,
}

#[derive(Debug)]
struct Listed {
    scope: Arc<Scope>,
    total: usize,
}

const FIRST: AskId = AskId::from_bytes([0; 12]);
const LAST: AskId = AskId::from_bytes([255; 12]);

impl Index {
    /// Takes in an ask, or what has become of it.
    pub fn put(&mut self, row: &Row) {
        let id = row.id;
        let mut scopes = Vec::new();
        for scope in row.scopes() {
            let number = self.number(scope);
            if !scopes.contains(&number) {
                scopes.push(number);
            }
        }
        let scopes = scopes.into_boxed_slice();
        let Row { revision, deadline, notice, .. } = *row;
        let entry = Entry { revision, deadline, notice, scopes: scopes.clone() };
        let before = self.asks.insert(id, entry);
        let had = |number: &Number| before.as_ref().is_some_and(|b| b.scopes.contains(number));
        for number in scopes.iter().filter(|number| !had(number)) {
            self.join(*number, id);
        }
        if let Some(before) = before {
            for number in before.scopes.iter().filter(|number| !scopes.contains(number)) {
                self.leave(*number, id);
            }
            self.disarm(&before, id);
        }
        self.deadlines.extend(deadline.map(|time| (time, id)));
        self.notices.extend(notice.map(|time| (time, id)));
        self.spelled.insert(swap(id.to_bytes()));
    }

    /// An ask is settled and its delivery over: listed no more, found by a prefix for a while.
    pub fn settle(&mut self, id: AskId) {
        let was_listed = self.drop_entry(id);
        let is_new = self.spelled.insert(swap(id.to_bytes()));
        if !was_listed && !is_new {
            return;
        }
        self.lately.push_back(id);
        if self.lately.len() > LATELY
            && let Some(oldest) = self.lately.pop_front()
        {
            self.spelled.remove(&swap(oldest.to_bytes()));
        }
    }

    /// An ask is removed.
    pub fn remove(&mut self, id: AskId) {
        self.drop_entry(id);
        self.spelled.remove(&swap(id.to_bytes()));
    }

    /// See [`Store::list`](super::Store::list).
    pub fn list(&self, scope: &Scope, after: Option<AskId>, limit: usize) -> Listing {
        let Some(&number) = self.numbers.get(scope) else { return Listing::default() };
        let first = match after {
            Some(after) => Bound::Excluded((number, after)),
            None => Bound::Included((number, FIRST)),
        };
        let members = self.members.range((first, Bound::Included((number, LAST))));
        let with_revision = |&(_, id): &(Number, AskId)| (id, self.asks[&id].revision);
        let asks = members.take(limit).map(with_revision).collect();
        let total = self.scopes[number as usize].as_ref().map_or(0, |listed| listed.total);
        Listing { asks, total }
    }

    /// See [`Store::deadlines`](super::Store::deadlines); of the asks in the index alone.
    pub fn deadlines(&self, until: Timestamp, limit: usize) -> Vec<(Timestamp, Due)> {
        let due = self.deadlines.range(..=(until, LAST)).take(limit);
        due.map(|(time, ask)| (*time, Due::Ask(*ask))).collect()
    }

    /// See [`Store::notices`](super::Store::notices).
    pub fn notices(&self, until: Timestamp, limit: usize) -> Vec<(Timestamp, AskId)> {
        self.notices.range(..=(until, LAST)).take(limit).copied().collect()
    }

    /// See [`Store::resolve`](super::Store::resolve).
    pub fn resolve(&self, prefix: &str, limit: usize) -> Vec<AskId> {
        let Some((first, last)) = spelled_between(prefix) else { return Vec::new() };
        let found = self.spelled.range(swap(first.to_bytes())..=swap(last.to_bytes()));
        found.take(limit).map(|spelled| AskId::from_bytes(swap(*spelled))).collect()
    }

    fn number(&mut self, scope: Scope) -> Number {
        if let Some(number) = self.numbers.get(&scope) {
            return *number;
        }
        let scope = Arc::new(scope);
        let listed = Some(Listed { scope: scope.clone(), total: 0 });
        let number = match self.free.pop() {
            Some(number) => {
                self.scopes[number as usize] = listed;
                number
            }
            None => {
                self.scopes.push(listed);
                Number::try_from(self.scopes.len() - 1).expect("memory ends before scopes do")
            }
        };
        self.numbers.insert(scope, number);
        number
    }

    fn join(&mut self, number: Number, id: AskId) {
        if self.members.insert((number, id))
            && let Some(listed) = &mut self.scopes[number as usize]
        {
            listed.total += 1;
        }
    }

    fn leave(&mut self, number: Number, id: AskId) {
        let place = &mut self.scopes[number as usize];
        let Some(listed) = place else { return };
        if self.members.remove(&(number, id)) {
            listed.total -= 1;
        }
        if listed.total == 0 {
            self.numbers.remove(&listed.scope);
            *place = None;
            self.free.push(number);
        }
    }

    fn drop_entry(&mut self, id: AskId) -> bool {
        let Some(entry) = self.asks.remove(&id) else { return false };
        for number in &entry.scopes {
            self.leave(*number, id);
        }
        self.disarm(&entry, id);
        true
    }

    fn disarm(&mut self, entry: &Entry, id: AskId) {
        if let Some(deadline) = entry.deadline {
            self.deadlines.remove(&(deadline, id));
        }
        if let Some(notice) = entry.notice {
            self.notices.remove(&(notice, id));
        }
    }
}

/// The first `limit` of two lists of deadlines, each earliest first.
pub fn earliest(
    mut one: Vec<(Timestamp, Due)>,
    other: Vec<(Timestamp, Due)>,
    limit: usize,
) -> Vec<(Timestamp, Due)> {
    one.extend(other);
    one.sort_unstable();
    one.truncate(limit);
    one
}

/// The first and the last id whose spelling begins with `prefix`; none when no id's does.
pub(super) fn spelled_between(prefix: &str) -> Option<(AskId, AskId)> {
    let begun = if AskId::PREFIX.starts_with(prefix) { AskId::PREFIX } else { prefix };
    let missing = (AskId::PREFIX.len() + names::ID_CHARS).checked_sub(begun.len())?;
    if missing == 0 {
        return begun.parse().ok().map(|id| (id, id));
    }
    // The last character holds one bit and four zeros: `0` or `g`.
    let first = format!("{begun}{}", "0".repeat(missing)).parse().ok()?;
    let last = format!("{begun}{}g", "z".repeat(missing - 1)).parse().ok()?;
    Some((first, last))
}

/// An id's stored form as it is spelled, or back.
pub(super) fn swap(id: [u8; 12]) -> [u8; 12] {
    let mut swapped = [0; 12];
    swapped[..6].copy_from_slice(&id[6..]);
    swapped[6..].copy_from_slice(&id[..6]);
    swapped
}

#[cfg(test)]
mod tests;
