//! Askers that are away, and what was decided and found nobody: the answerer's receipt says so, and
//! the sender is told.

use crate::bench::*;
use askway::ask::{Delivery, EventKind};
use askway::error::Reason;
use askway::service::{AskScope, HoldMessage, InboxMessage, Presence};
use tokio_stream::StreamExt;

#[tokio::test]
async fn an_outcome_that_found_nobody_is_in_the_senders_inbox_until_it_says_that_it_knows() {
    let bench = Bench::new().await;
    let (lead, worker) = bench.pair().await;
    let ask = bench.ask(&worker, "which store?").await;
    accepted(bench.answer(&ask).await);
    let mut watch =
        bench.service.watch_inbox(&lead.caller, AskScope::WaitingOnMe, None).await.unwrap();
    let Some(Ok(InboxMessage::Snapshot { total: 0, .. })) = watch.next().await else {
        panic!("what is answered waits on nobody");
    };
    bench.service.end(&bench.host, fresh(), Some(worker.id())).await.unwrap();
    let came = tokio::time::timeout(PATIENCE, watch.next()).await.unwrap();
    let Some(Ok(InboxMessage::Change { came, total: 1, .. })) = came else {
        panic!("the sender was not told");
    };
    let orphan = &came[0];
    assert!(matches!(orphan.delivery(), Some(Delivery::Undeliverable { .. })));
    assert!(answered_by(orphan).is_some(), "the answer is kept, and who gave it");
    assert_eq!(bench.inbox(&lead.caller).await, [ask.id]);

    let revision = orphan.outcome().unwrap().revision;
    let told = || bench.service.acknowledge(&lead.caller, fresh(), ask.id, revision, None);
    accepted(told().await);
    assert!(bench.inbox(&lead.caller).await.is_empty());
    accepted(told().await);
    let events = bench.service.events(&lead.caller, ask.id, 0, 99).await.unwrap();
    let tellings =
        events.iter().filter(|(event, _)| matches!(event.kind, EventKind::SenderTold { .. }));
    assert_eq!(tellings.count(), 1, "said twice it is known once");
}

#[tokio::test]
async fn rule_12_whoever_answers_for_nobody_is_told_so() {
    let bench = Bench::new().await;
    let (_, worker) = bench.pair().await;
    let ask = bench.ask(&worker, "which store?").await;
    bench.service.end(&bench.host, fresh(), Some(worker.id())).await.unwrap();
    let receipt = bench.answer(&ask).await.unwrap();
    assert_eq!(receipt.asker, Some(Presence::Gone));
    assert_eq!(receipt.ask.unwrap().orphan_of(), None, "nothing was decided that could be lost");
}

#[tokio::test]
async fn a_root_sessions_outcome_that_found_nobody_has_no_sender_to_tell() {
    let bench = Bench::new().await;
    let root = bench.root("lead").await;
    let ask = bench.ask(&root, "which store?").await;
    accepted(bench.answer(&ask).await);
    bench.service.end(&bench.host, fresh(), Some(root.id())).await.unwrap();
    let gone = loop {
        let ask = bench.get(ask.id).await;
        if !ask.is_unread() {
            break ask;
        }
        tokio::task::yield_now().await;
    };
    assert!(!gone.is_listed());
}

#[tokio::test]
async fn an_inbox_says_since_when_the_asker_is_gone_and_that_it_is_back() {
    let bench = Bench::new().await;
    let (_, worker) = bench.pair().await;
    let ask = bench.ask(&worker, "which store?").await;
    let mut watch = bench.service.watch_inbox(&bench.owner, AskScope::Visible, None).await.unwrap();
    let Some(Ok(InboxMessage::Snapshot { away, .. })) = watch.next().await else {
        panic!("a snapshot comes first");
    };
    assert!(away.is_empty());
    let id = worker.id();
    bench.service.pause(&bench.host, fresh(), Some(id)).await.unwrap();
    let mut change = async || {
        let next = tokio::time::timeout(PATIENCE, watch.next()).await.unwrap();
        let Some(Ok(InboxMessage::Change { changed, away, .. })) = next else {
            panic!("the ask did not change");
        };
        assert_eq!(changed.iter().map(|ask| ask.id).collect::<Vec<_>>(), [ask.id]);
        away.get(&id).copied()
    };
    let paused = bench.service.status(&bench.owner).await.unwrap().service_time;
    assert_eq!(change().await, Some(paused));
    bench.service.resume(&bench.host, fresh(), id).await.unwrap();
    assert_eq!(change().await, None);
}

#[tokio::test]
async fn a_hold_ends_when_somebody_pauses_or_ends_the_session() {
    let bench = Bench::new().await;
    let lead = bench.root("lead").await;
    for (ends, why) in [(false, Reason::SessionPaused), (true, Reason::SessionEnded)] {
        let worker = bench.child("worker", &lead, false).await;
        let mut hold = bench.service.watch_hold(&worker.caller, worker.hold.clone()).await.unwrap();
        assert!(matches!(hold.next().await, Some(Ok(HoldMessage::Held(_)))));
        let id = Some(worker.id());
        match ends {
            false => drop(bench.service.pause(&bench.host, fresh(), id).await.unwrap()),
            true => drop(bench.service.end(&bench.host, fresh(), id).await.unwrap()),
        }
        let said = tokio::time::timeout(PATIENCE, hold.next()).await.unwrap().unwrap();
        let said = said.expect_err("it is held no more");
        use askway::error::Error::{Precondition, Unauthenticated};
        let (Precondition(reason, _) | Unauthenticated(reason, _)) = said else { panic!("{said}") };
        assert_eq!(reason, why);
        assert!(hold.next().await.is_none());
    }
}
