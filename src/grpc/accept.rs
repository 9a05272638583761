//! The accept loop: takes connections without end, gives each that has a place a task, and ends it
//! when it does not open, is old, or the daemon stops. What travels on it: `connections`; what is
//! called on it: `door`.
//!
//! ```text
//!   accept ── a place? ── TLS ── first settings ── calls … ── old, or a stop: GOAWAY ── drained, or cut
//!             else closed └─── within 5 s ───┘
//! ```

use super::admission::{Admission, Kept, NoSeat, Peer, Seat};
use super::connections::{Flowing, Opening, opens_by};
use super::door::{Door, Entrance, Origin};
use super::limits::{self, Limits};
use super::shed::Unproven;
use super::stalls::Streams;
use hyper::server::conn::http2;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream, UnixListener};
use tokio::time::{Instant, timeout_at};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// How long accepting rests after it failed. It fails where the process has no file descriptor left,
/// and goes on failing until a connection is closed: trying on would only burn the processor.
const REST: Duration = Duration::from_millis(100);

/// Where connections come from: TCP of the system's, or of a simulated network.
pub trait Accepts: Send + Sync {
    /// A connection.
    type Stream: AsyncRead + AsyncWrite + Send + Unpin + 'static;

    /// The next one, and whence it comes. Errors as of the system's: those of a peer that was gone are
    /// passed over, after others accepting rests.
    fn accept(&self) -> impl Future<Output = io::Result<(Self::Stream, SocketAddr)>> + Send;

    /// Where it listens.
    fn local_addr(&self) -> io::Result<SocketAddr>;
}

impl Accepts for TcpListener {
    type Stream = TcpStream;

    async fn accept(&self) -> io::Result<(TcpStream, SocketAddr)> {
        let (stream, from) = TcpListener::accept(self).await?;
        // Without this every small reply waits for the acknowledgement of the one before it. It fails
        // where the peer is gone already.
        let prepared = stream.set_nodelay(true);
        prepared.map_err(|error| io::Error::new(io::ErrorKind::ConnectionAborted, error))?;
        Ok((stream, from))
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        TcpListener::local_addr(self)
    }
}

/// What all connections share.
#[derive(Clone)]
pub(super) struct Reception {
    pub entrance: Arc<Entrance>,
    pub admission: Admission,
    pub limits: Limits,
    /// Connections end once their calls have.
    pub shutdown: CancellationToken,
    /// Connections end.
    pub sever: CancellationToken,
    /// Their tasks.
    pub tasks: TaskTracker,
}

impl Reception {
    /// Takes what comes by the socket, until the stop.
    pub(super) async fn on_unix(&self, listener: UnixListener) {
        let own = rustix::process::geteuid().as_raw();
        while let Some((stream, _)) = self.next(|| listener.accept()).await {
            let peer = stream.peer_cred().ok();
            let is_own = peer.is_some_and(|peer| peer.uid() == own);
            let Some(seat) = self.seat(Peer::Process(peer.and_then(|peer| peer.pid()))) else {
                continue;
            };
            self.serve(stream, seat, Origin::Socket { is_own }, None);
        }
    }

    /// Takes what comes over TCP, until the stop.
    pub(super) async fn on_tcp<L: Accepts>(&self, listener: L, tls: Option<Arc<ServerConfig>>) {
        let tls = tls.map(TlsAcceptor::from);
        while let Some((stream, from)) = self.next(|| listener.accept()).await {
            let Some(seat) = self.seat(Peer::at(from.ip())) else { continue };
            let port = listener.local_addr().map_or(0, |address| address.port());
            let origin = Origin::Tcp { port, is_tls: tls.is_some() };
            self.serve(stream, seat, origin, tls.clone());
        }
    }

    /// The next connection; none once the daemon stops. One that fails is said and passed over, it
    /// must not end the daemon.
    async fn next<T, F>(&self, accept: impl Fn() -> F) -> Option<T>
    where
        F: Future<Output = io::Result<T>>,
    {
        loop {
            let accepted = tokio::select! {
                biased;
                () = self.shutdown.cancelled() => return None,
                accepted = accept() => accepted,
            };
            match accepted {
                Ok(accepted) => return Some(accepted),
                // Its peer was gone before it was taken: the next is not kept waiting for that.
                Err(error) if is_of_peer(&error) => {
                    tracing::debug!(%error, "a connection was gone before it was taken");
                }
                Err(error) => {
                    tracing::warn!(%error, "a connection could not be accepted");
                    tokio::time::sleep(REST).await;
                }
            }
        }
    }

    /// A place for a connection of `peer`; without one it is closed, which its client takes for a
    /// daemon that is not there, and comes back later.
    fn seat(&self, peer: Peer) -> Option<Seat> {
        let seat = self.admission.seat(peer);
        if let Err(why) = &seat {
            let why = match why {
                NoSeat::Full => "there are as many as may be",
                NoSeat::PeerFull => "its peer has as many as it may have",
                NoSeat::TooFast => "its peer makes new ones too fast",
            };
            tracing::debug!(?peer, "a connection was closed: {why}");
        }
        seat.ok()
    }

    fn serve<S>(&self, stream: S, seat: Seat, origin: Origin, tls: Option<TlsAcceptor>)
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let this = self.clone();
        self.tasks.spawn(async move {
            let proof = (seat.unproven.clone(), seat.kept.clone());
            // The place is taken for as long as this lasts.
            let _seat = seat;
            let opens_by = opens_by(this.limits.opens_within);
            let stream = Flowing::new(stream, this.limits.stalled);
            match tls {
                None => this.converse(stream, origin, proof, opens_by).await,
                Some(tls) => match timeout_at(opens_by, tls.accept(stream)).await {
                    Ok(Ok(stream)) => this.converse(stream, origin, proof, opens_by).await,
                    Ok(Err(error)) => tracing::debug!(%error, "a TLS handshake failed"),
                    Err(_) => tracing::debug!("a TLS handshake took too long"),
                },
            }
        });
    }

    /// Serves the calls of one connection, until it ends in one of its ways.
    async fn converse<S>(
        &self,
        stream: S,
        origin: Origin,
        (unproven, kept): (Unproven, Option<Kept>),
        opens_by: Instant,
    ) where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let opened = CancellationToken::new();
        let stream = TokioIo::new(Opening::new(stream, opened.clone()));
        let door = Door::new(self.entrance.clone(), origin, unproven, kept.clone());
        let mut talk = pin!(self.http2().serve_connection(stream, door));
        tokio::select! {
            biased;
            () = self.sever.cancelled() => return,
            ended = talk.as_mut() => return say(ended),
            () = opened.cancelled() => {}
            () = tokio::time::sleep_until(opens_by) => {
                return tracing::debug!("a connection did not open in time, and is closed");
            }
        }
        let is_given_up = tokio::select! {
            biased;
            () = self.sever.cancelled() => return,
            ended = talk.as_mut() => return say(ended),
            () = self.shutdown.cancelled() => false,
            () = tokio::time::sleep(self.age()) => false,
            () = given_up(kept.as_ref(), opens_by) => true,
        };
        talk.as_mut().graceful_shutdown();
        tokio::select! {
            biased;
            () = self.sever.cancelled() => {}
            ended = talk.as_mut() => say(ended),
            () = self.drained() => tracing::debug!("a connection is old; its streams are cut"),
            () = tokio::time::sleep(limits::SHED_RETRY), if is_given_up => {
                tracing::debug!("a connection that is kept for people is cut");
            }
        }
    }

    /// Returns when what an old connection still does has had its time. A stop has a time of its own,
    /// at the end of which everything is severed.
    async fn drained(&self) {
        tokio::select! {
            () = self.shutdown.cancelled() => std::future::pending().await,
            () = tokio::time::sleep(self.limits.age_drain) => {}
        }
    }

    /// How old this connection becomes.
    fn age(&self) -> Duration {
        let mut random = [0; 4];
        let chance = match getrandom::fill(&mut random) {
            Ok(()) => f64::from(u32::from_be_bytes(random)) / f64::from(u32::MAX),
            Err(_) => 0.5,
        };
        let age = self.limits.age;
        (age - age / limits::AGE_JITTER) + (age / limits::AGE_JITTER * 2).mul_f64(chance)
    }

    fn http2(&self) -> http2::Builder<Streams> {
        let mut http2 = http2::Builder::new(Streams { patience: self.limits.stalled });
        http2
            .timer(TokioTimer::new())
            .max_header_list_size(limits::HEADER_BYTES)
            .max_concurrent_streams(limits::STREAMS_A_CONNECTION)
            .max_send_buf_size(limits::SEND_BUFFER_BYTES)
            .initial_stream_window_size(limits::STREAM_WINDOW_BYTES)
            .initial_connection_window_size(limits::CONNECTION_WINDOW_BYTES)
            .max_pending_accept_reset_streams(limits::RESETS_PENDING)
            .max_local_error_reset_streams(limits::RESETS_BY_FAULT)
            .keep_alive_interval(limits::KEEPALIVE)
            .keep_alive_timeout(limits::KEEPALIVE_WITHIN);
        http2
    }
}

/// Returns when a connection that is kept for people is to be given up; never, where it is anybody's.
async fn given_up(kept: Option<&Kept>, until: Instant) {
    match kept {
        Some(kept) => kept.given_up(until).await,
        None => std::future::pending().await,
    }
}

/// Whether it is one connection that failed, and not accepting.
fn is_of_peer(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

/// That a peer was cut, or went without a word, is its own business.
fn say(ended: Result<(), hyper::Error>) {
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended");
    }
}
