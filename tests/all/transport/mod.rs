//! The wire's limits, each by who goes over it, with the limit lowered so that nobody waits; after
//! each of them an ordinary client is served as before.

mod ages;
mod opening;
mod origin;
mod seats;
mod sheds;
mod streams;
mod tls;

use crate::bench::PATIENCE;
use crate::wire::Daemon;
use askway::grpc::{Limits, Manner};
use askway::service::Settings;
use askway::store::mem::Mem;
use std::future::Future;
use std::sync::Arc;
use tokio::net::{TcpStream, UnixStream};

/// A daemon with these limits.
async fn daemon(limits: Limits) -> Daemon {
    let manner = Manner { limits, ..Manner::default() };
    Daemon::serving(manner, Arc::new(Mem::default()), Settings::default()).await
}

async fn tcp(daemon: &Daemon) -> TcpStream {
    TcpStream::connect(daemon.port).await.expect("it listens")
}

async fn unix(daemon: &Daemon) -> UnixStream {
    UnixStream::connect(daemon.folder.path().join("socket")).await.expect("it listens")
}

/// Waits for what must come; what never does fails the test instead of hanging it.
async fn soon<T>(what: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, what).await.expect("it comes in time")
}

/// An ordinary client is served, over TCP and on the socket.
async fn is_well(daemon: &Daemon) {
    assert_eq!(soon(daemon.owner().status()).await.expect("TCP").caller, "person owner");
    assert_eq!(soon(daemon.local().status()).await.expect("the socket").caller, "host local");
}
