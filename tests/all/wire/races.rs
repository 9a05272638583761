//! Many clients at once, over connections of their own: nobody is lost, and nobody is told twice.

use super::line::Line;
use super::*;
use crate::bench::seed;
use askway::client::Watched;
use askway::store::suite::Dice;
use std::sync::Arc;
use tokio::sync::watch::{self, Sender};
use tokio::task::JoinSet;
use tokio_stream::StreamExt;

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
    let settled = tokio::time::timeout(PATIENCE, story).await.expect("no waiter is lost");
    let mut late = clients[0].watch_ask(&ask.id, None);
    assert!(matches!(late.next().await, Some(Ok(Watched::Ask(whole))) if *whole == settled));
    assert!(matches!(late.next().await, Some(Ok(Watched::End))));
    daemon.stop().await;
}
