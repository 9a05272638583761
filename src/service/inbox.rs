//! Watching an inbox: a snapshot, then what came, changed and left.

use super::authorize::{Call, authorize};
use super::reads::{AskScope, fitting, store_scope};
use super::stream::{Found, Look, Watch};
use super::watch::InboxMessage;
use super::{Caller, Service};
use crate::ask::AskId;
use crate::engine::hub::Topic;
use crate::error::Error;
use crate::session::Principal;
use crate::store::{Listing, Scope};
use std::collections::BTreeMap;
use std::time::Duration;

/// Asks of an inbox that are watched, the oldest: what anybody can look through. Counts are exact.
const WATCHED: usize = 500;
/// The least time between two batches of changes: two a second are as many as anybody reads.
const BETWEEN: Duration = Duration::from_millis(500);

impl Service {
    /// Watches the open asks that wait on the caller, or all it may see.
    ///
    /// # Errors
    ///
    /// As every call. In the stream: stopping, unavailable.
    pub async fn watch_inbox(
        &self,
        caller: &Caller,
        scope: AskScope,
    ) -> Result<Watch<InboxMessage>, Error> {
        authorize(caller, Call::WatchInbox, None)?;
        let topic = match &caller.principal {
            Principal::Session(session) => Topic::Session(session.session),
            Principal::Person(_) | Principal::Host(_) => Topic::Namespace(caller.namespace.clone()),
        };
        let look = InboxLook { scope: store_scope(caller, scope)?, known: None, total: 0 };
        Ok(self.watch(self.subscribe(topic), look))
    }
}

struct InboxLook {
    scope: Scope,
    /// What was sent: ids and revisions; none before the snapshot.
    known: Option<BTreeMap<AskId, u64>>,
    total: usize,
}

impl Look for InboxLook {
    type Message = InboxMessage;

    const BETWEEN: Duration = BETWEEN;

    async fn look(&mut self, service: &Service) -> Result<Found<InboxMessage>, Error> {
        let listing = service.engine.store().list(&self.scope, None, WATCHED).await?;
        Ok(Found::more(match self.known.take() {
            None => Some(self.snapshot(service, listing).await?),
            Some(known) => self.change(service, listing, known).await?,
        }))
    }

    fn idle(&self) -> InboxMessage {
        InboxMessage::Idle
    }
}

impl InboxLook {
    async fn snapshot(
        &mut self,
        service: &Service,
        listing: Listing,
    ) -> Result<InboxMessage, Error> {
        let ids: Vec<AskId> = listing.asks.iter().map(|(id, _)| *id).collect();
        let mut asks = service.load_asks(&ids).await?;
        // What one message cannot carry comes as the first change.
        asks.truncate(fitting(&asks));
        self.known = Some(asks.iter().map(|ask| (ask.id, ask.revision)).collect());
        self.total = listing.total;
        Ok(InboxMessage::Snapshot { asks, total: listing.total })
    }

    async fn change(
        &mut self,
        service: &Service,
        listing: Listing,
        mut known: BTreeMap<AskId, u64>,
    ) -> Result<Option<InboxMessage>, Error> {
        let now: BTreeMap<AskId, u64> = listing.asks.into_iter().collect();
        let left: Vec<AskId> = known.keys().filter(|id| !now.contains_key(id)).copied().collect();
        known.retain(|id, _| now.contains_key(id));
        let moved: Vec<AskId> = now
            .iter()
            .filter(|(id, revision)| known.get(id) != Some(revision))
            .map(|(id, _)| *id)
            .collect();
        let mut asks = service.load_asks(&moved).await?;
        asks.truncate(fitting(&asks));
        let unchanged = asks.is_empty() && left.is_empty() && self.total == listing.total;
        let (changed, came): (Vec<_>, Vec<_>) =
            asks.into_iter().partition(|ask| known.contains_key(&ask.id));
        known.extend(came.iter().chain(&changed).map(|ask| (ask.id, ask.revision)));
        self.known = Some(known);
        self.total = listing.total;
        let total = listing.total;
        Ok((!unchanged).then_some(InboxMessage::Change { came, changed, left, total }))
    }
}
