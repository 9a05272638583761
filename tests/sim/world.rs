//! What all parts of a run share: the machine, the dice, and the book of all that was seen.

use super::book::Book;
use super::clocks::Clocks;
use super::disk::Disk;
use askway::client::ClientError;
use askway::session::{Kind, Secret};
use askway::store::suite::Dice;
use std::cell::Cell;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use tokio::time::{Instant, sleep_until};

/// A run's world.
#[derive(Debug)]
pub struct World {
    /// What it is made of.
    pub seed: u64,
    /// The machine's disk.
    pub disk: Disk,
    /// The machine's clocks.
    pub clocks: Arc<Clocks>,
    book: Mutex<Book>,
    phase: Mutex<Cell<Phase>>,
}

/// How far a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Everybody does what they do, and everything fails.
    Storm,
    /// Nothing fails any more, and nothing new is asked.
    Calm,
    /// Everything is looked at.
    Audit,
    /// All is said.
    Over,
}

impl World {
    /// The world of a seed.
    pub fn new(seed: u64) -> Arc<Self> {
        Arc::new(Self {
            seed,
            disk: Disk::new(seed ^ 0xd15c),
            clocks: Arc::default(),
            book: Mutex::new(Book::default()),
            phase: Mutex::new(Cell::new(Phase::Storm)),
        })
    }

    /// The book of all that was seen.
    pub fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().expect("nobody panics with the book in hand")
    }

    /// How far it is.
    pub fn phase(&self) -> Phase {
        self.phase.lock().expect("a phase").get()
    }

    /// It has come so far.
    pub fn enter(&self, phase: Phase) {
        self.phase.lock().expect("a phase").set(phase);
        self.note(&format!("{phase:?}"));
    }

    /// Writes down that something happened now.
    pub fn note(&self, what: &str) {
        let passed = self.clocks.passed();
        self.book().trace(&format!("{passed} {what}"));
    }

    /// Dice for one who acts.
    pub fn dice(&self, whose: u64) -> Dice {
        Dice::new(self.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ whose)
    }
}

/// Lets time pass; simulated, like all time here.
pub async fn pass(length: Duration) {
    sleep_until(Instant::now() + length).await;
}

/// Lets some time pass, up to so many milliseconds.
pub async fn pass_up_to(dice: &mut Dice, millis: u64) {
    pass(Duration::from_millis(dice.roll(millis))).await;
}

/// Calls until it is known what came of it: an error is then one that no repeat mends.
pub async fn insist<T, F>(call: impl Fn() -> F) -> Result<T, ClientError>
where
    F: Future<Output = Result<T, ClientError>>,
{
    loop {
        match call().await {
            Err(error) if error.is_passing() => pass(Duration::from_millis(700)).await,
            known => return known,
        }
    }
}

/// The secret of somebody whom the daemon's folder would hold one for.
pub fn token(kind: Kind, whose: u8) -> Secret {
    Secret::new(kind, [whose; 32])
}
