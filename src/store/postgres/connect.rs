//! Connections: made when they are needed, made again when they have ended, each looked over before it
//! is used. They live on a thread of the store's own, since its callers are on several runtimes.

use super::hints::Hints;
use super::trouble::{ends_connection, fault};
use crate::store::Fault;
use std::collections::HashMap;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::{Mutex, oneshot};
use tokio_postgres::config::TargetSessionAttrs;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Config, Connection, NoTls, Row, Socket, Statement};

/// How long a server may take to let somebody in.
const CONNECT_WITHIN: Duration = Duration::from_secs(5);
/// How long it may take for one statement: the largest batch, on a disk that is busy.
const ANSWER_WITHIN: Duration = Duration::from_secs(30);
/// A dead peer is noticed within this: by probes where nothing is sent, by what is not acknowledged.
const DEAD_AFTER: Duration = Duration::from_secs(5);

/// Where the database is, as somebody said it. Its password is in it: it is never printed.
#[derive(Clone)]
pub(super) struct Place(Config);

impl Place {
    /// Reads a URL, `postgres://user@host/database`, or `host=… dbname=…`.
    pub fn read(text: &str) -> Result<Self, Fault> {
        // What the parser says may repeat what it was given.
        let mut config: Config = text.parse().map_err(|_| {
            Fault::Unavailable("the store is to be named as postgres://USER@HOST/DATABASE".into())
        })?;
        config
            .application_name("askway")
            .connect_timeout(CONNECT_WITHIN)
            .keepalives(true)
            .keepalives_idle(DEAD_AFTER / 2)
            .keepalives_interval(DEAD_AFTER / 5)
            .keepalives_retries(2)
            .tcp_user_timeout(DEAD_AFTER)
            // After a failover the one that may be written to is looked for among the hosts.
            .target_session_attrs(TargetSessionAttrs::ReadWrite);
        Ok(Self(config))
    }

    pub async fn open(
        &self,
    ) -> Result<(Client, Connection<Socket, tokio_postgres::tls::NoTlsStream>), Fault> {
        let opened = tokio::time::timeout(2 * CONNECT_WITHIN, self.0.connect(NoTls)).await;
        let opened = opened.map_err(|_| Fault::Unavailable("no server answers".into()))?;
        opened.map_err(|error| fault(&error))
    }
}

/// The thread that all connections live on; it ends with the store.
pub(super) struct Thread {
    pub handle: Handle,
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
        Ok(Self { handle, _ends: ends })
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
pub(super) struct Session {
    pub client: Client,
    prepared: Mutex<HashMap<&'static str, Statement>>,
}

impl Session {
    /// Opens one and drives it on the store's thread.
    pub async fn open(place: &Place, thread: &Thread) -> Result<Arc<Self>, Fault> {
        let (place, handle) = (place.clone(), thread.handle.clone());
        let client = thread.run(async move {
            let (client, connection) = place.open().await?;
            handle.spawn(connection);
            let told = client.query_one("show synchronous_commit", &[]).await;
            let told = told.and_then(|row| row.try_get::<_, String>(0));
            match told.map_err(|error| fault(&error))?.as_str() {
                "off" => Err(Fault::Unavailable(
                    "synchronous_commit is off here, and what is acknowledged could be lost; \
                     set it to on for this role or database"
                        .into(),
                )),
                _ => Ok(client),
            }
        });
        Ok(Arc::new(Self { client: client.await?, prepared: Mutex::default() }))
    }

    /// The rows of a statement, prepared once.
    async fn query(
        &self,
        sql: &'static str,
        values: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, tokio_postgres::Error> {
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
    }
}

/// A place for a connection.
#[derive(Default)]
pub(super) struct Lane {
    session: Mutex<Option<Arc<Session>>>,
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
    async fn session(&self, place: &Place, thread: &Thread) -> Result<Arc<Session>, Fault> {
        let mut kept = self.session.lock().await;
        if let Some(session) = kept.as_ref().filter(|session| !session.client.is_closed()) {
            return Ok(session.clone());
        }
        let session = Session::open(place, thread).await?;
        *kept = Some(session.clone());
        Ok(session)
    }

    async fn leave(&self, left: &Arc<Session>) {
        let mut kept = self.session.lock().await;
        if kept.as_ref().is_some_and(|session| Arc::ptr_eq(session, left)) {
            *kept = None;
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
            let session = self.session(place, thread).await?;
            let answer = tokio::time::timeout(ANSWER_WITHIN, session.query(sql, values)).await;
            let Ok(answer) = answer else {
                self.leave(&session).await;
                return Err(Fault::Unavailable("the database does not answer".into()));
            };
            let error = match answer {
                Ok(rows) => return Ok(rows),
                Err(error) => error,
            };
            if ends_connection(&error) {
                self.leave(&session).await;
                if left > 0 {
                    left -= 1;
                    continue;
                }
            }
            return Err(fault(&error));
        }
    }
}

/// Starts what carries hints out and in.
pub(super) fn start_hints(place: &Place, thread: &Thread) -> Result<Arc<Hints>, Fault> {
    let hints = Arc::new(Hints::new()?);
    thread.handle.spawn(super::hints::send(place.clone(), hints.clone()));
    thread.handle.spawn(super::hints::listen(place.clone(), hints.clone()));
    Ok(hints)
}
