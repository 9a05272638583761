//! `askway serve`: the daemon in the foreground, until it is told to stop.

use super::render::Out;
use super::{Exit, Failure};
use crate::config::{self, Config};
use crate::serve::{Daemon, ServeError};
use serde_json::json;
use std::io::{self, IsTerminal};
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;
use tracing_subscriber::EnvFilter;

/// Start the daemon.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Settings may also stand in askway.toml in the data folder: socket, listen, route_timeout, log.
A flag goes before the environment, and that before the file.

Examples:
  askway serve
  askway serve --listen 127.0.0.1:7700 --route-timeout 5m")]
pub struct Args {
    #[command(flatten)]
    config: config::Typed,
}

pub(super) async fn run(args: Args, out: &mut Out) -> Result<Exit, Failure> {
    let config = Config::new(args.config)
        .map_err(|wrong| Failure::usage(wrong.to_string()).then("askway serve --help"))?;
    log_to_stderr(&config.log)?;
    let shutdown = CancellationToken::new();
    let stop = on_signals(shutdown.clone()).map_err(|error| Failure::io("signals", &error))?;
    let daemon = Daemon::prepare(&config).await.map_err(of_serve)?;
    say_ready(&daemon, &config, out)?;
    let served = daemon.serve(shutdown).await.map_err(of_serve);
    stop.abort();
    served.map(|()| Exit::Done)
}

/// One line when it is ready, with the port it got.
fn say_ready(daemon: &Daemon, config: &Config, out: &mut Out) -> Result<(), Failure> {
    let socket = daemon.socket.display().to_string();
    let address = daemon.tcp.map(|address| format!("http://{address}"));
    if out.json {
        return out.object(&json!({
            "socket": format!("unix:{socket}"),
            "address": address,
            "data": config.data.display().to_string(),
            "pid": std::process::id(),
        }));
    }
    let also = address.map(|address| format!(" and on {address}")).unwrap_or_default();
    out.line(&format!("askway serves on unix:{socket}{also}"))
}

/// The first signal stops in good order; a second one at once.
fn on_signals(shutdown: CancellationToken) -> io::Result<tokio::task::JoinHandle<()>> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    Ok(tokio::spawn(async move {
        for first in [true, false] {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
            if first {
                tracing::info!("stopping; once more stops at once");
                shutdown.cancel();
            } else {
                std::process::exit(Exit::Interrupted as i32);
            }
        }
    }))
}

fn log_to_stderr(filter: &str) -> Result<(), Failure> {
    let filter = EnvFilter::try_new(filter)
        .map_err(|error| Failure::usage(format!("log: {error}")).then("askway serve --log info"))?;
    let to = tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr);
    let started = to.with_ansi(io::stderr().is_terminal()).try_init();
    started.map_err(|error| Failure::new(Exit::Unexpected, "LOG", error.to_string()))
}

fn of_serve(error: ServeError) -> Failure {
    let (reason, next) = match &error {
        ServeError::Held { .. } => ("HELD", Some("askway status")),
        ServeError::Folder(_) => ("FOLDER", None),
        ServeError::Store { .. } => ("STORE_UNAVAILABLE", None),
        ServeError::Service(_) | ServeError::Io { .. } => ("IO", None),
    };
    let failure = Failure::new(Exit::Unexpected, reason, error.to_string());
    match next {
        Some(next) => failure.then(next),
        None => failure,
    }
}
