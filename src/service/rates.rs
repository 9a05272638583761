//! How much one principal does at once, and how fast one tree of works asks. Both are refused as
//! *busy*, with when to try again; neither is a rule of an ask, and neither spends a request id.

use super::{Caller, Service};
use crate::ask::{SessionRef, WorkId};
use crate::engine::Engine;
use crate::error::Error;
use crate::store::{Key, Record};
use governor::clock::Clock;
use governor::middleware::NoOpMiddleware;
use governor::nanos::Nanos;
use governor::state::keyed::DashMapStateStore;
use governor::{Quota, RateLimiter};
use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Calls of one principal in flight, streams aside: a session does one thing at a time, a host has
/// as many hands as this.
pub const CALLS_A_PRINCIPAL: usize = 256;
/// Streams of one principal: a host that watches each of its sessions.
pub const STREAMS_A_PRINCIPAL: usize = 4_096;
/// New asks of one tree of works in a minute: ten a second are more than anybody answers, sessions
/// included.
pub const ASKS_A_MINUTE: u32 = 600;
/// The least that may be configured: a tree that may not ask at all is sent with `--no-asks`.
pub const ASKS_A_MINUTE_MIN: u32 = 1;
/// The most: by then the disk is what bounds it.
pub const ASKS_A_MINUTE_MAX: u32 = 1_000_000;
/// Exports at once: while one is read, what is removed keeps its room in the file.
pub const EXPORTS: usize = 1;
/// How long a principal should wait that has as many calls in flight as it may have.
pub(super) const RETRY: Duration = Duration::from_millis(500);
/// Trees whose rate is remembered before those that have been quiet are forgotten.
const TREES_REMEMBERED: usize = 4_096;

/// What of this may be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rates {
    /// See [`CALLS_A_PRINCIPAL`].
    pub calls: usize,
    /// See [`STREAMS_A_PRINCIPAL`].
    pub streams: usize,
    /// See [`ASKS_A_MINUTE`]; so many may come at once, too.
    pub asks_a_minute: u32,
}

impl Default for Rates {
    fn default() -> Self {
        let (calls, streams) = (CALLS_A_PRINCIPAL, STREAMS_A_PRINCIPAL);
        Self { calls, streams, asks_a_minute: ASKS_A_MINUTE }
    }
}

type AsksByTree =
    RateLimiter<WorkId, DashMapStateStore<WorkId>, ServiceTime, NoOpMiddleware<Nanos>>;

/// What is counted. Cheap to clone; the clones are one.
#[derive(Clone)]
pub(super) struct Counts(Arc<Counted>);

struct Counted {
    rates: Rates,
    principals: Mutex<HashMap<Arc<str>, Calls>>,
    asks: AsksByTree,
}

#[derive(Clone, Copy, Default)]
struct Calls {
    unary: usize,
    streams: usize,
}

impl Calls {
    fn of(&mut self, is_stream: bool) -> &mut usize {
        if is_stream { &mut self.streams } else { &mut self.unary }
    }
}

/// A call that counts for its principal until this is dropped.
pub struct InFlight {
    counts: Counts,
    principal: Arc<str>,
    is_stream: bool,
}

impl Counts {
    pub(super) fn new(rates: Rates, engine: Engine) -> Self {
        let per_minute = NonZeroU32::new(rates.asks_a_minute).unwrap_or(NonZeroU32::MIN);
        let quota = Quota::per_minute(per_minute);
        let asks = RateLimiter::dashmap_with_clock(quota, ServiceTime(engine));
        Self(Arc::new(Counted { rates, principals: Mutex::default(), asks }))
    }
}

impl Service {
    /// Counts a call of `caller`'s for as long as what is returned is kept.
    ///
    /// # Errors
    ///
    /// Busy, where it has as many in flight as it may have.
    pub fn in_flight(&self, caller: &Caller, is_stream: bool) -> Result<InFlight, Error> {
        let rates = &self.counts.0.rates;
        let most = if is_stream { rates.streams } else { rates.calls };
        let mut all = self.counts.0.principals.lock().unwrap_or_else(PoisonError::into_inner);
        let spelled = caller.spelled();
        let principal = match all.get_key_value(spelled.as_str()) {
            Some((known, _)) => known.clone(),
            None => Arc::from(spelled),
        };
        let calls = all.entry(principal.clone()).or_default().of(is_stream);
        if *calls >= most {
            return Err(Error::Busy(RETRY));
        }
        *calls += 1;
        Ok(InFlight { counts: self.counts.clone(), principal, is_stream })
    }

    /// Counts an ask that `asker` is about to file, for the tree of `work` or of its latest.
    pub(super) async fn count_ask(
        &self,
        asker: &SessionRef,
        work: Option<WorkId>,
    ) -> Result<(), Error> {
        let Some(session) = self.session(asker.session).await? else { return Ok(()) };
        let named = work.filter(|work| session.works.contains(work));
        // One that is not the session's is told so where the ask is decided.
        let Some(work) = named.or_else(|| session.works.last().copied()) else { return Ok(()) };
        let Some(Record::Work(work)) = self.load(Key::Work(work)).await? else { return Ok(()) };
        let asks = &self.counts.0.asks;
        if asks.len() > TREES_REMEMBERED {
            asks.retain_recent();
        }
        asks.check_key(&work.tree).map_err(|full| {
            let now = ServiceTime(self.engine.clone()).now();
            // Told too early, a caller would be refused once more for a fraction of a second.
            Error::Busy(full.wait_time_from(now).max(Duration::from_millis(1)))
        })
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        let all = &self.counts.0.principals;
        let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(calls) = all.get_mut(&self.principal) else { return };
        *calls.of(self.is_stream) -= 1;
        if calls.unary + calls.streams == 0 {
            all.remove(&self.principal);
        }
    }
}

/// Service time as the rates read it: a stepped wall clock opens and closes nothing.
#[derive(Clone)]
struct ServiceTime(Engine);

impl Clock for ServiceTime {
    type Instant = Nanos;

    fn now(&self) -> Nanos {
        Duration::from_millis(self.0.now().as_millis()).into()
    }
}
