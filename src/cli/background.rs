//! `askway run --background`: a process that stays behind, in a session of its own, holds the
//! agent's session and runs its command. Its output goes to a file, never to the caller's pipes.

use super::run::{self, Held, as_run_failure, log_of};
use super::{Exit, Failure};
use std::env;
use std::io::Write;
use std::process::{ExitCode, Stdio};
use tokio::io::AsyncReadExt;
use tokio::process::Command;

/// Runs a command in a session that nobody waits for.
#[derive(Debug, clap::Args)]
#[group(skip)]
pub struct Args {
    #[command(flatten)]
    run: run::Args,
}

/// Starts the process that stays behind, and prints the session's id once it is held.
pub(super) async fn leave_behind(args: &run::Args) -> Result<ExitCode, Failure> {
    let failed = |error| as_run_failure(Failure::io("the background run does not start", &error));
    let own = env::current_exe().map_err(failed)?;
    let mut child = Command::new(own)
        .arg("__background")
        .args(args.retyped())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    let (mut session, mut errors) = (String::new(), String::new());
    let (mut stdout, mut stderr) = (child.stdout.take(), child.stderr.take());
    // Both are closed by the handshake: what is said afterwards goes to the log.
    if let (Some(stdout), Some(stderr)) = (&mut stdout, &mut stderr) {
        let (out, err) =
            tokio::join!(stdout.read_to_string(&mut session), stderr.read_to_string(&mut errors));
        out.and(err).map_err(failed)?;
    }
    let _ = std::io::stderr().write_all(errors.as_bytes());
    if session.is_empty() {
        let status = child.wait().await.map_err(failed)?;
        let code = status.code().and_then(|code| u8::try_from(code).ok());
        return Ok(ExitCode::from(code.unwrap_or(Exit::RunFailed as u8)));
    }
    let _ = std::io::stdout().write_all(session.as_bytes());
    Ok(ExitCode::SUCCESS)
}

/// The process that stays behind.
pub(super) async fn run(args: Args) -> Result<ExitCode, Failure> {
    // Its own session: a terminal that closes, or a caller that ends its group, does not end it.
    let _ = rustix::process::setsid();
    let held = Held::begin(&args.run, true).await.map_err(as_run_failure)?;
    let (_, log) = log_of(&held.session.id).map_err(as_run_failure)?;
    println!("{}", held.session.id);
    let moved = rustix::stdio::dup2_stdout(&log).and_then(|()| rustix::stdio::dup2_stderr(&log));
    moved.map_err(|error| as_run_failure(Failure::io("the log", &error.into())))?;
    held.run(&args.run, Some(log)).await
}
