//! Where things are: the data folder, what lies in it, and the daemon's address. It finds names
//! only, and reads no file; who calls is [`Context`](super::Context)'s to find.

use super::Failure;
use crate::client::Address;
use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Moves the data folder.
pub const DATA: &str = "ASKWAY_DATA";
/// Says where the daemon listens.
pub const ADDR: &str = "ASKWAY_ADDR";
/// The caller's own token.
pub const TOKEN: &str = "ASKWAY_TOKEN";

/// The data folder, and where the daemon of it listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// `ASKWAY_DATA`, else `$XDG_DATA_HOME/askway`, else `~/.local/share/askway`.
    pub data: PathBuf,
    /// `ASKWAY_ADDR`, else the socket in the data folder.
    pub address: Address,
}

impl Place {
    /// As the environment says.
    ///
    /// # Errors
    ///
    /// When it names no home to look in, or an address that is none.
    pub fn find() -> Result<Self, Failure> {
        let data = data_folder()?;
        let address = match env::var_os(ADDR).filter(|text| !text.is_empty()) {
            Some(text) => read_address(&text)?,
            None => Address::Unix(socket(&data)),
        };
        Ok(Self { data, address })
    }
}

/// The data folder: `ASKWAY_DATA`, else `$XDG_DATA_HOME/askway`, else `~/.local/share/askway`.
///
/// # Errors
///
/// When none of the three is set.
pub fn data_folder() -> Result<PathBuf, Failure> {
    data_folder_of(|name| env::var_os(name))
}

/// The socket of a data folder's daemon.
pub fn socket(data: &Path) -> PathBuf {
    data.join("askway.sock")
}

/// Holds the token of the person `owner`, and a line feed.
pub fn owner_token(data: &Path) -> PathBuf {
    data.join("owner.token")
}

/// Holds the token of the host, for whoever runs sessions over TCP, and a line feed.
pub fn host_token(data: &Path) -> PathBuf {
    data.join("host.token")
}

pub(crate) fn data_folder_of(
    variable: impl Fn(&str) -> Option<OsString>,
) -> Result<PathBuf, Failure> {
    let set = |name| variable(name).filter(|text| !text.is_empty()).map(PathBuf::from);
    if let Some(data) = set(DATA) {
        return Ok(data);
    }
    // A relative XDG_DATA_HOME is to be ignored, as its specification says.
    if let Some(share) = set("XDG_DATA_HOME").filter(|share| share.is_absolute()) {
        return Ok(share.join("askway"));
    }
    match set("HOME") {
        Some(home) => Ok(home.join(".local/share/askway")),
        None => Err(Failure::usage("there is no data folder to look in: HOME is not set")
            .with_next("export ASKWAY_DATA=FOLDER")),
    }
}

fn read_address(text: &OsString) -> Result<Address, Failure> {
    let wrong = |why: String| {
        Failure::usage(format!("{ADDR} is no address of a daemon: {why}"))
            .with_next(format!("export {ADDR}=unix:PATH, or http://127.0.0.1:PORT"))
    };
    let text = text.to_str().ok_or_else(|| wrong("it is not UTF-8".into()))?;
    Address::parse(text).map_err(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(set: &[(&str, &str)]) -> Option<PathBuf> {
        let value = |name: &str| {
            set.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value))
        };
        data_folder_of(value).ok()
    }

    #[test]
    fn the_data_folder_is_the_first_that_is_set() {
        let all = [("ASKWAY_DATA", "/a"), ("XDG_DATA_HOME", "/x"), ("HOME", "/h")];
        assert_eq!(found(&all), Some("/a".into()));
        assert_eq!(found(&all[1..]), Some("/x/askway".into()));
        assert_eq!(found(&all[2..]), Some("/h/.local/share/askway".into()));
        assert_eq!(found(&[("ASKWAY_DATA", ""), ("HOME", "/h")]), found(&all[2..]));
        assert_eq!(found(&[("XDG_DATA_HOME", "x"), ("HOME", "/h")]), found(&all[2..]));
        assert_eq!(found(&[]), None);
    }

    #[test]
    fn everything_of_a_daemon_lies_in_its_data_folder() {
        let data = Path::new("/a");
        assert_eq!(socket(data), Path::new("/a/askway.sock"));
        assert_eq!(owner_token(data), Path::new("/a/owner.token"));
        assert_eq!(host_token(data), Path::new("/a/host.token"));
    }
}
