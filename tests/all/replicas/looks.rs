//! Without LISTEN: what others did is looked for.

use super::cluster::Cluster;
use super::lost::by;
use super::wall;
use crate::bench::*;
use crate::wire::line::Line;
use askway::engine::clock::Manual;
use askway::service::WatchMessage;
use askway::store::Store;
use askway::store::postgres::{Hearing, Postgres};
use std::sync::Arc;
use tokio_stream::StreamExt;

#[tokio::test(flavor = "multi_thread")]
async fn without_listen_what_is_answered_at_one_replica_is_found_at_another() {
    let cluster = Cluster::shared();
    let line = Line::to(cluster.address()).await;
    line.note();
    let url = by(&cluster.database("t"), &[line.port]);
    let replica = async |number| {
        let store = Postgres::open_with(&url, Hearing::Look).await.unwrap();
        Bench::on(Arc::new(store) as Arc<dyn Store>, Manual::at(wall(number))).await
    };
    let (one, other) = (replica(1).await, replica(2).await);
    let (_, worker) = one.pair().await;
    let ask = one.ask(&worker, "which store?").await;
    let mut watch = one.service.watch_ask(&one.owner, ask.id, None).await.unwrap();
    assert!(matches!(watch.next().await, Some(Ok(WatchMessage::Ask(_)))));
    accepted(other.answer(&ask).await);
    let next = tokio::time::timeout(PATIENCE, watch.next()).await.expect("it is found");
    assert!(matches!(next, Some(Ok(WatchMessage::Event(event, _))) if event.revision == 2));
    // Nobody listens, and nobody told: neither was ever said. What is said at all can be read.
    let said = line.said().to_lowercase();
    assert!(said.contains("askway.commit_batch") && said.contains("transaction_read_only"));
    assert!(!said.contains("listen askway") && !said.contains("pg_notify"), "{said}");
    one.stop().await;
    other.stop().await;
}
