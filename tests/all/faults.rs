//! A store that holds commits back, or fails: nothing is said too soon, and nothing is taken for
//! empty.

use crate::bench::*;
use askway::ask::{Ask, AskId, Event, SessionId, Timestamp, limits};
use askway::error::{Error, Reason};
use askway::service::{AskFilter, AskScope, Verdict};
use askway::session::{Manner, Session};
use askway::store::mem::Mem;
use askway::store::snapshot::Snapshot;
use askway::store::{
    Batch, Change, Committed, Due, Fault, Key, Listing, ReceiptKey, Record, Scope, SessionScope,
    Store, StoredReceipt,
};
use async_trait::async_trait;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::{Notify, RwLock};

/// A store in memory whose disk a test has in its hand.
pub struct Held {
    mem: Arc<Mem>,
    /// Commits share it: while a test has it to itself, they wait.
    pub disk: RwLock<()>,
    /// A commit that settles an ask has begun.
    begun: Notify,
    /// Sessions were to be listed, and that failed.
    listed: Notify,
    /// Reads and commits fail.
    pub fails: AtomicBool,
    /// Commits fail, and reads do not.
    pub writes_fail: AtomicBool,
    /// Commits fail, after they have taken effect.
    fails_late: AtomicBool,
    /// Sessions cannot be listed.
    hides_sessions: AtomicBool,
}

impl Held {
    pub fn new() -> Arc<Self> {
        Self::of(Arc::default())
    }

    /// Another way to the same records, which fails by itself: as another process has one.
    pub fn beside(&self) -> Arc<Self> {
        Self::of(self.mem.clone())
    }

    fn of(mem: Arc<Mem>) -> Arc<Self> {
        Arc::new(Self {
            mem,
            disk: RwLock::default(),
            begun: Notify::new(),
            listed: Notify::new(),
            fails: AtomicBool::new(false),
            writes_fail: AtomicBool::new(false),
            fails_late: AtomicBool::new(false),
            hides_sessions: AtomicBool::new(false),
        })
    }

    fn works(&self) -> Result<(), Fault> {
        match self.fails.load(Ordering::SeqCst) {
            true => Err(Fault::Unavailable("the disk fails".to_owned())),
            false => Ok(()),
        }
    }
}

#[async_trait]
impl Store for Held {
    async fn load(&self, keys: &[Key]) -> Result<Vec<Option<Record>>, Fault> {
        self.works()?;
        self.mem.load(keys).await
    }

    async fn commit(&self, batch: Batch) -> Result<Vec<Committed>, Fault> {
        let settles = |change: &Change| change.events.iter().any(|(_, event)| event.kind.settles());
        if batch.changes.iter().any(settles) {
            self.begun.notify_one();
        }
        let _shared = self.disk.read().await;
        self.works()?;
        if self.writes_fail.load(Ordering::SeqCst) {
            return Err(Fault::Unavailable("the disk is full".to_owned()));
        }
        let committed = self.mem.commit(batch).await?;
        match self.fails_late.load(Ordering::SeqCst) {
            true => Err(Fault::Unavailable("the disk failed in the commit".to_owned())),
            false => Ok(committed),
        }
    }

    async fn history(&self, ask: AskId, after: u64, limit: usize) -> Result<Vec<Event>, Fault> {
        self.works()?;
        self.mem.history(ask, after, limit).await
    }

    async fn list(&self, of: &Scope, after: Option<AskId>, max: usize) -> Result<Listing, Fault> {
        self.works()?;
        self.mem.list(of, after, max).await
    }

    async fn sessions(
        &self,
        scope: &SessionScope,
        after: Option<SessionId>,
        limit: usize,
    ) -> Result<Vec<Arc<Session>>, Fault> {
        let hides = self.hides_sessions.load(Ordering::SeqCst);
        let fault = || Err(Fault::Unavailable("no list of sessions".to_owned()));
        let works = if hides { fault() } else { self.works() };
        works.inspect_err(|_| self.listed.notify_one())?;
        self.mem.sessions(scope, after, limit).await
    }

    async fn asks(&self, after: Option<AskId>, limit: usize) -> Result<Vec<Arc<Ask>>, Fault> {
        self.works()?;
        self.mem.asks(after, limit).await
    }

    async fn receipts(
        &self,
        after: Option<&ReceiptKey>,
        limit: usize,
    ) -> Result<Vec<Arc<StoredReceipt>>, Fault> {
        self.works()?;
        self.mem.receipts(after, limit).await
    }

    async fn deadlines(
        &self,
        until: Timestamp,
        limit: usize,
    ) -> Result<Vec<(Timestamp, Due)>, Fault> {
        self.works()?;
        self.mem.deadlines(until, limit).await
    }

    async fn notices(
        &self,
        until: Timestamp,
        limit: usize,
    ) -> Result<Vec<(Timestamp, AskId)>, Fault> {
        self.works()?;
        self.mem.notices(until, limit).await
    }

    async fn snapshot(&self) -> Result<Box<dyn Snapshot>, Fault> {
        self.works()?;
        self.mem.snapshot().await
    }

    fn incarnation(&self) -> String {
        self.mem.incarnation()
    }

    async fn resolve(&self, prefix: &str, limit: usize) -> Result<Vec<AskId>, Fault> {
        self.works()?;
        self.mem.resolve(prefix, limit).await
    }
}

fn is_unavailable<T>(result: Result<T, Error>) -> bool {
    matches!(result, Err(Error::Unavailable(Reason::StoreUnavailable, ..)))
}

#[tokio::test(flavor = "multi_thread")]
async fn rule_01_durable_first() {
    let store = Held::new();
    let bench = Arc::new(Bench::over(store.clone()).await);
    let (lead, worker) = bench.pair().await;
    let ask = bench.ask(&worker, "which store?").await;

    let closed = store.disk.write().await;
    let begun = store.begun.notified();
    let answering = {
        let (bench, ask, lead) = (bench.clone(), ask.clone(), lead.clone());
        tokio::spawn(async move { bench.answer_agent(&lead, &ask).await })
    };
    begun.await;
    // The commit is under way. A refusal that rests on it is not said either.
    let declining = {
        let (bench, ask) = (bench.clone(), ask.clone());
        tokio::spawn(async move {
            bench.service.decline(&bench.owner, fresh(), ask.id, ask.digest, None).await
        })
    };
    assert!(bench.get(ask.id).await.is_open(), "nobody sees what is not on disk");
    assert!(!answering.is_finished() && !declining.is_finished());
    drop(closed);
    assert_eq!(answering.await.unwrap().unwrap().verdict, Verdict::Accepted);
    assert_eq!(declining.await.unwrap().unwrap().verdict, Verdict::Closed);
}

#[tokio::test]
async fn rule_17_unknown_is_not_empty() {
    let store = Held::new();
    let bench = Bench::over(store.clone()).await;
    let (lead, worker) = bench.pair().await;
    let ask = bench.ask(&worker, "which store?").await;
    let mut watch = bench.service.watch_ask(&worker.caller, ask.id, None).await.unwrap();
    tokio_stream::StreamExt::next(&mut watch).await.unwrap().unwrap();

    store.fails.store(true, Ordering::SeqCst);
    let list = bench
        .service
        .list(&lead.caller, AskScope::WaitingOnMe, &AskFilter::default(), None, 10)
        .await;
    assert!(is_unavailable(list));
    assert!(is_unavailable(bench.service.get(&lead.caller, &ask.id.to_string()).await));
    assert!(is_unavailable(bench.service.status(&bench.owner).await));
    assert!(is_unavailable(bench.service.sessions(&bench.owner, true, None, 10).await));
    assert!(is_unavailable(bench.log_in(&lead.token).await));
    let request = fresh();
    let answer =
        || bench.service.answer_agent(&lead.caller, request.clone(), ask.id, ask.digest, yes());
    assert!(is_unavailable(answer().await));

    store.fails.store(false, Ordering::SeqCst);
    assert_eq!(bench.inbox(&lead.caller).await, [ask.id], "nothing is lost");
    assert!(!answer().await.unwrap().replayed, "the same request may be sent again");
}

#[tokio::test]
async fn a_host_that_is_gone_while_the_store_fails_is_given_up_once_it_works() {
    let store = Held::new();
    let bench = Bench::over(store.clone()).await;
    let manner = Manner { wakeable: true, ..Manner::default() };
    let lead = bench.enroll("lead", Some(&bench.host), manner, None).await;
    let worker = bench.child("worker", &lead, false).await;
    let inbox = bench.service.watch_inbox(&bench.host, AskScope::WaitingOnMe, None).await.unwrap();
    bench.service.pause(&lead.caller, fresh(), None).await.unwrap();
    let ask = bench.ask(&worker, "which store?").await;
    assert_eq!(ask.hop.index, 0, "its host would wake it");
    store.fails.store(true, Ordering::SeqCst);
    drop(inbox);
    bench.advance(limits::HOLD_GRACE);
    store.listed.notified().await;
    store.fails.store(false, Ordering::SeqCst);
    bench.until(ask.id, |ask| ask.hop.index == 1).await;
}

#[tokio::test]
async fn a_commit_that_failed_and_took_effect_is_found_by_its_request_id() {
    let store = Held::new();
    let bench = Bench::over(store.clone()).await;
    let (lead, worker) = bench.pair().await;
    let ask = bench.ask(&worker, "which store?").await;
    let waiting = bench.until(ask.id, |ask| !ask.is_open());
    let request = fresh();
    let answer =
        || bench.service.answer_agent(&lead.caller, request.clone(), ask.id, ask.digest, yes());
    store.fails_late.store(true, Ordering::SeqCst);
    assert!(is_unavailable(answer().await));
    store.fails_late.store(false, Ordering::SeqCst);
    let again = answer().await.unwrap();
    assert!(again.replayed && again.verdict == Verdict::Accepted);
    bench.ask(&worker, "another?").await;
    assert!(!waiting.await.is_open(), "who waited is woken by the next commit that succeeds");
}

/// The record of a revoked session says that those below it have yet to be: who starts next does it.
#[tokio::test]
async fn a_revocation_that_was_cut_off_is_finished_by_the_next_start() {
    let store = Held::new();
    let bench = Bench::over(store.clone()).await;
    let (lead, worker) = bench.pair().await;
    let helper = bench.child("helper", &worker, false).await;
    let stranger = bench.root("stranger").await;
    store.hides_sessions.store(true, Ordering::SeqCst);
    let revoke = bench.service.revoke_session(&bench.owner, fresh(), lead.id()).await;
    assert!(is_unavailable(revoke), "the caller is not told that all of it is done");
    let revoked = |found: Result<_, Error>| match found {
        Err(Error::Unauthenticated(why, _)) => why == Reason::CredentialRevoked,
        _ => false,
    };
    assert!(revoked(bench.log_in(&lead.token).await), "itself it is at once");
    bench.log_in(&worker.token).await.expect("those below it not yet");
    let clock = bench.clock.clone();
    bench.stop().await;
    store.hides_sessions.store(false, Ordering::SeqCst);
    let bench = Bench::on(store, clock).await;
    for below in [&worker, &helper] {
        eventually(async || revoked(bench.log_in(&below.token).await)).await;
    }
    bench.log_in(&stranger.token).await.expect("nobody else is touched");
}

#[tokio::test]
async fn a_hosts_revocation_that_was_cut_off_takes_its_sessions_at_the_next_start() {
    let store = Held::new();
    let bench = Bench::over(store.clone()).await;
    let service = &bench.service;
    let night = askway::session::Principal::Host("night".parse().unwrap());
    let made = service.create_token(&bench.host, fresh(), None, night, None, String::new()).await;
    let made = made.unwrap();
    let host = bench.log_in(&made.secret.unwrap()).await.unwrap();
    let agent = || "lead".parse().unwrap();
    let manner = askway::session::Manner::default();
    let enrolled = service.enroll(Some(&host), fresh(), agent(), manner, None).await.unwrap();
    let (token, _) = enrolled.secrets.unwrap();
    let beside = bench.root("beside").await;
    store.hides_sessions.store(true, Ordering::SeqCst);
    let id = made.token.id.unwrap();
    let revoke = service.revoke_token(&bench.host, fresh(), None, id).await;
    assert!(is_unavailable(revoke), "the caller is not told that all of it is done");
    let clock = bench.clock.clone();
    bench.stop().await;
    store.hides_sessions.store(false, Ordering::SeqCst);
    let bench = Bench::on(store, clock).await;
    let revoked = |found: Result<_, Error>| match found {
        Err(Error::Unauthenticated(why, _)) => why == Reason::CredentialRevoked,
        _ => false,
    };
    eventually(async || revoked(bench.log_in(&token).await)).await;
    bench.log_in(&beside.token).await.expect("nobody else is touched");
}
