//! Whether a call costs the same where much is stored, and how long a start takes then.

use super::{Daemon, Goal, Report, Scale, cast, median};
use crate::cast::{ASKS_A_SESSION, CHANNELS};
use askway::client::Client;
use askway::grpc::v1;
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// Asks that are stored where little is.
const FEW: usize = 1_000;
/// Callers at once: a busy machine, not a stampede.
const CALLERS: usize = 64;
/// Asks of each of them in one repetition.
const EACH: usize = 16;

pub async fn figures(scale: Scale, report: &mut Report) {
    let mut daemon = Daemon::start("");
    let channels = cast::channels(&daemon, CHANNELS);
    let people: Vec<_> = (0..CHANNELS).map(|_| daemon.owner()).collect();

    fill(&channels, FEW).await;
    let few = cost(&channels, &people, scale, &mut Vec::new()).await;
    let began = Instant::now();
    let mut old = fill(&channels, scale.stored).await;
    report.figure(
        "fill",
        scale.stored as f64 / began.elapsed().as_secs_f64(),
        "asks/s",
        Goal::None,
    );
    let recent = cost(&channels, &people, scale, &mut Vec::new()).await;
    let random = cost(&channels, &people, scale, &mut old).await;
    report.figure("flat_1k_1m_recent", recent / few, "ratio", Goal::AtMost(1.6));
    report.figure("flat_1k_1m_old", random / few, "ratio", Goal::AtMost(2.5));
    report.figure("stored_memory", daemon.memory() / (1 << 20) as f64, "MiB", Goal::None);

    // Made before the kill: enrolling is not what is waited for.
    let token = cast::token(&channels[0]).await;
    daemon.kill();
    let began = Instant::now();
    daemon.restart();
    report.figure("restart_1m_ready", began.elapsed().as_secs_f64(), "s", Goal::None);
    let session = daemon.host().with_token(token);
    cast::ask(&session).await;
    report.figure("restart_1m", began.elapsed().as_secs_f64(), "s", Goal::AtMost(1.0));
    cast::until(async || session.list_asks(v1::AskScope::Mine).await.is_ok()).await;
    report.figure("restart_1m_lists", began.elapsed().as_secs_f64(), "s", Goal::AtMost(3.0));
}

/// Seconds of an ask and its answer, or, where there are old ones, of an ask and the answer to a
/// random one of those.
async fn cost(channels: &[Client], people: &[Client], scale: Scale, old: &mut Vec<v1::Ask>) -> f64 {
    let mut costs = Vec::new();
    for _ in 0..scale.repetitions {
        let sessions = cast::sessions(channels, CALLERS * EACH.div_ceil(ASKS_A_SESSION)).await;
        let each = sessions.len() / CALLERS;
        let took = cast::burst(CALLERS, |caller| {
            let mine: Vec<_> = sessions[caller * each..(caller + 1) * each].to_vec();
            let person = people[caller % people.len()].clone();
            let olds: Vec<_> = (0..EACH).filter_map(|_| take_any(old)).collect();
            async move {
                let mut olds = olds.into_iter();
                for number in 0..EACH {
                    let ask = cast::ask(&mine[number / ASKS_A_SESSION]).await;
                    cast::answer(&person, &olds.next().unwrap_or(ask)).await;
                }
            }
        });
        costs.push(took.await / (CALLERS * EACH) as f64);
    }
    median(&costs)
}

/// One of them, wherever it stands.
fn take_any(old: &mut Vec<v1::Ask>) -> Option<v1::Ask> {
    let length = old.len();
    // A step that shares no factor with any length here walks all over it.
    (length > 0).then(|| old.swap_remove((length / 2).wrapping_mul(7_919) % length))
}

/// Files until `amount` are open; gives a part of them, ids and digests only.
async fn fill(channels: &[Client], amount: usize) -> Vec<v1::Ask> {
    /// Sessions made at once: their clients are held only while they ask.
    const WAVE: usize = 4_096;
    /// One in so many is kept to be answered later.
    const KEPT: usize = 16;
    let kept = Arc::new(Mutex::new(Vec::new()));
    let mut sessions = amount.div_ceil(ASKS_A_SESSION);
    while sessions > 0 {
        let wave = sessions.min(WAVE);
        sessions -= wave;
        let made = cast::sessions(channels, wave).await;
        let callers = cast::CALLERS.min(wave);
        cast::burst(callers, |caller| {
            let mine: Vec<_> = made.iter().skip(caller).step_by(callers).cloned().collect();
            let kept = kept.clone();
            async move {
                for (number, session) in mine.into_iter().enumerate() {
                    for turn in 0..ASKS_A_SESSION {
                        let v1::Ask { id, content_digest, .. } = cast::ask(&session).await;
                        if (caller + number * ASKS_A_SESSION + turn).is_multiple_of(KEPT) {
                            let ask = v1::Ask { id, content_digest, ..Default::default() };
                            kept.lock().expect("no caller panics").push(ask);
                        }
                    }
                }
            }
        })
        .await;
    }
    cast::all_of(kept)
}
