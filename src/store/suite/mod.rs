//! The laws every store must keep, as checks that panic with what was broken. Give [`all`] a way to
//! make a fresh store; for what only some stores can do (be opened again, fail), drive a [`World`]
//! and let it [`check`](World::check) what the store then says.
//! `examples/own_store.rs` runs these on a store of its own.

mod copied;
mod due;
mod found;
mod plain;
mod sample;
mod whole;
mod world;

pub use copied::what_is_exported_fills_another_store;
pub use due::{asks_and_sessions_are_due_in_one_order, people_are_to_be_told_until_they_are};
pub use sample::{Dice, mark, receipt, roster, session, standing_no, ticket, token, twin, work};
pub use world::World;

use super::{Batch, Change, Committed, Fault, Key, Listing, Record, Scope, SessionScope, Store};
use crate::ask::{AskId, Namespace, Now, PersonName, StandingNo, Timestamp, Twin};
use crate::session::Session;
use std::sync::Arc;

/// Every law, each on a store of its own.
///
/// # Panics
///
/// When one is broken.
pub async fn all<F: Future<Output = Arc<dyn Store>>>(fresh: impl Fn() -> F) {
    what_is_not_there_is_none(&*fresh().await).await;
    what_is_written_is_loaded(&*fresh().await).await;
    a_change_is_whole_or_not_at_all(&*fresh().await).await;
    a_later_change_sees_the_earlier(&*fresh().await).await;
    a_history_has_no_holes(&*fresh().await).await;
    a_history_is_read_in_pages(&*fresh().await).await;
    a_prefix_may_fit_several(&*fresh().await).await;
    a_receipt_is_its_callers(&*fresh().await).await;
    a_content_is_guarded_also_where_nothing_is_kept_of_it(&*fresh().await).await;
    asks_and_sessions_are_due_in_one_order(&*fresh().await).await;
    people_are_to_be_told_until_they_are(&*fresh().await).await;
    the_clock_is_kept_with_any_batch(&*fresh().await).await;
    sessions_are_listed_by_what_they_are(&*fresh().await).await;
    for seed in 0..4 {
        rule_18_history_is_enough(&*fresh().await, seed).await;
        what_is_exported_fills_another_store(&*fresh().await, fresh().await, seed).await;
    }
}

/// A key without a record is none; an ask that is not there has no history and stands in no list.
pub async fn what_is_not_there_is_none(store: &dyn Store) {
    let session = session(1);
    let keys = [
        Key::Ask(ask_id(1, [1; 6])),
        Key::Session(session.id),
        Key::Work(work(1).id),
        Key::Ticket(ticket(1).secret),
        Key::Token(token(1).secret),
        Key::Receipt(receipt(1, "a caller").key),
        Record::Twin(twin(1).into()).key(),
        Record::StandingNo(standing_no(1).into()).key(),
        Record::Roster(roster(1).into()).key(),
        Key::Clock,
    ];
    assert_eq!(store.load(&keys).await, Ok(vec![None; keys.len()]));
    assert_eq!(store.load(&[]).await, Ok(vec![]));
    assert_eq!(store.history(ask_id(1, [1; 6]), 0, 9).await, Ok(vec![]));
    let scope = Scope::WaitingOnPerson(Namespace::default(), PersonName::owner());
    assert_eq!(store.list(&scope, None, 9).await, Ok(Listing::default()));
    assert_eq!(store.sessions(&SessionScope::Held, None, 9).await, Ok(vec![]));
    assert_eq!(store.asks(None, 9).await, Ok(vec![]));
    assert_eq!(store.asks(Some(ask_id(1, [1; 6])), 9).await, Ok(vec![]));
    assert_eq!(store.receipts(None, 9).await, Ok(vec![]));
    assert_eq!(store.receipts(Some(&receipt(1, "a caller").key), 9).await, Ok(vec![]));
    assert_eq!(store.deadlines(Timestamp::from_millis(u64::MAX), 9).await, Ok(vec![]));
    assert_eq!(store.notices(Timestamp::from_millis(u64::MAX), 9).await, Ok(vec![]));
    assert_eq!(store.resolve("ask_", 9).await, Ok(vec![]));
}

/// What was written is loaded, in the order of the keys; written again it is the later; removed it
/// is none.
pub async fn what_is_written_is_loaded(store: &dyn Store) {
    let records = vec![
        Record::Session(session(1).into()),
        Record::Work(work(1).into()),
        Record::Ticket(ticket(1).into()),
        Record::Token(token(1).into()),
        Record::Receipt(receipt(1, "a caller").into()),
        Record::Twin(twin(1).into()),
        Record::StandingNo(standing_no(1).into()),
        Record::Roster(roster(1).into()),
        Record::Clock(mark(5)),
    ];
    let keys: Vec<_> = records.iter().rev().map(Record::key).collect();
    let change = Change { writes: records.clone(), ..Change::default() };
    assert_eq!(commit(store, change).await, Committed::Done);
    let expected = records.iter().rev().cloned().map(Some).collect();
    assert_eq!(store.load(&keys).await, Ok(expected));

    let later = Record::Session(Session { revision: 2, stay: 7, ..session(1) }.into());
    let change = Change { writes: vec![later.clone()], ..Change::default() };
    assert_eq!(commit(store, change).await, Committed::Done);
    assert_eq!(store.load(&[later.key()]).await, Ok(vec![Some(later)]));

    let change = Change { removes: keys.clone(), ..Change::default() };
    assert_eq!(commit(store, change).await, Committed::Done);
    assert_eq!(store.load(&keys).await, Ok(vec![None; keys.len()]));
}

/// A change is kept only while everything it rests on stands: what it writes, and what it only read.
pub async fn a_change_is_whole_or_not_at_all(store: &dyn Store) {
    let read = session(1);
    let writes = vec![Record::Session(read.clone().into())];
    commit(store, Change { writes, ..Change::default() }).await;
    let mut world = World::new(1);
    let filing = world.file();
    let id = filing.events[0].0;
    let written = Record::Token(token(1).into());
    let with = |expects: Vec<(Key, u64)>| {
        let expects = filing.expects.iter().cloned().chain(expects).collect();
        let writes = filing.writes.iter().cloned().chain([written.clone()]).collect();
        Change { expects, writes, ..filing.clone() }
    };
    let broken = [
        (Key::Session(read.id), 0),
        (Key::Session(read.id), 2),
        (Key::Session(session(2).id), 1),
        (written.key(), 1),
        (Key::Ask(id), 1),
        (Key::Clock, 1),
    ];
    for guard in broken {
        let told = format!("{guard:?}");
        assert_eq!(commit(store, with(vec![guard])).await, Committed::Conflict, "{told}");
        let keys = [Key::Ask(id), written.key()];
        assert_eq!(store.load(&keys).await, Ok(vec![None, None]), "{told}");
        assert_eq!(store.history(id, 0, 9).await, Ok(vec![]), "{told}");
        assert_eq!(
            store.list(&Scope::Open(Namespace::default()), None, 9).await,
            Ok(Listing::default())
        );
        assert_eq!(store.resolve("ask_", 9).await, Ok(vec![]), "{told}");
    }
    let whole = with(vec![(Key::Session(read.id), 1), (written.key(), 0), (Key::Clock, 0)]);
    assert_eq!(commit(store, whole).await, Committed::Done);
    assert_eq!(store.resolve("ask_", 9).await, Ok(vec![id]));
}

/// Within a batch each change sees what those before it did; a conflict keeps nothing, and does not
/// stop those after it.
pub async fn a_later_change_sees_the_earlier(store: &dyn Store) {
    let at = |revision, stay| Session { revision, stay, ..session(1) };
    let step = |expected, session: Session| Change {
        expects: vec![(Key::Session(session.id), expected)],
        writes: vec![Record::Session(session.into())],
        ..Change::default()
    };
    let changes = vec![step(0, at(1, 0)), step(1, at(2, 1)), step(1, at(2, 2)), step(2, at(3, 3))];
    let became = store.commit(Batch { changes, mark: None }).await;
    use Committed::{Conflict, Done};
    assert_eq!(became, Ok(vec![Done, Done, Conflict, Done]));
    let kept = Record::Session(at(3, 3).into());
    assert_eq!(store.load(&[kept.key()]).await, Ok(vec![Some(kept)]));
}

/// Events that do not go on where the history ends are a conflict, whatever the change expects.
pub async fn a_history_has_no_holes(store: &dyn Store) {
    let mut world = World::new(2);
    let filing = world.file();
    let unguarded = Change { expects: Vec::new(), ..filing.clone() };
    assert_eq!(commit(store, unguarded.clone()).await, Committed::Done);
    assert_eq!(commit(store, unguarded).await, Committed::Conflict, "it was filed twice");
    let mut gap = Change { writes: Vec::new(), ..filing.clone() };
    gap.expects.clear();
    gap.events[0].1.revision = 3;
    assert_eq!(commit(store, gap).await, Committed::Conflict, "revision 2 is missing");
    assert_eq!(store.history(filing.events[0].0, 0, 9).await.map(|found| found.len()), Ok(1));
}

/// From any revision, of any length, in order.
pub async fn a_history_is_read_in_pages(store: &dyn Store) {
    let mut world = World::new(3);
    let filing = world.file();
    let id = filing.events[0].0;
    commit(store, filing).await;
    for _ in 0..9 {
        let said = world.say(id);
        assert_eq!(commit(store, said).await, Committed::Done);
    }
    let all = store.history(id, 0, usize::MAX).await.expect("the store is there");
    assert_eq!(all.iter().map(|event| event.revision).collect::<Vec<_>>(), Vec::from_iter(1..=10));
    for after in 0..=11u64 {
        for limit in 0..=11 {
            let page = store.history(id, after, limit).await;
            let expected = all.iter().skip(after as usize).take(limit).cloned().collect();
            assert_eq!(page, Ok(expected), "after {after}, at most {limit}");
        }
    }
    assert_eq!(store.history(id, u64::MAX, 9).await, Ok(vec![]));
}

/// A prefix that fits several ids gives them, no more than wanted.
pub async fn a_prefix_may_fit_several(store: &dyn Store) {
    let mut world = World::new(4);
    let (near, far) = ([1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 5, 255]);
    let ids = [ask_id(1, near), ask_id(2, far), ask_id(3, [200; 6])];
    for id in ids {
        let filing = world.file_as(id);
        assert_eq!(commit(store, filing).await, Committed::Done);
    }
    let shared = &ids[0].to_string()[..10];
    let mut found = store.resolve(shared, 9).await.expect("the store is there");
    found.sort_unstable();
    assert_eq!(found, ids[..2]);
    assert_eq!(store.resolve(shared, 1).await.map(|found| found.len()), Ok(1));
    assert_eq!(store.resolve(&ids[1].to_string(), 9).await, Ok(vec![ids[1]]));
    assert_eq!(store.resolve("ask_u", 9).await, Ok(vec![]), "`u` is in no id");
    assert_eq!(store.resolve(shared, 0).await, Ok(vec![]));
}

/// The same request id of two callers is two receipts.
pub async fn a_receipt_is_its_callers(store: &dyn Store) {
    let (one, other) = (receipt(1, "one"), receipt(1, "other"));
    let change = Change {
        expects: vec![(Key::Receipt(one.key.clone()), 0)],
        writes: vec![Record::Receipt(one.clone().into())],
        ..Change::default()
    };
    assert_eq!(commit(store, change.clone()).await, Committed::Done);
    assert_eq!(commit(store, change).await, Committed::Conflict, "it is there");
    let keys = [Key::Receipt(one.key.clone()), Key::Receipt(other.key)];
    assert_eq!(store.load(&keys).await, Ok(vec![Some(Record::Receipt(one.into())), None]));
}

/// What is kept of a content is written only over the revision that was seen, and nothing is a
/// revision too; each work, and each of the two kinds, has its own.
pub async fn a_content_is_guarded_also_where_nothing_is_kept_of_it(store: &dyn Store) {
    let (one, no) = (Record::Twin(twin(1).into()), Record::StandingNo(standing_no(1).into()));
    let later = [
        Record::Twin(Twin { revision: 2, ..twin(1) }.into()),
        Record::StandingNo(StandingNo { revision: 2, again: 1, ..standing_no(1) }.into()),
    ];
    let others = [Record::Twin(twin(2).into()), Record::StandingNo(standing_no(2).into())];
    let write = |expected, record: &Record| Change {
        expects: vec![(record.key(), expected)],
        writes: vec![record.clone()],
        ..Change::default()
    };
    for (first, later) in [one, no].iter().zip(&later) {
        assert_eq!(commit(store, write(1, first)).await, Committed::Conflict, "it is not there");
        assert_eq!(commit(store, write(0, first)).await, Committed::Done);
        assert_eq!(commit(store, write(0, first)).await, Committed::Conflict, "it is there");
        assert_eq!(commit(store, write(1, later)).await, Committed::Done);
        assert_eq!(commit(store, write(1, later)).await, Committed::Conflict, "it is later");
        assert_eq!(store.load(&[first.key()]).await, Ok(vec![Some(later.clone())]));
        // Only read: another record may be written while it stands so, and no longer.
        let guarded = |seen| {
            let expects = vec![(first.key(), seen)];
            Change { expects, writes: vec![Record::Token(token(1).into())], ..Change::default() }
        };
        assert_eq!(commit(store, guarded(0)).await, Committed::Conflict);
        assert_eq!(commit(store, guarded(2)).await, Committed::Done);
        commit(store, Change { removes: vec![first.key()], ..Change::default() }).await;
        assert_eq!(store.load(&[first.key()]).await, Ok(vec![None]));
        assert_eq!(commit(store, guarded(2)).await, Committed::Conflict, "it is gone");
        assert_eq!(commit(store, guarded(0)).await, Committed::Done);
    }
    let keys = others.each_ref().map(Record::key);
    assert_eq!(store.load(&keys).await, Ok(vec![None, None]), "another work's is its own");
}

/// A mark is kept without any change, and beside one that conflicts; a batch without one leaves it.
pub async fn the_clock_is_kept_with_any_batch(store: &dyn Store) {
    let marked = |now| Batch { changes: Vec::new(), mark: Some(mark(now)) };
    assert_eq!(store.commit(marked(1)).await, Ok(vec![]));
    assert_eq!(store.load(&[Key::Clock]).await, Ok(vec![Some(Record::Clock(mark(1)))]));
    let conflict = Change { expects: vec![(Key::Session(session(1).id), 4)], ..Change::default() };
    let batch = Batch { changes: vec![conflict], ..marked(2) };
    assert_eq!(store.commit(batch).await, Ok(vec![Committed::Conflict]));
    assert_eq!(store.commit(Batch::default()).await, Ok(vec![]));
    assert_eq!(store.load(&[Key::Clock]).await, Ok(vec![Some(Record::Clock(mark(2)))]));
}

/// A session moves between the lists with each write of it, and leaves them all when it is removed.
pub async fn sessions_are_listed_by_what_they_are(store: &dyn Store) {
    let mut world = World::new(5);
    for _ in 0..60 {
        let change = world.turn_a_session();
        assert_eq!(commit(store, change).await, Committed::Done);
        world.check_sessions(store).await;
    }
    let ids: Vec<_> = world.sessions.keys().copied().collect();
    for id in ids {
        world.sessions.remove(&id);
        commit(store, Change { removes: vec![Key::Session(id)], ..Change::default() }).await;
        world.check_sessions(store).await;
    }
}

/// After any history: the ask is what its events fold to; and every list, deadline and prefix says
/// what follows from the asks as they are.
pub async fn rule_18_history_is_enough(store: &dyn Store, seed: u64) {
    let mut world = World::new(seed);
    for step in 0..300 {
        let change = world.step();
        assert_eq!(commit(store, change).await, Committed::Done, "seed {seed}, step {step}");
        if step % 50 == 0 {
            world.check(store).await;
        }
    }
    world.check(store).await;
}

/// Commits one change.
///
/// # Panics
///
/// When the store cannot.
pub async fn commit(store: &dyn Store, change: Change) -> Committed {
    let became = try_commit(store, change).await;
    became.unwrap_or_else(|fault| panic!("a commit failed: {fault}"))
}

/// Commits one change.
///
/// # Errors
///
/// The store's.
pub async fn try_commit(store: &dyn Store, change: Change) -> Result<Committed, Fault> {
    let became = store.commit(Batch { changes: vec![change], mark: None }).await?;
    assert_eq!(became.len(), 1, "one change, one outcome");
    Ok(became[0])
}

fn ask_id(millis: u64, random: [u8; 6]) -> AskId {
    AskId::new(Now::at(Timestamp::from_millis(millis)).time, random)
}
