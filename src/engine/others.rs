//! Others who share the store: what they commit is heard here and told there, and what was not heard is
//! found all the same. A hint wakes whoever watches; what is due, to be told or to be swept is looked
//! for every few seconds, so that it is taken up when the one that would have done it is gone.

use super::Engine;
use super::hub::Topic;
use crate::ask::{Span, Timestamp};
use crate::store::share::{Attached, Here, Present, Share};
use crate::store::{Fault, Heard};
use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How often service time is set by the store's.
const LOOK_AT_TIME: Duration = Duration::from_secs(1);
/// How often what is due is looked for, on average: what its replica did not do is late by less than
/// six seconds (rule 3).
const LOOK_AT_DUE: Duration = Duration::from_secs(4);
/// Every so many of these looks are at everything that is watched: each costs a read.
const LOOKS_AT_ALL: u32 = 3;

/// What is another's to do is done here when it has not been for so long: with the second that a replica
/// may take for anything, six (rule 3).
pub(super) const LEFT_TO_OTHERS: Span = Span::from_secs(5);

/// What of all work is this process's own, and what is attached to it.
#[derive(Debug)]
pub(super) struct Shares {
    own: Mutex<Own>,
    attached: Mutex<Attachments>,
    /// What is said of this process is one thing after another.
    saying: tokio::sync::Mutex<()>,
}

/// What is attached to this process, and what of that the others have yet to be told.
#[derive(Debug, Default)]
struct Attachments {
    all: HashSet<Attached>,
    came: Vec<Attached>,
    left: Vec<Attached>,
    /// They may have missed something.
    unsure: bool,
}

#[derive(Clone, Debug)]
struct Own {
    due: Share,
    notices: Share,
}

impl Default for Shares {
    /// All of it.
    fn default() -> Self {
        let own = Mutex::new(Own { due: Share::whole(), notices: Share::whole() });
        Self { own, attached: Mutex::default(), saying: tokio::sync::Mutex::default() }
    }
}

impl Shares {
    /// Shares it out among those who are present. Whether that changed anything.
    fn among(&self, present: &Present) -> bool {
        let names = |only: fn(&(String, bool)) -> bool| -> Vec<&str> {
            present.all.iter().filter(|one| only(one)).map(|(name, _)| name.as_str()).collect()
        };
        let due = Share::of(&present.me, &names(|_| true));
        let notices = Share::of(&present.me, &names(|(_, carries)| *carries));
        let mut own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        let changed = own.due != due || own.notices != notices;
        *own = Own { due, notices };
        changed
    }

    /// Something is attached to this process, and counts at the others once they are told.
    pub(super) fn attach(&self, one: Attached) {
        let mut attached = self.attached();
        if attached.all.insert(one.clone()) {
            attached.left.retain(|left| *left != one);
            attached.came.push(one);
        }
    }

    /// It is not any more.
    pub(super) fn detach(&self, one: Attached) {
        let mut attached = self.attached();
        if attached.all.remove(&one) {
            attached.came.retain(|came| *came != one);
            attached.left.push(one);
        }
    }

    fn attached(&self) -> MutexGuard<'_, Attachments> {
        self.attached.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What there is to say of this process, and how much is attached to it then.
    fn here(&self, carries: bool) -> (Here, usize) {
        let mut attached = self.attached();
        let whole = std::mem::take(&mut attached.unsure);
        let (mut came, left) =
            (std::mem::take(&mut attached.came), std::mem::take(&mut attached.left));
        if whole {
            came = attached.all.iter().cloned().collect();
        }
        (Here { carries, came, left, whole }, attached.all.len())
    }

    /// Which of what is due.
    pub(super) fn due(&self) -> Share {
        self.own.lock().unwrap_or_else(PoisonError::into_inner).due.clone()
    }

    /// Which notices.
    pub(super) fn notices(&self) -> Share {
        self.own.lock().unwrap_or_else(PoisonError::into_inner).notices.clone()
    }
}

impl Engine {
    /// Something is attached to this process, and counts at all who share the store within a second.
    pub fn attach(&self, one: Attached) {
        if self.shared.is_shared {
            self.shared.shares.attach(one);
        }
    }

    /// It is not any more.
    pub fn detach(&self, one: Attached) {
        if self.shared.is_shared {
            self.shared.shares.detach(one);
        }
    }

    /// Whether it is attached to any of those who share the store, as they said last.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    pub async fn is_attached(&self, one: &Attached) -> Result<bool, Fault> {
        self.shared.store.is_attached(one).await
    }
}

/// Says that this process is here, and takes its share among those who are.
///
/// # Errors
///
/// When the store cannot be reached.
pub(super) async fn share(shared: &super::Shared) -> Result<(), Fault> {
    let _one = shared.shares.saying.lock().await;
    let (here, count) = shared.shares.here(shared.carries);
    let said = shared.store.present(&here).await;
    let written = said.as_ref().ok().and_then(Option::as_ref).map(|present| present.written);
    if written.is_none_or(|written| written != count) {
        // Whether it was heard is not known, or the database has lost some: all is said again.
        shared.shares.attached().unsure = true;
    }
    let Some(present) = said? else { return Ok(()) };
    shared.hosts.watched_elsewhere(&present.hosts, shared.clock.now().time);
    if shared.shares.among(&present) {
        tracing::debug!(replicas = present.all.len(), "work is shared out anew");
        shared.deadline_moved.notify_one();
        shared.notices_moved.notify_one();
    }
    Ok(())
}

/// Tells the others what was committed.
pub(super) fn tell(engine: &super::Shared, topics: &HashSet<Topic>) {
    // Made only where somebody is told: a store of one daemon's asks for none.
    engine.store.tell(&mut topics.iter().map(Topic::hint));
}

/// Wakes by what is heard, for ever.
pub(super) async fn hear(engine: &Engine) {
    loop {
        match engine.shared.store.heard().await {
            Heard::Hints(hints) => engine.shared.hub.wake_hinted(&hints),
            Heard::Everything => engine.shared.hub.wake_all(),
        }
    }
}

/// Looks for what was not heard, for ever.
pub(super) async fn look(engine: &Engine) {
    let shared = &engine.shared;
    for count in 1u32.. {
        let now = shared.clock.now().time;
        tokio::time::sleep(LOOK_AT_DUE.mul_f64(jitter(now))).await;
        shared.deadline_moved.notify_one();
        shared.notices_moved.notify_one();
        shared.to_sweep.notify_one();
        if let Err(fault) = super::holds::look(shared).await {
            tracing::debug!(%fault, "who is held is not known");
        }
        if count % LOOKS_AT_ALL == 0 {
            shared.hub.wake_all();
        }
    }
}

/// From 0.75 to 1.25, by the millisecond at which it was asked for: several processes do not look at
/// once for long.
fn jitter(now: Timestamp) -> f64 {
    0.75 + (now.as_millis().wrapping_mul(0x9e37_79b9) % 1_000) as f64 / 2_000.0
}

/// Keeps service time by the store's, for ever.
pub(super) async fn follow(engine: &Engine, following: &super::clock::Following) {
    loop {
        tokio::time::sleep(LOOK_AT_TIME).await;
        match engine.shared.store.time().await {
            Ok(Some(time)) => following.set(time),
            Ok(None) => return,
            // Until it is there again the machine's clock counts on from what it said last.
            Err(fault) => tracing::debug!(%fault, "the store's time cannot be read"),
        }
        if let Err(fault) = share(&engine.shared).await {
            tracing::debug!(%fault, "the others do not know that this one is here");
        }
    }
}
