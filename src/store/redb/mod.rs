//! The embedded store: one file, by redb. Ready at once: its calls block for a read of the file, or
//! for a sync of the disk, and never wait for anything else.
//!
//! redb refuses all writes after one has failed, until the file is opened again. So this store does
//! that by itself: after a failure it closes the file, answers *unavailable*, opens it anew beside
//! the callers, and serves on. Whatever was acknowledged is there; the index is made again from
//! what the file then says, so it never differs from it.
//!
//! `tables` is the layout, `recent` what need not be read again, `open` decides whether a file may be touched, `read` and `write` are the
//! two kinds of transaction.

mod check;
mod gate;
mod open;
mod read;
mod recent;
mod snapshot;
mod tables;
mod trouble;
mod write;

pub use ::redb::StorageBackend;
pub use check::Checked;
pub use open::FORMAT;

use self::open::Marker;
use self::recent::Recent;
use self::snapshot::Whole;
use self::tables::{Reading, Tables};
use self::trouble::{Trouble, without_panic};
use super::index::{Index, earliest};
use super::{
    Batch, Committed, Due, Fault, Key, Listing, ReceiptKey, Record, Scope, SessionScope, Store,
    StoredReceipt,
};
use crate::ask::{Ask, AskId, Event, SessionId, Timestamp};
use crate::session::Session;
use crate::store::snapshot::Snapshot;
use ::redb::{Database, ReadableDatabase, backends::FileBackend};
use async_trait::async_trait;
use std::fs::File;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// How long after one attempt to open a failed file the next is made: a full disk is not emptied
/// faster, and a failing one is better left alone.
pub const REOPEN_EVERY: Duration = Duration::from_secs(5);

/// A store in a file.
pub struct Redb {
    incarnation: String,
    shared: Arc<Shared>,
    healer: Option<JoinHandle<()>>,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    reopen: Box<dyn Fn() -> Result<Opened, Fault> + Send + Sync>,
    every: Duration,
}

/// Open, or why not.
struct State {
    opened: Result<Arc<Opened>, Fault>,
    stopping: bool,
}

/// The open file, and what was derived from it.
struct Opened {
    database: Database,
    marker: Marker,
    index: RwLock<Index>,
    recent: Recent,
    // The index learns of commits in their order.
    writing: Mutex<()>,
}

impl Redb {
    /// Opens the store in the file at `path`; makes the file, for its owner's eyes only, when there
    /// is none.
    ///
    /// # Errors
    ///
    /// [`Fault::Unavailable`] when the file cannot be read or written, or another process has it
    /// open; [`Fault::Unreadable`] when it is newer than this program, damaged, or something else.
    /// A file that is refused has not been written to.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Fault> {
        let path = path.as_ref().to_owned();
        Self::start(move |create| open::file(&path, create), REOPEN_EVERY, None)
    }

    /// Makes a store in `file`, which is empty: a new one, or where an incarnation is given a copy of
    /// that one.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub fn fresh(file: File, incarnation: Option<String>) -> Result<Self, Fault> {
        let make = move |_| {
            let file = file.try_clone().map_err(|why| Fault::Unavailable(why.to_string()))?;
            FileBackend::new(file).map_err(|why| Fault::Unavailable(why.to_string()))
        };
        Self::start(make, REOPEN_EVERY, incarnation)
    }

    /// Opens the store that the backends of `make` hold: each call gives one of the same bytes.
    /// A failed one is opened again at once, and then every `every`.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub fn with_backend<B: StorageBackend>(
        make: impl Fn() -> Result<B, Fault> + Send + Sync + 'static,
        every: Duration,
    ) -> Result<Self, Fault> {
        Self::start(move |_| make(), every, None)
    }

    fn start<B: StorageBackend>(
        make: impl Fn(bool) -> Result<B, Fault> + Send + Sync + 'static,
        every: Duration,
        incarnation: Option<String>,
    ) -> Result<Self, Fault> {
        let opened = without_panic(|| open::open(make(true)?, None, incarnation));
        let opened = opened.map_err(|trouble| trouble.fault)?;
        let marker = opened.marker.clone();
        let incarnation = marker.incarnation.clone();
        let reopen = move || {
            let opened = without_panic(|| open::open(make(false)?, Some(&marker), None));
            opened.map_err(|trouble| trouble.fault)
        };
        let shared = Arc::new(Shared {
            state: Mutex::new(State { opened: Ok(Arc::new(opened)), stopping: false }),
            changed: Condvar::new(),
            reopen: Box::new(reopen),
            every,
        });
        let healing = shared.clone();
        let healer = thread::Builder::new().name("askway-store".into());
        let healer = healer.spawn(move || healing.heal());
        let healer = healer.map_err(|why| Fault::Unavailable(format!("no thread: {why}")))?;
        Ok(Self { incarnation, shared, healer: Some(healer) })
    }

    /// Waits until a failed file has been opened again.
    #[cfg(test)]
    pub(super) fn wait_until_open(&self) {
        let state = self.shared.state();
        drop(self.shared.changed.wait_while(state, |state| state.opened.is_err()));
    }

    /// Waits until the file cannot be opened again for this reason.
    #[cfg(test)]
    pub(super) fn wait_for(&self, why: &str) {
        let other = |state: &mut State| {
            !state.opened.as_ref().is_err_and(|fault| fault.to_string().contains(why))
        };
        drop(self.shared.changed.wait_while(self.shared.state(), other));
    }

    fn read<T>(
        &self,
        work: impl FnOnce(&Opened, Tables<Reading>) -> Result<T, Trouble>,
    ) -> Result<T, Fault> {
        self.shared.with(|opened| work(opened, Tables::read(opened.database.begin_read()?)))
    }

    fn indexed<T>(&self, work: impl FnOnce(&Index) -> T) -> Result<T, Fault> {
        self.shared
            .with(|opened| Ok(work(&opened.index.read().unwrap_or_else(PoisonError::into_inner))))
    }
}

impl Drop for Redb {
    /// Closes the file.
    fn drop(&mut self) {
        self.shared.state().stopping = true;
        self.shared.changed.notify_all();
        if let Some(healer) = self.healer.take() {
            // It never panics; and if it did, the file is closed all the same.
            drop(healer.join());
        }
        let closed = Err(Fault::Unavailable("it is closed".into()));
        let opened = std::mem::replace(&mut self.shared.state().opened, closed);
        drop(opened);
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn opened(&self) -> Result<Arc<Opened>, Fault> {
        self.state().opened.clone()
    }

    /// Works with the open file. When the file fails at that it is closed, and opened again beside
    /// the callers.
    fn with<T>(&self, work: impl FnOnce(&Arc<Opened>) -> Result<T, Trouble>) -> Result<T, Fault> {
        let opened = self.opened()?;
        let trouble = match without_panic(|| work(&opened)) {
            Ok(done) => return Ok(done),
            Err(trouble) => trouble,
        };
        if trouble.closes {
            self.close(opened, trouble.fault.clone());
        }
        Err(trouble.fault)
    }

    fn close(&self, failed: Arc<Opened>, why: Fault) {
        let mut state = self.state();
        let is_it = state.opened.as_ref().is_ok_and(|opened| Arc::ptr_eq(opened, &failed));
        let held = is_it.then(|| std::mem::replace(&mut state.opened, Err(why)));
        drop(state);
        // Closing writes nothing: redb knows of the failure. Last, the healer: it needs the lock.
        let closing = without_panic(move || {
            drop((held, failed));
            Ok(())
        });
        drop(closing);
        self.changed.notify_all();
    }

    /// Opens the file again whenever it has failed, until the store is dropped.
    fn heal(&self) {
        let unneeded = |state: &mut State| !state.stopping && state.opened.is_ok();
        let mut state = self.state();
        loop {
            state = unpoisoned(self.changed.wait_while(state, unneeded));
            if state.stopping {
                return;
            }
            drop(state);
            let opened = (self.reopen)();
            state = self.state();
            state.opened = opened.map(Arc::new);
            self.changed.notify_all();
            let waiting = |state: &mut State| !state.stopping;
            state = unpoisoned(
                self.changed
                    .wait_timeout_while(state, self.every, waiting)
                    .map(|(state, _)| state)
                    .map_err(|why| PoisonError::new(why.into_inner().0)),
            );
        }
    }
}

fn unpoisoned<T>(result: Result<T, PoisonError<T>>) -> T {
    result.unwrap_or_else(PoisonError::into_inner)
}

#[async_trait]
impl Store for Redb {
    async fn load(&self, keys: &[Key]) -> Result<Vec<Option<Record>>, Fault> {
        self.shared.with(|opened| {
            opened.recent.load(keys, |keys| {
                let tables = Tables::read(opened.database.begin_read()?);
                keys.iter().map(|key| tables.get(key)).collect()
            })
        })
    }

    async fn commit(&self, batch: Batch) -> Result<Vec<Committed>, Fault> {
        self.shared.with(|opened| opened.commit(batch))
    }

    async fn history(&self, ask: AskId, after: u64, limit: usize) -> Result<Vec<Event>, Fault> {
        self.read(|_, tables| tables.history(ask, after, limit))
    }

    async fn list(
        &self,
        scope: &Scope,
        after: Option<AskId>,
        limit: usize,
    ) -> Result<Listing, Fault> {
        let listed = self.indexed(|index| index.list(scope, after, limit));
        if planted!("unknown_is_empty") { Ok(listed.unwrap_or_default()) } else { listed }
    }

    async fn sessions(
        &self,
        scope: &SessionScope,
        after: Option<SessionId>,
        limit: usize,
    ) -> Result<Vec<Arc<Session>>, Fault> {
        self.read(|_, tables| tables.sessions(scope, after, limit))
    }

    async fn asks(&self, after: Option<AskId>, limit: usize) -> Result<Vec<Arc<Ask>>, Fault> {
        self.read(|_, tables| tables.asks(after, limit))
    }

    async fn receipts(
        &self,
        after: Option<&ReceiptKey>,
        limit: usize,
    ) -> Result<Vec<Arc<StoredReceipt>>, Fault> {
        self.read(|_, tables| tables.receipts(after, limit))
    }

    async fn deadlines(
        &self,
        until: Timestamp,
        limit: usize,
    ) -> Result<Vec<(Timestamp, Due)>, Fault> {
        self.read(|opened, tables| {
            let due = tables.due(until, limit)?;
            let index = unpoisoned(opened.index.read());
            Ok(earliest(index.deadlines(until, limit), due, limit))
        })
    }

    async fn notices(
        &self,
        until: Timestamp,
        limit: usize,
    ) -> Result<Vec<(Timestamp, AskId)>, Fault> {
        self.indexed(|index| index.notices(until, limit))
    }

    async fn snapshot(&self) -> Result<Box<dyn Snapshot>, Fault> {
        Ok(Box::new(self.shared.with(Whole::of)?))
    }

    fn incarnation(&self) -> String {
        self.incarnation.clone()
    }

    async fn resolve(&self, prefix: &str, limit: usize) -> Result<Vec<AskId>, Fault> {
        self.indexed(|index| index.resolve(prefix, limit))
    }
}

impl Opened {
    /// One writing transaction, synced; then the index.
    fn commit(&self, batch: Batch) -> Result<Vec<Committed>, Trouble> {
        let _one_at_a_time = unpoisoned(self.writing.lock());
        let mut committing = self.recent.begin();
        let mut effects = Vec::new();
        let mut committed = Vec::with_capacity(batch.changes.len());
        let mut txn = self.database.begin_write().map_err(Trouble::in_commit)?;
        // A restart after a kill then takes milliseconds, however large the file is.
        if planted!("no_sync") {
            drop(txn.set_durability(::redb::Durability::None));
        }
        txn.set_quick_repair(true);
        {
            let mut tables = Tables::write(&txn).map_err(Trouble::in_commit)?;
            for change in batch.changes {
                let became = tables
                    .apply(change, &mut committing, &mut effects)
                    .map_err(Trouble::in_commit)?;
                committed.push(became);
            }
            if let Some(mark) = &batch.mark {
                tables.mark(mark).map_err(Trouble::in_commit)?;
            }
        }
        if batch.mark.is_none() && !committed.contains(&Committed::Done) {
            txn.abort().map_err(Trouble::in_commit)?;
            committing.done();
            return Ok(committed);
        }
        txn.commit().map_err(Trouble::in_commit)?;
        committing.done();
        let mut index = unpoisoned(self.index.write());
        effects.into_iter().for_each(|effect| effect.apply(&mut index));
        Ok(committed)
    }
}

#[cfg(test)]
mod tests;
