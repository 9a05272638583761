//! Who calls, and which daemon: found once, before a verb runs.

use super::place::{self, Place};
use super::{Exit, Failure};
use crate::client::{Address, Client};
use crate::grpc::v1;
use crate::session::{Kind, Secret};
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{env, fs, io};

/// How long a verb goes on trying while the daemon is away: a restart takes a second or two, and
/// nobody should look at an empty line for longer.
const PATIENCE: Duration = Duration::from_secs(5);
/// The same for reads inside of a wait, which ends at its own time: a daemon away for a week is not
/// coming back.
const WAITING_PATIENCE: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// What every verb needs to know.
pub struct Context {
    /// The daemon, with the caller's credential.
    pub client: Client,
    /// Whether the caller is a session (its token is in `ASKWAY_TOKEN`).
    pub is_session: bool,
    /// The data folder.
    pub data: PathBuf,
    /// Whether programs read what is printed.
    pub json: bool,
    /// Where the daemon listens.
    address: Address,
    /// Whether `ASKWAY_TOKEN` says who calls.
    told: bool,
}

impl Context {
    /// As the environment says: the principal of `ASKWAY_TOKEN`, else the person whose token the
    /// data folder holds.
    ///
    /// # Errors
    ///
    /// When the environment is not understood, or there is no credential to be found. A token that
    /// cannot be read is an error; nobody else speaks in its place.
    pub fn make(json: bool) -> Result<Self, Failure> {
        let Place { data, address } = Place::find()?;
        let told = told_token()?;
        let is_session = told.as_ref().is_some_and(|token| token.kind() == Kind::Session);
        let token = match told.clone() {
            Some(token) => token,
            None => read_token(&place::owner_token(&data))?
                .ok_or_else(|| no_owner_token(&data, &address))?,
        };
        let client = Client::new(address.clone(), Some(token)).with_patience(PATIENCE);
        Ok(Self { client, is_session, data, json, address, told: told.is_some() })
    }

    /// The ask of this id, or of this prefix of one, as it is now.
    ///
    /// # Errors
    ///
    /// When there is none, there are several, or the daemon cannot say.
    pub async fn read(&self, id: &str) -> Result<v1::Ask, Failure> {
        read(&self.client, id).await
    }

    /// The client for reads inside of a wait: it outlasts a daemon that is away.
    pub(super) fn patient(&self) -> Client {
        self.client.clone().with_patience(WAITING_PATIENCE)
    }

    /// A client for what only a host may do: the caller where `ASKWAY_TOKEN` says who that is; else
    /// the daemon's own user on the socket, or the host whose token the data folder holds.
    pub(super) fn as_host(&self) -> Result<Client, Failure> {
        if self.told {
            return Ok(self.client.clone());
        }
        let token = match &self.address {
            Address::Unix(_) => None,
            Address::Http(_) => {
                let path = place::host_token(&self.data);
                let missing = || {
                    let message = format!("no token of a host in {}", path.display());
                    Failure::new(Exit::Refused, "NO_CREDENTIAL", message)
                        .with_next("export ASKWAY_TOKEN=TOKEN, a host's or a session's")
                };
                Some(read_token(&path)?.ok_or_else(missing)?)
            }
        };
        Ok(Client::new(self.address.clone(), token).with_patience(PATIENCE))
    }

    /// Whether the caller is the session that filed `ask`, by the daemon's own word.
    pub(super) async fn is_asker(&self, ask: &v1::Ask) -> Result<bool, Failure> {
        if !self.is_session {
            return Ok(false);
        }
        let status = self.client.status().await?;
        let asker = ask.asker.as_ref().map(|asker| format!("({})", asker.session));
        Ok(asker.is_some_and(|asker| status.caller.ends_with(&asker)))
    }
}

/// The same as [`Context::read`], by any client.
pub(super) async fn read(client: &Client, id: &str) -> Result<v1::Ask, Failure> {
    let response = client.get_ask(id).await?;
    response.ask.ok_or_else(|| Failure::unexpected("the daemon sent no ask; see its log"))
}

/// The token of `ASKWAY_TOKEN`; none where it is not set.
///
/// # Errors
///
/// When it is set and is no token.
pub(super) fn told_token() -> Result<Option<Secret>, Failure> {
    let Some(text) = env::var_os(place::TOKEN) else { return Ok(None) };
    match text.to_str().and_then(|text| Secret::read(text.trim())) {
        Some(token) => Ok(Some(token)),
        None => Err(bad_token(place::TOKEN)),
    }
}

/// The token in a file; none where there is no file.
fn read_token(path: &Path) -> Result<Option<Secret>, Failure> {
    match fs::read_to_string(path) {
        Ok(text) => match Secret::read(text.trim_end()) {
            Some(token) => Ok(Some(token)),
            None => Err(bad_token(&path.display().to_string())),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => {
            let message = format!("{} cannot be read: {error}", path.display());
            Err(Failure::new(Exit::Refused, "BAD_CREDENTIAL", message)
                .with_next("export ASKWAY_DATA=FOLDER, one that is yours"))
        }
    }
}

fn bad_token(place: &str) -> Failure {
    let message = format!("what {place} holds is no token");
    Failure::new(Exit::Refused, "BAD_CREDENTIAL", message)
        .with_next("unset ASKWAY_TOKEN, or askway run --as NAME -- COMMAND")
}

fn no_owner_token(data: &Path, address: &Address) -> Failure {
    match address {
        Address::Unix(_) => {
            let message = format!("no daemon has been started on {}", data.display());
            Failure::new(Exit::Unavailable, "UNAVAILABLE", message).with_next("askway serve")
        }
        Address::Http(_) => {
            let message =
                format!("no token: ASKWAY_TOKEN is not set, and {} has no owner's", data.display());
            Failure::new(Exit::Refused, "NO_CREDENTIAL", message)
                .with_next("export ASKWAY_TOKEN=TOKEN, or ASKWAY_DATA=FOLDER, the daemon's")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_file_is_a_token_and_a_line_feed_or_an_error() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = place::owner_token(folder.path());
        assert!(read_token(&path).expect("no file is no error").is_none());
        let token = Secret::new(Kind::Person, [7; 32]);
        fs::write(&path, format!("{}\n", token.expose())).expect("written");
        let read = read_token(&path).expect("a token").expect("a token");
        assert_eq!(read.expose(), token.expose());
        for bad in ["", "askp_7", "something else\n"] {
            fs::write(&path, bad).expect("written");
            let failure = read_token(&path).expect_err("no token");
            assert_eq!((failure.exit, failure.reason.as_str()), (Exit::Refused, "BAD_CREDENTIAL"));
        }
    }

    #[test]
    fn a_daemon_that_was_never_started_is_unavailable() {
        let unix = no_owner_token(Path::new("/a"), &Address::Unix("/a/askway.sock".into()));
        assert_eq!(unix.exit, Exit::Unavailable);
        assert_eq!(unix.next.as_deref(), Some("askway serve"));
        let tcp = no_owner_token(Path::new("/a"), &Address::Http("http://127.0.0.1:1".into()));
        assert_eq!(tcp.exit, Exit::Refused);
    }
}
