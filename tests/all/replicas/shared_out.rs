//! Timers and notices are shared out among the replicas, and those of one that is gone are taken over.

use super::cluster::{Cluster, name_of};
use super::{opened, wall};
use crate::bench::*;
use askway::ask::{Ask, AskId, Event, EventKind, NoticeWhy, Plans, SessionId, Span, Timestamp};
use askway::engine::clock::Manual;
use askway::service::{Notifier, Settings};
use askway::session::{Session, Standing};
use askway::store::postgres::Postgres;
use askway::store::share::{Attached, Here, Present, Share, bucket_of};
use askway::store::snapshot::Snapshot;
use askway::store::{
    Batch, Committed, Due, Fault, Heard, Key, Listing, ReceiptKey, Record, Scope, SessionScope,
    Store, StoredReceipt,
};
use async_trait::async_trait;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

const SHORT: Span = Span::from_secs(1);
/// How much longer than promised something may take on a machine that is busy with other things.
const BUSY: Span = Span::from_secs(15);

/// A replica whose asks move on after a second.
async fn replica(store: Arc<dyn Store>, number: u64, notifier: Option<Arc<dyn Notifier>>) -> Bench {
    let settings = Settings { routes: Plans::built_in(SHORT), notifier, ..Settings::default() };
    Bench::set(store, Manual::at(wall(number)), settings).await
}

/// So many asks, each of a worker's of its own that `lead` waits for.
async fn file(bench: &Bench, count: usize) -> Vec<Arc<Ask>> {
    let lead = bench.root("lead").await;
    let mut asks = Vec::new();
    let mut worker = bench.child("worker", &lead, false).await;
    for number in 0..count {
        if number % 4 == 3 {
            worker = bench.child("worker", &lead, false).await;
        }
        asks.push(bench.ask(&worker, &format!("which store {number}?")).await);
    }
    asks
}

fn moves(event: &Event) -> bool {
    matches!(event.kind, EventKind::Escalated(_))
}

/// Waits until each replica has looked again after all were there.
async fn know_of_each_other(url: &str) {
    let seen = |which: &str| {
        let sql = format!("select {which}(seen) from askway.replicas where name <> 'phantom'");
        Cluster::shared().sql(name_of(url), &sql).parse::<u64>().unwrap()
    };
    let all_were_there = seen("max");
    eventually(async || seen("min") > all_were_there).await;
}

/// A replica that is there and does nothing, as one that is stopped for a while.
fn add_phantom(url: &str) {
    let phantom = "insert into askway.replicas values ('phantom', 8000000000000, false)";
    Cluster::shared().sql(name_of(url), phantom);
}

#[tokio::test(flavor = "multi_thread")]
async fn rule_03_what_another_replica_leaves_lying_is_done_after_five_seconds_and_not_before() {
    let url = Cluster::shared().database("t");
    let store = opened(&url).await;
    add_phantom(&url);
    let bench = replica(store.clone(), 1, None).await;
    let sql = "select name from askway.replicas where name <> 'phantom'";
    let me = Cluster::shared().sql(name_of(&url), sql);
    let share = Share::of(&me, &[&me, "phantom"]);
    let asks = file(&bench, 24).await;
    let (mut own, mut others) = (Vec::new(), Vec::new());
    for ask in &asks {
        bench.until(ask.id, |ask| ask.hop.index == 1).await;
        let due = ask.deadline().expect("it has a route timer");
        let events = store.history(ask.id, 1, 10).await.unwrap();
        let moved = events.iter().find(|event| moves(event)).expect("it has moved");
        assert!(moved.time >= due, "no earlier than its time");
        let late = moved.time.since(due);
        match share.has(bucket_of(ask.id.to_bytes())) {
            true => own.push(late),
            false => others.push(late),
        }
    }
    assert!(!own.is_empty() && !others.is_empty(), "{share:?}");
    let left = Span::from_secs(5);
    // A second later than that at most, as is promised of one that has died.
    let most = left + SHORT + BUSY;
    assert!(others.iter().all(|late| *late >= left && *late < most), "{others:?}");
    assert!(own.iter().any(|late| *late < left), "{own:?}");
    assert!(own.iter().all(|late| *late < SHORT + BUSY), "{own:?}");
    bench.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_three_replicas_one_fires_each_timer_and_who_stops_is_left_out_at_once() {
    let url = Cluster::shared().database("t");
    let tried = Arc::new(AtomicUsize::new(0));
    let mut all = Vec::new();
    for number in 0..3 {
        let store = Counted { store: opened(&url).await, tried: tried.clone() };
        all.push(replica(Arc::new(store), number, None).await);
    }
    know_of_each_other(&url).await;
    let names = || Cluster::shared().sql(name_of(&url), "select count(*) from askway.replicas");
    assert_eq!(names(), "3");
    let asks = file(&all[0], 40).await;
    for ask in &asks {
        all[1].until(ask.id, |ask| ask.hop.index == 1).await;
    }
    // What two take for theirs while one more is seen may be tried twice.
    let tried = tried.load(Ordering::Relaxed);
    assert!(tried < 40 + 20, "{tried} tries for 40 timers: the work is done several times");
    for bench in all {
        bench.stop().await;
    }
    assert_eq!(names(), "0");
}

/// So many asks, each of a worker's whose sender then pauses, which is its own: nobody answers soon, and no
/// timer comes before.
async fn paused(bench: &Bench, count: usize) -> Vec<(Arc<Ask>, SessionId, Timestamp)> {
    let mut left = Vec::new();
    for _ in 0..count {
        let (lead, worker) = bench.pair().await;
        let ask = bench.ask(&worker, "which store?").await;
        let paused = bench.service.pause(&lead.caller, fresh(), None).await.unwrap();
        let Standing::Paused { since, .. } = paused.session.standing else { panic!("{paused:?}") };
        left.push((ask, lead.id(), since));
    }
    left
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_paused_session_leaves_is_moved_by_others_where_its_replica_does_not() {
    let url = Cluster::shared().database("t");
    let store = opened(&url).await;
    add_phantom(&url);
    let bench = Bench::on(store.clone(), Manual::at(wall(1))).await;
    let sql = "select name from askway.replicas where name <> 'phantom'";
    let me = Cluster::shared().sql(name_of(&url), sql);
    let share = Share::of(&me, &[&me, "phantom"]);
    let (mut own, mut others) = (Vec::new(), Vec::new());
    for (ask, lead, since) in paused(&bench, 16).await {
        bench.until(ask.id, |ask| ask.hop.index == 1).await;
        let events = store.history(ask.id, 1, 10).await.unwrap();
        let moved = events.iter().find(|event| moves(event)).expect("it has moved");
        let late = moved.time.since(since);
        match share.has(bucket_of(lead.to_bytes())) {
            true => own.push(late),
            false => others.push(late),
        }
    }
    assert!(!own.is_empty() && !others.is_empty(), "{share:?}");
    let left = Span::from_secs(5);
    assert!(others.iter().all(|late| *late >= left && *late < left + BUSY), "{others:?}");
    assert!(own.iter().any(|late| *late < left), "{own:?}");
    bench.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_three_replicas_one_moves_what_a_paused_session_leaves() {
    let url = Cluster::shared().database("t");
    let tried = Arc::new(AtomicUsize::new(0));
    let mut all = Vec::new();
    for number in 0..3 {
        let store = Counted { store: opened(&url).await, tried: tried.clone() };
        all.push(Bench::on(Arc::new(store), Manual::at(wall(number))).await);
    }
    know_of_each_other(&url).await;
    for (ask, ..) in paused(&all[0], 24).await {
        all[1].until(ask.id, |ask| ask.hop.index == 1).await;
    }
    let tried = tried.load(Ordering::Relaxed);
    assert!(tried < 24 + 12, "{tried} tries for 24 asks: the work is done several times");
    for bench in all {
        bench.stop().await;
    }
}

/// Writes down whom it told of what.
#[derive(Debug, Default)]
struct Told(Mutex<BTreeMap<AskId, usize>>);

#[async_trait]
impl Notifier for Told {
    async fn tell(&self, ask: &Ask, why: NoticeWhy) -> Result<(), String> {
        if why == NoticeWhy::Came {
            *self.0.lock().unwrap().entry(ask.id).or_default() += 1;
        }
        Ok(())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn people_are_told_once_whichever_replica_carries_it() {
    let url = Cluster::shared().database("t");
    let told = Arc::new(Told::default());
    // The second carries none, and has no part in it.
    let store = async || opened(&url).await as Arc<dyn Store>;
    let one = replica(store().await, 1, Some(told.clone())).await;
    let mute = replica(store().await, 2, None).await;
    let other = replica(store().await, 3, Some(told.clone())).await;
    know_of_each_other(&url).await;
    let asks = file(&mute, 24).await;
    eventually(async || asks.iter().all(|ask| told.0.lock().unwrap().contains_key(&ask.id))).await;
    let counts = told.0.lock().unwrap().clone();
    let twice = counts.values().filter(|count| **count > 1).count();
    assert!(counts.len() == 24 && twice < 8, "{twice} were told twice: {counts:?}");
    for bench in [one, mute, other] {
        bench.stop().await;
    }
}

#[tokio::test]
async fn a_database_of_the_first_layout_is_brought_forward() {
    let cluster = Cluster::shared();
    let url = cluster.database("t");
    let incarnation = opened(&url).await.incarnation();
    let back = "drop table askway.replicas, askway.attached; drop function askway.present; \
                update askway.marker set format = 1, least_reader = 1";
    cluster.sql(name_of(&url), back);
    let store = opened(&url).await;
    assert_eq!(store.incarnation(), incarnation, "it is the same store");
    let present = store.present(&Here::default()).await.unwrap().expect("it is shared");
    assert_eq!(present.all, [(present.me.clone(), false)]);
    let marker = cluster.sql(name_of(&url), "select format, least_reader from askway.marker");
    assert_eq!(marker, "2|2", "an earlier askway cannot read what is written now");
}

/// A store that counts how often a timer was fired.
struct Counted {
    store: Arc<Postgres>,
    tried: Arc<AtomicUsize>,
}

macro_rules! same {
    ($($name:ident($($value:ident: $of:ty),*) -> $gives:ty;)*) => {
        #[async_trait]
        impl Store for Counted {
            async fn commit(&self, batch: Batch) -> Result<Vec<Committed>, Fault> {
                let events = batch.changes.iter().flat_map(|change| &change.events);
                let moves = events.filter(|(_, event)| moves(event)).count();
                self.tried.fetch_add(moves, Ordering::Relaxed);
                self.store.commit(batch).await
            }

            fn incarnation(&self) -> String {
                self.store.incarnation()
            }

            fn tell(&self, hints: &mut dyn Iterator<Item = u64>) {
                self.store.tell(hints);
            }

            $(async fn $name(&self, $($value: $of),*) -> $gives {
                self.store.$name($($value),*).await
            })*
        }
    };
}

same! {
    load(keys: &[Key]) -> Result<Vec<Option<Record>>, Fault>;
    history(ask: AskId, after: u64, limit: usize) -> Result<Vec<Event>, Fault>;
    list(scope: &Scope, after: Option<AskId>, limit: usize) -> Result<Listing, Fault>;
    sessions(scope: &SessionScope, after: Option<SessionId>, limit: usize)
        -> Result<Vec<Arc<Session>>, Fault>;
    asks(after: Option<AskId>, limit: usize) -> Result<Vec<Arc<Ask>>, Fault>;
    receipts(after: Option<&ReceiptKey>, limit: usize) -> Result<Vec<Arc<StoredReceipt>>, Fault>;
    deadlines(until: Timestamp, limit: usize) -> Result<Vec<(Timestamp, Due)>, Fault>;
    shared_deadlines(until: Timestamp, share: &Share, others_until: Timestamp, limit: usize)
        -> Result<Vec<(Timestamp, Due)>, Fault>;
    notices(until: Timestamp, limit: usize) -> Result<Vec<(Timestamp, AskId)>, Fault>;
    shared_notices(until: Timestamp, share: &Share, limit: usize)
        -> Result<Vec<(Timestamp, AskId)>, Fault>;
    snapshot() -> Result<Box<dyn Snapshot>, Fault>;
    resolve(prefix: &str, limit: usize) -> Result<Vec<AskId>, Fault>;
    time() -> Result<Option<Timestamp>, Fault>;
    present(here: &Here) -> Result<Option<Present>, Fault>;
    unheld(share: &Share) -> Result<Vec<SessionId>, Fault>;
    is_attached(one: &Attached) -> Result<bool, Fault>;
    leave() -> ();
    heard() -> Heard;
}
