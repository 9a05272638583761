//! Deciding a batch: pure. Requests in, changes and replies out; the rules themselves are
//! [`ask::decide`](crate::ask::decide()) and [`session::decide`](crate::session::decide()).

use super::request::{Deed, Done, Intent, Reply, Request};
use super::world::{Missing, World};
use super::{on_asks, on_roster, on_sessions};
use crate::ask::Now;
use crate::error::Error;
use crate::session::{Principal, Unfit};
use crate::store::{Change, Record, StoredReceipt, Subject};
use std::sync::Arc;

/// What one request came to.
#[derive(Debug)]
pub(super) struct Decided {
    /// What to commit; none where nothing changes.
    pub change: Option<Change>,
    /// What to say once that is on disk.
    pub reply: Reply,
}

/// Decides `requests` in order, each seeing what the ones before it made.
///
/// # Errors
///
/// When records have to be loaded first; `world` has noted them all.
pub(super) fn run_batch(
    world: &mut World,
    requests: &[&Request],
    now: Now,
) -> Result<Vec<Decided>, Missing> {
    let mut decided = Vec::with_capacity(requests.len());
    let mut missing = false;
    for request in requests {
        world.begin();
        match decide_one(world, request, now) {
            Ok((mut change, reply)) => {
                if let Some(change) = &mut change {
                    world.conclude(change);
                }
                decided.push(Decided { change, reply });
            }
            Err(Missing) => missing = true,
        }
    }
    if missing { Err(Missing) } else { Ok(decided) }
}

/// A change, where there is one, and the reply.
pub(super) type Verdict = Result<(Option<Change>, Reply), Missing>;

fn decide_one(world: &mut World, request: &Request, now: Now) -> Verdict {
    if let Some(error) = taken_away(world, request, now)? {
        return Ok((None, Err(error)));
    }
    if let Some(intent) = &request.intent
        && let Some(receipt) = world.receipt(intent.key.clone())?
    {
        return replay(world, request, intent, &receipt, now);
    }
    let too_old = |intent: &Intent| intent.key.request.is_too_old(now.time);
    if request.intent.as_ref().is_some_and(too_old) {
        return Ok((None, Err(Error::RequestIdTooOld)));
    }
    match &request.deed {
        Deed::File(file) => on_asks::file(world, request, file, now),
        Deed::OnAsk(ask, command) => on_asks::on_ask(world, request, *ask, command, now),
        Deed::Tick(ask) => on_asks::tick(world, request, *ask, now),
        Deed::Gone(ask, session) => on_asks::gone(world, request, *ask, *session, now),
        Deed::Forget(receipt) => on_asks::forget(world, receipt, now),
        Deed::OnRoster(namespace, deed) => {
            on_roster::decide(world, request.intent.as_ref(), namespace, deed, now)
        }
        Deed::UseToken(token) => on_roster::use_token(world, *token),
        deed => on_sessions::decide(world, request.intent.as_ref(), deed, now),
    }
}

/// Why the caller's token is not good any more. It was when the call came in; what was revoked before
/// this is decided does nothing, however long the call has waited.
fn taken_away(world: &mut World, request: &Request, now: Now) -> Result<Option<Error>, Missing> {
    let Some(secret) = request.credential else { return Ok(None) };
    let Some(token) = world.token(secret)? else { return Ok(Some(Unfit::Void.into())) };
    if let Err(unfit) = token.fit(now.time) {
        return Ok(Some(unfit.into()));
    }
    let Principal::Session(session) = &token.principal else { return Ok(None) };
    let is_over = world.session(session.session)?.is_none_or(|session| session.is_ended());
    Ok(is_over.then(Error::session_ended))
}

/// The first result again, with things as they are now (rule 7).
fn replay(
    world: &mut World,
    request: &Request,
    intent: &Intent,
    receipt: &Arc<StoredReceipt>,
    now: Now,
) -> Verdict {
    if receipt.payload != intent.payload {
        return Ok((None, Err(Error::RequestIdReused)));
    }
    let mut done = Done {
        subject: Some(receipt.subject),
        closed: receipt.closed,
        replayed: true,
        ..Done::default()
    };
    match receipt.subject {
        Subject::Ask(ask) => {
            done.ask = world.ask(ask)?;
            Ok((None, Ok(done)))
        }
        Subject::Token(_) | Subject::Roster => {
            on_roster::replay(world, &request.deed, receipt.subject, done)
        }
        _ => on_sessions::replay(world, request, receipt, done, now),
    }
}

/// The receipt, in one commit with its effect.
pub(super) fn keep_receipt(
    change: &mut Change,
    intent: Option<&Intent>,
    subject: Subject,
    closed: bool,
    now: Now,
) {
    if planted!("receipt_forgotten") {
        return;
    }
    if let Some(Intent { key, payload, .. }) = intent {
        let (key, payload) = (key.clone(), payload.clone());
        let receipt = StoredReceipt { key, payload, subject, closed, time: now.time };
        change.writes.push(Record::Receipt(Arc::new(receipt)));
    }
}
