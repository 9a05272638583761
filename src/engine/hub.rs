//! Topics: what a watcher waits on. They carry a wake-up and never data.
//!
//! A watcher marks its topic seen, reads the store, sends, and waits. A wake-up between the mark and
//! the wait is kept, so nothing that was committed before it is missed; that order is the whole
//! proof (rule 8). A slow watcher holds one number, no buffer.

use crate::ask::{AskId, Namespace, SessionId};
use crate::session::SecretHash;
use crate::store::record::fnv;
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::Notify;

/// What may be waited on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Topic {
    /// An ask.
    Ask(AskId),
    /// Any ask that a session may know of, and the session itself.
    Session(SessionId),
    /// Any ask in a namespace: what people see.
    Namespace(Namespace),
    /// A token: its streams are cut when it is good no more.
    Credential(SecretHash),
    /// Sessions whose asks have to be moved: the sweep's.
    Sweeps,
}

impl Topic {
    /// Its number, the same in every process: how others who share the store are told of it. Two topics
    /// of one number cost a look that finds nothing new.
    pub fn hint(&self) -> u64 {
        let (kind, name) = match self {
            Topic::Ask(id) => (1, id.to_bytes().to_vec()),
            Topic::Session(id) => (2, id.to_bytes().to_vec()),
            Topic::Namespace(namespace) => (3, namespace.as_str().as_bytes().to_vec()),
            Topic::Credential(secret) => (4, secret.to_bytes().to_vec()),
            Topic::Sweeps => (5, Vec::new()),
        };
        fnv(std::iter::once(kind).chain(name))
    }
}

/// All topics that somebody waits on. Cheap to clone; the clones are one hub.
#[derive(Clone, Debug, Default)]
pub struct Hub {
    topics: Arc<Mutex<HashMap<Topic, Watched>>>,
}

/// A topic that somebody waits on.
#[derive(Debug)]
struct Watched {
    place: Arc<Place>,
    watchers: usize,
}

/// Where the watchers of a topic wait. Nearly every open ask has one, so it is small: a watch channel
/// has eight `Notify`s and a lock beside its count.
#[derive(Debug)]
struct Place {
    topic: Topic,
    /// Its number: what is heard of others comes in hundreds, and is looked for among all topics.
    hint: u64,
    /// How often it was woken.
    wakes: AtomicU64,
    waiting: Notify,
}

impl Place {
    fn wake(&self) {
        self.wakes.fetch_add(1, Ordering::AcqRel);
        self.waiting.notify_waiters();
    }

    fn wakes(&self) -> u64 {
        self.wakes.load(Ordering::Acquire)
    }
}

impl Hub {
    /// Waits on `topic` from now on.
    pub fn subscribe(&self, topic: Topic) -> Subscription {
        let mut topics = self.topics.lock().unwrap_or_else(PoisonError::into_inner);
        let new = || {
            let (wakes, waiting) = (AtomicU64::new(0), Notify::new());
            let (topic, hint) = (topic.clone(), topic.hint());
            let place = Arc::new(Place { topic, hint, wakes, waiting });
            Watched { place, watchers: 0 }
        };
        let watched = topics.entry(topic.clone()).or_insert_with(new);
        watched.watchers += 1;
        let place = watched.place.clone();
        Subscription { seen: place.wakes(), place, hub: self.clone() }
    }

    /// Wakes whoever waits on any of `topics`.
    pub fn wake<'a>(&self, topics: impl IntoIterator<Item = &'a Topic>) {
        let known = self.topics.lock().unwrap_or_else(PoisonError::into_inner);
        let watched = topics.into_iter().filter_map(|topic| known.get(topic));
        watched.for_each(|watched| watched.place.wake());
    }

    /// Wakes whoever waits on a topic of one of these numbers.
    pub fn wake_hinted(&self, hints: &[u64]) {
        let hints: HashSet<u64> = hints.iter().copied().collect();
        let known = self.topics.lock().unwrap_or_else(PoisonError::into_inner);
        let watched = known.values().filter(|watched| hints.contains(&watched.place.hint));
        watched.for_each(|watched| watched.place.wake());
    }

    /// Wakes everybody: after the store was away.
    pub fn wake_all(&self) {
        let known = self.topics.lock().unwrap_or_else(PoisonError::into_inner);
        known.values().for_each(|watched| watched.place.wake());
    }
}

/// One watcher's place at a topic; leaving it forgets a topic nobody else waits on.
#[derive(Debug)]
pub struct Subscription {
    place: Arc<Place>,
    /// How often its topic had been woken at the last mark.
    seen: u64,
    hub: Hub,
}

impl Subscription {
    /// Marks the topic seen: only what is committed from here on wakes.
    pub fn mark_seen(&mut self) {
        self.seen = self.place.wakes();
    }

    /// Returns when something was committed after the last mark.
    pub async fn woken(&mut self) {
        loop {
            // Whoever wakes counts first and tells then; whoever waits listens first and counts then.
            let told = self.place.waiting.notified();
            let wakes = self.place.wakes();
            if wakes != self.seen {
                self.seen = wakes;
                return;
            }
            told.await;
        }
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        let mut topics = self.hub.topics.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(watched) = topics.get_mut(&self.place.topic) {
            watched.watchers -= 1;
            if watched.watchers == 0 {
                topics.remove(&self.place.topic);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn c20_a_wake_between_the_look_and_the_wait_is_kept() {
        let hub = Hub::default();
        let topic = Topic::Namespace(Namespace::default());
        let mut subscription = hub.subscribe(topic.clone());
        subscription.mark_seen();
        hub.wake([&topic]);
        subscription.woken().await;
        drop(subscription);
        assert!(hub.topics.lock().unwrap().is_empty(), "a topic nobody waits on is forgotten");
    }
}
