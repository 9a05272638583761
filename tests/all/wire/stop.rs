//! A stop ends: streams say where to resume, and who does not listen is cut off.

use super::*;
use askway::ask::limits;
use std::time::Duration;
use tokio::time::Instant;
use tokio_stream::StreamExt;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Request, Status, Streaming};
use tonic_types::StatusExt;
use v1::ask_service_client::AskServiceClient;

/// A connection on which no more than `window` bytes of a stream come before they are read.
pub(super) async fn channel(daemon: &Daemon, window: u32) -> Channel {
    let endpoint = Endpoint::from_shared(daemon.tcp().to_string()).unwrap();
    endpoint.initial_stream_window_size(window).connect().await.unwrap()
}

/// What the person `owner` asks for.
pub(super) fn with_owner<T>(daemon: &Daemon, message: T) -> Request<T> {
    let mut request = Request::new(message);
    let bearer = format!("Bearer {}", daemon.owner.expose());
    request.metadata_mut().insert("authorization", bearer.parse().unwrap());
    request
}

/// A watch as it is on the wire, which nobody takes up again. No more than `window` bytes come
/// before they are read.
pub(super) async fn watch(
    daemon: &Daemon,
    ask: &v1::Ask,
    window: u32,
) -> Streaming<v1::WatchAskResponse> {
    let request = v1::WatchAskRequest { ask_id: ask.id.clone(), ..Default::default() };
    let mut asks = AskServiceClient::new(channel(daemon, window).await);
    asks.watch_ask(with_owner(daemon, request)).await.unwrap().into_inner()
}

/// How a stream ends, after what it still had to say.
pub(super) async fn ending(stream: &mut Streaming<v1::WatchAskResponse>) -> Status {
    loop {
        match stream.message().await {
            Ok(Some(_)) => {}
            Ok(None) => panic!("cut off is not the end"),
            Err(status) => return status,
        }
    }
}

#[tokio::test]
async fn on_a_stop_every_stream_says_where_to_resume() {
    let daemon = Daemon::start().await;
    let (lead, worker) = daemon.pair(daemon.unix()).await;
    let ask = worker.ask("which?").await;
    let say = v1::SayRequest { ask_id: ask.id.clone(), text: "wait".into(), ..Default::default() };
    accepted(lead.client.say(say).await.unwrap());
    let mut stream = watch(&daemon, &ask, 1 << 16).await;
    let first = stream.message().await.unwrap().unwrap().message.unwrap();
    let v1::watch_ask_response::Message::Ask(whole) = first else { panic!("the whole ask first") };
    assert_eq!(whole.revision, 2);
    daemon.stop().await;
    let status = ending(&mut stream).await;
    let details = status.get_error_details();
    let info = details.error_info().unwrap();
    assert_eq!((status.code(), info.reason.as_str()), (Code::Unavailable, "STOPPING"));
    assert_eq!(info.metadata["revision"], "2");
    assert!(details.retry_info().is_some());
}

/// The clock is paused, so that the five seconds of the drain pass as soon as nothing else happens.
#[tokio::test]
async fn a_client_that_never_reads_does_not_hold_a_stop() {
    let daemon = Daemon::start().await;
    let (_, worker) = daemon.pair(daemon.tcp()).await;
    // More than the client's window takes, so that the stream cannot end while nobody reads.
    let context = "c".repeat(limits::CONTEXT_BYTES);
    let ask = v1::AskRequest { context, ..question("which?") };
    let ask = accepted(worker.client.ask(ask).await.unwrap());
    let mut deaf = watch(&daemon, &ask, 1 << 10).await;
    tokio::time::pause();
    let started = Instant::now();
    daemon.stop().await;
    assert!(started.elapsed() >= Duration::from_secs(5), "it was given time");
    assert!(started.elapsed() < Duration::from_secs(6), "and no more than that");
    assert_eq!(askway::client::ClientError::from(ending(&mut deaf).await).code, Code::Unavailable);
}

#[tokio::test]
async fn a_hold_and_an_inbox_do_not_hold_a_stop_either() {
    let daemon = Daemon::start().await;
    let lead = daemon.root(daemon.unix()).await;
    let mut hold = lead.client.hold(lead.hold.clone());
    hold.next().await.unwrap().unwrap();
    let mut inbox = lead.client.watch_inbox(v1::AskScope::WaitingOnMe);
    inbox.next().await.unwrap().unwrap();
    let mut deliveries = lead.client.watch_deliveries();
    tokio::select! {
        biased;
        delivery = deliveries.next() => panic!("{delivery:?} of nothing"),
        status = lead.client.status() => drop(status.unwrap()),
    }
    let started = Instant::now();
    daemon.stop().await;
    assert!(started.elapsed() < Duration::from_secs(5), "nobody had to be cut off");
}
