//! HTTP/2 by hand: a client that says what no good one says, and hears what comes back.

#![allow(dead_code, reason = "each of the binaries that share it uses a part")]

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

pub const DATA: u8 = 0;
pub const HEADERS: u8 = 1;
pub const RST_STREAM: u8 = 3;
pub const SETTINGS: u8 = 4;
pub const PING: u8 = 6;
pub const GOAWAY: u8 = 7;
pub const WINDOW_UPDATE: u8 = 8;
pub const CONTINUATION: u8 = 9;
pub const END_STREAM: u8 = 1;
pub const ACK: u8 = 1;
pub const END_HEADERS: u8 = 4;
pub const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// One frame, as it came.
#[derive(Debug)]
pub struct Frame {
    pub kind: u8,
    pub flags: u8,
    pub stream: u32,
    pub payload: Vec<u8>,
}

pub fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut bytes = u32::try_from(payload.len()).unwrap().to_be_bytes()[1..].to_vec();
    bytes.extend([kind, flags]);
    bytes.extend(stream.to_be_bytes());
    bytes.extend(payload);
    bytes
}

/// A connection that has begun as a good one does.
pub struct Raw<S> {
    stream: S,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Raw<S> {
    pub async fn open(mut stream: S) -> Self {
        let mut hello = PREFACE.to_vec();
        hello.extend(frame(SETTINGS, 0, 0, &[]));
        // A closed door is found out by who reads.
        let _ = stream.write_all(&hello).await;
        Self { stream }
    }

    /// Whether it went.
    pub async fn send(&mut self, bytes: &[u8]) -> bool {
        self.stream.write_all(bytes).await.is_ok()
    }

    /// The next frame; none once the connection is closed. Settings and pings are answered.
    pub async fn next(&mut self) -> Option<Frame> {
        let mut head = [0; 9];
        self.stream.read_exact(&mut head).await.ok()?;
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
        let mut payload = vec![0; length];
        self.stream.read_exact(&mut payload).await.ok()?;
        let (kind, flags) = (head[3], head[4]);
        if matches!(kind, SETTINGS | PING) && flags & ACK == 0 {
            let body = if kind == PING { payload.as_slice() } else { &[] };
            let _ = self.stream.write_all(&frame(kind, ACK, 0, body)).await;
        }
        let stream = u32::from_be_bytes(head[5..].try_into().unwrap()) & 0x7fff_ffff;
        Some(Frame { kind, flags, stream, payload })
    }

    /// The next frame of this kind; none once the connection is closed without one.
    pub async fn next_of(&mut self, kind: u8) -> Option<Frame> {
        loop {
            let frame = self.next().await?;
            if frame.kind == kind {
                return Some(frame);
            }
        }
    }

    /// Hears all there is to hear, until the connection is closed.
    pub async fn closed(mut self) {
        while self.next().await.is_some() {}
    }
}

/// The headers of a call, with none compressed and none remembered.
pub fn call(authority: &str, path: &str, more: &[(&str, &str)]) -> Vec<u8> {
    let mut block = Vec::new();
    let head = [
        (":method", "POST"),
        (":scheme", "http"),
        (":authority", authority),
        (":path", path),
        ("content-type", "application/grpc"),
        ("te", "trailers"),
    ];
    for (name, value) in head.iter().chain(more) {
        block.push(0x10);
        text(&mut block, name);
        text(&mut block, value);
    }
    block
}

fn text(block: &mut Vec<u8>, text: &str) {
    let mut left = text.len();
    if left < 0x7f {
        block.push(left as u8);
    } else {
        block.push(0x7f);
        left -= 0x7f;
        while left >= 0x80 {
            block.push(left as u8 | 0x80);
            left >>= 7;
        }
        block.push(left as u8);
    }
    block.extend(text.as_bytes());
}

/// A message as gRPC frames it.
pub fn message(compressed: bool, bytes: &[u8]) -> Vec<u8> {
    let mut framed = vec![u8::from(compressed)];
    framed.extend(u32::try_from(bytes.len()).unwrap().to_be_bytes());
    framed.extend(bytes);
    framed
}
