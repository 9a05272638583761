//! The figures, a file for each kind.

mod disk;
mod flat;
mod throughput;
mod timers;
mod waiters;

use super::Scale;
use super::cast;
use super::daemon::Daemon;
use super::disk::syncs;
use super::echo::{self, Echo};
use super::report::{Goal, Report, median, share};
use std::time::Instant;

/// What cannot be beaten, measured beside everything.
pub struct Limits {
    pub echo: Echo,
    pub channels: Vec<tonic::transport::Channel>,
}

impl Limits {
    fn start() -> Self {
        let echo = Echo::start();
        let channels = (0..cast::CHANNELS).map(|_| echo.channel()).collect();
        Self { echo, channels }
    }

    /// Calls a second, with the callers and connections of every burst.
    async fn echo_rate(&self, calls: usize) -> f64 {
        let took = cast::burst(cast::CALLERS, |caller| {
            let channel = self.channels[caller % self.channels.len()].clone();
            async move {
                for _ in 0..calls {
                    echo::call(&channel).await;
                }
            }
        });
        (cast::CALLERS * calls) as f64 / took.await
    }

    /// Seconds of each of `steps` single calls.
    async fn echo_steps(&self, steps: usize) -> Vec<f64> {
        let channel = self.echo.channel();
        let mut took = Vec::with_capacity(steps);
        for _ in 0..steps {
            let began = Instant::now();
            echo::call(&channel).await;
            took.push(began.elapsed().as_secs_f64());
        }
        took
    }
}

/// The limits as they are at one time.
struct Ground {
    echo_rate: f64,
    echo_step: f64,
    sync: f64,
}

async fn ground(limits: &Limits, scale: Scale) -> Ground {
    // A folder of its own: another run may measure beside this one.
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let synced = syncs(folder.path(), scale.steps).expect("the disk takes it");
    // The first burst makes the connections.
    limits.echo_rate(1).await;
    let mut rates = Vec::new();
    for _ in 0..scale.repetitions {
        rates.push(limits.echo_rate(scale.calls).await);
    }
    let echo_step = median(&limits.echo_steps(scale.steps).await);
    Ground { echo_rate: median(&rates), echo_step, sync: median(&synced) }
}

/// Measures all of them, or those whose names contain `only`.
pub async fn all(scale: Scale, only: Option<&str>, report: &mut Report) {
    let wanted = |names: &[&str]| only.is_none_or(|only| names.iter().any(|n| n.contains(only)));
    let limits = Limits::start();
    let before = ground(&limits, scale).await;
    report.figure("echo_calls", before.echo_rate, "calls/s", Goal::None);
    report.figure("echo_p50", before.echo_step * 1e6, "us", Goal::None);
    report.figure("sync_p50", before.sync * 1e6, "us", Goal::None);
    if wanted(&["binary", "rss_empty", "disk_per_ask", "written_per_byte", "syncs_per_1000"]) {
        disk::figures(scale, report).await;
    }
    if wanted(&["ask_vs_echo", "roundtrips_1000_vs_echo"]) {
        throughput::figures(scale, &limits, report).await;
    }
    if wanted(&["wake_vs_limit", "wake_100k", "idle_waiter_bytes", "idle_cpu"]) {
        waiters::figures(scale, &limits, report).await;
    }
    if wanted(&["flat_1k_1m", "restart_1m"]) {
        flat::figures(scale, report).await;
    }
    if wanted(&["timers_1m"]) {
        timers::figures(scale, report).await;
    }
    let after = ground(&limits, scale).await;
    report.limit("echo_calls", before.echo_rate, after.echo_rate);
    report.limit("echo_p50", before.echo_step, after.echo_step);
    report.limit("sync_p50", before.sync, after.sync);
}
