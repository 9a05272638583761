//! What whoever waits at a terminal sees meanwhile: on whom it waits, since when, what comes next. One
//! line, rewritten; where the terminal cannot, or is listened to, a line for each change. Nothing at
//! all where nobody looks.

use crate::cli::render::human;
use crate::cli::terminal::{self, Line};
use crate::grpc::v1;
use std::time::Duration;
use tokio::time::MissedTickBehavior;

/// How often the times of the line are told anew: they are in seconds.
const TICK: Duration = Duration::from_secs(1);

/// The line. When it goes, the terminal is as it was.
pub(super) struct Progress {
    line: Option<Line>,
    you: Option<String>,
    tick: tokio::time::Interval,
    /// Since when the daemon is away, or its store, as it was told.
    away: Option<String>,
    /// What was told last, without its times.
    told: String,
}

impl Progress {
    /// On stderr, for the person `you`.
    pub fn new(you: Option<&str>) -> Self {
        let mut tick = tokio::time::interval(TICK);
        // After a suspend once is enough.
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let line = terminal::line();
        Self { line, you: you.map(str::to_owned), tick, away: None, told: String::new() }
    }

    /// Whether somebody looks.
    pub fn is_seen(&self) -> bool {
        self.line.is_some()
    }

    /// Returns when the times should be told anew; never where there is no such line.
    pub async fn ticked(&mut self) {
        match self.line {
            Some(Line::Rewritten) => {
                self.tick.tick().await;
            }
            Some(Line::Appended) | None => std::future::pending().await,
        }
    }

    /// Tells where the ask stands.
    pub fn tell(&mut self, ask: &v1::Ask) {
        if self.away.is_some() || !self.is_seen() {
            return;
        }
        // What moves by itself is no change: only the hop and who is on it are.
        let on_it = ask.claim.as_ref().map(|claim| &claim.person);
        let changes = format!("{:?} {on_it:?}", ask.hop);
        let line = human::progress(ask, self.you.as_deref(), human::now());
        self.put(&line, changes);
    }

    /// Tells that the daemon is away, since now where it was not before.
    pub fn away(&mut self) {
        self.since("daemon", "trying again");
    }

    /// Tells that the daemon's store is away, which it takes up again by itself.
    pub fn stale(&mut self) {
        self.since("the daemon's store", "still waiting");
    }

    fn since(&mut self, who: &str, then: &str) {
        let since = self.away.get_or_insert_with(|| human::clock(human::now()));
        let line = format!("{who} away since {since}, {then}");
        self.put(&line, line.clone());
    }

    /// The daemon is there again, or its store, and the ask stands so.
    pub fn back(&mut self, ask: &v1::Ask) {
        self.away = None;
        self.tell(ask);
    }

    fn put(&mut self, line: &str, changes: String) {
        if let Some(place) = self.line {
            place.put(line, self.told != changes);
        }
        self.told = changes;
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(place) = self.line.filter(|_| !self.told.is_empty()) {
            place.clear();
        }
    }
}
