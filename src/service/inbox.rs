//! Watching an inbox: a snapshot, then what came, changed and left.

use super::authorize::{Call, authorize, sees};
use super::lists::{AskScope, is_of, store_scope};
use super::reads::fitting;
use super::stream::{Found, Look, Watch};
use super::watch::InboxMessage;
use super::{Away, Caller, Service};
use crate::ask::{Ask, AskId, HostName, Namespace, SessionId, Timestamp, WorkId};
use crate::engine::HostWatch;
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
    /// Watches the open asks that wait on the caller, or all it may see; of one tree of works, where
    /// that is named. A host watches what waits on its paused sessions, and counts as one that wakes
    /// them for as long.
    ///
    /// # Errors
    ///
    /// As every call. In the stream: stopping, unavailable.
    pub async fn watch_inbox(
        &self,
        caller: &Caller,
        scope: AskScope,
        tree: Option<WorkId>,
    ) -> Result<Watch<InboxMessage>, Error> {
        authorize(caller, Call::WatchInbox, None)?;
        let topic = match &caller.principal {
            Principal::Session(session) => Topic::Session(session.session),
            Principal::Person(_) | Principal::Host(_) => Topic::Namespace(caller.namespace.clone()),
        };
        let source = match (tree, &caller.principal, scope) {
            (Some(tree), ..) => Source::Tree(tree, caller.clone(), scope),
            (None, Principal::Host(host), AskScope::WaitingOnMe) => Source::Asleep {
                namespace: caller.namespace.clone(),
                host: host.clone(),
                _watch: self.engine.host_watches(&caller.namespace, host),
            },
            (None, ..) => Source::Scope(store_scope(caller, scope)?),
        };
        let look = InboxLook { source, known: None, total: 0 };
        Ok(self.watch(caller, self.subscribe(topic), look))
    }
}

/// What an inbox lists.
enum Source {
    /// A scope of the store's.
    Scope(Scope),
    /// What of a tree the caller sees, or what of that waits on it: a tree has few open asks
    /// (rule 14). A host is asked nothing, and so sees all.
    Tree(WorkId, Caller, AskScope),
    /// What waits on the paused sessions that this host would wake, and does while it watches.
    Asleep { namespace: Namespace, host: HostName, _watch: HostWatch },
}

impl Source {
    async fn list(&self, service: &Service) -> Result<Listing, Error> {
        let store = service.engine.store();
        let mut asks = Vec::new();
        match self {
            Source::Scope(scope) => return Ok(store.list(scope, None, WATCHED).await?),
            Source::Tree(tree, caller, scope) => {
                let listing = store.list(&Scope::Tree(*tree), None, WATCHED).await?;
                let ids: Vec<AskId> = listing.asks.iter().map(|(id, _)| *id).collect();
                let is_host = matches!(caller.principal, Principal::Host(_));
                let mut seen = service.load_asks(&ids).await?;
                seen.retain(|ask| sees(caller, ask) && (is_host || is_of(caller, *scope, ask)));
                asks.extend(seen.iter().map(|ask| (ask.id, ask.revision)));
            }
            Source::Asleep { namespace, host, .. } => {
                let mut own = service.engine.asleep().await?;
                own.retain(|session| session.namespace == *namespace && session.host == *host);
                for session in own {
                    let scope = Scope::WaitingOnSession(session.id);
                    asks.extend(store.list(&scope, None, WATCHED).await?.asks);
                }
                asks.sort_unstable();
            }
        }
        let total = asks.len();
        asks.truncate(WATCHED);
        Ok(Listing { asks, total })
    }
}

struct InboxLook {
    source: Source,
    /// What was sent; none before the snapshot.
    known: Option<BTreeMap<AskId, Sent>>,
    total: usize,
}

/// An ask as it was sent.
#[derive(Clone, Copy)]
struct Sent {
    revision: u64,
    asker: SessionId,
    /// Since when its asker was away.
    away: Option<Timestamp>,
}

impl Sent {
    fn of(ask: &Ask, away: &Away) -> (AskId, Self) {
        let (asker, revision) = (ask.asker.session, ask.revision);
        (ask.id, Self { revision, asker, away: away.get(&asker).copied() })
    }
}

impl Look for InboxLook {
    type Message = InboxMessage;

    const BETWEEN: Duration = BETWEEN;

    async fn look(&mut self, service: &Service) -> Result<Found<InboxMessage>, Error> {
        let listing = self.source.list(service).await?;
        Ok(Found::more(match self.known {
            None => Some(self.snapshot(service, listing).await?),
            Some(_) => self.change(service, listing).await?,
        }))
    }

    fn idle(&self, stale: bool, _: Option<&InboxMessage>) -> InboxMessage {
        InboxMessage::Idle { stale }
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
        let away = service.away(asks.iter().map(|ask| ask.asker.session)).await?;
        self.known = Some(asks.iter().map(|ask| Sent::of(ask, &away)).collect());
        self.total = listing.total;
        Ok(InboxMessage::Snapshot { asks, total: listing.total, away })
    }

    async fn change(
        &mut self,
        service: &Service,
        listing: Listing,
    ) -> Result<Option<InboxMessage>, Error> {
        // It stays as it is until all is read: the store may go away in the middle of this.
        let known = self.known.get_or_insert_default();
        let now: BTreeMap<AskId, u64> = listing.asks.into_iter().collect();
        let left: Vec<AskId> = known.keys().filter(|id| !now.contains_key(id)).copied().collect();
        let stay = known.iter().filter(|(id, _)| now.contains_key(id));
        let mut away = service.away(stay.map(|(_, sent)| sent.asker)).await?;
        let is_as_sent = |id: &AskId, revision: u64| {
            known.get(id).is_some_and(|sent| {
                sent.revision == revision && sent.away == away.get(&sent.asker).copied()
            })
        };
        let moved: Vec<AskId> = now
            .iter()
            .filter(|(id, revision)| !is_as_sent(id, **revision))
            .map(|(id, _)| *id)
            .collect();
        let mut asks = service.load_asks(&moved).await?;
        asks.truncate(fitting(&asks));
        let unchanged = asks.is_empty() && left.is_empty() && self.total == listing.total;
        let (changed, came): (Vec<_>, Vec<_>) =
            asks.into_iter().partition(|ask| known.contains_key(&ask.id));
        away.extend(service.away(came.iter().map(|ask| ask.asker.session)).await?);
        known.retain(|id, _| now.contains_key(id));
        known.extend(came.iter().chain(&changed).map(|ask| Sent::of(ask, &away)));
        self.total = listing.total;
        let total = listing.total;
        Ok((!unchanged).then_some(InboxMessage::Change { came, changed, left, total, away }))
    }
}
