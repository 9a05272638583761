//! What the daemon is told: [`Args`], as typed, becomes [`Config`], as meant. Every value is looked at
//! once, here, and every fault is told with the place it stands in.
//!
//! A flag wins over the environment, the environment over `askway.toml` in the data folder, the file
//! over the default:
//!
//! | flag               | environment             | file             | default                              |
//! |--------------------|-------------------------|------------------|--------------------------------------|
//! | `--data`           | `ASKWAY_DATA`           | (it lies there)  | `$XDG_DATA_HOME/askway`, else `~/.local/share/askway` |
//! | `--socket`         | `ASKWAY_SOCKET`         | `socket`         | `askway.sock` in the data folder     |
//! | `--listen`         | `ASKWAY_LISTEN`         | `listen`         | `off`                                |
//! | `--listen-names`   | `ASKWAY_LISTEN_NAMES`   | `listen_names`   | none                                 |
//! | `--tls-cert`       | `ASKWAY_TLS_CERT`       | `tls_cert`       | none                                 |
//! | `--tls-key`        | `ASKWAY_TLS_KEY`        | `tls_key`        | none                                 |
//! | `--tls-client-ca`  | `ASKWAY_TLS_CLIENT_CA`  | `tls_client_ca`  | none                                 |
//! | `--route-timeout`  | `ASKWAY_ROUTE_TIMEOUT`  | `route_timeout`  | `15m`                                |
//! | `--person-window`  | `ASKWAY_PERSON_WINDOW`  | `person_window`  | `60s`                                |
//! | `--decline-stands` | `ASKWAY_DECLINE_STANDS` | `decline_stands` | `24h`                                |
//! | `--keep`           | `ASKWAY_KEEP`           | `keep`           | `30d`                                |
//! | `--store`          | `ASKWAY_STORE`          | `store`          | `folder`                             |
//! | `--no-listen`      | `ASKWAY_NO_LISTEN`      | `no_listen`      | `no`                                 |
//! | `--log`            | `ASKWAY_LOG`            | `log`            | `warn,askway=info`                   |
//!
//! Every one of these keys of the file is a string. Its tables, `[route.NAME]` and `[group.NAME]`, say
//! who is asked: see `routes`; `[notify]` says what tells people: see `notify`; `[limits]` says how much:
//! see `bounds`. This module touches no more than that file; what becomes of a `Config`
//! is in [`serve`](crate::serve).

mod bounds;
mod file;
mod listen;
mod notify;
mod routes;
mod store;

pub use bounds::Limits;
pub use listen::{Listen, Names, Tls};
pub use notify::{Argument, Hook, Placeholder};
pub use store::{KeptIn, Url};

use crate::ask::{Plans, Span, limits};
use crate::cli::{length_of_time, place};
use file::{File, Source};
use std::ffi::OsString;
use std::path::PathBuf;
use std::{env, fmt};
use tracing_subscriber::EnvFilter;

/// The file in the data folder.
pub const FILE: &str = "askway.toml";

/// What is logged where nothing is said.
pub const LOG: &str = "warn,askway=info";

/// Bytes of a socket's path: the system's `sun_path`, less the zero at its end.
pub const SOCKET_PATH_BYTES: usize = if cfg!(target_os = "linux") { 107 } else { 103 };

/// What was typed.
#[derive(Debug, Default, clap::Args)]
#[group(skip)]
pub struct Args {
    /// The folder that holds everything of this daemon [env: ASKWAY_DATA]
    #[arg(long, value_name = "FOLDER")]
    pub data: Option<PathBuf>,
    /// The Unix socket to serve on [env: ASKWAY_SOCKET] [default: askway.sock in the data folder]
    #[arg(long, value_name = "PATH")]
    pub socket: Option<PathBuf>,
    /// The address to serve on as well, or off; beyond loopback with TLS only [env: ASKWAY_LISTEN]
    /// [default: off]
    #[arg(long, value_name = "127.0.0.1:PORT|off", value_parser = listen::listen)]
    pub listen: Option<Listen>,
    /// What clients may call the daemon without TLS, beside loopback: through a tunnel, by another
    /// name [env: ASKWAY_LISTEN_NAMES]
    #[arg(long, value_name = "NAME[:PORT],...", value_parser = Names::read)]
    pub listen_names: Option<Names>,
    /// The certificate for TLS on that address, in PEM [env: ASKWAY_TLS_CERT]
    #[arg(long, value_name = "FILE")]
    pub tls_cert: Option<PathBuf>,
    /// Its key, which nobody else may read [env: ASKWAY_TLS_KEY]
    #[arg(long, value_name = "FILE")]
    pub tls_key: Option<PathBuf>,
    /// The authority that clients must have a certificate of [env: ASKWAY_TLS_CLIENT_CA]
    #[arg(long, value_name = "FILE")]
    pub tls_client_ca: Option<PathBuf>,
    /// How long whoever is asked has before an ask moves on, where its route does not say
    /// [env: ASKWAY_ROUTE_TIMEOUT] [default: 15m]
    #[arg(long, value_name = "LENGTH", value_parser = route_timeout)]
    pub route_timeout: Option<Span>,
    /// How long a person must have been shown an ask before its default may stand
    /// [env: ASKWAY_PERSON_WINDOW] [default: 60s]
    #[arg(long, value_name = "LENGTH", value_parser = person_window)]
    pub person_window: Option<Span>,
    /// How long a person's no binds, or off [env: ASKWAY_DECLINE_STANDS] [default: 24h]
    #[arg(long, value_name = "LENGTH|off", value_parser = decline_stands)]
    pub decline_stands: Option<SpanOrOff>,
    /// How long a settled ask is kept after its outcome was acknowledged [env: ASKWAY_KEEP]
    /// [default: 30d]
    #[arg(long, value_name = "LENGTH", value_parser = keep)]
    pub keep: Option<Span>,
    /// Where it is kept: in a file in the data folder, or in a database that several daemons share
    /// [env: ASKWAY_STORE] [default: folder]
    #[arg(long, value_name = "folder|postgres://...", value_parser = store::read)]
    pub store: Option<KeptIn>,
    /// Look every second for what others did, instead of being told by the database: for a pooler
    /// [env: ASKWAY_NO_LISTEN=yes]
    #[arg(long)]
    pub no_listen: bool,
    /// What to log, on stderr [env: ASKWAY_LOG] [default: warn,askway=info]
    #[arg(long, value_name = "LEVELS", value_parser = log)]
    pub log: Option<String>,
}

/// A length of time; none is `off`.
pub type SpanOrOff = Option<Span>;

/// What is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// The data folder, absolute.
    pub data: PathBuf,
    /// The socket, absolute; short enough to be one.
    pub socket: PathBuf,
    /// Whether to serve over TCP, and where: on loopback, unless there is `tls`.
    pub listen: Listen,
    /// What the daemon may be called over TCP, beside loopback.
    pub listen_names: Names,
    /// TLS over TCP.
    pub tls: Option<Tls>,
    /// How much, how many and how fast.
    pub limits: Limits,
    /// The time of every timed hop of `routes` that names none.
    pub route_timeout: Span,
    /// Every route an ask may take, by its name.
    pub routes: Plans,
    /// How long a person must have been shown an ask before its default may stand.
    pub person_window: Span,
    /// How long a person's no binds; none where it binds nobody.
    pub decline_stands: SpanOrOff,
    /// How long a settled ask is kept after its outcome was acknowledged.
    pub keep: Span,
    /// What is run to tell people that an ask waits on them.
    pub notify: Option<Hook>,
    /// Where it is kept.
    pub store: KeptIn,
    /// What to log: directives of tracing's filter.
    pub log: String,
}

/// What is wrong with what the daemon was told: all of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Faults(pub Vec<Fault>);

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Where it stands: a flag, a variable of the environment, or file, line and key.
    pub place: String,
    /// What it must be.
    pub message: String,
}

impl Config {
    /// What `args`, the process's environment and the data folder's file say together.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with them.
    pub fn load(args: Args) -> Result<Self, Faults> {
        Self::from(args, |name| env::var_os(name))
    }

    /// The defaults for a data folder, without environment and file: a test's.
    pub fn of(data: impl Into<PathBuf>) -> Self {
        let data = data.into();
        Self {
            socket: data.join(place::SOCKET),
            data,
            listen: Listen::Off,
            listen_names: Names::default(),
            tls: None,
            limits: Limits::default(),
            route_timeout: limits::ROUTE_TIMEOUT,
            routes: Plans::built_in(limits::ROUTE_TIMEOUT),
            person_window: limits::PERSON_WINDOW,
            decline_stands: Some(limits::DECLINE_STANDS),
            keep: limits::KEEP,
            notify: None,
            store: KeptIn::Folder,
            log: LOG.to_owned(),
        }
    }

    fn from(args: Args, variable: impl Fn(&str) -> Option<OsString>) -> Result<Self, Faults> {
        let mut faults = Faults::default();
        let found = args.data.or_else(|| place::data_of(&variable).ok());
        let needed = "is needed: neither ASKWAY_DATA nor HOME names a folder";
        let data = found.and_then(file::whole);
        let data = data.ok_or_else(|| faults.clone().and("--data", needed))?;
        let path = data.join(FILE);
        let text = file::text(&path, &mut faults);
        let ends = file::ends(&text);
        let source = Source { path: &path, text: &text, ends: &ends };
        let root = file::parse(source, &mut faults);
        let file = File::read(&root, source, &mut faults);
        let mut told = Told { variable: &variable, file, faults };

        let socket = told.path(args.socket, "socket");
        let listen = args.listen.map(|listen| ("--listen".to_owned(), listen));
        let listen = listen.or_else(|| told.say("ASKWAY_LISTEN", "listen", listen::listen));
        let listen_names =
            told.or(args.listen_names, "ASKWAY_LISTEN_NAMES", "listen_names", Names::read);
        let tls = [
            told.path(args.tls_cert, "tls_cert"),
            told.path(args.tls_key, "tls_key"),
            told.path(args.tls_client_ca, "tls_client_ca"),
        ];
        let route_timeout =
            told.or(args.route_timeout, "ASKWAY_ROUTE_TIMEOUT", "route_timeout", route_timeout);
        let person_window =
            told.or(args.person_window, "ASKWAY_PERSON_WINDOW", "person_window", person_window);
        let decline_stands =
            told.or(args.decline_stands, "ASKWAY_DECLINE_STANDS", "decline_stands", decline_stands);
        let keep = told.or(args.keep, "ASKWAY_KEEP", "keep", keep);
        let store = store::found(args.store, args.no_listen, &mut told);
        let log = told.or(args.log, "ASKWAY_LOG", "log", log);

        let mut faults = told.faults;
        let socket = listen::socket_path(&data, socket, &mut faults);
        let has_tls = tls.iter().any(Option::is_some);
        let said_of_tls = tls.iter().flatten().map(|(said, _)| said.clone()).next();
        let tls = listen::tls(&data, tls, &mut faults);
        let listen = listen::address(listen, has_tls, &mut faults);
        listen::told_if_idle((said_of_tls, listen_names.is_some()), listen, has_tls, &mut faults);
        let bounds = bounds::read(&root, source, &mut faults);
        let route_timeout = route_timeout.unwrap_or(limits::ROUTE_TIMEOUT);
        let routes = routes::read(&root, source, route_timeout, &mut faults);
        let notify = notify::read(&root, source, &mut faults);
        if !faults.0.is_empty() {
            return Err(faults);
        }
        let otherwise = Self::of(data);
        Ok(Self {
            socket,
            listen,
            listen_names: listen_names.unwrap_or_default(),
            tls,
            limits: bounds,
            route_timeout,
            routes,
            notify,
            person_window: person_window.unwrap_or(otherwise.person_window),
            decline_stands: decline_stands.unwrap_or(otherwise.decline_stands),
            keep: keep.unwrap_or(otherwise.keep),
            store,
            log: log.unwrap_or(otherwise.log),
            data: otherwise.data,
        })
    }
}

/// What the environment and the file say, and what is wrong with it.
struct Told<'a, V> {
    variable: &'a V,
    file: File,
    faults: Faults,
}

impl<V: Fn(&str) -> Option<OsString>> Told<'_, V> {
    /// What was typed, else what [`say`](Self::say) finds.
    fn or<T>(
        &mut self,
        typed: Option<T>,
        variable: &str,
        key: &str,
        read: impl Fn(&str) -> Result<T, String>,
    ) -> Option<T> {
        typed.or_else(|| self.say(variable, key, read).map(|(_, value)| value))
    }

    /// A path, typed or found, and where.
    fn path(&mut self, typed: Option<PathBuf>, key: &str) -> Option<(String, PathBuf)> {
        let typed = typed.map(|path| (format!("--{}", key.replace('_', "-")), path));
        let variable = format!("ASKWAY_{}", key.to_uppercase());
        typed.or_else(|| self.say(&variable, key, listen::path))
    }

    /// The same of what no fault may repeat.
    fn secret<T>(
        &mut self,
        variable: &str,
        key: &str,
        read: impl Fn(&str) -> Result<T, String>,
    ) -> Option<T> {
        let shown = self.faults.0.len();
        let found = self.say(variable, key, read).map(|(_, value)| value);
        for fault in &mut self.faults.0[shown..] {
            fault.message.truncate(fault.message.find("; it is `").unwrap_or(fault.message.len()));
        }
        found
    }

    /// The value of `variable`, else of `key` in the file, with its place; none where neither says
    /// anything. The file's is looked at even where the environment wins.
    fn say<T>(
        &mut self,
        variable: &str,
        key: &str,
        read: impl Fn(&str) -> Result<T, String>,
    ) -> Option<(String, T)> {
        let in_file = self.file.take(key).and_then(|(place, text)| self.read(place, &text, &read));
        let Some(text) = (self.variable)(variable).filter(|text| !text.is_empty()) else {
            return in_file;
        };
        match text.to_str() {
            Some(text) => self.read(variable.to_owned(), text, &read),
            None => {
                self.faults.add(variable, "must be UTF-8");
                None
            }
        }
    }

    fn read<T>(
        &mut self,
        place: String,
        text: &str,
        read: impl Fn(&str) -> Result<T, String>,
    ) -> Option<(String, T)> {
        match read(text) {
            Ok(value) => Some((place, value)),
            Err(message) => {
                self.faults.add(place, format!("{message}; it is `{text}`"));
                None
            }
        }
    }
}

fn route_timeout(text: &str) -> Result<Span, String> {
    length(text, limits::ROUTE_TIMEOUT_MIN, limits::ROUTE_TIMEOUT_MAX, "15m, 90s or 2h")
}

fn person_window(text: &str) -> Result<Span, String> {
    length(text, limits::PERSON_WINDOW_MIN, limits::PERSON_WINDOW_MAX, "60s or 5m")
}

fn decline_stands(text: &str) -> Result<SpanOrOff, String> {
    if text == "off" {
        return Ok(None);
    }
    let (min, max) = (limits::DECLINE_STANDS_MIN, limits::DECLINE_STANDS_MAX);
    length(text, min, max, "24h or 7d, or off").map(Some)
}

fn keep(text: &str) -> Result<Span, String> {
    length(text, limits::KEEP_MIN, limits::KEEP_MAX, "30d")
}

fn length(text: &str, min: Span, max: Span, such_as: &str) -> Result<Span, String> {
    let found = length_of_time(text).ok().map(Span::from);
    found
        .filter(|span| (min..=max).contains(span))
        .ok_or_else(|| format!("must be a length of time from {min} to {max}, such as {such_as}"))
}

fn log(text: &str) -> Result<String, String> {
    match EnvFilter::builder().parse(text) {
        Ok(_) if !text.is_empty() => Ok(text.to_owned()),
        _ => Err(format!("must be levels such as info, or {LOG}")),
    }
}

impl Faults {
    fn add(&mut self, place: impl Into<String>, message: impl Into<String>) {
        self.0.push(Fault { place: place.into(), message: message.into() });
    }

    fn and(mut self, place: &str, message: &str) -> Self {
        self.add(place, message);
        self
    }
}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let each = self.0.iter().map(|fault| format!("{}: {}", fault.place, fault.message));
        f.write_str(&each.collect::<Vec<_>>().join("\n"))
    }
}

impl std::error::Error for Faults {}

#[cfg(test)]
mod tests;
