//! The whole service in one thread: the daemon's own gRPC layer, engine and file store, its callers, the
//! network, the disk and the clocks, all by a seed. One seed is one run, in a process of its own, and is
//! run twice: both must come to the same trace.
//!
//! By itself it makes a few runs. With `ASKWAY_SECONDS` it goes on for so long, or with `ASKWAY_HOURS` until
//! so many were simulated, from `ASKWAY_SEED` where that is set; `scripts/prove sim` calls it.
//! `ASKWAY_TRACE` prints what happens.

mod agents;
mod audit;
mod book;
mod calls;
mod checks;
mod clocks;
mod daemon;
mod disk;
#[allow(dead_code, reason = "the tests of the store use all of it")]
#[path = "../../src/store/fault/image.rs"]
mod image;
mod kept;
mod many;
mod network;
mod people;
mod run;
#[path = "../shared/seeds.rs"]
mod seeds;
mod watchers;
mod world;

use askway::store::suite::Dice;
use rand::SeedableRng;
use rand::rngs::StdRng;
use seeds::{Called, called};
use std::process::ExitCode;
use std::thread;

/// What this test is called.
const NAME: &str = "sim_the_whole_service_keeps_its_promises_whatever_fails";

fn main() -> ExitCode {
    match called(NAME) {
        Called::One(seed) => one(seed),
        Called::Many => many::run(),
        Called::Nothing => ExitCode::SUCCESS,
    }
}

/// One run, in a thread whose hash keys, clocks and chance are those of the seed.
fn one(seed: u64) -> ExitCode {
    mad_turmoil::rand::set_rng(StdRng::seed_from_u64(seed));
    let clocks = mad_turmoil::time::SimClocksGuard::init();
    let ran = thread::spawn(move || run::run(seed)).join();
    drop(clocks);
    match ran {
        Ok(ran) => {
            ran.violations.iter().for_each(|violation| eprintln!("violation: {violation}"));
            println!("{}", ran.line());
            ExitCode::SUCCESS
        }
        Err(_) => ExitCode::FAILURE,
    }
}
