//! Wiring, and the order of starting and stopping: the folder, the lock, the store, the service, the
//! tokens, the listeners; and back.

use crate::ask::PersonName;
use crate::cli::place;
use crate::config::Config;
use crate::grpc::{self, Listeners};
use crate::service::{LOCAL_HOST, Service, Settings};
use crate::session::{Kind, Principal, Secret};
use crate::store::redb::Redb;
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Read, Seek, Write};
use std::net::SocketAddr;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, UnixListener};
use tokio_util::sync::CancellationToken;

/// Who holds the data folder: locked while a daemon serves it.
const LOCK: &str = "askway.lock";
/// The store.
const STORE: &str = "askway.redb";
/// How long a stop waits for the last commits, after the clients were let go.
const LAST_COMMITS: Duration = Duration::from_secs(2);

/// Why a daemon does not start, or fails.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// Another daemon serves this data.
    #[error("{data} is served already, by {holder}; stop that one, or use another --data")]
    Held {
        /// The data folder.
        data: String,
        /// What the holder says of itself.
        holder: String,
    },
    /// The data folder is not for its owner alone.
    #[error("{0}")]
    Folder(String),
    /// The store cannot be opened.
    #[error("{}: {fault}", path.display())]
    Store {
        /// Its file.
        path: PathBuf,
        /// Why not.
        fault: crate::store::Fault,
    },
    /// The engine does not start.
    #[error("the service does not start: {0}")]
    Service(#[from] crate::error::Error),
    /// Something of the system's failed.
    #[error("{what}: {error}")]
    Io {
        /// What was tried.
        what: String,
        /// Why it failed.
        error: io::Error,
    },
}

fn io(what: impl Into<String>) -> impl FnOnce(io::Error) -> ServeError {
    let what = what.into();
    move |error| ServeError::Io { what, error }
}

/// A daemon that is ready to serve.
pub struct Daemon {
    service: Service,
    listeners: Listeners,
    /// The socket.
    pub socket: PathBuf,
    /// The loopback address, with the port it got.
    pub tcp: Option<SocketAddr>,
    /// Kept until the end: who has it open has the lock.
    _lock: File,
}

impl Daemon {
    /// Makes everything ready: nothing is written before the lock is held.
    ///
    /// # Errors
    ///
    /// Why it cannot be, with what to do.
    pub async fn prepare(config: &Config) -> Result<Self, ServeError> {
        private_folder(&config.data)?;
        let lock = lock(&config.data)?;
        let path = config.data.join(STORE);
        let store = Redb::open(&path).map_err(|fault| ServeError::Store { path, fault })?;
        let settings = Settings { route_timeout: config.route_timeout };
        let service = Service::start(Arc::new(store), settings).await?;
        let owner = Principal::Person(PersonName::owner());
        keep_token(&service, &config.data, place::OWNER_TOKEN, Kind::Person, owner).await?;
        let host = Principal::Host(LOCAL_HOST.parse().expect("it is a name"));
        keep_token(&service, &config.data, place::HOST_TOKEN, Kind::Host, host).await?;

        let tcp = match config.listen {
            Some(address) => Some(
                TcpListener::bind(address).await.map_err(io(format!("listening on {address}")))?,
            ),
            None => None,
        };
        let address = tcp.as_ref().map(TcpListener::local_addr).transpose();
        let address = address.map_err(io("the loopback address"))?;
        let unix = Some(bind(&config.socket)?);
        write_holder(&lock, &config.socket, address).map_err(io("the lock"))?;
        let listeners = Listeners { unix, tcp };
        let socket = config.socket.clone();
        Ok(Self { service, listeners, socket, tcp: address, _lock: lock })
    }

    /// Serves until `shutdown`; then every stream ends, clients are let go in five seconds at most,
    /// and what was taken up is on disk.
    ///
    /// # Errors
    ///
    /// When a listener fails.
    pub async fn serve(self, shutdown: CancellationToken) -> Result<(), ServeError> {
        let served = grpc::serve(self.service.clone(), self.listeners, shutdown).await;
        let _ = fs::remove_file(&self.socket);
        self.service.shutdown();
        if tokio::time::timeout(LAST_COMMITS, self.service.stopped()).await.is_err() {
            tracing::warn!("the last commits are not done; what was not acknowledged may be lost");
        }
        served.map_err(io("serving"))
    }
}

/// Makes the folder, for its owner alone; refuses one that others may write, or that is not ours.
fn private_folder(path: &Path) -> Result<(), ServeError> {
    let shown = path.display();
    DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(io(shown.to_string()))?;
    let metadata = fs::symlink_metadata(path).map_err(io(shown.to_string()))?;
    if !metadata.is_dir() {
        let said = format!("{shown} is a link; name the folder it leads to with --data");
        return Err(ServeError::Folder(said));
    }
    if metadata.uid() != rustix::process::geteuid().as_raw() {
        let said = format!("{shown} belongs to another user; use another --data");
        return Err(ServeError::Folder(said));
    }
    if metadata.mode() & 0o077 != 0 {
        let said = format!("{shown} is open to others; mend it: chmod 700 {shown}");
        return Err(ServeError::Folder(said));
    }
    Ok(())
}

/// Takes the lock, or says who has it.
fn lock(data: &Path) -> Result<File, ServeError> {
    let path = data.join(LOCK);
    let mut options = OpenOptions::new();
    let options = options.read(true).write(true).create(true).truncate(false).mode(0o600);
    let mut file = options.open(&path).map_err(io(path.display().to_string()))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(fs::TryLockError::WouldBlock) => {
            let mut holder = String::new();
            let _ = file.read_to_string(&mut holder);
            let holder = holder.trim().lines().collect::<Vec<_>>().join(", ");
            let holder =
                if holder.is_empty() { "a daemon that is starting".into() } else { holder };
            Err(ServeError::Held { data: data.display().to_string(), holder })
        }
        Err(fs::TryLockError::Error(error)) => Err(io(path.display().to_string())(error)),
    }
}

/// Writes who holds the lock, for whoever finds it taken.
fn write_holder(mut lock: &File, socket: &Path, tcp: Option<SocketAddr>) -> io::Result<()> {
    lock.set_len(0)?;
    lock.rewind()?;
    let started = jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ");
    writeln!(lock, "process {}", std::process::id())?;
    writeln!(lock, "started {started}")?;
    writeln!(lock, "on unix:{}", socket.display())?;
    if let Some(address) = tcp {
        writeln!(lock, "on http://{address}")?;
    }
    lock.flush()
}

/// The token in the folder, made where there is none, as a credential of `principal`.
async fn keep_token(
    service: &Service,
    data: &Path,
    name: &str,
    kind: Kind,
    principal: Principal,
) -> Result<(), ServeError> {
    let path = data.join(name);
    let shown = path.display().to_string();
    let secret = match fs::read_to_string(&path) {
        Ok(text) => {
            Secret::read(text.trim_end()).filter(|secret| secret.kind() == kind).ok_or_else(
                || ServeError::Folder(format!("{shown} does not hold a token; remove it")),
            )?
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let mut random = [0; 32];
            getrandom::fill(&mut random).expect("the system gives random bytes");
            let secret = Secret::new(kind, random);
            let mut options = OpenOptions::new();
            let mut file = options
                .write(true)
                .create_new(true)
                .mode(0o600)
                .open(&path)
                .map_err(io(shown.clone()))?;
            writeln!(file, "{}", secret.expose()).map_err(io(shown.clone()))?;
            file.sync_all().map_err(io(shown.clone()))?;
            secret
        }
        Err(error) => return Err(io(shown)(error)),
    };
    service.install(principal, &secret).await?;
    Ok(())
}

/// Binds the socket, for its owner alone, in a folder for its owner alone. One that a dead daemon
/// left is removed: the lock says that none is alive on this data.
fn bind(path: &Path) -> Result<UnixListener, ServeError> {
    let shown = path.display().to_string();
    if let Some(folder) = path.parent() {
        private_folder(folder)?;
    }
    match fs::symlink_metadata(path) {
        Ok(found) if std::os::unix::fs::FileTypeExt::is_socket(&found.file_type()) => {
            fs::remove_file(path).map_err(io(shown.clone()))?;
        }
        Ok(_) => {
            let said = format!("{shown} is there and is no socket; name another with --socket");
            return Err(ServeError::Folder(said));
        }
        Err(_) => {}
    }
    let listener = UnixListener::bind(path).map_err(io(shown.clone()))?;
    fs::set_permissions(path, Permissions::from_mode(0o600)).map_err(io(shown))?;
    Ok(listener)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_is_open_to_others_is_refused_with_how_to_mend_it() {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("new/data");
        private_folder(&data).unwrap();
        assert_eq!(fs::metadata(&data).unwrap().mode() & 0o777, 0o700);
        fs::set_permissions(&data, Permissions::from_mode(0o750)).unwrap();
        let said = private_folder(&data).unwrap_err().to_string();
        assert!(said.contains("chmod 700"), "{said}");
        fs::set_permissions(&data, Permissions::from_mode(0o700)).unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&data, &link).unwrap();
        assert!(private_folder(&link).unwrap_err().to_string().contains("is a link"));
    }

    #[test]
    fn c172_a_second_daemon_says_who_holds_the_data() {
        let folder = tempfile::tempdir().unwrap();
        let held = lock(folder.path()).unwrap();
        write_holder(&held, Path::new("/s"), None).unwrap();
        let said = lock(folder.path()).unwrap_err().to_string();
        assert!(said.contains(&format!("process {}", std::process::id())), "{said}");
        drop(held);
        lock(folder.path()).unwrap();
    }
}
