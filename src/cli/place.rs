//! Where things are: the data folder, the daemon's address, the tokens in the folder.

use super::{Exit, Failure};
use crate::client::Address;
use crate::session::{Kind, Secret};
use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The owner's token, in the data folder.
pub const OWNER_TOKEN: &str = "owner.token";
/// The host's token, in the data folder.
pub const HOST_TOKEN: &str = "host.token";
/// The socket, in the data folder where nothing else is said.
pub const SOCKET: &str = "askway.sock";

/// A session's token, for the command that runs as it.
pub const TOKEN_VAR: &str = "ASKWAY_TOKEN";
/// Where the daemon is, for clients.
pub const ADDRESS_VAR: &str = "ASKWAY_ADDR";
/// The data folder, for everybody.
pub const DATA_VAR: &str = "ASKWAY_DATA";

/// The data folder: `ASKWAY_DATA`, else `askway` in the user's folder for such data.
///
/// # Errors
///
/// When none of the variables that could name it is set.
pub fn data() -> Result<PathBuf, Failure> {
    let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    set(DATA_VAR)
        .or_else(|| set("XDG_DATA_HOME").map(|folder| folder.join("askway")))
        .or_else(|| set("HOME").map(|home| home.join(".local/share/askway")))
        .ok_or_else(|| {
            Failure::usage("neither ASKWAY_DATA nor HOME says where the data folder is")
                .then("export ASKWAY_DATA=/path/to/a/folder")
        })
}

/// The daemon's address: `ASKWAY_ADDR`, else the socket in the data folder.
///
/// # Errors
///
/// When the variable is not an address.
pub fn address(data: &Path) -> Result<Address, Failure> {
    match env::var(ADDRESS_VAR) {
        Ok(text) if !text.is_empty() => Address::parse(&text).map_err(|must| {
            Failure::usage(format!("ASKWAY_ADDR: {must}")).then("export ASKWAY_ADDR=unix:PATH")
        }),
        _ => Ok(Address::Unix(data.join(SOCKET))),
    }
}

/// The session's token of the environment; none where it is not set. An unreadable one is an error,
/// never none.
///
/// # Errors
///
/// When it is set and is not a token.
pub fn session_token() -> Result<Option<Secret>, Failure> {
    match env::var(TOKEN_VAR) {
        Err(env::VarError::NotPresent) => Ok(None),
        Ok(text) => match Secret::read(&text) {
            Some(secret) if secret.kind() == Kind::Session => Ok(Some(secret)),
            _ => Err(bad_token("ASKWAY_TOKEN is not a session's token")),
        },
        Err(env::VarError::NotUnicode(_)) => Err(bad_token("ASKWAY_TOKEN is not text")),
    }
}

/// A token that the daemon keeps in the data folder.
///
/// # Errors
///
/// When there is none, or it cannot be read.
pub fn token_in(data: &Path, name: &str) -> Result<Secret, Failure> {
    let path = data.join(name);
    let text = fs::read_to_string(&path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Failure::new(
            Exit::Unavailable,
            "NO_DAEMON",
            format!("no daemon has been started on {}", data.display()),
        )
        .then("askway serve"),
        _ => bad_token(format!("{} cannot be read: {error}", path.display())),
    })?;
    Secret::read(text.trim_end())
        .ok_or_else(|| bad_token(format!("{} does not hold a token", path.display())))
}

fn bad_token(message: impl Into<String>) -> Failure {
    Failure::new(Exit::Refused, "BAD_CREDENTIAL", message)
}
