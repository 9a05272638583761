//! Too much at once: what is let go, in which order, and who gets in all the same.

use super::*;
use crate::raw::{END_HEADERS, HEADERS, Raw, call, frame};
use crate::wire::{accepted, answer_agent, question};
use askway::ask::Span;
use askway::client::{Client, ClientError};
use askway::grpc::v1;
use askway::service::Rates;
use std::time::Duration;
use tokio_stream::StreamExt;
use tonic::Code;

fn hasty(client: &Client) -> Client {
    client.clone().with_patience(Duration::ZERO)
}

/// Busy, with when to come again.
fn is_busy<T>(result: Result<T, ClientError>) -> Duration {
    let error = result.err().expect("it is refused");
    assert_eq!((error.code, error.reason.as_deref()), (Code::ResourceExhausted, Some("BUSY")));
    error.retry_after.expect("it says when to come again")
}

/// Calls in flight that wait for their message: answers, by nobody.
async fn in_flight(daemon: &Daemon, count: u32) -> Raw<TcpStream> {
    let mut raw = Raw::open(tcp(daemon).await).await;
    let path = "/askway.v1.AskService/Answer";
    let headers = call(&daemon.port.to_string(), path, &[]);
    for stream in (0..count).map(|n| 2 * n + 1) {
        raw.send(&frame(HEADERS, END_HEADERS, stream, &headers)).await;
    }
    // A ping comes back after all of them were taken.
    raw.send(&frame(crate::raw::PING, 0, 0, &[7; 8])).await;
    while soon(raw.next_of(crate::raw::PING)).await.expect("it is open").payload != [7; 8] {}
    raw
}

/// Whoever opens calls and does not say the rest, without any token, takes no more places than its own
/// peer has: not those of everybody.
#[tokio::test]
async fn calls_that_nobody_is_known_to_make_take_no_more_than_their_peers_places() {
    let (message_within, unproven_a_peer) = (PATIENCE * 10, 20);
    let limits = Limits { message_within, unproven_a_peer, ..Limits::default() };
    let daemon = daemon(limits).await;
    let (lead, worker) = daemon.pair(daemon.unix()).await;
    let ask = worker.ask("which?").await;
    let held = in_flight(&daemon, 200).await;
    is_busy(hasty(&daemon.owner()).status().await);
    // Of another peer, here by the socket, everybody goes on.
    accepted(hasty(&lead.client).answer_agent(answer_agent(&ask)).await.expect("there is room"));
    hasty(&worker.client).list_asks(v1::AskScope::Mine).await.expect("and to look");
    drop(held);
    is_well(&daemon).await;
    // Who is known is counted no more: streams last, and many are open at once.
    let mut watches: Vec<_> = (0..30).map(|_| worker.client.watch_ask(&ask.id, None)).collect();
    for watch in &mut watches {
        soon(watch.next()).await.expect("it is let in").expect("and begins");
    }
    daemon.stop().await;
}

#[tokio::test]
async fn looking_goes_before_asking_and_asking_before_answering_and_a_person_here_stays() {
    let limits = Limits { calls: 100, message_within: PATIENCE * 10, ..Limits::default() };
    let daemon = daemon(limits).await;
    let (lead, worker) = daemon.pair(daemon.tcp()).await;
    let ask = worker.ask("which?").await;
    let lists = async || hasty(&worker.client).list_asks(v1::AskScope::Mine).await;
    lists().await.expect("there is room");

    let first = in_flight(&daemon, 75).await;
    is_busy(lists().await);
    let mut watch = hasty(&worker.client).watch_inbox(v1::AskScope::WaitingOnMe);
    assert!(tokio::time::timeout(Duration::from_millis(300), watch.next()).await.is_err());
    accepted(hasty(&worker.client).ask(question("another?")).await.expect("asking goes on"));

    let second = in_flight(&daemon, 12).await;
    is_busy(hasty(&worker.client).ask(question("a third?")).await);
    accepted(hasty(&lead.client).answer_agent(answer_agent(&ask)).await.expect("answers go on"));
    let owner = hasty(&daemon.owner());
    owner.list_asks(v1::AskScope::Visible).await.expect("a person looks as before");

    let third = in_flight(&daemon, 13).await;
    is_busy(owner.list_asks(v1::AskScope::Visible).await);
    let home = Client::new(daemon.unix(), Some(daemon.owner.clone()));
    hasty(&home).list_asks(v1::AskScope::Visible).await.expect("a person here gets in");

    drop((first, second, third));
    soon(watch.next()).await.expect("it was let in").expect("by itself");
    is_well(&daemon).await;
    daemon.stop().await;
}

#[tokio::test]
async fn one_principal_has_no_more_calls_and_streams_than_its_own_and_others_have_theirs() {
    let rates = Rates { calls: 2, streams: 2, ..Rates::default() };
    let settings = Settings { rates, ..Settings::default() };
    let daemon = Daemon::with(Arc::new(Mem::default()), settings).await;
    let lead = daemon.root(daemon.tcp()).await;
    let mut watches = Vec::new();
    for _ in 0..2 {
        let mut watch = lead.client.watch_inbox(v1::AskScope::WaitingOnMe);
        soon(watch.next()).await.unwrap().expect("a snapshot");
        watches.push(watch);
    }
    let mut third = lead.client.watch_inbox(v1::AskScope::WaitingOnMe);
    assert!(tokio::time::timeout(Duration::from_millis(300), third.next()).await.is_err());
    let mut other = daemon.owner().watch_inbox(v1::AskScope::WaitingOnMe);
    soon(other.next()).await.unwrap().expect("a person has their own");
    watches.pop();
    soon(third.next()).await.unwrap().expect("one was free again");

    let service = &daemon.bench.service;
    let caller = daemon.bench.log_in(&lead.token).await.unwrap();
    let held = [service.in_flight(&caller, false), service.in_flight(&caller, false)];
    is_busy(hasty(&lead.client).status().await);
    drop(held);
    hasty(&lead.client).status().await.expect("they were given back");
    daemon.stop().await;
}

#[tokio::test]
async fn a_tree_asks_no_faster_than_it_may_and_another_tree_is_not_slowed() {
    let rates = Rates { asks_a_minute: 3, ..Rates::default() };
    let settings = Settings { rates, ..Settings::default() };
    let daemon = Daemon::with(Arc::new(Mem::default()), settings).await;
    let (lead, worker) = daemon.pair(daemon.tcp()).await;
    let sibling = lead.send_work(daemon.tcp()).await;
    for (agent, text) in [(&worker, "one?"), (&sibling, "two?"), (&lead, "three?")] {
        agent.ask(text).await;
    }
    let request = v1::AskRequest { request_id: "four".into(), ..question("four?") };
    let wait = is_busy(hasty(&sibling.client).ask(request.clone()).await);
    assert!(wait <= Duration::from_secs(20), "{wait:?}");
    let (_, other) = daemon.pair(daemon.tcp()).await;
    other.ask("mine?").await;
    // The time it was told is enough, and the same request is good.
    daemon.bench.advance(Span::from_millis(wait.as_millis() as u64 + 1));
    accepted(hasty(&sibling.client).ask(request).await.expect("it is time"));
    daemon.stop().await;
}
