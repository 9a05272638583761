//! The daemon: what is started in which order, and stopped in the other.
//!
//! ```text
//!   folder ── lock ── store ── service ── tokens ── socket, loopback ── grpc
//!   made      one     redb,    engine     installed   bound, then the addresses are known
//!   0700      daemon
//! ```
//!
//! A stop goes back: no new calls, streams end and connections drain (at most five seconds), what was
//! taken up is on disk, the socket goes, then the lock. Nothing here is global, so that one process
//! can start ten. Signals, logging and what is printed: `cli/serve.rs`.

pub mod archive;
mod folder;
mod hook;
mod kept;
mod tls;

pub use folder::{Holder, Lock};

use crate::ask::{HostName, PersonName, Policy, Terms};
use crate::cli::place;
use crate::config::{Config, KeptIn, Listen};
use crate::grpc::{self, Listeners, Manner, limits};
use crate::service::{LOCAL_HOST, Service, Settings};
use crate::session::{Kind, Principal};
use crate::store::Store;
use std::fmt;
use std::fs;
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpSocket, UnixListener};
use tokio_util::sync::CancellationToken;

/// How long a stop waits for the engine after its clients: with the drain of five seconds before it,
/// the daemon is gone within eight.
const ENGINE_STOPS_WITHIN: Duration = Duration::from_secs(2);

/// A daemon that has started: it is bound, and serves as soon as [`serve`](Self::serve) is awaited.
/// Dropped before that, it is as if it had crashed, which it survives.
pub struct Daemon {
    service: Service,
    manner: Manner,
    listeners: Listeners,
    socket: Socket,
    address: Option<SocketAddr>,
    url: Option<String>,
    lock: Lock,
}

/// Why a daemon does not start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CannotServe {
    /// Why, for programs: `HELD`, `STORE_UNAVAILABLE`, or `CANNOT_SERVE` for all else.
    pub reason: &'static str,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub next: String,
}

/// Serves as `config` says, until `shutdown`.
///
/// # Errors
///
/// When it cannot start, or a listener fails.
pub async fn serve(config: &Config, shutdown: CancellationToken) -> Result<(), CannotServe> {
    Daemon::start(config).await?.serve(shutdown).await
}

impl Daemon {
    /// Starts everything but the serving itself. Clients may connect from now on, and wait.
    ///
    /// # Errors
    ///
    /// When the folder is not fit, another daemon has it, or the store or an address cannot be had.
    pub async fn start(config: &Config) -> Result<Self, CannotServe> {
        folder::private(&config.data)?;
        let mut lock = Lock::take(lock_file(&config.data))?;
        let (pid, start_time) = (std::process::id(), jiff::Timestamp::now().to_string());
        let mut holder = Holder { pid, start_time, addresses: Vec::new() };
        lock.say(&holder)?;

        let manner = manner(config)?;
        let store: Arc<dyn Store> = match &config.store {
            KeptIn::Folder => Arc::new(kept::open(&config.data)?),
            KeptIn::Postgres(url) => Arc::new(kept::open_shared(&config.data, url).await?),
        };
        let terms = Terms {
            person_window: config.person_window,
            decline_stands: config.decline_stands.unwrap_or_default(),
            keep: config.keep,
        };
        let limits = &config.limits;
        let policy = Policy {
            terms,
            open_in_tree: limits.tree,
            waiting_on_session: limits.waiting_on_session,
            open_in_namespace: limits.namespace,
        };
        let settings = Settings {
            routes: config.routes.clone(),
            policy,
            rates: config.limits.rates,
            notifier: hook::of(config),
            ..Settings::default()
        };
        let started = Service::start(store, settings).await;
        let service = started.map_err(|error| store_of(config).failed(&error))?;
        install(&service, config).await?;

        let (socket, unix) = Socket::bind(config).await?;
        let tcp = match config.listen {
            Listen::Off => None,
            Listen::On(wanted) => Some(bind_tcp(wanted)?),
        };
        let (tcp, address) = tcp.unzip();
        let url = address.map(|address| match config.tls {
            Some(_) => format!("https://{address}"),
            None => format!("http://{address}"),
        });
        let listeners = Listeners { unix: Some(unix), tcp };
        let mut daemon = Self { service, manner, listeners, socket, address, url, lock };
        holder.addresses = daemon.addresses();
        daemon.lock.say(&holder)?;
        Ok(daemon)
    }

    /// The socket it serves on.
    pub fn socket(&self) -> &Path {
        &self.socket.path
    }

    /// The same, as a client says it.
    pub fn url(&self) -> Option<&str> {
        self.url.as_deref()
    }

    /// The address over TCP it serves on: with the port it got, where any was asked for.
    pub fn address(&self) -> Option<SocketAddr> {
        self.address
    }

    /// Where clients find it, as `ASKWAY_ADDR` would say it.
    pub fn addresses(&self) -> Vec<String> {
        let unix = format!("unix:{}", self.socket.path.display());
        std::iter::once(unix).chain(self.url.clone()).collect()
    }

    /// Serves until `shutdown`, then stops: returns within seven seconds of it, whatever clients do.
    ///
    /// # Errors
    ///
    /// When a listener fails.
    pub async fn serve(self, shutdown: CancellationToken) -> Result<(), CannotServe> {
        let Self { service, manner, listeners, socket, lock, .. } = self;
        let served = grpc::serve_as(manner, service.clone(), listeners, shutdown).await;
        // Where a listener failed nobody has told it yet.
        service.shutdown();
        if tokio::time::timeout(ENGINE_STOPS_WITHIN, service.stopped()).await.is_err() {
            tracing::warn!(
                "the engine did not stop in time; what it had not stored was not answered"
            );
        }
        socket.remove();
        drop(service);
        drop(lock);
        served.map_err(|error| {
            CannotServe::new(format!("a listener failed: {error}")).next("askway serve")
        })
    }
}

/// The file whose lock is the right to a data folder.
fn lock_file(data: &Path) -> PathBuf {
    data.join("askway.lock")
}

/// How to serve: with no more connections than the process has files for.
fn manner(config: &Config) -> Result<Manner, CannotServe> {
    let files = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    let files = files.map_or(usize::MAX, |files| usize::try_from(files).unwrap_or(usize::MAX));
    let tls = config.tls.as_ref().map(tls::server).transpose()?;
    let limits = config.limits.wire.within(files);
    Ok(Manner { limits, tls, names: config.listen_names.0.clone() })
}

/// Makes the tokens that the folder holds good, at every start: the store may be a new one. Everybody
/// whom a route names has one, or nobody could answer for them; but not who was removed. One that was
/// revoked is made anew: whoever has the old one has nothing.
async fn install(service: &Service, config: &Config) -> Result<(), CannotServe> {
    let local: HostName = LOCAL_HOST.parse().expect("it is a name");
    let mut people = config.routes.people();
    people.insert(PersonName::owner());
    if people.len() > 1 {
        folder::private(&config.data.join(place::PEOPLE))?;
    }
    let host = (place::HOST_TOKEN.into(), Kind::Host, Principal::Host(local));
    let people = people
        .into_iter()
        .map(|person| (place::person_token(&person), Kind::Person, Principal::Person(person)));
    for (place, kind, principal) in people.chain([host]) {
        let path = config.data.join(place);
        let failed = |error: &dyn fmt::Display| store_of(config).failed(error);
        if let Principal::Person(person) = &principal
            && !service.is_welcome(person).await.map_err(|error| failed(&error))?
        {
            tracing::warn!(%person, "a route names somebody who was removed; they are not asked");
            continue;
        }
        let secret = folder::token(&path, kind)?;
        if !service.install(principal.clone(), &secret).await.map_err(|error| failed(&error))? {
            tracing::warn!(file = %path.display(), "a token here was revoked; it is made anew");
            let secret = folder::new_token(&path, kind)?;
            service.install(principal, &secret).await.map_err(|error| failed(&error))?;
        }
    }
    Ok(())
}

/// A bound socket's place in the file system.
struct Socket {
    path: PathBuf,
}

impl Socket {
    /// Binds it, for its owner alone; what a crash left there goes first. Needs the lock.
    async fn bind(config: &Config) -> Result<(Self, UnixListener), CannotServe> {
        let path = config.socket.clone();
        if let Some(folder) = path.parent().filter(|folder| *folder != config.data) {
            folder::private_of_socket(folder)?;
        }
        make_room(&path)?;
        let bound = UnixListener::bind(&path).and_then(|listener| {
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600))?;
            Ok(listener)
        });
        let listener = bound.map_err(|error| {
            CannotServe::new(format!("{} cannot be bound: {error}", path.display()))
                .next("name another socket with --socket")
        })?;
        Ok((Self { path }, listener))
    }

    fn remove(&self) {
        if let Err(error) = fs::remove_file(&self.path) {
            tracing::debug!(%error, "the socket's file was gone before");
        }
    }
}

/// Removes a socket nobody listens on. One in another folder may be another daemon's: it has another
/// lock, so it is asked.
fn make_room(path: &Path) -> Result<(), CannotServe> {
    let elsewhere = "name another socket with --socket";
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Ok(found) if found.file_type().is_socket() => {}
        _ => {
            let message = format!("{} is there, and is no socket", path.display());
            return Err(CannotServe::new(message).next(elsewhere));
        }
    }
    if UnixStream::connect(path).is_ok() {
        let message = format!("another process serves on {}", path.display());
        return Err(CannotServe::new(message).next(elsewhere));
    }
    fs::remove_file(path).map_err(|error: io::Error| {
        let message = format!("{} is left over and cannot be removed: {error}", path.display());
        CannotServe::new(message).next(elsewhere)
    })
}

fn bind_tcp(wanted: SocketAddr) -> Result<(TcpListener, SocketAddr), CannotServe> {
    let bound = || {
        let socket = match wanted {
            SocketAddr::V4(_) => TcpSocket::new_v4()?,
            SocketAddr::V6(_) => TcpSocket::new_v6()?,
        };
        // A daemon that was started again takes its port back at once.
        socket.set_reuseaddr(true)?;
        socket.bind(wanted)?;
        let listener = socket.listen(limits::CONNECTIONS_WAITING)?;
        let got = listener.local_addr()?;
        Ok((listener, got))
    };
    bound().map_err(|error: io::Error| {
        CannotServe::new(format!("{wanted} cannot be bound: {error}"))
            .next("name another port with --listen, or 0 for any")
    })
}

/// Where it is kept.
fn store_of(config: &Config) -> kept::Place {
    match &config.store {
        KeptIn::Folder => kept::Place::File(config.data.join(kept::STORE)),
        KeptIn::Postgres(url) => kept::Place::Database(url.clone()),
    }
}

impl CannotServe {
    fn new(message: impl Into<String>) -> Self {
        Self { reason: "CANNOT_SERVE", message: message.into(), next: String::new() }
    }

    fn because(self, reason: &'static str) -> Self {
        Self { reason, ..self }
    }

    fn next(self, next: impl Into<String>) -> Self {
        Self { next: next.into(), ..self }
    }
}

impl fmt::Display for CannotServe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.message, self.next)
    }
}

impl std::error::Error for CannotServe {}
