//! What sessions say about hops: who cannot answer, and why (rule 9).

use super::{Deed, Session, Standing, Work};
use crate::ask::{self, Actor, Idle, IdleHops, Route, SessionRef, Target};

/// Why `hop`, a session's record as it is now, cannot answer an ask of `asker`'s; none when it can.
///
/// `below` is the work next below the hop on the way to the asker, with the session that holds it:
/// the hop is blocked while that work was sent as blocking, and its holder is still active in the
/// stay it was sent in. `watched` is whether its host watches, to wake it; `full` whether as many
/// asks wait on it as may.
pub fn idle(
    hop: Option<&Session>,
    asker: &SessionRef,
    below: Option<(&Work, &Session)>,
    watched: bool,
    full: bool,
) -> Option<Idle> {
    let Some(hop) = hop else { return Some(Idle::Ended) };
    match hop.standing {
        Standing::Ended { .. } => return Some(Idle::Ended),
        Standing::Paused { .. } if hop.is_asleep() && watched => {}
        Standing::Paused { .. } => return Some(Idle::Paused),
        Standing::Active => {}
    }
    if hop.id == asker.session {
        return Some(Idle::IsAsker);
    }
    if !hop.answers_asks {
        return Some(Idle::AnswersNone);
    }
    let waits = |(work, holder): (&Work, &Session)| {
        holder.is_active() && work.blocking == Some(holder.stay)
    };
    if below.is_some_and(waits) {
        return Some(Idle::Blocked);
    }
    full.then_some(Idle::Full)
}

/// Each hop of `route` in turn: a session's by `of_session`, a set of people by whether it is one.
///
/// # Errors
///
/// Whatever `of_session` fails with.
pub fn idle_hops<E>(
    route: &Route,
    mut of_session: impl FnMut(&SessionRef) -> Result<Option<Idle>, E>,
) -> Result<IdleHops, E> {
    let each = route.hops.iter().map(|hop| match &hop.to {
        Target::Session(session) => of_session(session),
        Target::People { people, .. } => Ok(people.is_empty().then_some(Idle::EmptyGroup)),
    });
    each.collect()
}

/// The session that acts by `command`, and what it must be able to do for it; none where a person,
/// or nobody, acts.
pub fn acting(command: &ask::Command) -> Option<(&SessionRef, Deed)> {
    use ask::Command as C;
    match command {
        C::AnswerAgent { by, .. } | C::Reply { by, .. } => Some((by, Deed::Act)),
        C::Escalate { by: Actor::Session(by), .. } | C::Say { by: Actor::Session(by), .. } => {
            Some((by, Deed::Act))
        }
        C::Withdraw { by, .. }
        | C::Lease { by: Actor::Session(by), .. }
        | C::Acknowledge { by: Actor::Session(by), .. } => Some((by, Deed::Look)),
        C::Ask(filing) => Some((&filing.asker, Deed::Act)),
        C::InAgent(command) => acting(command),
        C::Escalate { .. }
        | C::Say { .. }
        | C::Answer { .. }
        | C::Decline { .. }
        | C::MarkSeen { .. }
        | C::Claim { .. }
        | C::Release { .. }
        | C::Lease { .. }
        | C::Acknowledge { .. }
        | C::Noticed { .. }
        | C::SessionGone { .. }
        | C::PersonGone { .. }
        | C::Tick { .. } => None,
    }
}
