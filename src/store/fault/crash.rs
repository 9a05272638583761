//! The power fails at every moment of many runs of the file store, and once more while it repairs
//! itself; and every operation of the disk fails.
//!
//! A test of seconds by itself. With `ASKWAY_SECONDS` it goes on for so long, or with
//! `ASKWAY_REOPENINGS` for so many of them, from `ASKWAY_SEED` where that is set, on as many threads as
//! there are processors; `scripts/prove crash` calls it.

use super::image::Kind;
use super::recorder::{Recorder, Recording};
use super::tests::{kept, next};
use super::{Disk, EIO, ENOSPC, Plan, Steps};
use crate::store::redb::{Checked, Redb};
use crate::store::suite::{Dice, World};
use crate::store::{Batch, Fault, Store};
use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

const SOON: Duration = Duration::from_millis(1);
const NEVER: Duration = Duration::from_secs(1_000_000);

/// Reopenings of the short form, which `ASKWAY_REOPENINGS` sets.
const REOPENINGS: u64 = 2_000;

/// I/O errors of the short form.
const IO_FAULTS: u64 = 200;

/// What was done so far, and how much of it is enough where no time was said.
#[derive(Debug, Default)]
struct Counts {
    enough: u64,
    reopenings: AtomicU64,
    in_repair: AtomicU64,
    io_faults: AtomicU64,
    violations: AtomicU64,
    next: AtomicU64,
    stop: AtomicBool,
}

impl Counts {
    fn goes_on(&self, long: bool) -> bool {
        let crashed_enough = self.reopenings.load(Ordering::Relaxed) >= self.enough;
        !self.stop.load(Ordering::Relaxed) && (long || !crashed_enough)
    }

    fn fails_on(&self, long: bool) -> bool {
        let failed_enough = self.io_faults.load(Ordering::Relaxed) >= IO_FAULTS;
        !self.stop.load(Ordering::Relaxed) && (long || !failed_enough)
    }
}

fn set(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name}={text} is not a whole number")))
}

#[test]
fn rule_01_a_crash_or_a_failing_disk_loses_nothing_that_was_acknowledged() {
    let seconds = set("ASKWAY_SECONDS");
    let seed = set("ASKWAY_SEED").unwrap_or_else(|| getrandom::u64().expect("random numbers"));
    eprintln!("ASKWAY_SEED={seed}");
    let enough = set("ASKWAY_REOPENINGS").unwrap_or(REOPENINGS);
    let counts = Counts { enough, ..Counts::default() };
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    let (done, all_done) = channel();
    let outcome = thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|_| {
                let (done, counts) = (done.clone(), &counts);
                scope.spawn(move || {
                    let worked = catch_unwind(AssertUnwindSafe(|| work(seed, counts, seconds)));
                    if worked.is_err() {
                        counts.violations.fetch_add(1, Ordering::Relaxed);
                        counts.stop.store(true, Ordering::Relaxed);
                    }
                    // Nobody waits for it any more once the time is over.
                    let _ = done.send(());
                    worked
                })
            })
            .collect();
        drop(done);
        let end = Duration::from_secs(seconds.unwrap_or(1_000_000));
        for _ in 0..threads {
            if all_done.recv_timeout(end).is_err() {
                break;
            }
        }
        counts.stop.store(true, Ordering::Relaxed);
        let ends: Vec<_> = workers.into_iter().map(|worker| worker.join().unwrap()).collect();
        ends.into_iter().collect::<Result<(), _>>()
    });
    let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    println!(
        "crash: reopenings={} in_repair={} io_faults={} violations={}",
        count(&counts.reopenings),
        count(&counts.in_repair),
        count(&counts.io_faults),
        count(&counts.violations),
    );
    outcome.unwrap_or_else(|panic| resume_unwind(panic));
    assert!(count(&counts.in_repair) > count(&counts.reopenings) / 10, "too few of them twice");
}

/// Run after run, until it is enough.
fn work(seed: u64, counts: &Counts, seconds: Option<u64>) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    while counts.goes_on(seconds.is_some()) || counts.fails_on(seconds.is_some()) {
        let seed = seed.wrapping_add(counts.next.fetch_add(1, Ordering::Relaxed));
        runtime.block_on(async {
            Run::record(seed).await.crashes(counts, seconds.is_some()).await;
            if seed.is_multiple_of(8) || counts.fails_on(false) {
                faults(seed, counts, seconds.is_some()).await;
            }
        });
    }
}

/// Where it was when it went wrong; says so then.
struct Place {
    seed: u64,
    what: &'static str,
    point: u64,
    kind: Option<Kind>,
    again: Option<(usize, Kind)>,
}

impl Drop for Place {
    fn drop(&mut self) {
        if thread::panicking() {
            let Self { seed, what, point, kind, again } = self;
            eprintln!(
                "{what} at {point}, {kind:?}, again {again:?}: replay with ASKWAY_SEED={seed}"
            );
        }
    }
}

/// A store's life, and what it must say after each of its commits.
struct Run {
    seed: u64,
    recording: Recording,
    told: Vec<World>,
    next: Batch,
}

impl Run {
    /// A few commits, with a restart among them where the dice say so.
    async fn record(seed: u64) -> Self {
        let mut dice = Dice::new(seed);
        let disk = Recorder::new(Vec::new());
        let mut store = open(&disk).expect("an empty disk takes a store");
        let mut world = World::new(seed);
        let mut told = vec![world.clone()];
        for number in 1..=4 + dice.roll(12) {
            store.commit(next(&mut world, number)).await.expect("the disk is good");
            disk.acknowledge();
            told.push(world.clone());
            if dice.one_in(6) {
                drop(store);
                store = open(&disk).expect("it was closed well");
            }
        }
        drop(store);
        let next = next(&mut world, told.len() as u64);
        told.push(world);
        Self { seed, recording: disk.taken(), told, next }
    }

    /// The power fails at every moment.
    async fn crashes(&self, counts: &Counts, long: bool) {
        let mut dice = Dice::new(self.seed);
        for (point, moment) in self.recording.moments().enumerate() {
            if !counts.goes_on(long) {
                return;
            }
            let kinds = if moment.is_quiet() { &Kind::ALL[..1] } else { &Kind::ALL };
            for kind in kinds {
                let image = moment.image(*kind, &mut dice);
                let (seed, what, again) = (self.seed, "a crash", None);
                let mut place = Place { seed, what, point: point as u64, kind: Some(*kind), again };
                let (found, repair) = self.reopen(image, &mut dice).await;
                counts.reopenings.fetch_add(1, Ordering::Relaxed);
                let known = moment.acknowledged;
                assert!(found == known || found == known + 1, "{found}, acknowledged {known}");
                if !dice.one_in(4) {
                    continue;
                }
                let (point, kind) =
                    (dice.roll(repair.len() as u64 + 1) as usize, *dice.pick(&Kind::ALL));
                place.again = Some((point, kind));
                let image = repair.moment(point).image(kind, &mut dice);
                let (later, _) = self.reopen(image, &mut dice).await;
                counts.reopenings.fetch_add(1, Ordering::Relaxed);
                counts.in_repair.fetch_add(1, Ordering::Relaxed);
                assert_eq!(later, found, "what is on disk stays there");
            }
        }
    }

    /// Opens what was found, and has it say all it must; how many commits it holds, and what was done
    /// to the disk until all was closed again.
    async fn reopen(&self, image: Vec<u8>, dice: &mut Dice) -> (u64, Recording) {
        let disk = Recorder::new(image);
        let store = open(&disk).unwrap_or_else(|fault| panic!("it does not open: {fault}"));
        let found = kept(&store).await;
        self.told[found as usize].check_whole(&store).await;
        drop(store);
        let repair = disk.taken();
        // Of some, every page and what redb knows of the free ones; and that it goes on.
        if dice.one_in(8) {
            let looked = Checked::look(disk.clone()).await;
            looked.unwrap_or_else(|fault| panic!("it was not whole: {fault}"));
        }
        if dice.one_in(8) && found as usize + 2 == self.told.len() {
            let store = open(&disk).unwrap();
            store.commit(self.next.clone()).await.expect("the disk is good");
            self.told[found as usize + 1].check_whole(&store).await;
        }
        (found, repair)
    }
}

fn open(disk: &Recorder) -> Result<Redb, Fault> {
    let disk = disk.clone();
    Redb::with_backend(move || Ok(disk.clone()), NEVER)
}

/// Each operation of a run fails in its turn, alone or with those after it; the store is unavailable
/// until it has healed by itself, and nothing it acknowledged is lost, nor what it showed since.
async fn faults(seed: u64, counts: &Counts, long: bool) {
    let mut dice = Dice::new(seed);
    for step in 1.. {
        let (what, kind, again) = ("a failing disk", None, None);
        let _place = Place { seed, what, point: step, kind, again };
        let disk = Disk::new(dice.roll(u64::MAX));
        let backend = disk.clone();
        let store = Redb::with_backend(move || Ok(backend.clone()), SOON).unwrap();
        let first = disk.platter().steps + step;
        let error = *dice.pick(&[EIO, ENOSPC]);
        let last = first + if dice.one_in(3) { dice.roll(40) } else { 0 };
        disk.plan(Plan::Fail(Steps { first, last }, error));
        let mut world = World::new(seed);
        for number in 1..=6 {
            let before = world.clone();
            let batch = next(&mut world, number);
            let Err(fault) = store.commit(batch).await else { continue };
            assert!(matches!(fault, Fault::Unavailable(_)), "{fault}");
            store.wait_until_open();
            let found = kept(&store).await;
            assert!(found == number || found == number - 1, "{found} after {number} failed");
            if found != number {
                world = before;
            }
            world.check_whole(&store).await;
        }
        drop(store);
        disk.power_up();
        let backend = disk.clone();
        let store = Redb::with_backend(move || Ok(backend.clone()), NEVER).unwrap();
        world.check_whole(&store).await;
        let failed = disk.platter().failed;
        counts.io_faults.fetch_add(failed, Ordering::Relaxed);
        if failed == 0 || !counts.fails_on(long) {
            return;
        }
    }
}
