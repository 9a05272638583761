//! What the client does when connections are lost: nothing is done twice, nothing is missed.

use super::line::Line;
use super::*;
use askway::client::Watched;
use askway::grpc::v1::ask_service_client::AskServiceClient;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio_stream::StreamExt;
use tonic::Code;
use v1::watch_inbox_response::Message;

#[tokio::test]
async fn a_call_is_tried_again_until_the_daemon_is_there() {
    let daemon = Daemon::start().await;
    let worker = daemon.root(daemon.tcp()).await;
    let line = Line::to(daemon.port).await;
    line.refuse.store(3, Ordering::SeqCst);
    let receipt = line.client(&worker.token).ask(question("which?")).await.unwrap();
    assert!(!receipt.replayed);
    assert_eq!(line.refuse.load(Ordering::SeqCst), 0);
    line.refuse.store(usize::MAX, Ordering::SeqCst);
    line.cut();
    let impatient = line.client(&worker.token).with_patience(Duration::ZERO);
    let error = impatient.get_ask(&accepted(receipt).id).await.unwrap_err();
    assert_eq!((error.code, error.reason), (Code::Unavailable, None));
    daemon.stop().await;
}

#[tokio::test]
async fn a_socket_that_is_not_there_is_said_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let nowhere = Address::Unix(folder.path().join("socket"));
    let error = Client::new(nowhere, None).with_patience(Duration::ZERO).status().await;
    let error = error.unwrap_err();
    assert_eq!(error.code, Code::Unavailable);
    assert!(error.message.contains("cannot be reached: No such file"), "{}", error.message);
}

#[tokio::test]
async fn a_call_whose_reply_was_lost_is_done_once() {
    let daemon = Daemon::start().await;
    let worker = daemon.root(daemon.tcp()).await;
    let ask = worker.ask("which?").await;
    let line = Line::to(daemon.port).await;
    let owner = line.client(&daemon.owner);
    owner.status().await.unwrap();
    line.mute();
    let request = answer(&ask);
    let answering = tokio::spawn(async move { owner.answer(request).await });
    daemon.bench.until(ask.id.parse().unwrap(), |ask| !ask.is_open()).await;
    line.cut();
    let receipt = answering.await.unwrap().unwrap();
    assert!(receipt.replayed, "it was done before the line was cut");
    assert_eq!(accepted(receipt).outcome.unwrap().kind(), v1::OutcomeKind::Answered);
    daemon.stop().await;
}

#[tokio::test]
async fn a_watch_that_is_cut_and_cut_again_gives_each_event_once_and_in_order() {
    let daemon = Daemon::start().await;
    let (lead, worker) = daemon.pair(daemon.tcp()).await;
    let ask = worker.ask("which?").await;
    let line = Line::to(daemon.port).await;
    let mut watch = line.client(&worker.token).watch_ask(&ask.id, None);
    let first = watch.next().await.unwrap().unwrap();
    assert!(matches!(first, Watched::Ask(whole) if *whole == ask));
    let mut lost = 0;
    for revision in 2..=12 {
        if revision % 3 == 0 {
            line.cut();
        }
        let (ask_id, text) = (ask.id.clone(), format!("turn {revision}"));
        let say = v1::SayRequest { ask_id, text: text.clone(), ..Default::default() };
        accepted(lead.client.say(say).await.unwrap());
        let event = loop {
            match watch.next().await.unwrap().unwrap() {
                Watched::Event(event) => break event,
                Watched::Reconnecting => lost += 1,
                other => panic!("{other:?} again"),
            }
        };
        assert_eq!((event.revision, event.text), (revision, text));
    }
    assert!(lost >= 4, "it was cut four times");
    accepted(lead.client.answer_agent(answer_agent(&ask)).await.unwrap());
    let last = watch.next().await.unwrap().unwrap();
    assert!(matches!(last, Watched::Event(event) if event.kind() == v1::EventKind::Answered));
    assert!(matches!(watch.next().await, Some(Ok(Watched::End))));
    assert!(watch.next().await.is_none());
    daemon.stop().await;
}

/// It takes as long as the client's keep-alive does.
#[tokio::test]
async fn c72_a_silent_link_is_noticed_and_the_watch_goes_on() {
    let daemon = Daemon::start().await;
    let (lead, worker) = daemon.pair(daemon.tcp()).await;
    let ask = worker.ask("which?").await;
    let line = Line::to(daemon.port).await;
    let mut watch = line.client(&worker.token).watch_ask(&ask.id, None);
    assert!(matches!(watch.next().await, Some(Ok(Watched::Ask(_)))));
    line.silence();
    accepted(lead.client.answer_agent(answer_agent(&ask)).await.unwrap());
    let mut next = async || {
        let next = tokio::time::timeout(2 * PATIENCE, watch.next()).await;
        next.expect("the silence is noticed").transpose().unwrap()
    };
    assert!(matches!(next().await, Some(Watched::Reconnecting)));
    let answered = loop {
        match next().await {
            Some(Watched::Reconnecting) => {}
            Some(Watched::Event(event)) => break event,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(answered.kind(), v1::EventKind::Answered);
    assert!(matches!(next().await, Some(Watched::End)), "and it comes once");
    daemon.stop().await;
}

#[tokio::test]
async fn a_watch_of_a_history_that_is_not_there_begins_anew() {
    let daemon = Daemon::start().await;
    let worker = daemon.root(daemon.tcp()).await;
    let ask = worker.ask("which?").await;
    // As after a restore of an older copy: what was seen has not happened.
    let mut watch = worker.client.watch_ask(&ask.id, Some(99));
    let first = watch.next().await.unwrap().unwrap();
    assert!(matches!(first, Watched::Ask(whole) if *whole == ask));
    daemon.stop().await;
}

#[tokio::test]
async fn a_revision_of_a_store_that_was_restored_since_is_told_apart() {
    let daemon = Daemon::start().await;
    let worker = daemon.root(daemon.tcp()).await;
    let ask = worker.ask("which?").await;
    let mut asks = AskServiceClient::new(stop::channel(&daemon, 1 << 16).await);
    let of = |incarnation: &str, after_revision| v1::WatchAskRequest {
        ask_id: ask.id.clone(),
        after_revision,
        incarnation: incarnation.into(),
    };
    let owned = |request| stop::with_owner(&daemon, request);
    let mut first = asks.watch_ask(owned(of("", None))).await.unwrap().into_inner();
    let first = first.message().await.unwrap().unwrap();
    assert!(!first.incarnation.is_empty());
    let same = asks.watch_ask(owned(of(&first.incarnation, Some(1)))).await;
    assert!(same.is_ok(), "{same:?}");
    let other = asks.watch_ask(owned(of("before", Some(1)))).await.unwrap_err();
    assert_eq!(other.code(), tonic::Code::OutOfRange);
    assert!(other.message().contains("restored"), "{other:?}");
    // Whoever has seen nothing yet has nothing to lose.
    assert!(asks.watch_ask(owned(of("before", None))).await.is_ok());
    daemon.stop().await;
}

#[tokio::test]
async fn inbox_deliveries_and_hold_are_taken_up_again() {
    let daemon = Daemon::start().await;
    let (lead, worker) = daemon.pair(daemon.tcp()).await;
    let ask = worker.ask("which?").await;
    let line = Line::to(daemon.port).await;
    let mut inbox = line.client(&lead.token).watch_inbox(v1::AskScope::WaitingOnMe);
    let mut hold = line.client(&lead.token).hold(lead.hold.clone());
    let mut deliveries = line.client(&worker.token).watch_deliveries();
    let ask_id = ask.id.clone();
    let say = v1::SayRequest { ask_id, text: "why?".into(), ..Default::default() };
    accepted(lead.client.say(say).await.unwrap());
    let mut offered = Vec::new();
    for _ in 0..3 {
        let Some(Ok(Message::Snapshot(snapshot))) = inbox.next().await else {
            panic!("no snapshot")
        };
        assert_eq!(snapshot.asks[0].id, ask.id);
        assert_eq!(hold.next().await.unwrap().unwrap().state(), v1::SessionState::Active);
        offered.push(deliveries.next().await.unwrap().unwrap().id);
        line.cut();
    }
    assert_eq!(offered[0], offered[1], "the same id each time it is offered");
    let acknowledge =
        v1::AcknowledgeDeliveryRequest { delivery_id: offered.remove(0), ..Default::default() };
    accepted(worker.client.acknowledge_delivery(acknowledge).await.unwrap());
    accepted(lead.client.answer_agent(answer_agent(&ask)).await.unwrap());
    let next = deliveries.next().await.unwrap().unwrap();
    assert!(next.turn.is_none() && next.ask.unwrap().outcome.is_some(), "the turn is not again");
    // A hold that no retry mends ends, and says why.
    let paused = worker.client.pause_session(v1::PauseSessionRequest::default()).await.unwrap();
    assert_eq!(paused.receipt.unwrap().result(), v1::Result::Accepted);
    let mut refused = line.client(&worker.token).hold(worker.hold.clone());
    assert_eq!(refused.next().await.unwrap().unwrap_err().code, Code::FailedPrecondition);
    assert!(refused.next().await.is_none());
    daemon.stop().await;
}
