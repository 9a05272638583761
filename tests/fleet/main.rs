//! Several replicas of the engine over one store, in one thread: a store in memory that many reach, each by a
//! way of its own, with conflicts, commits of which nobody learns what became of them, stalls, partitions, and
//! hints that are lost or late, all by a seed. Time is paused, and passes where nobody has anything to do.
//! What was acknowledged is there and was done once, nothing is settled twice, whoever waits sees every event
//! once and in order, and timers fire when they are promised to.
//!
//! By itself it runs two seeds of three replicas and a thousand waiters, each twice in a process of its own:
//! both must come to the same trace. `ASKWAY_SEED` is the seed of one run, `ASKWAY_SECONDS` how long others
//! follow; `ASKWAY_REPLICAS` and `ASKWAY_WAITERS` are how many. `scripts/prove replicas` calls it.

mod callers;
mod check;
mod run;
#[path = "../shared/seeds.rs"]
mod seeds;
mod store;
mod watchers;
mod world;

use rand::SeedableRng;
use rand::rngs::StdRng;
use seeds::{Called, Came, by_chance, called, seconds_now, set, twice};
use std::process::ExitCode;
use std::thread;

/// What this test is called.
const NAME: &str = "fleet_several_replicas_over_one_store_keep_their_promises";
/// Seeds of the short form.
const SEEDS: u64 = 2;

fn main() -> ExitCode {
    match called(NAME) {
        Called::One(seed) => one(seed),
        Called::Many => many(),
        Called::Nothing => ExitCode::SUCCESS,
    }
}

/// One run, in a thread whose hash keys and chance are those of the seed.
fn one(seed: u64) -> ExitCode {
    mad_turmoil::rand::set_rng(StdRng::seed_from_u64(seed));
    let (replicas, waiters) = size();
    let ran = thread::spawn(move || run::run(seed, replicas, waiters)).join();
    match ran {
        Ok(counts) => {
            println!("{counts}");
            ExitCode::SUCCESS
        }
        Err(_) => ExitCode::FAILURE,
    }
}

fn size() -> (usize, usize) {
    (set("ASKWAY_REPLICAS").unwrap_or(3) as usize, set("ASKWAY_WAITERS").unwrap_or(1_000) as usize)
}

/// Runs the short form, or for as long as it is told; says what came of it.
fn many() -> ExitCode {
    let (given, length) = (set("ASKWAY_SEED"), set("ASKWAY_SECONDS"));
    let first = given.unwrap_or_else(by_chance);
    let begun = seconds_now();
    let (mut sum, mut seeds) = (Came::new(), 0);
    loop {
        let seed = first.wrapping_add(seeds);
        match twice(seed) {
            Ok(came) => add(&mut sum, &came),
            Err(why) => {
                eprintln!("{why}\nASKWAY_SEED={seed}");
                println!("fleet: seeds={seeds} violations=1");
                // As a test that fails says it.
                return ExitCode::from(101);
            }
        }
        seeds += 1;
        let is_over = match length {
            Some(length) => seconds_now() - begun >= length,
            None => seeds == if given.is_some() { 1 } else { SEEDS },
        };
        if is_over {
            break;
        }
    }
    let (replicas, waiters) = size();
    let counts = sum.iter().filter(|(name, _)| *name != "trace" && *name != "violations");
    let counts: Vec<_> = counts.map(|(name, count)| format!("{name}={count}")).collect();
    let counts = counts.join(" ");
    println!("fleet: seeds={seeds} replicas={replicas} waiters={waiters} {counts} violations=0");
    // A run in which little happened proves little.
    let least = ["conflicts", "hints_late", "hints_lost", "resumed", "stalls", "unknown"];
    match least.into_iter().find(|name| sum.get(*name).is_none_or(|count| *count < seeds)) {
        Some(name) => {
            eprintln!("too little happened: {name}\nASKWAY_SEED={first}");
            ExitCode::FAILURE
        }
        None => ExitCode::SUCCESS,
    }
}

fn add(sum: &mut Came, came: &Came) {
    for (name, count) in came {
        let sum = sum.entry(name.clone()).or_default();
        *sum = match name.as_str() {
            "late_worst_ms" | "waiting_most" => (*sum).max(*count),
            "trace" => *sum ^ count,
            _ => *sum + count,
        };
    }
}
