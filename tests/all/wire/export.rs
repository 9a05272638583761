//! All that is kept, over the wire.

use super::*;
use askway::error::Error;
use tokio_stream::StreamExt;

#[tokio::test]
async fn all_that_is_kept_is_given_to_the_daemons_user_without_a_secret() {
    let daemon = Daemon::start().await;
    let worker = daemon.root(daemon.tcp()).await;
    let ask = worker.ask("which?").await;
    let mut pieces = daemon.local().export().await.unwrap();
    let mut lines = Vec::new();
    while let Some(piece) = pieces.next().await {
        lines.extend(piece.unwrap());
    }
    let text = String::from_utf8(lines).unwrap();
    assert!(text.lines().any(|line| line.contains(&ask.id)), "{text}");
    assert!(text.lines().last().unwrap().starts_with("{\"end\""), "{text}");
    for secret in [&daemon.owner, &daemon.host, &worker.token, &worker.hold] {
        assert!(!text.contains(secret.expose()), "a secret is in it");
    }
    daemon.stop().await;
}

#[tokio::test]
async fn one_export_is_under_way_at_a_time_and_ends_when_the_daemon_stops() {
    let bench = Bench::new().await;
    let operator = askway::service::Caller {
        principal: Principal::Host(askway::service::LOCAL_HOST.parse().unwrap()),
        ..bench.host.clone()
    };
    let denied = bench.service.export(&bench.owner).await.err();
    assert!(matches!(denied, Some(Error::Denied(..))), "{denied:?}");
    let first = bench.service.export(&operator).await.unwrap();
    let second = bench.service.export(&operator).await.err();
    assert!(matches!(second, Some(Error::Busy(_))), "{second:?}");
    drop(first);
    let mut third = bench.service.export(&operator).await.unwrap();
    assert!(third.next().await.unwrap().is_ok());
    bench.service.shutdown();
    let cut = third.next().await.unwrap();
    assert!(matches!(cut, Err(Error::Unavailable(..))), "{cut:?}");
    assert!(third.next().await.is_none());
}
