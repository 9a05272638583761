//! `askway serve`: runs the daemon in this process until a signal stops it. What is started and in
//! which order: [`serve`](crate::serve). What it is told: [`config`].

use super::render::Out;
use super::{Exit, Failure};
use crate::config::{self, Config};
use crate::serve::{CannotServe, Daemon};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::json;
use std::io;
use std::process;
use std::time::Duration;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;
use tracing::Level;
use tracing_subscriber::prelude::*;
use tracing_subscriber::{EnvFilter, filter};

/// When a stop is forced: the daemon's own limits end one before, and nobody waits longer than
/// eight seconds.
const GONE_WITHIN: Duration = Duration::from_millis(7_500);

/// Run the daemon
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Each option also stands in the environment (ASKWAY_DATA, ASKWAY_SOCKET, ASKWAY_LISTEN,
ASKWAY_LISTEN_NAMES, ASKWAY_TLS_CERT, ASKWAY_TLS_KEY, ASKWAY_TLS_CLIENT_CA, ASKWAY_ROUTE_TIMEOUT,
ASKWAY_PERSON_WINDOW, ASKWAY_DECLINE_STANDS, ASKWAY_KEEP, ASKWAY_STORE, ASKWAY_NO_LISTEN, ASKWAY_LOG)
and, but for the first, in askway.toml in the data folder, as socket, listen, listen_names, tls_cert,
tls_key, tls_client_ca, route_timeout, person_window, decline_stands, keep, store, no_listen and log. A
flag wins over the environment, that over the file. The file also names routes and groups, as
[route.NAME] and [group.NAME], what tells people that an ask waits on them, as [notify], and limits,
as [limits].

Examples:
  askway serve
  askway serve --listen 127.0.0.1:7700 --route-timeout 5m
  askway serve --listen 0.0.0.0:7700 --tls-cert cert.pem --tls-key key.pem")]
#[group(skip)]
pub struct Args {
    #[command(flatten)]
    config: config::Args,
}

/// Serves until SIGTERM or SIGINT; a second one ends the process at once.
///
/// # Errors
///
/// When the configuration is wrong (usage), or the daemon cannot start (unexpected).
pub(super) async fn run(args: Args, out: &mut Out) -> Result<Exit, Failure> {
    let config = Config::load(args.config).map_err(of_faults)?;
    let mut signals = Signals::listen()?;
    log_to_stderr(&config.log);
    take_all_files();
    let daemon = Daemon::start(&config).await?;
    say_ready(&daemon, &config, out);

    let shutdown = CancellationToken::new();
    let stop = shutdown.clone();
    tokio::spawn(async move {
        signals.next().await;
        tracing::info!("stopping; a second signal stops at once");
        stop.cancel();
        let status = tokio::select! {
            number = signals.next() => 128 + number,
            () = tokio::time::sleep(GONE_WITHIN) => Exit::Unexpected as i32,
        };
        process::exit(status);
    });
    daemon.serve(shutdown).await?;
    Ok(Exit::Done)
}

/// Has the process use as many files as the system lets it: each connection is one, and what is given
/// without asking is often a thousand.
fn take_all_files() {
    let limit = getrlimit(Resource::Nofile);
    if let Err(error) = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit }) {
        tracing::debug!(%error, "no more files are to be had");
    }
}

/// One line when it is ready, for whoever started it. That nobody reads it is no reason to stop.
fn say_ready(daemon: &Daemon, config: &Config, out: &mut Out) {
    let said = match out.json {
        true => out.object(&json!({
            "socket": daemon.socket().display().to_string(),
            "address": daemon.url(),
            "data": config.data.display().to_string(),
            "pid": process::id(),
        })),
        false => out.line(&format!("askway serves on {}", daemon.addresses().join(" and "))),
    };
    if let Err(failure) = said {
        tracing::warn!("nobody reads stdout: {}", failure.message);
    }
    out.note(&format!(
        "An agent that runs as this user can read {}, and answer as its people: see SECURITY.md",
        config.data.display()
    ));
}

/// `levels` are good directives: the configuration has looked.
fn log_to_stderr(levels: &str) {
    let levels = EnvFilter::builder().parse_lossy(levels);
    // What HTTP/2 says of itself below this level has headers in it, and so tokens.
    let no_headers = filter::filter_fn(|what| {
        let is_http =
            ["h2", "hyper", "tonic", "tower"].iter().any(|of| what.target().starts_with(of));
        !is_http || *what.level() <= Level::INFO
    });
    let lines = tracing_subscriber::fmt::layer().with_writer(io::stderr).with_filter(no_headers);
    tracing_subscriber::registry().with(levels).with(lines).init();
}

/// The signals that stop a daemon.
struct Signals {
    terminate: Signal,
    interrupt: Signal,
    // Taken and not looked at: a file that may grow no further is a full disk, which the store says and
    // outlives, and no reason to be killed.
    _full: Signal,
}

impl Signals {
    fn listen() -> Result<Self, Failure> {
        let listen = |kind| {
            signal(kind).map_err(|error| {
                Failure::unexpected(format!("signals cannot be listened for: {error}"))
            })
        };
        let terminate = listen(SignalKind::terminate())?;
        let full = SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw());
        Ok(Self { terminate, interrupt: listen(SignalKind::interrupt())?, _full: listen(full)? })
    }

    /// The number of the next one.
    async fn next(&mut self) -> i32 {
        tokio::select! {
            _ = self.terminate.recv() => SignalKind::terminate().as_raw_value(),
            _ = self.interrupt.recv() => SignalKind::interrupt().as_raw_value(),
        }
    }
}

pub(super) fn of_faults(faults: config::Faults) -> Failure {
    let fields = faults.0.iter().map(|fault| (fault.place.clone(), fault.message.clone()));
    let fields = fields.collect();
    let message = "the daemon was told what it cannot do".to_owned();
    Failure { fields, ..Failure::usage(message).then("askway serve --help") }
}

impl From<CannotServe> for Failure {
    fn from(cannot: CannotServe) -> Self {
        Failure::new(Exit::Unexpected, cannot.reason, cannot.message).then(cannot.next)
    }
}
