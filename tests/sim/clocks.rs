//! The machine's clocks: time that passes, suspends, reboots, and a wall clock that is set.

use askway::ask::Timestamp;
use askway::engine::clock::{Reading, Source};
use async_trait::async_trait;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

/// The wall clock when a run begins.
const BEGUN: u64 = 1_800_000_000_000;

/// The clocks of the machine that the daemon runs on. What no clock of it can tell is how much time has
/// really passed: [`passed`](Clocks::passed).
#[derive(Debug, Default)]
pub struct Clocks(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// Milliseconds the simulation has run, as last seen.
    ran: u64,
    suspended: u64,
    /// What the wall clock is ahead, or behind.
    ahead: i64,
    boots: u32,
    /// What had passed at the last boot.
    booted: u64,
}

impl Clocks {
    fn state(&self) -> MutexGuard<'_, State> {
        let mut state = self.0.lock().expect("nobody panics with the clocks in hand");
        if let Some(ran) = turmoil::in_simulation().then(turmoil::sim_elapsed).flatten() {
            state.ran = state.ran.max(ran.as_millis() as u64);
        }
        state
    }

    /// The simulation has run for so long.
    pub fn run_until(&self, ran: Duration) {
        let mut state = self.0.lock().expect("nobody panics with the clocks in hand");
        state.ran = state.ran.max(ran.as_millis() as u64);
    }

    /// Milliseconds that have passed in truth, suspends counted.
    pub fn passed(&self) -> u64 {
        let state = self.state();
        state.ran + state.suspended
    }

    /// The machine, and all that runs on it, is suspended.
    pub fn suspend(&self, length: Duration) {
        self.state().suspended += length.as_millis() as u64;
    }

    /// Somebody sets the wall clock.
    pub fn set_wall(&self, by: i64) {
        self.state().ahead = by;
    }

    /// The machine is booted.
    pub fn boot(&self) {
        let mut state = self.state();
        state.boots += 1;
        state.booted = state.ran + state.suspended;
    }
}

#[async_trait]
impl Source for Clocks {
    fn read(&self) -> Reading {
        let state = self.state();
        let passed = state.ran + state.suspended;
        Reading {
            wall: Timestamp::from_millis((BEGUN + passed).saturating_add_signed(state.ahead)),
            boot: format!("boot {}", state.boots),
            since_boot: 1_000 + passed - state.booted,
        }
    }

    async fn pause(&self, wait: Duration) {
        tokio::time::sleep_until(tokio::time::Instant::now() + wait).await;
    }
}
