//! What the daemon was told, and what it means: flags before the environment, before `askway.toml`
//! in the data folder, before defaults; validated once.

use crate::ask::{Span, limits};
use crate::cli::place;
use serde::Deserialize;
use std::fmt;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The file of settings, in the data folder.
pub const FILE: &str = "askway.toml";

/// The longest path a Unix socket may have, on every system that has them.
const SOCKET_PATH_BYTES: usize = 103;

/// What was typed, or set in the environment.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Typed {
    /// The data folder [default: askway in the user's data folder].
    #[arg(long, env = "ASKWAY_DATA", value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// The Unix socket [default: askway.sock in the data folder].
    #[arg(long, env = "ASKWAY_SOCKET", value_name = "PATH")]
    pub socket: Option<PathBuf>,
    /// Also listen on loopback, for callers with a token: 127.0.0.1:PORT, or off [default: off].
    #[arg(long, env = "ASKWAY_LISTEN", value_name = "ADDRESS")]
    pub listen: Option<String>,
    /// How long the sender of work is asked before a person is [default: 15m].
    #[arg(long, env = "ASKWAY_ROUTE_TIMEOUT", value_name = "LENGTH")]
    pub route_timeout: Option<String>,
    /// What to say on stderr, as a filter of `tracing` [default: warn,askway=info].
    #[arg(long, env = "ASKWAY_LOG", value_name = "FILTER")]
    pub log: Option<String>,
}

/// What is in the file. Every key is also a flag.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    socket: Option<PathBuf>,
    listen: Option<String>,
    route_timeout: Option<String>,
    log: Option<String>,
}

/// What it means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// The data folder.
    pub data: PathBuf,
    /// The Unix socket.
    pub socket: PathBuf,
    /// Loopback, where it is wanted.
    pub listen: Option<SocketAddr>,
    /// How long a session is asked.
    pub route_timeout: Span,
    /// What to say on stderr.
    pub log: String,
}

/// What is wrong with the configuration, with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong(pub String);

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Wrong {}

impl Config {
    /// The configuration that `args` and the file in the data folder make.
    ///
    /// # Errors
    ///
    /// What is wrong, where.
    pub fn new(args: Typed) -> Result<Self, Wrong> {
        let data = match args.data.clone().filter(|data| !data.as_os_str().is_empty()) {
            Some(data) => data,
            None => place::data().map_err(|failure| Wrong(failure.message))?,
        };
        let data = std::path::absolute(&data)
            .map_err(|error| Wrong(format!("{}: {error}", data.display())))?;
        let file = read(&data.join(FILE))?;
        Self::of(args, file, data)
    }

    fn of(args: Typed, file: File, data: PathBuf) -> Result<Self, Wrong> {
        let socket = args.socket.or(file.socket).unwrap_or_else(|| data.join(place::SOCKET));
        // A relative path in the file, or typed, is relative to the data folder: it does not move
        // with whoever starts the daemon.
        let socket = data.join(socket);
        if socket.as_os_str().len() > SOCKET_PATH_BYTES {
            return Err(Wrong(format!(
                "the socket's path {} is longer than the {SOCKET_PATH_BYTES} bytes a socket's may \
                 be; name a shorter one with --socket",
                socket.display()
            )));
        }
        let listen = args.listen.or(file.listen).unwrap_or_else(|| "off".to_owned());
        let route_timeout = match args.route_timeout.or(file.route_timeout) {
            Some(text) => route_timeout(&text)?,
            None => limits::ROUTE_TIMEOUT,
        };
        let log = args.log.or(file.log).unwrap_or_else(|| "warn,askway=info".to_owned());
        Ok(Self { data, socket, listen: loopback(&listen)?, route_timeout, log })
    }
}

fn read(path: &Path) -> Result<File, Wrong> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(File::default()),
        Err(error) => return Err(Wrong(format!("{}: {error}", path.display()))),
    };
    // The message shows the line, and points at the key.
    toml::from_str(&text).map_err(|error| Wrong(format!("{}: {error}", path.display())))
}

fn loopback(text: &str) -> Result<Option<SocketAddr>, Wrong> {
    if text == "off" {
        return Ok(None);
    }
    let address: SocketAddr = text.parse().map_err(|_| {
        Wrong(format!("listen: `{text}` must be an address as 127.0.0.1:7700, or off"))
    })?;
    if !address.ip().is_loopback() {
        return Err(Wrong(format!(
            "listen: {address} is not loopback; beyond it tokens would travel in the clear"
        )));
    }
    Ok(Some(address))
}

fn route_timeout(text: &str) -> Result<Span, Wrong> {
    let length: Duration = crate::cli::length_of_time(text)
        .map_err(|wrong| Wrong(format!("route_timeout: {wrong}")))?;
    let span = Span::from(length);
    let bounds = limits::ROUTE_TIMEOUT_MIN..=limits::ROUTE_TIMEOUT_MAX;
    if !bounds.contains(&span) {
        let (least, most) = (bounds.start(), bounds.end());
        return Err(Wrong(format!("route_timeout: {text} must be from {least} to {most}")));
    }
    Ok(span)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_file(text: &str, args: Typed) -> Result<Config, Wrong> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(FILE), text).unwrap();
        Config::new(Typed { data: Some(folder.path().to_owned()), ..args })
    }

    #[test]
    fn a_flag_goes_before_the_file_and_the_file_before_the_default() {
        let config = with_file("", Typed::default()).unwrap();
        assert_eq!((config.listen, config.route_timeout), (None, limits::ROUTE_TIMEOUT));
        let file = "listen = \"127.0.0.1:7700\"\nroute_timeout = \"5m\"\nsocket = \"s\"\n";
        let config = with_file(file, Typed::default()).unwrap();
        assert_eq!(config.route_timeout, Span::from_mins(5));
        assert_eq!(config.listen.unwrap().port(), 7700);
        assert_eq!(config.socket, config.data.join("s"));
        let args = Typed { route_timeout: Some("2s".into()), ..Typed::default() };
        assert_eq!(with_file(file, args).unwrap().route_timeout, Span::from_secs(2));
    }

    #[test]
    fn an_unknown_key_is_refused_with_its_place() {
        let said = with_file("listen = \"off\"\nroute_timeuot = \"5m\"\n", Typed::default());
        let said = said.unwrap_err().to_string();
        assert!(said.contains("askway.toml"), "{said}");
        assert!(said.contains("line 2") && said.contains("route_timeuot"), "{said}");
    }

    #[test]
    fn every_bad_value_says_what_it_must_be() {
        let long = "x".repeat(200);
        let cases = [
            ("listen = \"localhost\"".to_owned(), "127.0.0.1:7700"),
            ("listen = \"0.0.0.0:7700\"".to_owned(), "not loopback"),
            ("route_timeout = \"soon\"".to_owned(), "15m"),
            ("route_timeout = \"8d\"".to_owned(), "from 1ms to 7d"),
            ("route_timeout = 5".to_owned(), "string"),
            (format!("socket = \"/{long}\""), "--socket"),
        ];
        for (file, must) in cases {
            let said = with_file(&file, Typed::default()).unwrap_err().to_string();
            assert!(said.contains(must), "{file}: {said}");
        }
    }
}
