//! The layout: which number a kind of record has, how its key is made, which lists it stands in. The
//! tables themselves are in `sql/`.

use crate::ask::{ContentDigest, HostName, Namespace, Timestamp, WorkId};
use crate::session::Session;
use crate::store::index::Row;
use crate::store::record::damaged;
use crate::store::share::{Attached, Share};
use crate::store::{Fault, Key, Scope, SessionScope};
use sha2::{Digest, Sha256};

/// The number of asks.
pub(super) const ASK: i16 = 1;
/// The number of sessions.
pub(super) const SESSION: i16 = 2;
/// The number of works.
pub(super) const WORK: i16 = 3;
/// The number of tickets.
pub(super) const TICKET: i16 = 4;
/// The number of tokens.
pub(super) const TOKEN: i16 = 5;
/// The number of receipts.
pub(super) const RECEIPT: i16 = 6;
/// The number of the asks that works filed last with some content.
pub(super) const TWIN: i16 = 7;
/// The number of standing noes.
pub(super) const STANDING_NO: i16 = 8;
/// The number of rosters.
pub(super) const ROSTER: i16 = 9;
/// The number of the clock's mark.
pub(super) const CLOCK: i16 = 10;

/// Stands between the names of lists. None has it: a name is one line.
const BETWEEN: &str = "\n";

/// The kind and the key of a record.
pub(super) fn name_of(key: &Key) -> (i16, Vec<u8>) {
    match key {
        Key::Ask(id) => (ASK, id.to_bytes().to_vec()),
        Key::Session(id) => (SESSION, id.to_bytes().to_vec()),
        Key::Work(id) => (WORK, id.to_bytes().to_vec()),
        Key::Ticket(secret) => (TICKET, secret.to_bytes().to_vec()),
        Key::Token(secret) => (TOKEN, secret.to_bytes().to_vec()),
        // A request id is visible text, and so has no zero in it.
        Key::Receipt(key) => {
            (RECEIPT, [key.request.as_str().as_bytes(), &[0], key.caller.as_bytes()].concat())
        }
        Key::Twin(key) => (TWIN, content(key)),
        Key::StandingNo(key) => (STANDING_NO, content(key)),
        Key::Roster(namespace) => (ROSTER, namespace.as_str().as_bytes().to_vec()),
        Key::Clock => (CLOCK, Vec::new()),
    }
}

fn content((work, digest): &(WorkId, ContentDigest)) -> Vec<u8> {
    [&work.to_bytes()[..], &digest.to_bytes()[..]].concat()
}

/// By what number a record is locked where it is not there yet. Two names of one number cost a conflict
/// that was none, once in a lifetime.
pub(super) fn lock_of(kind: i16, key: &[u8]) -> i64 {
    let digest = Sha256::new().chain_update(kind.to_be_bytes()).chain_update(key).finalize();
    let mut number = [0; 8];
    number.copy_from_slice(&digest[..8]);
    i64::from_be_bytes(number)
}

/// A time as it is kept: what is past the end of a signed number is at its end.
pub(super) fn millis(time: Timestamp) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}

/// A revision, a count or a limit as it is kept.
pub(super) fn number(number: impl TryInto<i64>) -> i64 {
    number.try_into().unwrap_or(i64::MAX)
}

/// The time that was kept.
pub(super) fn time_of(millis: i64) -> Timestamp {
    Timestamp::from_millis(u64::try_from(millis).unwrap_or_default())
}

/// The buckets of a share.
pub(super) fn buckets(share: &Share) -> Vec<i32> {
    share.buckets().iter().copied().map(i32::from).collect()
}

/// The kinds and the names of what is attached to a process.
pub(super) fn names_of(attached: &[Attached]) -> (Vec<i16>, Vec<Vec<u8>>) {
    let name = |one: &Attached| match one {
        Attached::Session(id) => (1, id.to_bytes().to_vec()),
        Attached::Host(namespace, host) => (2, format!("{namespace}{BETWEEN}{host}").into_bytes()),
        Attached::Asker(id) => (3, id.to_bytes().to_vec()),
    };
    attached.iter().map(name).unzip()
}

/// A host by the name it is attached by.
pub(super) fn host_of(name: &[u8]) -> Result<(Namespace, HostName), Fault> {
    let both = str::from_utf8(name).ok().and_then(|name| name.split_once(BETWEEN));
    let host =
        both.and_then(|(namespace, host)| Some((namespace.parse().ok()?, host.parse().ok()?)));
    host.ok_or_else(|| damaged("who watches", "it is no host's name"))
}

/// The name of a list of asks.
pub(super) fn list_of(scope: &Scope) -> String {
    match scope {
        Scope::WaitingOnSession(session) => format!("on-session {session}"),
        Scope::InboxOf(session) => format!("inbox-of {session}"),
        Scope::WaitingOnPerson(namespace, person) => format!("on-person {namespace} {person}"),
        Scope::AskedBy(session) => format!("asked-by {session}"),
        Scope::VisibleTo(known) => format!("visible-to {} {}", known.session, known.agent),
        Scope::OfHost(namespace, host) => format!("of-host {namespace} {host}"),
        Scope::Tree(work) => format!("tree {work}"),
        Scope::Open(namespace) => format!("open {namespace}"),
        Scope::OnPeople(namespace) => format!("on-people {namespace}"),
        Scope::Untold(namespace) => format!("untold {namespace}"),
    }
}

/// The lists an ask stands in: those of its row, none where it has none.
pub(super) fn lists_of_ask(row: Option<&Row>) -> String {
    let lists = row.map(|row| row.scopes().iter().map(list_of).collect::<Vec<_>>());
    lists.unwrap_or_default().join(BETWEEN)
}

/// The name of a list of sessions.
pub(super) fn list_of_sessions(scope: &SessionScope) -> String {
    match scope {
        SessionScope::Namespace(namespace) => format!("sessions-of {namespace}"),
        SessionScope::Family(head) => format!("family {head}"),
        SessionScope::ToSweep => "to-sweep".into(),
        SessionScope::Held => "held".into(),
        SessionScope::Asleep => "asleep".into(),
    }
}

/// The lists a session stands in.
pub(super) fn lists_of_session(session: &Session) -> String {
    let parent = session.parent.as_ref().map(|parent| SessionScope::Family(parent.session));
    let (sweep, held, asleep) = (SessionScope::ToSweep, SessionScope::Held, SessionScope::Asleep);
    let namespace = SessionScope::Namespace(session.namespace.clone());
    let own = [namespace, SessionScope::Family(session.id), sweep, held, asleep];
    let scopes = own.into_iter().chain(parent).filter(|scope| scope.has(session));
    scopes.map(|scope| list_of_sessions(&scope)).collect::<Vec<_>>().join(BETWEEN)
}
