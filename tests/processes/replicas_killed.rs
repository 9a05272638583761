//! Three replicas under load, of which one after another is killed, stopped for a while, or restarted as a
//! new version would be: what was acknowledged is there, nothing is settled twice, timers fire, watchers
//! go on. Three rounds, or as many as `ASKWAY_SECONDS` takes.

use super::daemon::PATIENCE;
use super::load::{
    Load, WORKERS, begin, child, for_long, histories, hold, is_there, lateness, news, question,
    seed, with_the_owner, withdraw, worker,
};
use super::replicas::cluster::{Cluster, name_of};
use super::replicas_fleet::Fleet;
use askway::client::Client;
use askway::grpc::v1;
use rustix::process::Signal;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;
use tokio::task::{JoinSet, block_in_place};

const REPLICAS: usize = 3;
const ROUNDS: usize = 3;
/// How late a timer may be, in milliseconds: six seconds are promised where its replica died or stands still,
/// and the rest is for a machine that is busy with other things.
const LATE_AT_MOST: i64 = 6_000 + 30_000;

/// What is done to the replicas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Deed {
    Kill,
    Stop,
    Roll,
}

#[derive(Debug, Default)]
struct Counts {
    rounds: usize,
    kills: usize,
    stops: usize,
    restarts: usize,
}

/// Waits until so many more were acknowledged by whoever is left.
async fn goes_on(load: &Load, more: usize) {
    load.reaches(load.acknowledged.load(Ordering::Relaxed) + more).await;
}

async fn kill(fleet: &mut Fleet, load: &Load, number: usize) {
    fleet.kill(number);
    goes_on(load, 8).await;
    fleet.restart(number);
}

/// Its clients wait for it until the balancer takes it out; it goes on with whatever it had begun. Where it
/// stands still for `long`, that is once the others have taken it for gone.
async fn stop(fleet: &mut Fleet, load: &Load, number: usize, url: &str, long: bool) {
    fleet.daemons[number].signal(Signal::STOP);
    goes_on(load, 4).await;
    fleet.take_out(number, true);
    goes_on(load, 8).await;
    if long {
        are_at_most(REPLICAS - 1, url).await;
    }
    fleet.daemons[number].signal(Signal::CONT);
    fleet.put_in(number);
}

/// Waits until so many replicas at most are taken for being there.
async fn are_at_most(count: usize, url: &str) {
    let sql = "select count(*) from askway.replicas \
               where seen > (extract(epoch from clock_timestamp()) * 1000)::int8 - 10000";
    let here = || Cluster::shared().sql(name_of(url), sql).parse::<usize>().expect("a number");
    let begun = Instant::now();
    while block_in_place(here) > count {
        assert!(begun.elapsed() < PATIENCE, "who stands still is taken for being there");
        tokio::task::yield_now().await;
    }
}

/// One after another, each once the one before it is there again.
async fn roll(fleet: &mut Fleet, load: &Load) {
    for number in 0..REPLICAS {
        fleet.take_out(number, false);
        fleet.daemons[number].signal(Signal::TERM);
        let ended = block_in_place(|| fleet.daemons[number].wait());
        assert!(ended.success(), "it stops in its own time: {ended}");
        goes_on(load, 4).await;
        fleet.restart(number);
    }
}

/// What a round leaves: an ask that nobody answers is with the owner, as late as is given.
async fn moved(load: &Load, asker: &Client, ask: &v1::Ask) -> i64 {
    with_the_owner(&load.owner, &ask.id).await;
    let late = lateness(&load.owner, ask, 0).await;
    withdraw(load, asker, ask).await;
    late
}

fn enough(load: &Load, counts: &Counts, asks: usize, mut late: Vec<i64>) {
    late.sort_unstable();
    let (median, worst) = (late[late.len() / 2], late[late.len() - 1]);
    let count = |counter: &std::sync::atomic::AtomicUsize| counter.load(Ordering::Relaxed);
    let (acknowledged, resumed) = (count(&load.acknowledged), count(&load.resumed));
    let (held, replays) = (count(&load.held_again), count(&load.replays));
    let &Counts { rounds, kills, stops, restarts } = counts;
    println!(
        "replicas: rounds={rounds} kills={kills} stops={stops} restarts={restarts} asks={asks} \
         acknowledged={acknowledged} resumed={resumed} holds={held} replays={replays} late_median_ms={median} \
         late_worst_ms={worst} violations=0"
    );
    assert!(worst < LATE_AT_MOST, "a timer was {worst} ms late");
    assert!(asks > 2 * rounds && acknowledged > 8 * rounds, "too little load");
    assert!(resumed > rounds / 4 && replays > rounds, "too little was cut");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn three_replicas_lose_nothing_and_settle_nothing_twice_whatever_happens_to_each() {
    let (seed, for_long, begun) = (seed(), for_long(), Instant::now());
    eprintln!("ASKWAY_SEED={seed}");
    let url = block_in_place(|| Cluster::shared().database("k"));
    let mut fleet = Fleet::start(REPLICAS, &url, &["--route-timeout", "200ms"]).await;
    let (load, lead) = begin(&fleet.host(), fleet.owner(), true, seed).await;
    let holding = tokio::spawn(hold(load.clone(), lead));
    let silent = child(&load.lead).await.client;
    let mut workers = JoinSet::new();
    for number in 0..WORKERS {
        workers.spawn(worker(load.clone(), number));
    }
    let (mut counts, mut late, mut checked) = (Counts::default(), Vec::new(), HashMap::new());
    while counts.rounds < ROUNDS || begun.elapsed() < for_long {
        goes_on(&load, 4 + load.random(8) as usize).await;
        let words = format!("nobody answers {}?", counts.rounds);
        let unanswered = silent.ask(question(words)).await.expect("an ask is filed").ask;
        let number = load.random(REPLICAS as u64) as usize;
        let deed = match (counts.rounds, load.random(3)) {
            (0, _) | (3.., 0) => Deed::Kill,
            (1, _) | (3.., 1) => Deed::Stop,
            _ => Deed::Roll,
        };
        let known = load.known.lock().unwrap().clone();
        match deed {
            Deed::Kill => {
                kill(&mut fleet, &load, number).await;
                counts.kills += 1;
            }
            Deed::Stop => {
                // Long ones where there is time for them.
                let long = !for_long.is_zero() && load.random(2) == 0;
                stop(&mut fleet, &load, number, &url, long).await;
                counts.stops += 1;
            }
            Deed::Roll => {
                roll(&mut fleet, &load).await;
                counts.restarts += REPLICAS;
            }
        }
        counts.rounds += 1;
        is_there(&load.owner, &news(&known, &checked)).await;
        checked = known;
        late.push(moved(&load, &silent, &unanswered.expect("the ask")).await);
        while let Some(ended) = workers.try_join_next() {
            ended.expect("a worker fails before the end");
        }
    }
    finish(&load, workers).await;
    assert!(!holding.is_finished(), "the lead's hold ended by itself");
    holding.abort();
    let known = load.known.lock().unwrap().clone();
    enough(&load, &counts, known.len(), late);
}

/// Ends the load, and looks at all of it.
pub async fn finish(load: &Arc<Load>, mut workers: JoinSet<()>) {
    load.stop.store(true, Ordering::Relaxed);
    while let Some(ended) = workers.join_next().await {
        ended.expect("a worker");
    }
    let known = load.known.lock().unwrap().clone();
    is_there(&load.owner, &known).await;
    histories(&load.owner, &known).await;
}
