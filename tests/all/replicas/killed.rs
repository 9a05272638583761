//! Every law, while a session of the database is killed every 20 ms.

use super::cluster::{Cluster, name_of};
use askway::ask::{Ask, AskId, Event, SessionId, Timestamp};
use askway::session::{Kind, Principal, Secret, Session, Token};
use askway::store::postgres::Postgres;
use askway::store::snapshot::{Saved, Snapshot};
use askway::store::{
    Batch, Change, Committed, Due, Fault, Key, Listing, ReceiptKey, Record, Scope, SessionScope,
    Store, StoredReceipt, suite,
};
use async_trait::async_trait;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Every 20 ms, until it is told to stop, ends the session in one of eight places, where there is one: a
/// store that has few of them left gets to make others.
const KILLER: &str = "do $$ begin
  while not (select is_called from stop) loop
    perform pg_stat_clear_snapshot();
    perform nextval('kills') from (
      select pg_terminate_backend(pid) from (
        select pid from pg_stat_activity where application_name = 'askway' and datname like 'k%'
        order by random() limit 1 offset floor(random() * 8)::int) as place) as one;
    perform pg_sleep(0.02);
  end loop;
end $$";

/// A store that is asked again where it was away. Whether a commit that failed took effect is looked
/// for, as the engine does by its receipts: each change writes a token of its own.
struct Patient {
    store: Arc<Postgres>,
    faults: Arc<AtomicUsize>,
    number: AtomicU64,
}

macro_rules! until_there {
    ($self:ident, $call:expr) => {
        loop {
            match $call.await {
                Err(Fault::Unavailable(_)) => $self.faults.fetch_add(1, Ordering::Relaxed),
                other => break other,
            };
        }
    };
}

impl Patient {
    fn probe(&self) -> Record {
        let mut secret = [0xee; 32];
        secret[..8].copy_from_slice(&self.number.fetch_add(1, Ordering::Relaxed).to_be_bytes());
        let principal = Principal::Session(suite::session(1).reference());
        let secret = Secret::new(Kind::Session, secret).hash();
        Record::Token(Token::new(secret, Default::default(), principal).into())
    }
}

#[async_trait]
impl Store for Patient {
    async fn load(&self, keys: &[Key]) -> Result<Vec<Option<Record>>, Fault> {
        until_there!(self, self.store.load(keys))
    }

    async fn commit(&self, mut batch: Batch) -> Result<Vec<Committed>, Fault> {
        let probes: Vec<_> = batch.changes.iter().map(|_| self.probe()).collect();
        let keys: Vec<_> = probes.iter().map(Record::key).collect();
        for (change, probe) in batch.changes.iter_mut().zip(probes) {
            change.writes.push(probe);
        }
        let became = loop {
            match self.store.commit(batch.clone()).await {
                Err(Fault::Unavailable(_)) => self.faults.fetch_add(1, Ordering::Relaxed),
                other => break other?,
            };
            let there = self.load(&keys).await?;
            if there.iter().any(Option::is_some) {
                let told = |is: &Option<Record>| match is {
                    Some(_) => Committed::Done,
                    None => Committed::Conflict,
                };
                break there.iter().map(told).collect();
            }
        };
        if !keys.is_empty() {
            let clean =
                Batch { changes: vec![Change { removes: keys, ..Change::default() }], mark: None };
            until_there!(self, self.store.commit(clean.clone()))?;
        }
        Ok(became)
    }

    async fn history(&self, ask: AskId, after: u64, limit: usize) -> Result<Vec<Event>, Fault> {
        until_there!(self, self.store.history(ask, after, limit))
    }

    async fn list(
        &self,
        scope: &Scope,
        after: Option<AskId>,
        limit: usize,
    ) -> Result<Listing, Fault> {
        until_there!(self, self.store.list(scope, after, limit))
    }

    async fn sessions(
        &self,
        scope: &SessionScope,
        after: Option<SessionId>,
        limit: usize,
    ) -> Result<Vec<Arc<Session>>, Fault> {
        until_there!(self, self.store.sessions(scope, after, limit))
    }

    async fn asks(&self, after: Option<AskId>, limit: usize) -> Result<Vec<Arc<Ask>>, Fault> {
        until_there!(self, self.store.asks(after, limit))
    }

    async fn receipts(
        &self,
        after: Option<&ReceiptKey>,
        limit: usize,
    ) -> Result<Vec<Arc<StoredReceipt>>, Fault> {
        until_there!(self, self.store.receipts(after, limit))
    }

    async fn deadlines(
        &self,
        until: Timestamp,
        limit: usize,
    ) -> Result<Vec<(Timestamp, Due)>, Fault> {
        until_there!(self, self.store.deadlines(until, limit))
    }

    async fn notices(
        &self,
        until: Timestamp,
        limit: usize,
    ) -> Result<Vec<(Timestamp, AskId)>, Fault> {
        until_there!(self, self.store.notices(until, limit))
    }

    async fn snapshot(&self) -> Result<Box<dyn Snapshot>, Fault> {
        let all = until_there!(self, whole(&self.store))?;
        Ok(Box::new(Read(all.into_iter())))
    }

    fn incarnation(&self) -> String {
        self.store.incarnation()
    }

    async fn resolve(&self, prefix: &str, limit: usize) -> Result<Vec<AskId>, Fault> {
        until_there!(self, self.store.resolve(prefix, limit))
    }
}

/// A snapshot that was read to its end: one that is cut off cannot be taken up again.
struct Read(std::vec::IntoIter<Saved>);

#[async_trait]
impl Snapshot for Read {
    async fn next(&mut self, limit: usize) -> Result<Vec<Saved>, Fault> {
        Ok(self.0.by_ref().take(limit).collect())
    }
}

async fn whole(store: &Postgres) -> Result<Vec<Saved>, Fault> {
    let (mut snapshot, mut all) = (store.snapshot().await?, Vec::new());
    loop {
        let some = snapshot.next(50).await?;
        if some.is_empty() {
            return Ok(all);
        }
        all.extend(some);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_database_keeps_the_laws_while_its_sessions_are_killed() {
    let cluster = Cluster::shared();
    let killing = cluster.database("x");
    let name = name_of(&killing).to_owned();
    cluster.sql(&name, "create sequence kills; create sequence stop");
    let there = name.clone();
    let killer = std::thread::spawn(move || cluster.sql(&there, KILLER));
    let faults = Arc::new(AtomicUsize::new(0));
    let fresh = || async {
        let url = cluster.database("k");
        let store = loop {
            match Postgres::open(&url).await {
                Ok(store) => break Arc::new(store),
                Err(Fault::Unavailable(_)) => {}
                Err(fault) => panic!("{fault}"),
            }
        };
        let (faults, number) = (faults.clone(), AtomicU64::new(0));
        Arc::new(Patient { store, faults, number }) as Arc<dyn Store>
    };
    suite::what_is_not_there_is_none(&*fresh().await).await;
    suite::what_is_written_is_loaded(&*fresh().await).await;
    suite::a_change_is_whole_or_not_at_all(&*fresh().await).await;
    suite::a_later_change_sees_the_earlier(&*fresh().await).await;
    suite::a_history_has_no_holes(&*fresh().await).await;
    suite::a_history_is_read_in_pages(&*fresh().await).await;
    suite::a_prefix_may_fit_several(&*fresh().await).await;
    suite::a_receipt_is_its_callers(&*fresh().await).await;
    suite::a_content_is_guarded_also_where_nothing_is_kept_of_it(&*fresh().await).await;
    suite::asks_and_sessions_are_due_in_one_order(&*fresh().await).await;
    suite::people_are_to_be_told_until_they_are(&*fresh().await).await;
    suite::the_clock_is_kept_with_any_batch(&*fresh().await).await;
    suite::sessions_are_listed_by_what_they_are(&*fresh().await).await;
    suite::rule_18_history_is_enough(&*fresh().await, 1).await;
    suite::what_is_exported_fills_another_store(&*fresh().await, fresh().await, 1).await;
    cluster.sql(&name, "select nextval('stop')");
    killer.join().unwrap();
    let kills: u64 = cluster.sql(&name, "select last_value from kills").parse().unwrap();
    let faults = faults.load(Ordering::Relaxed);
    println!("{kills} sessions were killed, {faults} calls failed");
    assert!(kills > 20 && faults > 0, "{kills} kills, {faults} faults");
}
