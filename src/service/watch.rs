//! Watching an ask: the whole of it, then every event once and in order, then an end (rule 8).

use super::authorize::Call;
use super::presence::Attachment;
use super::stream::{Found, Look, Watch};
use super::{Away, Caller, Service};
use crate::ask::{Ask, AskId, Event};
use crate::engine::hub::Topic;
use crate::error::Error;
use crate::session::Principal;
use std::collections::VecDeque;
use std::sync::Arc;

/// One message of WatchAsk.
#[derive(Clone, Debug)]
pub enum WatchMessage {
    /// First: the whole ask, as after the revision asked for.
    Ask(Arc<Ask>),
    /// Then: each event, with the ask as after it.
    Event(Event, Arc<Ask>),
    /// Nothing has happened for a while, or it is not known.
    Idle {
        /// The last revision sent.
        revision: u64,
        /// Whether the store is away.
        stale: bool,
    },
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
        /// Whose askers are away.
        away: Away,
    },
    /// Then: how it changed.
    Change {
        /// Asks that came.
        came: Vec<Arc<Ask>>,
        /// Asks whose revision grew, or whose asker went away or came back.
        changed: Vec<Arc<Ask>>,
        /// Asks that left.
        left: Vec<AskId>,
        /// How many there are in all.
        total: usize,
        /// Whose askers are away.
        away: Away,
    },
    /// Nothing has happened for a while, or it is not known.
    Idle {
        /// Whether the store is away.
        stale: bool,
    },
}

/// One message of WatchDeliveries.
#[derive(Clone, Debug)]
pub enum DeliveryMessage {
    /// The ask as it is, and the revision of the turn or the outcome that is delivered.
    Delivery(Arc<Ask>, u64),
    /// Nothing has happened for a while, or it is not known.
    Idle {
        /// Whether the store is away.
        stale: bool,
    },
}

impl Service {
    /// Which store this is: revisions are its own.
    pub fn incarnation(&self) -> String {
        self.engine.store().incarnation()
    }

    /// Whether a revision seen in the store of this incarnation says anything of this one; in none, it
    /// is not looked at.
    ///
    /// # Errors
    ///
    /// When it was another one.
    pub fn is_of_this_store(&self, incarnation: &str) -> Result<(), Error> {
        match incarnation.is_empty() || incarnation == self.incarnation() {
            true => Ok(()),
            false => Err(Error::OtherHistory),
        }
    }

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
        let subscription = self.subscribe(Topic::Ask(ask));
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
        let seen = match after {
            Some(after) if after < now.revision => {
                Seen::Revision(after + u64::from(planted!("watch_skips_one")))
            }
            _ => Seen::Ask(self.latest.share(now)),
        };
        let look = AskLook { ask, seen, begun: false, _attachment: attachment };
        Ok(self.watch(caller, subscription, look))
    }
}

/// Revisions of a history that is read anew when something follows. An idle watch then holds a number
/// and no ask, which is some KiB; a longer history would cost each of its watchers more than that.
const SHORT: u64 = 16;

struct AskLook {
    ask: AskId,
    seen: Seen,
    begun: bool,
    _attachment: Option<Attachment>,
}

/// What a watch has behind it.
enum Seen {
    /// A revision; how the ask was then has to be read.
    Revision(u64),
    /// The ask as after what was sent. What follows is folded onto it: a thousand watchers of a long
    /// history would otherwise read all of it for each thing that happens.
    Ask(Arc<Ask>),
}

impl Look for AskLook {
    type Message = WatchMessage;

    async fn look(&mut self, service: &Service) -> Result<Found<WatchMessage>, Error> {
        let (base, events) = match &self.seen {
            Seen::Revision(seen) if self.begun && !service.goes_on(self.ask, *seen).await? => {
                return Ok(Found::more([]));
            }
            Seen::Revision(after) => service.history(self.ask, *after).await?,
            Seen::Ask(ask) => (Some(ask.clone()), service.since(ask).await?),
        };
        // Where there is none it was purged while it was watched: it had settled long before.
        let base = base.ok_or_else(|| Error::no_such_ask(self.ask))?;
        let mut messages = VecDeque::new();
        if !self.begun {
            self.begun = true;
            messages.push_back(WatchMessage::Ask(base.clone()));
        }
        let last = events.last().map_or(base, |(_, ask)| ask.clone());
        // The first event is the ask as filed, which is the first message already.
        let events = events.into_iter().filter(|(event, _)| event.revision > 1);
        messages.extend(events.map(|(event, ask)| WatchMessage::Event(event, ask)));
        let is_last = !last.is_open();
        if is_last {
            messages.push_back(WatchMessage::End(last.revision));
        }
        self.seen = match last.revision {
            short @ ..=SHORT => Seen::Revision(short),
            _ => Seen::Ask(service.latest.share(last)),
        };
        Ok(Found { messages, is_last })
    }

    fn idle(&self, stale: bool, unsent: Option<&WatchMessage>) -> WatchMessage {
        let revision = match (unsent, &self.seen) {
            (Some(WatchMessage::Ask(_)), _) => 0,
            (Some(WatchMessage::Event(event, _)), _) => event.revision - 1,
            (_, Seen::Revision(revision)) => *revision,
            (_, Seen::Ask(ask)) => ask.revision,
        };
        WatchMessage::Idle { revision, stale }
    }
}
