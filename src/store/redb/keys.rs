//! Tables and how their keys are spelled.

use crate::ask::{AskId, SessionId, Timestamp};
use crate::store::{Fault, ReceiptKey};
use redb::TableDefinition;

/// A table of bytes.
pub(super) type Table = TableDefinition<'static, &'static [u8], &'static [u8]>;

pub(super) const META: Table = TableDefinition::new("meta");
pub(super) const FILED: Table = TableDefinition::new("filed");
pub(super) const EVENTS: Table = TableDefinition::new("events");
pub(super) const LIVE: Table = TableDefinition::new("live");
pub(super) const RETIRE: Table = TableDefinition::new("retire");
pub(super) const SESSIONS: Table = TableDefinition::new("sessions");
pub(super) const WORKS: Table = TableDefinition::new("works");
pub(super) const TICKETS: Table = TableDefinition::new("tickets");
pub(super) const TOKENS: Table = TableDefinition::new("tokens");
pub(super) const FLAGS: Table = TableDefinition::new("flags");
pub(super) const RECEIPTS: Table = TableDefinition::new("receipts");

pub(super) const ALL: [Table; 11] =
    [META, FILED, EVENTS, LIVE, RETIRE, SESSIONS, WORKS, TICKETS, TOKENS, FLAGS, RECEIPTS];

/// In `meta`: the format of the file.
pub(super) const MARKER: &[u8] = b"format";
/// In `meta`: service time.
pub(super) const CLOCK: &[u8] = b"clock";

/// In `flags`: the session's asks have yet to be moved.
pub(super) const TO_SWEEP: u8 = b's';
/// In `flags`: the session was held and is active.
pub(super) const HELD: u8 = b'h';

pub(super) fn event(ask: AskId, revision: u64) -> [u8; 20] {
    let mut key = [0; 20];
    key[..12].copy_from_slice(&ask.to_bytes());
    key[12..].copy_from_slice(&revision.to_be_bytes());
    key
}

pub(super) fn revision_of_event(key: &[u8]) -> Result<u64, Fault> {
    let revision = key.get(12..).and_then(|bytes| bytes.try_into().ok());
    revision.map(u64::from_be_bytes).ok_or_else(|| damaged("an event's key"))
}

pub(super) fn retire(time: Timestamp, ask: AskId) -> [u8; 20] {
    let mut key = [0; 20];
    key[..8].copy_from_slice(&time.as_millis().to_be_bytes());
    key[8..].copy_from_slice(&ask.to_bytes());
    key
}

pub(super) fn read_retire(key: &[u8]) -> Result<(Timestamp, AskId), Fault> {
    let parts = key.split_at_checked(8).and_then(|(time, ask)| {
        Some((u64::from_be_bytes(time.try_into().ok()?), ask.try_into().ok()?))
    });
    let (time, ask) = parts.ok_or_else(|| damaged("a retirement's key"))?;
    Ok((Timestamp::from_millis(time), AskId::from_bytes(ask)))
}

pub(super) fn flag(kind: u8, session: SessionId) -> [u8; 13] {
    let mut key = [kind; 13];
    key[1..].copy_from_slice(&session.to_bytes());
    key
}

pub(super) fn read_flag(key: &[u8]) -> Result<SessionId, Fault> {
    let id = key.get(1..).and_then(|bytes| bytes.try_into().ok());
    id.map(SessionId::from_bytes).ok_or_else(|| damaged("a session's flag"))
}

pub(super) fn receipt(key: &ReceiptKey) -> Vec<u8> {
    [key.request.as_str().as_bytes(), &[0], key.caller.as_bytes()].concat()
}

pub(super) fn damaged(what: &str) -> Fault {
    Fault::Unreadable(format!("{what} is damaged"))
}
