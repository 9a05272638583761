//! All that [`World::check`] looks at, in one call each rather than in pages: for tests that look ten
//! thousand times.

use super::World;
use super::plain::{lists, scopes};
use crate::ask::{Ask, Timestamp};
use crate::session::Session;
use crate::store::{Due, Key, Listing, Record, SessionScope, Store};
use std::sync::Arc;

const END: Timestamp = Timestamp::from_millis(u64::MAX);

impl World {
    /// What a store that was told all of this must say, its derived rows as a fresh derivation gives
    /// them.
    ///
    /// # Panics
    ///
    /// When it says something else.
    pub async fn check_whole(&self, store: &dyn Store) {
        let asks = || self.asks.values().map(|(ask, _)| ask);
        let found = store.asks(None, usize::MAX).await.expect("the store is there");
        assert!(found.iter().map(Arc::as_ref).eq(asks()), "all asks, in time order");
        self.check_histories(store).await;
        let receipts = store.receipts(None, usize::MAX).await.map(|found| found.len());
        assert_eq!(receipts, Ok(self.receipts.len()), "no receipt that nobody was told");
        self.check_derived(store).await;
    }

    async fn check_derived(&self, store: &dyn Store) {
        let asks = || self.asks.values().map(|(ask, _)| ask);
        for scope in scopes() {
            let of_scope = asks().filter(|ask| lists(&scope, ask));
            let asks: Vec<_> = of_scope.map(|ask| (ask.id, ask.revision)).collect();
            let expected = Listing { total: asks.len(), asks };
            assert_eq!(store.list(&scope, None, usize::MAX).await, Ok(expected), "{scope:?}");
        }
        let each = asks().filter_map(|ask| Some((ask.deadline()?, Due::Ask(ask.id))));
        let sessions = self.sessions.values();
        let sessions = sessions.filter_map(|one| Some((one.deadline()?, Due::Session(one.id))));
        let mut deadlines: Vec<_> = each.chain(sessions).collect();
        deadlines.sort_unstable();
        assert_eq!(store.deadlines(END, usize::MAX).await, Ok(deadlines));
        let due = |ask: &Ask| Some((ask.notice_due()?, ask.id));
        let mut notices: Vec<_> = asks().filter_map(due).collect();
        notices.sort_unstable();
        assert_eq!(store.notices(END, usize::MAX).await, Ok(notices));
        let mut found = store.resolve("ask_", usize::MAX).await.expect("the store is there");
        found.sort_unstable();
        assert!(found.iter().eq(self.asks.keys()), "each is found by its prefix, no other is");
        for scope in [SessionScope::ToSweep, SessionScope::Held, SessionScope::Asleep] {
            let found = store.sessions(&scope, None, usize::MAX).await;
            let of_scope = |session: &&Session| scope.has(session);
            let expected = self.sessions.values().filter(of_scope).cloned().map(Arc::new);
            assert_eq!(found, Ok(expected.collect()), "{scope:?}");
        }
        let keys: Vec<_> = self.sessions.keys().copied().map(Key::Session).collect();
        let expected = self.sessions.values().cloned().map(|one| Some(Record::Session(one.into())));
        assert_eq!(store.load(&keys).await, Ok(expected.collect()));
    }
}
