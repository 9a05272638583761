//! One run: the machines, the network between them, and whatever goes wrong with both.

use super::agents;
use super::audit::audit;
use super::book::Counts;
use super::calls::Caller;
use super::checks;
use super::daemon::{self, PEOPLE};
use super::network::{SERVER, client};
use super::people;
use super::watchers::{self, Watches};
use super::world::{Phase, World, token};
use askway::session::Kind;
use askway::store::suite::Dice;
use std::sync::Arc;
use std::time::Duration;
use turmoil::Sim;

/// How long everything fails in one run.
pub const STORM: Duration = Duration::from_secs(15 * 60);
/// A run that is not over by then never is.
const LONGEST: Duration = Duration::from_secs(3 * 3_600);
/// How far all machines go before the next looks at the network. Time within it is exact.
const TICK: Duration = Duration::from_millis(50);
/// Those whom the network may part from the daemon.
const CALLERS: [&str; 3] = ["agents", "people", "watchers"];

/// What came of a run.
#[derive(Debug)]
pub struct Ran {
    /// How much happened.
    pub counts: Counts,
    /// How long it was, in simulated milliseconds.
    pub millis: u64,
    /// The trace: all that happened, as a number, and in how many lines.
    pub trace: (u64, u64),
    /// What was broken.
    pub violations: Vec<String>,
}

impl Ran {
    /// All of it but the violations, as `name=count`.
    pub fn line(&self) -> String {
        let Counts { acknowledged, crashes, in_start, events, resumed, escalations, .. } =
            self.counts;
        let Counts { replays, delivered, defaults, refused, worst_late, .. } = self.counts;
        let (millis, (trace, lines), violations) = (self.millis, self.trace, self.violations.len());
        format!(
            "acknowledged={acknowledged} crashes={crashes} in_start={in_start} events={events} \
             resumed={resumed} escalations={escalations} replays={replays} delivered={delivered} \
             defaults={defaults} refused={refused} worst_late_ms={worst_late} millis={millis} \
             trace={trace} lines={lines} violations={violations}"
        )
    }
}

/// Runs a seed.
pub fn run(seed: u64) -> Ran {
    let world = World::new(seed);
    let mut sim = turmoil::Builder::new()
        .rng_seed(seed)
        .tick_duration(TICK)
        .simulation_duration(LONGEST)
        .min_message_latency(Duration::from_millis(1))
        .max_message_latency(Duration::from_millis(60))
        .tcp_capacity(4_096)
        .build();
    let at = world.clone();
    sim.host(SERVER, move || daemon::run(at.clone()));
    let watches = Watches::default();
    sim.client(CALLERS[0], agents::live(world.clone(), watches.clone()));
    let at = world.clone();
    sim.client(CALLERS[1], async move {
        let mut all = tokio::task::JoinSet::new();
        for (name, number) in PEOPLE.iter().zip(0..) {
            let client = client(Some(token(Kind::Person, number)));
            let me = Caller { world: at.clone(), client, name: (*name).into() };
            if number == 0 {
                all.spawn(audit(me.clone()));
            }
            all.spawn(people::live(me, at.dice(50 + u64::from(number))));
        }
        while let Some(ended) = all.join_next().await {
            ended?;
        }
        Ok(())
    });
    let at = world.clone();
    sim.client(CALLERS[2], async move {
        let owner = client(Some(token(Kind::Person, 0)));
        watchers::live(at, watches, owner).await
    });
    let failed = Storm::new(world.clone()).drive(&mut sim).err();
    drop(sim);
    let mut book = world.book();
    if let Some(why) = failed {
        book.broken("the run", &why.to_string());
    }
    if book.violations.is_empty() {
        checks::all(&mut book);
    }
    let millis = world_millis(&world, book.suspends.iter().map(|(down, up)| up - down).sum());
    Ran {
        counts: book.counts,
        millis,
        trace: book.traced(),
        violations: std::mem::take(&mut book.violations),
    }
}

/// How long the simulation itself ran: what was slept through does not count.
fn world_millis(world: &World, suspended: u64) -> u64 {
    world.clocks.passed() - suspended
}

/// Whatever goes wrong.
struct Storm {
    world: Arc<World>,
    dice: Dice,
    /// When the power comes back, and whether the machine was booted for it; none while it is there.
    dark_until: Option<Duration>,
    next: Duration,
    /// Who is parted from the daemon until when, and whether what was sent is only held.
    parted: Vec<(Duration, &'static str, bool)>,
}

impl Storm {
    fn new(world: Arc<World>) -> Self {
        let dice = world.dice(7);
        let next = Duration::from_secs(20);
        Self { world, dice, dark_until: None, next, parted: Vec::new() }
    }

    fn drive(mut self, sim: &mut Sim<'_>) -> turmoil::Result {
        loop {
            let over = sim.step()?;
            let now = sim.elapsed();
            self.world.clocks.run_until(now);
            // What follows a broken rule tells nothing new.
            if over || !self.world.book().violations.is_empty() {
                return Ok(());
            }
            self.power(sim, now);
            self.mend(sim, now);
            if self.world.phase() == Phase::Storm {
                if now >= STORM {
                    self.calm(sim);
                } else if now >= self.next {
                    self.fail(sim, now);
                }
            }
        }
    }

    /// Crashes the machine where its disk lost power, and starts it again in time.
    fn power(&mut self, sim: &mut Sim<'_>, now: Duration) {
        let disk = self.world.disk.clone();
        match self.dark_until {
            None if !disk.is_alive(disk.life()) => {
                let passed = self.world.clocks.passed();
                let mut book = self.world.book();
                book.counts.crashes += 1;
                book.counts.in_start += u64::from(book.down_since.is_some());
                book.down(passed);
                drop(book);
                self.world.note("the power fails");
                sim.crash(SERVER);
                let dark = *self.dice.pick(&[300, 2_000, 20_000, 100_000]);
                self.dark_until = Some(now + Duration::from_millis(self.dice.roll(dark)));
            }
            Some(until) if until <= now => {
                let (kind, steps) = disk.power_up();
                let booted = self.dice.one_in(2);
                if booted {
                    self.world.clocks.boot();
                    let passed = self.world.clocks.passed();
                    self.world.book().booted(passed);
                }
                if self.dice.one_in(4) && self.world.phase() == Phase::Storm {
                    disk.fail_in(1 + self.dice.roll(30));
                }
                self.world.note(&format!("power: {kind:?} of {steps}, booted {booted}"));
                sim.bounce(SERVER);
                self.dark_until = None;
            }
            _ => {}
        }
    }

    /// One more thing goes wrong.
    fn fail(&mut self, sim: &mut Sim<'_>, now: Duration) {
        self.next = now + Duration::from_millis(2_000 + self.dice.roll(40_000));
        let disk = self.world.disk.clone();
        match self.dice.roll(10) {
            0..=3 => disk.fail_in(1 + self.dice.roll(60)),
            4 => disk.cut(),
            5 | 6 => {
                let (who, held) = (*self.dice.pick(&CALLERS), self.dice.one_in(2));
                if self.parted.iter().any(|(_, parted, _)| *parted == who) {
                    return;
                }
                let length = Duration::from_millis(500 + self.dice.roll(45_000));
                self.world.note(&format!("{who} is parted, held {held}"));
                match held {
                    true => sim.hold(SERVER, who),
                    false => sim.partition(SERVER, who),
                }
                self.parted.push((now + length, who, held));
            }
            7 | 8 => {
                let by = self.dice.roll(7_200_000) as i64 - 3_600_000;
                self.world.note(&format!("the wall clock is set by {by}"));
                self.world.clocks.set_wall(by);
            }
            // A machine that is off does not sleep.
            _ if self.dark_until.is_some() => {}
            _ => {
                let longest = *self.dice.pick(&[5_000, 120_000, 3_600_000]);
                let length = self.dice.roll(longest);
                let from = self.world.clocks.passed();
                self.world.clocks.suspend(Duration::from_millis(length));
                self.world.book().suspends.push((from, from + length));
                self.world.note(&format!("slept {length}"));
            }
        }
    }

    /// Ends the partings whose time has come.
    fn mend(&mut self, sim: &mut Sim<'_>, now: Duration) {
        let world = self.world.clone();
        self.parted.retain(|(until, who, held)| {
            if now < *until {
                return true;
            }
            world.note(&format!("{who} is back"));
            match held {
                true => sim.release(SERVER, *who),
                false => sim.repair(SERVER, *who),
            }
            false
        });
    }

    /// Nothing fails any more.
    fn calm(&mut self, sim: &mut Sim<'_>) {
        self.parted.iter_mut().for_each(|parted| parted.0 = Duration::ZERO);
        self.mend(sim, Duration::ZERO);
        self.world.enter(Phase::Calm);
    }
}
