//! Hints between the processes that share a database: what was committed is told in batches after the
//! commit, by NOTIFY; inside the commit it would put all of them in one line. A hint that is lost delays
//! and loses nothing: whoever watches looks again by itself after a while.

use super::place::Place;
use crate::store::{Fault, Heard};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::timeout;
use tokio_postgres::Client;
use tokio_postgres::types::ToSql;

/// How long what is to be told is gathered: a hundred notifications a second at most, from each process.
const GATHER: Duration = Duration::from_millis(10);
/// How long the database may take for a notification.
const TOLD_WITHIN: Duration = Duration::from_secs(5);
/// How long after a failed connection the next is tried.
pub(super) const AGAIN: Duration = Duration::from_millis(500);
/// Hints in one notification: PostgreSQL takes 8,000 bytes.
const IN_ONE: usize = 400;
/// More than this at once is everything.
const AT_MOST: usize = 4_000;

/// Where it is told.
pub(super) const CHANNEL: &str = "askway";
const EVERYTHING: &str = "*";

/// What is to be told, and what was heard.
pub(super) struct Hints {
    me: String,
    out: Gathered,
    heard: Gathered,
}

#[derive(Default)]
struct Gathered {
    kept: Mutex<Kept>,
    more: Notify,
}

#[derive(Default)]
struct Kept {
    all: bool,
    hints: BTreeSet<u64>,
}

impl Gathered {
    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, hints: impl IntoIterator<Item = u64>) {
        let mut kept = self.kept();
        if !kept.all {
            kept.hints.extend(hints);
            kept.all = kept.hints.len() > AT_MOST;
        }
        drop(kept);
        self.more.notify_one();
    }

    fn add_all(&self) {
        self.kept().all = true;
        self.more.notify_one();
    }

    fn take(&self) -> Option<Heard> {
        let kept = std::mem::take(&mut *self.kept());
        match kept {
            Kept { all: true, .. } => Some(Heard::Everything),
            Kept { hints, .. } if hints.is_empty() => None,
            Kept { hints, .. } => Some(Heard::Hints(hints.into_iter().collect())),
        }
    }

    async fn next(&self) -> Heard {
        loop {
            let more = self.more.notified();
            if let Some(heard) = self.take() {
                return heard;
            }
            more.await;
        }
    }
}

impl Hints {
    pub fn new() -> Result<Self, Fault> {
        let me = super::random_name()?;
        Ok(Self { me, out: Gathered::default(), heard: Gathered::default() })
    }

    /// The name of this process among those who share the database.
    pub fn me(&self) -> &str {
        &self.me
    }

    /// Tells the others, soon.
    pub fn tell(&self, hints: &mut dyn Iterator<Item = u64>) {
        self.out.add(hints);
    }

    /// What others have told since the last time.
    pub async fn heard(&self) -> Heard {
        self.heard.next().await
    }

    /// Takes in a notification: who sent it, and what. All of it at once: whoever listens is woken once,
    /// and gets no part of it.
    pub fn take_in(&self, payload: &str) {
        let mut words = payload.split(' ');
        if words.next() == Some(self.me.as_str()) {
            return;
        }
        let hints: Result<Vec<_>, _> = words.map(|word| u64::from_str_radix(word, 16)).collect();
        match hints {
            Ok(hints) => self.heard.add(hints),
            Err(_) => self.heard.add_all(),
        }
    }

    /// Something may have been told that did not come.
    pub fn missed(&self) {
        self.heard.add_all();
    }

    fn payloads(&self, heard: &Heard) -> Vec<String> {
        match heard {
            Heard::Everything => vec![format!("{} {EVERYTHING}", self.me)],
            Heard::Hints(hints) => {
                let spelled = |some: &[u64]| {
                    let words: Vec<_> = some.iter().map(|hint| format!("{hint:x}")).collect();
                    format!("{} {}", self.me, words.join(" "))
                };
                hints.chunks(IN_ONE).map(spelled).collect()
            }
        }
    }
}

/// Sends for ever. What could not be sent becomes *everything* once a connection is there again.
pub(super) async fn send(place: Place, hints: Arc<Hints>) {
    let mut client: Option<Client> = None;
    loop {
        let first = hints.out.next().await;
        tokio::time::sleep(GATHER).await;
        let rest = hints.out.take();
        let mut payloads = hints.payloads(&first);
        payloads.extend(rest.iter().flat_map(|rest| hints.payloads(rest)));
        if client.as_ref().is_none_or(Client::is_closed) {
            client = match place.open().await {
                Ok((client, connection)) => {
                    tokio::spawn(connection);
                    Some(client)
                }
                Err(_) => None,
            };
        }
        let sent = match &client {
            Some(client) => {
                let sql = "select pg_notify($1, payload) from unnest($2::text[]) as payload";
                let values: [&(dyn ToSql + Sync); 2] = [&CHANNEL, &payloads];
                timeout(TOLD_WITHIN, client.execute(sql, &values))
                    .await
                    .is_ok_and(|told| told.is_ok())
            }
            None => false,
        };
        if !sent {
            client = None;
            hints.out.add_all();
            tokio::time::sleep(AGAIN).await;
        }
    }
}
