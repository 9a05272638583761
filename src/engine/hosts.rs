//! Which hosts watch, and so would wake a paused session of theirs when something waits on it.
//! Kept in memory: who does not watch again within [`limits::HOLD_GRACE`] of a daemon's start, or of
//! the end of its last watch, wakes nobody, and what waits on its paused sessions moves on.

use super::Engine;
use super::request::Deed;
use super::sweep::move_all;
use crate::ask::{HostName, Namespace, Timestamp, limits};
use crate::error::Error;
use crate::session::{Command, Session};
use crate::store::share::Attached;
use crate::store::{Fault, Scope, SessionScope};
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;

/// Sessions read at once.
const AT_ONCE: usize = 256;
/// How long to leave a store alone that could not be read or written.
const BACK_OFF: Duration = Duration::from_millis(250);

type Host = (Namespace, HostName);

/// Who watches. Cheap to clone; the clones are one.
#[derive(Clone, Debug, Default)]
pub(super) struct Hosts {
    watching: Arc<Mutex<HashMap<Host, Watched>>>,
    /// Who watches at any of those who share the store.
    elsewhere: Arc<Mutex<HashSet<Host>>>,
    /// Somebody has stopped watching.
    left: Arc<Notify>,
}

#[derive(Clone, Copy, Debug)]
enum Watched {
    By(usize),
    /// Nobody since then, or since the start; not yet taken for gone.
    LeftAt(Timestamp),
    /// Nobody, and what waits on its sessions has yet to be moved.
    Gone,
}

impl Hosts {
    fn watching(&self) -> MutexGuard<'_, HashMap<Host, Watched>> {
        self.watching.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the host of `session` would wake it.
    pub(super) fn would_wake(&self, session: &Session) -> bool {
        let host = (session.namespace.clone(), session.host.clone());
        let is_here = |watched: &Watched| !matches!(watched, Watched::Gone);
        let watches_here = self.watching().get(&host).is_some_and(is_here);
        watches_here || self.elsewhere().contains(&host)
    }

    fn elsewhere(&self) -> MutexGuard<'_, HashSet<Host>> {
        self.elsewhere.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Who watches at any of those who share the store, as of `now`. Who did and does not has the grace.
    pub(super) fn watched_elsewhere(&self, hosts: &[Host], now: Timestamp) {
        let after: HashSet<Host> = hosts.iter().cloned().collect();
        let before = std::mem::replace(&mut *self.elsewhere(), after.clone());
        for host in before.difference(&after) {
            self.expect(host.clone(), now);
        }
    }

    /// Those whose grace is over at `now`; from here on they count no more.
    fn take_for_gone(&self, now: Timestamp) -> HashSet<Host> {
        let elsewhere = self.elsewhere().clone();
        let mut watching = self.watching();
        // Who watches elsewhere by now is not gone.
        watching
            .retain(|host, watched| matches!(watched, Watched::By(_)) || !elsewhere.contains(host));
        let mut gone = HashSet::new();
        for (host, watched) in watching.iter_mut() {
            let is_over = match watched {
                Watched::By(_) => false,
                Watched::LeftAt(time) => *time + limits::HOLD_GRACE <= now,
                Watched::Gone => true,
            };
            if is_over {
                *watched = Watched::Gone;
                gone.insert(host.clone());
            }
        }
        gone
    }

    /// Takes a host for watching until its grace is over.
    fn expect(&self, host: Host, now: Timestamp) {
        self.watching().entry(host).or_insert(Watched::LeftAt(now));
        self.left.notify_one();
    }
}

/// While it lives, the host counts as watching.
pub struct HostWatch {
    host: Host,
    engine: Engine,
}

impl std::fmt::Debug for HostWatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "HostWatch({})", self.host.1)
    }
}

impl Drop for HostWatch {
    fn drop(&mut self) {
        let hosts = &self.engine.shared.hosts;
        let mut watching = hosts.watching();
        let left = match watching.get(&self.host) {
            Some(Watched::By(count)) if *count > 1 => Watched::By(count - 1),
            _ => Watched::LeftAt(self.engine.now()),
        };
        if matches!(left, Watched::LeftAt(_)) {
            let (namespace, host) = self.host.clone();
            self.engine.detach(Attached::Host(namespace, host));
        }
        watching.insert(self.host.clone(), left);
        hosts.left.notify_one();
    }
}

impl Engine {
    /// The paused sessions that their hosts would wake, oldest first.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    pub async fn asleep(&self) -> Result<Vec<Arc<Session>>, Fault> {
        let (mut after, mut all) = (None, Vec::new());
        loop {
            let some = self.store().sessions(&SessionScope::Asleep, after, AT_ONCE).await?;
            let Some(last) = some.last() else { return Ok(all) };
            after = Some(last.id);
            all.extend(some);
        }
    }

    /// A host watches, for as long as what is returned lives.
    pub fn host_watches(&self, namespace: &Namespace, host: &HostName) -> HostWatch {
        let host = (namespace.clone(), host.clone());
        let mut watching = self.shared.hosts.watching();
        let count = match watching.get(&host) {
            Some(Watched::By(count)) => *count,
            _ => 0,
        };
        watching.insert(host.clone(), Watched::By(count + 1));
        // Within the lock: who leaves at the same moment is told before, or after.
        self.attach(Attached::Host(host.0.clone(), host.1.clone()));
        drop(watching);
        HostWatch { host, engine: self.clone() }
    }
}

/// Runs for ever.
pub(super) async fn run(engine: &Engine) {
    loop {
        let more = engine.shared.hosts.left.notified();
        if let Err(error) = give_up_due(engine).await {
            tracing::warn!(%error, "a host that watches no more still counts");
            tokio::time::sleep(BACK_OFF).await;
            continue;
        }
        let due = |watched: &Watched| match watched {
            Watched::By(_) => None,
            Watched::LeftAt(time) => Some(*time + limits::HOLD_GRACE),
            Watched::Gone => Some(Timestamp::default()),
        };
        let next = engine.shared.hosts.watching().values().filter_map(due).min();
        match next {
            Some(next) => tokio::select! {
                () = more => {}
                () = engine.shared.clock.wait_until(next) => {}
            },
            None => more.await,
        }
    }
}

/// The hosts of sessions that are asleep have the grace, to watch again after a restart. Before
/// anything is decided: what waits on those sessions must not move on meanwhile.
pub(super) async fn take_up(engine: &Engine) -> Result<(), Fault> {
    for session in engine.asleep().await? {
        engine.shared.hosts.expect((session.namespace.clone(), session.host.clone()), engine.now());
    }
    Ok(())
}

/// Hosts whose grace is over wake nobody: what waits on their paused sessions is swept. They stay
/// noted as gone until that is done.
async fn give_up_due(engine: &Engine) -> Result<(), Error> {
    let gone = engine.shared.hosts.take_for_gone(engine.now());
    if gone.is_empty() {
        return Ok(());
    }
    for session in engine.asleep().await? {
        if gone.contains(&(session.namespace.clone(), session.host.clone())) {
            // Whatever was decided while the host still counted is committed once this is.
            engine.submit_own(Deed::OnSession(session.id, Command::Unwatched)).await?;
            // A sweep that was under way may have passed what waits on it already.
            move_all(engine, session.id, &Scope::WaitingOnSession(session.id)).await?;
        }
    }
    engine.shared.hosts.watching().retain(|_, watched| !matches!(watched, Watched::Gone));
    Ok(())
}
