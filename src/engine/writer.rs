//! The writer: drain, decide, commit, reply. One batch at a time, never lingering: while one batch
//! syncs, the next gathers in the queues. On a thread of its own, or a task of the caller's runtime.

use super::batch::{Decided, run_batch};
use super::foresee::foresee;
use super::hub::Topic;
use super::request::{Reply, Request};
use super::world::World;
use super::{Shared, Waiting, others, topics_of_ask, topics_of_session};
use crate::ask::{Now, Span, limits};
use crate::error::Error;
use crate::store::{Batch, Change, Committed, Fault, Record};
use futures_util::future::try_join_all;
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::sync::mpsc;

/// Requests in one batch: enough that the sync of the disk is shared by many, few enough that the
/// first of them does not wait long for the last.
const BATCH: usize = 256;
/// How often a batch is decided again because another writer of the same store was first.
const ATTEMPTS: usize = 16;
/// How many looks ahead are loaded: a caller's token and session, its work, what that leads to.
const FORESEEN: usize = 3;
/// How often service time is kept while a deadline is armed and nothing else is committed.
const KEEP_TIME: Duration = Duration::from_secs(5);
/// A deadline further off than this does not keep the disk awake: it is a purge, or as good as one.
const ARMED_WITHIN: Span = Span::from_days(8);

/// Where the writer runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WriterOn {
    /// A thread of its own, which a sync of the disk may block.
    #[default]
    Thread,
    /// A task of the caller's runtime: for a store that never blocks, and where everything is to be in
    /// one thread, as in a simulation.
    Runtime,
}

/// Starts the writer; it ends after `stopping`, when both queues are empty.
pub(super) fn spawn(
    on: WriterOn,
    shared: Arc<Shared>,
    asks: mpsc::Receiver<Waiting>,
    others: mpsc::Receiver<Waiting>,
) {
    let work = async move {
        run(&shared, asks, others).await;
        shared.stopped.cancel();
    };
    if on == WriterOn::Runtime {
        tokio::spawn(work);
        return;
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.expect("a runtime of one thread needs no more than memory");
    std::thread::Builder::new()
        .name("askway-writer".to_owned())
        .spawn(move || runtime.block_on(work))
        .expect("the system gives one thread to the writer");
}

async fn run(
    shared: &Shared,
    mut asks: mpsc::Receiver<Waiting>,
    mut others: mpsc::Receiver<Waiting>,
) {
    loop {
        let first = tokio::select! {
            biased;
            Some(waiting) = others.recv() => waiting,
            Some(waiting) = asks.recv() => waiting,
            () = shared.stopping.cancelled(), if !others.is_closed() => {
                // Nothing more comes in; what is in is still done.
                others.close();
                asks.close();
                continue;
            }
            else => break,
        };
        let mut batch = vec![first];
        while batch.len() < BATCH
            && let Ok(waiting) = others.try_recv().or_else(|_| asks.try_recv())
        {
            batch.push(waiting);
        }
        serve(shared, batch).await;
    }
    if let Err(fault) = keep(shared, Vec::new()).await {
        tracing::warn!(%fault, "service time was not kept at the end");
    }
}

/// Commits changes, with service time as it is. One after another: a mark that was overtaken by a later
/// one would set service time back.
pub(super) async fn keep(shared: &Shared, changes: Vec<Change>) -> Result<Vec<Committed>, Fault> {
    let _one = shared.marking.lock().await;
    let batch = Batch { changes, mark: Some(shared.clock.mark()) };
    shared.store.commit(batch).await
}

/// Decides and commits `batch`, again for those that another writer was ahead of; then replies.
async fn serve(shared: &Shared, mut batch: Vec<Waiting>) {
    for _ in 0..ATTEMPTS {
        let now = shared.clock.now();
        let requests: Vec<&Request> = batch.iter().map(|waiting| &waiting.request).collect();
        let committed = match decide(shared, &requests, now).await {
            Ok(decided) => commit(shared, decided).await,
            Err(fault) => Err(fault),
        };
        let outcomes = match committed {
            Ok(outcomes) => outcomes,
            Err(fault) => {
                // Whether it is on disk is not known. The caller asks again under the same request
                // id, and the receipt, or its absence, tells.
                shared.shaken.store(true, Ordering::Relaxed);
                tracing::error!(%fault, requests = batch.len(), "a batch was not committed");
                for waiting in batch {
                    let _ = waiting.reply.send(Err(Error::from(fault.clone())));
                }
                return;
            }
        };
        batch = answer(batch, outcomes);
        if batch.is_empty() {
            return;
        }
    }
    for waiting in batch {
        let _ = waiting.reply.send(Err(Error::store("others write the same records")));
    }
}

/// Decides the batch, loading whatever the decisions turn out to look at.
async fn decide(shared: &Shared, requests: &[&Request], now: Now) -> Result<Vec<Decided>, Fault> {
    let mut world = World::new(shared.policy, shared.hosts.clone());
    for _ in 0..FORESEEN {
        requests.iter().for_each(|request| foresee(&mut world, request));
        if !load(shared, &mut world).await? {
            break;
        }
    }
    loop {
        match run_batch(&mut world, requests, now) {
            Ok(decided) => return Ok(decided),
            Err(_) => load(shared, &mut world).await?,
        };
    }
}

/// Loads and counts what `world` was found to miss; whether it missed anything.
async fn load(shared: &Shared, world: &mut World) -> Result<bool, Fault> {
    let (keys, scopes) = (world.take_missing(), world.take_uncounted());
    let missed = !keys.is_empty() || !scopes.is_empty();
    // At once: of a store behind a network each is a way there and back.
    let records =
        async { if keys.is_empty() { Ok(Vec::new()) } else { shared.store.load(&keys).await } };
    let count = |scope| shared.store.list(scope, None, limits::OPEN_LISTED);
    let (records, listings) = tokio::try_join!(records, try_join_all(scopes.iter().map(count)))?;
    world.add(keys, records);
    for (scope, listing) in scopes.into_iter().zip(listings) {
        world.add_count(scope, listing);
    }
    Ok(missed)
}

/// Commits, and wakes whoever the changes concern. For each request, whether it is done.
async fn commit(shared: &Shared, decided: Vec<Decided>) -> Result<Vec<(Reply, Committed)>, Fault> {
    let mut changes: Vec<Change> = Vec::new();
    let replies: Vec<(Reply, bool)> = decided
        .into_iter()
        .map(|one| {
            let changes_something = one.change.is_some();
            changes.extend(one.change);
            (one.reply, changes_something)
        })
        .collect();
    if changes.is_empty() {
        return Ok(replies.into_iter().map(|(reply, _)| (reply, Committed::Done)).collect());
    }
    let concerned = concerned(&changes);
    let outcomes = keep(shared, changes).await?;
    wake(shared, &concerned);
    Ok(told(replies, outcomes))
}

/// What becomes of each reply, of which some have a change, in order. One without rests on what was decided
/// before it in the same batch: where any of that was not kept, it is decided again too.
fn told<T>(replies: Vec<(T, bool)>, outcomes: Vec<Committed>) -> Vec<(T, Committed)> {
    let (mut outcomes, mut all_kept) = (outcomes.into_iter(), true);
    let became = |(reply, changes_something)| {
        let committed = match changes_something {
            true => outcomes.next().expect("a store tells of every change"),
            false if all_kept => Committed::Done,
            false => Committed::Conflict,
        };
        all_kept &= committed == Committed::Done;
        (reply, committed)
    };
    replies.into_iter().map(became).collect()
}

/// Whom changes concern, and whether a session's asks are to be swept.
fn concerned(changes: &[Change]) -> (HashSet<Topic>, bool) {
    let (mut topics, mut to_sweep) = (HashSet::new(), false);
    for record in changes.iter().flat_map(|change| &change.writes) {
        match record {
            Record::Ask(ask) => topics.extend(topics_of_ask(ask)),
            Record::Session(session) => {
                topics.extend(topics_of_session(session));
                // Its token is good no more: the streams of it are cut.
                topics.extend(session.is_ended().then_some(Topic::Credential(session.token)));
                to_sweep |= session.sweep;
            }
            Record::Token(token) => {
                topics.insert(Topic::Credential(token.secret));
            }
            Record::Roster(roster) => {
                to_sweep |= roster.to_sweep().next().is_some() || !roster.revoked_hosts.is_empty();
            }
            _ => {}
        }
    }
    (topics, to_sweep)
}

/// After a commit. Whoever is woken by a change that was a conflict finds nothing new.
pub(super) fn wake(shared: &Shared, (topics, to_sweep): &(HashSet<Topic>, bool)) {
    if *to_sweep {
        shared.to_sweep.notify_one();
    }
    if shared.shaken.swap(false, Ordering::Relaxed) {
        shared.hub.wake_all();
        shared.to_sweep.notify_one();
    }
    shared.hub.wake(topics);
    others::tell(shared, topics);
    shared.deadline_moved.notify_one();
    shared.notices_moved.notify_one();
}

/// Replies to those that are done; gives back those that have to be decided again.
fn answer(batch: Vec<Waiting>, outcomes: Vec<(Reply, Committed)>) -> Vec<Waiting> {
    let mut again = Vec::new();
    for (waiting, (reply, committed)) in batch.into_iter().zip(outcomes) {
        match committed {
            // A caller that is gone does not need its reply; the receipt is kept.
            Committed::Done => drop(waiting.reply.send(reply)),
            Committed::Conflict => again.push(waiting),
        }
    }
    again
}

/// Keeps service time while a deadline is armed, so that a reboot does not forget how late it is. What was
/// kept before a boot says nothing of the time since: after one it is kept at once, or a crash soon after
/// would forget that as well.
pub(super) async fn keep_time(shared: &Shared, is_booted: bool) {
    let mut wait = if is_booted { Duration::ZERO } else { KEEP_TIME };
    loop {
        tokio::time::sleep(wait).await;
        wait = KEEP_TIME;
        let until = shared.clock.now().time + ARMED_WITHIN;
        let armed = shared.store.deadlines(until, 1).await;
        if armed.is_ok_and(|armed| !armed.is_empty())
            && let Err(fault) = keep(shared, Vec::new()).await
        {
            tracing::warn!(%fault, "service time was not kept");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::{Namespace, Policy, SessionId, Timestamp};
    use crate::engine::Engine;
    use crate::engine::clock::Manual;
    use crate::session::{Kind, Manner, Secret, enroll};
    use crate::store::mem::Mem;
    use crate::store::{ClockMark, Key, Store};
    use Committed::{Conflict, Done};

    #[test]
    fn rule_01_nothing_is_said_that_rests_on_what_another_writer_kept_from_the_store() {
        let replies = vec![("refused", false), ("kept", true), ("lost", true), ("closed", false)];
        let became = told(replies, vec![Done, Conflict]);
        let expected =
            [("refused", Done), ("kept", Done), ("lost", Conflict), ("closed", Conflict)];
        assert_eq!(became, expected);
    }

    /// The mark that a store which was marked in `boot` has a moment after a start in the first boot.
    async fn mark_after_start(boot: &str) -> ClockMark {
        let (store, time) = (Arc::new(Mem::default()), Timestamp::from_millis(5_000));
        let hash = |number| Secret::new(Kind::Session, [number; 32]).hash();
        let session = enroll(
            SessionId::new(time, [1; 6]),
            Namespace::default(),
            "worker".parse().unwrap(),
            "me".parse().unwrap(),
            None,
            Manner::default(),
            (hash(1), hash(2)),
            Now::at(time),
        );
        let armed = Change { writes: vec![Record::Session(session.into())], ..Change::default() };
        let mark =
            ClockMark { service: time, boot: boot.into(), since_boot: 1_000, awake_since: time };
        let batch = Batch { changes: vec![armed], mark: Some(mark) };
        assert_eq!(store.commit(batch).await.unwrap(), [Done]);
        let clocks = Manual::at(Timestamp::from_millis(0));
        clocks.set(|reading| reading.since_boot = 3_000);
        let policy = Policy::default();
        let engine = Engine::start(store.clone(), policy, clocks, None, WriterOn::Runtime).await;
        let _engine = engine.expect("it starts");
        // Time passes here only while all wait, and this does not.
        for _ in 0..1_000 {
            tokio::task::yield_now().await;
        }
        match store.load(&[Key::Clock]).await.unwrap().pop().flatten() {
            Some(Record::Clock(mark)) => mark,
            other => panic!("{other:?}"),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn what_was_kept_before_a_boot_is_kept_anew_at_once_and_else_in_its_time() {
        let same = mark_after_start("first boot").await;
        assert_eq!((same.since_boot, same.service.as_millis()), (1_000, 5_000));
        let other = mark_after_start("the boot before").await;
        assert_eq!((&*other.boot, other.since_boot), ("first boot", 3_000));
        assert_eq!(other.service.as_millis(), 5_000, "what had passed since is not known");
    }
}
