//! Watching deliveries: everything unread, then each outcome and turn as it comes (rule 11). Offered
//! again by each new watch until it is acknowledged.

use super::asks::session_of;
use super::authorize::{Call, authorize};
use super::presence::Attachment;
use super::watch::{DeliveryMessage, Watch, Woken};
use super::{Caller, Service};
use crate::ask::{Ask, AskId, Delivery, SessionId};
use crate::engine::hub::{Subscription, Topic};
use crate::error::Error;
use crate::store::Scope;
use futures_util::stream;
use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

/// Asks looked through at once.
const AT_ONCE: usize = 100;

impl Service {
    /// Watches the outcomes and turns that the calling session has not acknowledged.
    ///
    /// # Errors
    ///
    /// As every call. In the stream: stopping, unavailable.
    pub async fn watch_deliveries(&self, caller: &Caller) -> Result<Watch<DeliveryMessage>, Error> {
        authorize(caller, Call::WatchDeliveries, None)?;
        let session = session_of(caller).session;
        let watch = DeliveryWatch {
            service: self.clone(),
            subscription: self.engine.hub().subscribe(Topic::Session(session)),
            session,
            offered: HashSet::new(),
            pending: VecDeque::new(),
            ended: false,
            _attachment: self.attached.attach(session),
        };
        Ok(Box::pin(stream::unfold(watch, |mut watch| async move {
            let message = watch.next().await?;
            Some((message, watch))
        })))
    }
}

struct DeliveryWatch {
    service: Service,
    subscription: Subscription,
    session: SessionId,
    /// What this stream has offered already and is still unread.
    offered: HashSet<(AskId, u64)>,
    pending: VecDeque<(Arc<Ask>, u64)>,
    ended: bool,
    _attachment: Attachment,
}

impl DeliveryWatch {
    async fn next(&mut self) -> Option<Result<DeliveryMessage, Error>> {
        let mut idle = false;
        loop {
            if let Some((ask, revision)) = self.pending.pop_front() {
                return Some(Ok(DeliveryMessage::Delivery(ask, revision)));
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
                return Some(Ok(DeliveryMessage::Idle));
            }
            match self.service.wait(&mut self.subscription).await {
                Woken::Commit => {}
                Woken::Idle => idle = true,
                Woken::Stopping => return self.end(Error::stopping()),
            }
        }
    }

    fn end(&mut self, error: Error) -> Option<Result<DeliveryMessage, Error>> {
        self.ended = true;
        Some(Err(error))
    }

    async fn read(&mut self) -> Result<(), Error> {
        let scope = Scope::AskedBy(self.session);
        let (mut after, mut unread_now) = (None, HashSet::new());
        loop {
            let listing = self.service.engine.store().list(&scope, after, AT_ONCE).await?;
            let ids: Vec<AskId> = listing.asks.iter().map(|(id, _)| *id).collect();
            after = ids.last().copied();
            for ask in self.service.load_asks(&ids).await? {
                for revision in unread(&ask) {
                    unread_now.insert((ask.id, revision));
                    if !self.offered.contains(&(ask.id, revision)) {
                        self.pending.push_back((ask.clone(), revision));
                    }
                }
            }
            if ids.len() < AT_ONCE {
                self.offered = unread_now;
                return Ok(());
            }
        }
    }
}

/// The unread deliveries of `ask` in order: turns, and after them the outcome.
fn unread(ask: &Ask) -> impl Iterator<Item = u64> + '_ {
    let turns = ask.turns.iter().filter(|turn| turn.unread).map(|turn| turn.revision);
    let outcome = match ask.delivery() {
        Some(Delivery::Unread) => ask.outcome().map(|outcome| outcome.revision),
        _ => None,
    };
    turns.chain(outcome)
}
