//! Handing over outcomes and turns: to a host that watches, and to workers that compete.

use crate::bench::*;
use askway::ask::{Ask, AskId, Carried, Delivery, Draft, LeaseId, Span};
use askway::error::Reason;
use askway::service::{Caller, DeliveryMessage, Taken, Worker};
use std::collections::HashSet;
use std::sync::Arc;
use tokio_stream::StreamExt;

fn worker(holder: &str) -> Worker {
    Worker { length: Span::from_mins(5), holder: holder.to_owned() }
}

async fn take(bench: &Bench, by: &Caller, max: usize, holder: &str) -> Taken {
    bench.service.take_deliveries(by, &fresh(), max, &worker(holder)).await.unwrap()
}

/// `count` answered asks of one session, each with its outcome unread.
async fn answered(bench: &Bench, asker: &Agent, count: usize) -> Vec<AskId> {
    let mut ids = Vec::new();
    for n in 0..count {
        let ask = bench.ask(asker, &format!("question {n}?")).await;
        accepted(bench.answer(&ask).await);
        ids.push(ask.id);
    }
    ids
}

async fn next(watch: &mut askway::service::Watch<DeliveryMessage>) -> (Arc<Ask>, u64) {
    let message = tokio::time::timeout(PATIENCE, watch.next()).await.expect("it comes");
    let Some(Ok(DeliveryMessage::Delivery(ask, revision))) = message else { panic!("{message:?}") };
    (ask, revision)
}

#[tokio::test]
async fn a_host_watches_the_deliveries_of_all_its_sessions() {
    let bench = Bench::new().await;
    let (lead, worker) = bench.pair().await;
    let before = answered(&bench, &worker, 1).await;
    let mut watch = bench.service.watch_deliveries(&bench.host).await.unwrap();
    assert_eq!(next(&mut watch).await.0.id, before[0], "first everything unread");
    let live = answered(&bench, &lead, 1).await;
    let (ask, revision) = next(&mut watch).await;
    assert_eq!((ask.id, revision), (live[0], 2));
    let ask = bench.ask(&worker, "more?").await;
    accepted(bench.service.say(&bench.owner, fresh(), ask.id, "hm".into()).await);
    assert_eq!(next(&mut watch).await.1, 2);
    accepted(bench.answer(&ask).await);
    assert_eq!(next(&mut watch).await.1, 3, "each turn and outcome once, in order");
    let by_host = bench.service.acknowledge(&bench.host, fresh(), ask.id, 3, None).await;
    assert!(matches!(accepted(by_host).delivery(), Some(Delivery::Acknowledged(_))));
    let stranger = Caller {
        principal: askway::session::Principal::Host("ci".parse().unwrap()),
        ..bench.host.clone()
    };
    let mut foreign = bench.service.watch_deliveries(&stranger).await.unwrap();
    let nothing = tokio::time::timeout(std::time::Duration::from_millis(50), foreign.next()).await;
    assert!(nothing.is_err(), "another host's sessions are foreign: {nothing:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn workers_that_compete_have_each_ask_in_one_hand_only() {
    let bench = Arc::new(Bench::new().await);
    let mut all = HashSet::new();
    for n in 0..5 {
        let asker = bench.root(&format!("asker-{n}")).await;
        all.extend(answered(&bench, &asker, 4).await);
    }
    let mut workers = tokio::task::JoinSet::new();
    for n in 0..4 {
        let bench = bench.clone();
        workers.spawn(async move { take(&bench, &bench.host, 8, &format!("worker-{n}")).await });
    }
    let taken = workers.join_all().await;
    let ids: Vec<AskId> = taken.iter().flat_map(|t| t.asks.iter().map(|(ask, _)| ask.id)).collect();
    assert_eq!(ids.len(), all.len(), "one holder at a time");
    assert_eq!(ids.into_iter().collect::<HashSet<_>>(), all, "and nothing is left over");
    assert!(taken.iter().all(|taken| taken.asks.len() <= 8));
    assert!(take(&bench, &bench.host, 8, "late").await.asks.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_request_takes_the_same_again_also_at_once() {
    let bench = Arc::new(Bench::new().await);
    let asker = bench.root("asker").await;
    answered(&bench, &asker, 4).await;
    let request = fresh();
    let mut calls = tokio::task::JoinSet::new();
    for _ in 0..8 {
        let (bench, request) = (bench.clone(), request.clone());
        calls.spawn(async move {
            let by = worker("worker");
            bench.service.take_deliveries(&bench.host, &request, 4, &by).await.unwrap()
        });
    }
    let leases = |taken: &Taken| -> Vec<(AskId, LeaseId)> {
        taken.asks.iter().map(|(ask, lease)| (ask.id, *lease)).collect()
    };
    calls.join_all().await;
    let by = worker("worker");
    let again = bench.service.take_deliveries(&bench.host, &request, 4, &by).await.unwrap();
    let once_more = bench.service.take_deliveries(&bench.host, &request, 4, &by).await.unwrap();
    assert_eq!(leases(&again).len(), 4);
    assert_eq!(leases(&again), leases(&once_more));
}

#[tokio::test]
async fn c65_a_lease_that_lapsed_is_anothers_and_a_late_token_is_told_whose() {
    let bench = Bench::new().await;
    let asker = bench.root("asker").await;
    let id = answered(&bench, &asker, 1).await[0];
    let first = take(&bench, &asker.caller, 1, "first").await.asks[0].1;
    assert!(take(&bench, &asker.caller, 1, "second").await.asks.is_empty());
    bench.advance(Span::from_mins(5));
    let (ask, second) = take(&bench, &asker.caller, 1, "second").await.asks[0].clone();
    let revision = ask.outcome().unwrap().revision;
    let acknowledge =
        |lease| bench.service.acknowledge(&asker.caller, fresh(), id, revision, lease);
    for late in [Some(first), None] {
        let said = acknowledge(late).await.unwrap();
        assert_eq!(said.verdict, askway::service::Verdict::Refused(Reason::Leased));
        assert!(said.message.contains("second"), "{}", said.message);
    }
    let late = vec![(id, first)];
    let extended =
        bench.service.extend_leases(&asker.caller, late, &worker("first")).await.unwrap();
    assert!(extended.asks.is_empty() && extended.refused.len() == 1);
    assert!(matches!(
        accepted(acknowledge(Some(second)).await).delivery(),
        Some(Delivery::Acknowledged(_))
    ));
    accepted(acknowledge(Some(second)).await);
    assert!(take(&bench, &asker.caller, 1, "third").await.asks.is_empty());
}

#[tokio::test]
async fn an_extended_lease_goes_on_under_its_name() {
    let bench = Bench::new().await;
    let asker = bench.root("asker").await;
    let id = answered(&bench, &asker, 1).await[0];
    let lease = take(&bench, &asker.caller, 1, "first").await.asks[0].1;
    bench.advance(Span::from_mins(4));
    let by = worker("first");
    let extended =
        bench.service.extend_leases(&asker.caller, vec![(id, lease)], &by).await.unwrap();
    assert_eq!(extended.asks[0].1, lease);
    bench.advance(Span::from_mins(4));
    assert!(take(&bench, &asker.caller, 1, "second").await.asks.is_empty());
    let read = bench.service.acknowledge(&asker.caller, fresh(), id, 2, Some(lease)).await;
    accepted(read);
}

#[tokio::test]
async fn what_travels_with_an_ask_comes_back_with_what_its_model_is_told() {
    let bench = Bench::new().await;
    let (lead, worker) = bench.pair().await;
    let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let carried = Carried::new(b"\x00state\xff", trace.into(), "vendor=1".into());
    let draft = Draft { carried: carried.clone(), ..draft("which store?") };
    let ask = accepted(bench.file(&worker, draft).await);
    accepted(bench.service.say(&lead.caller, fresh(), ask.id, "a moment".into()).await);
    accepted(bench.answer_agent(&lead, &ask).await);
    let mut watch = bench.service.watch_deliveries(&worker.caller).await.unwrap();
    let (turn, revision) = next(&mut watch).await;
    assert!(turn.follow_up(revision).contains("a moment"));
    let (outcome, revision) = next(&mut watch).await;
    assert_eq!((&outcome.carried, outcome.carried.state()), (&carried, b"\x00state\xff".to_vec()));
    let told = outcome.follow_up(revision);
    assert!(told.starts_with(&format!("The agent {}", lead.reference())), "{told}");
    assert!(told.contains("which store?") && told.contains("> yes"), "{told}");
    assert!(told.contains(&ask.work.to_string()), "the work it continues");
}

#[tokio::test]
async fn c83_an_outcome_with_nobody_left_keeps_its_answer_and_its_reason() {
    let bench = Bench::new().await;
    let (_, asker) = bench.pair().await;
    let id = answered(&bench, &asker, 1).await[0];
    take(&bench, &bench.host, 1, "worker").await;
    bench.service.end(&asker.caller, fresh(), None).await.unwrap();
    let is_lost = |ask: &Ask| matches!(ask.delivery(), Some(Delivery::Undeliverable { reason, .. }) if !reason.is_empty());
    eventually(async || is_lost(&*bench.get(id).await)).await;
    assert!(answered_by(&*bench.get(id).await).is_some());
    assert!(take(&bench, &bench.host, 1, "worker").await.asks.is_empty());
}
