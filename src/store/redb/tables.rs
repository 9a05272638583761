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
    type Table<K: Key + 'static, V: Value + 'static>: ReadableTable<K, V>;
}

/// By a reading one.
pub(super) struct Reading;

/// By a writing one.
pub(super) struct Writing<'txn>(std::marker::PhantomData<&'txn ()>);

impl Access for Reading {
    type Table<K: Key + 'static, V: Value + 'static> = ReadOnlyTable<K, V>;
}

impl<'txn> Access for Writing<'txn> {
    type Table<K: Key + 'static, V: Value + 'static> = Table<'txn, K, V>;
}

/// Every table, as of one moment.
pub(super) struct Tables<A: Access> {
    pub meta: A::Table<&'static str, Bytes>,
    pub filed: A::Table<Id, Bytes>,
    pub events: A::Table<Pair, Bytes>,
    pub live: A::Table<Id, Bytes>,
    pub retire: A::Table<Pair, ()>,
    pub sessions: A::Table<Id, Bytes>,
    pub session_lists: A::Table<&'static [u8; 25], ()>,
    pub works: A::Table<Id, Bytes>,
    pub tickets: A::Table<&'static [u8; 32], Bytes>,
    pub tokens: A::Table<&'static [u8; 32], Bytes>,
    pub receipts: A::Table<Bytes, Bytes>,
    pub session_due: A::Table<Pair, ()>,
    pub twins: A::Table<Content, Bytes>,
    pub standing: A::Table<Content, Bytes>,
    pub rosters: A::Table<&'static str, Bytes>,
}

macro_rules! open {
    ($txn:expr) => {
        Ok(Tables {
            meta: $txn.open_table(META)?,
            filed: $txn.open_table(FILED)?,
            events: $txn.open_table(EVENTS)?,
            live: $txn.open_table(LIVE)?,
            retire: $txn.open_table(RETIRE)?,
            sessions: $txn.open_table(SESSIONS)?,
            session_lists: $txn.open_table(SESSION_LISTS)?,
            works: $txn.open_table(WORKS)?,
            tickets: $txn.open_table(TICKETS)?,
            tokens: $txn.open_table(TOKENS)?,
            receipts: $txn.open_table(RECEIPTS)?,
            session_due: $txn.open_table(SESSION_DUE)?,
            twins: $txn.open_table(TWINS)?,
            standing: $txn.open_table(STANDING)?,
            rosters: $txn.open_table(ROSTERS)?,
        })
    };
}

impl Tables<Reading> {
    pub fn read(txn: &ReadTransaction) -> Result<Self, Trouble> {
        open!(txn)
    }
}

impl<'txn> Tables<Writing<'txn>> {
    /// Makes those that are not there yet.
    pub fn write(txn: &'txn WriteTransaction) -> Result<Self, Trouble> {
        open!(txn)
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
