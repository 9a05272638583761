//! What a waiter costs and how soon it is woken, alone and among many.

use super::{Daemon, Goal, Limits, Report, Scale, cast, median, share, syncs};
use crate::cast::{ASKS_A_SESSION, CALLERS, CHANNELS};
use askway::client::{Client, Watch, Watched};
use askway::grpc::v1;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

pub async fn figures(scale: Scale, limits: &Limits, report: &mut Report) {
    let daemon = Daemon::start("");
    let channels = cast::channels(&daemon, CHANNELS);
    let (watchers, connections) = scale.watchers;

    // The middle one of interleaved repetitions, each against the limits beside it.
    let mut ratios = Vec::new();
    for _ in 0..scale.repetitions {
        let echo = median(&limits.echo_steps(scale.steps).await);
        let sync = median(&syncs(daemon.folder(), scale.steps).expect("the disk takes it"));
        let woken = wakes(&daemon, &channels, scale.steps).await;
        ratios.push(median(&woken) / (echo + sync));
    }
    report.figure("wake_vs_limit", median(&ratios), "ratio", Goal::AtMost(3.0));

    // An ask for each watcher, as where every agent waits for its own.
    let sessions = cast::sessions(&channels, watchers.div_ceil(ASKS_A_SESSION)).await;
    let asks = cast::file(&sessions, CALLERS).await;
    let alone = share(&wakes(&daemon, &channels, scale.steps).await, 0.99);
    let before = daemon.memory();
    let waiting = attach(&daemon, connections, watchers, &asks).await;
    let each = (daemon.memory() - before) / watchers as f64;
    report.figure("idle_waiter_bytes", each, "bytes", Goal::AtMost(4_096.0));
    report.figure("waiters_memory", daemon.memory() / (1 << 20) as f64, "MiB", Goal::None);

    let among = share(&wakes(&daemon, &channels, scale.steps).await, 0.99);
    report.figure("wake_100k", among / alone, "ratio", Goal::AtMost(2.0));

    let (began, used) = (Instant::now(), daemon.processor());
    tokio::time::sleep(Duration::from_secs(scale.idle_seconds)).await;
    let used = (daemon.processor() - used) / began.elapsed().as_secs_f64();
    report.figure("idle_cpu", used * 100.0, "percent", Goal::AtMost(1.0));
    drop(waiting);
}

/// Seconds from the sending of an answer to its waiter woken, one at a time.
async fn wakes(daemon: &Daemon, channels: &[Client], steps: usize) -> Vec<f64> {
    let session = cast::sessions(channels, 1).await.remove(0);
    let person = daemon.owner();
    let mut took = Vec::with_capacity(steps);
    for _ in 0..steps {
        let ask = cast::ask(&session).await;
        let mut watch = cast::watch(&session, &ask).await;
        let began = Instant::now();
        let woken = async {
            cast::woken(&mut watch).await;
            began.elapsed().as_secs_f64()
        };
        let ((), seconds) = tokio::join!(cast::answer(&person, &ask), woken);
        took.push(seconds);
    }
    took
}

/// `watchers` watches, each of an ask of its own, over `connections` connections.
async fn attach(
    daemon: &Daemon,
    connections: usize,
    watchers: usize,
    asks: &[v1::Ask],
) -> Vec<Watch<Watched>> {
    let people: Vec<_> = (0..connections).map(|_| daemon.owner()).collect();
    let waiting = Arc::new(Mutex::new(Vec::with_capacity(watchers)));
    let callers = CALLERS.min(watchers);
    let asks: Arc<[v1::Ask]> = asks.into();
    cast::burst(callers, |caller| {
        let (waiting, asks, people) = (waiting.clone(), asks.clone(), people.clone());
        async move {
            for number in (caller..watchers).step_by(callers) {
                let person = &people[number % people.len()];
                let watch = cast::watch(person, &asks[number % asks.len()]).await;
                waiting.lock().expect("no caller panics").push(watch);
            }
        }
    })
    .await;
    cast::all_of(waiting)
}
