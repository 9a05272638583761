//! The layout of the file: which tables there are, and how their keys are made.
//!
//! | table | key | value |
//! |---|---|---|
//! | meta | a name | the marker, the clock's mark |
//! | filed | ask | its first event, written once |
//! | events | ask, revision | its later events, each written once |
//! | live | ask | its row of the index, while it is open or unread; updated in place |
//! | retire | purge time, ask | nothing; of the asks that are neither |
//! | sessions, works | id | the record |
//! | session_lists | list, head, session | nothing; see [`lists_of`] |
//! | tickets, tokens | SHA-256 of the secret | the record |
//! | receipts | request id, 0, caller | the record |
//! | session_due | time, session | nothing; of the sessions that time alone will change |
//! | twins, standing | work, digest of the content | the record |
//! | rosters | namespace | the record |
//!
//! Ids begin with their time, so nearly every write lands at the end of its table, and a commit
//! touches few pages however much is kept.

use super::Trouble;
use crate::ask::{AskId, ContentDigest, SessionId, Timestamp, WorkId};
use crate::session::Session;
use crate::store::{ReceiptKey, SessionScope};
use ::redb::{
    Key, ReadOnlyTable, ReadTransaction, ReadableTable, Table, TableDefinition, Value,
    WriteTransaction,
};
use std::sync::OnceLock;

type Id = &'static [u8; 12];
type Pair = &'static [u8; 20];
type Content = &'static [u8; 44];
type Bytes = &'static [u8];

pub(super) const META: TableDefinition<&str, Bytes> = TableDefinition::new("meta");
const FILED: TableDefinition<Id, Bytes> = TableDefinition::new("filed");
const EVENTS: TableDefinition<Pair, Bytes> = TableDefinition::new("events");
const LIVE: TableDefinition<Id, Bytes> = TableDefinition::new("live");
const RETIRE: TableDefinition<Pair, ()> = TableDefinition::new("retire");
const SESSIONS: TableDefinition<Id, Bytes> = TableDefinition::new("sessions");
const SESSION_LISTS: TableDefinition<&[u8; 25], ()> = TableDefinition::new("session_lists");
const WORKS: TableDefinition<Id, Bytes> = TableDefinition::new("works");
const TICKETS: TableDefinition<&[u8; 32], Bytes> = TableDefinition::new("tickets");
const TOKENS: TableDefinition<&[u8; 32], Bytes> = TableDefinition::new("tokens");
const RECEIPTS: TableDefinition<Bytes, Bytes> = TableDefinition::new("receipts");
const SESSION_DUE: TableDefinition<Pair, ()> = TableDefinition::new("session_due");
const TWINS: TableDefinition<Content, Bytes> = TableDefinition::new("twins");
const STANDING: TableDefinition<Content, Bytes> = TableDefinition::new("standing");
const ROSTERS: TableDefinition<&str, Bytes> = TableDefinition::new("rosters");

/// The clock's mark in `meta`.
pub(super) const CLOCK: &str = "clock";

/// How tables are reached: by a reading or by a writing transaction.
pub(super) trait Access {
    /// A table that is open.
    type Table<K: Key + 'static, V: Value + 'static>: ReadableTable<K, V>;
    /// One that is open once it is looked at.
    type Place<K: Key + 'static, V: Value + 'static>;

    /// The table of a place.
    fn of<'a, K: Key + 'static, V: Value + 'static>(
        &self,
        place: &'a Self::Place<K, V>,
    ) -> Result<&'a Self::Table<K, V>, Trouble>;
}

/// By a reading one. Most reads look at one table or two, and opening one costs as much as reading of it.
pub(super) struct Reading(ReadTransaction);

/// By a writing one.
pub(super) struct Writing<'txn>(std::marker::PhantomData<&'txn ()>);

/// A table that is opened by who first looks at it.
pub(super) struct Lazy<K: Key + 'static, V: Value + 'static> {
    definition: TableDefinition<'static, K, V>,
    opened: OnceLock<ReadOnlyTable<K, V>>,
}

impl Access for Reading {
    type Table<K: Key + 'static, V: Value + 'static> = ReadOnlyTable<K, V>;
    type Place<K: Key + 'static, V: Value + 'static> = Lazy<K, V>;

    fn of<'a, K: Key + 'static, V: Value + 'static>(
        &self,
        place: &'a Lazy<K, V>,
    ) -> Result<&'a ReadOnlyTable<K, V>, Trouble> {
        match place.opened.get() {
            Some(opened) => Ok(opened),
            None => {
                let opened = self.0.open_table(place.definition)?;
                Ok(place.opened.get_or_init(|| opened))
            }
        }
    }
}

impl<'txn> Access for Writing<'txn> {
    type Table<K: Key + 'static, V: Value + 'static> = Table<'txn, K, V>;
    type Place<K: Key + 'static, V: Value + 'static> = Table<'txn, K, V>;

    fn of<'a, K: Key + 'static, V: Value + 'static>(
        &self,
        place: &'a Table<'txn, K, V>,
    ) -> Result<&'a Table<'txn, K, V>, Trouble> {
        Ok(place)
    }
}

/// Every table, as of one moment.
pub(super) struct Tables<A: Access> {
    pub access: A,
    pub meta: A::Place<&'static str, Bytes>,
    pub filed: A::Place<Id, Bytes>,
    pub events: A::Place<Pair, Bytes>,
    pub live: A::Place<Id, Bytes>,
    pub retire: A::Place<Pair, ()>,
    pub sessions: A::Place<Id, Bytes>,
    pub session_lists: A::Place<&'static [u8; 25], ()>,
    pub works: A::Place<Id, Bytes>,
    pub tickets: A::Place<&'static [u8; 32], Bytes>,
    pub tokens: A::Place<&'static [u8; 32], Bytes>,
    pub receipts: A::Place<Bytes, Bytes>,
    pub session_due: A::Place<Pair, ()>,
    pub twins: A::Place<Content, Bytes>,
    pub standing: A::Place<Content, Bytes>,
    pub rosters: A::Place<&'static str, Bytes>,
}

macro_rules! tables {
    ($access:expr, |$definition:ident| $place:expr) => {{
        macro_rules! place {
            ($table:ident) => {{
                let $definition = $table;
                $place
            }};
        }
        Tables {
            access: $access,
            meta: place!(META),
            filed: place!(FILED),
            events: place!(EVENTS),
            live: place!(LIVE),
            retire: place!(RETIRE),
            sessions: place!(SESSIONS),
            session_lists: place!(SESSION_LISTS),
            works: place!(WORKS),
            tickets: place!(TICKETS),
            tokens: place!(TOKENS),
            receipts: place!(RECEIPTS),
            session_due: place!(SESSION_DUE),
            twins: place!(TWINS),
            standing: place!(STANDING),
            rosters: place!(ROSTERS),
        }
    }};
}

impl Tables<Reading> {
    /// As of this transaction.
    pub fn read(txn: ReadTransaction) -> Self {
        tables!(Reading(txn), |definition| Lazy { definition, opened: OnceLock::new() })
    }
}

impl<'txn> Tables<Writing<'txn>> {
    /// Makes those that are not there yet.
    pub fn write(txn: &'txn WriteTransaction) -> Result<Self, Trouble> {
        let access = Writing(std::marker::PhantomData);
        Ok(tables!(access, |definition| txn.open_table(definition)?))
    }
}

/// The key of an event.
pub(super) fn event_key(ask: AskId, revision: u64) -> [u8; 20] {
    let mut key = [0; 20];
    key[..12].copy_from_slice(&ask.to_bytes());
    key[12..].copy_from_slice(&revision.to_be_bytes());
    key
}

/// The revision of an event's key.
pub(super) fn revision_of(key: &[u8; 20]) -> u64 {
    let mut revision = [0; 8];
    revision.copy_from_slice(&key[12..]);
    u64::from_be_bytes(revision)
}

/// The key of a deadline, an ask's or a session's.
pub(super) fn deadline_key(time: Timestamp, id: [u8; 12]) -> [u8; 20] {
    let mut key = [0; 20];
    key[..8].copy_from_slice(&time.as_millis().to_be_bytes());
    key[8..].copy_from_slice(&id);
    key
}

/// The deadline of its key.
pub(super) fn deadline_of(key: &[u8; 20]) -> (Timestamp, [u8; 12]) {
    let (mut millis, mut id) = ([0; 8], [0; 12]);
    millis.copy_from_slice(&key[..8]);
    id.copy_from_slice(&key[8..]);
    (Timestamp::from_millis(u64::from_be_bytes(millis)), id)
}

/// The key of what is kept of a content under a work.
pub(super) fn content_key((work, digest): &(WorkId, ContentDigest)) -> [u8; 44] {
    let mut key = [0; 44];
    key[..12].copy_from_slice(&work.to_bytes());
    key[12..].copy_from_slice(&digest.to_bytes());
    key
}

/// The key of a receipt. A request id is visible text, and so has no zero in it.
pub(super) fn receipt_key(key: &ReceiptKey) -> Vec<u8> {
    [key.request.as_str().as_bytes(), &[0], key.caller.as_bytes()].concat()
}

/// The key of a place in a list of sessions.
pub(super) fn list_key(list: u8, head: [u8; 12], session: [u8; 12]) -> [u8; 25] {
    let mut key = [0; 25];
    key[0] = list;
    key[1..13].copy_from_slice(&head);
    key[13..].copy_from_slice(&session);
    key
}

/// The session of a place in a list.
pub(super) fn listed_session(key: &[u8; 25]) -> SessionId {
    let mut session = [0; 12];
    session.copy_from_slice(&key[13..]);
    SessionId::from_bytes(session)
}

/// The list of a scope: its number, and whose it is. None for a namespace, which is read from the
/// sessions themselves.
pub(super) fn list_of(scope: &SessionScope) -> Option<(u8, [u8; 12])> {
    match scope {
        SessionScope::Namespace(_) => None,
        SessionScope::Family(head) => Some((1, head.to_bytes())),
        SessionScope::ToSweep => Some((2, [0; 12])),
        SessionScope::Held => Some((3, [0; 12])),
        SessionScope::Asleep => Some((4, [0; 12])),
    }
}

/// The places a session has in lists.
pub(super) fn lists_of(session: &Session) -> Vec<[u8; 25]> {
    let parent = session.parent.as_ref().map(|parent| SessionScope::Family(parent.session));
    let (sweep, held, asleep) = (SessionScope::ToSweep, SessionScope::Held, SessionScope::Asleep);
    let own = [SessionScope::Family(session.id), sweep, held, asleep];
    let scopes = own.into_iter().chain(parent).filter(|scope| scope.has(session));
    let places = scopes.filter_map(|scope| list_of(&scope));
    places.map(|(list, head)| list_key(list, head, session.id.to_bytes())).collect()
}
