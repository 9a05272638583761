//! The asks as their watchers last saw them: held once, however many watch.

use crate::ask::{Ask, AskId};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// What watchers fold the next event onto. It keeps nothing alive itself.
#[derive(Clone, Debug, Default)]
pub(super) struct Latest {
    asks: Arc<Mutex<HashMap<AskId, Weak<Ask>>>>,
}

impl Latest {
    /// This ask; the same one for all who come with its revision. A thousand watchers of a long talk
    /// would otherwise hold it a thousand times.
    pub(super) fn share(&self, ask: Arc<Ask>) -> Arc<Ask> {
        let mut asks = self.asks.lock().unwrap_or_else(PoisonError::into_inner);
        match asks.get(&ask.id).map(Weak::upgrade) {
            Some(Some(held)) if held.revision == ask.revision => return held,
            // Who is behind catches up: the newer one stays, for the others.
            Some(Some(held)) if held.revision > ask.revision => return ask,
            Some(_) => {}
            None => asks.retain(|_, held| held.strong_count() > 0),
        }
        asks.insert(ask.id, Arc::downgrade(&ask));
        ask
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::fold;
    use crate::store::suite::World;

    #[test]
    fn watchers_of_one_revision_hold_one_ask_and_nothing_is_kept_for_nobody() {
        let latest = Latest::default();
        let mut world = World::new(1);
        let mut filed = || fold(world.file().events.iter().map(|(_, event)| event)).unwrap();
        let (first, other) = (filed(), filed());
        let held = latest.share(Arc::new(first.clone()));
        assert!(Arc::ptr_eq(&held, &latest.share(Arc::new(first.clone()))));
        let newer = latest.share(Arc::new(Ask { revision: first.revision + 1, ..first.clone() }));
        let behind = latest.share(Arc::new(first));
        assert!(behind.revision < newer.revision);
        assert!(Arc::ptr_eq(&newer, &latest.share(Arc::new((*newer).clone()))));
        drop((held, behind, newer));
        let _other = latest.share(Arc::new(other));
        assert_eq!(latest.asks.lock().unwrap().len(), 1);
    }
}
