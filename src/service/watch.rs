//! Watching an ask: the whole of it, then every event once and in order, then an end (rule 8).
//!
//! Each stream is a small state and no task: it marks its topic seen, reads the store, sends what it
//! read, and waits. While it waits it holds a topic and a revision.

use super::authorize::Call;
use super::presence::Attachment;
use super::{Caller, Service};
use crate::ask::{Ask, AskId, Event};
use crate::engine::hub::{Subscription, Topic};
use crate::error::Error;
use crate::session::Principal;
use futures_util::stream;
use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio_stream::Stream;

/// How long a stream says nothing before it says that it is well: under the half minute in which an
/// idle proxy closes.
pub const IDLE: Duration = Duration::from_secs(25);

/// One message of WatchAsk.
#[derive(Clone, Debug)]
pub enum WatchMessage {
    /// First: the whole ask, as after the revision asked for.
    Ask(Arc<Ask>),
    /// Then: each event, with the ask as after it.
    Event(Event, Arc<Ask>),
    /// Nothing has happened for a while; the last revision sent.
    Idle(u64),
    /// Last: it is settled, at this revision, and everything was sent.
    End(u64),
}

/// One message of WatchInbox.
#[derive(Clone, Debug)]
pub enum InboxMessage {
    /// First: the inbox as it is.
    Snapshot {
        /// Oldest first, as many as are watched.
        asks: Vec<Arc<Ask>>,
        /// How many there are in all.
        total: usize,
    },
    /// Then: how it changed.
    Change {
        /// Asks that came.
        came: Vec<Arc<Ask>>,
        /// Asks whose revision grew.
        changed: Vec<Arc<Ask>>,
        /// Asks that left.
        left: Vec<AskId>,
        /// How many there are in all.
        total: usize,
    },
    /// Nothing has happened for a while.
    Idle,
}

/// One message of WatchDeliveries.
#[derive(Clone, Debug)]
pub enum DeliveryMessage {
    /// The ask as it is, and the revision of the turn or the outcome that is delivered.
    Delivery(Arc<Ask>, u64),
    /// Nothing has happened for a while.
    Idle,
}

/// The stream of a watch. An error is its last item.
pub type Watch<T> = Pin<Box<dyn Stream<Item = Result<T, Error>> + Send>>;

/// What wakes a waiting stream.
pub(super) enum Woken {
    /// Something was committed.
    Commit,
    /// Nothing was, for [`IDLE`].
    Idle,
    /// The server is stopping.
    Stopping,
}

impl Service {
    /// Watches an ask from after a revision; from now, where none is given.
    ///
    /// # Errors
    ///
    /// A revision ahead of the ask's; otherwise as every call. In the stream: stopping, unavailable.
    pub async fn watch_ask(
        &self,
        caller: &Caller,
        ask: AskId,
        after: Option<u64>,
    ) -> Result<Watch<WatchMessage>, Error> {
        let subscription = self.engine.hub().subscribe(Topic::Ask(ask));
        let now = self.visible(caller, Call::WatchAsk, ask).await?;
        if let Some(after) = after.filter(|after| *after > now.revision) {
            tracing::debug!(after, "a watch asked for what has not happened");
            return Err(Error::RevisionAhead(now.revision));
        }
        let attachment = match &caller.principal {
            Principal::Session(session) if *session == now.asker => {
                Some(self.attached.attach(session.session))
            }
            _ => None,
        };
        let watch = AskWatch {
            service: self.clone(),
            subscription,
            ask,
            revision: after.unwrap_or(now.revision),
            begun: false,
            pending: VecDeque::new(),
            ended: false,
            _attachment: attachment,
        };
        Ok(Box::pin(stream::unfold(watch, |mut watch| async move {
            let message = watch.next().await?;
            Some((message, watch))
        })))
    }

    /// Waits for a commit that concerns `subscription`, for silence, or for the end.
    pub(super) async fn wait(&self, subscription: &mut Subscription) -> Woken {
        tokio::select! {
            biased;
            () = self.engine.stopping().cancelled() => Woken::Stopping,
            () = subscription.woken() => Woken::Commit,
            () = tokio::time::sleep(IDLE) => Woken::Idle,
        }
    }
}

struct AskWatch {
    service: Service,
    subscription: Subscription,
    ask: AskId,
    /// The last revision read.
    revision: u64,
    begun: bool,
    pending: VecDeque<WatchMessage>,
    ended: bool,
    _attachment: Option<Attachment>,
}

impl AskWatch {
    async fn next(&mut self) -> Option<Result<WatchMessage, Error>> {
        let mut idle = false;
        loop {
            if let Some(message) = self.pending.pop_front() {
                return Some(Ok(message));
            }
            if self.ended {
                return None;
            }
            self.subscription.mark_seen();
            if let Err(error) = self.read().await {
                return self.end(error);
            }
            if !self.pending.is_empty() {
                continue;
            }
            if std::mem::take(&mut idle) {
                return Some(Ok(WatchMessage::Idle(self.revision)));
            }
            match self.service.wait(&mut self.subscription).await {
                Woken::Commit => {}
                // Looks once more before it says so: a wake-up that was lost is healed here.
                Woken::Idle => idle = true,
                Woken::Stopping => return self.end(Error::stopping()),
            }
        }
    }

    fn end(&mut self, error: Error) -> Option<Result<WatchMessage, Error>> {
        self.ended = true;
        Some(Err(error))
    }

    /// Reads what has happened since, and makes it pending.
    async fn read(&mut self) -> Result<(), Error> {
        let (base, events) = self.service.history(self.ask, self.revision).await?;
        let Some(base) = base else {
            // Purged while it was watched: it had settled long before.
            return Err(Error::no_such_ask(self.ask));
        };
        if !self.begun {
            self.begun = true;
            self.pending.push_back(WatchMessage::Ask(base.clone()));
        }
        let last = events.last().map_or(base, |(_, ask)| ask.clone());
        self.revision = last.revision;
        let events = events.into_iter().map(|(event, ask)| WatchMessage::Event(event, ask));
        self.pending.extend(events.filter(|message| !is_first(message)));
        if !last.is_open() {
            self.pending.push_back(WatchMessage::End(last.revision));
            self.ended = true;
        }
        Ok(())
    }
}

/// The first event is the ask as filed, which is the first message already.
fn is_first(message: &WatchMessage) -> bool {
    matches!(message, WatchMessage::Event(event, _) if event.revision == 1)
}
