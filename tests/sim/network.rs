//! The way between the daemon and its callers: turmoil's network under the daemon's own accept loop and
//! the client's own channel.

use askway::client::{Address, Client};
use askway::grpc::Accepts;
use askway::session::Secret;
use hyper_util::rt::TokioIo;
use std::io;
use std::net::SocketAddr;
use tower::service_fn;
use turmoil::net::{TcpListener, TcpStream};

/// The machine that the daemon runs on.
pub const SERVER: &str = "server";
/// Where it listens.
pub const PORT: u16 = 7070;

/// The daemon's listener.
pub struct Listening(TcpListener);

impl Listening {
    /// Listens.
    pub async fn bind() -> io::Result<Self> {
        Ok(Self(TcpListener::bind(("0.0.0.0", PORT)).await?))
    }
}

impl Accepts for Listening {
    type Stream = TcpStream;

    async fn accept(&self) -> io::Result<(TcpStream, SocketAddr)> {
        self.0.accept().await
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.0.local_addr()
    }
}

/// A client of the daemon's, for whoever this token stands for.
pub fn client(token: Option<Secret>) -> Client {
    let address = Address::parse("http://127.0.0.1:7070").expect("an address");
    let connect =
        service_fn(|_| async { TcpStream::connect((SERVER, PORT)).await.map(TokioIo::new) });
    Client::by(address, connect, token)
}
