//! A line between a client and the daemon, in the hands of a test.

use askway::client::{Address, Client};
use askway::session::Secret;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// A line to the daemon that a test can cut, refuse and hold up.
pub struct Line {
    pub port: SocketAddr,
    /// What may be done to the connections there are.
    connections: Mutex<Connections>,
    /// Connections are taken, and nothing else is done with them.
    deaf: AtomicBool,
    /// Nothing gets through, either way, and nobody is told; what was on its way comes later.
    parted: watch::Sender<bool>,
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
            deaf: AtomicBool::new(false),
            parted: watch::Sender::new(false),
            refuse: AtomicUsize::new(0),
        });
        let carrying = line.clone();
        tokio::spawn(async move {
            let mut unheard = Vec::new();
            loop {
                let (client, _) = listener.accept().await.unwrap();
                if carrying.deaf.load(Ordering::SeqCst) {
                    unheard.push(client);
                    continue;
                }
                let less = |left: usize| left.checked_sub(1);
                let ordering = Ordering::SeqCst;
                if carrying.refuse.fetch_update(ordering, ordering, less).is_ok() {
                    continue;
                }
                let connections = carrying.connections.lock().unwrap().clone();
                let (cut, parted) = (connections.cut.clone(), carrying.parted.subscribe());
                let carried = carry(client, daemon, connections, parted);
                tokio::spawn(cut.run_until_cancelled_owned(carried));
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

    /// Connections are taken from now on, and nothing else is done with them.
    pub fn deafen(&self) {
        self.deaf.store(true, Ordering::SeqCst);
    }

    /// Nothing gets through from now on, also of connections that are made only then, and nobody is told.
    pub fn part(&self) {
        self.parted.send_replace(true);
    }

    /// Everything gets through again, and what was on its way does now.
    pub fn heal(&self) {
        self.parted.send_replace(false);
    }

    pub fn client(&self, token: &Secret) -> Client {
        let address = Address::Http(format!("http://{}", self.port));
        Client::new(address, Some(token.clone()))
    }
}

async fn carry(
    client: TcpStream,
    daemon: SocketAddr,
    connections: Connections,
    parted: watch::Receiver<bool>,
) {
    let Connections { mute, silence, .. } = connections;
    // Whoever connects meanwhile is heard of later.
    open(&mut parted.clone()).await;
    let daemon = TcpStream::connect(daemon).await.unwrap();
    let (from_client, to_client) = client.into_split();
    let (from_daemon, to_daemon) = daemon.into_split();
    // Whichever side ends, the other does.
    tokio::select! {
        () = pass_on(from_daemon, to_client, Some(&mute), parted.clone()) => {}
        () = pass_on(from_client, to_daemon, None, parted) => {}
        () = silence.cancelled() => std::future::pending().await,
    }
}

async fn open(parted: &mut watch::Receiver<bool>) {
    // A line that is gone is open to nobody who would notice.
    let _ = parted.wait_for(|parted| !parted).await;
}

async fn pass_on(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    mute: Option<&CancellationToken>,
    mut parted: watch::Receiver<bool>,
) {
    let mut bytes = vec![0; 16 << 10];
    loop {
        let read = from.read(&mut bytes).await;
        // An end is on its way like any word.
        open(&mut parted).await;
        let Ok(count @ 1..) = read else { break };
        if mute.is_some_and(CancellationToken::is_cancelled) {
            std::future::pending::<()>().await;
        }
        if to.write_all(&bytes[..count]).await.is_err() {
            break;
        }
    }
}
