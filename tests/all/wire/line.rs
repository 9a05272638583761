//! A line between a client and the daemon, in the hands of a test.

use askway::client::{Address, Client};
use askway::session::Secret;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;

/// A line to the daemon that a test can cut, refuse and hold up.
pub struct Line {
    pub port: SocketAddr,
    /// What may be done to the connections there are.
    connections: Mutex<Connections>,
    /// Connections are taken from now on, and nothing else is done with them.
    pub deaf: CancellationToken,
    /// How many connections more are closed as soon as they are made.
    pub refuse: AtomicUsize,
}

#[derive(Clone, Default)]
struct Connections {
    /// Nothing that the daemon says arrives any more.
    mute: CancellationToken,
    /// Nothing arrives any more, either way, and nothing is closed.
    silence: CancellationToken,
    cut: CancellationToken,
}

impl Line {
    pub async fn to(daemon: SocketAddr) -> Arc<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let line = Arc::new(Self {
            port: listener.local_addr().unwrap(),
            connections: Mutex::default(),
            deaf: CancellationToken::new(),
            refuse: AtomicUsize::new(0),
        });
        let carrying = line.clone();
        tokio::spawn(async move {
            let mut unheard = Vec::new();
            loop {
                let (client, _) = listener.accept().await.unwrap();
                if carrying.deaf.is_cancelled() {
                    unheard.push(client);
                    continue;
                }
                let less = |left: usize| left.checked_sub(1);
                let ordering = Ordering::SeqCst;
                if carrying.refuse.fetch_update(ordering, ordering, less).is_ok() {
                    continue;
                }
                let connections = carrying.connections.lock().unwrap().clone();
                let cut = connections.cut.clone();
                tokio::spawn(cut.run_until_cancelled_owned(carry(client, daemon, connections)));
            }
        });
        line
    }

    pub fn mute(&self) {
        self.connections.lock().unwrap().mute.cancel();
    }

    /// The connections there are go silent; those made from now on are good.
    pub fn silence(&self) {
        std::mem::take(&mut *self.connections.lock().unwrap()).silence.cancel();
    }

    /// Ends the connections there are; those made from now on are good.
    pub fn cut(&self) {
        std::mem::take(&mut *self.connections.lock().unwrap()).cut.cancel();
    }

    pub fn client(&self, token: &Secret) -> Client {
        let address = Address::Http(format!("http://{}", self.port));
        Client::new(address, Some(token.clone()))
    }
}

async fn carry(client: TcpStream, daemon: SocketAddr, connections: Connections) {
    let Connections { mute, silence, .. } = connections;
    let daemon = TcpStream::connect(daemon).await.unwrap();
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_daemon, mut to_daemon) = daemon.into_split();
    let down = async {
        let mut bytes = vec![0; 16 << 10];
        while let Ok(count @ 1..) = from_daemon.read(&mut bytes).await {
            if mute.is_cancelled() {
                std::future::pending::<()>().await;
            }
            if to_client.write_all(&bytes[..count]).await.is_err() {
                break;
            }
        }
    };
    // Whichever side ends, the other does.
    tokio::select! {
        () = down => {}
        _ = copy(&mut from_client, &mut to_daemon) => {}
        () = silence.cancelled() => std::future::pending().await,
    }
}
