//! Notices: waits for the earliest that is due in the store, has each carried to people, and writes
//! down how that went. What is due, and when again, is the ask's to say
//! ([`ask::Notice`](crate::ask::Notice)); how people are told is a [`Notifier`]'s.
//!
//! Of several daemons that carry notices each carries those of its buckets, another's only once that one
//! is there no more.
//!
//! A notice is carried at least once: a daemon that is killed after it was carried and before that
//! was written down has it carried again. Nobody ever waits for one: filing, answers and the timer
//! go on beside, and a notifier that hangs or fails holds up other notices alone.

use super::Engine;
use super::request::Deed;
use crate::ask::{Ask, AskId, Command, NoticeWhy, Span, Timestamp, limits};
use crate::error::Error;
use crate::store::{Fault, Key, Record};
use async_trait::async_trait;
use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use std::collections::{BTreeSet, VecDeque};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// How long to leave a store alone that could not be read or written.
const BACK_OFF: Duration = Duration::from_millis(250);
/// What [`limits::NOTICES_PER_SECOND`] counts in.
const SECOND: Span = Span::from_secs(1);

/// What carries notices to people.
#[async_trait]
pub trait Notifier: fmt::Debug + Send + Sync + 'static {
    /// Tells the people whom `ask` waits on of it, or those whom it waited on last; returns when it
    /// is done. Dropped before that, it has to end what it began.
    ///
    /// # Errors
    ///
    /// Why they may not know of it, as the second half of a sentence. It is kept with the ask, where
    /// its asker reads it too.
    async fn tell(&self, ask: &Ask, why: NoticeWhy) -> Result<(), String>;
}

/// Runs for ever.
pub(super) async fn run(engine: &Engine, notifier: Arc<dyn Notifier>) {
    let mut carrying = Carrying { engine, notifier, asks: BTreeSet::new(), begun: VecDeque::new() };
    let mut running: FuturesUnordered<BoxFuture<'_, AskId>> = FuturesUnordered::new();
    loop {
        let moved = engine.shared.notices_moved.notified();
        let next = match carrying.next().await {
            Ok(Next::Now(ask, why)) => {
                running.push(Box::pin(carry(engine, carrying.notifier.clone(), ask, why)));
                continue;
            }
            Ok(next) => next,
            Err(_) => {
                tokio::time::sleep(BACK_OFF).await;
                continue;
            }
        };
        tokio::select! {
            Some(ask) = running.next(), if !running.is_empty() => drop(carrying.asks.remove(&ask)),
            () = moved => {}
            () = async {
                match next {
                    Next::At(time) => engine.shared.clock.wait_until(time).await,
                    Next::Now(..) | Next::Unknown => std::future::pending().await,
                }
            } => {}
        }
    }
}

/// What is being carried, and when the last ones were begun.
struct Carrying<'a> {
    engine: &'a Engine,
    notifier: Arc<dyn Notifier>,
    asks: BTreeSet<AskId>,
    begun: VecDeque<Timestamp>,
}

/// What to carry next.
enum Next {
    /// This ask's.
    Now(Arc<Ask>, NoticeWhy),
    /// Nothing before this.
    At(Timestamp),
    /// Nothing before one of those that are being carried is done, or something is committed.
    Unknown,
}

impl Carrying<'_> {
    async fn next(&mut self) -> Result<Next, Fault> {
        if self.asks.len() >= limits::NOTICES_AT_ONCE {
            return Ok(Next::Unknown);
        }
        let ever = Timestamp::from_millis(u64::MAX);
        let share = self.engine.shared.shares.notices();
        let waiting = self.engine.store().shared_notices(ever, &share, self.asks.len() + 1).await?;
        let others = waiting.into_iter().find(|(_, ask)| !self.asks.contains(ask));
        let Some((due, ask)) = others else { return Ok(Next::Unknown) };
        let now = self.engine.now();
        if due > now {
            return Ok(Next::At(due));
        }
        while self.begun.front().is_some_and(|begun| *begun + SECOND <= now) {
            self.begun.pop_front();
        }
        if let Some(first) = self.begun.front().copied()
            && self.begun.len() >= limits::NOTICES_PER_SECOND
        {
            return Ok(Next::At(first + SECOND));
        }
        let loaded = self.engine.store().load(&[Key::Ask(ask)]).await?.pop().flatten();
        // What changed since is looked at again once that commit wakes this.
        let Some(Record::Ask(ask)) = loaded else { return Ok(Next::Unknown) };
        let Some(notice) = ask.notice.filter(|notice| notice.due <= now) else {
            return Ok(Next::Unknown);
        };
        if ask.deadline().is_some_and(|deadline| deadline <= now) {
            // After a stop its tick comes first: what it has come to then is told, and no more.
            return Ok(Next::Unknown);
        }
        self.begun.push_back(now);
        self.asks.insert(ask.id);
        Ok(Next::Now(ask, notice.why))
    }
}

/// Carries the notice of an ask, and writes down how that went. Where the ask was settled meanwhile,
/// whoever was told is told that too, once: what they have in hand is over.
async fn carry(
    engine: &Engine,
    notifier: Arc<dyn Notifier>,
    ask: Arc<Ask>,
    why: NoticeWhy,
) -> AskId {
    let told = notifier.tell(&ask, why).await;
    let reached = told.is_ok();
    let after = write_down(engine, &ask, why, told).await;
    if let Some(after) = after.filter(|after| reached && !after.is_open()) {
        let told = notifier.tell(&after, NoticeWhy::Settled).await;
        write_down(engine, &after, NoticeWhy::Settled, told).await;
    }
    ask.id
}

/// The ask as it is with that in its history; none where it is there no more. Unwritten, the notice
/// would be carried again at once, so this waits for a store that is away.
async fn write_down(
    engine: &Engine,
    ask: &Ask,
    why: NoticeWhy,
    told: Result<(), String>,
) -> Option<Arc<Ask>> {
    match &told {
        Ok(()) => tracing::debug!(ask = %ask.id, why = why.word(), "people were told"),
        Err(failure) => {
            tracing::warn!(ask = %ask.id, why = why.word(), %failure, "people were not told");
        }
    }
    let command = Command::Noticed { why, of: ask.revision, failure: told.err() };
    loop {
        match engine.submit_own(Deed::OnAsk(ask.id, Box::new(command.clone()))).await {
            Ok(done) => return done.ask,
            Err(Error::NotFound(_)) => return None,
            Err(_) => tokio::time::sleep(BACK_OFF).await,
        }
    }
}
