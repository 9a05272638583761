//! Where a daemon listens, and how to get there.

use hyper::rt::{Read, Write};
use hyper_util::rt::TokioIo;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::time::Duration;
use tokio::net::UnixStream;
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint, Identity, Uri};
use tower::{Service, service_fn};

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
    /// TCP on this machine: `http://127.0.0.1:PORT`.
    Http(String),
    /// TCP with TLS: `https://HOST:PORT`.
    Https(Box<Secure>),
}

/// Where a daemon listens with TLS, whom it is believed to be, and who the client is.
#[derive(Clone, PartialEq, Eq)]
pub struct Secure {
    uri: String,
    /// Authorities in PEM; none for those of the system.
    ca: Option<Vec<u8>>,
    /// The client's certificate and its key, in PEM.
    identity: Option<(Vec<u8>, Vec<u8>)>,
}

impl Address {
    /// Reads `unix:PATH`, `http://127.0.0.1:PORT` or `https://HOST:PORT`.
    ///
    /// # Errors
    ///
    /// A sentence that says what it must be.
    pub fn parse(text: &str) -> Result<Self, String> {
        if let Some(path) = text.strip_prefix("unix:").filter(|path| !path.is_empty()) {
            return Ok(Address::Unix(path.into()));
        }
        let has = |scheme: &str| {
            let host = text.strip_prefix(scheme);
            host.is_some_and(|host| host.contains(':'))
                && text.parse::<Uri>().is_ok_and(|uri| uri.port().is_some())
        };
        let uri = text.trim_end_matches('/').to_owned();
        if has("http://") {
            // Tokens go along with every call, and without TLS in the clear.
            return match is_loopback(&uri) {
                true => Ok(Address::Http(uri)),
                false => Err(format!("`{text}` is not this machine: beyond it, https://HOST:PORT")),
            };
        }
        if has("https://") {
            return Ok(Address::Https(Box::new(Secure { uri, ca: None, identity: None })));
        }
        Err(format!("`{text}` must be unix:PATH, http://127.0.0.1:PORT or https://HOST:PORT"))
    }

    /// The same where it is with TLS: the daemon's certificate must be of an authority in `ca`, or of
    /// one the system knows; the client shows the certificate of `identity` (and its key). All in PEM.
    ///
    /// # Errors
    ///
    /// What is wrong with them; also with an address that is without TLS, where any is given.
    pub fn with_tls(
        self,
        ca: Option<Vec<u8>>,
        identity: Option<(Vec<u8>, Vec<u8>)>,
    ) -> Result<Self, String> {
        match self {
            Address::Https(secure) => {
                let secure = Secure { ca, identity, ..*secure };
                secure.endpoint()?;
                Ok(Address::Https(Box::new(secure)))
            }
            other if ca.is_none() && identity.is_none() => Ok(other),
            other => Err(format!("{other} is without TLS: it must be https://HOST:PORT")),
        }
    }

    /// A channel that connects when it is first used.
    pub(super) fn channel(&self) -> Channel {
        match self {
            Address::Http(uri) => {
                let endpoint = Endpoint::from_shared(uri.clone());
                settings(endpoint.expect("an address holds a URI")).connect_lazy()
            }
            Address::Https(secure) => match secure.endpoint() {
                Ok(endpoint) => endpoint.connect_lazy(),
                // A system without authorities; the call says so.
                Err(why) => settings(Endpoint::from_static("https://localhost"))
                    .connect_with_connector_lazy(service_fn(move |_: Uri| {
                        let error = io::Error::other(why.clone());
                        async { Err::<TokioIo<UnixStream>, _>(error) }
                    })),
            },
            Address::Unix(path) => {
                let path = path.clone();
                channel_by(
                    self,
                    service_fn(move |_: Uri| {
                        let path = path.clone();
                        async move {
                            let stream = UnixStream::connect(path).await?;
                            let peer = stream.peer_cred()?.uid();
                            is_trusted(peer, rustix::process::geteuid().as_raw())
                                .then(|| TokioIo::new(stream))
                                .ok_or_else(|| io::Error::other(of_another_user(peer)))
                        }
                    }),
                )
            }
        }
    }
}

/// A channel to `address` by `connector`, set up as the client's own are.
pub(super) fn channel_by<C>(address: &Address, connector: C) -> Channel
where
    C: Service<Uri> + Send + 'static,
    C::Response: Read + Write + Send + Unpin,
    C::Future: Send,
    C::Error: Send,
    Box<dyn std::error::Error + Send + Sync>: From<C::Error>,
{
    let endpoint = match address {
        Address::Http(uri) => Endpoint::from_shared(uri.clone()).expect("an address holds a URI"),
        // The authority is not looked at on a socket; it has to be one.
        Address::Unix(_) | Address::Https(_) => Endpoint::from_static("http://localhost"),
    };
    settings(endpoint).connect_with_connector_lazy(connector)
}

impl Secure {
    fn endpoint(&self) -> Result<Endpoint, String> {
        let mut tls = ClientTlsConfig::new();
        tls = match &self.ca {
            Some(ca) => tls.ca_certificate(Certificate::from_pem(ca)),
            None => tls.with_native_roots(),
        };
        if let Some((cert, key)) = &self.identity {
            tls = tls.identity(Identity::from_pem(cert, key));
        }
        let endpoint = Endpoint::from_shared(self.uri.clone());
        let endpoint = settings(endpoint.expect("an address holds a URI")).tls_config(tls);
        endpoint.map_err(|error| match std::error::Error::source(&error) {
            Some(why) => why.to_string(),
            None => error.to_string(),
        })
    }
}

/// The key is nobody's to print.
impl fmt::Debug for Secure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Secure").field(&self.uri).finish()
    }
}

/// Whether whoever serves on a socket is to be given a token: this user, root, or anybody where root calls.
/// Somebody else may have put theirs where the daemon's was, to be given what is meant for it.
fn is_trusted(peer: u32, own: u32) -> bool {
    peer == own || peer == 0 || own == 0
}

fn of_another_user(peer: u32) -> String {
    format!("another user ({peer}) serves on that socket, and is given no token")
}

/// Whether the host of this URI is this machine.
fn is_loopback(uri: &str) -> bool {
    let uri = uri.parse::<Uri>().ok();
    let host = uri.as_ref().and_then(Uri::host).unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<std::net::IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
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
            Address::Https(secure) => f.write_str(&secure.uri),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_reads_back_and_anything_else_says_what_it_must_be() {
        let good =
            ["unix:/tmp/a b.sock", "http://127.0.0.1:7700", "http://[::1]:1", "https://a.b:7"];
        for text in good {
            assert_eq!(Address::parse(text).unwrap().to_string(), text);
        }
        for bad in ["", "unix:", "127.0.0.1:7", "ftp://a:1", "http://a", "http://", "https://a"] {
            assert!(Address::parse(bad).unwrap_err().contains("unix:PATH"), "{bad}");
        }
    }

    #[test]
    fn who_serves_on_a_socket_is_this_user_or_root() {
        for (peer, own, is_so) in
            [(7, 7, true), (0, 7, true), (7, 0, true), (0, 0, true), (8, 7, false)]
        {
            assert_eq!(is_trusted(peer, own), is_so, "{peer} {own}");
        }
    }

    #[test]
    fn no_token_goes_in_the_clear_beyond_this_machine() {
        for good in ["http://localhost:1", "http://127.0.0.9:1", "http://[::1]:1", "https://a.b:7"]
        {
            assert!(Address::parse(good).is_ok(), "{good}");
        }
        for bad in ["192.0.2.2:1", "a.b:1", "localhost.b:1", "127.0.0.1.b:1", "[2001:db8::1]:1"] {
            let said = Address::parse(&format!("http://{bad}")).unwrap_err();
            assert!(said.contains("https://"), "{said}");
        }
    }
}
