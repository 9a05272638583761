//! Watching an inbox: a snapshot, then what came, changed and left.

use super::authorize::{Call, authorize};
use super::reads::{AskScope, fitting, store_scope};
use super::watch::{InboxMessage, Watch, Woken};
use super::{Caller, Service};
use crate::ask::AskId;
use crate::engine::hub::{Subscription, Topic};
use crate::error::Error;
use crate::session::Principal;
use crate::store::{Listing, Scope};
use futures_util::stream;
use std::collections::BTreeMap;
use std::pin::Pin;
use std::time::Duration;
use tokio::time::Sleep;

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
        let watch = InboxWatch {
            service: self.clone(),
            subscription: self.engine.hub().subscribe(topic),
            scope: store_scope(caller, scope)?,
            known: None,
            total: 0,
            pause: None,
            ended: false,
        };
        Ok(Box::pin(stream::unfold(watch, |mut watch| async move {
            let message = watch.next().await?;
            Some((message, watch))
        })))
    }
}

struct InboxWatch {
    service: Service,
    subscription: Subscription,
    scope: Scope,
    /// What was sent: ids and revisions; none before the snapshot.
    known: Option<BTreeMap<AskId, u64>>,
    total: usize,
    /// Runs out when the next batch may be sent; none before the first.
    pause: Option<Pin<Box<Sleep>>>,
    ended: bool,
}

impl InboxWatch {
    async fn next(&mut self) -> Option<Result<InboxMessage, Error>> {
        if self.ended {
            return None;
        }
        let mut idle = false;
        loop {
            self.subscription.mark_seen();
            match self.read().await {
                Ok(Some(message)) => {
                    self.pause = Some(Box::pin(tokio::time::sleep(BETWEEN)));
                    return Some(Ok(message));
                }
                Ok(None) => {}
                Err(error) => return self.end(error),
            }
            if std::mem::take(&mut idle) {
                return Some(Ok(InboxMessage::Idle));
            }
            match self.service.wait(&mut self.subscription).await {
                Woken::Commit => self.pace().await,
                Woken::Idle => idle = true,
                Woken::Stopping => return self.end(Error::stopping()),
            }
        }
    }

    fn end(&mut self, error: Error) -> Option<Result<InboxMessage, Error>> {
        self.ended = true;
        Some(Err(error))
    }

    /// Lets changes gather until the next batch may be sent.
    async fn pace(&mut self) {
        if let Some(pause) = self.pause.take() {
            tokio::select! {
                () = pause => {}
                () = self.service.engine.stopping().cancelled() => {}
            }
        }
    }

    /// What is to be sent; none where nothing changed.
    async fn read(&mut self) -> Result<Option<InboxMessage>, Error> {
        let listing = self.service.engine.store().list(&self.scope, None, WATCHED).await?;
        match self.known.take() {
            None => self.snapshot(listing).await.map(Some),
            Some(known) => self.change(listing, known).await,
        }
    }

    async fn snapshot(&mut self, listing: Listing) -> Result<InboxMessage, Error> {
        let ids: Vec<AskId> = listing.asks.iter().map(|(id, _)| *id).collect();
        let mut asks = self.service.load_asks(&ids).await?;
        // What one message cannot carry comes as the first change.
        asks.truncate(fitting(&asks));
        self.known = Some(asks.iter().map(|ask| (ask.id, ask.revision)).collect());
        self.total = listing.total;
        Ok(InboxMessage::Snapshot { asks, total: listing.total })
    }

    async fn change(
        &mut self,
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
        let mut asks = self.service.load_asks(&moved).await?;
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
