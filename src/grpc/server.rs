//! Serving: the services on a socket and on loopback, and stopping in a bounded time.

use super::status::status;
use super::v1::admin_service_server::AdminServiceServer;
use super::v1::ask_service_server::AskServiceServer;
use super::v1::session_service_server::SessionServiceServer;
use super::{DESCRIPTORS, connections, malformed};
use crate::error::{Error, Reason};
use crate::service::{Caller, Credential, Service};
use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::time::Duration;
use tokio::net::{TcpListener, UnixListener};
use tokio_stream::Stream;
use tokio_util::sync::CancellationToken;
use tonic::body::Body;
use tonic::codegen::http;
use tonic::server::NamedService;
use tonic::service::Routes;
use tonic::transport::Server;
use tonic::transport::server::UdsConnectInfo;
use tonic::{Request, Response, Status};
use tonic_health::ServingStatus;
use tonic_health::server::HealthReporter;
use tower::layer::util::{Identity, Stack};
use tower::util::MapResponseLayer;

/// The most bytes of one message in: an ask at all its limits is under it; more is a mistake or
/// mischief.
pub const MESSAGE_BYTES: usize = 256 << 10;
/// Calls a connection may have open at once. Watches share connections; a thousand are plenty.
const STREAMS_A_CONNECTION: u32 = 1_024;
/// The header that carries a caller's token.
pub(super) const AUTHORIZATION: &str = "authorization";
/// How often an idle connection is asked whether it is there, and how long it has to say so.
const KEEPALIVE: (Duration, Duration) = (Duration::from_secs(20), Duration::from_secs(10));
/// How long a stop waits for clients to take what is sent to them.
const DRAIN: Duration = Duration::from_secs(5);

/// What to serve on.
#[derive(Debug, Default)]
pub struct Listeners {
    /// The socket of the daemon's own user.
    pub unix: Option<UnixListener>,
    /// Loopback TCP, for callers with a token.
    pub tcp: Option<TcpListener>,
}

/// A handler's result.
pub(super) type Reply<T> = Result<Response<T>, Status>;

/// A handler's stream.
pub(super) type StreamOf<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

pub(super) fn reply<T>(message: T) -> Reply<T> {
    Ok(Response::new(message))
}

/// Serves until `shutdown`, then stops the service and drains: returns when every connection is
/// closed. Those still open after five seconds are severed.
///
/// # Errors
///
/// When what describes the services cannot be read, or the serving itself fails.
pub async fn serve(
    service: Service,
    listeners: Listeners,
    shutdown: CancellationToken,
) -> io::Result<()> {
    let (health, routes) = routes(&service).await?;
    let sever = CancellationToken::new();
    let stopping = async {
        shutdown.cancelled().await;
        for name in SERVICES {
            health.set_service_status(name, ServingStatus::NotServing).await;
        }
        service.shutdown();
    };
    let until = || shutdown.clone().cancelled_owned();
    let on_unix = async {
        let Some(listener) = listeners.unix else { return Ok(()) };
        let incoming = connections::over_unix(listener, sever.clone());
        server().add_routes(routes.clone()).serve_with_incoming_shutdown(incoming, until()).await
    };
    let on_tcp = async {
        let Some(listener) = listeners.tcp else { return Ok(()) };
        let incoming = connections::over_tcp(listener, sever.clone());
        server().add_routes(routes.clone()).serve_with_incoming_shutdown(incoming, until()).await
    };
    let draining = async {
        shutdown.cancelled().await;
        tokio::time::sleep(DRAIN).await;
        tracing::warn!("some clients did not take what was sent to them; they are cut off");
        sever.cancel();
        std::future::pending::<Infallible>().await
    };
    let serving = async { tokio::join!(on_unix, on_tcp, stopping) };
    tokio::select! {
        (unix, tcp, ()) = serving => unix.and(tcp).map_err(io::Error::other),
        never = draining => match never {},
    }
}

/// The services by their names on the wire, and all of them together: what health speaks of.
const SERVICES: [&str; 4] = [
    "",
    <AskServiceServer<Api> as NamedService>::NAME,
    <SessionServiceServer<Api> as NamedService>::NAME,
    <AdminServiceServer<Api> as NamedService>::NAME,
];

async fn routes(service: &Service) -> io::Result<(HealthReporter, Routes)> {
    let (health, health_service) = tonic_health::server::health_reporter();
    for name in SERVICES {
        health.set_service_status(name, ServingStatus::Serving).await;
    }
    let reflection = || {
        tonic_reflection::server::Builder::configure()
            .register_encoded_file_descriptor_set(DESCRIPTORS)
            .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
    };
    let api = Api { service: service.clone() };
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

/// Sees every response on its way out.
type Outward = Stack<MapResponseLayer<fn(http::Response<Body>) -> http::Response<Body>>, Identity>;

fn server() -> Server<Outward> {
    Server::builder()
        .layer(MapResponseLayer::new(malformed::explained as fn(_) -> _))
        .max_concurrent_streams(STREAMS_A_CONNECTION)
        .http2_keepalive_interval(Some(KEEPALIVE.0))
        .http2_keepalive_timeout(Some(KEEPALIVE.1))
}

/// The three services. Cheap to clone.
#[derive(Clone)]
pub(super) struct Api {
    pub service: Service,
}

impl Api {
    /// Establishes who calls, and opens the request.
    pub async fn enter<T>(&self, request: Request<T>) -> Result<(Caller, T), Status> {
        let caller = self.caller(&request).await?;
        Ok((caller, request.into_inner()))
    }

    /// Establishes who calls.
    pub async fn caller<T>(&self, request: &Request<T>) -> Result<Caller, Status> {
        let credential = credential(request).map_err(status)?;
        self.service.authenticate(&credential).await.map_err(status)
    }
}

/// What a request carries of its caller. A header that is not a bearer token is a bad credential,
/// never none.
fn credential<T>(request: &Request<T>) -> Result<Credential, Error> {
    let mut headers = request.metadata().get_all(AUTHORIZATION).iter();
    let token = match (headers.next(), headers.next()) {
        (None, _) => None,
        (Some(header), None) => {
            let bearer = header.to_str().ok().and_then(|text| text.strip_prefix("Bearer "));
            let bearer = bearer.ok_or_else(|| bad("must be `authorization: Bearer TOKEN`"))?;
            Some(bearer.to_owned())
        }
        (Some(_), Some(_)) => return Err(bad("must be one `authorization` header")),
    };
    let own = rustix::process::geteuid().as_raw();
    let peer = request.extensions().get::<UdsConnectInfo>().and_then(|info| info.peer_cred);
    Ok(Credential { token, local_user: peer.is_some_and(|peer| peer.uid() == own) })
}

fn bad(message: &str) -> Error {
    Error::Unauthenticated(Reason::BadCredential, message.to_owned())
}
