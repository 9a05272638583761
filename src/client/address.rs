//! Where a daemon listens, and how to get there.

use hyper_util::rt::TokioIo;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;
use tokio::net::UnixStream;
use tonic::transport::{Channel, Endpoint, Uri};
use tower::service_fn;

/// How long a connection may take to be made.
const CONNECT_WITHIN: Duration = Duration::from_secs(5);
/// How often an idle connection is asked whether it is there, and how long it has to say so: a dead
/// one is noticed within twenty seconds.
const KEEPALIVE: (Duration, Duration) = (Duration::from_secs(10), Duration::from_secs(10));

/// Where a daemon listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// A Unix socket: `unix:PATH`.
    Unix(PathBuf),
    /// TCP: `http://HOST:PORT`.
    Http(String),
}

impl Address {
    /// Reads `unix:PATH` or `http://HOST:PORT`.
    ///
    /// # Errors
    ///
    /// A sentence that says what it must be.
    pub fn parse(text: &str) -> Result<Self, String> {
        if let Some(path) = text.strip_prefix("unix:").filter(|path| !path.is_empty()) {
            return Ok(Address::Unix(path.into()));
        }
        let is_http = text.strip_prefix("http://").is_some_and(|host| host.contains(':'));
        if is_http && text.parse::<Uri>().is_ok_and(|uri| uri.port().is_some()) {
            return Ok(Address::Http(text.trim_end_matches('/').to_owned()));
        }
        Err(format!("`{text}` must be unix:PATH or http://HOST:PORT"))
    }

    /// A channel that connects when it is first used.
    pub(super) fn channel(&self) -> Channel {
        match self {
            Address::Http(uri) => {
                let endpoint = Endpoint::from_shared(uri.clone());
                settings(endpoint.expect("an address holds a URI")).connect_lazy()
            }
            Address::Unix(path) => {
                let path = path.clone();
                // The authority is not looked at on a socket; it has to be one.
                let endpoint = settings(Endpoint::from_static("http://localhost"));
                endpoint.connect_with_connector_lazy(service_fn(move |_: Uri| {
                    let path = path.clone();
                    async move { UnixStream::connect(path).await.map(TokioIo::new) }
                }))
            }
        }
    }
}

fn settings(endpoint: Endpoint) -> Endpoint {
    endpoint
        .tcp_nodelay(true)
        .connect_timeout(CONNECT_WITHIN)
        .http2_keep_alive_interval(KEEPALIVE.0)
        .keep_alive_timeout(KEEPALIVE.1)
        .keep_alive_while_idle(true)
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Unix(path) => write!(f, "unix:{}", path.display()),
            Address::Http(uri) => f.write_str(uri),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_reads_back_and_anything_else_says_what_it_must_be() {
        for text in ["unix:/tmp/a b.sock", "http://127.0.0.1:7700", "http://[::1]:1"] {
            assert_eq!(Address::parse(text).unwrap().to_string(), text);
        }
        for bad in ["", "unix:", "127.0.0.1:7", "https://a:1", "http://a", "http://"] {
            assert!(Address::parse(bad).unwrap_err().contains("unix:PATH"), "{bad}");
        }
    }
}
