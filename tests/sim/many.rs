//! Many runs: each seed twice, in processes of their own, as many at once as there are processors.

use super::seeds::{Came, by_chance, seconds_now, set, twice};
use std::num::NonZero;
use std::process::ExitCode;
use std::sync::Mutex;
use std::thread;

/// Seeds of the short form.
const SEEDS: usize = 2;

const HOUR: f64 = 3_600_000.0;

/// What all runs came to.
#[derive(Debug, Default)]
struct Sum {
    begun: usize,
    seeds: u64,
    counts: Came,
    failed: Option<u64>,
}

/// Runs the short form, or for as long as it is told; says what came of it.
pub fn run() -> ExitCode {
    let (first, begun) = (set("ASKWAY_SEED").unwrap_or_else(by_chance), seconds_now());
    let length = set("ASKWAY_SECONDS");
    let hours = set("ASKWAY_HOURS");
    let replayed = length.or(hours).is_none() && set("ASKWAY_SEED").is_some();
    let sum = Mutex::new(Sum::default());
    let next = || {
        let mut sum = sum.lock().expect("nobody panics with the sum in hand");
        let more = match (length, hours) {
            (Some(length), _) => seconds_now() - begun < length,
            (None, Some(hours)) => sum.hours() < hours as f64,
            (None, None) if replayed => sum.begun < 1,
            (None, None) => sum.begun < SEEDS,
        };
        let go = more && sum.failed.is_none();
        sum.begun += usize::from(go);
        go.then(|| first.wrapping_add(sum.begun as u64 - 1))
    };
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(seed) = next() {
                    let ran = twice(seed);
                    let mut sum = sum.lock().expect("nobody panics with the sum in hand");
                    match ran {
                        Ok(counts) => sum.add(&counts),
                        Err(why) => {
                            eprintln!("{why}\nASKWAY_SEED={seed}");
                            sum.failed.get_or_insert(seed);
                        }
                    }
                }
            });
        }
    });
    let sum = sum.into_inner().expect("nobody panicked with the sum in hand");
    println!("{}", sum.line());
    match (sum.failed, sum.is_enough()) {
        // As a test that fails says it.
        (Some(_), _) => ExitCode::from(101),
        (None, Err(why)) => {
            eprintln!("too little happened: {why}\nASKWAY_SEED={first}");
            ExitCode::FAILURE
        }
        (None, Ok(())) => ExitCode::SUCCESS,
    }
}

impl Sum {
    fn add(&mut self, counts: &Came) {
        self.seeds += 1;
        for (name, count) in counts {
            let sum = self.counts.entry(name.clone()).or_default();
            *sum = match name.as_str() {
                "worst_late_ms" => (*sum).max(*count),
                "trace" => *sum ^ count,
                _ => *sum + count,
            };
        }
    }

    fn of(&self, name: &str) -> u64 {
        self.counts.get(name).copied().unwrap_or_default()
    }

    /// How long all of it was, each seed counted once.
    fn hours(&self) -> f64 {
        self.of("millis") as f64 / HOUR
    }

    /// A run in which little happened proves little.
    fn is_enough(&self) -> Result<(), String> {
        let least = [
            ("acknowledged", 100),
            ("crashes", 8),
            ("events", 100),
            ("escalations", 1),
            ("resumed", 20),
            ("replays", 4),
            ("delivered", 10),
        ];
        let low = least.iter().find(|(name, least)| self.of(name) < least * self.seeds);
        low.map_or(Ok(()), |(name, _)| Err(format!("{name} of {} seeds: {self:?}", self.seeds)))
    }

    fn line(&self) -> String {
        let names = [
            "acknowledged",
            "crashes",
            "in_start",
            "events",
            "resumed",
            "escalations",
            "replays",
            "delivered",
            "defaults",
            "refused",
            "worst_late_ms",
        ];
        let counts: Vec<_> = names.iter().map(|name| format!("{name}={}", self.of(name))).collect();
        let hours = self.hours();
        let violations = u8::from(self.failed.is_some());
        let (seeds, counts) = (self.seeds, counts.join(" "));
        format!("sim: seeds={seeds} hours={hours:.1} {counts} violations={violations}")
    }
}
