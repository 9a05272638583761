//! Health, as a probe sees it, and the streams that are open, while the store is away.

use super::*;
use crate::bench::draft;
use crate::faults::Held;
use askway::grpc::v1::ask_service_client::AskServiceClient;
use askway::service::Answers;
use std::future::Future;
use std::sync::atomic::Ordering;
use tonic::{Code, Request, Streaming};
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;
use tonic_health::pb::{HealthCheckRequest, HealthCheckResponse};
use v1::watch_ask_response::Message;

async fn soon<T>(what: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, what).await.expect("it comes in time")
}

async fn says(health: &mut Streaming<HealthCheckResponse>, wanted: ServingStatus) {
    let said = soon(health.message()).await.unwrap().expect("it goes on");
    assert_eq!(said.status(), wanted);
}

async fn next(watch: &mut Streaming<v1::WatchAskResponse>) -> Message {
    soon(watch.message()).await.expect("it is open").expect("it goes on").message.unwrap()
}

#[tokio::test]
async fn while_the_store_is_away_nothing_is_served_and_streams_stay_open() {
    let store = Held::new();
    let daemon = Daemon::over(store.clone()).await;
    let channel = credentials::raw(&daemon, false).await;
    let (lead, worker) = daemon.bench.pair().await;
    let ask = daemon.bench.ask(&worker, "which store?").await;
    let services = ["", "askway.v1.AskService", "askway.v1.AdminService"];
    let mut all = Vec::new();
    for service in services {
        let request = HealthCheckRequest { service: service.into() };
        let mut health = HealthClient::new(channel.clone());
        all.push(health.watch(request).await.unwrap().into_inner());
    }
    for health in &mut all {
        says(health, ServingStatus::Serving).await;
    }
    let request = || {
        let message = v1::WatchAskRequest { ask_id: ask.id.to_string(), ..Default::default() };
        let mut request = Request::new(message);
        let bearer = format!("Bearer {}", daemon.owner.expose()).parse().unwrap();
        request.metadata_mut().insert("authorization", bearer);
        request
    };
    let mut asks = AskServiceClient::new(channel);
    let mut watch = asks.watch_ask(request()).await.unwrap().into_inner();
    assert!(matches!(next(&mut watch).await, Message::Ask(_)));

    store.fails.store(true, Ordering::SeqCst);
    for health in &mut all {
        says(health, ServingStatus::NotServing).await;
    }
    let Message::Idle(idle) = next(&mut watch).await else { panic!("it is not told") };
    assert_eq!((idle.revision, idle.stale), (1, true));
    let refused = asks.watch_ask(request()).await.expect_err("a new one is told at once");
    assert_eq!(refused.code(), Code::Unavailable);

    store.fails.store(false, Ordering::SeqCst);
    for health in &mut all {
        says(health, ServingStatus::Serving).await;
    }
    let Message::Idle(idle) = next(&mut watch).await else { panic!("it is not told") };
    assert_eq!((idle.revision, idle.stale), (1, false), "and that it is back");
    daemon.bench.answer_agent(&lead, &ask).await.unwrap();
    let Message::Event(event) = next(&mut watch).await else { panic!("it is missed") };
    assert_eq!(event.revision, 2);
    assert!(matches!(next(&mut watch).await, Message::End(_)));
    daemon.stop().await;
}

/// A disk that is full reads as ever: what it cannot do is found by whoever wrote last, and that it can
/// again by the probe itself, since nobody calls.
#[tokio::test]
async fn a_store_that_reads_and_does_not_write_is_away_too() {
    let store = Held::new();
    let daemon = Daemon::over(store.clone()).await;
    let (_, worker) = daemon.bench.pair().await;
    let mut answers = daemon.bench.service.store_answers();
    store.writes_fail.store(true, Ordering::SeqCst);
    let filed = daemon.bench.file(&worker, draft("which store?")).await;
    assert!(filed.is_err(), "it is not kept");
    soon(answers.wait_for(|answers| answers.reads && !answers.writes)).await.unwrap();
    store.writes_fail.store(false, Ordering::SeqCst);
    soon(answers.wait_for(|answers| *answers == Answers::WELL)).await.unwrap();
    daemon.bench.ask(&worker, "which store?").await;
    daemon.stop().await;
}
