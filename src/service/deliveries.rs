//! Watching deliveries: everything unread, then each outcome and turn as it comes (rule 11). Offered
//! again by each new watch until it is acknowledged.

use super::asks::session_of;
use super::authorize::{Call, authorize};
use super::presence::Attachment;
use super::stream::{Found, Look, Watch};
use super::watch::DeliveryMessage;
use super::{Caller, Service};
use crate::ask::{Ask, AskId, Delivery, SessionId};
use crate::engine::hub::Topic;
use crate::error::Error;
use crate::store::Scope;
use std::collections::HashSet;

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
        let look = DeliveryLook {
            session,
            offered: HashSet::new(),
            _attachment: self.attached.attach(session),
        };
        Ok(self.watch(self.subscribe(Topic::Session(session)), look))
    }
}

struct DeliveryLook {
    session: SessionId,
    /// What this stream has offered already and is still unread.
    offered: HashSet<(AskId, u64)>,
    _attachment: Attachment,
}

impl Look for DeliveryLook {
    type Message = DeliveryMessage;

    async fn look(&mut self, service: &Service) -> Result<Found<DeliveryMessage>, Error> {
        let scope = Scope::AskedBy(self.session);
        let (mut after, mut unread_now) = (None, HashSet::new());
        let mut found = Vec::new();
        loop {
            let listing = service.engine.store().list(&scope, after, AT_ONCE).await?;
            let ids: Vec<AskId> = listing.asks.iter().map(|(id, _)| *id).collect();
            after = ids.last().copied();
            for ask in service.load_asks(&ids).await? {
                for revision in unread(&ask) {
                    unread_now.insert((ask.id, revision));
                    if !self.offered.contains(&(ask.id, revision)) {
                        found.push(DeliveryMessage::Delivery(ask.clone(), revision));
                    }
                }
            }
            if ids.len() < AT_ONCE {
                self.offered = unread_now;
                return Ok(Found::more(found));
            }
        }
    }

    fn idle(&self) -> DeliveryMessage {
        DeliveryMessage::Idle
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
