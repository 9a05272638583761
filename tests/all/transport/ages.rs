//! Connections that end by themselves: old ones, and those whose other side has gone.

use super::*;
use crate::raw::{GOAWAY, Raw};
use crate::wire::accepted;
use crate::wire::answer;
use askway::client::{Address, Client, Watched};
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio_stream::StreamExt;
use tokio_util::sync::CancellationToken;

#[tokio::test]
async fn an_old_connection_is_told_to_go_and_a_watch_on_it_misses_nothing() {
    let age = Duration::from_millis(200);
    let daemon = daemon(Limits { age, age_drain: age, ..Limits::default() }).await;
    let (_, worker) = daemon.pair(daemon.tcp()).await;
    let ask = worker.ask("which?").await;
    let mut watch = worker.client.watch_ask(&ask.id, None);
    let Some(Ok(Watched::Ask(_))) = soon(watch.next()).await else { panic!("the whole ask") };
    // At least two connections have been old before the answer.
    for _ in 0..2 {
        let mut raw = Raw::open(tcp(&daemon).await).await;
        let goaway = soon(raw.next_of(GOAWAY)).await.expect("it is told first");
        assert_eq!(goaway.payload[4..8], [0; 4], "nothing is wrong");
        soon(raw.closed()).await;
    }
    while !matches!(soon(watch.next()).await, Some(Ok(Watched::Reconnecting))) {}
    accepted(daemon.owner().answer(answer(&ask)).await.unwrap());
    let mut kinds = Vec::new();
    while let Some(item) = soon(watch.next()).await {
        match item.expect("it goes on") {
            Watched::Event(event) => kinds.push(event.revision),
            Watched::End => break,
            Watched::Ask(_) | Watched::Reconnecting | Watched::Stale | Watched::Current => {}
        }
    }
    assert_eq!(kinds, [ask.revision + 1]);
    daemon.stop().await;
}

/// Packets go nowhere, and nobody says so.
#[tokio::test]
async fn c72_a_connection_that_went_silent_is_noticed_by_both_sides_and_taken_up_again() {
    // Through a proxy the daemon is called by the proxy's port.
    let manner = Manner { names: vec!["127.0.0.1".into()], ..Manner::default() };
    let daemon = Daemon::serving(manner, Arc::new(Mem::default()), Settings::default()).await;
    let (_, worker) = daemon.pair(daemon.tcp()).await;
    let ask = worker.ask("which?").await;
    let between = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", between.local_addr().unwrap());
    let silent = CancellationToken::new();
    let (noticed, daemon_noticed) = oneshot::channel();
    let (port, fallen_silent) = (daemon.port, silent.clone());
    let proxy = tokio::spawn(async move {
        let (mut near, _) = between.accept().await.unwrap();
        let mut far = TcpStream::connect(port).await.unwrap();
        tokio::select! {
            _ = tokio::io::copy_bidirectional(&mut near, &mut far) => panic!("it was cut"),
            () = fallen_silent.cancelled() => {}
        }
        // The daemon's side is heard, and nothing of it passed on.
        let mut lost = Vec::new();
        let _ = far.read_to_end(&mut lost).await;
        noticed.send(()).unwrap();
        // What comes after it passes again; the silent one stays as it is.
        loop {
            let (mut near, _) = between.accept().await.unwrap();
            tokio::spawn(async move {
                let mut far = TcpStream::connect(port).await.unwrap();
                let _ = tokio::io::copy_bidirectional(&mut near, &mut far).await;
            });
        }
    });
    let through = Client::new(Address::Http(address), Some(worker.token.clone()));
    let mut watch = through.watch_ask(&ask.id, None);
    soon(watch.next()).await.expect("it goes on").expect("the whole ask");
    silent.cancel();
    // Time passes as soon as nothing else happens: the keepalives of both sides run out.
    tokio::time::pause();
    tokio::time::timeout(Duration::from_secs(60), daemon_noticed)
        .await
        .expect("the daemon frees it within half a minute")
        .unwrap();
    let Some(Ok(Watched::Reconnecting)) = watch.next().await else { panic!("it noticed too") };
    tokio::time::resume();
    accepted(daemon.owner().answer(answer(&ask)).await.unwrap());
    loop {
        match soon(watch.next()).await.expect("it goes on").expect("it is taken up again") {
            Watched::Event(event) => break assert_eq!(event.revision, ask.revision + 1),
            Watched::Ask(_) | Watched::Reconnecting | Watched::Stale | Watched::Current => {}
            Watched::End => panic!("the answer was missed"),
        }
    }
    proxy.abort();
    daemon.stop().await;
}
