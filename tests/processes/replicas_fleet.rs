//! Several daemons over one database, behind a balancer such as any platform has: who is taken out gets no
//! connections, and those it had are ended.

use super::daemon::{Daemon, PATIENCE};
use askway::cli::place;
use askway::client::{Address, Client};
use askway::session::Secret;
use std::fs;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::block_in_place;
use tokio_util::sync::CancellationToken;

/// The daemons, and where they are found.
pub struct Fleet {
    pub daemons: Vec<Daemon>,
    balancer: Arc<Balancer>,
    port: SocketAddr,
}

#[derive(Default)]
struct Balancer {
    backends: Mutex<Vec<Backend>>,
    next: Mutex<usize>,
}

#[derive(Clone)]
struct Backend {
    address: SocketAddr,
    /// Whether it gets connections.
    is_in: bool,
    /// Ends those it has.
    cut: CancellationToken,
}

impl Backend {
    fn of(daemon: &Daemon) -> Self {
        let url = daemon.ready["address"].as_str().expect("it listens");
        let address =
            url.strip_prefix("http://").expect("without TLS").parse().expect("an address");
        Self { address, is_in: true, cut: CancellationToken::new() }
    }
}

impl Balancer {
    /// Those that get connections, each time another first.
    fn order(&self) -> Vec<Backend> {
        let mut next = self.next.lock().unwrap();
        *next += 1;
        let backends = self.backends.lock().unwrap();
        let all = (0..backends.len()).map(|at| backends[(*next + at) % backends.len()].clone());
        all.filter(|backend| backend.is_in).collect()
    }

    async fn carry(self: Arc<Self>, mut client: TcpStream) {
        for backend in self.order() {
            let Ok(mut daemon) = TcpStream::connect(backend.address).await else { continue };
            let both = copy_bidirectional(&mut client, &mut daemon);
            let _ = backend.cut.run_until_cancelled(both).await;
            return;
        }
    }
}

impl Fleet {
    /// So many, over the database at `url`, with these flags.
    pub async fn start(count: usize, url: &str, flags: &[&str]) -> Self {
        let file = format!("store = \"{url}\"\n[limits]\nasks_a_minute = 1000000\n");
        // The balancer has a port of its own, by which clients call them.
        let more = ["--listen", "127.0.0.1:0", "--listen-names", "127.0.0.1", "--log", "error"];
        let flags: Vec<_> = flags.iter().copied().chain(more).collect();
        let start = |_| Daemon::start_with(&file, &flags);
        let daemons: Vec<_> = block_in_place(|| (0..count).map(start).collect());
        let balancer = Arc::new(Balancer::default());
        *balancer.backends.lock().unwrap() = daemons.iter().map(Backend::of).collect();
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("its number");
        let carrying = balancer.clone();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(carrying.clone().carry(client));
            }
        });
        Self { daemons, balancer, port }
    }

    /// A client that gets to whichever is there, with the token in this file of the first one's.
    fn client(&self, file: &str) -> Client {
        let token = fs::read_to_string(self.daemons[0].data().join(file)).expect("a token");
        let token = Secret::read(token.trim_end()).expect("a whole one");
        let address = Address::Http(format!("http://{}", self.port));
        Client::new(address, Some(token)).with_patience(PATIENCE)
    }

    pub fn host(&self) -> Client {
        self.client(place::HOST_TOKEN)
    }

    pub fn owner(&self) -> Client {
        self.client(place::OWNER_TOKEN)
    }

    /// It gets no more connections; those it has are ended where `cuts`.
    pub fn take_out(&self, number: usize, cuts: bool) {
        let mut backends = self.balancer.backends.lock().unwrap();
        backends[number].is_in = false;
        if cuts {
            backends[number].cut.cancel();
        }
    }

    /// It gets connections again, where it listens now.
    pub fn put_in(&self, number: usize) {
        self.balancer.backends.lock().unwrap()[number] = Backend::of(&self.daemons[number]);
    }

    pub fn kill(&mut self, number: usize) {
        block_in_place(|| self.daemons[number].kill());
        self.take_out(number, true);
    }

    pub fn restart(&mut self, number: usize) {
        block_in_place(|| self.daemons[number].restart());
        self.put_in(number);
    }
}
