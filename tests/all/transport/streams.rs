//! Streams on a connection that is open: too many of them, reset at once, with headers without end, or
//! that nobody reads.

use super::*;
use crate::raw::{
    CONTINUATION, DATA, END_HEADERS, END_STREAM, GOAWAY, HEADERS, RST_STREAM, Raw, WINDOW_UPDATE,
    call, frame, message,
};
use crate::wire::{accepted, question};
use askway::ask::limits::CONTEXT_BYTES;
use askway::grpc::limits::{HEADER_BYTES, STREAMS_A_CONNECTION};
use askway::grpc::v1;
use prost::Message;
use std::time::Duration;

const STATUS: &str = "/askway.v1.AdminService/GetStatus";
/// HTTP/2's word for a peer that does too much.
const ENHANCE_YOUR_CALM: u32 = 11;
/// And for one stream too many.
const REFUSED_STREAM: u32 = 7;

fn number(payload: &[u8], at: usize) -> u32 {
    u32::from_be_bytes(payload[at..at + 4].try_into().unwrap())
}

#[tokio::test]
async fn streams_reset_as_soon_as_they_are_opened_end_the_connection() {
    let daemon = daemon(Limits::default()).await;
    let authority = daemon.port.to_string();
    let mut raw = Raw::open(tcp(&daemon).await).await;
    let mut burst = Vec::new();
    for stream in (0..1_000).map(|n| 2 * n + 1) {
        burst.extend(frame(HEADERS, END_HEADERS, stream, &call(&authority, STATUS, &[])));
        burst.extend(frame(RST_STREAM, 0, stream, &8_u32.to_be_bytes()));
    }
    raw.send(&burst).await;
    if let Some(goaway) = soon(raw.next_of(GOAWAY)).await {
        assert_eq!(number(&goaway.payload, 4), ENHANCE_YOUR_CALM);
    }
    soon(raw.closed()).await;
    is_well(&daemon).await;
    daemon.stop().await;
}

#[tokio::test]
async fn a_stream_beyond_those_of_a_connection_is_refused_and_the_others_go_on() {
    let daemon = daemon(Limits::default()).await;
    let authority = daemon.port.to_string();
    let mut raw = Raw::open(tcp(&daemon).await).await;
    let headers = call(&authority, STATUS, &[]);
    let over = STREAMS_A_CONNECTION + 3;
    for stream in (0..over).map(|n| 2 * n + 1) {
        assert!(raw.send(&frame(HEADERS, END_HEADERS, stream, &headers)).await);
    }
    for _ in 0..3 {
        let reset = soon(raw.next_of(RST_STREAM)).await.expect("it is refused");
        assert!(reset.stream > 2 * (STREAMS_A_CONNECTION - 1) + 1, "{reset:?}");
        assert_eq!(number(&reset.payload, 0), REFUSED_STREAM);
    }
    // The first still waits for its message; without a token it is told so.
    assert!(raw.send(&frame(DATA, END_STREAM, 1, &message(false, &[]))).await);
    let reply = soon(raw.next_of(HEADERS)).await.expect("it is answered");
    assert_eq!(reply.stream, 1);
    is_well(&daemon).await;
    daemon.stop().await;
}

#[tokio::test]
async fn headers_beyond_eight_kibibytes_are_refused_and_headers_without_end_are_cut() {
    let daemon = daemon(Limits::default()).await;
    let authority = daemon.port.to_string();
    let mut raw = Raw::open(tcp(&daemon).await).await;
    let long = "x".repeat(HEADER_BYTES as usize);
    let headers = call(&authority, STATUS, &[("x-long", &long)]);
    assert!(raw.send(&frame(HEADERS, END_HEADERS | END_STREAM, 1, &headers)).await);
    let reply = soon(raw.next_of(HEADERS)).await.expect("it is answered");
    let says = |code: &[u8]| reply.payload.windows(3).any(|three| three == code);
    // Huffman's 431, or in plain.
    assert!(says(b"431") || says(&[0x68, 0x0b, 0xff]) || reply.payload.len() < 32, "{reply:?}");
    // One that never ends.
    let first = call(&authority, STATUS, &[]);
    raw.send(&frame(HEADERS, 0, 3, &first)).await;
    let more = [vec![0x10, 1, b'x', 0x7f, 0xff, 0x01], vec![b'y'; 254]].concat();
    for _ in 0..10_000 {
        if !raw.send(&frame(CONTINUATION, 0, 3, &more)).await {
            break;
        }
    }
    soon(raw.closed()).await;
    is_well(&daemon).await;
    daemon.stop().await;
}

/// The reader takes everything off its connection, and opens no window for this one stream.
#[tokio::test]
async fn a_stream_that_nobody_reads_is_cut_and_one_that_is_idle_is_not() {
    let daemon = daemon(Limits { stalled: Duration::from_secs(1), ..Limits::default() }).await;
    let authority = daemon.port.to_string();
    let (_, worker) = daemon.pair(daemon.tcp()).await;
    let (small, context) = (worker.ask("small?").await, "c".repeat(CONTEXT_BYTES));
    let large = v1::AskRequest { context, ..question("large?") };
    let large = accepted(worker.client.ask(large).await.unwrap());
    let mut raw = Raw::open(tcp(&daemon).await).await;
    let bearer = format!("Bearer {}", daemon.owner.expose());
    let path = "/askway.v1.AskService/WatchAsk";
    let headers = call(&authority, path, &[("authorization", &bearer)]);
    for (stream, ask) in [(1, &small), (3, &large), (5, &large)] {
        let request = v1::WatchAskRequest { ask_id: ask.id.clone(), ..Default::default() };
        raw.send(&frame(HEADERS, END_HEADERS, stream, &headers)).await;
        raw.send(&frame(DATA, END_STREAM, stream, &message(false, &request.encode_to_vec()))).await;
    }
    // The connection takes everything, and the last stream too.
    raw.send(&frame(WINDOW_UPDATE, 0, 0, &(1_u32 << 30).to_be_bytes())).await;
    raw.send(&frame(WINDOW_UPDATE, 0, 5, &(1_u32 << 20).to_be_bytes())).await;
    let reset = soon(raw.next_of(RST_STREAM)).await.expect("the stalled one is cut");
    assert_eq!(reset.stream, 3);
    // The others go on: both say what happens next.
    accepted(daemon.owner().answer(crate::wire::answer(&small)).await.unwrap());
    accepted(daemon.owner().answer(crate::wire::answer(&large)).await.unwrap());
    let mut ended = Vec::new();
    while ended.len() < 2 {
        let frame = soon(raw.next()).await.expect("the connection goes on");
        if frame.flags & END_STREAM != 0 && matches!(frame.kind, HEADERS | DATA) {
            ended.push(frame.stream);
        }
    }
    ended.sort_unstable();
    assert_eq!(ended, [1, 5]);
    is_well(&daemon).await;
    daemon.stop().await;
}
