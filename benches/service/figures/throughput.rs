//! How many durable asks and whole roundtrips a second, against the echo with the same callers.

use super::{Daemon, Goal, Limits, Report, Scale, cast, median};
use crate::cast::{ASKS_A_SESSION, CALLERS, CHANNELS};
use std::time::Instant;

/// Asks that are open at once in a roundtrip.
const OPEN: usize = 1_000;

pub async fn figures(scale: Scale, limits: &Limits, report: &mut Report) {
    let daemon = Daemon::start("");
    let channels = cast::channels(&daemon, CHANNELS);
    asks(scale, limits, &daemon, &channels, report).await;
    roundtrips(scale, limits, &daemon, &channels, report).await;
}

async fn asks(
    scale: Scale,
    limits: &Limits,
    daemon: &Daemon,
    channels: &[askway::client::Client],
    report: &mut Report,
) {
    let (mut ratios, mut rates, mut spent) = (Vec::new(), Vec::new(), Vec::new());
    let each = scale.calls.div_ceil(ASKS_A_SESSION);
    for _ in 0..scale.repetitions {
        let sessions = cast::sessions(channels, CALLERS * each).await;
        let echo = limits.echo_rate(scale.calls).await;
        let before = daemon.processors();
        let took = cast::burst(CALLERS, |caller| {
            let mine: Vec<_> = sessions[caller * each..(caller + 1) * each].to_vec();
            async move {
                for session in mine {
                    for _ in 0..ASKS_A_SESSION {
                        cast::ask(&session).await;
                    }
                }
            }
        });
        let amount = (CALLERS * each * ASKS_A_SESSION) as f64;
        let rate = amount / took.await;
        spent.push(each_took(before, daemon.processors(), amount));
        rates.push(rate);
        ratios.push(rate / echo);
    }
    report.figure("asks", median(&rates), "calls/s", Goal::None);
    processor("ask", &spent, report);
    report.figure("ask_vs_echo", median(&ratios), "ratio", Goal::AtLeast(0.5));
}

async fn roundtrips(
    scale: Scale,
    limits: &Limits,
    daemon: &Daemon,
    channels: &[askway::client::Client],
    report: &mut Report,
) {
    let sessions = cast::sessions(channels, OPEN).await;
    let people: Vec<_> = (0..CHANNELS).map(|_| daemon.owner()).collect();
    let rounds = (scale.calls / 8).max(2);
    let (mut ratios, mut rates, mut spent) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..scale.repetitions {
        let echo = limits.echo_rate(scale.calls).await;
        let before = daemon.processors();
        let began = Instant::now();
        cast::burst(OPEN, |slot| {
            let (session, person) = (sessions[slot].clone(), people[slot % CHANNELS].clone());
            async move {
                for _ in 0..rounds {
                    let ask = cast::ask(&session).await;
                    let mut watch = cast::watch(&session, &ask).await;
                    cast::answer(&person, &ask).await;
                    cast::woken(&mut watch).await;
                }
            }
        })
        .await;
        let rate = (OPEN * rounds) as f64 / began.elapsed().as_secs_f64();
        spent.push(each_took(before, daemon.processors(), (OPEN * rounds) as f64));
        rates.push(rate);
        ratios.push(rate / (echo / 2.0));
    }
    report.figure("roundtrips", median(&rates), "a second", Goal::None);
    processor("roundtrip", &spent, report);
    report.figure("roundtrips_1000_vs_echo", median(&ratios), "ratio", Goal::AtLeast(0.45));
}

/// Microseconds of processor that each of `amount` took: the daemon's, and this program's.
fn each_took(before: (f64, f64), after: (f64, f64), amount: f64) -> (f64, f64) {
    ((after.0 - before.0) * 1e6 / amount, (after.1 - before.1) * 1e6 / amount)
}

/// Says what each took. A busy neighbour changes it less than how long it took.
fn processor(what: &str, spent: &[(f64, f64)], report: &mut Report) {
    let (daemon, caller): (Vec<f64>, Vec<f64>) = spent.iter().copied().unzip();
    report.figure(format!("{what}_processor"), median(&daemon), "us", Goal::None);
    report.figure(format!("{what}_processor_caller"), median(&caller), "us", Goal::None);
}
