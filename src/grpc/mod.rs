//! The gRPC surface: words in, words out. A handler converts, calls the service, converts.

/// What `proto/` generates.
#[allow(missing_docs, clippy::all, reason = "generated; the proto files are the documentation")]
pub mod v1 {
    tonic::include_proto!("askway.v1");
}

/// The descriptor set the services were generated from, for reflection.
pub const DESCRIPTORS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/descriptors.bin"));

/// What to serve on.
#[derive(Debug, Default)]
pub struct Listeners {
    /// The socket of the daemon's own user.
    pub unix: Option<tokio::net::UnixListener>,
    /// Loopback TCP, for callers with a token.
    pub tcp: Option<tokio::net::TcpListener>,
}

/// Serves until `shutdown`, then calls `service.shutdown()` and drains: returns when every
/// connection is closed, at most 5 s later.
pub async fn serve(
    _service: crate::service::Service,
    _listeners: Listeners,
    _shutdown: tokio_util::sync::CancellationToken,
) -> std::io::Result<()> {
    todo!()
}
