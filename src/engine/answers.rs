//! Whether the store answers: looked at every second, for whoever sends callers here
//! (`grpc.health.v1`), and for streams that outlast a store which is away for a while.

use super::{Engine, writer};
use crate::store::{Fault, Key};
use std::collections::HashSet;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::timeout;

/// How often it is looked at.
const LOOK: Duration = Duration::from_secs(1);
/// A store that takes longer than this is away; with the second before it, that is known within five.
const WITHIN: Duration = Duration::from_secs(4);

/// What the store did when it was looked at last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answers {
    /// Whether it could be read.
    pub reads: bool,
    /// Whether it could be written to, as far as that is known: a disk that is full still reads.
    pub writes: bool,
}

impl Answers {
    /// As one that is well.
    pub const WELL: Self = Self { reads: true, writes: true };
}

/// Looks for ever.
pub(super) async fn run(engine: &Engine) {
    let shared = &engine.shared;
    loop {
        let (answers, why) = look(shared).await;
        let told = |said: &mut Answers| std::mem::replace(said, answers) != answers;
        if shared.answers.send_if_modified(told) {
            match why {
                Some(why) => tracing::warn!(%why, "not ready: calls are to be sent elsewhere"),
                None => tracing::info!("ready again"),
            }
            // Who watches looks at once, and says how it is.
            shared.hub.wake_all();
        }
        tokio::time::sleep(LOOK).await;
    }
}

/// What it does, and where it is not well, why.
async fn look(shared: &super::Shared) -> (Answers, Option<String>) {
    if let Err(fault) = soon(shared.store.load(&[Key::Clock])).await {
        return (Answers { reads: false, writes: false }, Some(fault.to_string()));
    }
    // It is written to where the last commit failed: nobody else may, and it is to be known when it can.
    if shared.shaken.load(Ordering::Relaxed) {
        if let Err(fault) = soon(writer::keep(shared, Vec::new())).await {
            return (Answers { reads: true, writes: false }, Some(fault.to_string()));
        }
        writer::wake(shared, &(HashSet::new(), false));
    }
    (Answers::WELL, None)
}

async fn soon<T>(answer: impl Future<Output = Result<T, Fault>>) -> Result<T, Fault> {
    let silent = |_| Fault::Unavailable("the store says nothing".to_owned());
    timeout(WITHIN, answer).await.map_err(silent)?
}

impl Engine {
    /// Whether the store answers, and whenever that changes.
    pub fn answers(&self) -> watch::Receiver<Answers> {
        self.shared.answers.subscribe()
    }

    /// Whether the store could be read when it was looked at last.
    pub fn reads(&self) -> bool {
        self.shared.answers.borrow().reads
    }
}
