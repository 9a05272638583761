//! Route timers by the thousand: how late those are that come due under load, and how fast those are
//! worked off that came due while no daemon ran.

use super::{Daemon, Goal, Report, Scale, cast, share};
use crate::cast::{ASKS_A_SESSION, CALLERS, CHANNELS};
use askway::client::Client;
use askway::grpc::v1;
use std::time::{Duration, Instant};

/// How many of those that came due under load are looked at.
const LOOKED_AT: usize = 1_000;
/// Asks filed and timed in one go before each part.
const LATE_SHARE: usize = 10;

pub async fn figures(scale: Scale, report: &mut Report) {
    late(scale, report).await;
    overdue(scale, report).await;
}

/// The settings of a daemon whose senders have so long.
fn route(seconds: u64) -> String {
    let hops =
        format!("{{ to = \"sender\", timeout = \"{seconds}s\" }}, {{ to = \"person:owner\" }}");
    format!("[route.default]\nhops = [{hops}]\n")
}

/// Those due under load: a tenth of them come due while asks are filed and answered.
async fn late(scale: Scale, report: &mut Report) {
    const SECONDS: f64 = 5.0;
    let daemon = Daemon::start(&route(SECONDS as u64));
    let channels = cast::channels(&daemon, CHANNELS);
    let amount = scale.timers / LATE_SHARE;
    let workers = cast::workers(&channels, amount.div_ceil(ASKS_A_SESSION)).await;
    let asks = cast::file(&workers, CALLERS).await;
    let load = cast::sessions(&channels, CALLERS).await;
    let owner = daemon.owner();
    let began = Instant::now();
    while began.elapsed().as_secs_f64() < SECONDS {
        cast::burst(64, |caller| {
            let (session, person) = (load[caller].clone(), owner.clone());
            async move {
                let ask = cast::ask(&session).await;
                cast::answer(&person, &ask).await;
            }
        })
        .await;
    }
    let mut late = Vec::new();
    let step = (asks.len() / LOOKED_AT).max(1);
    for v1::Ask { id, .. } in asks.iter().step_by(step) {
        let mut lateness = None;
        cast::until(async || {
            lateness = lateness_of(&owner, id, SECONDS).await;
            lateness.is_some()
        })
        .await;
        late.extend(lateness);
    }
    let p99 = share(&late, 0.99) * 1e3;
    report.figure("timers_1m_late_p99", p99, "ms", Goal::AtMost(250.0));
}

/// Seconds after its time at which it moved on; none while it has not.
async fn lateness_of(owner: &Client, id: &str, seconds: f64) -> Option<f64> {
    let ask = owner.get_ask(id).await.expect("it is there").ask?;
    let filed = seconds_of(ask.create_time.as_ref()?);
    let hop = ask.hop?;
    let moved = seconds_of(hop.since_time.as_ref()?);
    (hop.index > 0).then_some(moved - filed - seconds)
}

fn seconds_of(time: &prost_types::Timestamp) -> f64 {
    time.seconds as f64 + f64::from(time.nanos) / 1e9
}

/// All of them overdue at a start.
async fn overdue(scale: Scale, report: &mut Report) {
    // Longer than the filing takes, so that none comes due before.
    let seconds = 10 + scale.timers as u64 / 2_000;
    let mut daemon = Daemon::start(&route(seconds));
    let channels = cast::channels(&daemon, CHANNELS);
    let workers = cast::workers(&channels, scale.timers.div_ceil(ASKS_A_SESSION)).await;
    let asks = cast::file(&workers, CALLERS).await;
    let on_sessions = daemon.owner().status().await.expect("it says").waiting_on_sessions;
    assert_eq!(on_sessions as usize, asks.len(), "some were due before all were filed");
    daemon.kill();
    tokio::time::sleep(Duration::from_secs(seconds)).await;
    daemon.restart();
    let began = Instant::now();
    let owner = daemon.owner();
    cast::until(async || owner.status().await.is_ok_and(|status| status.waiting_on_sessions == 0))
        .await;
    let rate = asks.len() as f64 / began.elapsed().as_secs_f64();
    report.figure("timers_1m_overdue", rate, "a second", Goal::AtLeast(10_000.0));
}
