//! The daemon as its clients meet it: a server on a socket and on loopback, over a store in memory.

mod calls;
mod credentials;
mod export;
mod fields;
mod health;
mod in_agent;
pub mod line;
mod lineage;
mod mischief;
mod namespaces;
mod people;
mod principals;
mod races;
mod reasons;
mod replays;
mod resume;
mod stop;
mod tokens;
mod twins;

use crate::bench::{Bench, PATIENCE};
use askway::ask::{Span, Timestamp};
use askway::client::{Address, Client};
use askway::engine::clock::Manual;
use askway::grpc::{Listeners, Manner, serve_as, v1};
use askway::service::Settings;
use askway::session::{Kind, Principal, Secret};
use askway::store::Store;
use askway::store::mem::Mem;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};
use tempfile::TempDir;
use tokio::net::{TcpListener, UnixListener};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// A server in this process.
pub struct Daemon {
    pub bench: Bench,
    pub folder: TempDir,
    pub port: SocketAddr,
    pub owner: Secret,
    pub host: Secret,
    pub shutdown: CancellationToken,
    serving: JoinHandle<io::Result<()>>,
}

/// A session, as its agent sees it.
pub struct Agent {
    pub client: Client,
    pub token: Secret,
    pub hold: Secret,
    pub session: v1::Session,
}

/// The machine's time: clients make request ids of it, and too old a one is refused.
fn wall_clock() -> Timestamp {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    Timestamp::from_millis(since_epoch.as_millis() as u64)
}

impl Daemon {
    pub async fn start() -> Self {
        Self::over(Arc::new(Mem::default())).await
    }

    pub async fn over(store: Arc<dyn Store>) -> Self {
        Self::with(store, Settings::default()).await
    }

    pub async fn with(store: Arc<dyn Store>, settings: Settings) -> Self {
        Self::set(store, wall_clock(), settings).await
    }

    async fn at(time: Timestamp) -> Self {
        Self::set(Arc::new(Mem::default()), time, Settings::default()).await
    }

    async fn set(store: Arc<dyn Store>, time: Timestamp, settings: Settings) -> Self {
        // Tests put lines between, which have ports of their own.
        let manner = Manner { names: vec!["127.0.0.1".into()], ..Manner::default() };
        Self::serving_at(manner, store, time, settings).await
    }

    /// One that serves in this manner.
    pub async fn serving(manner: Manner, store: Arc<dyn Store>, settings: Settings) -> Self {
        Self::serving_at(manner, store, wall_clock(), settings).await
    }

    async fn serving_at(
        manner: Manner,
        store: Arc<dyn Store>,
        time: Timestamp,
        settings: Settings,
    ) -> Self {
        let bench = Bench::set(store, Manual::at(time), settings).await;
        let folder = tempfile::tempdir().unwrap();
        let unix = UnixListener::bind(folder.path().join("socket")).unwrap();
        let tcp = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = tcp.local_addr().unwrap();
        let (owner, host) = (Secret::new(Kind::Person, [1; 32]), Secret::new(Kind::Host, [2; 32]));
        bench.service.install(bench.owner.principal.clone(), &owner).await.unwrap();
        let ci = Principal::Host("ci".parse().unwrap());
        // Tokens are listed in the order of time, and time stands still here.
        bench.advance(Span::from_millis(1));
        bench.service.install(ci, &host).await.unwrap();
        let shutdown = CancellationToken::new();
        let listeners = Listeners { unix: Some(unix), tcp: Some(tcp) };
        let serving = serve_as(manner, bench.service.clone(), listeners, shutdown.clone());
        let serving = tokio::spawn(serving);
        Self { bench, folder, port, owner, host, shutdown, serving }
    }

    pub fn unix(&self) -> Address {
        Address::Unix(self.folder.path().join("socket"))
    }

    pub fn tcp(&self) -> Address {
        Address::Http(format!("http://{}", self.port))
    }

    /// The person `owner`, over loopback.
    pub fn owner(&self) -> Client {
        Client::new(self.tcp(), Some(self.owner.clone()))
    }

    /// The daemon's own user, on the socket.
    pub fn local(&self) -> Client {
        Client::new(self.unix(), None)
    }

    /// The owner, by a token that was made for them, good for so many seconds.
    async fn token_for_owner(&self, seconds: Option<i64>) -> (Client, v1::Token) {
        let person = v1::create_token_request::Principal::Person("owner".into());
        let ttl = seconds.map(|seconds| prost_types::Duration { seconds, nanos: 0 });
        let (secret, token) = self.token("", person, ttl).await;
        (Client::new(self.tcp(), Some(secret)), token)
    }

    /// A token that the daemon's own user makes for `principal` in `namespace`.
    async fn token(
        &self,
        namespace: &str,
        principal: v1::create_token_request::Principal,
        ttl: Option<prost_types::Duration>,
    ) -> (Secret, v1::Token) {
        let (principal, namespace) = (Some(principal), namespace.to_owned());
        let new_namespace = !namespace.is_empty();
        let request = v1::CreateTokenRequest {
            principal,
            namespace,
            ttl,
            new_namespace,
            ..Default::default()
        };
        let made = self.local().create_token(request).await.unwrap();
        assert_eq!(made.receipt.unwrap().result(), v1::Result::Accepted);
        (Secret::read(&made.secret).expect("a whole token"), made.token.unwrap())
    }

    pub async fn root(&self, address: Address) -> Agent {
        let client = match &address {
            Address::Unix(_) => self.local(),
            _ => Client::new(address.clone(), Some(self.host.clone())),
        };
        enroll(&client, address, "lead", String::new()).await
    }

    /// `lead`, and a `worker` it sent work to.
    pub async fn pair(&self, address: Address) -> (Agent, Agent) {
        let lead = self.root(address.clone()).await;
        let worker = lead.send_work(address).await;
        (lead, worker)
    }

    pub async fn stop(self) {
        self.shutdown.cancel();
        tokio::time::timeout(PATIENCE, self.serving).await.expect("it stops").unwrap().unwrap();
        self.bench.service.stopped().await;
    }
}

impl Agent {
    pub async fn send_work(&self, address: Address) -> Agent {
        let sent = self.client.send_work(v1::SendWorkRequest::default()).await.unwrap();
        assert_eq!(sent.receipt.unwrap().result(), v1::Result::Accepted);
        enroll(&Client::new(address.clone(), None), address, "worker", sent.ticket).await
    }

    pub async fn ask(&self, text: &str) -> v1::Ask {
        accepted(self.client.ask(question(text)).await.unwrap())
    }
}

pub async fn enroll(by: &Client, address: Address, agent: &str, ticket: String) -> Agent {
    let request = v1::EnrollRequest { agent: agent.into(), ticket, ..Default::default() };
    let enrolled = by.enroll(request).await.unwrap();
    let token = Secret::read(&enrolled.token).expect("a new session has a token");
    Agent {
        client: Client::new(address, Some(token.clone())),
        token,
        hold: Secret::read(&enrolled.hold_secret).expect("and a holder's secret"),
        session: enrolled.session.unwrap(),
    }
}

pub use crate::rows::question;

pub fn yes() -> [(String, v1::Answer); 1] {
    let answer = v1::Answer { selected: vec!["yes".into()], ..Default::default() };
    [("q1".into(), answer)]
}

pub fn answer(ask: &v1::Ask) -> v1::AnswerRequest {
    let (ask_id, content_digest) = (ask.id.clone(), ask.content_digest.clone());
    let request_id = String::new();
    v1::AnswerRequest { request_id, ask_id, content_digest, answers: yes().into() }
}

pub fn answer_agent(ask: &v1::Ask) -> v1::AnswerAgentRequest {
    let v1::AnswerRequest { request_id, ask_id, content_digest, answers } = answer(ask);
    v1::AnswerAgentRequest { request_id, ask_id, content_digest, answers }
}

/// The ask of an accepted receipt.
pub fn accepted(receipt: v1::Receipt) -> v1::Ask {
    assert_eq!(receipt.result(), v1::Result::Accepted, "{}", receipt.message);
    receipt.ask.expect("an accepted receipt shows the ask")
}

/// Why it was refused.
pub fn refused(receipt: v1::Receipt) -> String {
    assert_eq!(receipt.result(), v1::Result::Refused);
    assert!(!receipt.message.is_empty());
    receipt.reason
}
