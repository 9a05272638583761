//! The database's own machine is lost: its standby, which has all that was acknowledged, is made the
//! primary, and everybody goes on by themselves.

use super::load::{WORKERS, begin, hold, is_there, seed, worker};
use super::replicas::cluster::{Cluster, name_of};
use super::replicas_fleet::Fleet;
use super::replicas_killed::finish;
use std::sync::atomic::Ordering;
use tokio::task::{JoinSet, block_in_place};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_acknowledged_outlives_the_primary_and_clients_are_back_by_themselves() {
    let seed = seed();
    eprintln!("ASKWAY_SEED={seed}");
    let (mut primary, standby, url) = block_in_place(|| {
        let primary = Cluster::start("", &[]);
        let name = name_of(&primary.database("m")).to_owned();
        let standby = primary.standby();
        let both = [primary.address(), standby.address()].map(|at| at.to_string()).join(",");
        (primary, standby, format!("postgres://askway@{both}/{name}"))
    });
    let fleet = Fleet::start(2, &url, &["--route-timeout", "200ms"]).await;
    let (load, lead) = begin(&fleet.host(), fleet.owner(), true, seed).await;
    let holding = tokio::spawn(hold(load.clone(), lead));
    let mut workers = JoinSet::new();
    for number in 0..WORKERS {
        workers.spawn(worker(load.clone(), number));
    }
    load.reaches(60).await;
    block_in_place(|| primary.kill());
    let known = load.known.lock().unwrap().clone();
    block_in_place(|| standby.sql("postgres", "select pg_promote()"));
    is_there(&load.owner, &known).await;
    let more = load.acknowledged.load(Ordering::Relaxed) + 60;
    load.reaches(more).await;
    finish(&load, workers).await;
    assert!(!holding.is_finished(), "the lead's hold ended by itself");
    holding.abort();
    let asks = load.known.lock().unwrap().len();
    let acknowledged = load.acknowledged.load(Ordering::Relaxed);
    println!("moved: known={} asks={asks} acknowledged={acknowledged} violations=0", known.len());
}
