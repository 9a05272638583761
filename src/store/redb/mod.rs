//! The embedded store: one redb file.
//!
//! Keys begin with time, so rows are written where the last ones were. An ask's content is written
//! once, with the event that filed it; later events are rows of their own, and the ask is folded
//! from both when it is loaded. What lists need is kept in memory ([`Index`]) and rebuilt from the
//! table of open and unread asks whenever the file is opened.
//!
//! ```text
//!   filed    ask                  the event that filed it, with the content: written once
//!   events   ask, revision        every later event: an answer lives in its event
//!   live     ask                  the index row of an open or unread ask, rewritten in place
//!   retire   instant, ask         when a settled and delivered ask may be removed
//!   sessions, works, tickets, tokens      by id or hash
//!   flags    kind, session        sessions to sweep; sessions that were ever held and are active
//!   receipts request id, caller   a UUIDv7 keeps them in time order
//!   meta                          the format, and service time
//! ```
//!
//! Every method is ready at once: redb answers from memory or the disk, and only the writer's thread
//! waits for a sync. After an error of the disk redb takes no more writes; then the file is closed
//! and opened again until it serves, and meanwhile every call is unavailable.

mod keys;
mod open;
mod read;
mod write;

use super::index::Index;
use super::{Batch, Committed, Fault, Key, Listing, Record, Scope, SessionScope, Store};
use crate::ask::{AskId, Event, SessionId, Timestamp};
use crate::session::Session;
use async_trait::async_trait;
use redb::{Database, StorageBackend};
use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

/// How often a file that failed is opened again.
const REOPEN_EVERY: Duration = Duration::from_secs(5);

/// The embedded store. Dropping it closes the file.
#[derive(Debug)]
pub struct Redb {
    shared: Arc<Shared>,
}

struct Shared {
    opener: Box<dyn Fn() -> Result<Database, Fault> + Send + Sync>,
    reopen_every: Duration,
    state: RwLock<State>,
}

/// What serves calls: the open file and its index, or the reason why not.
enum State {
    Open(Opened),
    Failed(String),
}

struct Opened {
    db: Arc<Database>,
    index: Index,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Shared(redb)")
    }
}

impl Redb {
    /// Opens the file at `path`, making it (for its owner alone) where there is none.
    ///
    /// # Errors
    ///
    /// Unreadable, where a newer program wrote it or it is damaged; unavailable, where the disk
    /// fails or another process has it open.
    pub fn open(path: &Path) -> Result<Self, Fault> {
        let path = path.to_owned();
        Self::with_opener(Box::new(move || open::file(&path)), REOPEN_EVERY)
    }

    /// Opens a store over backends that `backend` makes, one for each opening; after a failure it is
    /// opened again every `reopen_every`. For tests of what a disk can do.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub fn over_backend<B: StorageBackend>(
        backend: impl Fn() -> B + Send + Sync + 'static,
        reopen_every: Duration,
    ) -> Result<Self, Fault> {
        Self::with_opener(Box::new(move || open::backend(backend())), reopen_every)
    }

    fn with_opener(
        opener: Box<dyn Fn() -> Result<Database, Fault> + Send + Sync>,
        reopen_every: Duration,
    ) -> Result<Self, Fault> {
        let opened = Opened::from(opener()?)?;
        let state = RwLock::new(State::Open(opened));
        Ok(Self { shared: Arc::new(Shared { opener, reopen_every, state }) })
    }

    /// Reads from the open file and its index.
    fn read<T>(&self, read: impl FnOnce(&Opened) -> Result<T, Fault>) -> Result<T, Fault> {
        let result = match &*self.shared.state.read().unwrap_or_else(PoisonError::into_inner) {
            State::Open(opened) => read(opened),
            State::Failed(why) => return Err(Fault::Unavailable(why.clone())),
        };
        self.watch_over(result)
    }

    /// After an error of the disk: close, and open again until it serves.
    fn watch_over<T>(&self, result: Result<T, Fault>) -> Result<T, Fault> {
        if let Err(Fault::Unavailable(why)) = &result {
            let mut state = self.shared.state.write().unwrap_or_else(PoisonError::into_inner);
            if matches!(*state, State::Open(_)) {
                *state = State::Failed(why.clone());
                drop(state);
                reopen(&self.shared);
            }
        }
        result
    }
}

/// Opens the file again, now and then until it serves; gives up with the store's owner.
fn reopen(shared: &Arc<Shared>) {
    let (weak, every) = (Arc::downgrade(shared), shared.reopen_every);
    let attempt = move || {
        while let Some(shared) = weak.upgrade() {
            match (shared.opener)().and_then(Opened::from) {
                Ok(opened) => {
                    let mut state = shared.state.write().unwrap_or_else(PoisonError::into_inner);
                    *state = State::Open(opened);
                    tracing::info!("the store serves again");
                    return;
                }
                Err(fault) => tracing::warn!(%fault, "the store does not open yet"),
            }
            drop(shared);
            std::thread::sleep(every);
        }
    };
    let spawned = std::thread::Builder::new().name("askway-reopen".to_owned()).spawn(attempt);
    if let Err(error) = spawned {
        tracing::error!(%error, "no thread to open the store again; restart the daemon");
    }
}

#[async_trait]
impl Store for Redb {
    async fn load(&self, keys: &[Key]) -> Result<Vec<Option<Record>>, Fault> {
        self.read(|opened| {
            let read = read::Reading::begin(&opened.db)?;
            keys.iter().map(|key| read.record(key)).collect()
        })
    }

    async fn commit(&self, batch: Batch) -> Result<Vec<Committed>, Fault> {
        let db = self.read(|opened| Ok(opened.db.clone()))?;
        let result = write::commit(&db, &batch);
        drop(db);
        let result = result.and_then(|(outcomes, rows)| {
            let mut state = self.shared.state.write().unwrap_or_else(PoisonError::into_inner);
            if let State::Open(opened) = &mut *state {
                rows.into_iter().for_each(|row| row.apply(&mut opened.index));
            }
            Ok(outcomes)
        });
        self.watch_over(result)
    }

    async fn history(&self, ask: AskId, after: u64, limit: usize) -> Result<Vec<Event>, Fault> {
        self.read(|opened| read::Reading::begin(&opened.db)?.history(ask, after, limit))
    }

    async fn list(
        &self,
        scope: &Scope,
        after: Option<AskId>,
        limit: usize,
    ) -> Result<Listing, Fault> {
        self.read(|opened| Ok(opened.index.list(scope, after, limit)))
    }

    async fn sessions(
        &self,
        scope: &SessionScope,
        after: Option<SessionId>,
        limit: usize,
    ) -> Result<Vec<Arc<Session>>, Fault> {
        self.read(|opened| read::Reading::begin(&opened.db)?.sessions(scope, after, limit))
    }

    async fn deadlines(
        &self,
        until: Timestamp,
        limit: usize,
    ) -> Result<Vec<(Timestamp, AskId)>, Fault> {
        self.read(|opened| {
            let mut due = opened.index.deadlines(until, limit);
            due.extend(read::Reading::begin(&opened.db)?.retiring(until, limit)?);
            due.sort_unstable();
            due.truncate(limit);
            Ok(due)
        })
    }

    async fn resolve(&self, prefix: &str, limit: usize) -> Result<Vec<AskId>, Fault> {
        self.read(|opened| Ok(opened.index.resolve(prefix, limit)))
    }
}
