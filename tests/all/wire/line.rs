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
    /// What clients have said, where that is noted.
    said: Mutex<Option<Vec<u8>>>,
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
            said: Mutex::default(),
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
                let cut = connections.cut.clone();
                let carried = carry(carrying.clone(), client, daemon, connections);
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

    async fn is_whole(&self) {
        // The sender is in here.
        let _ = self.parted.subscribe().wait_for(|parted| !parted).await;
    }

    /// Notes what clients say from now on.
    pub fn note(&self) {
        *self.said.lock().unwrap() = Some(Vec::new());
    }

    /// What they have said since.
    pub fn said(&self) -> String {
        let said = self.said.lock().unwrap();
        String::from_utf8_lossy(said.as_deref().unwrap_or_default()).into_owned()
    }

    pub fn client(&self, token: &Secret) -> Client {
        let address = Address::Http(format!("http://{}", self.port));
        Client::new(address, Some(token.clone()))
    }
}

async fn carry(line: Arc<Line>, client: TcpStream, daemon: SocketAddr, connections: Connections) {
    let Connections { mute, silence, .. } = connections;
    // Whoever connects meanwhile is heard of later.
    line.is_whole().await;
    let daemon = TcpStream::connect(daemon).await.unwrap();
    let (from_client, to_client) = client.into_split();
    let (from_daemon, to_daemon) = daemon.into_split();
    // Whichever side ends, the other does.
    tokio::select! {
        () = pass_on(&line, from_daemon, to_client, Some(&mute)) => {}
        () = pass_on(&line, from_client, to_daemon, None) => {}
        () = silence.cancelled() => std::future::pending().await,
    }
}

/// One way; what the daemon says goes by `mute`.
async fn pass_on(
    line: &Line,
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    mute: Option<&CancellationToken>,
) {
    let mut bytes = vec![0; 16 << 10];
    loop {
        let read = from.read(&mut bytes).await;
        // An end is on its way like any word.
        line.is_whole().await;
        let Ok(count @ 1..) = read else { break };
        if let (None, Some(said)) = (mute, &mut *line.said.lock().unwrap()) {
            said.extend_from_slice(&bytes[..count]);
        }
        if mute.is_some_and(CancellationToken::is_cancelled) {
            std::future::pending::<()>().await;
        }
        if to.write_all(&bytes[..count]).await.is_err() {
            break;
        }
    }
}
