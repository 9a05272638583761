//! What is written and kept of an ask, and what the program itself takes.

use super::{Daemon, Goal, Report, Scale, cast};
use crate::cast::{ASKS_A_SESSION, CALLERS, CHANNELS, SIZES};

/// Callers of what is counted in bytes.
const SOME: usize = 64;

pub async fn figures(scale: Scale, report: &mut Report) {
    let megabytes = f64::from(1 << 20);
    report.figure("binary", Daemon::program() / 1e6, "MB", Goal::AtMost(14.0));
    let daemon = Daemon::start("");
    // A call, so that everything it needs is there.
    daemon.owner().status().await.expect("it serves");
    report.figure("rss_empty", daemon.memory() / megabytes, "MB", Goal::AtMost(24.0));

    let channels = cast::channels(&daemon, CHANNELS);
    let each = scale.calls.div_ceil(ASKS_A_SESSION);
    let sessions = cast::sessions(&channels, SOME * each).await;
    let amount = (sessions.len() * ASKS_A_SESSION) as f64;
    let (written, kept) = (daemon.written(), daemon.kept());
    let person = daemon.owner();
    let asks = cast::file(&sessions, SOME).await;
    let written = (daemon.written() - written) / (amount * SIZES.0 as f64);
    report.figure("written_per_byte", written, "ratio", Goal::AtMost(6.0));
    for few in asks.chunks(SOME) {
        cast::burst(few.len(), |number| {
            let (person, ask) = (person.clone(), few[number].clone());
            async move { cast::answer(&person, &ask).await }
        })
        .await;
    }
    let kept = (daemon.kept() - kept) / (amount * (SIZES.0 + SIZES.1) as f64);
    report.figure("disk_per_ask", kept, "ratio", Goal::AtMost(2.0));

    let sessions = cast::sessions(&channels, CALLERS).await;
    let counted = daemon.syncs_during(async {
        cast::file(&sessions, CALLERS).await;
    });
    if let Some(syncs) = counted.await {
        let asks = (sessions.len() * ASKS_A_SESSION) as f64;
        report.figure("syncs_per_1000", syncs * 1e3 / asks, "calls", Goal::AtMost(20.0));
    } else {
        eprintln!("syncs_per_1000 needs strace, and leave to use it; it was not measured");
    }
}
