//! The sweep: after a session was paused or ended, each ask it leaves is moved by a command of its
//! own. The session's record says that this is under way, so it is taken up again after a crash, by
//! whoever serves the store then.

use super::Engine;
use super::request::Deed;
use crate::ask::{AskId, SessionId};
use crate::error::Error;
use crate::session::{self, Session};
use crate::store::{Scope, SessionScope};
use futures_util::future::join_all;
use std::time::Duration;

/// Asks moved at once.
const AT_ONCE: usize = 256;
/// How long to leave a store alone that could not be read or written.
const BACK_OFF: Duration = Duration::from_millis(250);

/// Runs for ever.
pub(super) async fn run(engine: &Engine) {
    loop {
        let more = engine.shared.to_sweep.notified();
        match sweep_all(engine).await {
            Ok(()) => more.await,
            Err(error) => {
                tracing::warn!(%error, "a sweep is not finished");
                tokio::time::sleep(BACK_OFF).await;
            }
        }
    }
}

async fn sweep_all(engine: &Engine) -> Result<(), Error> {
    engine.finish_removals().await?;
    loop {
        let sessions = engine.store().sessions(&SessionScope::ToSweep, None, AT_ONCE).await?;
        if sessions.is_empty() {
            return Ok(());
        }
        for session in sessions {
            sweep(engine, &session).await?;
        }
    }
}

async fn sweep(engine: &Engine, session: &Session) -> Result<(), Error> {
    if session.revokes {
        engine.revoke_below(session.id).await?;
    }
    move_all(engine, session.id, &Scope::WaitingOnSession(session.id)).await?;
    move_all(engine, session.id, &Scope::AskedBy(session.id)).await?;
    let (stay, standing) = (session.stay, session.standing.clone());
    let swept = session::Command::Swept { stay, standing };
    engine.submit_own(Deed::OnSession(session.id, swept)).await?;
    Ok(())
}

/// Moves the asks of `scope`, which `session` leaves.
pub(super) async fn move_all(
    engine: &Engine,
    session: SessionId,
    scope: &Scope,
) -> Result<(), Error> {
    let mut after: Option<AskId> = None;
    loop {
        let asks = engine.store().list(scope, after, AT_ONCE).await?.asks;
        let Some((last, _)) = asks.last() else { return Ok(()) };
        after = Some(*last);
        let moves = asks.iter().map(|(ask, _)| engine.submit_own(Deed::Gone(*ask, session)));
        for reply in join_all(moves).await {
            // What was purged since it was listed is left by everybody.
            if !matches!(reply, Err(Error::NotFound(_))) {
                reply?;
            }
        }
    }
}
