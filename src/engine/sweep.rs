//! The sweep: after a session was paused or ended, each ask it leaves is moved by a command of its
//! own. The session's record says that this is under way, so it is taken up again after a crash, by
//! whoever serves the store then. Of a store that is shared each does the sessions of its buckets, which
//! it is told of, and others' once they have lain there for a while.

use super::Engine;
use super::hub::Topic;
use super::others::LEFT_TO_OTHERS;
use super::request::Deed;
use crate::ask::{AskId, SessionId, Timestamp};
use crate::error::Error;
use crate::session::{self, Session};
use crate::store::share::{Share, bucket_of};
use crate::store::{Scope, SessionScope};
use futures_util::future::join_all;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

/// Asks moved at once.
const AT_ONCE: usize = 256;
/// How long to leave a store alone that could not be read or written.
const BACK_OFF: Duration = Duration::from_millis(250);

/// Runs for ever.
pub(super) async fn run(engine: &Engine) {
    let (shared, mut lying) = (&engine.shared, Lying::default());
    let mut told = engine.hub().subscribe(Topic::Sweeps);
    let mut looks = true;
    loop {
        let more = shared.to_sweep.notified();
        told.mark_seen();
        let left = match sweep_all(engine, &mut lying, looks).await {
            Ok(left) => left,
            Err(error) => {
                tracing::warn!(%error, "a sweep is not finished");
                tokio::time::sleep(BACK_OFF).await;
                continue;
            }
        };
        let left = async {
            match left {
                Some(time) => shared.clock.wait_until(time).await,
                None => std::future::pending().await,
            }
        };
        looks = false;
        tokio::select! {
            () = more => looks = true,
            // What is committed here has said so itself.
            () = told.woken(), if shared.is_shared => {}
            () = left => {}
        }
    }
}

/// Sweeps what is one's own to sweep; when something of others' will have lain there for too long, where
/// there is any. What an earlier process may have left half done is looked for where `looks`.
async fn sweep_all(
    engine: &Engine,
    lying: &mut Lying,
    looks: bool,
) -> Result<Option<Timestamp>, Error> {
    if looks {
        engine.finish_removals().await?;
    }
    loop {
        let pending = pending(engine).await?;
        let own = lying.own(pending, &engine.shared.shares.due(), engine.now());
        if own.is_empty() {
            return Ok(lying.next());
        }
        for session in own {
            sweep(engine, &session).await?;
        }
    }
}

async fn pending(engine: &Engine) -> Result<Vec<Arc<Session>>, Error> {
    let (mut after, mut all) = (None, Vec::new());
    loop {
        let some = engine.store().sessions(&SessionScope::ToSweep, after, AT_ONCE).await?;
        let Some(last) = some.last() else { return Ok(all) };
        after = Some(last.id);
        all.extend(some);
    }
}

/// What is others' to sweep, and since when it was seen lying there.
#[derive(Debug, Default)]
struct Lying(HashMap<SessionId, Timestamp>);

impl Lying {
    /// Those of all that are to be swept now that are one's own, or were left.
    fn own(&mut self, all: Vec<Arc<Session>>, share: &Share, now: Timestamp) -> Vec<Arc<Session>> {
        let before = std::mem::take(&mut self.0);
        let is_own = |session: &Arc<Session>| {
            if share.has(bucket_of(session.id.to_bytes())) {
                return true;
            }
            let since = before.get(&session.id).copied().unwrap_or(now);
            self.0.insert(session.id, since);
            since + LEFT_TO_OTHERS <= now
        };
        all.into_iter().filter(is_own).collect()
    }

    /// When the first of them will have lain there for too long.
    fn next(&self) -> Option<Timestamp> {
        self.0.values().map(|since| *since + LEFT_TO_OTHERS).min()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::Span;
    use crate::store::share::BUCKETS;
    use crate::store::suite;

    #[test]
    fn ones_own_is_swept_at_once_and_others_once_it_has_lain_there_for_five_seconds() {
        let all: Vec<_> = (0..40).map(|number| Arc::new(suite::session(number))).collect();
        let (mine, whole) = (Share::of("me", &["me", "other"]), Share::whole());
        let own = |session: &Arc<Session>| mine.has(bucket_of(session.id.to_bytes()));
        let (wanted, others): (Vec<_>, Vec<_>) = all.iter().cloned().partition(own);
        assert!(!wanted.is_empty() && !others.is_empty(), "of {BUCKETS} each has some");
        let at = |seconds| Timestamp::from_millis(1_000) + Span::from_secs(seconds);
        let mut lying = Lying::default();
        assert_eq!(lying.own(all.clone(), &mine, at(0)), wanted);
        assert_eq!(lying.next(), Some(at(5)));
        assert_eq!(lying.own(others.clone(), &mine, at(4)), []);
        // One of them was done meanwhile, and comes again: it has not lain there since the first time.
        assert_eq!(lying.own(others[1..].to_vec(), &mine, at(5)), others[1..]);
        assert_eq!(lying.own(others[..1].to_vec(), &mine, at(6)), []);
        assert_eq!(lying.next(), Some(at(11)));
        // The other one is gone.
        assert_eq!(lying.own(all.clone(), &whole, at(7)), all);
        assert_eq!(lying.next(), None);
    }
}
