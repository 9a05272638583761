//! Signals around a command: what is sent to the run is for the command, and how it ended becomes a
//! code.

use crate::cli::Exit;
use rustix::process::{Pid, Signal, getpgrp, kill_process, kill_process_group};
use rustix::termios::tcgetpgrp;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use tokio::process::Child;
use tokio::signal::unix::{Signal as SignalStream, SignalKind, signal};

/// What may be sent to us.
pub(super) struct Signals {
    terminate: SignalStream,
    hang_up: SignalStream,
    interrupt: SignalStream,
    quit: SignalStream,
}

impl Signals {
    /// From now on they do not end us.
    pub(super) fn heard() -> std::io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
            interrupt: signal(SignalKind::interrupt())?,
            quit: signal(SignalKind::quit())?,
        })
    }
}

/// Waits for the command. What is sent to us is for it; what a terminal sends reaches it by itself,
/// and we stay until it is done.
pub(super) async fn wait(child: &mut Child, mut signals: Signals) -> std::io::Result<ExitStatus> {
    loop {
        let forward = tokio::select! {
            status = child.wait() => return status,
            _ = signals.terminate.recv() => Signal::TERM,
            _ = signals.hang_up.recv() => Signal::HUP,
            _ = signals.interrupt.recv() => Signal::INT,
            _ = signals.quit.recv() => Signal::QUIT,
        };
        if matches!(forward, Signal::INT | Signal::QUIT) && is_in_the_foreground() {
            continue;
        }
        let pid = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
        if let Some(pid) = pid {
            // Gone in this very moment, it needs no signal.
            let _ = match cfg!(target_os = "linux") {
                true => kill_process(pid, forward),
                false => kill_process_group(pid, forward),
            };
        }
    }
}

/// Whether what a terminal's keys send reaches us and the command alike.
fn is_in_the_foreground() -> bool {
    let terminal = std::fs::File::open("/dev/tty");
    terminal.is_ok_and(|terminal| tcgetpgrp(&terminal).is_ok_and(|group| group == getpgrp()))
}

/// A command's own code; for one that a signal ended, 128 and the signal, as shells say it.
pub(super) fn code_of(status: ExitStatus) -> u8 {
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(Exit::Unexpected as u8)
}
