//! Notices, with somebody who carries them as the test says: none is lost, none holds anybody up, and
//! what they came to is in the history. What people are told and when is tried beside the rules, the
//! command that is run in `tests/processes/notices.rs`.

use crate::bench::*;
use askway::ask::{
    Ask, AskId, EventKind, NoticeWhy, PersonName, Plan, PlanHop, PlanTo, Plans, Span, Timestamp,
    limits,
};
use askway::engine::clock::{Manual, Source};
use askway::service::{Notifier, Settings};
use askway::store::Store;
use askway::store::mem::Mem;
use async_trait::async_trait;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

/// Carries nothing until the test says how it went.
#[derive(Debug)]
struct Slow(mpsc::UnboundedSender<Telling>);

/// One notice under way.
#[derive(Debug)]
struct Telling {
    ask: Ask,
    why: NoticeWhy,
    ends: oneshot::Sender<Result<(), String>>,
}

impl Telling {
    fn done(self) {
        self.ends.send(Ok(())).expect("somebody waits for it");
    }

    fn fails(self, why: &str) {
        self.ends.send(Err(why.to_owned())).expect("somebody waits for it");
    }

    fn is(&self, ask: &Ask, why: NoticeWhy) -> bool {
        (self.ask.id, self.why) == (ask.id, why)
    }
}

#[async_trait]
impl Notifier for Slow {
    async fn tell(&self, ask: &Ask, why: NoticeWhy) -> Result<(), String> {
        let (ends, end) = oneshot::channel();
        // A test that looks no more has all of them hang.
        let _ = self.0.send(Telling { ask: ask.clone(), why, ends });
        match end.await {
            Ok(end) => end,
            Err(_) => std::future::pending().await,
        }
    }
}

/// A bench whose notices come to the test.
struct Scene {
    bench: Bench,
    notices: mpsc::UnboundedReceiver<Telling>,
}

impl Scene {
    async fn new() -> Self {
        let clock = Manual::at(Timestamp::from_millis(1_800_000_000_000));
        Self::on(Arc::new(Mem::default()), clock).await
    }

    async fn on(store: Arc<dyn Store>, clock: Arc<Manual>) -> Self {
        let (send, notices) = mpsc::unbounded_channel();
        let notifier = Some(Arc::new(Slow(send)) as Arc<dyn Notifier>);
        let bench = Bench::set(store, clock, Settings { notifier, ..Settings::default() }).await;
        Self { bench, notices }
    }

    async fn next(&mut self) -> Telling {
        timeout(PATIENCE, self.notices.recv()).await.expect("it comes").expect("it is there")
    }

    /// The history, as why people were told or how that failed.
    async fn told(&self, ask: AskId) -> Vec<Result<NoticeWhy, String>> {
        let events = self.bench.service.events(&self.bench.owner, ask, 0, 99).await.unwrap();
        let each = events.iter().filter_map(|(event, _)| match &event.kind {
            EventKind::Noticed { why, failure: None, .. } => Some(Ok(*why)),
            EventKind::Noticed { failure: Some(failure), .. } => Some(Err(failure.clone())),
            _ => None,
        });
        each.collect()
    }

    /// Returns once so many notices are in the history.
    async fn until_told(&self, ask: AskId, count: usize) -> Vec<Result<NoticeWhy, String>> {
        eventually(|| async { self.told(ask).await.len() >= count }).await;
        self.told(ask).await
    }
}

#[tokio::test]
async fn c26_nobody_waits_for_a_notice_that_hangs() {
    let mut scene = Scene::new().await;
    let lead = scene.bench.root("lead").await;
    let mut draft = draft("now?");
    draft.expire = Some((Span::from_hours(1), askway::ask::ExpiryAction::Stop));
    let ask = accepted(scene.bench.file(&lead, draft).await);
    let hangs = scene.next().await;
    assert!(hangs.is(&ask, NoticeWhy::Came));
    assert_eq!(ask.expiry.unwrap().due(), Some(ask.create_time + Span::from_hours(1)));
    let other = scene.bench.ask(&lead, "and this?").await;
    let hangs_too = scene.next().await;
    assert!(hangs_too.is(&other, NoticeWhy::Came));
    accepted(scene.bench.answer(&ask).await);
    accepted(scene.bench.decline(&other, "no").await);
    assert_eq!(scene.told(ask.id).await, []);
    hangs.done();
    let last = scene.next().await;
    assert!(last.is(&ask, NoticeWhy::Settled), "{last:?}");
    last.done();
    scene.until_told(ask.id, 2).await;
}

#[tokio::test]
async fn c97_a_claim_drops_what_is_pending_and_what_is_under_way_is_followed_by_settled() {
    let mut scene = Scene::new().await;
    let lead = scene.bench.root("lead").await;
    let ask = scene.bench.ask(&lead, "which?").await;
    scene.next().await.done();
    scene.until_told(ask.id, 1).await;
    let reply = |text: &str| {
        scene.bench.service.reply(&lead.caller, fresh(), ask.id, text.into(), [].into())
    };
    // Between the first and the second: claimed, so the second does not come.
    let replied = accepted(reply("2 GB").await);
    assert!(replied.notice.is_some());
    let claim =
        scene.bench.service.claim(&scene.bench.owner, fresh(), ask.id, limits::CLAIM, false);
    assert_eq!(accepted(claim.await).notice, None);
    scene.bench.pass(limits::NOTICE_QUIET).await;
    // It lapses: told again, and answered under way.
    scene.bench.pass(limits::CLAIM).await;
    let again = scene.next().await;
    assert!(again.is(&ask, NoticeWhy::Unclaimed), "{again:?}");
    accepted(scene.bench.answer(&ask).await);
    again.done();
    let last = scene.next().await;
    assert!(last.is(&ask, NoticeWhy::Settled) && !last.ask.is_open(), "{last:?}");
    last.done();
    let told = [NoticeWhy::Came, NoticeWhy::Unclaimed, NoticeWhy::Settled].map(Ok);
    assert_eq!(scene.until_told(ask.id, 3).await, told);

    // Answered before it was carried, nothing is; failed under way, nothing follows.
    let quiet = scene.bench.ask(&lead, "quiet?").await;
    let failing = scene.next().await;
    accepted(scene.bench.answer(&quiet).await);
    failing.fails("ended with status 3");
    assert_eq!(scene.until_told(quiet.id, 1).await, [Err("ended with status 3".to_owned())]);
    let next = scene.bench.ask(&lead, "next?").await;
    assert!(scene.next().await.is(&next, NoticeWhy::Came));
}

#[tokio::test]
async fn c158_a_notice_that_fails_is_tried_again_and_stays_to_be_seen_until_one_comes_through() {
    let mut scene = Scene::new().await;
    let lead = scene.bench.root("lead").await;
    let ask = scene.bench.ask(&lead, "which?").await;
    scene.next().await.fails("ended with status 1");
    scene.until_told(ask.id, 1).await;
    let bench = &scene.bench;
    let status = bench.service.status(&bench.owner).await.unwrap();
    let failure = status.notice_failure.expect("it is to be seen");
    assert_eq!((status.untold, &*failure.why), (1, "ended with status 1"));
    assert_eq!(failure.time, bench.service.status(&bench.owner).await.unwrap().service_time);
    for (number, wait) in limits::NOTICE_RETRIES.into_iter().enumerate() {
        scene.bench.pass(wait).await;
        let again = scene.next().await;
        assert!(again.is(&ask, NoticeWhy::Came));
        let last = number + 1 == limits::NOTICE_RETRIES.len();
        if last {
            again.done()
        } else {
            again.fails("ended with status 1")
        }
        scene.until_told(ask.id, number + 2).await;
    }
    let status = scene.bench.service.status(&scene.bench.owner).await.unwrap();
    assert_eq!((status.untold, status.notice_failure), (0, None));
    accepted(scene.bench.answer(&ask).await);
}

#[tokio::test]
async fn a_notice_whose_end_was_not_written_down_is_carried_again_after_a_restart() {
    let store: Arc<dyn Store> = Arc::new(Mem::default());
    let clock = Manual::at(Timestamp::from_millis(1_800_000_000_000));
    let mut scene = Scene::on(store.clone(), clock.clone()).await;
    let lead = scene.bench.root("lead").await;
    let ask = scene.bench.ask(&lead, "which?").await;
    let _lost = scene.next().await;
    scene.bench.stop().await;
    let mut scene = Scene::on(store, clock).await;
    let again = scene.next().await;
    assert!(again.is(&ask, NoticeWhy::Came));
    again.done();
    assert_eq!(scene.until_told(ask.id, 1).await, [Ok(NoticeWhy::Came)]);
}

#[tokio::test]
async fn without_a_notifier_nothing_is_written_and_with_one_later_who_waits_is_told() {
    let store: Arc<dyn Store> = Arc::new(Mem::default());
    let clock = Manual::at(Timestamp::from_millis(1_800_000_000_000));
    let bench = Bench::on(store.clone(), clock.clone()).await;
    let lead = bench.root("lead").await;
    let ask = bench.ask(&lead, "which?").await;
    let over = bench.ask(&lead, "over?").await;
    accepted(bench.answer(&over).await);
    bench.pass(Span::from_mins(10)).await;
    assert_eq!(bench.get(ask.id).await.revision, 1);
    bench.stop().await;
    let mut scene = Scene::on(store, clock).await;
    let telling = scene.next().await;
    assert!(telling.is(&ask, NoticeWhy::Came));
    telling.done();
    scene.until_told(ask.id, 1).await;
    assert_eq!(scene.told(over.id).await, []);
}

#[tokio::test]
async fn four_are_carried_at_once_and_the_others_wait_their_turn() {
    let mut scene = Scene::new().await;
    let mut asks = Vec::new();
    for agent in ["one", "two", "three"] {
        let agent = scene.bench.root(agent).await;
        for question in ["a?", "b?"] {
            asks.push(scene.bench.ask(&agent, question).await);
            // Those of one instant come in no order.
            scene.bench.advance(Span::from_millis(1));
        }
    }
    let mut under_way = Vec::new();
    for ask in &asks[..limits::NOTICES_AT_ONCE] {
        let telling = scene.next().await;
        assert!(telling.is(ask, NoticeWhy::Came), "they come in due order");
        under_way.push(telling);
    }
    assert!(scene.notices.try_recv().is_err());
    for ask in &asks[limits::NOTICES_AT_ONCE..] {
        under_way.remove(0).done();
        let telling = scene.next().await;
        assert!(telling.is(ask, NoticeWhy::Came));
        under_way.push(telling);
    }
}

/// Carries at once, and writes down when.
#[derive(Debug)]
struct Quick {
    clock: Arc<Manual>,
    told: Mutex<Vec<(u64, AskId)>>,
}

#[async_trait]
impl Notifier for Quick {
    async fn tell(&self, ask: &Ask, _why: NoticeWhy) -> Result<(), String> {
        let now = self.clock.read().wall.as_millis();
        self.told.lock().unwrap().push((now, ask.id));
        Ok(())
    }
}

/// The owner and ann are asked in turn, a minute each, ten times.
fn each_minute() -> Plans {
    let hop = |person: PersonName| PlanHop {
        to: PlanTo::Person(person),
        timeout: Some(Span::from_mins(1)),
    };
    let hops = vec![hop(PersonName::owner()), hop("ann".parse().unwrap())];
    let plan = Plan::new("default".parse().unwrap(), hops, 10, limits::ROUTE_TIMEOUT).unwrap();
    Plans::new(vec![plan], limits::ROUTE_TIMEOUT)
}

#[tokio::test]
async fn c107_after_a_long_stop_each_ask_has_one_notice_and_they_come_spread_out() {
    let store: Arc<dyn Store> = Arc::new(Mem::default());
    let clock = Manual::at(Timestamp::from_millis(1_800_000_000_000));
    let settings = |notifier| Settings { routes: each_minute(), notifier, ..Settings::default() };
    let bench = Bench::set(store.clone(), clock.clone(), settings(None)).await;
    let mut asks = Vec::new();
    for number in 0..8 {
        let agent = bench.root(&format!("agent-{number}")).await;
        for question in 0..limits::OPEN_ASKS {
            asks.push(bench.ask(&agent, &format!("question {question}?")).await.id);
        }
    }
    bench.stop().await;
    clock.advance(Span::from_hours(8));
    let quick = Arc::new(Quick { clock: clock.clone(), told: Mutex::default() });
    let bench = Bench::set(store, clock.clone(), settings(Some(quick.clone()))).await;
    let told = || quick.told.lock().unwrap().clone();
    let mut count = 0;
    while count < asks.len() {
        count = asks.len().min(count + limits::NOTICES_PER_SECOND);
        eventually(|| async { told().len() >= count }).await;
        // Less than a minute in all, so that the next round does not come in between.
        clock.advance(Span::from_secs(1));
    }
    bench.stop().await;
    let told = told();
    let mut each: BTreeMap<AskId, usize> = BTreeMap::new();
    told.iter().for_each(|(_, ask)| *each.entry(*ask).or_default() += 1);
    assert!(asks.iter().all(|ask| each.get(ask) == Some(&1)), "{each:?}");
    for (time, _) in &told {
        let within = told.iter().filter(|(other, _)| (*time..time + 1_000).contains(other)).count();
        assert!(within <= limits::NOTICES_PER_SECOND, "{told:?}");
    }
}
