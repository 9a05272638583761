//! The load under which daemons are killed, and an oracle of everything they acknowledged: clients that
//! ask, answer, escalate, withdraw and watch, and know of each ask what must be there.

use super::daemon::PATIENCE;
use askway::client::{Client, Watched};
use askway::grpc::v1;
use askway::session::Secret;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_stream::StreamExt;

/// How many ask at once.
pub const WORKERS: usize = 4;

/// For how long it is to be looked at: `ASKWAY_SECONDS`, none where that is not set.
pub fn for_long() -> Duration {
    let set = std::env::var("ASKWAY_SECONDS").ok().and_then(|text| text.parse().ok());
    Duration::from_secs(set.unwrap_or(0))
}

/// What the daemon has acknowledged of an ask: it may know more, never less.
#[derive(Clone, Default)]
pub struct Known {
    pub revision: u64,
    /// The outcome, where a receipt told one.
    pub outcome: Option<v1::Outcome>,
    /// How often an answer, a decline or a withdrawal was accepted.
    pub settled: usize,
}

/// What all clients share.
pub struct Load {
    pub lead: Client,
    pub owner: Client,
    pub known: Mutex<HashMap<String, Known>>,
    pub acknowledged: AtomicUsize,
    pub moved: Notify,
    pub stop: AtomicBool,
    pub resumed: AtomicUsize,
    pub held_again: AtomicUsize,
    pub replays: AtomicUsize,
    pub random: AtomicU64,
    /// Whether sessions are held.
    pub holds: bool,
}

impl Load {
    /// A number below `bound`, from the seed.
    pub fn random(&self, bound: u64) -> u64 {
        let state = self.random.fetch_add(0x9E37_79B9_7F4A_7C15, Ordering::Relaxed);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)) % bound
    }

    /// Writes down what a receipt acknowledges.
    fn note(&self, receipt: &v1::Receipt, settles: bool) {
        let Some(ask) = &receipt.ask else { return };
        let accepted = receipt.result() == v1::Result::Accepted;
        let mut all = self.known.lock().unwrap();
        let known = all.entry(ask.id.clone()).or_default();
        known.revision = known.revision.max(ask.revision);
        known.settled += usize::from(accepted && settles);
        if let (Some(before), Some(now)) = (&known.outcome, &ask.outcome) {
            assert_eq!(before, now, "two receipts tell two outcomes");
        }
        known.outcome = known.outcome.take().or_else(|| ask.outcome.clone());
        drop(all);
        self.acknowledged.fetch_add(1, Ordering::Relaxed);
        self.moved.notify_waiters();
    }

    /// Until so many acknowledgements have come in all.
    pub async fn reaches(&self, count: usize) {
        let reached = async {
            loop {
                let moved = self.moved.notified();
                if self.acknowledged.load(Ordering::Relaxed) >= count {
                    return;
                }
                moved.await;
            }
        };
        timeout(PATIENCE, reached).await.expect("the load goes on");
    }
}

pub struct Child {
    pub client: Client,
    pub hold: Secret,
}

fn session(daemon: &Client, enrolled: v1::EnrollResponse) -> Child {
    let token = Secret::read(&enrolled.token).expect("a token");
    let client = Client::new(daemon.address().clone(), Some(token)).with_patience(PATIENCE);
    Child { client, hold: Secret::read(&enrolled.hold_secret).expect("a hold's secret") }
}

/// A session that `lead` sends work to.
pub async fn child(lead: &Client) -> Child {
    let sent = lead.send_work(v1::SendWorkRequest::default()).await.expect("work is sent");
    let request =
        v1::EnrollRequest { agent: "worker".into(), ticket: sent.ticket, ..Default::default() };
    session(lead, lead.enroll(request).await.expect("a child is enrolled"))
}

/// Holds a session until it is told that all is over.
pub async fn hold(load: Arc<Load>, held: Child) {
    let mut watch = held.client.hold(held.hold);
    while let Some(item) = watch.next().await {
        item.expect("a hold lasts over a restart");
        load.held_again.fetch_add(1, Ordering::Relaxed);
    }
}

pub fn question(words: String) -> v1::AskRequest {
    let option = |label: &str| v1::Option { label: label.into(), ..Default::default() };
    let question = v1::Question {
        question: words.clone(),
        options: vec![option("Yes"), option("No")],
        ..Default::default()
    };
    v1::AskRequest { request_id: words, questions: vec![question], ..Default::default() }
}

fn yes(ask: &v1::Ask) -> HashMap<String, v1::Answer> {
    let answer = v1::Answer { selected: vec!["Yes".into()], ..Default::default() };
    HashMap::from([(ask.questions[0].id.clone(), answer)])
}

async fn by_lead(load: &Load, ask: &v1::Ask) -> v1::Receipt {
    let (ask_id, content_digest) = (ask.id.clone(), ask.content_digest.clone());
    let request =
        v1::AnswerAgentRequest { ask_id, content_digest, answers: yes(ask), ..Default::default() };
    let receipt = load.lead.answer_agent(request).await.expect("the lead is answered");
    load.note(&receipt, true);
    receipt
}

async fn by_owner(load: &Load, ask: &v1::Ask) {
    let (ask_id, content_digest) = (ask.id.clone(), ask.content_digest.clone());
    let request =
        v1::AnswerRequest { ask_id, content_digest, answers: yes(ask), ..Default::default() };
    load.note(&load.owner.answer(request).await.expect("the owner is answered"), true);
}

pub async fn withdraw(load: &Load, asker: &Client, ask: &v1::Ask) {
    let request = v1::WithdrawRequest { ask_id: ask.id.clone(), ..Default::default() };
    let receipt = asker.withdraw(request).await.expect("the asker is answered");
    // On a settled ask it is no error, and settles nothing.
    let withdrew = receipt.ask.as_ref().and_then(|ask| ask.outcome.as_ref());
    let settles = withdrew.is_some_and(|outcome| outcome.kind() == v1::OutcomeKind::Withdrawn);
    load.note(&receipt, settles);
}

async fn escalate(load: &Load, ask: &v1::Ask) {
    let hop = ask.hop.as_ref().expect("it waits on somebody").index;
    let reason = Some("not mine to decide".into());
    let request = v1::EscalateRequest { ask_id: ask.id.clone(), hop, reason, ..Default::default() };
    match load.lead.escalate(request).await {
        Ok(receipt) => load.note(&receipt, false),
        Err(error) => panic!("the lead's refusal: {error:?}"),
    }
}

/// Watches an ask from its filing to its end: every event once, in order, over all kills.
async fn watch(load: Arc<Load>, asker: Client, ask: v1::Ask) {
    let mut watch = asker.watch_ask(&ask.id, Some(ask.revision));
    let (mut revision, mut settled, mut cut) = (ask.revision, 0, false);
    while let Some(item) = timeout(PATIENCE, watch.next()).await.expect("a watch goes on") {
        match item.expect("a watch resumes by itself") {
            Watched::Event(event) => {
                assert_eq!(event.revision, revision + 1, "each event once, in order");
                revision = event.revision;
                settled += usize::from(settles(event.kind()));
            }
            Watched::Reconnecting => cut = true,
            Watched::Stale | Watched::Current => {}
            Watched::Ask(_) => panic!("it was given a revision to go on from"),
            Watched::End => {
                assert_eq!(settled, 1, "the watch of {} ends with one outcome", ask.id);
                load.resumed.fetch_add(usize::from(cut), Ordering::Relaxed);
                return;
            }
        }
    }
    panic!("a watch ended without its end");
}

fn settles(kind: v1::EventKind) -> bool {
    use v1::EventKind as K;
    matches!(kind, K::Answered | K::Declined | K::Withdrawn | K::Expired | K::Abandoned)
}

/// Asks again and again, and has it answered in one way or another.
pub async fn worker(load: Arc<Load>, number: usize) {
    let mut own = JoinSet::new();
    let first = child(&load.lead).await;
    let mut asker = first.client.clone();
    if load.holds {
        own.spawn(hold(load.clone(), first));
    }
    let mut watches = JoinSet::new();
    for round in 0.. {
        if load.stop.load(Ordering::Relaxed) {
            break;
        }
        if round % 16 == 15 {
            let next = child(&load.lead).await;
            asker = next.client.clone();
            if load.holds {
                own.spawn(hold(load.clone(), next));
            }
        }
        let request = question(format!("worker {number}, question {round}?"));
        let receipt = asker.ask(request.clone()).await.expect("an ask is filed");
        assert_eq!(receipt.result(), v1::Result::Accepted, "{receipt:?}");
        load.note(&receipt, false);
        let ask = receipt.ask.expect("the ask");
        watches.spawn(watch(load.clone(), asker.clone(), ask.clone()));
        match load.random(4) {
            0 => {
                if by_lead(&load, &ask).await.result() == v1::Result::Refused {
                    by_owner(&load, &ask).await;
                }
            }
            1 => {
                tokio::join!(by_lead(&load, &ask), by_owner(&load, &ask));
            }
            2 => {
                escalate(&load, &ask).await;
                by_owner(&load, &ask).await;
            }
            _ => {
                tokio::join!(withdraw(&load, &asker, &ask), by_owner(&load, &ask));
            }
        }
        let again = asker.ask(request).await.expect("a replay");
        assert!(again.replayed && again.result() == v1::Result::Accepted, "{again:?}");
        assert_eq!(again.ask.expect("the ask").id, ask.id, "the same request id, the same ask");
        load.replays.fetch_add(1, Ordering::Relaxed);
    }
    while let Some(watched) = watches.join_next().await {
        watched.expect("a watch");
    }
    own.abort_all();
    while let Some(held) = own.join_next().await {
        assert!(held.is_err_and(|error| error.is_cancelled()), "a hold ended by itself");
    }
}

/// Everything in `known` is there: no revision, no outcome was lost.
pub async fn is_there(owner: &Client, known: &HashMap<String, Known>) {
    for (id, known) in known {
        let found = owner.get_ask(id).await.unwrap_or_else(|error| panic!("{id}: {error:?}"));
        let ask = found.ask.expect("the ask");
        assert!(ask.revision >= known.revision, "{id} went back to {}", ask.revision);
        if known.outcome.is_some() {
            assert_eq!(ask.outcome, known.outcome, "{id} has another outcome");
        }
    }
}

/// The timer of an ask that nobody answers has run out, and it is with the owner.
pub async fn with_the_owner(owner: &Client, id: &str) {
    let comes = async {
        let mut watch = owner.watch_ask(id, None);
        while let Some(item) = watch.next().await {
            let ask = match item.expect("a watch") {
                Watched::Ask(ask) => Some(*ask),
                Watched::Event(event) => event.ask,
                Watched::Reconnecting | Watched::Stale | Watched::Current | Watched::End => None,
            };
            let hop = ask.and_then(|ask| ask.hop);
            if hop.is_some_and(|hop| hop.cause() == v1::HopCause::Timeout) {
                return;
            }
        }
        panic!("{id} ended");
    };
    timeout(PATIENCE, comes).await.expect("an overdue timer fires after start");
}

/// How many milliseconds after its time, or after `start` where nobody was there then, it moved.
pub async fn lateness(owner: &Client, filed: &v1::Ask, start: i64) -> i64 {
    let events = owner.list_events(&filed.id).await.expect("a history");
    let moved = events.iter().find(|event| event.kind() == v1::EventKind::Escalated);
    let moved = moved.and_then(|event| event.event_time).expect("it has moved");
    let due = filed.escalate_time.expect("it has a route timer");
    assert!(millis(moved) >= millis(due), "{} moved before its time", filed.id);
    millis(moved) - millis(due).max(start)
}

pub fn millis(time: prost_types::Timestamp) -> i64 {
    time.seconds * 1_000 + i64::from(time.nanos / 1_000_000)
}

/// At the end: whole histories, each with one outcome, told alike by everybody.
pub async fn histories(owner: &Client, known: &HashMap<String, Known>) {
    for (id, known) in known {
        let events = owner.list_events(id).await.expect("a history");
        let revisions: Vec<_> = events.iter().map(|event| event.revision).collect();
        assert!(revisions.iter().copied().eq(1..=revisions.len() as u64), "{id}: {revisions:?}");
        let settled = events.iter().filter(|event| settles(event.kind())).count();
        assert_eq!(settled, 1, "{id} is settled once");
        assert!(known.settled <= 1, "{id}: {} were told that they settled it", known.settled);
    }
}

pub fn seed() -> u64 {
    let set = std::env::var("ASKWAY_SEED").ok().and_then(|seed| seed.parse().ok());
    set.unwrap_or_else(|| {
        let mut bytes = [0; 8];
        getrandom::fill(&mut bytes).expect("random bytes");
        u64::from_le_bytes(bytes)
    })
}

/// A lead of `host`'s, and the load of its workers.
pub async fn begin(host: &Client, owner: Client, holds: bool, seed: u64) -> (Arc<Load>, Child) {
    let request = v1::EnrollRequest { agent: "lead".into(), ..Default::default() };
    let lead = session(host, host.enroll(request).await.expect("a root session"));
    let load = Load {
        lead: lead.client.clone(),
        owner,
        known: Mutex::default(),
        acknowledged: AtomicUsize::new(0),
        moved: Notify::new(),
        stop: AtomicBool::new(false),
        resumed: AtomicUsize::new(0),
        held_again: AtomicUsize::new(0),
        replays: AtomicUsize::new(0),
        random: AtomicU64::new(seed),
        holds,
    };
    (Arc::new(load), lead)
}

/// What has become known since `checked`.
pub fn news(
    known: &HashMap<String, Known>,
    checked: &HashMap<String, Known>,
) -> HashMap<String, Known> {
    let is_new = |(id, now): &(&String, &Known)| {
        let before = checked.get(*id);
        before.is_none_or(|b| b.revision < now.revision || b.outcome != now.outcome)
    };
    known.iter().filter(is_new).map(|(id, known)| (id.clone(), known.clone())).collect()
}
