//! The program as a process: what it prints, which codes it ends with, what signals do to it. Each test
//! has a data folder and a daemon of its own; nothing waits by sleeping.

mod command_line;
mod daemon;
mod deliveries;
mod demo;
mod kills;
mod rules;
mod run;
mod serve;

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Output, Stdio};

/// The program, in an environment that says nothing but where the data folder is.
fn askway(data: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_askway"));
    for name in ["SOCKET", "LISTEN", "ROUTE_TIMEOUT", "LOG", "ADDR", "TOKEN"] {
        command.env_remove(format!("ASKWAY_{name}"));
    }
    command.env("ASKWAY_DATA", data).stdin(Stdio::null());
    command
}

/// A daemon on a folder of its own; killed when dropped.
struct Daemon {
    folder: tempfile::TempDir,
    process: Child,
    ready: String,
}

impl Daemon {
    fn start(arguments: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let (process, ready) = serve(folder.path(), arguments);
        Self { folder, process, ready }
    }

    fn data(&self) -> &Path {
        self.folder.path()
    }

    /// The program as a person at this daemon types it, run to its end.
    fn askway(&self, arguments: &[&str]) -> Output {
        askway(self.data()).args(arguments).output().expect("it runs")
    }

    /// SIGKILL, and another in its place.
    fn crash(&mut self, arguments: &[&str]) {
        self.process.kill().expect("it runs");
        self.process.wait().expect("it ends");
        (self.process, self.ready) = serve(self.folder.path(), arguments);
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // Ended already, it needs no killing.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Starts a daemon, and reads the line with which it is ready.
fn serve(data: &Path, arguments: &[&str]) -> (Child, String) {
    let mut command = askway(data);
    let command = command.arg("serve").args(arguments).stdout(Stdio::piped());
    let mut process = command.stderr(Stdio::null()).spawn().expect("it starts");
    let ready = first_line(process.stdout.as_mut().expect("it is piped"));
    assert!(!ready.is_empty(), "the daemon ended before it was ready");
    (process, ready)
}

fn first_line(out: &mut ChildStdout) -> String {
    let mut line = String::new();
    BufReader::new(out).read_line(&mut line).expect("it can be read");
    line.trim_end().to_owned()
}

fn signal(process: &Child, signal: rustix::process::Signal) {
    let pid = rustix::process::Pid::from_child(process);
    rustix::process::kill_process(pid, signal).expect("it runs");
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("it is text")
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap_or_else(|| panic!("it ended by a signal: {output:?}"))
}
