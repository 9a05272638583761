//! Looking up what the rules want to know of a route: which hops cannot answer now, and why. The rule
//! is [`session::idle`]'s.

use super::world::{Missing, World};
use crate::ask::{Assurance, Idle, IdleHops, Route, SessionId, SessionRef, WorkId};
use crate::session::{self, Session, Work};
use crate::store::Scope;
use std::sync::Arc;

/// Which hops of `route` cannot answer an ask that belongs to `work` of `asker`'s. Whom it waits on
/// already, `waiting`, is never too full for it.
pub(super) fn idle_hops(
    world: &mut World,
    route: &Route,
    waiting: Option<SessionId>,
    demand: Option<Assurance>,
    (asker, work): (&SessionRef, WorkId),
) -> Result<IdleHops, Missing> {
    session::idle_hops(route, |hop| {
        // A session's word is no person's.
        if demand.is_some() {
            return Ok(Some(Idle::NotPerson));
        }
        let below = below(world, hop, work)?;
        let below = below.as_ref().map(|(work, holder)| (&**work, &**holder));
        let others = world.count(Scope::WaitingOnSession(hop.session))?.0;
        let full = waiting != Some(hop.session) && others >= world.policy.waiting_on_session;
        let session = world.session(hop.session)?;
        let watched = session.as_ref().is_some_and(|session| world.hosts.would_wake(session));
        Ok(session::idle(session.as_deref(), asker, below, watched, full))
    })
}

/// A work, and the session that holds it.
type Held = (Arc<Work>, Arc<Session>);

/// The work that `hop` sent, on the way down to `work`; none where it sent none of it.
fn below(world: &mut World, hop: &SessionRef, work: WorkId) -> Result<Option<Held>, Missing> {
    let mut next = Some(work);
    while let Some(id) = next {
        let Some(work) = world.work(id)? else { return Ok(None) };
        if work.sender() == Some(hop) {
            let holder = world.session(work.session.session)?;
            return Ok(holder.map(|holder| (work, holder)));
        }
        next = work.from;
    }
    Ok(None)
}
