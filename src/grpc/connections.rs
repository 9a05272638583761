//! Connections as the server takes them: accepted without end, and severed together when a stop has
//! waited long enough. What is said on them is tonic's business.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};
use tokio_stream::Stream;
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};
use tonic::transport::server::Connected;

/// How long accepting rests after it failed. It fails where the process has no file descriptor left,
/// and goes on failing until a connection is closed: trying on would only burn the processor.
const REST: Duration = Duration::from_millis(100);

/// A connection that `sever` ends, whatever its client does.
pub(super) struct Connection<S> {
    stream: S,
    severed: Pin<Box<WaitForCancellationFutureOwned>>,
}

/// What a socket accepts.
pub(super) fn over_unix(
    listener: UnixListener,
    sever: CancellationToken,
) -> impl Stream<Item = io::Result<Connection<UnixStream>>> {
    accepted(listener, sever, async |listener: &UnixListener| Ok(listener.accept().await?.0))
}

/// What a loopback port accepts.
pub(super) fn over_tcp(
    listener: TcpListener,
    sever: CancellationToken,
) -> impl Stream<Item = io::Result<Connection<TcpStream>>> {
    accepted(listener, sever, async |listener: &TcpListener| {
        let (stream, _) = listener.accept().await?;
        // Without this every small reply waits for the acknowledgement of the one before it.
        stream.set_nodelay(true)?;
        Ok(stream)
    })
}

/// Connections without end: one that fails is said and passed over, it must not end the daemon.
fn accepted<L, S>(
    listener: L,
    sever: CancellationToken,
    accept: impl AsyncFn(&L) -> io::Result<S>,
) -> impl Stream<Item = io::Result<Connection<S>>> {
    futures_util::stream::unfold((listener, sever, accept), async |(listener, sever, accept)| {
        let stream = loop {
            match accept(&listener).await {
                Ok(stream) => break stream,
                Err(error) => {
                    tracing::warn!(%error, "a connection could not be accepted");
                    tokio::time::sleep(REST).await;
                }
            }
        };
        let severed = Box::pin(sever.clone().cancelled_owned());
        Some((Ok(Connection { stream, severed }), (listener, sever, accept)))
    })
}

impl<S> Connection<S> {
    /// Wakes the connection's task when it is severed, also while it only waits for its client.
    fn is_severed(&mut self, context: &mut Context<'_>) -> bool {
        self.severed.as_mut().poll(context).is_ready()
    }
}

fn severed() -> io::Error {
    io::Error::new(io::ErrorKind::ConnectionAborted, "the daemon has stopped")
}

impl<S: AsyncRead + Unpin> AsyncRead for Connection<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.is_severed(context) {
            return Poll::Ready(Err(severed()));
        }
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Connection<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if self.is_severed(context) {
            return Poll::Ready(Err(severed()));
        }
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if self.is_severed(context) {
            return Poll::Ready(Err(severed()));
        }
        Pin::new(&mut self.stream).poll_write_vectored(context, bytes)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.is_severed(context) {
            return Poll::Ready(Err(severed()));
        }
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

impl<S: Connected> Connected for Connection<S> {
    type ConnectInfo = S::ConnectInfo;

    fn connect_info(&self) -> S::ConnectInfo {
        self.stream.connect_info()
    }
}
