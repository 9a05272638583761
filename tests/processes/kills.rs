//! SIGKILL of the daemon under load, fifty times, or for `ASKWAY_SECONDS` where that is longer: what was
//! acknowledged is there, nothing is settled twice, timers that came due meanwhile fire, and watchers
//! and holds take themselves up again.

use super::daemon::Daemon;
use super::load::{
    Load, WORKERS, begin, child, for_long, histories, hold, is_there, lateness, millis, news,
    question, seed, with_the_owner, withdraw, worker,
};
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio::task::{JoinSet, block_in_place};

const KILLS: usize = 50;
const ROUTE_TIMEOUT: Duration = Duration::from_millis(200);

/// How much happened; too little proves nothing.
fn enough(load: &Load, kills: usize, asks: usize, overdue: usize, mut late: Vec<i64>) {
    late.sort_unstable();
    let (median, worst) = (late[late.len() / 2], late[late.len() - 1]);
    let count = |counter: &AtomicUsize| counter.load(Ordering::Relaxed);
    let (acknowledged, resumed) = (count(&load.acknowledged), count(&load.resumed));
    let (held, replays) = (count(&load.held_again), count(&load.replays));
    println!(
        "kill: kills={kills} asks={asks} acknowledged={acknowledged} resumed={resumed} holds={held} \
         replays={replays} overdue={overdue} late_median_ms={median} late_worst_ms={worst} violations=0"
    );
    assert!(asks > 2 * kills && acknowledged > 6 * kills, "too little load");
    assert!(resumed > kills / 4 && held > kills && replays > kills, "too little was cut");
    // Rule 3, of most of them: a busy machine may stop the daemon for longer than that.
    assert!(median <= 1_000, "timers fire too late: {late:?}");
    assert!(overdue >= kills / 10, "too few timers came due while nobody was there");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_fifty_times_under_load_it_loses_nothing_and_settles_nothing_twice() {
    let (seed, begun) = (seed(), Instant::now());
    let for_long = for_long();
    eprintln!("ASKWAY_SEED={seed}");
    // One tree asks faster here than one may.
    let file = "[limits]\nasks_a_minute = 1000000\n";
    let mut daemon = Daemon::start_with(file, &["--route-timeout", "200ms", "--log", "error"]);
    let (load, lead) = begin(&daemon.client(None), daemon.owner(), true, seed).await;
    let silent = child(&load.lead).await.client;
    let holding = tokio::spawn(hold(load.clone(), lead));
    let mut workers = JoinSet::new();
    for number in 0..WORKERS {
        workers.spawn(worker(load.clone(), number));
    }

    let (mut overdue, mut late, mut checked) = (0, Vec::new(), HashMap::new());
    let mut kills = 0;
    while kills < KILLS || begun.elapsed() < for_long {
        let kill = kills;
        kills += 1;
        let more = 4 + load.random(8) as usize;
        load.reaches(load.acknowledged.load(Ordering::Relaxed) + more).await;
        // Every other time somebody has asked what nobody answers.
        let mut unanswered = None;
        if kill % 2 == 0 {
            let filed = silent.ask(question(format!("nobody answers {kill}?"))).await;
            unanswered = filed.expect("an ask is filed").ask;
        }
        let due = Instant::now() + ROUTE_TIMEOUT;
        block_in_place(|| daemon.kill());
        // What was acknowledged before the daemon went is there when it is back.
        let known = load.known.lock().unwrap().clone();
        if kill % 4 == 0 {
            overdue += usize::from(Instant::now() < due);
            // It comes due while nobody is there to see.
            while Instant::now() < due {
                tokio::task::yield_now().await;
            }
        }
        block_in_place(|| daemon.restart());
        is_there(&load.owner, &news(&known, &checked)).await;
        checked = known;
        if let Some(ask) = unanswered {
            with_the_owner(&load.owner, &ask.id).await;
            let start = load.owner.status().await.expect("a status").start_time;
            let start = millis(start.expect("it has started"));
            late.push(lateness(&load.owner, &ask, start).await);
            withdraw(&load, &silent, &ask).await;
        }
        while let Some(ended) = workers.try_join_next() {
            ended.expect("a worker fails before the end");
        }
    }
    load.stop.store(true, Ordering::Relaxed);
    while let Some(ended) = workers.join_next().await {
        ended.expect("a worker");
    }
    assert!(!holding.is_finished(), "the lead's hold ended by itself");
    holding.abort();

    let known = load.known.lock().unwrap().clone();
    is_there(&load.owner, &known).await;
    histories(&load.owner, &known).await;
    enough(&load, kills, known.len(), overdue, late);
}
