//! Where it is kept. A store loads what a decision may look at, and commits what was decided: whole
//! or not at all, durable on return. It knows no rule.
//!
//! Indexes (inboxes, deadlines, open and unread asks) are the store's own business, derived from the
//! records it is given ([`index`]), so they cannot disagree with them. A second store is bytes and
//! indexes; [`suite`] holds the laws that every one must keep.

mod chance;
pub mod export;
#[cfg(test)]
mod fault;
pub mod index;
pub mod mem;
mod packed;
pub mod postgres;
pub mod record;
pub mod redb;
mod scope;
pub mod share;
pub mod snapshot;
pub mod suite;

pub use scope::{Listing, Scope, SessionScope};
pub use share::Heard;

use crate::ask::{
    Ask, AskId, ContentDigest, Event, Namespace, RequestId, SessionId, StandingNo, Timestamp,
    TokenId, Twin, WorkId,
};
use crate::session::{Roster, SecretHash, Session, Ticket, Token, Work};
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use share::{Attached, Here, Present, Share};
use std::{collections::BTreeMap, fmt, sync::Arc};

/// Where it is kept. `mem` and `redb` are ready at once and never wait; a store behind a network may.
#[async_trait]
pub trait Store: Send + Sync + 'static {
    /// The records of these keys, in their order; none where there is no such record. All are of
    /// one moment.
    async fn load(&self, keys: &[Key]) -> Result<Vec<Option<Record>>, Fault>;

    /// Applies each change, in order, whole or not at all; durable on return. The only write.
    /// A later change of the batch sees the earlier ones; where others write to the same store, it is a
    /// conflict also where it touches what one of those, which was a conflict, was to write.
    async fn commit(&self, batch: Batch) -> Result<Vec<Committed>, Fault>;

    /// What happened to an ask after a revision, in order, at most `limit` events; empty for an ask
    /// that does not exist.
    async fn history(&self, ask: AskId, after: u64, limit: usize) -> Result<Vec<Event>, Fault>;

    /// The asks of `scope` after `after`, oldest first, at most `limit`, and how many there are in
    /// all. Only open and unread asks are listed.
    async fn list(
        &self,
        scope: &Scope,
        after: Option<AskId>,
        limit: usize,
    ) -> Result<Listing, Fault>;

    /// The sessions of `scope` after `after`, oldest first, at most `limit`.
    async fn sessions(
        &self,
        scope: &SessionScope,
        after: Option<SessionId>,
        limit: usize,
    ) -> Listed<Session>;

    /// All asks after `after`, open or not, oldest first, at most `limit`.
    async fn asks(&self, after: Option<AskId>, limit: usize) -> Listed<Ask>;

    /// All receipts after `after`, in the order of their keys, at most `limit`.
    async fn receipts(&self, after: Option<&ReceiptKey>, limit: usize) -> Listed<StoredReceipt>;

    /// What has the earliest deadlines at or before `until`, earliest first, at most `limit`.
    async fn deadlines(
        &self,
        until: Timestamp,
        limit: usize,
    ) -> Result<Vec<(Timestamp, Due)>, Fault>;

    /// The same of what is in `share`; of what is not, where it has been due since `others_until`. Of a
    /// store that nobody shares it is all of it.
    async fn shared_deadlines(
        &self,
        until: Timestamp,
        _share: &Share,
        _others_until: Timestamp,
        limit: usize,
    ) -> Result<Vec<(Timestamp, Due)>, Fault> {
        self.deadlines(until, limit).await
    }

    /// The asks of which people are to be told at or before `until`, earliest first, at most `limit`:
    /// by [`Ask::notice_due`]. Apart from the deadlines, so that the timer is not busier for it.
    async fn notices(
        &self,
        until: Timestamp,
        limit: usize,
    ) -> Result<Vec<(Timestamp, AskId)>, Fault>;

    /// The same of what is in `share`; of a store that nobody shares it is all of it.
    async fn shared_notices(
        &self,
        until: Timestamp,
        _share: &Share,
        limit: usize,
    ) -> Result<Vec<(Timestamp, AskId)>, Fault> {
        self.notices(until, limit).await
    }

    /// All that is kept, as of this moment; whatever is written since is not in it.
    async fn snapshot(&self) -> Result<Box<dyn snapshot::Snapshot>, Fault>;

    /// Tells this store from every other: made at random with it, and the same ever after. What is
    /// restored from a copy is another one: some of what was seen of the first may not be in it.
    fn incarnation(&self) -> String;

    /// The asks whose spelled id begins with `prefix` (with its `ask_`), among the open, the unread
    /// and those settled lately; at most `limit`, in any order.
    async fn resolve(&self, prefix: &str, limit: usize) -> Result<Vec<AskId>, Fault>;

    /// The present, where the store says what that is: several processes share it then, and none goes
    /// by a clock of its own.
    async fn time(&self) -> Result<Option<Timestamp>, Fault> {
        Ok(None)
    }

    /// Says that this process is here; who was seen in the last ten seconds. None where nobody shares it.
    async fn present(&self, _here: &Here) -> Result<Option<Present>, Fault> {
        Ok(None)
    }

    /// The sessions of `share` that were ever held, and are not at any process that is there.
    async fn unheld(&self, _share: &Share) -> Result<Vec<SessionId>, Fault> {
        Ok(Vec::new())
    }

    /// Whether this is attached to any process that is there, as they said last.
    async fn is_attached(&self, _one: &Attached) -> Result<bool, Fault> {
        Ok(false)
    }

    /// Says that this process is here no more: what was its to do is the others' at once.
    async fn leave(&self) {}

    /// Tells the others who share the store what was committed, soon, and perhaps never.
    fn tell(&self, _hints: &mut dyn Iterator<Item = u64>) {}

    /// What others have told since the last call; for ever where nobody shares it.
    async fn heard(&self) -> Heard {
        std::future::pending().await
    }
}

/// A stretch of records.
pub type Listed<T> = Result<Vec<Arc<T>>, Fault>;

/// What time alone will change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Due {
    /// An ask.
    Ask(AskId),
    /// A session.
    Session(SessionId),
}

/// A record's name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Key {
    /// An ask, folded from its history.
    Ask(AskId),
    /// A session.
    Session(SessionId),
    /// A work.
    Work(WorkId),
    /// A ticket.
    Ticket(SecretHash),
    /// A token.
    Token(SecretHash),
    /// A receipt.
    Receipt(ReceiptKey),
    /// The ask a work filed last with this content.
    Twin((WorkId, ContentDigest)),
    /// A person's no to this content in the tree under this work.
    StandingNo((WorkId, ContentDigest)),
    /// Who is known in a namespace.
    Roster(Namespace),
    /// The clock's mark.
    Clock,
}

/// A record. Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    /// An ask.
    Ask(Arc<Ask>),
    /// A session.
    Session(Arc<Session>),
    /// A work.
    Work(Arc<Work>),
    /// A ticket.
    Ticket(Arc<Ticket>),
    /// A token.
    Token(Arc<Token>),
    /// A receipt.
    Receipt(Arc<StoredReceipt>),
    /// The ask a work filed last with some content.
    Twin(Arc<Twin>),
    /// A person's no to some content.
    StandingNo(Arc<StandingNo>),
    /// Who is known in a namespace.
    Roster(Arc<Roster>),
    /// The clock's mark.
    Clock(ClockMark),
}

impl Record {
    /// Its name.
    pub fn key(&self) -> Key {
        match self {
            Record::Ask(ask) => Key::Ask(ask.id),
            Record::Session(session) => Key::Session(session.id),
            Record::Work(work) => Key::Work(work.id),
            Record::Ticket(ticket) => Key::Ticket(ticket.secret),
            Record::Token(token) => Key::Token(token.secret),
            Record::Receipt(receipt) => Key::Receipt(receipt.key.clone()),
            Record::Twin(twin) => Key::Twin((twin.work, twin.digest)),
            Record::StandingNo(no) => Key::StandingNo((no.tree, no.digest)),
            Record::Roster(roster) => Key::Roster(roster.namespace.clone()),
            Record::Clock(_) => Key::Clock,
        }
    }

    /// How often it was written; 1 for what is written once.
    pub fn revision(&self) -> u64 {
        match self {
            Record::Ask(ask) => ask.revision,
            Record::Session(session) => session.revision,
            Record::Ticket(ticket) => ticket.revision,
            Record::Token(token) => token.revision,
            Record::Twin(twin) => twin.revision,
            Record::StandingNo(no) => no.revision,
            Record::Roster(roster) => roster.revision,
            Record::Work(_) | Record::Receipt(_) | Record::Clock(_) => 1,
        }
    }
}

/// Whose receipt, for which request. Ordered by the request id first: a UUIDv7 keeps time order.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ReceiptKey {
    /// The caller's id for its intent.
    pub request: RequestId,
    /// Who called: a principal within its namespace, or a ticket.
    pub caller: String,
}

/// What a mutating call came to, one commit with its effect (rule 7).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredReceipt {
    /// Whose, for which request.
    pub key: ReceiptKey,
    /// SHA-256 of the canonical domain payload, in hexadecimal.
    pub payload: String,
    /// What it was about.
    pub subject: Subject,
    /// Whether the ask was settled already; else the call was accepted.
    pub closed: bool,
    /// When it was committed.
    pub time: Timestamp,
}

/// What a call was about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Subject {
    /// An ask.
    Ask(AskId),
    /// A session, in this stay: a later stay's secrets are not this call's to mint again.
    Session(SessionId, u32),
    /// A work that a session took up.
    Work(WorkId),
    /// A ticket that was minted, for the work it will be.
    Ticket(SecretHash, WorkId),
    /// A token that was made.
    Token(TokenId),
    /// The people or the tokens of a namespace.
    Roster,
}

/// Where service time stood at a commit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockMark {
    /// Service time then.
    pub service: Timestamp,
    /// Which boot of the machine.
    pub boot: String,
    /// Milliseconds since that boot, suspends counted.
    pub since_boot: u64,
    /// The end of the last gap; the epoch where there was none.
    #[serde(default, skip_serializing_if = "is_the_epoch")]
    pub awake_since: Timestamp,
}

fn is_the_epoch(time: &Timestamp) -> bool {
    *time == Timestamp::default()
}

/// Several changes for one commit.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    /// In order.
    pub changes: Vec<Change>,
    /// Where service time stands; kept with the batch.
    pub mark: Option<ClockMark>,
}

/// What one command came to: applied whole, and only while everything it rests on still stands.
#[derive(Clone, Debug, Default)]
pub struct Change {
    /// The revision each record must have, 0 for none: of those it writes, and of those it only
    /// read (its guards).
    pub expects: Vec<(Key, u64)>,
    /// New events of asks, in order. The ask as after them is among `writes`.
    pub events: Vec<(AskId, Event)>,
    /// Records as they are to be. An ask's tells the store what to index; its history is `events`.
    pub writes: Vec<Record>,
    /// Records to remove, an ask with all its events.
    pub removes: Vec<Key>,
}

impl Change {
    /// Whether what it expects is so, 0 where there is none, and its events go on where a history ends.
    ///
    /// # Errors
    ///
    /// Whatever `revision_of` fails with.
    pub fn stands<E>(
        &self,
        mut revision_of: impl FnMut(&Key) -> Result<u64, E>,
    ) -> Result<bool, E> {
        let mut ends: BTreeMap<AskId, u64> = BTreeMap::new();
        for (key, expected) in &self.expects {
            let revision = revision_of(key)?;
            if revision != *expected && !planted!("guard_not_checked") {
                return Ok(false);
            }
            if let Key::Ask(ask) = key {
                ends.insert(*ask, revision);
            }
        }
        for (ask, event) in &self.events {
            let end = ends.insert(*ask, event.revision);
            let end = end.map_or_else(|| revision_of(&Key::Ask(*ask)), Ok)?;
            if event.revision != end + 1 {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// What became of one change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Committed {
    /// It is on disk.
    Done,
    /// Something it rests on has changed: load and decide again. Nothing of it was kept.
    Conflict,
}

/// Why a store did not do it. Whether a commit took effect is then unknown: load and look.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It cannot be read or written now.
    Unavailable(String),
    /// What it holds cannot be read by this program: newer, or damaged.
    Unreadable(String),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Unavailable(why) => write!(f, "the store cannot be reached now: {why}"),
            Fault::Unreadable(why) => write!(f, "the store cannot be read: {why}"),
        }
    }
}

impl std::error::Error for Fault {}

impl From<Fault> for crate::error::Error {
    fn from(fault: Fault) -> Self {
        crate::error::Error::store(fault.to_string())
    }
}
