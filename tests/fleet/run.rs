//! One run: asks are filed, talked about, and settled by several at once, while things fail; then all is calm,
//! and looked at.

use super::callers::{Fleet, ROUTE_TIMEOUT, answers, draft, owner, session};
use super::check;
use super::store::STALL;
use super::watchers::watch;
use super::world::{World, millis};
use askway::ask::{AskId, EventKind};
use askway::error::{Error, Reason};
use askway::service::{Caller, Service, Verdict};
use askway::store::Store;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::{JoinSet, LocalSet, spawn_local};
use tokio::time::timeout;

/// Who waits for one ask.
const WAITERS: usize = 20;
/// Open asks of one session.
const ASKS: usize = 4;
/// Workers of one lead: not more asks than may wait on one session.
const WORKERS: usize = 8;
/// In so many milliseconds asks are begun, and in as many after that they are settled.
const SPREAD: u64 = 60_000;
/// So many have something to say at the moment at which others settle it.
const TALKERS: usize = 4;
/// That moment, in milliseconds: a few commits.
const MEET: u64 = 8;
/// When all is calm everything ends within this.
const ENDS_WITHIN: Duration = Duration::from_secs(600);
/// How late a timer may be, in milliseconds: six seconds are promised. What is late beyond that is what is done
/// to those who fire it: two stalls of a statement, and some that failed.
const LATE_AT_MOST: u64 = 6_000 + 3 * STALL;

/// Who settles an ask, and how.
#[derive(Clone, Debug)]
pub enum Racer {
    Owner(usize),
    Lead(usize),
    Decline,
    Withdraw,
    /// Settles nothing, and may come before whoever does: in one batch with them, at one replica of several.
    Say,
}

/// What an ask has come to, as those who called were told.
pub struct Lived {
    pub id: AskId,
    /// Turns that were accepted.
    pub said: usize,
    pub winner: Racer,
    pub acknowledged: bool,
    /// The last revision each watcher has seen.
    pub watched: Vec<u64>,
}

/// Runs it; what happened, as `name=count` each.
pub fn run(seed: u64, replicas: usize, waiters: usize) -> String {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime");
    LocalSet::new().block_on(&runtime, async {
        let world = World::new(seed);
        live(&world, replicas, waiters).await;
        let (trace, millis) = (world.trace(), world.passed());
        let state = world.state();
        let violations = state.violations.len();
        let counts = state.counts.iter().map(|(name, count)| format!("{name}={count} "));
        let counts: String = counts.collect();
        format!("{counts}sim_ms={millis} trace={trace} violations={violations}")
    })
}

async fn live(world: &Arc<World>, replicas: usize, waiters: usize) {
    let fleet = Fleet::start(world, replicas).await;
    let suffering = spawn_local(fleet.clone().suffers());
    let asks = waiters.div_ceil(WAITERS);
    let mut begun = JoinSet::new();
    for number in 0..asks.div_ceil(ASKS * WORKERS) {
        begun.spawn_local(team(fleet.clone(), number * ASKS * WORKERS..asks));
    }
    let teams = begun.join_all().await;
    let (mut lives, begins) = (JoinSet::new(), world.passed());
    for (lead, worker, number) in teams.into_iter().flatten() {
        lives.spawn_local(life(fleet.clone(), lead, worker, number, begins));
    }
    let mut lived = Vec::new();
    while let Some(ended) = lives.join_next().await {
        let (life, watchers) = ended.expect("a life ends");
        lived.push((life, watchers));
    }
    world.state().calm = true;
    suffering.await.expect("it ends");
    let mut all = Vec::new();
    for (mut life, mut watchers) in lived {
        let ends = async {
            while let Some(seen) = watchers.join_next().await {
                life.watched.push(seen.expect("a watcher ends"));
            }
        };
        if timeout(ENDS_WITHIN, ends).await.is_err() {
            world.broken("rule_08", &format!("a watch of {} does not end", life.id));
        }
        all.push(life);
    }
    fleet.stop();
    check::all(world, &all).await;
}

/// A lead and its workers: who asks which, of the asks in `of`.
async fn team(fleet: Arc<Fleet>, of: Range<usize>) -> Vec<(Caller, Caller, usize)> {
    let (lead, mut all) = (session(&fleet, None).await, Vec::new());
    for first in of.clone().step_by(ASKS).take(WORKERS) {
        let worker = session(&fleet, Some(&lead)).await;
        let asks = (first..of.end).take(ASKS);
        all.extend(asks.map(|number| (lead.clone(), worker.clone(), number)));
    }
    all
}

/// One ask, from its filing until it is acknowledged. All are open at once for a while.
async fn life(
    fleet: Arc<Fleet>,
    lead: Caller,
    worker: Caller,
    number: usize,
    begins: u64,
) -> (Lived, JoinSet<u64>) {
    let (world, owner) = (fleet.world.clone(), owner());
    millis(world.roll(SPREAD)).await;
    let request = fleet.fresh();
    let filed = fleet.done("an ask", async |service| {
        service.ask(&worker, request.clone(), None, draft(number)).await
    });
    let ask = filed.await.ask.expect("it is filed");
    world.state().count("asks");
    let mut watchers = JoinSet::new();
    for watcher in 0..WAITERS {
        let caller = if watcher == 0 { worker.clone() } else { owner.clone() };
        watchers.spawn_local(watch(fleet.clone(), caller, ask.id, 1));
    }
    let mut said = 0;
    for turn in 0..world.roll(4) {
        millis(world.roll(3_000)).await;
        let request = fleet.fresh();
        let receipt = fleet.done("a turn", async |service| {
            service.say(&owner, request.clone(), ask.id, format!("turn {turn}")).await
        });
        said += usize::from(receipt.await.verdict == Verdict::Accepted);
    }
    let kind = world.roll(4);
    let settles = begins + SPREAD + world.roll(SPREAD);
    millis(settles.saturating_sub(world.passed())).await;
    if kind == 3 {
        let due = ask.deadline().expect("it has a route timer").as_millis();
        escalates(&world, ask.id, due).await;
    }
    let mut racers = match kind {
        0 => vec![Racer::Owner(0), Racer::Owner(1), Racer::Owner(2)],
        1 => vec![Racer::Lead(0), Racer::Decline, Racer::Owner(2)],
        2 => vec![Racer::Withdraw, Racer::Owner(0), Racer::Lead(1)],
        _ => vec![Racer::Owner(0), Racer::Decline],
    };
    racers.extend((0..TALKERS).map(|_| Racer::Say));
    let (id, digest) = (ask.id, ask.digest);
    let race = racers.into_iter().map(|racer| {
        let (fleet, lead, worker, owner) = (&fleet, &lead, &worker, &owner);
        async move {
            millis(fleet.world.roll(MEET)).await;
            let request = fleet.fresh();
            let call = async |service: Service| {
                let request = request.clone();
                match racer {
                    Racer::Owner(label) => {
                        service.answer(owner, request, id, digest, answers(label)).await
                    }
                    Racer::Lead(label) => {
                        service.answer_agent(lead, request, id, digest, answers(label)).await
                    }
                    Racer::Decline => service.decline(owner, request, id, digest, None).await,
                    Racer::Withdraw => service.withdraw(worker, request, id, None).await,
                    Racer::Say => service.say(owner, request, id, "wait".into()).await,
                }
            };
            let verdict = fleet.done("an outcome", call).await.verdict;
            (racer, verdict)
        }
    });
    let told = futures_util::future::join_all(race).await;
    let (talked, told): (Vec<_>, _) =
        told.into_iter().partition(|(racer, _)| matches!(racer, Racer::Say));
    said += talked.iter().filter(|(_, verdict)| *verdict == Verdict::Accepted).count();
    let winner = won(&world, id, told);
    let acknowledged = !matches!(winner, Racer::Withdraw) && world.roll(2) == 0;
    if acknowledged {
        acknowledge(&fleet, &worker, id).await;
    }
    (Lived { id, said, winner, acknowledged, watched: Vec::new() }, watchers)
}

/// Who won; one did, and all others were told that they did not.
fn won(world: &World, id: AskId, told: Vec<(Racer, Verdict)>) -> Racer {
    let accepted = told.iter().filter(|(_, verdict)| *verdict == Verdict::Accepted).count();
    let lost = told.iter().filter(|(racer, verdict)| match verdict {
        Verdict::Closed => true,
        // It was not asked any more, or a person has said no to the same before it.
        Verdict::Refused(Reason::NotSender | Reason::StandingDecline) => {
            matches!(racer, Racer::Lead(_))
        }
        Verdict::Refused(_) | Verdict::Accepted => false,
    });
    if accepted != 1 || lost.count() + 1 != told.len() {
        world.broken("rule_02", &format!("{id}: {told:?}"));
    }
    let winner = told.iter().find(|(_, verdict)| *verdict == Verdict::Accepted);
    winner.unwrap_or(&told[0]).0.clone()
}

/// Waits until it is with the next hop, and looks how late that was.
async fn escalates(world: &World, id: AskId, due: u64) {
    let moved = loop {
        let events = world.mem.history(id, 1, usize::MAX).await.unwrap();
        let moves = |kind: &EventKind| matches!(kind, EventKind::Escalated(_));
        if let Some(moved) = events.iter().find(|event| moves(&event.kind)) {
            break moved.time.as_millis();
        }
        if world.now().as_millis() > due + 10 * ROUTE_TIMEOUT.as_millis() {
            return world.broken("rule_03", &format!("{id} stays where it is"));
        }
        millis(500).await;
    };
    let late = moved.saturating_sub(due);
    if moved < due || late > LATE_AT_MOST {
        world.broken("rule_03", &format!("{id} moved at {moved}, and was due at {due}"));
    }
    let mut state = world.state();
    state.count("escalations");
    let worst = state.counts.entry("late_worst_ms").or_default();
    *worst = late.max(*worst);
}

async fn acknowledge(fleet: &Fleet, worker: &Caller, id: AskId) {
    let request = fleet.fresh();
    let receipt = fleet.done("an acknowledgement", async |service| {
        let (ask, _) = service.get(worker, &id.to_string()).await?;
        let outcome = ask.outcome().ok_or_else(|| Error::store("it is not settled yet"))?.revision;
        service.acknowledge(worker, request.clone(), id, outcome, None).await
    });
    let verdict = receipt.await.verdict;
    if verdict != Verdict::Accepted {
        fleet.world.broken("rule_11", &format!("{id}: {verdict:?}"));
    }
}
