//! The database is silent, is only read from, or is at another host.

use super::cluster::Cluster;
use super::{opened, replica};
use crate::bench::*;
use crate::wire::line::Line;
use askway::engine::clock::Manual;
use askway::error::{Error, Reason};
use askway::store::postgres::Postgres;
use askway::store::{Batch, Fault, Key, Store};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::time::timeout;

/// Five seconds are promised; three times as long for a machine that is busy with other things. It is shorter
/// than a statement may take: it is the silence that is noticed.
pub const NOTICED: Duration = Duration::from_secs(15);

/// The database of a URL, by these addresses.
pub fn by(url: &str, addresses: &[SocketAddr]) -> String {
    let name = super::name_of(url);
    let hosts: Vec<_> = addresses.iter().map(SocketAddr::to_string).collect();
    format!("postgres://askway@{}/{name}", hosts.join(","))
}

/// Somebody takes the connection and never says a word, as behind a partition. Without a look of its own
/// a caller would wait half a minute for the answer to a statement.
#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_goes_silent_is_noticed_and_the_next_connection_is_good() {
    let cluster = Cluster::shared();
    let url = cluster.database("t");
    let line = Line::to(cluster.address()).await;
    let store = opened(&by(&url, &[line.port])).await;
    let bench = Bench::on(store.clone(), Manual::at(super::wall(1))).await;
    let (lead, worker) = bench.pair().await;
    let ask = bench.ask(&worker, "which store?").await;
    line.silence();
    let request = fresh();
    let answer =
        || bench.service.answer_agent(&lead.caller, request.clone(), ask.id, ask.digest, yes());
    let away = timeout(NOTICED, answer()).await.expect("it is noticed");
    if let Err(error) = away {
        let is_away = matches!(error, Error::Unavailable(Reason::StoreUnavailable, ..));
        assert!(is_away, "{error:?}");
        eventually(async || answer().await.is_ok()).await;
    }
    assert!(!bench.get(ask.id).await.is_open());
    bench.stop().await;
}

/// Of several hosts the one that answers is taken, whatever the first of them does.
#[tokio::test]
async fn a_silent_host_holds_up_nobody_who_waits_for_another() {
    let cluster = Cluster::shared();
    let url = cluster.database("t");
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let all = [silent.local_addr().unwrap(), closed, cluster.address()];
    // One after another, the second would never be asked: the first one's silence ends the try.
    let store = opened(&by(&url, &all)).await;
    assert_eq!(store.load(&[Key::Clock]).await, Ok(vec![None]));
    // It was tried as well, and is not done with yet.
    timeout(PATIENCE, silent.accept()).await.expect("all are tried at once").unwrap();
}

/// A primary that becomes one that is only read from is left, also by those who only read: what they see
/// there would be old for ever.
#[tokio::test(flavor = "multi_thread")]
async fn a_primary_that_is_only_read_from_is_left_until_it_may_be_written_to() {
    let cluster = Cluster::start("", &[]);
    let url = cluster.database("t");
    let store = opened(&url).await;
    let reads = async || store.load(&[Key::Clock]).await.is_ok();
    let writes = async || store.commit(clock()).await.is_ok();
    assert!(reads().await && writes().await);
    let set = |on: &str| {
        let only_read = format!("alter system set default_transaction_read_only = {on}");
        cluster.sql("postgres", &only_read);
        cluster.sql("postgres", "select pg_reload_conf()");
    };
    set("on");
    let left = async || matches!(store.load(&[Key::Clock]).await, Err(Fault::Unavailable(_)));
    eventually(left).await;
    assert!(!writes().await);
    let why = Postgres::open(&url).await.expect_err("nothing can be written").to_string();
    assert!(why.contains("does not allow writes"), "{why}");
    set("off");
    eventually(async || reads().await && writes().await).await;
}

fn clock() -> Batch {
    let mark = askway::store::ClockMark {
        service: super::wall(0),
        boot: "b".into(),
        since_boot: 1,
        awake_since: Default::default(),
    };
    Batch { changes: Vec::new(), mark: Some(mark) }
}

/// Whoever waits while a connection is tried takes what comes of that: a hundred do not wait for a
/// hundred tries in a line.
#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_callers_of_a_database_that_is_away_wait_as_long_as_one() {
    let cluster = Cluster::shared();
    let url = cluster.database("t");
    let line = Line::to(cluster.address()).await;
    let store = opened(&by(&url, &[line.port])).await;
    let number = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    // From now on nobody is let in, and nobody is told.
    line.deafen();
    line.cut();
    let callers = (0..100).map(|_| {
        let (store, number) = (store.clone(), number.clone());
        async move {
            let loaded = store.load(&[Key::Clock]).await;
            number.fetch_add(usize::from(loaded.is_err()), std::sync::atomic::Ordering::Relaxed);
        }
    });
    let all = futures_util::future::join_all(callers);
    // One try takes five seconds, and each of them takes part in two at most.
    timeout(Duration::from_secs(60), all).await.expect("nobody waits in a line");
    assert_eq!(number.load(std::sync::atomic::Ordering::Relaxed), 100);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replica_goes_on_after_every_session_of_it_was_ended_at_once() {
    let url = Cluster::shared().database("t");
    let bench = replica(&url, 1).await;
    let (_, worker) = bench.pair().await;
    let ends = "select count(pg_terminate_backend(pid)) > 0 from pg_stat_activity \
                where datname = current_database() and application_name = 'askway'";
    for number in 0..3 {
        assert_eq!(Cluster::shared().sql(super::name_of(&url), ends), "t");
        let question = format!("which store {number}?");
        eventually(async || bench.file(&worker, draft(&question)).await.is_ok()).await;
    }
    bench.stop().await;
}
