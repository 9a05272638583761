//! The timer: waits for the earliest deadline in the store and sends ticks for what is due, in due
//! order. It decides nothing; a tick that comes twice, or late, is decided like any other command. Of a
//! store that is shared it does what is its own, and what another has left lying.

use super::Engine;
use super::others::LEFT_TO_OTHERS;
use super::request::Deed;
use crate::ask::Timestamp;
use crate::session::Command;
use crate::store::{Due, Fault};
use futures_util::future::join_all;
use std::time::Duration;

/// Asks and sessions ticked at once: a batch of the writer, so that answers get in between.
const AT_ONCE: usize = 256;
/// How long to leave a store alone that could not be read or written.
const BACK_OFF: Duration = Duration::from_millis(250);

/// Runs for ever.
pub(super) async fn run(engine: &Engine) {
    let mut before = None;
    loop {
        match tick_due(engine).await {
            Ok(None) => wait_for_next(engine).await,
            // What is still due after its tick waits for something else: it is not asked in a loop.
            Ok(first) if first == before => tokio::time::sleep(BACK_OFF).await,
            Ok(first) => before = first,
            Err(()) => tokio::time::sleep(BACK_OFF).await,
        }
    }
}

/// Ticks what is due; gives the first of it, none where nothing is. An error leaves it due.
async fn tick_due(engine: &Engine) -> Result<Option<(Timestamp, Due)>, ()> {
    let now = engine.shared.clock.now().time;
    let share = engine.shared.shares.due();
    let left = now.as_millis().saturating_sub(LEFT_TO_OTHERS.as_millis());
    let others_until = Timestamp::from_millis(left);
    let due = engine.shared.store.shared_deadlines(now, &share, others_until, AT_ONCE).await;
    let due = due.map_err(|fault| {
        tracing::warn!(%fault, "deadlines cannot be read");
    })?;
    let ticks = due.iter().map(|(_, due)| match due {
        Due::Ask(ask) => engine.submit_own(Deed::Tick(*ask)),
        Due::Session(session) => engine.submit_own(Deed::OnSession(*session, Command::Tick)),
    });
    let mut failed = false;
    for reply in join_all(ticks).await {
        if let Err(error) = reply {
            tracing::warn!(%error, "a tick came to nothing");
            failed = true;
        }
    }
    if failed { Err(()) } else { Ok(due.first().copied()) }
}

/// Returns when the earliest deadline may be due, or may have moved.
async fn wait_for_next(engine: &Engine) {
    let moved = engine.shared.deadline_moved.notified();
    match next(engine).await {
        Ok(Some(next)) => tokio::select! {
            () = moved => {}
            () = engine.shared.clock.wait_until(next) => {}
        },
        Ok(None) => moved.await,
        Err(_) => tokio::time::sleep(BACK_OFF).await,
    }
}

/// When the first of one's own is due, or the first of others' has been left lying for too long.
async fn next(engine: &Engine) -> Result<Option<Timestamp>, Fault> {
    let (store, share) = (&engine.shared.store, engine.shared.shares.due());
    let (ever, never) = (Timestamp::from_millis(u64::MAX), Timestamp::default());
    let own = store.shared_deadlines(ever, &share, never, 1);
    let any = async {
        match share.is_whole() {
            true => Ok(Vec::new()),
            false => store.deadlines(ever, 1).await,
        }
    };
    let (own, any) = tokio::try_join!(own, any)?;
    let own = own.first().map(|(time, _)| *time);
    let left = any.first().map(|(time, _)| *time + LEFT_TO_OTHERS);
    Ok(own.into_iter().chain(left).min())
}
