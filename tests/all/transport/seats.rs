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

/// As many as there are by the socket; agents have all of them but those that are kept.
async fn crowded() -> (Daemon, askway::session::Secret, Vec<Client>) {
    let daemon = daemon(Limits { socket_connections: 16, ..Limits::default() }).await;
    let agent = daemon.root(daemon.tcp()).await;
    let mut held = Vec::new();
    for _ in 0..14 {
        let client = Client::new(daemon.unix(), Some(agent.token.clone()));
        soon(client.status()).await.expect("there is a place");
        held.push(client);
    }
    (daemon, agent.token, held)
}

#[tokio::test]
async fn agents_that_have_every_place_on_the_socket_leave_a_person_theirs() {
    let (daemon, token, held) = crowded().await;
    for _ in 0..8 {
        let late = hasty(Client::new(daemon.unix(), Some(token.clone())));
        let refused = soon(late.status()).await.expect_err("what is left is for people");
        assert!(refused.is_passing(), "{refused:?}");
    }
    let agent = daemon.root(daemon.tcp()).await;
    let ask = agent.ask("may I?").await;
    let owner = Client::new(daemon.unix(), Some(daemon.owner.clone()));
    let settled = soon(owner.answer(crate::wire::answer(&ask))).await.expect("a person gets in");
    assert_eq!(settled.result(), askway::grpc::v1::Result::Accepted);
    drop(owner);
    drop(held);
    is_well(&daemon).await;
    daemon.stop().await;
}

/// A token that is none, or a person's that another speaks beside, keeps no place of a person's.
#[tokio::test]
async fn who_only_says_to_be_a_person_keeps_no_place_of_theirs() {
    let (daemon, _, held) = crowded().await;
    let forged = askway::session::Secret::new(askway::session::Kind::Person, [9; 32]);
    let forged = hasty(Client::new(daemon.unix(), Some(forged)));
    let refused = soon(forged.status()).await.expect_err("it is nobody's");
    assert_eq!(refused.reason.as_deref(), Some("BAD_CREDENTIAL"));
    // Its connection is closed, and so are those on which nobody says anything.
    let mut silent = Vec::new();
    for _ in 0..2 {
        silent.push(Raw::open(unix(&daemon).await).await);
    }
    for raw in silent {
        soon(raw.closed()).await;
    }
    let owner = Client::new(daemon.unix(), Some(daemon.owner.clone()));
    assert_eq!(soon(owner.status()).await.expect("there is a place").caller, "person owner");
    drop((held, forged));
    daemon.stop().await;
}
