//! The same question once more in the same work is the same ask (rule 13).

use crate::bench::*;
use askway::ask::{Draft, ExpiryAction, Plans, RouteName, Span, limits};
use askway::engine::clock::Manual;
use askway::service::Settings;
use askway::store::mem::Mem;
use std::collections::HashSet;
use std::sync::Arc;
use tokio_stream::StreamExt;

#[tokio::test]
async fn rule_13_the_same_content_in_the_same_work_is_the_same_ask() {
    let bench = Bench::new().await;
    let (lead, worker) = bench.pair().await;
    let first = bench.ask(&worker, "which store?").await;
    let again = bench.file(&worker, draft("which store?")).await.unwrap();
    assert!(again.replayed && again.differs.is_empty());
    assert_eq!(again.ask.unwrap().id, first.id);
    assert_eq!(bench.inbox(&lead.caller).await, [first.id]);
    let other = bench.ask(&worker, "which store!").await;
    assert_ne!(other.id, first.id, "one changed byte is another question");
}

#[tokio::test]
async fn rule_13_every_waiter_of_the_same_question_gets_its_outcome() {
    let bench = Arc::new(Bench::new().await);
    let (_, worker) = bench.pair().await;
    let mut waiters = tokio::task::JoinSet::new();
    for _ in 0..5 {
        let ask = bench.file(&worker, draft("which store?")).await.unwrap().ask.unwrap();
        let watch = bench.service.watch_ask(&worker.caller, ask.id, None).await.unwrap();
        waiters.spawn(watch.collect::<Vec<_>>());
    }
    let open = bench.inbox(&bench.owner).await;
    assert!(open.is_empty(), "it waits on the sender");
    let ask = bench.file(&worker, draft("which store?")).await.unwrap().ask.unwrap();
    accepted(bench.answer(&ask).await);
    let all = async {
        while let Some(seen) = waiters.join_next().await {
            let seen = seen.unwrap();
            assert!(matches!(seen.last(), Some(Ok(askway::service::WatchMessage::End(2)))));
        }
    };
    tokio::time::timeout(PATIENCE, all).await.expect("no waiter is lost");
}

#[tokio::test]
async fn c25_rule_13_an_answered_question_asked_again_is_answered_until_it_is_acknowledged() {
    let bench = Bench::new().await;
    let (lead, worker) = bench.pair().await;
    let first = bench.ask(&worker, "which store?").await;
    accepted(bench.answer_agent(&lead, &first).await);
    // The asker has lost the answer, and sends its question again.
    let request = fresh();
    let resend = || bench.service.ask(&worker.caller, request.clone(), None, draft("which store?"));
    let again = resend().await.unwrap();
    assert!(again.replayed);
    let again = again.ask.unwrap();
    assert!(again.id == first.id && answered_by(&again).is_some(), "nobody is asked again");
    bench.acknowledge(&worker, first.id).await;
    let receipt = resend().await.unwrap();
    assert!(receipt.replayed, "its receipt is its own");
    assert_eq!(receipt.ask.unwrap().id, first.id);
    let anew = bench.ask(&worker, "which store?").await;
    assert_ne!(anew.id, first.id, "what was acknowledged is over");
}

#[tokio::test]
async fn rule_13_what_differs_beside_the_content_is_named() {
    let clock = Manual::at(askway::ask::Timestamp::from_millis(1_800_000_000_000));
    let other: RouteName = "other".parse().unwrap();
    let owner = askway::ask::PlanHop {
        to: askway::ask::PlanTo::Person(askway::ask::PersonName::owner()),
        timeout: None,
    };
    let plan =
        askway::ask::Plan::new(other.clone(), vec![owner], 1, limits::ROUTE_TIMEOUT).unwrap();
    let routes = Plans::new([plan], limits::ROUTE_TIMEOUT);
    let settings = Settings { routes, ..Settings::default() };
    let bench = Bench::set(Arc::new(Mem::default()), clock, settings).await;
    let (_, worker) = bench.pair().await;
    bench.ask(&worker, "which store?").await;
    let expire = Some((Span::from_mins(5), ExpiryAction::Stop));
    let cases = [
        (Draft { route: Some(other.clone()), ..draft("which store?") }, vec!["route"]),
        (Draft { expire, ..draft("which store?") }, vec!["expire"]),
        (Draft { expire, route: Some(other), ..draft("which store?") }, vec!["route", "expire"]),
    ];
    for (sent, differs) in cases {
        let receipt = bench.file(&worker, sent).await.unwrap();
        assert_eq!((receipt.replayed, receipt.differs), (true, differs));
    }
    let short = Some((Span::from_millis(1), ExpiryAction::Stop));
    let bad = bench.file(&worker, Draft { expire: short, ..draft("which store?") }).await;
    assert!(matches!(bad, Err(askway::error::Error::Invalid(_))), "what is invalid is no match");
}

#[tokio::test]
async fn rule_13_another_work_or_tree_is_another_ask() {
    let bench = Bench::new().await;
    let (lead, worker) = bench.pair().await;
    let first = bench.ask(&worker, "which store?").await;
    bench.send(&lead, &worker).await;
    let second = bench.ask(&worker, "which store?").await;
    let third = bench.ask(&lead, "which store?").await;
    let stranger = bench.root("stranger").await;
    let fourth = bench.ask(&stranger, "which store?").await;
    let ids: HashSet<_> = [first.id, second.id, third.id, fourth.id].into();
    assert_eq!(ids.len(), 4);
    assert_eq!((first.tree, first.digest), (second.tree, second.digest));
}

#[tokio::test]
async fn rule_13_what_was_withdrawn_is_asked_anew() {
    let bench = Bench::new().await;
    let (_, worker) = bench.pair().await;
    let first = bench.ask(&worker, "which store?").await;
    accepted(bench.service.withdraw(&worker.caller, fresh(), first.id, None).await);
    let second = bench.file(&worker, draft("which store?")).await.unwrap();
    assert!(!second.replayed);
    assert_ne!(second.ask.unwrap().id, first.id);
}

#[tokio::test]
async fn rule_13_content_that_a_reply_changed_is_another_question() {
    let bench = Bench::new().await;
    let (lead, worker) = bench.pair().await;
    let first = bench.ask(&worker, "which store?").await;
    accepted(bench.service.say(&lead.caller, fresh(), first.id, "which ones?".into()).await);
    let mut options = first.content.questions[0].options.clone();
    options[1].label = "perhaps".into();
    let replaced = [("q1".to_owned(), options.clone())].into();
    let reply = bench.service.reply(&worker.caller, fresh(), first.id, "these".into(), replaced);
    let changed = accepted(reply.await);
    let old = bench.file(&worker, draft("which store?")).await.unwrap();
    assert!(!old.replayed, "as it was it is not asked any more");
    let mut new = draft("which store?");
    what(&mut new).questions[0].options = options;
    let new = bench.file(&worker, new).await.unwrap();
    assert!(new.replayed);
    assert_eq!(new.ask.unwrap().id, changed.id);
}

#[tokio::test(flavor = "multi_thread")]
async fn c29_fifty_at_once_are_one_ask() {
    let bench = Arc::new(Bench::new().await);
    let (lead, worker) = bench.pair().await;
    for same_request in [true, false] {
        let (one, question) = (fresh(), format!("one request: {same_request}?"));
        let mut calls = tokio::task::JoinSet::new();
        for _ in 0..50 {
            let (bench, worker, question) = (bench.clone(), worker.clone(), question.clone());
            let request = if same_request { one.clone() } else { fresh() };
            calls.spawn(async move {
                bench.service.ask(&worker.caller, request, None, draft(&question)).await.unwrap()
            });
        }
        let receipts = calls.join_all().await;
        let ids: HashSet<_> = receipts.iter().map(|r| r.ask.as_ref().unwrap().id).collect();
        assert_eq!(ids.len(), 1);
        assert_eq!(receipts.iter().filter(|receipt| !receipt.replayed).count(), 1);
    }
    assert_eq!(bench.inbox(&lead.caller).await.len(), 2);
}
