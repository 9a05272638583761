//! The store of several processes at once: a schema in a PostgreSQL database. Any number of askways may
//! share one; what one commits the others are told of ([`hints`]).
//!
//! A batch is one call of one function in autocommit ([`write`](mod@write), `sql/`): no transaction is
//! ever open across a round trip, so whoever is stopped in the middle holds nobody up. What others hold
//! is a conflict and never waited for. Lists, deadlines and notices are rows of the same commit, since no
//! memory of one process could know what another wrote.
//!
//! `layout` is what is kept where, `migrate` brings the schema forward, `place` and `tls` say where the
//! database is, `connect` keeps connections, `pulse` gives them up, `trouble` says what an error means.

mod connect;
mod hints;
mod layout;
mod migrate;
mod place;
mod pulse;
mod read;
mod snapshot;
mod tls;
mod trouble;
mod write;

pub use migrate::FORMAT;
pub use pulse::Hearing;

use self::connect::{Again, Lane, Thread};
use self::hints::Hints;
use self::layout::{ASK, RECEIPT, list_of, list_of_sessions, millis, name_of, number, time_of};
use self::place::Place;
use self::read::{ask, column, id, record};
use self::write::{COMMIT, Call, DONE, HELD};
use super::chance::{random, random_name};
use super::index::spelled_between;
use super::share::{Attached, Here, Present, Share};
use super::snapshot::Snapshot;
use super::{
    Batch, Committed, Due, Fault, Heard, Key, Listed, Listing, ReceiptKey, Record, Scope,
    SessionScope, Store, StoredReceipt,
};
use crate::ask::{Ask, AskId, Event, SessionId, Timestamp};
use crate::session::Session;
use async_trait::async_trait;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

/// Connections that are read on: several statements wait on one of them in a line, and a list of many asks
/// is not to stop each call that authenticates. With those of the writer, the pulse and the hints there are
/// seven, as `trouble.rs` and docs/replicas.md say.
const READERS: usize = 4;
const _: () = assert!(READERS + 3 == 7);
/// The longest a batch lingers after others were in its way, in milliseconds: about what their commit
/// takes. How long is chance, so that two do not meet again and again.
const STAND_BACK: u8 = 8;

/// Who was seen in so many milliseconds is here: ten times what it takes to say so again.
const SEEN_WITHIN: i64 = 10_000;
/// How often everything is looked at where others are not heard.
const LOOK: Duration = Duration::from_secs(1);

/// A store in a PostgreSQL database.
pub struct Postgres {
    incarnation: String,
    place: Place,
    thread: Thread,
    writer: Lane,
    readers: [Lane; READERS],
    next: AtomicUsize,
    hints: Arc<Hints>,
    hearing: Hearing,
}

impl fmt::Debug for Postgres {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Postgres({})", self.incarnation)
    }
}

impl Postgres {
    /// Opens the store in the database at `url` (`postgres://user@host/database`, or `host=…
    /// dbname=…`); makes its schema, `askway`, where there is none.
    ///
    /// # Errors
    ///
    /// [`Fault::Unavailable`] when the database cannot be reached, or is not set up to keep what it has
    /// acknowledged; [`Fault::Unreadable`] when what is there is newer than this program, or something
    /// else. No error repeats the URL.
    pub async fn open(url: &str) -> Result<Self, Fault> {
        Self::open_with(url, Hearing::default()).await
    }

    /// The same, with others heard in this way.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub async fn open_with(url: &str, hearing: Hearing) -> Result<Self, Fault> {
        let place = Place::read(url)?;
        let thread = Thread::start()?;
        let (there, handle) = (place.clone(), thread.handle.clone());
        let incarnation = thread.run(async move {
            let (mut client, connection) = there.open().await?;
            handle.spawn(connection);
            migrate::migrate(&mut client).await
        });
        let incarnation = incarnation.await?;
        let hints = Arc::new(Hints::new()?);
        if hearing == Hearing::Listen {
            thread.handle.spawn(hints::send(place.clone(), hints.clone()));
        }
        let beat = pulse::beat(place.clone(), thread.epoch.clone(), hints.clone(), hearing);
        thread.handle.spawn(beat);
        let store = Self {
            incarnation,
            place,
            thread,
            writer: Lane::default(),
            readers: Default::default(),
            next: AtomicUsize::new(0),
            hints,
            hearing,
        };
        store.load(&[Key::Clock]).await?;
        Ok(store)
    }

    async fn read(
        &self,
        sql: &'static str,
        values: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, Fault> {
        let lane = &self.readers[self.next.fetch_add(1, Ordering::Relaxed) % READERS];
        lane.query((&self.place, &self.thread), Again::Yes, sql, values).await
    }
}

#[async_trait]
impl Store for Postgres {
    async fn load(&self, keys: &[Key]) -> Result<Vec<Option<Record>>, Fault> {
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        let (kinds, names): (Vec<i16>, Vec<Vec<u8>>) = keys.iter().map(name_of).unzip();
        let mut found = vec![None; keys.len()];
        for row in self.read(read::LOAD, &[&kinds, &names]).await? {
            let at = usize::try_from(column::<i64>(&row, 0)? - 1).unwrap_or_default();
            found[at] = Some(record(&row, &keys[at], 1)?);
        }
        Ok(found)
    }

    async fn commit(&self, batch: Batch) -> Result<Vec<Committed>, Fault> {
        if batch.changes.is_empty() && batch.mark.is_none() {
            return Ok(Vec::new());
        }
        let call = Call::of(&batch)?;
        let at = (&self.place, &self.thread);
        let rows = self.writer.query(at, Again::No, COMMIT, &call.values()).await?;
        let none = || Fault::Unreadable("the database says nothing of a commit".into());
        let became: Vec<i16> = column(rows.first().ok_or_else(none)?, 0)?;
        if became.contains(&HELD) {
            let chance = random::<1>()?[0];
            let linger = Duration::from_millis(u64::from(1 + chance % STAND_BACK));
            tokio::time::sleep(linger).await;
        }
        let told = |became| if became == DONE { Committed::Done } else { Committed::Conflict };
        Ok(became.into_iter().map(told).collect())
    }

    async fn history(&self, ask: AskId, after: u64, limit: usize) -> Result<Vec<Event>, Fault> {
        let name = format!("an event of {ask}");
        let values: [&(dyn ToSql + Sync); 3] =
            [&ask.to_bytes().to_vec(), &number(after), &number(limit)];
        let rows = self.read(read::HISTORY, &values).await?;
        rows.iter().map(|row| read::read(row, 0, &name)).collect()
    }

    async fn list(
        &self,
        scope: &Scope,
        after: Option<AskId>,
        limit: usize,
    ) -> Result<Listing, Fault> {
        let values: [&(dyn ToSql + Sync); 3] =
            [&list_of(scope), &bytes(after.map(AskId::to_bytes)), &number(limit)];
        let rows = self.read(read::LIST, &values).await?;
        let mut listing = Listing::default();
        for row in &rows {
            listing.total = usize::try_from(column::<i64>(row, 0)?).unwrap_or_default();
            if let Some(revision) = column::<Option<i64>>(row, 2)? {
                let revision = u64::try_from(revision).unwrap_or_default();
                listing.asks.push((AskId::from_bytes(id(row, 1)?), revision));
            }
        }
        Ok(listing)
    }

    async fn sessions(
        &self,
        scope: &SessionScope,
        after: Option<SessionId>,
        limit: usize,
    ) -> Listed<Session> {
        let values: [&(dyn ToSql + Sync); 3] =
            [&list_of_sessions(scope), &bytes(after.map(SessionId::to_bytes)), &number(limit)];
        let rows = self.read(read::SESSIONS, &values).await?;
        rows.iter().map(|row| read::read(row, 0, "a session")).collect()
    }

    async fn asks(&self, after: Option<AskId>, limit: usize) -> Listed<Ask> {
        let values: [&(dyn ToSql + Sync); 3] =
            [&ASK, &bytes(after.map(AskId::to_bytes)), &number(limit)];
        let rows = self.read(read::RECORDS, &values).await?;
        rows.iter().map(|row| ask(row, AskId::from_bytes(id(row, 0)?), 1)).collect()
    }

    async fn receipts(&self, after: Option<&ReceiptKey>, limit: usize) -> Listed<StoredReceipt> {
        let after = after.map(|key| name_of(&Key::Receipt(key.clone())).1).unwrap_or_default();
        let values: [&(dyn ToSql + Sync); 3] = [&RECEIPT, &after, &number(limit)];
        let rows = self.read(read::RECORDS, &values).await?;
        rows.iter().map(|row| read::read(row, 2, "a receipt")).collect()
    }

    async fn deadlines(
        &self,
        until: Timestamp,
        limit: usize,
    ) -> Result<Vec<(Timestamp, Due)>, Fault> {
        let rows = self.read(read::DUE, &[&millis(until), &number(limit)]).await?;
        rows.iter().map(read::due).collect()
    }

    async fn shared_deadlines(
        &self,
        until: Timestamp,
        share: &Share,
        others_until: Timestamp,
        limit: usize,
    ) -> Result<Vec<(Timestamp, Due)>, Fault> {
        let values: [&(dyn ToSql + Sync); 4] =
            [&millis(until), &number(limit), &layout::buckets(share), &millis(others_until)];
        let rows = self.read(read::SHARED_DUE, &values).await?;
        rows.iter().map(read::due).collect()
    }

    async fn notices(
        &self,
        until: Timestamp,
        limit: usize,
    ) -> Result<Vec<(Timestamp, AskId)>, Fault> {
        let rows = self.read(read::NOTICES, &[&millis(until), &number(limit)]).await?;
        rows.iter().map(read::to_tell).collect()
    }

    async fn shared_notices(
        &self,
        until: Timestamp,
        share: &Share,
        limit: usize,
    ) -> Result<Vec<(Timestamp, AskId)>, Fault> {
        let values: [&(dyn ToSql + Sync); 3] =
            [&millis(until), &number(limit), &layout::buckets(share)];
        let rows = self.read(read::SHARED_NOTICES, &values).await?;
        rows.iter().map(read::to_tell).collect()
    }

    async fn snapshot(&self) -> Result<Box<dyn Snapshot>, Fault> {
        Ok(Box::new(snapshot::Whole::begin(&self.place, &self.thread).await?))
    }

    fn incarnation(&self) -> String {
        self.incarnation.clone()
    }

    async fn resolve(&self, prefix: &str, limit: usize) -> Result<Vec<AskId>, Fault> {
        let Some((first, last)) = spelled_between(prefix) else { return Ok(Vec::new()) };
        let spelled = |id: AskId| super::index::swap(id.to_bytes()).to_vec();
        let values: [&(dyn ToSql + Sync); 3] = [&spelled(first), &spelled(last), &number(limit)];
        let rows = self.read(read::SPELLED, &values).await?;
        rows.iter().map(|row| Ok(AskId::from_bytes(id(row, 0)?))).collect()
    }

    async fn time(&self) -> Result<Option<Timestamp>, Fault> {
        let rows = self.read(read::TIME, &[]).await?;
        rows.first().map(|row| Ok(time_of(column(row, 0)?))).transpose()
    }

    async fn present(&self, here: &Here) -> Result<Option<Present>, Fault> {
        let me = self.hints.me().to_owned();
        let (came, left) = (layout::names_of(&here.came), layout::names_of(&here.left));
        let values: [&(dyn ToSql + Sync); 8] =
            [&me, &here.carries, &SEEN_WITHIN, &here.whole, &came.0, &came.1, &left.0, &left.1];
        let mut present = Present { me: me.clone(), ..Present::default() };
        for row in &self.read(read::PRESENT, &values).await? {
            present.all.push((column(row, 0)?, column(row, 1)?));
            present.written = usize::try_from(column::<i64>(row, 2)?).unwrap_or_default();
        }
        for row in &self.read(read::HOSTS, &[&SEEN_WITHIN]).await? {
            present.hosts.push(layout::host_of(column(row, 0)?)?);
        }
        Ok(Some(present))
    }

    async fn unheld(&self, share: &Share) -> Result<Vec<SessionId>, Fault> {
        let list = list_of_sessions(&SessionScope::Held);
        let values: [&(dyn ToSql + Sync); 3] = [&list, &layout::buckets(share), &SEEN_WITHIN];
        let rows = self.read(read::UNHELD, &values).await?;
        rows.iter().map(|row| Ok(SessionId::from_bytes(id(row, 0)?))).collect()
    }

    async fn is_attached(&self, one: &Attached) -> Result<bool, Fault> {
        let (kinds, names) = layout::names_of(std::slice::from_ref(one));
        let rows = self.read(read::ATTACHED, &[&kinds[0], &names[0], &SEEN_WITHIN]).await?;
        rows.first().map_or(Ok(false), |row| column(row, 0))
    }

    async fn leave(&self) {
        if let Err(fault) = self.read(read::LEAVE, &[&self.hints.me()]).await {
            tracing::debug!(%fault, "the others find out by themselves");
        }
    }

    fn tell(&self, hints: &mut dyn Iterator<Item = u64>) {
        if self.hearing == Hearing::Listen {
            self.hints.tell(hints);
        }
    }

    async fn heard(&self) -> Heard {
        match self.hearing {
            Hearing::Listen => self.hints.heard().await,
            Hearing::Look => {
                tokio::time::sleep(LOOK).await;
                Heard::Everything
            }
        }
    }
}

/// What a key must be after: nothing is before the empty one.
fn bytes(id: Option<[u8; 12]>) -> Vec<u8> {
    id.map(|id| id.to_vec()).unwrap_or_default()
}
