//! The one writer and its helpers: requests become commits, commits become replies and wake-ups,
//! deadlines become ticks.
//!
//! ```text
//!    submit ──► two queues ──► writer ──► store
//!     ▲          (asks last)    │  │ commit, then
//!     │                         │  ├──► replies, refusals too
//!     │ Tick    timer ◄─────────┤  ├──► hub: wakes watchers
//!     │ Gone    sweep ◄─────────┤
//!     │ Noticed notices ◄───────┘
//!     └ LoseHold holds
//! ```
//!
//! The writer drains what is waiting, decides it in one go ([`batch`]), commits it with one sync of
//! the disk, and only then says anything (rule 1). While it syncs, the next batch gathers. The timer,
//! the sweep and the holds are callers like any other: what they ask for is decided anew, so that
//! asking twice, or late, does nothing wrong.

mod answers;
mod batch;
pub mod clock;
mod foresee;
mod holds;
mod hops;
mod hosts;
pub mod hub;
mod notices;
mod on_asks;
mod on_roster;
mod on_sessions;
mod others;
mod purge;
pub mod request;
mod revoke;
mod sweep;
mod timer;
mod world;
mod writer;

pub use answers::Answers;
pub use holds::HoldGuard;
pub use hosts::HostWatch;
pub use notices::Notifier;
pub use writer::WriterOn;

use crate::ask::{Ask, Policy, Timestamp};
use crate::error::{Error, Reason};
use crate::session::Session;
use crate::store::{Fault, Key, Record, Store};
use clock::{Clock, Source};
use hub::{Hub, Topic};
use request::{Deed, Reply, Request};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use tokio::sync::{Notify, mpsc, oneshot, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Requests that may wait before the writer takes them: new asks. More than a disk syncs away in a
/// second is a backlog nobody should join.
const ASKS_WAITING: usize = 4_096;
/// Everything else, which goes first: answers, escalations, ticks. Deep enough for a tick of every
/// ask that may wait, so that the timer never starves.
const OTHERS_WAITING: usize = 8_192;
/// What a caller whose request finds its queue full is told to wait.
const BUSY_FOR: Duration = Duration::from_millis(100);

/// How long a process that stops may take to say so to those who share its store.
const LEAVES_WITHIN: Duration = Duration::from_millis(500);

/// The engine. Cheap to clone; the clones are one engine.
#[derive(Clone)]
pub struct Engine {
    asks: mpsc::Sender<Waiting>,
    others: mpsc::Sender<Waiting>,
    shared: Arc<Shared>,
}

/// What the writer and its helpers share.
struct Shared {
    store: Arc<dyn Store>,
    clock: Clock,
    hub: Hub,
    policy: Policy,
    holds: holds::Holds,
    hosts: hosts::Hosts,
    /// What is this process's to do, of those who share the store.
    shares: others::Shares,
    /// Whether others share the store.
    is_shared: bool,
    /// Whether notices are carried here.
    carries: bool,
    /// A commit may have moved the earliest deadline.
    deadline_moved: Notify,
    /// A commit may have left people to tell.
    notices_moved: Notify,
    /// A commit may have left asks to sweep.
    to_sweep: Notify,
    /// A commit failed, and may be on disk all the same: the next one that does not wakes everybody.
    shaken: AtomicBool,
    /// Whether the store answers.
    answers: watch::Sender<Answers>,
    /// Nothing new is taken up any more.
    stopping: CancellationToken,
    /// Everything taken up is on disk and answered.
    stopped: CancellationToken,
    helpers: TaskTracker,
    /// Revoking what a session enrolled, and moving what waits on a removed person, are whole steps.
    revoking: tokio::sync::Mutex<()>,
    /// So is taking service time and committing it.
    marking: tokio::sync::Mutex<()>,
}

/// A request, and whoever waits for its reply.
struct Waiting {
    request: Request,
    reply: oneshot::Sender<Reply>,
}

impl Engine {
    /// Starts the writer where it is to run, and its helpers on this runtime. Overdue deadlines,
    /// unfinished sweeps and lost holds of an earlier run are taken up at once; so are notices, where
    /// there is a notifier.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    pub async fn start(
        store: Arc<dyn Store>,
        policy: Policy,
        source: Arc<dyn Source>,
        notifier: Option<Arc<dyn Notifier>>,
        writer: WriterOn,
    ) -> Result<Self, Fault> {
        // Where the store has a time, it is the service's: one for all who share it.
        let time = store.time().await?;
        let following = time.map(|time| Arc::new(clock::Following::new(source.clone(), time)));
        let source = following.clone().map_or(source, |following| following);
        let mark = match store.load(&[Key::Clock]).await?.pop().flatten() {
            Some(Record::Clock(mark)) => Some(mark),
            _ => None,
        };
        let is_booted = mark.as_ref().is_some_and(|mark| !source.read().is_of_boot(mark));
        let (asks, asks_waiting) = mpsc::channel(ASKS_WAITING);
        let (others, others_waiting) = mpsc::channel(OTHERS_WAITING);
        let shared = Arc::new(Shared {
            store,
            clock: Clock::resume(source, mark.as_ref()),
            hub: Hub::default(),
            policy,
            holds: holds::Holds::default(),
            hosts: hosts::Hosts::default(),
            shares: others::Shares::default(),
            is_shared: following.is_some(),
            carries: notifier.is_some(),
            deadline_moved: Notify::new(),
            notices_moved: Notify::new(),
            to_sweep: Notify::new(),
            shaken: AtomicBool::new(false),
            answers: watch::Sender::new(Answers::WELL),
            stopping: CancellationToken::new(),
            stopped: CancellationToken::new(),
            helpers: TaskTracker::new(),
            revoking: tokio::sync::Mutex::new(()),
            marking: tokio::sync::Mutex::new(()),
        });
        let engine = Engine { asks, others, shared: shared.clone() };
        others::share(&shared).await?;
        // Of a store that is shared, who is held nowhere is looked up again and again.
        if following.is_none() {
            holds::take_up(&engine).await?;
        }
        hosts::take_up(&engine).await?;
        writer::spawn(writer, shared.clone(), asks_waiting, others_waiting);
        engine.help(|engine| async move { timer::run(&engine).await });
        engine.help(|engine| async move { sweep::run(&engine).await });
        engine.help(|engine| async move { holds::run(&engine).await });
        engine.help(|engine| async move { hosts::run(&engine).await });
        engine.help(|engine| async move { purge::run(&engine).await });
        engine.help(|engine| async move { answers::run(&engine).await });
        if let Some(notifier) = notifier {
            engine.help(|engine| async move { notices::run(&engine, notifier).await });
        }
        engine.help(move |engine| async move {
            writer::keep_time(&engine.shared, is_booted).await;
        });
        if let Some(following) = following {
            engine.help(|engine| async move { others::follow(&engine, &following).await });
            engine.help(|engine| async move { others::hear(&engine).await });
            engine.help(|engine| async move { others::look(&engine).await });
        }
        shared.helpers.close();
        Ok(engine)
    }

    /// Runs a helper until the engine stops.
    fn help<F: Future<Output = ()> + Send + 'static>(&self, helper: impl FnOnce(Engine) -> F) {
        let (work, stopping) = (helper(self.clone()), self.shared.stopping.clone());
        self.shared.helpers.spawn(async move {
            tokio::select! {
                () = stopping.cancelled() => {}
                () = work => {}
            }
        });
    }

    /// Does `request`; returns when what it came to is on disk.
    ///
    /// # Errors
    ///
    /// What it came to, where that is a refusal or a fault; busy when too much waits already;
    /// stopping after [`stop`](Self::stop).
    pub async fn submit(&self, request: Request) -> Reply {
        if self.shared.stopping.is_cancelled() {
            return Err(Error::stopping());
        }
        let queue = if matches!(request.deed, Deed::File(_)) { &self.asks } else { &self.others };
        let (reply, answered) = oneshot::channel();
        match queue.try_send(Waiting { request, reply }) {
            Ok(()) => {}
            Err(mpsc::error::TrySendError::Full(_)) => return Err(Error::Busy(BUSY_FOR)),
            Err(mpsc::error::TrySendError::Closed(_)) => return Err(Error::stopping()),
        }
        answered.await.unwrap_or_else(|_| {
            let message = "the daemon's writer has failed; restart it".to_owned();
            Err(Error::Unavailable(Reason::StoreUnavailable, message, crate::error::RETRY_AFTER))
        })
    }

    /// Does `deed` of the engine's own accord.
    async fn submit_own(&self, deed: Deed) -> Reply {
        self.submit(Request::own(deed)).await
    }

    /// Where it is kept.
    pub fn store(&self) -> &dyn Store {
        &*self.shared.store
    }

    /// The present, in service time.
    pub fn now(&self) -> Timestamp {
        self.shared.clock.now().time
    }

    /// Returns at `time` of service time, or shortly after it.
    pub async fn wait_until(&self, time: Timestamp) {
        self.shared.clock.wait_until(time).await;
    }

    /// What watchers wait on.
    pub fn hub(&self) -> &Hub {
        &self.shared.hub
    }

    /// Cancelled once the engine takes up nothing new.
    pub fn stopping(&self) -> &CancellationToken {
        &self.shared.stopping
    }

    /// Begins to stop: nothing new is taken up, what was is finished.
    pub fn stop(&self) {
        self.shared.stopping.cancel();
    }

    /// Returns when everything taken up is on disk and answered, after [`stop`](Self::stop).
    pub async fn stopped(&self) {
        self.shared.helpers.wait().await;
        // Not for long: the others find out by themselves.
        let _ = tokio::time::timeout(LEAVES_WITHIN, self.shared.store.leave()).await;
        self.shared.stopped.cancelled().await;
    }
}

/// Whom a change of `ask` concerns.
fn topics_of_ask(ask: &Ask) -> impl Iterator<Item = Topic> + '_ {
    let hops = ask.route.hops.iter().filter_map(|hop| hop.to.session());
    let sessions = ask.chain.iter().chain(hops).chain([&ask.asker]);
    [Topic::Ask(ask.id), Topic::Namespace(ask.namespace.clone())]
        .into_iter()
        .chain(sessions.map(|session| Topic::Session(session.session)))
}

/// Whom a change of `session` concerns: itself, and whoever looks at all asks, where its asks show
/// that it is away; and where they have to be moved, whose that is to do.
fn topics_of_session(session: &Session) -> impl Iterator<Item = Topic> + use<> {
    let sweep = session.sweep.then_some(Topic::Sweeps);
    [Topic::Session(session.id), Topic::Namespace(session.namespace.clone())]
        .into_iter()
        .chain(sweep)
}
