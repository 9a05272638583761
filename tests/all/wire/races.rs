//! Many clients at once, over connections of their own: nobody is lost, and nobody is told twice.

use super::line::Line;
use super::*;
use crate::bench::seed;
use askway::ask::limits;
use askway::client::Watched;
use askway::store::suite::Dice;
use tokio::sync::watch::{self, Sender};
use tokio::task::JoinSet;
use tokio_stream::StreamExt;
use v1::OutcomeKind::{Answered, Declined, Withdrawn};
use v1::ask_service_client::AskServiceClient;

const LINES: usize = 20;
const WAITERS: usize = 1_000;
/// Turns of talk before the outcome; after each of them something is cut.
const TURNS: u64 = 10;

/// Waits for the outcome, dropping its stream whenever the dice say so and taking it up where it
/// was. Gives the revisions it saw, and how often its stream or its connection was lost.
async fn waiter(
    client: Client,
    ask: v1::Ask,
    mut dice: Dice,
    reached: Arc<Sender<usize>>,
) -> (Vec<u64>, usize) {
    let (mut seen, mut lost) = (Vec::new(), 0);
    loop {
        let after = seen.last().copied().unwrap_or(ask.revision);
        let mut watch = client.watch_ask(&ask.id, Some(after));
        loop {
            match watch.next().await.expect("cut off is not the end").unwrap() {
                Watched::Event(event) => {
                    seen.push(event.revision);
                    reached.send_modify(|all| *all += 1);
                }
                Watched::Reconnecting => lost += 1,
                Watched::Stale | Watched::Current => {}
                Watched::End => return (seen, lost),
                Watched::Ask(again) => panic!("{again:?} was seen before"),
            }
            if dice.one_in(8) {
                lost += 1;
                break;
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn rule_08_a_thousand_waiters_over_connections_that_are_cut_miss_nothing() {
    let mut dice = Dice::new(seed());
    let daemon = Daemon::start().await;
    let (lead, worker) = daemon.pair(daemon.tcp()).await;
    let ask = worker.ask("which store?").await;
    let mut lines = Vec::new();
    for _ in 0..LINES {
        lines.push(Line::to(daemon.port).await);
    }
    let clients: Vec<_> = lines.iter().map(|line| line.client(&daemon.owner)).collect();
    let (reached, mut reaches) = watch::channel(0);
    let reached = Arc::new(reached);
    let mut waiters = JoinSet::new();
    for n in 0..WAITERS {
        let (client, dice) = (clients[n % LINES].clone(), Dice::new(dice.roll(u64::MAX)));
        waiters.spawn(waiter(client, ask.clone(), dice, reached.clone()));
    }

    let all: Vec<u64> = (2..=TURNS + 2).collect();
    let story = async {
        for turn in 1..=TURNS as usize {
            let (ask_id, text) = (ask.id.clone(), format!("turn {turn}"));
            let say = v1::SayRequest { ask_id, text, ..Default::default() };
            accepted(lead.client.say(say).await.unwrap());
            dice.pick(&lines).cut();
            dice.pick(&lines).cut();
            // Most have seen most of it: the next turn finds some attached, some on their way back.
            let most = turn * WAITERS - WAITERS / 4;
            reaches.wait_for(|seen| *seen >= most).await.unwrap();
        }
        let settled = accepted(lead.client.answer_agent(answer_agent(&ask)).await.unwrap());
        let mut cut = 0;
        while let Some(ended) = waiters.join_next().await {
            let (seen, lost) = ended.unwrap();
            assert_eq!(seen, all);
            cut += lost;
        }
        assert!(cut > WAITERS, "too little was cut: {cut}");
        settled
    };
    // A busy machine has a thousand streams to open again and again.
    let settled = tokio::time::timeout(2 * PATIENCE, story).await.expect("no waiter is lost");
    let mut late = clients[0].watch_ask(&ask.id, None);
    assert!(matches!(late.next().await, Some(Ok(Watched::Ask(whole))) if *whole == settled));
    assert!(matches!(late.next().await, Some(Ok(Watched::End))));
    daemon.stop().await;
}

/// A connection takes about 5 MiB before something is read; what is dropped unread must not stay in
/// the way of the rest.
#[tokio::test]
async fn watches_that_are_dropped_unread_do_not_hold_up_their_connection() {
    let daemon = Daemon::start().await;
    let worker = daemon.root(daemon.tcp()).await;
    let context = "c".repeat(limits::CONTEXT_BYTES);
    let ask = v1::AskRequest { context, ..question("which?") };
    let ask = accepted(worker.client.ask(ask).await.unwrap());
    let mut asks = AskServiceClient::new(stop::channel(&daemon, 1 << 20).await);
    let request = || {
        let watch = v1::WatchAskRequest { ask_id: ask.id.clone(), ..Default::default() };
        stop::with_owner(&daemon, watch)
    };
    let mut kept = asks.watch_ask(request()).await.unwrap().into_inner();
    for dropped in 0..300 {
        let mut other = asks.clone();
        let opening = other.watch_ask(request());
        match dropped % 2 {
            // Before it is there; and when all of it is.
            0 => drop(futures_util::poll!(Box::pin(opening))),
            _ => {
                let unread = opening.await.unwrap();
                let scope = v1::AskScope::WaitingOnMe.into();
                let list = v1::ListAsksRequest { scope, ..Default::default() };
                other.list_asks(stop::with_owner(&daemon, list)).await.unwrap();
                drop(unread);
            }
        }
    }
    let reading = async {
        kept.message().await.unwrap().expect("the whole of it");
        accepted(daemon.owner().answer(answer(&ask)).await.unwrap());
        kept.message().await.unwrap().expect("and what follows");
    };
    tokio::time::timeout(PATIENCE, reading).await.expect("nothing is in its way");
    daemon.stop().await;
}

/// Rounds of the race, where `ASKWAY_ROUNDS` does not say: as many as leave the other tests time.
const ROUNDS: usize = 1_000;
/// Rounds run side by side, each over connections of its own: every lane races with itself, and all
/// of them for the one writer.
const LANES: usize = 4;

/// Everybody who may touch an ask, each on a connection that nobody shares.
struct Lane {
    worker: Client,
    withdrawer: Client,
    waiter: Client,
    lead: Client,
    escalator: Client,
    answerer: Client,
    decliner: Client,
}

impl Lane {
    /// Half of it by the socket and half over loopback; which half changes from lane to lane.
    async fn new(daemon: &Daemon, number: usize) -> Self {
        let (lead, worker) = daemon.pair(daemon.tcp()).await;
        let mut next = number;
        let mut client = |token: &Secret| {
            next += 1;
            let address = if usize::is_multiple_of(next, 2) { daemon.unix() } else { daemon.tcp() };
            Client::new(address, Some(token.clone()))
        };
        Self {
            worker: client(&worker.token),
            withdrawer: client(&worker.token),
            waiter: client(&worker.token),
            lead: client(&lead.token),
            escalator: client(&lead.token),
            answerer: client(&daemon.owner),
            decliner: client(&daemon.owner),
        }
    }

    /// Everything at once on one ask: who was told that they settled it did, the others learn who.
    async fn round(&self, daemon: &Daemon, round: usize) {
        let ask = accepted(self.worker.ask(question(&format!("round {round}?"))).await.unwrap());
        let ask_id = || ask.id.clone();
        let (worker, id) = (self.waiter.clone(), ask_id());
        let waiting = tokio::spawn(async move { last_seen(&worker, &id).await });
        let content_digest = ask.content_digest.clone();
        let no = v1::DeclineRequest { ask_id: ask_id(), content_digest, ..Default::default() };
        let move_on = v1::EscalateRequest { ask_id: ask_id(), ..Default::default() };
        let back = v1::WithdrawRequest { ask_id: ask_id(), ..Default::default() };
        let timer = async {
            if round.is_multiple_of(10) {
                daemon.bench.advance(limits::ROUTE_TIMEOUT);
            }
        };
        let (agent, person, no, moved, back, ()) = tokio::join!(
            self.lead.answer_agent(answer_agent(&ask)),
            self.answerer.answer(answer(&ask)),
            self.decliner.decline(no),
            self.escalator.escalate(move_on),
            self.withdrawer.withdraw(back),
            timer,
        );
        let settled = self.answerer.get_ask(&ask.id).await.unwrap().ask.unwrap();
        let outcome = settled.outcome.expect("somebody was first");
        let mut winners = 0;
        let receipts = [(agent, Answered), (person, Answered), (no, Declined), (back, Withdrawn)];
        for (receipt, its) in receipts {
            let receipt = receipt.unwrap();
            let told = receipt.ask.and_then(|ask| ask.outcome);
            match receipt.result.try_into().unwrap() {
                v1::Result::Accepted => {
                    winners += 1;
                    assert_eq!((outcome.kind(), told.as_ref()), (its, Some(&outcome)));
                }
                v1::Result::Closed => assert_eq!(told.as_ref(), Some(&outcome)),
                _ => assert_eq!(receipt.reason, "NOT_SENDER"),
            }
        }
        assert_eq!(winners, 1, "exactly one outcome");
        let moved = moved.unwrap().result();
        assert!(matches!(moved, v1::Result::Accepted | v1::Result::Closed), "{moved:?}");
        let seen = tokio::time::timeout(PATIENCE, waiting).await.expect("no waiter is lost");
        assert_eq!(seen.unwrap(), outcome);
    }
}

/// The outcome as a watch ended with it.
async fn last_seen(client: &Client, ask_id: &str) -> v1::Outcome {
    let (mut watch, mut outcomes) = (client.watch_ask(ask_id, None), Vec::new());
    loop {
        let ask = match watch.next().await.expect("cut off is not the end").unwrap() {
            Watched::Ask(ask) => Some(*ask),
            Watched::Event(event) => event.ask,
            Watched::Reconnecting | Watched::Stale | Watched::Current => None,
            Watched::End => break,
        };
        outcomes.extend(ask.and_then(|ask| ask.outcome));
    }
    assert_eq!(outcomes.len(), 1, "it is told once");
    outcomes.remove(0)
}

#[tokio::test(flavor = "multi_thread")]
async fn rule_02_settled_once_over_many_connections() {
    let rounds = std::env::var("ASKWAY_ROUNDS").ok().and_then(|rounds| rounds.parse().ok());
    let rounds: usize = rounds.unwrap_or(ROUNDS);
    let daemon = Arc::new(Daemon::start().await);
    let mut lanes = JoinSet::new();
    for number in 0..LANES {
        let daemon = daemon.clone();
        lanes.spawn(async move {
            let mut lane = Lane::new(&daemon, number).await;
            for round in (number..rounds).step_by(LANES) {
                if round / LANES % 1_000 == 999 {
                    // Outcomes gather unread with one asker; another takes over.
                    lane = Lane::new(&daemon, number).await;
                }
                lane.round(&daemon, round).await;
            }
        });
    }
    while let Some(lane) = lanes.join_next().await {
        lane.unwrap();
    }
    let daemon = Arc::into_inner(daemon).expect("the lanes have ended");
    daemon.stop().await;
}
