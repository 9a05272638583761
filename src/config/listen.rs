//! Where the daemon listens: the socket, an address over TCP, and what that needs beyond loopback.

use super::{FILE, Faults, SOCKET_PATH_BYTES};
use crate::cli::place;
use std::net::SocketAddr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Whether to serve on TCP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Listen {
    /// On the socket alone.
    #[default]
    Off,
    /// On this address too. Port 0 is one that the system picks.
    On(SocketAddr),
}

/// The files of TLS, absolute, in PEM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tls {
    /// The daemon's certificate, and those between it and its authority.
    pub cert: PathBuf,
    /// The key of it, which nobody else may read.
    pub key: PathBuf,
    /// The authority that the certificates of clients must be of; none, and clients need none.
    pub client_ca: Option<PathBuf>,
}

/// A setting with the place it stands in.
pub(super) type Said<T> = Option<(String, T)>;

/// What a path is where it was said: one from the file lies relative to the data folder.
fn resolved(data: &Path, said: &str, path: PathBuf) -> PathBuf {
    match said.contains(FILE) {
        true => data.join(path),
        false => std::path::absolute(&path).unwrap_or(path),
    }
}

/// The socket, absolute.
pub(super) fn socket_path(data: &Path, socket: Said<PathBuf>, faults: &mut Faults) -> PathBuf {
    let (said, path) = socket.unwrap_or_else(|| ("--data".to_owned(), data.join(place::SOCKET)));
    let path = resolved(data, &said, path);
    let bytes = path.as_os_str().as_bytes().len();
    if bytes > SOCKET_PATH_BYTES {
        let message = format!(
            "the socket's path has {bytes} bytes and the system takes {SOCKET_PATH_BYTES}: name a \
             shorter one with --socket ({})",
            path.display()
        );
        faults.add(said, message);
    }
    path
}

/// The files of TLS: a certificate and its key, or neither.
pub(super) fn tls(
    data: &Path,
    [cert, key, client_ca]: [Said<PathBuf>; 3],
    faults: &mut Faults,
) -> Option<Tls> {
    let path = |(said, path): (String, PathBuf)| resolved(data, &said, path);
    match (cert, key, client_ca) {
        (Some(cert), Some(key), client_ca) => {
            Some(Tls { cert: path(cert), key: path(key), client_ca: client_ca.map(path) })
        }
        (Some((said, _)), None, _) => {
            faults.add(said, "needs its key: name it with --tls-key");
            None
        }
        (None, Some((said, _)), _) | (None, None, Some((said, _))) => {
            faults.add(said, "is for a certificate: name it with --tls-cert");
            None
        }
        (None, None, None) => None,
    }
}

/// Tells of what does nothing, which whoever set it takes for something: a certificate (where one is
/// said) and names of the daemon, where nobody listens; names, beside a certificate, which has its own.
pub(super) fn told_if_idle(
    (tls, has_names): (Option<String>, bool),
    listen: Listen,
    has_tls: bool,
    faults: &mut Faults,
) {
    let why = "does nothing where nothing listens over TCP: name an address with --listen";
    if let Some(said) = tls.filter(|_| listen == Listen::Off) {
        faults.add(said, why);
    }
    if has_names && listen == Listen::Off {
        faults.add("listen_names", why);
    } else if has_names && has_tls {
        faults.add("listen_names", "does nothing with TLS: the certificate says the names");
    }
}

/// Names of the daemon: `NAME` or `NAME:PORT` each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names(pub Vec<String>);

impl Names {
    pub(super) fn read(text: &str) -> Result<Self, String> {
        names(text).map(Self)
    }
}

/// Where to listen: nowhere but on loopback without TLS, since whoever could read along would have
/// every token.
pub(super) fn address(listen: Said<Listen>, has_tls: bool, faults: &mut Faults) -> Listen {
    let Some((said, listen)) = listen else { return Listen::default() };
    if let Listen::On(address) = listen
        && !address.ip().is_loopback()
        && !has_tls
    {
        let message = format!(
            "{address} is beyond loopback, where tokens would travel for all to read: name \
             --tls-cert and --tls-key, or listen on 127.0.0.1"
        );
        faults.add(said, message);
    }
    listen
}

/// `ADDRESS:PORT` or `off`.
pub(super) fn listen(text: &str) -> Result<Listen, String> {
    if text == "off" {
        return Ok(Listen::Off);
    }
    let address = text.parse();
    address.map(Listen::On).map_err(|_| "must be 127.0.0.1:PORT, ADDRESS:PORT or off".to_owned())
}

/// Names with commas between, each with a port or without: a host's name is letters, digits, hyphens
/// and dots.
pub(super) fn names(text: &str) -> Result<Vec<String>, String> {
    let is_name = |name: &str| {
        let (host, port) = name.split_once(':').unwrap_or((name, "1"));
        let plain = |c: char| c.is_ascii_alphanumeric() || "-.".contains(c);
        !host.is_empty() && host.chars().all(plain) && port.parse::<u16>().is_ok()
    };
    let names: Vec<_> = text.split(',').map(|name| name.trim().to_owned()).collect();
    match names.iter().all(|name| is_name(name)) {
        true => Ok(names),
        false => Err("must be NAME or NAME:PORT, several with commas between".to_owned()),
    }
}

/// A path, of any bytes but none at all.
pub(super) fn path(text: &str) -> Result<PathBuf, String> {
    if text.is_empty() { Err("must be a path".into()) } else { Ok(PathBuf::from(text)) }
}
