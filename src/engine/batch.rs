//! Deciding a batch: pure. Requests in, changes and replies out; the rules themselves are
//! [`ask::decide`](crate::ask::decide()) and [`session::decide`](crate::session::decide()).

use super::request::{Deed, Done, Intent, Reply, Request};
use super::world::{Missing, World};
use super::{on_asks, on_sessions};
use crate::ask::Now;
use crate::error::Error;
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
        deed => on_sessions::decide(world, request.intent.as_ref(), deed, now),
    }
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
    if let Some(Intent { key, payload }) = intent {
        let (key, payload) = (key.clone(), payload.clone());
        let receipt = StoredReceipt { key, payload, subject, closed, time: now.time };
        change.writes.push(Record::Receipt(Arc::new(receipt)));
    }
}
