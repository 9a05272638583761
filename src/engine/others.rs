//! Others who share the store: what they commit is heard here and told there, and what was not heard is
//! found all the same. A hint wakes whoever watches; what is due, to be told or to be swept is looked
//! for every few seconds, so that it is taken up when the one that would have done it is gone.

use super::Engine;
use super::hub::Topic;
use crate::ask::Timestamp;
use crate::store::Heard;
use std::collections::HashSet;
use std::time::Duration;

/// How often service time is set by the store's.
const LOOK_AT_TIME: Duration = Duration::from_secs(1);
/// How often what is due is looked for, on average: what its replica did not do is late by less than
/// six seconds (rule 3).
const LOOK_AT_DUE: Duration = Duration::from_secs(4);
/// Every so many of these looks are at everything that is watched: each costs a read.
const LOOKS_AT_ALL: u32 = 3;

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
    }
}
