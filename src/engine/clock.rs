//! Service time (rule 19), and the only place where a clock is read.
//!
//! It follows the boot clock, which a person who sets the wall clock does not move and which counts
//! suspends. Toward a wall clock that is ahead it drifts, by at most a tenth of the time that
//! passes; it never goes back. A mark kept with every commit carries it over restarts.

use crate::ask::{Now, Span, Timestamp};
use crate::store::ClockMark;
use async_trait::async_trait;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::sync::Notify;

/// A time in which nothing ran, as long as this or longer, is a gap: a person's window starts anew
/// after it.
pub const GAP: Span = Span::from_secs(60);

/// The drift toward a wall clock that is ahead: one part in so many of the time that passes.
const DRIFT: u64 = 10;

/// The longest a wait trusts a runtime's timer, which may stand still while the machine is
/// suspended.
const LOOK_AGAIN: Duration = Duration::from_millis(500);

/// What the machine's clocks say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    /// The wall clock.
    pub wall: Timestamp,
    /// Which boot of the machine.
    pub boot: String,
    /// Milliseconds since that boot, suspends counted.
    pub since_boot: u64,
}

impl Reading {
    /// Whether `mark` was kept in this boot: then it says how much has passed since.
    pub fn is_of_boot(&self, mark: &ClockMark) -> bool {
        mark.boot == self.boot
    }
}

/// Where readings come from: the machine, or a test.
#[async_trait]
pub trait Source: Send + Sync + 'static {
    /// The clocks now.
    fn read(&self) -> Reading;

    /// Waits at most `wait`, perhaps less.
    async fn pause(&self, wait: Duration);
}

/// Service time. Cheap to clone; the clones are one clock.
#[derive(Clone)]
pub struct Clock {
    source: Arc<dyn Source>,
    state: Arc<Mutex<State>>,
}

struct State {
    service: Timestamp,
    boot: String,
    since_boot: u64,
    awake_since: Timestamp,
    /// Milliseconds that passed behind the wall clock and have not been drifted for.
    undrifted: u64,
}

impl Clock {
    /// Service time from where `mark` left it: exactly where the machine has not been booted since,
    /// else the later of the mark and the wall clock; without a mark, the wall clock.
    pub fn resume(source: Arc<dyn Source>, mark: Option<&ClockMark>) -> Self {
        let reading = source.read();
        let service = match mark {
            None => reading.wall,
            Some(mark) if reading.is_of_boot(mark) => {
                mark.service + Span::from_millis(reading.since_boot.saturating_sub(mark.since_boot))
            }
            Some(mark) => mark.service.max(reading.wall),
        };
        let was_down = mark.is_some_and(|mark| service.since(mark.service) >= GAP);
        let before = mark.map(|mark| mark.awake_since).unwrap_or_default();
        let awake_since = if was_down { service } else { before };
        let (boot, since_boot) = (reading.boot, reading.since_boot);
        let state = State { service, boot, since_boot, awake_since, undrifted: 0 };
        Self { source, state: Arc::new(Mutex::new(state)) }
    }

    /// The present.
    pub fn now(&self) -> Now {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let reading = self.source.read();
        let passed = reading.since_boot.saturating_sub(state.since_boot);
        state.since_boot += passed;
        state.service = state.service + Span::from_millis(passed);
        let ahead = reading.wall.since(state.service).as_millis();
        state.undrifted = if ahead == 0 { 0 } else { state.undrifted + passed };
        let drift = ahead.min(state.undrifted / DRIFT);
        let drift = if planted!("wall_clock") { ahead } else { drift };
        state.undrifted -= drift * DRIFT;
        state.service = state.service + Span::from_millis(drift);
        if Span::from_millis(passed) >= GAP {
            state.awake_since = state.service;
        }
        Now { time: state.service, awake_since: state.awake_since }
    }

    /// The mark to keep with a commit.
    pub fn mark(&self) -> ClockMark {
        self.now();
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let State { service, since_boot, awake_since, .. } = *state;
        ClockMark { service, boot: state.boot.clone(), since_boot, awake_since }
    }

    /// Returns once service time has reached `time`.
    pub async fn wait_until(&self, time: Timestamp) {
        loop {
            let now = self.now().time;
            if time <= now {
                return;
            }
            self.source.pause(Duration::from(time.since(now)).min(LOOK_AGAIN)).await;
        }
    }
}

/// The machine's clocks.
#[derive(Debug)]
pub struct Machine {
    boot: String,
}

impl Machine {
    /// The clocks of this machine.
    pub fn new() -> Self {
        // Where the kernel gives no id, each start counts as another boot: then the wall clock
        // bridges it.
        let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id")
            .map(|id| id.trim().to_owned())
            .unwrap_or_else(|_| uuid::Uuid::now_v7().to_string());
        Self { boot }
    }
}

impl Default for Machine {
    fn default() -> Self {
        Self::new()
    }
}

#[async_trait]
impl Source for Machine {
    fn read(&self) -> Reading {
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let boot = rustix::time::clock_gettime(boot_clock());
        let since_boot = boot.tv_sec as u64 * 1_000 + boot.tv_nsec as u64 / 1_000_000;
        Reading {
            wall: Timestamp::from_millis(wall.as_millis() as u64),
            boot: self.boot.clone(),
            since_boot,
        }
    }

    async fn pause(&self, wait: Duration) {
        tokio::time::sleep(wait).await;
    }
}

#[cfg(target_os = "linux")]
fn boot_clock() -> rustix::time::ClockId {
    rustix::time::ClockId::Boottime
}

/// Elsewhere the monotonic clock is what counts time since boot.
#[cfg(not(target_os = "linux"))]
fn boot_clock() -> rustix::time::ClockId {
    rustix::time::ClockId::Monotonic
}

/// A store's time: as it was said last, and counted on by the machine's boot clock until it is said
/// again. The machine's wall clock is never looked at, and all who share the store are at one time.
pub struct Following {
    machine: Arc<dyn Source>,
    said: Mutex<Said>,
}

struct Said {
    time: Timestamp,
    since_boot: u64,
}

impl Following {
    /// By what the store says now.
    pub fn new(machine: Arc<dyn Source>, time: Timestamp) -> Self {
        let since_boot = machine.read().since_boot;
        Self { machine, said: Mutex::new(Said { time, since_boot }) }
    }

    /// The store has said what time it is. What it took to say so is not added: this is late by that
    /// much, and never early.
    pub fn set(&self, time: Timestamp) {
        let since_boot = self.machine.read().since_boot;
        *self.said.lock().unwrap_or_else(PoisonError::into_inner) = Said { time, since_boot };
    }
}

#[async_trait]
impl Source for Following {
    fn read(&self) -> Reading {
        let said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        let passed = self.machine.read().since_boot.saturating_sub(said.since_boot);
        let wall = said.time + Span::from_millis(passed);
        // To whoever shares it the store is one machine that is never booted: its mark is anybody's.
        Reading { wall, boot: "the store".to_owned(), since_boot: wall.as_millis() }
    }

    async fn pause(&self, wait: Duration) {
        self.machine.pause(wait).await;
    }
}

/// Clocks that a test sets. Waits end when it does.
#[derive(Debug)]
pub struct Manual {
    reading: Mutex<Reading>,
    moved: Notify,
}

impl Manual {
    /// Clocks that stand at `wall`, one second after a boot.
    pub fn at(wall: Timestamp) -> Arc<Self> {
        let reading = Reading { wall, boot: "first boot".to_owned(), since_boot: 1_000 };
        Arc::new(Self { reading: Mutex::new(reading), moved: Notify::new() })
    }

    /// Lets time pass on both clocks.
    pub fn advance(&self, span: Span) {
        self.set(|reading| {
            reading.wall = reading.wall + span;
            reading.since_boot += span.as_millis();
        });
    }

    /// Does anything to the clocks.
    pub fn set(&self, change: impl FnOnce(&mut Reading)) {
        change(&mut self.reading.lock().unwrap_or_else(PoisonError::into_inner));
        self.moved.notify_waiters();
    }
}

#[async_trait]
impl Source for Manual {
    fn read(&self) -> Reading {
        self.reading.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    async fn pause(&self, _wait: Duration) {
        // A move between the caller's look and this wait would be missed: real time heals it.
        let _ = tokio::time::timeout(Duration::from_millis(1), self.moved.notified()).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Timestamp = Timestamp::from_millis(1_800_000_000_000);

    fn clock() -> (Arc<Manual>, Clock) {
        let manual = Manual::at(START);
        let clock = Clock::resume(manual.clone(), None);
        (manual, clock)
    }

    #[test]
    fn rule_19_a_stepped_wall_clock_changes_nothing() {
        let (manual, clock) = clock();
        manual.set(|reading| reading.wall = Timestamp::from_millis(0));
        manual.set(|reading| reading.since_boot += 5_000);
        assert_eq!(clock.now().time, START + Span::from_secs(5));
        let back = clock.now().time;
        manual.set(|reading| reading.since_boot -= 3_000);
        assert_eq!(clock.now().time, back, "it never goes back");
    }

    #[test]
    fn it_drifts_toward_a_wall_clock_ahead_by_a_tenth_at_most() {
        let (manual, clock) = clock();
        manual.set(|reading| reading.wall = START + Span::from_hours(1));
        for _ in 0..1_000 {
            manual.advance(Span::from_millis(1));
            clock.now();
        }
        let passed = clock.now().time.since(START).as_millis();
        assert!((1_090..=1_100).contains(&passed), "{passed}");
    }

    #[test]
    fn it_is_carried_over_restarts_and_reboots() {
        let (manual, clock) = clock();
        manual.advance(Span::from_secs(10));
        let mark = clock.mark();
        manual.set(|reading| {
            reading.since_boot += 20_000;
            reading.wall = Timestamp::from_millis(0);
        });
        let restarted = Clock::resume(manual.clone(), Some(&mark));
        assert_eq!(restarted.now().time, START + Span::from_secs(30), "same boot: exactly");
        manual.set(|reading| reading.boot = "second boot".into());
        let rebooted = Clock::resume(manual.clone(), Some(&mark));
        assert_eq!(rebooted.now().time, mark.service, "a wall clock behind is not believed");
        manual.set(|reading| reading.wall = START + Span::from_hours(2));
        let rebooted = Clock::resume(manual, Some(&mark));
        assert_eq!(rebooted.now().time, START + Span::from_hours(2));
    }

    #[test]
    fn a_gap_is_remembered_over_a_restart_soon_after_it() {
        let (manual, clock) = clock();
        manual.advance(GAP);
        let ended = clock.now().awake_since;
        manual.advance(Span::from_secs(5));
        let restarted = Clock::resume(manual, Some(&clock.mark()));
        assert_eq!(restarted.now().awake_since, ended);
    }

    #[test]
    fn a_stores_time_is_one_for_all_whatever_their_machines_say() {
        let time = Timestamp::from_millis(5_000_000);
        let replica = |wall| {
            let machine = Manual::at(wall);
            let following = Arc::new(Following::new(machine.clone(), time));
            (machine, following)
        };
        let (one, first) = replica(START);
        let (other, second) = replica(START + Span::from_hours(1));
        let clock = Clock::resume(first.clone(), None);
        assert_eq!(clock.now().time, time);
        one.advance(Span::from_secs(3));
        let mark = clock.mark();
        assert_eq!(mark.service, time + Span::from_secs(3));
        other.set(|reading| reading.wall = Timestamp::from_millis(0));
        second.set(time + Span::from_secs(4));
        let joined = Clock::resume(second.clone(), Some(&mark));
        assert_eq!(joined.now().time, time + Span::from_secs(4));
        second.set(time);
        assert_eq!(joined.now().time, time + Span::from_secs(4), "it never goes back");
        second.set(time + Span::from_secs(6));
        assert_eq!(joined.now().time, time + Span::from_secs(6));
    }

    #[test]
    fn a_gap_is_noticed_over_a_suspend_and_over_a_restart() {
        let (manual, clock) = clock();
        manual.advance(Span::from_secs(59));
        assert_eq!(clock.now().awake_since, Timestamp::default());
        manual.advance(GAP);
        assert_eq!(clock.now().awake_since, clock.now().time);
        let mark = clock.mark();
        manual.advance(GAP);
        let restarted = Clock::resume(manual, Some(&mark));
        assert_eq!(restarted.now().awake_since, restarted.now().time);
    }
}
