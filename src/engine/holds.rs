//! Holds: which sessions somebody runs. A session that was ever held and has been without a hold for
//! [`limits::HOLD_GRACE`] is paused. Kept in memory: a daemon's restart starts the grace anew.
//!
//! Of a store that is shared a hold counts wherever it is ([`others`]): who is held nowhere
//! is looked up, each replica those of its buckets, and their grace is counted from when that was seen.

use super::request::Deed;
use super::{Engine, Shared, others};
use crate::ask::{SessionId, Timestamp, limits};
use crate::error::Error;
use crate::session::{Command, SecretHash, Session};
use crate::store::share::Attached;
use crate::store::{Fault, SessionScope};
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;

/// Sessions read at once at start.
const AT_ONCE: usize = 1_024;
/// How long to leave a store alone that could not be read or written.
const BACK_OFF: Duration = Duration::from_millis(250);

/// Who is held, and since when the others are not.
#[derive(Debug, Default)]
pub(super) struct Holds {
    sessions: Mutex<HashMap<SessionId, Hold>>,
    lost: Notify,
    /// Taking a hold and losing one are whole steps: neither begins within the other.
    step: tokio::sync::Mutex<()>,
}

#[derive(Debug)]
enum Hold {
    By(usize),
    LostSince(Timestamp),
}

impl Holds {
    fn sessions(&self) -> std::sync::MutexGuard<'_, HashMap<SessionId, Hold>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Somebody holds it, or one more does.
    fn add(&self, session: SessionId) {
        let mut sessions = self.sessions();
        let hold = sessions.entry(session).or_insert(Hold::By(0));
        *hold = match hold {
            Hold::By(count) => Hold::By(*count + 1),
            Hold::LostSince(_) => Hold::By(1),
        };
    }

    /// Those whose grace is over at `now`.
    fn due(&self, now: Timestamp) -> Vec<SessionId> {
        let is_due = |hold: &Hold| matches!(hold, Hold::LostSince(time) if *time + limits::HOLD_GRACE <= now);
        self.sessions().iter().filter(|(_, hold)| is_due(hold)).map(|(id, _)| *id).collect()
    }
}

/// While it lives the session is held; dropping the last one starts the grace.
pub struct HoldGuard {
    session: SessionId,
    engine: Engine,
}

impl std::fmt::Debug for HoldGuard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "HoldGuard({})", self.session)
    }
}

impl Drop for HoldGuard {
    fn drop(&mut self) {
        let holds = &self.engine.shared.holds;
        let mut sessions = holds.sessions();
        match sessions.get_mut(&self.session) {
            Some(Hold::By(count)) if *count > 1 => *count -= 1,
            _ => {
                let shared = &self.engine.shared;
                if shared.is_shared {
                    shared.shares.detach(Attached::Session(self.session));
                    // It may be taken up elsewhere: whoever looks finds out.
                    sessions.remove(&self.session);
                    return;
                }
                sessions.insert(self.session, Hold::LostSince(self.engine.now()));
                holds.lost.notify_one();
            }
        }
    }
}

impl Engine {
    /// Holds `session` for whoever has its holder's `secret`; takes it up again where it was paused
    /// only because its hold was lost.
    ///
    /// # Errors
    ///
    /// When the secret is another's, or the session was paused or ended by somebody.
    pub async fn hold(
        &self,
        session: SessionId,
        secret: SecretHash,
    ) -> Result<(Arc<Session>, HoldGuard), Error> {
        let _step = self.shared.holds.step.lock().await;
        let deed = Deed::OnSession(session, Command::Hold { secret });
        let done = self.submit_own(deed).await?;
        self.shared.holds.add(session);
        let held = done.session.expect("a deed on a session gives the session");
        let guard = HoldGuard { session: held.id, engine: self.clone() };
        if self.shared.is_shared {
            self.shared.shares.attach(Attached::Session(session));
            // Before its holder is told: another may be about to take it for lost.
            others::share(&self.shared).await?;
        }
        Ok((held, guard))
    }
}

/// Looks which sessions are held nowhere, where several share the store: their grace begins when that is
/// seen first, and ends when they are held again.
pub(super) async fn look(shared: &Shared) -> Result<(), Fault> {
    look_up(shared).await?;
    shared.holds.lost.notify_one();
    Ok(())
}

async fn look_up(shared: &Shared) -> Result<(), Fault> {
    let lost = shared.store.unheld(&shared.shares.due()).await?;
    let lost: HashSet<SessionId> = lost.into_iter().collect();
    let now = shared.clock.now().time;
    let mut sessions = shared.holds.sessions();
    sessions.retain(|id, hold| matches!(hold, Hold::By(_)) || lost.contains(id));
    for id in lost {
        sessions.entry(id).or_insert(Hold::LostSince(now));
    }
    Ok(())
}

/// Takes note of every session that an earlier run of the daemon held: its grace starts now.
pub(super) async fn take_up(engine: &Engine) -> Result<(), Fault> {
    let now = engine.now();
    let mut after = None;
    loop {
        let held = engine.store().sessions(&SessionScope::Held, after, AT_ONCE).await?;
        let Some(last) = held.last() else { return Ok(()) };
        after = Some(last.id);
        let lost = held.iter().map(|session| (session.id, Hold::LostSince(now)));
        engine.shared.holds.sessions().extend(lost);
    }
}

/// Runs for ever.
pub(super) async fn run(engine: &Engine) {
    loop {
        let more = engine.shared.holds.lost.notified();
        if lose_due(engine).await.is_err() {
            tokio::time::sleep(BACK_OFF).await;
            continue;
        }
        let lost = |hold: &Hold| match hold {
            Hold::By(_) => None,
            Hold::LostSince(time) => Some(*time + limits::HOLD_GRACE),
        };
        let next = engine.shared.holds.sessions().values().filter_map(lost).min();
        match next {
            Some(next) => tokio::select! {
                () = more => {}
                () = engine.shared.clock.wait_until(next) => {}
            },
            None => more.await,
        }
    }
}

/// Pauses every session whose grace is over.
async fn lose_due(engine: &Engine) -> Result<(), Error> {
    let holds = &engine.shared.holds;
    let _step = holds.step.lock().await;
    let mut due = holds.due(engine.now());
    if engine.shared.is_shared && !due.is_empty() {
        // Somebody may hold it elsewhere by now.
        look_up(&engine.shared).await?;
        due = holds.due(engine.now());
    }
    for session in due {
        engine.submit_own(Deed::OnSession(session, Command::LoseHold)).await?;
        holds.sessions().remove(&session);
    }
    Ok(())
}
