//! Deliveries: everything unread, then each outcome and turn as it comes (rule 11), offered again by
//! each new watch until it is acknowledged; and for workers that compete, taken by one at a time.

use super::authorize::{Call, authorize};
use super::presence::Attachment;
use super::stream::{Found, Look, Watch};
use super::watch::DeliveryMessage;
use super::{Caller, Receipt, Service};
use crate::ask::{Ask, AskId, Command, Delivery, LeaseId, RequestId, Span};
use crate::engine::hub::Topic;
use crate::engine::request::{Deed, Reply, Request};
use crate::error::{Error, Refusal};
use crate::session::Principal;
use crate::store::Scope;
use sha2::{Digest, Sha256};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Asks looked through at once.
const AT_ONCE: usize = 100;
/// Asks whose deliveries one call may take: more than a worker has in hand at once.
pub const TAKE_MAX: usize = 100;

/// What a worker has in hand.
#[derive(Debug, Default)]
pub struct Taken {
    /// Whole asks, oldest first, each with the name of its lease.
    pub asks: Vec<(Arc<Ask>, LeaseId)>,
    /// What could not be extended.
    pub refused: Vec<Receipt>,
}

/// For how long a worker takes something, and what it calls itself.
#[derive(Clone, Debug)]
pub struct Worker {
    /// For how long.
    pub length: Span,
    /// What it calls itself.
    pub holder: String,
}

impl Service {
    /// Watches the outcomes and turns that the calling session, or those of the calling host, have
    /// not acknowledged.
    ///
    /// # Errors
    ///
    /// As every call. In the stream: stopping, unavailable.
    pub async fn watch_deliveries(&self, caller: &Caller) -> Result<Watch<DeliveryMessage>, Error> {
        authorize(caller, Call::WatchDeliveries, None)?;
        let (scope, topic) = receiving(caller);
        let _attachment = match &caller.principal {
            Principal::Session(session) => Some(self.attached.attach(session.session)),
            Principal::Host(_) | Principal::Person(_) => None,
        };
        let look =
            DeliveryLook { scope, looked_at: HashMap::new(), offered: HashSet::new(), _attachment };
        Ok(self.watch(caller, self.subscribe(topic), look))
    }

    /// Takes what is unread and in nobody's hand: of at most `max` asks, the oldest. The same request
    /// again gives what it took and still has: a lease's name is made from it.
    ///
    /// # Errors
    ///
    /// As every call.
    pub async fn take_deliveries(
        &self,
        caller: &Caller,
        request: &RequestId,
        max: usize,
        worker: &Worker,
    ) -> Result<Taken, Error> {
        authorize(caller, Call::TakeDeliveries, None)?;
        let (scope, _) = receiving(caller);
        let (mut held, mut free, mut after) = (Vec::new(), Vec::new(), None);
        loop {
            let listing = self.engine.store().list(&scope, after, AT_ONCE).await?;
            let ids: Vec<AskId> = listing.asks.iter().map(|(id, _)| *id).collect();
            let Some(last) = ids.last() else { break };
            after = Some(*last);
            for ask in self.load_asks(&ids).await?.into_iter().filter(|ask| ask.is_unread()) {
                let lease = self.lease_name(caller, request, &ask);
                let in_force = ask.lease.as_ref().filter(|l| l.is_in_force(self.engine.now()));
                match in_force {
                    Some(in_force) if in_force.id == lease => held.push((ask, lease)),
                    Some(_) => {}
                    None => free.push((ask.id, lease)),
                }
            }
        }
        if !held.is_empty() {
            return Ok(Taken { asks: held, refused: Vec::new() });
        }
        let mut taken = Taken::default();
        for (ask, lease) in free {
            if taken.asks.len() == max {
                break;
            }
            match self.lease(caller, ask, lease, None, worker).await {
                Ok(done) => {
                    let has = |ask: &Arc<Ask>| ask.lease.as_ref().is_some_and(|l| l.id == lease);
                    taken.asks.extend(done.ask.filter(has).map(|ask| (ask, lease)));
                }
                // Somebody else was first; or this very request, sent again.
                Err(Error::Refused(Refusal { ask: Some(ask), .. })) => {
                    let is_own = ask.lease.as_ref().is_some_and(|l| l.id == lease);
                    taken.asks.extend(is_own.then_some((ask, lease)));
                }
                // It was read or removed meanwhile.
                Err(Error::Refused(_) | Error::NotFound(_)) => {}
                Err(fault) => return Err(fault),
            }
        }
        Ok(taken)
    }

    /// Has what was taken for longer.
    ///
    /// # Errors
    ///
    /// As every call.
    pub async fn extend_leases(
        &self,
        caller: &Caller,
        leases: Vec<(AskId, LeaseId)>,
        worker: &Worker,
    ) -> Result<Taken, Error> {
        let mut taken = Taken::default();
        for (id, lease) in leases {
            let ask = self.visible(caller, Call::TakeDeliveries, id).await?;
            let reply = self.lease(caller, id, lease, Some(lease), worker).await;
            match reply {
                Ok(done) => taken.asks.extend(done.ask.map(|ask| (ask, lease))),
                refused @ Err(Error::Refused(_)) => {
                    taken.refused.push(self.receipt(refused, Some(ask), false).await?);
                }
                Err(fault) => return Err(fault),
            }
        }
        Ok(taken)
    }

    async fn lease(
        &self,
        caller: &Caller,
        ask: AskId,
        lease: LeaseId,
        extend: Option<LeaseId>,
        worker: &Worker,
    ) -> Reply {
        let (by, holder) = (caller.principal.clone().into(), worker.holder.clone());
        let command = Command::Lease { by, lease, holder, length: worker.length, extend };
        let deed = Deed::OnAsk(ask, Box::new(command));
        let credential = caller.token.as_ref().map(|token| token.secret);
        self.engine.submit(Request::by(credential, deed)).await
    }

    fn lease_name(&self, caller: &Caller, request: &RequestId, ask: &Ask) -> LeaseId {
        let mut hash = Sha256::new();
        for part in [&caller.spelled(), request.as_str(), &ask.id.to_string()] {
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part);
        }
        let mut random = [0; 6];
        random.copy_from_slice(&hash.finalize()[..6]);
        LeaseId::new(ask.create_time, random)
    }
}

/// Whose deliveries a caller receives, and what wakes it.
fn receiving(caller: &Caller) -> (Scope, Topic) {
    match &caller.principal {
        Principal::Session(session) => {
            (Scope::AskedBy(session.session), Topic::Session(session.session))
        }
        Principal::Host(host) => {
            let namespace = caller.namespace.clone();
            (Scope::OfHost(namespace.clone(), host.clone()), Topic::Namespace(namespace))
        }
        Principal::Person(_) => unreachable!("a person receives no deliveries"),
    }
}

struct DeliveryLook {
    scope: Scope,
    /// The asks it has looked at, each at which revision: what has not changed since is not read.
    looked_at: HashMap<AskId, u64>,
    /// What this stream has offered already and is still unread.
    offered: HashSet<(AskId, u64)>,
    _attachment: Option<Attachment>,
}

impl Look for DeliveryLook {
    type Message = DeliveryMessage;

    async fn look(&mut self, service: &Service) -> Result<Found<DeliveryMessage>, Error> {
        let (mut after, mut listed) = (None, HashMap::new());
        let (mut found, mut offered) = (Vec::new(), self.offered.clone());
        loop {
            let listing = service.engine.store().list(&self.scope, after, AT_ONCE).await?;
            let has_changed =
                |(id, revision): &&(AskId, u64)| self.looked_at.get(id) != Some(revision);
            let changed: Vec<AskId> =
                listing.asks.iter().filter(has_changed).map(|(id, _)| *id).collect();
            after = listing.asks.last().map(|(id, _)| *id);
            let is_last = listing.asks.len() < AT_ONCE;
            listed.extend(listing.asks);
            for ask in service.load_asks(&changed).await? {
                for revision in unread(&ask) {
                    if offered.insert((ask.id, revision)) {
                        found.push(DeliveryMessage::Delivery(ask.clone(), revision));
                    }
                }
            }
            if is_last {
                offered.retain(|(ask, _)| listed.contains_key(ask));
                self.offered = offered;
                self.looked_at = listed;
                return Ok(Found::more(found));
            }
        }
    }

    fn idle(&self, stale: bool, _: Option<&DeliveryMessage>) -> DeliveryMessage {
        DeliveryMessage::Idle { stale }
    }
}

/// The unread deliveries of `ask` in order: turns, and after them the outcome.
pub fn unread(ask: &Ask) -> impl Iterator<Item = u64> + '_ {
    let turns = ask.turns.iter().filter(|turn| turn.unread).map(|turn| turn.revision);
    let outcome = match ask.delivery() {
        Some(Delivery::Unread) => ask.outcome().map(|outcome| outcome.revision),
        _ => None,
    };
    turns.chain(outcome)
}
