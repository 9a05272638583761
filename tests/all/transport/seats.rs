//! How many connections there may be, and who gets in when there are as many.

use super::*;
use crate::raw::{Raw, SETTINGS};
use askway::client::Client;
use std::time::Duration;

/// Connections that are open: each has had the daemon's settings.
async fn open(daemon: &Daemon, count: usize) -> Vec<Raw<TcpStream>> {
    let mut held = Vec::new();
    for _ in 0..count {
        let mut raw = Raw::open(tcp(daemon).await).await;
        soon(raw.next_of(SETTINGS)).await.expect("it is open");
        held.push(raw);
    }
    held
}

fn hasty(client: Client) -> Client {
    client.with_patience(Duration::ZERO)
}

#[tokio::test]
async fn with_tcp_full_the_next_is_closed_and_a_person_on_the_socket_gets_in() {
    let daemon = daemon(Limits { connections: 8, ..Limits::default() }).await;
    let held = open(&daemon, 8).await;
    for _ in 0..3 {
        soon(Raw::open(tcp(&daemon).await).await.closed()).await;
    }
    let refused = soon(hasty(daemon.owner()).status()).await.expect_err("it is full");
    assert!(refused.is_passing(), "{refused:?}");
    let owner = Client::new(daemon.unix(), Some(daemon.owner.clone()));
    assert_eq!(soon(owner.status()).await.unwrap().caller, "person owner");
    drop(held);
    is_well(&daemon).await;
    daemon.stop().await;
}

#[tokio::test]
async fn one_peer_and_one_process_have_no_more_than_their_part() {
    let limits =
        Limits { connections_a_peer: 2, socket_connections_a_process: 2, ..Limits::default() };
    let daemon = daemon(limits).await;
    let tcp_held = open(&daemon, 2).await;
    soon(Raw::open(tcp(&daemon).await).await.closed()).await;
    let mut held = Vec::new();
    for _ in 0..2 {
        let mut raw = Raw::open(unix(&daemon).await).await;
        soon(raw.next_of(SETTINGS)).await.expect("it is open");
        held.push(raw);
    }
    soon(Raw::open(unix(&daemon).await).await.closed()).await;
    drop((held, tcp_held));
    is_well(&daemon).await;
    daemon.stop().await;
}

#[tokio::test]
async fn a_peer_that_connects_in_a_loop_is_slowed_down_and_the_socket_is_not() {
    let (new_connections_at_once, new_connections_a_second) = (5, 1);
    let limits = Limits { new_connections_at_once, new_connections_a_second, ..Limits::default() };
    let daemon = daemon(limits).await;
    let mut closed = 0;
    for _ in 0..100 {
        let mut raw = Raw::open(tcp(&daemon).await).await;
        closed += usize::from(soon(raw.next()).await.is_none());
    }
    assert!(closed > 0, "a hundred at once are too many");
    for _ in 0..100 {
        let mut raw = Raw::open(unix(&daemon).await).await;
        soon(raw.next_of(SETTINGS)).await.expect("no rate here");
    }
    // The client comes back until it is let in.
    is_well(&daemon).await;
    daemon.stop().await;
}
