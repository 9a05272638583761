//! What is found by its time and by how its id begins, as a store must say it: part of
//! [`World::check`].

use super::World;
use super::world::BEGINNING;
use crate::ask::{AskId, Timestamp};
use crate::store::{Due, Store};
use std::collections::BTreeSet;

impl World {
    pub(super) async fn check_deadlines(&self, store: &dyn Store) {
        let each = self.asks.values();
        let asks = each.filter_map(|(ask, _)| Some((ask.deadline()?, Due::Ask(ask.id))));
        let each = self.sessions.values();
        let sessions = each.filter_map(|one| Some((one.deadline()?, Due::Session(one.id))));
        let mut all: Vec<_> = asks.chain(sessions).collect();
        all.sort_unstable();
        let end = Timestamp::from_millis(u64::MAX);
        for until in all.iter().map(|(time, _)| *time).step_by(3).chain([BEGINNING, end]) {
            for limit in [0, 1, 5, usize::MAX] {
                let due = all.iter().filter(|(time, _)| *time <= until).take(limit);
                let found = store.deadlines(until, limit).await;
                assert_eq!(found, Ok(due.copied().collect()), "until {until:?}, at most {limit}");
            }
        }
    }

    pub(super) async fn check_notices(&self, store: &dyn Store) {
        let each = self.asks.values();
        let mut all: Vec<_> =
            each.filter_map(|(ask, _)| Some((ask.notice_due()?, ask.id))).collect();
        all.sort_unstable();
        let end = Timestamp::from_millis(u64::MAX);
        for until in all.iter().map(|(time, _)| *time).step_by(3).chain([BEGINNING, end]) {
            for limit in [0, 1, 5, usize::MAX] {
                let due = all.iter().filter(|(time, _)| *time <= until).take(limit);
                let found = store.notices(until, limit).await;
                assert_eq!(found, Ok(due.copied().collect()), "until {until:?}, at most {limit}");
            }
        }
    }

    pub(super) async fn check_prefixes(&self, store: &dyn Store) {
        for id in self.asks.keys() {
            let text = id.to_string();
            assert_eq!(store.resolve(&text, 9).await, Ok(vec![*id]));
            let begun = &text[..6];
            let fit = |other: &&AskId| other.to_string().starts_with(begun);
            let expected: BTreeSet<_> = self.asks.keys().filter(fit).copied().collect();
            let found = store.resolve(begun, usize::MAX).await.expect("the store is there");
            assert_eq!(found.len(), expected.len(), "{begun}");
            assert_eq!(BTreeSet::from_iter(found), expected, "{begun}");
        }
        for id in &self.removed {
            assert_eq!(store.resolve(&id.to_string(), 9).await, Ok(vec![]), "{id} was removed");
        }
    }
}
