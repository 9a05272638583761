//! Telling people: the command of `[notify]`, run for each notice. What it is given stands in
//! `values`; when it is run, and again, is the engine's.
//!
//! Nobody here is trusted with more than it needs. The command gets a clean environment, without any
//! of ours, in a group of processes of its own, in the root folder; the ask comes as one line of JSON
//! on its input. Ten seconds later the whole group is ended, children and all. What it prints goes to
//! the daemon's log, the beginning of it, and nowhere else: it may hold what the asker must not read.

mod values;

use crate::ask::{Ask, NoticeWhy, text};
use crate::cli;
use crate::config::{Config, Hook};
use crate::service::Notifier;
use async_trait::async_trait;
use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
use std::ffi::OsString;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};
use tokio::time::{Instant, sleep, timeout};

/// How long the command has: long enough for a message over a slow network, and a hook that hangs
/// holds up the next ones for no longer.
const WITHIN: Duration = Duration::from_secs(10);
/// How long it has after SIGTERM, before SIGKILL.
const GRACE: Duration = Duration::from_secs(1);
/// How often it is looked whether it went.
const LOOK: Duration = Duration::from_millis(20);
/// Bytes of each of its outputs that the log keeps: enough for what went wrong.
const OUTPUT_BYTES: usize = 2_048;
/// What passes of the daemon's environment, beside `LC_*`: what a program needs to run at all, and to
/// find the desktop of its user.
const PASSED: [&str; 7] = [
    "PATH",
    "HOME",
    "LANG",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "XDG_RUNTIME_DIR",
    "DBUS_SESSION_BUS_ADDRESS",
];

/// What carries the notices of a daemon; none where nothing is configured.
pub(super) fn of(config: &Config) -> Option<Arc<dyn Notifier>> {
    let hook = config.notify.clone()?;
    Some(Arc::new(Runner { hook, within: WITHIN, grace: GRACE }))
}

/// Runs the command.
#[derive(Debug)]
struct Runner {
    hook: Hook,
    within: Duration,
    grace: Duration,
}

#[async_trait]
impl Notifier for Runner {
    async fn tell(&self, ask: &Ask, why: NoticeWhy) -> Result<(), String> {
        let mut run = Run::start(&self.hook, ask, why)?;
        let json = format!("{}\n", cli::ask_json(ask));
        let ended = run.end(json, self.within, self.grace).await;
        if let Err(failure) = &ended {
            let shown = |bytes: &[u8]| {
                text::visible_line(String::from_utf8_lossy(bytes).trim_end()).into_owned()
            };
            let (out, err) = (shown(&run.out), shown(&run.err));
            tracing::warn!(ask = %ask.id, %failure, out, err, "the notice hook failed");
        }
        ended
    }
}

/// One run of the command. Dropped before its end, all of its group is killed.
struct Run {
    child: Child,
    group: Option<Pid>,
    out: Vec<u8>,
    err: Vec<u8>,
}

impl Run {
    fn start(hook: &Hook, ask: &Ask, why: NoticeWhy) -> Result<Self, String> {
        let fill = |argument: &crate::config::Argument| {
            argument.fill(|placeholder| values::of(placeholder, ask, why))
        };
        let mut arguments = hook.command.iter().map(fill);
        let mut command = Command::new(arguments.next().unwrap_or_default());
        command.args(arguments).env_clear().envs(passed(std::env::vars_os())).current_dir("/");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.process_group(0).kill_on_drop(true);
        let child = command.spawn().map_err(|error| format!("could not be started: {error}"))?;
        let group = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
        Ok(Self { child, group, out: Vec::new(), err: Vec::new() })
    }

    /// Gives it its input and takes what it prints, until it has ended and nobody holds its output,
    /// or its time is up.
    async fn end(
        &mut self,
        input: String,
        within: Duration,
        grace: Duration,
    ) -> Result<(), String> {
        let (stdin, stdout, stderr) =
            (self.child.stdin.take(), self.child.stdout.take(), self.child.stderr.take());
        let feed = async {
            if let Some(mut stdin) = stdin {
                // It need not read it.
                let _ = stdin.write_all(input.as_bytes()).await;
            }
        };
        let (child, out, err) = (&mut self.child, &mut self.out, &mut self.err);
        let whole =
            async { tokio::join!(child.wait(), feed, keep(stdout, out), keep(stderr, err)) };
        if let Ok((status, ..)) = timeout(within, whole).await {
            self.group = None;
            return judge(status.map_err(|error| format!("could not be waited for: {error}"))?);
        }
        // Whoever is left of its group has had its time, also where the command itself has ended.
        let ended = self.child.try_wait().ok().flatten();
        self.end_group(grace).await;
        match ended {
            Some(status) => judge(status),
            None => Err(format!("did not end within {} s, and was killed", within.as_secs())),
        }
    }

    /// SIGTERM for all of them, and SIGKILL for those that are still there after `grace`.
    async fn end_group(&mut self, grace: Duration) {
        let Some(group) = self.group.take() else { return };
        let until = Instant::now() + grace;
        let mut asked = kill_process_group(group, Signal::TERM);
        while asked.is_ok() && Instant::now() < until {
            sleep(LOOK).await;
            // What has ended and is not waited for would still be counted.
            let _ = self.child.try_wait();
            asked = test_kill_process_group(group);
        }
        let _ = kill_process_group(group, Signal::KILL);
        let _ = self.child.wait().await;
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        if let Some(group) = self.group {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

fn judge(status: ExitStatus) -> Result<(), String> {
    match status.success() {
        true => Ok(()),
        false => Err(format!("ended with {status}")),
    }
}

/// Keeps the beginning of what comes; takes all of it, so that nobody has to wait to write.
async fn keep(from: Option<impl AsyncRead + Unpin>, into: &mut Vec<u8>) {
    let Some(mut from) = from else { return };
    let mut part = [0; 1_024];
    while let Ok(count @ 1..) = from.read(&mut part).await {
        let room = OUTPUT_BYTES.saturating_sub(into.len());
        into.extend_from_slice(&part[..count.min(room)]);
    }
}

/// What of an environment passes.
fn passed(
    all: impl Iterator<Item = (OsString, OsString)>,
) -> impl Iterator<Item = (OsString, OsString)> {
    all.filter(|(name, _)| {
        let name = name.to_str().unwrap_or_default();
        PASSED.contains(&name) || name.starts_with("LC_")
    })
}

#[cfg(test)]
mod tests;
