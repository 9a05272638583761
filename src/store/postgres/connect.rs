//! Connections: made when they are needed, made again when they have ended, each looked over before it
//! is used. They live on a thread of the store's own, since its callers are on several runtimes.

use super::place::{CONNECT_WITHIN, Place};
use super::trouble::{Then, fault, then};
use crate::store::Fault;
use std::collections::HashMap;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::{Mutex, oneshot, watch};
use tokio::time::timeout;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Error, Row, Statement};

/// How long the database may take for one statement: the largest batch, on a disk that is busy. That it
/// says nothing at all is noticed much earlier ([`pulse`](super::pulse)).
const ANSWER_WITHIN: Duration = Duration::from_secs(30);

/// Counts how often all connections were given up at once. Cheap to clone; the clones are one.
#[derive(Clone)]
pub(super) struct Epoch(Arc<watch::Sender<u64>>);

impl Epoch {
    fn new() -> Self {
        Self(Arc::new(watch::Sender::new(0)))
    }

    pub fn now(&self) -> u64 {
        *self.0.borrow()
    }

    /// Gives up every connection of `epoch`, once.
    pub fn end(&self, epoch: u64) {
        self.0.send_if_modified(|now| {
            let is_now = *now == epoch;
            *now += u64::from(is_now);
            is_now
        });
    }

    /// Returns when the connections of `epoch` are given up.
    pub async fn ends(&self, epoch: u64) {
        // The sender is in here.
        let _ = self.0.subscribe().wait_for(|now| *now > epoch).await;
    }
}

/// The thread that all connections live on; it ends with the store.
pub(super) struct Thread {
    pub handle: Handle,
    pub epoch: Epoch,
    _ends: oneshot::Sender<()>,
}

impl Thread {
    pub fn start() -> Result<Self, Fault> {
        let failed = |why: std::io::Error| Fault::Unavailable(format!("no thread: {why}"));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(failed)?;
        let handle = runtime.handle().clone();
        let (ends, ended) = oneshot::channel::<()>();
        let thread = std::thread::Builder::new().name("askway-store".into());
        thread.spawn(move || drop(runtime.block_on(ended))).map_err(failed)?;
        Ok(Self { handle, epoch: Epoch::new(), _ends: ends })
    }

    /// Does `work` there.
    pub async fn run<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, Fault>> + Send + 'static,
    ) -> Result<T, Fault> {
        let done = self.handle.spawn(work).await;
        done.unwrap_or_else(|_| Err(Fault::Unavailable("it is closed".into())))
    }
}

/// A connection, and what was prepared on it.
pub(super) struct Prepared {
    client: Client,
    prepared: Mutex<HashMap<&'static str, Statement>>,
    epoch: Epoch,
    of: u64,
}

/// Why a statement has no answer.
enum Unanswered {
    Error(Error),
    /// Nothing was said, or all connections were given up.
    Silent,
}

impl From<Unanswered> for Fault {
    fn from(why: Unanswered) -> Self {
        match why {
            Unanswered::Error(error) => fault(&error),
            Unanswered::Silent => Fault::Unavailable("the database does not answer".into()),
        }
    }
}

impl Prepared {
    /// Opens one and drives it on the store's thread.
    pub async fn open(place: &Place, thread: &Thread) -> Result<Arc<Self>, Fault> {
        let (place, handle) = (place.clone(), thread.handle.clone());
        let of = thread.epoch.now();
        let client = thread.run(async move {
            let opened = timeout(2 * CONNECT_WITHIN, async move {
                let (client, connection) = place.open().await?;
                handle.spawn(connection);
                keeps_what_it_acknowledges(&client).await.map(|()| client)
            });
            opened.await.unwrap_or_else(|_| Err(Unanswered::Silent.into()))
        });
        let (client, prepared) = (client.await?, Mutex::default());
        Ok(Arc::new(Self { client, prepared, epoch: thread.epoch.clone(), of }))
    }

    /// Does several statements, of which nothing is said.
    pub async fn run(&self, sql: &str) -> Result<(), Fault> {
        Ok(self.heard(self.client.batch_execute(sql)).await?)
    }

    /// The rows of a statement, prepared once.
    pub async fn rows(
        &self,
        sql: &'static str,
        values: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, Fault> {
        Ok(self.query(sql, values).await?)
    }

    async fn query(
        &self,
        sql: &'static str,
        values: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, Unanswered> {
        self.heard(async {
            let mut prepared = self.prepared.lock().await;
            let statement = match prepared.get(sql) {
                Some(statement) => statement.clone(),
                None => {
                    let statement = self.client.prepare(sql).await?;
                    prepared.insert(sql, statement.clone());
                    statement
                }
            };
            drop(prepared);
            self.client.query(&statement, values).await
        })
        .await
    }

    /// What comes of `answer`, where anything does.
    async fn heard<T>(
        &self,
        answer: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Unanswered> {
        tokio::select! {
            answer = timeout(ANSWER_WITHIN, answer) => match answer {
                Ok(answer) => answer.map_err(Unanswered::Error),
                Err(_) => Err(Unanswered::Silent),
            },
            () = self.epoch.ends(self.of) => Err(Unanswered::Silent),
        }
    }

    fn is_good(&self) -> bool {
        !self.client.is_closed() && self.of == self.epoch.now()
    }
}

async fn keeps_what_it_acknowledges(client: &Client) -> Result<(), Fault> {
    let told = client.query_one("show synchronous_commit", &[]).await;
    let told = told.and_then(|row| row.try_get::<_, String>(0));
    match told.map_err(|error| fault(&error))?.as_str() {
        "off" => Err(Fault::Unavailable(
            "synchronous_commit is off here, and what is acknowledged could be lost; set it to on for \
             this role or database"
                .into(),
        )),
        _ => Ok(()),
    }
}

/// A place for a connection.
#[derive(Default)]
pub(super) struct Lane {
    kept: Mutex<Kept>,
    /// How often one was to be opened.
    tries: AtomicU64,
}

#[derive(Default)]
struct Kept {
    prepared: Option<Arc<Prepared>>,
    /// What came of the last try.
    failed: Option<Fault>,
}

/// Whether a statement may be said twice.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Again {
    /// It reads.
    Yes,
    /// It writes: whoever asked has to look first.
    No,
}

impl Lane {
    /// The connection; another where it has ended. Whoever waited while one was tried takes what came of
    /// that: a hundred callers do not wait for a hundred tries in a line.
    async fn prepared(&self, place: &Place, thread: &Thread) -> Result<Arc<Prepared>, Fault> {
        let tries = self.tries.load(Ordering::Acquire);
        let mut kept = self.kept.lock().await;
        if let Some(prepared) = kept.prepared.as_ref().filter(|prepared| prepared.is_good()) {
            return Ok(prepared.clone());
        }
        if self.tries.load(Ordering::Acquire) != tries
            && let Some(fault) = &kept.failed
        {
            return Err(fault.clone());
        }
        let opened = Prepared::open(place, thread).await;
        self.tries.fetch_add(1, Ordering::AcqRel);
        kept.failed = opened.as_ref().err().cloned();
        kept.prepared = opened.as_ref().ok().cloned();
        opened
    }

    async fn leave(&self, left: &Arc<Prepared>) {
        let mut kept = self.kept.lock().await;
        if kept.prepared.as_ref().is_some_and(|prepared| Arc::ptr_eq(prepared, left)) {
            kept.prepared = None;
        }
    }

    /// The rows of a statement; what reads is said once more where its connection had ended.
    pub async fn query(
        &self,
        (place, thread): (&Place, &Thread),
        again: Again,
        sql: &'static str,
        values: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, Fault> {
        let mut left = if again == Again::Yes { 1 } else { 0 };
        loop {
            let prepared = self.prepared(place, thread).await?;
            let why = match prepared.query(sql, values).await {
                Ok(rows) => return Ok(rows),
                Err(why) => why,
            };
            match &why {
                Unanswered::Error(error) => match then(error) {
                    Then::Stays => return Err(why.into()),
                    Then::Ends => self.leave(&prepared).await,
                    Then::AllEnd => prepared.epoch.end(prepared.of),
                },
                Unanswered::Silent => self.leave(&prepared).await,
            }
            if left == 0 {
                return Err(why.into());
            }
            left -= 1;
        }
    }
}
