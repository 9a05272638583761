//! The hidden verb between `run` and its command: on Linux it asks the kernel to end this process
//! with `run`, and then becomes the command.

use super::{Exit, Failure};
use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

/// Becomes a command that dies with its parent.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The process that must be the parent.
    parent: i32,
    /// The command.
    #[arg(last = true, required = true)]
    command: Vec<OsString>,
}

/// Returns only when the command could not be started.
pub(super) fn run(args: Args) -> Result<ExitCode, Failure> {
    die_with(args.parent)?;
    let Some((program, arguments)) = args.command.split_first() else {
        return Err(Failure::usage("no command"));
    };
    let error = Command::new(program).args(arguments).exec();
    let program = program.to_string_lossy();
    let (exit, reason) = match error.kind() {
        io::ErrorKind::NotFound => (Exit::NoCommand, "NO_COMMAND"),
        _ => (Exit::NotExecutable, "NOT_EXECUTABLE"),
    };
    Err(Failure::new(exit, reason, format!("{program}: {error}")))
}

#[cfg(target_os = "linux")]
fn die_with(parent: i32) -> Result<(), Failure> {
    use rustix::process::{Signal, getppid, set_parent_process_death_signal};
    let gone = || Failure::new(Exit::RunFailed, "RUN", "askway run was gone before it began");
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(|_| gone())?;
    // A parent that died before the line above would never be noticed.
    let is_there = getppid().is_some_and(|pid| pid.as_raw_nonzero().get() == parent);
    if is_there { Ok(()) } else { Err(gone()) }
}

/// Elsewhere `run` ends the command's process group.
#[cfg(not(target_os = "linux"))]
fn die_with(_parent: i32) -> Result<(), Failure> {
    Ok(())
}
