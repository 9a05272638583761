//! Serving: the services on a socket and on loopback, and stopping in a bounded time.

use super::DESCRIPTORS;
use super::accept::{Accepts, Reception};
use super::admission::{Admission, Kept};
use super::door::{self, Entrance, Origin};
use super::limits::{Limits, MESSAGE_BYTES, STOP_DRAIN};
use super::shed::{Crowd, Slot};
use super::status::status;
use super::v1::admin_service_server::AdminServiceServer;
use super::v1::ask_service_server::AskServiceServer;
use super::v1::session_service_server::SessionServiceServer;
use crate::error::{Error, Reason};
use crate::service::{Answers, Caller, Credential, Service};
use crate::session::Principal;
use std::io;
use std::sync::Arc;
use tokio::net::{TcpListener, UnixListener};
use tokio_rustls::rustls::ServerConfig;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tonic::server::NamedService;
use tonic::service::Routes;
use tonic::{Request, Response, Status};
use tonic_health::ServingStatus;
use tonic_health::server::HealthReporter;

/// The header that carries a caller's token.
pub(super) const AUTHORIZATION: &str = "authorization";
/// The header by which a program says that what it sends was typed in an agent's environment.
pub const IN_AGENT: &str = "askway-in-agent";
/// What to serve on.
#[derive(Debug)]
pub struct Listeners<L = TcpListener> {
    /// The socket of the daemon's own user.
    pub unix: Option<UnixListener>,
    /// Loopback TCP, for callers with a token.
    pub tcp: Option<L>,
}

impl<L> Default for Listeners<L> {
    fn default() -> Self {
        Self { unix: None, tcp: None }
    }
}

impl<L: Accepts> Listeners<L> {
    /// Where they listen, as a client is told it. One that cannot say is none.
    fn addresses(&self, is_tls: bool) -> Vec<String> {
        let scheme = if is_tls { "https" } else { "http" };
        let unix = self.unix.as_ref().and_then(|listener| listener.local_addr().ok());
        let unix = unix.and_then(|at| Some(format!("unix:{}", at.as_pathname()?.display())));
        let tcp = self.tcp.as_ref().and_then(|listener| listener.local_addr().ok());
        unix.into_iter().chain(tcp.map(|at| format!("{scheme}://{at}"))).collect()
    }
}

/// How to serve.
#[derive(Clone, Debug, Default)]
pub struct Manner {
    /// How much of the wire.
    pub limits: Limits,
    /// TLS over TCP; none, and TCP is for loopback.
    pub tls: Option<Arc<ServerConfig>>,
    /// What the daemon may be called over TCP without TLS, beside loopback: `NAME` or `NAME:PORT`.
    pub names: Vec<String>,
}

/// A handler's result.
pub(super) type Reply<T> = Result<Response<T>, Status>;

pub(super) fn reply<T>(message: T) -> Reply<T> {
    Ok(Response::new(message))
}

/// Serves until `shutdown`, then stops the service and drains: returns when every connection is
/// closed. Those still open after five seconds are severed.
///
/// # Errors
///
/// When what describes the services cannot be read.
pub async fn serve(
    service: Service,
    listeners: Listeners,
    shutdown: CancellationToken,
) -> io::Result<()> {
    serve_as(Manner::default(), service, listeners, shutdown).await
}

/// The same, in this manner.
///
/// # Errors
///
/// As [`serve`].
pub async fn serve_as(
    manner: Manner,
    service: Service,
    listeners: Listeners,
    shutdown: CancellationToken,
) -> io::Result<()> {
    serve_over(manner, service, listeners, shutdown).await
}

/// The same, also over a network that is not the system's.
///
/// # Errors
///
/// As [`serve`].
pub async fn serve_over<L: Accepts>(
    manner: Manner,
    service: Service,
    listeners: Listeners<L>,
    shutdown: CancellationToken,
) -> io::Result<()> {
    let Manner { limits, tls, names } = manner;
    let (health, routes) = routes(&service, &listeners.addresses(tls.is_some())).await?;
    let Limits { message_within, unproven_a_peer, .. } = limits;
    let crowd = Crowd::new(limits);
    let entrance = Entrance { routes, crowd, names, message_within, unproven_a_peer };
    let entrance = Arc::new(entrance);
    let reception = Reception {
        entrance,
        admission: Admission::new(limits),
        limits,
        shutdown: shutdown.clone(),
        sever: CancellationToken::new(),
        tasks: TaskTracker::new(),
    };
    let on_unix = async {
        if let Some(listener) = listeners.unix {
            reception.on_unix(listener).await;
        }
    };
    let on_tcp = async {
        if let Some(listener) = listeners.tcp {
            reception.on_tcp(listener, tls).await;
        }
    };
    let stopping = async {
        tokio::select! {
            () = shutdown.cancelled() => {}
            () = follow(&service, &health) => {}
        }
        set_all(&health, ServingStatus::NotServing).await;
        service.shutdown();
    };
    tokio::join!(on_unix, on_tcp, stopping);
    reception.tasks.close();
    if tokio::time::timeout(STOP_DRAIN, reception.tasks.wait()).await.is_err() {
        tracing::warn!("some clients did not take what was sent to them; they are cut off");
        reception.sever.cancel();
        reception.tasks.wait().await;
    }
    Ok(())
}

/// The services by their names on the wire, and all of them together: what health speaks of.
const SERVICES: [&str; 4] = [
    "",
    <AskServiceServer<Api> as NamedService>::NAME,
    <SessionServiceServer<Api> as NamedService>::NAME,
    <AdminServiceServer<Api> as NamedService>::NAME,
];

/// Has health say for ever whether calls may be sent here: while the store answers. Streams that are open
/// stay so.
async fn follow(service: &Service, health: &HealthReporter) {
    let mut answers = service.store_answers();
    loop {
        let status = match *answers.borrow_and_update() == Answers::WELL {
            true => ServingStatus::Serving,
            false => ServingStatus::NotServing,
        };
        set_all(health, status).await;
        if answers.changed().await.is_err() {
            std::future::pending().await
        }
    }
}

async fn set_all(health: &HealthReporter, status: ServingStatus) {
    for name in SERVICES {
        health.set_service_status(name, status).await;
    }
}

async fn routes(service: &Service, listening: &[String]) -> io::Result<(HealthReporter, Routes)> {
    let (health, health_service) = tonic_health::server::health_reporter();
    set_all(&health, ServingStatus::Serving).await;
    let reflection = || {
        tonic_reflection::server::Builder::configure()
            .register_encoded_file_descriptor_set(DESCRIPTORS)
            .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
    };
    let api = Api { service: service.clone(), listening: listening.into() };
    let asks = AskServiceServer::new(api.clone()).max_decoding_message_size(MESSAGE_BYTES);
    let sessions = SessionServiceServer::new(api.clone()).max_decoding_message_size(MESSAGE_BYTES);
    let admin = AdminServiceServer::new(api).max_decoding_message_size(MESSAGE_BYTES);
    let routes = Routes::new(health_service)
        .add_service(reflection().build_v1().map_err(io::Error::other)?)
        .add_service(reflection().build_v1alpha().map_err(io::Error::other)?)
        .add_service(asks)
        .add_service(sessions)
        .add_service(admin);
    Ok((health, routes))
}

/// The three services. Cheap to clone.
#[derive(Clone)]
pub(super) struct Api {
    pub service: Service,
    /// Where it listens, as a client is told it.
    pub listening: Arc<[String]>,
}

impl Api {
    /// Establishes who calls, and opens the request.
    pub async fn enter<T>(&self, request: Request<T>) -> Result<(Caller, T), Status> {
        let caller = self.caller(&request).await?;
        Ok((caller, request.into_inner()))
    }

    /// Establishes who calls, and counts the call for them.
    pub async fn caller<T>(&self, request: &Request<T>) -> Result<Caller, Status> {
        let credential = credential(request).map_err(status)?;
        let caller = self.service.authenticate(&credential).await;
        if let Some(kept) = request.extensions().get::<Kept>() {
            let is_person = |caller: &Caller| matches!(caller.principal, Principal::Person(_));
            kept.is_used(caller.as_ref().is_ok_and(is_person));
        }
        let caller = caller.map_err(status)?;
        tracing::debug!(by = ?caller.principal, "a call");
        if let Some(slot) = request.extensions().get::<Arc<Slot>>() {
            slot.keep(self.service.in_flight(&caller, slot.is_stream).map_err(status)?);
        }
        Ok(caller)
    }
}

/// What a request carries of its caller. A header that is not a bearer token is a bad credential,
/// never none.
fn credential<T>(request: &Request<T>) -> Result<Credential, Error> {
    let mut headers = request.metadata().get_all(AUTHORIZATION).iter();
    let token = match (headers.next(), headers.next()) {
        (None, _) => None,
        (Some(header), None) => {
            let bearer =
                door::token(header.as_bytes()).and_then(|token| str::from_utf8(token).ok());
            let bearer = bearer.ok_or_else(|| bad("must be `authorization: Bearer TOKEN`"))?;
            Some(bearer.to_owned())
        }
        (Some(_), Some(_)) => return Err(bad("must be one `authorization` header")),
    };
    let origin = request.extensions().get::<Origin>();
    let local_user = origin == Some(&Origin::Socket { is_own: true });
    let in_agent = request.metadata().contains_key(IN_AGENT);
    Ok(Credential { token, local_user, in_agent })
}

fn bad(message: &str) -> Error {
    Error::Unauthenticated(Reason::BadCredential, message.to_owned())
}
