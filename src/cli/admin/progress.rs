//! How far a copy has come, for whoever looks at a terminal. What is done may take the thread that does
//! it, so it is told from another; what is over soon is not told at all.

use crate::cli::terminal::{self, Line};
use crate::serve::archive::Lines;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use tokio_stream::StreamExt;

/// How long nothing is told: what is over by then needs no telling.
const QUIET: Duration = Duration::from_millis(500);
/// How often it is told anew where it is told in place.
const TICK: Duration = Duration::from_millis(250);
/// The same where each time is a line of its own.
const TICK_OF_LINES: Duration = Duration::from_secs(10);

/// The telling. It ends with this, and the terminal is as it was.
pub(super) struct Progress {
    work: Arc<Work>,
    teller: Option<JoinHandle<()>>,
}

/// What is done, and how far it is.
struct Work {
    what: String,
    /// That passed: the first is a head, the last says that it was the last.
    lines: AtomicU64,
    bytes: AtomicU64,
    ended: Mutex<bool>,
    end: Condvar,
}

impl Progress {
    /// Begins to tell of `what` on stderr, where that is a terminal and no program reads.
    pub fn of(what: impl Into<String>, json: bool) -> Self {
        let work = Arc::new(Work {
            what: what.into(),
            lines: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            ended: Mutex::new(false),
            end: Condvar::new(),
        });
        let place = terminal::line().filter(|_| !json);
        let teller = place.map(|place| {
            let work = work.clone();
            thread::spawn(move || work.tell(place))
        });
        Self { work, teller }
    }

    /// The lines, counted as they pass.
    pub fn count(&self, lines: Lines) -> Lines {
        let work = self.work.clone();
        Box::pin(lines.map(move |piece| {
            if let Ok(piece) = &piece {
                let lines = piece.iter().filter(|byte| **byte == b'\n').count();
                work.lines.fetch_add(lines as u64, Ordering::Relaxed);
                work.bytes.fetch_add(piece.len() as u64, Ordering::Relaxed);
            }
            piece
        }))
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        *self.work.ended.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.work.end.notify_all();
        if let Some(teller) = self.teller.take() {
            // It only told.
            let _ = teller.join();
        }
    }
}

impl Work {
    fn tell(&self, place: Line) {
        let begun = Instant::now();
        let mut wait = QUIET;
        let mut is_told = false;
        while !self.ends_within(wait) {
            place.put(&self.line(begun.elapsed()), true);
            is_told = true;
            wait = if place == Line::Rewritten { TICK } else { TICK_OF_LINES };
        }
        if is_told {
            place.clear();
        }
    }

    fn ends_within(&self, wait: Duration) -> bool {
        let ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.end.wait_timeout_while(ended, wait, |ended| !*ended);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }

    fn line(&self, so_far: Duration) -> String {
        let lines = self.lines.load(Ordering::Relaxed);
        let (records, bytes) = (lines.saturating_sub(1), self.bytes.load(Ordering::Relaxed));
        let (what, seconds) = (&self.what, so_far.as_secs());
        match records {
            0 => format!("{what}: {seconds} s so far"),
            _ => format!("{what}: {records} records, {} KiB, {seconds} s so far", bytes / 1024),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_passes_is_counted_and_stays_as_it_is() {
        let progress = Progress::of("copying", false);
        assert!(progress.teller.is_none() || terminal::line().is_some(), "nobody looks");
        let pieces: [Result<Vec<u8>, String>; 3] =
            [Ok(b"head\none\ntw".to_vec()), Ok(b"o\n".to_vec()), Err("cut".into())];
        let lines: Lines = Box::pin(tokio_stream::iter(pieces.clone()));
        let passed: Vec<_> = progress.count(lines).collect().await;
        assert_eq!(passed, pieces);
        let second = Duration::from_secs(1);
        assert_eq!(progress.work.line(second), "copying: 2 records, 0 KiB, 1 s so far");
        assert_eq!(Progress::of("looking", true).work.line(second), "looking: 1 s so far");
    }
}
