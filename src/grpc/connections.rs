//! A connection's bytes on their way: whether it has opened as HTTP/2 does, and whether what is sent
//! goes anywhere. What is said on it is hyper's and tonic's business; who may have one: `accept`.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep};
use tokio_util::sync::CancellationToken;

/// Bytes before a client's first frame, which is its settings (RFC 9113, 3.4).
const PREFACE: usize = 24;
/// Bytes of a frame before what is in it.
const FRAME_HEAD: usize = 9;

/// The kind of a frame of settings.
const SETTINGS: u8 = 4;

/// A stream that fails once its peer has read nothing for too long.
pub(super) struct Flowing<S> {
    stream: S,
    patience: Duration,
    stalled: Option<Pin<Box<Sleep>>>,
}

impl<S> Flowing<S> {
    /// `stream`, whose writes may make no progress for `patience`.
    pub(super) fn new(stream: S, patience: Duration) -> Self {
        Self { stream, patience, stalled: None }
    }

    /// What a write came to, unless the peer has taken nothing for too long.
    fn judged<T>(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.stalled = None;
            return written;
        }
        let patience = self.patience;
        let stalled = self.stalled.get_or_insert_with(|| Box::pin(tokio::time::sleep(patience)));
        ready!(stalled.as_mut().poll(context));
        let error = io::Error::new(io::ErrorKind::TimedOut, "the peer reads nothing");
        Poll::Ready(Err(error))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Flowing<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Flowing<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.judged(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, bytes);
        self.judged(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        self.judged(context, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let shut = Pin::new(&mut self.stream).poll_shutdown(context);
        self.judged(context, shut)
    }
}

/// A stream that tells when the peer's first settings are whole, and fails where something else comes
/// first.
pub(super) struct Opening<S> {
    stream: S,
    /// What has come so far of the preface and the head of the first frame; none once all is there.
    head: Option<Vec<u8>>,
    /// Bytes that have come.
    seen: usize,
    opened: CancellationToken,
}

impl<S> Opening<S> {
    /// `stream`; `opened` is cancelled once it is open.
    pub(super) fn new(stream: S, opened: CancellationToken) -> Self {
        Self { stream, head: Some(Vec::with_capacity(PREFACE + FRAME_HEAD)), seen: 0, opened }
    }

    fn look(&mut self, bytes: &[u8]) -> io::Result<()> {
        let Some(head) = &mut self.head else { return Ok(()) };
        let missing = PREFACE + FRAME_HEAD - head.len();
        head.extend_from_slice(&bytes[..bytes.len().min(missing)]);
        self.seen += bytes.len();
        let Some([high, mid, low, kind, ..]) = head.get(PREFACE..) else { return Ok(()) };
        if *kind != SETTINGS {
            let message = "the first frame must be settings";
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
        let length = u32::from_be_bytes([0, *high, *mid, *low]) as usize;
        if self.seen >= PREFACE + FRAME_HEAD + length {
            self.head = None;
            self.opened.cancel();
        }
        Ok(())
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Opening<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(context, buffer))?;
        Poll::Ready(self.look(&buffer.filled()[before..]))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Opening<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, bytes)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

/// When a connection accepted now has to be open.
pub(super) fn opens_by(within: Duration) -> Instant {
    Instant::now() + within
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    const HELLO: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\x06\x04\0\0\0\0\0\0\x03\0\0\0\x64";

    #[tokio::test]
    async fn a_connection_is_open_with_the_last_byte_of_its_settings_and_not_before() {
        let (mut peer, ours) = duplex(1 << 10);
        let opened = CancellationToken::new();
        let mut ours = Opening::new(ours, opened.clone());
        for byte in HELLO {
            assert!(!opened.is_cancelled());
            peer.write_all(&[*byte]).await.unwrap();
            assert_eq!(ours.read_u8().await.unwrap(), *byte);
        }
        assert!(opened.is_cancelled());
    }

    #[tokio::test(start_paused = true)]
    async fn who_reads_nothing_for_the_whole_time_is_cut_and_who_reads_late_is_not() {
        let minute = Duration::from_secs(60);
        let (mut peer, ours) = duplex(16);
        let mut ours = Flowing::new(ours, minute);
        let late = async {
            let mut late = tokio::time::interval(minute - Duration::from_secs(1));
            late.tick().await;
            for _ in 0..4 {
                late.tick().await;
                peer.read_exact(&mut [0; 16]).await.unwrap();
            }
        };
        let (written, ()) = tokio::join!(ours.write_all(&[0; 64]), late);
        written.expect("it was read, if slowly");
        let started = Instant::now();
        let error = ours.write_all(&[0; 64]).await.expect_err("nobody reads");
        assert_eq!((error.kind(), started.elapsed()), (io::ErrorKind::TimedOut, minute));
    }
}
