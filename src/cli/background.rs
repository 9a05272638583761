//! `askway run --background`: a process that stays behind, in a session of its own, holds the
//! agent's session and runs its command. Its output goes to a file, never to the caller's pipes.

use super::render::Out;
use super::run::{self, Held, as_run_failure, log_of};
use super::{Exit, Failure};
use serde_json::json;
use std::env;
use std::fs::File;
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
pub(super) async fn leave_behind(args: &run::Args, out: &mut Out) -> Result<ExitCode, Failure> {
    let failed = |error| as_run_failure(Failure::io("the background run does not start", &error));
    let own = env::current_exe().map_err(failed)?;
    let mut child = Command::new(own)
        .args(out.json.then_some("--json"))
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
    let session = session.trim_end();
    match out.json {
        true => out.object(&json!({ "session": session }))?,
        false => out.line(session)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The process that stays behind.
pub(super) async fn run(args: Args, json: bool) -> Result<ExitCode, Failure> {
    // Its own session: a terminal that closes, or a caller that ends its group, does not end it.
    let _ = rustix::process::setsid();
    let held = Held::begin(&args.run, true).await.map_err(as_run_failure)?;
    match hand_over(&held.session.id) {
        Ok(log) => held.run(&args.run, json, Some(log)).await,
        Err(failure) => {
            held.end(true).await;
            Err(as_run_failure(failure))
        }
    }
}

/// Tells the caller which session it is, and lets go of the caller's pipes: from here on everything
/// goes to the log.
fn hand_over(session: &str) -> Result<File, Failure> {
    let (path, log) = log_of(session)?;
    // A caller that is gone needs no answer; the run goes on by itself.
    let _ = writeln!(std::io::stdout(), "{session}");
    let moved = rustix::stdio::dup2_stdout(&log).and_then(|()| rustix::stdio::dup2_stderr(&log));
    moved.map_err(|error| Failure::io(path.display(), &error.into()))?;
    Ok(log)
}
