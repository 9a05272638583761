//! The laws of what is due: deadlines in one order, and notices in an order of their own.

use super::sample::session;
use super::{World, commit};
use crate::ask::Timestamp;
use crate::session::Session;
use crate::store::{Change, Due, Key, Listing, Record, Scope, Store};

/// Asks and sessions are due by their time, whichever they are; what is removed is due no more.
pub async fn asks_and_sessions_are_due_in_one_order(store: &dyn Store) {
    let mut world = World::new(6);
    let (id, deadline) = loop {
        let filing = world.file();
        let id = filing.events[0].0;
        commit(store, filing).await;
        // Not every route has a timer.
        if let Some(deadline) = world.asks[&id].0.deadline() {
            break (id, deadline);
        }
    };
    let millis = deadline.as_millis();
    let at =
        |number, millis| Session { alive_until: Timestamp::from_millis(millis), ..session(number) };
    let (before, after) = (at(1, millis - 1), at(2, millis + 1));
    for session in [&after, &before] {
        let writes = vec![Record::Session(session.clone().into())];
        commit(store, Change { writes, ..Change::default() }).await;
    }
    let all = [
        (before.alive_until, Due::Session(before.id)),
        (deadline, Due::Ask(id)),
        (after.alive_until, Due::Session(after.id)),
    ];
    for count in 0..=3 {
        let found = store.deadlines(Timestamp::from_millis(u64::MAX), count).await;
        assert_eq!(found, Ok(all[..count].to_vec()), "at most {count}");
    }
    assert_eq!(store.deadlines(deadline, 9).await, Ok(all[..2].to_vec()));
    let held = Session { revision: 2, held: true, ..before };
    let removes = vec![Key::Session(after.id)];
    let writes = vec![Record::Session(held.into())];
    commit(store, Change { writes, removes, ..Change::default() }).await;
    assert_eq!(store.deadlines(Timestamp::from_millis(u64::MAX), 9).await, Ok(all[1..2].to_vec()));
}

/// An ask that people are to be told of is found by when, and in no deadline's place; told, claimed or
/// removed it is not found.
pub async fn people_are_to_be_told_until_they_are(store: &dyn Store) {
    let end = Timestamp::from_millis(u64::MAX);
    let mut world = World::new(9);
    let (id, due) = loop {
        let filing = world.file();
        let id = filing.events[0].0;
        commit(store, filing).await;
        if let Some(due) = world.asks[&id].0.notice_due() {
            break (id, due);
        }
    };
    assert_eq!(store.notices(end, 9).await, Ok(vec![(due, id)]));
    assert_eq!(store.notices(Timestamp::from_millis(due.as_millis() - 1), 9).await, Ok(vec![]));
    assert_eq!(store.notices(end, 0).await, Ok(vec![]));
    let failed = world.notice(id, Some("nobody is at home"));
    commit(store, failed).await;
    let later = world.asks[&id].0.notice_due().expect("it is tried again");
    assert_eq!(store.notices(end, 9).await, Ok(vec![(later, id)]));
    let untold = Scope::Untold(world.asks[&id].0.namespace.clone());
    assert_eq!(store.list(&untold, None, 9).await.map(|list| list.total), Ok(1));
    let told = world.notice(id, None);
    commit(store, told).await;
    assert_eq!(store.notices(end, 9).await, Ok(vec![]));
    assert_eq!(store.list(&untold, None, 9).await, Ok(Listing::default()));
}
