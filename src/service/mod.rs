//! Use cases, one method for each call, whatever surface it comes by: who may do what, ids, pages.
//! Surfaces turn their words into these arguments and these answers into theirs, and know no more.

mod admin;
mod asks;
mod authenticate;
mod authorize;
mod deliveries;
mod export;
mod inbox;
mod latest;
mod lists;
mod presence;
mod rates;
mod reads;
mod receipt;
mod sessions;
mod stream;
mod watch;

pub use crate::session::LOCAL_HOST;
pub use admin::{Made, Person, Rostered};
pub use authorize::{About, Call, Who};
pub use deliveries::{TAKE_MAX, Taken, Worker, unread};
pub use lists::{AskFilter, AskPage, AskScope, Way};
pub use presence::Away;
pub use rates::{
    ASKS_A_MINUTE, ASKS_A_MINUTE_MAX, ASKS_A_MINUTE_MIN, CALLS_A_PRINCIPAL, EXPORTS, InFlight,
    Rates, STREAMS_A_PRINCIPAL,
};
pub use reads::{PAGE, PAGE_MAX, Status};
pub use receipt::{Presence, Receipt, Verdict};
pub use sessions::{Accepted, Changed, Enrolled, HoldMessage, Resumed, Secrets, Sent};
pub use stream::Watch;
pub use watch::{DeliveryMessage, InboxMessage, WatchMessage};

pub use crate::engine::{Answers, Notifier, WriterOn};

use crate::ask::{
    Ask, AskId, Assurance, HostName, Namespace, PersonName, Plans, Policy, RequestId, SessionId,
    Timestamp,
};
use crate::engine::clock::{Machine, Source};
use crate::engine::request::Intent;
use crate::engine::{Engine, HoldGuard};
use crate::error::Error;
use crate::session::{Kind, Principal, Secret, SecretHash, Session};
use crate::store::{Key, ReceiptKey, Record, Store};
use data_encoding::HEXLOWER;
use latest::Latest;
use presence::Attached;
use rates::Counts;
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::sync::Arc;
use tokio::sync::{Semaphore, watch as watched};

/// What keeps a session held; see [`Service::hold`].
pub type Hold = HoldGuard;

/// Who calls, by their credential.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// Whom the credential stands for.
    pub principal: Principal,
    /// Where they live.
    pub namespace: Namespace,
    /// The token it called by; none for the daemon's own user on the socket.
    pub token: Option<Bearer>,
    /// Whether it says of itself that it was typed in an agent's environment.
    pub in_agent: bool,
}

/// The token of a caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bearer {
    /// The secret, hashed.
    pub secret: SecretHash,
    /// What a person's word by it is worth.
    pub assurance: Assurance,
    /// Until when it is good.
    pub expire_time: Option<Timestamp>,
}

/// What a call carries of its caller, before anybody has looked at it.
#[derive(Clone, Debug, Default)]
pub struct Credential {
    /// The bearer token, as it was sent.
    pub token: Option<String>,
    /// Whether it came by the socket from the daemon's own user.
    pub local_user: bool,
    /// Whether it says that it was typed in an agent's environment.
    pub in_agent: bool,
}

/// What a daemon may be told.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The routes an ask may name.
    pub routes: Plans,
    /// What the rules of an ask are told.
    pub policy: Policy,
    /// What carries notices to people, where anything does.
    pub notifier: Option<Arc<dyn Notifier>>,
    /// How much at once, and how fast.
    pub rates: Rates,
    /// Where the writer runs.
    pub writer: WriterOn,
}

impl Default for Settings {
    fn default() -> Self {
        let routes = Plans::built_in(crate::ask::limits::ROUTE_TIMEOUT);
        let (policy, rates) = (Policy::default(), Rates::default());
        Self { routes, policy, rates, notifier: None, writer: WriterOn::default() }
    }
}

/// The use cases. Cheap to clone; the clones are one service.
#[derive(Clone)]
pub struct Service {
    engine: Engine,
    settings: Arc<Settings>,
    attached: Attached,
    latest: Latest,
    counts: Counts,
    exporting: Arc<Semaphore>,
    start_time: Timestamp,
}

impl Service {
    /// Starts the engine over `store`, on the machine's clocks.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    pub async fn start(store: Arc<dyn Store>, settings: Settings) -> Result<Self, Error> {
        Self::start_with(store, settings, Arc::new(Machine::new())).await
    }

    /// The same on other clocks: a test's.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    pub async fn start_with(
        store: Arc<dyn Store>,
        settings: Settings,
        clocks: Arc<dyn Source>,
    ) -> Result<Self, Error> {
        let notifier = settings.notifier.clone();
        let (policy, writer) = (settings.policy, settings.writer);
        let engine = Engine::start(store, policy, clocks, notifier, writer).await?;
        let (settings, start_time) = (Arc::new(settings), engine.now());
        let (attached, latest) = (Attached::new(&engine), Latest::default());
        let counts = Counts::new(settings.rates, engine.clone());
        let exporting = Arc::new(Semaphore::new(EXPORTS));
        Ok(Self { engine, settings, attached, latest, counts, exporting, start_time })
    }

    /// Begins to stop: every stream ends with [`Error::stopping`], every new call is answered so.
    pub fn shutdown(&self) {
        self.engine.stop();
    }

    /// Returns once [`shutdown`](Self::shutdown) was called.
    pub async fn stopping(&self) {
        self.engine.stopping().cancelled().await;
    }

    /// Whether the store answers, and whenever that changes: who does not ask for calls while it does
    /// not, gets none in vain.
    pub fn store_answers(&self) -> watched::Receiver<Answers> {
        self.engine.answers()
    }

    /// Waits until everything taken up is on disk and answered, after [`shutdown`](Self::shutdown).
    pub async fn stopped(&self) {
        self.engine.stopped().await;
    }

    async fn load(&self, key: Key) -> Result<Option<Record>, Error> {
        Ok(self.engine.store().load(&[key]).await?.pop().flatten())
    }

    async fn session(&self, id: SessionId) -> Result<Option<Arc<Session>>, Error> {
        match self.load(Key::Session(id)).await? {
            Some(Record::Session(session)) => Ok(Some(session)),
            _ => Ok(None),
        }
    }

    async fn ask_record(&self, id: AskId) -> Result<Option<Arc<Ask>>, Error> {
        match self.load(Key::Ask(id)).await? {
            Some(Record::Ask(ask)) => Ok(Some(ask)),
            _ => Ok(None),
        }
    }

    fn fresh<T>(&self, id: impl FnOnce(Timestamp, [u8; 6]) -> T) -> T {
        id(self.engine.now(), random())
    }
}

impl Caller {
    /// The caller's intent: its request id, bound to what is asked for.
    fn intent(&self, request: RequestId, call: Call, payload: &impl Serialize) -> Intent {
        let credential = self.token.as_ref().map(|token| token.secret);
        Intent { credential, ..intent(self.spelled(), request, call, payload) }
    }

    /// What a person's word by it is worth.
    pub(super) fn assurance(&self) -> Assurance {
        self.token.as_ref().map_or(Assurance::Local, |token| token.assurance)
    }

    /// The same of whoever may be none: a session's word has no such worth.
    pub(super) fn assurance_of_person(&self) -> Option<Assurance> {
        matches!(self.principal, Principal::Person(_)).then(|| self.assurance())
    }

    /// Whether it is the daemon's own user: the host `local`, for which no token is ever made.
    pub(super) fn is_operator(&self) -> bool {
        let is_local = |host: &HostName| host.as_str() == LOCAL_HOST;
        self.namespace == Namespace::default()
            && matches!(&self.principal, Principal::Host(host) if is_local(host))
    }

    /// Whether it is the person `owner` of its namespace.
    pub(super) fn is_owner(&self) -> bool {
        self.principal == Principal::Person(PersonName::owner())
    }

    /// Who it is, told apart from everybody else.
    fn spelled(&self) -> String {
        match &self.principal {
            Principal::Session(session) => format!("session {}", session.session),
            Principal::Person(person) => format!("person {} {person}", self.namespace),
            Principal::Host(host) => format!("host {} {host}", self.namespace),
        }
    }
}

fn intent(caller: String, request: RequestId, call: Call, payload: &impl Serialize) -> Intent {
    let (key, payload) = (ReceiptKey { request, caller }, fingerprint(call, payload));
    Intent { key, payload, credential: None }
}

/// SHA-256 of the canonical domain payload: the call's name and its arguments in their one JSON form.
fn fingerprint(call: Call, payload: &impl Serialize) -> String {
    let payload = serde_json::to_vec(payload).expect("domain values have a JSON form");
    let mut hash = Sha256::new();
    hash.update(format!("{call:?}\n"));
    hash.update(&payload);
    HEXLOWER.encode(&hash.finalize())
}

fn new_secret(kind: Kind) -> Secret {
    Secret::new(kind, random())
}

fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).expect("the system gives random bytes");
    bytes
}
