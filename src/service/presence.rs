//! Which askers are attached now: the hint in a receipt that an answer finds somebody (rule 12). Of those
//! who watch at another daemon over the same store it is known what that one said last.

use super::{Presence, Service};
use crate::ask::{Ask, SessionId, Timestamp};
use crate::engine::Engine;
use crate::error::Error;
use crate::session::Standing;
use crate::store::share::Attached::Asker;
use crate::store::{Key, Record};
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How many watches of its own asks each session has open.
#[derive(Clone)]
pub(super) struct Attached {
    sessions: Arc<Mutex<HashMap<SessionId, usize>>>,
    engine: Engine,
}

/// While it lives, the session counts as attached.
pub(super) struct Attachment {
    session: SessionId,
    attached: Attached,
}

impl Attached {
    pub(super) fn new(engine: &Engine) -> Self {
        Self { sessions: Arc::default(), engine: engine.clone() }
    }

    pub(super) fn attach(&self, session: SessionId) -> Attachment {
        let mut sessions = self.sessions();
        let count = sessions.entry(session).or_default();
        *count += 1;
        if *count == 1 {
            self.engine.attach(Asker(session));
        }
        Attachment { session, attached: self.clone() }
    }

    pub(super) async fn has(&self, session: SessionId) -> Result<bool, Error> {
        let is_here = self.sessions().contains_key(&session);
        Ok(is_here || self.engine.is_attached(&Asker(session)).await?)
    }

    fn sessions(&self) -> MutexGuard<'_, HashMap<SessionId, usize>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Attachment {
    fn drop(&mut self) {
        let mut sessions = self.attached.sessions();
        if let Some(count) = sessions.get_mut(&self.session) {
            *count -= 1;
            if *count == 0 {
                sessions.remove(&self.session);
                self.attached.engine.detach(Asker(self.session));
            }
        }
    }
}

/// Since when askers are paused or ended, by their sessions. Who runs is not in it.
pub type Away = HashMap<SessionId, Timestamp>;

impl Service {
    /// Which of these askers are away.
    ///
    /// # Errors
    ///
    /// Unavailable.
    pub async fn away(&self, askers: impl IntoIterator<Item = SessionId>) -> Result<Away, Error> {
        let sessions: HashSet<SessionId> = askers.into_iter().collect();
        let keys: Vec<Key> = sessions.into_iter().map(Key::Session).collect();
        let records = self.engine.store().load(&keys).await?;
        let away = records.into_iter().flatten().filter_map(|record| match record {
            Record::Session(session) => match session.standing {
                Standing::Active => None,
                Standing::Paused { since, .. } | Standing::Ended { since, .. } => {
                    Some((session.id, since))
                }
            },
            _ => None,
        });
        Ok(away.collect())
    }

    /// Whether the asker of `ask` is there, where it is known whether it `was_attached`: an answer
    /// ends the watch that it finds, so that has to be looked up before.
    pub(super) async fn presence(&self, ask: &Ask, was_attached: bool) -> Result<Presence, Error> {
        let asker = self.session(ask.asker.session).await?;
        if asker.is_none_or(|session| session.is_ended()) && !planted!("gone_is_parked") {
            return Ok(Presence::Gone);
        }
        Ok(if was_attached { Presence::Live } else { Presence::Parked })
    }
}
