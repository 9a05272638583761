//! Connections that do not open as HTTP/2 does.

use super::*;
use crate::raw::{PREFACE, SETTINGS, frame};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// Long enough for an ordinary client on a busy machine, and short enough to wait for.
fn hasty() -> Limits {
    Limits { opens_within: Duration::from_secs(2), ..Limits::default() }
}

/// Reads until it is closed.
async fn closed(mut stream: impl AsyncRead + Unpin) {
    let mut rest = Vec::new();
    // Closed by force, while bytes of ours were on their way, is closed too.
    let _ = soon(stream.read_to_end(&mut rest)).await;
}

async fn sent(mut stream: impl AsyncRead + AsyncWrite + Unpin, bytes: &[u8]) {
    stream.write_all(bytes).await.expect("it listens");
    closed(stream).await;
}

#[tokio::test]
async fn half_a_handshake_is_cut_wherever_it_stops_and_on_the_socket_too() {
    let daemon = daemon(hasty()).await;
    let whole = [PREFACE, &frame(SETTINGS, 0, 0, &[0, 3, 0, 0, 0, 9])].concat();
    let half = |length: usize| whole[..length].to_vec();
    let cuts = [0, 1, PREFACE.len() - 1, PREFACE.len(), PREFACE.len() + 8, whole.len() - 1];
    for length in cuts {
        tokio::join!(async { sent(tcp(&daemon).await, &half(length)).await }, async {
            sent(unix(&daemon).await, &half(length)).await
        },);
    }
    is_well(&daemon).await;
    daemon.stop().await;
}

#[tokio::test]
async fn bytes_that_dribble_are_cut_as_well() {
    let daemon = daemon(hasty()).await;
    let (mut read, mut write) = tcp(&daemon).await.into_split();
    let mut between = tokio::time::interval(Duration::from_millis(200));
    let dribble = async {
        for byte in PREFACE.iter().cycle() {
            if write.write_all(&[*byte]).await.is_err() {
                break;
            }
            between.tick().await;
        }
    };
    let mut heard = Vec::new();
    tokio::select! {
        () = dribble => {}
        _ = soon(read.read_to_end(&mut heard)) => {}
    }
    is_well(&daemon).await;
    daemon.stop().await;
}

#[tokio::test]
async fn what_is_not_http_2_is_closed_at_once() {
    // Nothing here waits for the time to open.
    let daemon = daemon(Limits { opens_within: PATIENCE * 10, ..Limits::default() }).await;
    let http_1 = b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n";
    let tls = [&[0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3][..], &[7; 64]].concat();
    for garbage in
        [&http_1[..], &tls, &[0; 64], &[0xff; 64], b"\n\n\n\n{\"jsonrpc\":\"2.0\"}        "]
    {
        sent(tcp(&daemon).await, garbage).await;
    }
    // A first frame that is no settings.
    sent(tcp(&daemon).await, &[PREFACE, &frame(6, 0, 0, &[0; 8])].concat()).await;
    is_well(&daemon).await;
    daemon.stop().await;
}
