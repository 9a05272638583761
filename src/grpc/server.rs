//! Serving: the services on a socket and on loopback, and stopping in a bounded time.

use super::DESCRIPTORS;
use super::status::status;
use super::v1::admin_service_server::AdminServiceServer;
use super::v1::ask_service_server::AskServiceServer;
use super::v1::session_service_server::SessionServiceServer;
use crate::error::{Error, Reason};
use crate::service::{Caller, Credential, Service};
use std::io;
use std::pin::Pin;
use std::time::Duration;
use tokio::net::{TcpListener, UnixListener};
use tokio_stream::wrappers::{TcpListenerStream, UnixListenerStream};
use tokio_stream::{Stream, StreamExt};
use tokio_util::sync::CancellationToken;
use tonic::service::Routes;
use tonic::transport::Server;
use tonic::transport::server::UdsConnectInfo;
use tonic::{Request, Response, Status};

/// The most bytes of one message in: an ask at all its limits is under it; more is a mistake or
/// mischief.
pub const MESSAGE_BYTES: usize = 256 << 10;
/// Calls a connection may have open at once. Watches share connections; a thousand are plenty.
const STREAMS_A_CONNECTION: u32 = 1_024;
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
/// closed, at most five seconds later.
///
/// # Errors
///
/// When a listener fails.
pub async fn serve(
    service: Service,
    listeners: Listeners,
    shutdown: CancellationToken,
) -> io::Result<()> {
    let (health, health_service) = tonic_health::server::health_reporter();
    health.set_serving::<AskServiceServer<Api>>().await;
    health.set_serving::<SessionServiceServer<Api>>().await;
    health.set_serving::<AdminServiceServer<Api>>().await;
    let reflection = || {
        tonic_reflection::server::Builder::configure()
            .register_encoded_file_descriptor_set(DESCRIPTORS)
            .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
    };
    let reflection_v1 = reflection().build_v1().map_err(io::Error::other)?;
    let reflection_v1alpha = reflection().build_v1alpha().map_err(io::Error::other)?;
    let api = Api { service: service.clone() };
    let routes = Routes::new(health_service)
        .add_service(reflection_v1)
        .add_service(reflection_v1alpha)
        .add_service(AskServiceServer::new(api.clone()).max_decoding_message_size(MESSAGE_BYTES))
        .add_service(
            SessionServiceServer::new(api.clone()).max_decoding_message_size(MESSAGE_BYTES),
        )
        .add_service(AdminServiceServer::new(api).max_decoding_message_size(MESSAGE_BYTES));

    let stop = shutdown.clone();
    let stopping = async move {
        stop.cancelled().await;
        health.set_not_serving::<AskServiceServer<Api>>().await;
        health.set_not_serving::<SessionServiceServer<Api>>().await;
        health.set_not_serving::<AdminServiceServer<Api>>().await;
        service.shutdown();
    };
    let over_unix = async {
        let Some(listener) = listeners.unix else { return Ok(()) };
        let incoming = UnixListenerStream::new(listener);
        let until = shutdown.clone().cancelled_owned();
        server().add_routes(routes.clone()).serve_with_incoming_shutdown(incoming, until).await
    };
    let over_tcp = async {
        let Some(listener) = listeners.tcp else { return Ok(()) };
        let incoming = TcpListenerStream::new(listener).map(|accepted| {
            // Without this every small reply waits for the acknowledgement of the one before it.
            accepted.inspect(|stream| drop(stream.set_nodelay(true)))
        });
        let until = shutdown.clone().cancelled_owned();
        server().add_routes(routes.clone()).serve_with_incoming_shutdown(incoming, until).await
    };
    let serving = async {
        let (unix, tcp, ()) = tokio::join!(over_unix, over_tcp, stopping);
        unix.and(tcp).map_err(io::Error::other)
    };
    let give_up = async {
        shutdown.cancelled().await;
        tokio::time::sleep(DRAIN).await;
    };
    tokio::select! {
        served = serving => served,
        () = give_up => {
            tracing::warn!("some clients did not take what was sent to them; they are cut off");
            Ok(())
        }
    }
}

fn server() -> Server {
    Server::builder()
        .tcp_nodelay(true)
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
    let mut headers = request.metadata().get_all("authorization").iter();
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
