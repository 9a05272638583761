//! Health, as a probe sees it, while the store is away.

use super::*;
use crate::faults::Held;
use askway::client::Watched;
use askway::serve::ready;
use std::future::Future;
use std::sync::atomic::Ordering;
use tokio::sync::watch;
use tokio_stream::StreamExt;
use tonic::Streaming;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;
use tonic_health::pb::{HealthCheckRequest, HealthCheckResponse};

async fn soon<T>(what: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, what).await.expect("it comes in time")
}

async fn says(health: &mut Streaming<HealthCheckResponse>, wanted: ServingStatus) {
    let said = soon(health.message()).await.unwrap().expect("it goes on");
    assert_eq!(said.status(), wanted);
}

#[tokio::test]
async fn health_follows_the_store_and_what_is_open_stays_open() {
    let store = Held::new();
    let (is_ready, ready) = watch::channel(true);
    let followed = store.clone();
    let following = tokio::spawn(async move { ready::follow(&*followed, &is_ready).await });
    let manner = Manner { ready: Some(ready), ..Manner::default() };
    let daemon = Daemon::serving(manner, store.clone(), Settings::default()).await;
    let (lead, worker) = daemon.pair(daemon.unix()).await;
    let ask = worker.ask("which store?").await;
    let channel = credentials::raw(&daemon, false).await;
    let mut all = Vec::new();
    for service in ["", "askway.v1.AskService", "askway.v1.AdminService"] {
        let request = HealthCheckRequest { service: service.into() };
        let watched = HealthClient::new(channel.clone()).watch(request).await;
        all.push(watched.unwrap().into_inner());
    }
    let mut watch = worker.client.watch_ask(&ask.id, None);
    let first = soon(watch.next()).await.expect("it begins").expect("it is read");
    assert!(matches!(first, Watched::Ask(_)), "{first:?}");
    let serving = ServingStatus::Serving;
    for (fails, then) in [(false, serving), (true, ServingStatus::NotServing), (false, serving)] {
        store.fails.store(fails, Ordering::SeqCst);
        for health in &mut all {
            says(health, then).await;
        }
    }
    accepted(lead.client.answer_agent(answer_agent(&ask)).await.unwrap());
    let next = soon(watch.next()).await.expect("it goes on").expect("it is read");
    assert!(matches!(next, Watched::Event(event) if event.revision == 2), "and was never cut");
    daemon.stop().await;
    following.abort();
}
