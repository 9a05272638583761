//! A daemon of its own for each test, on a folder of its own, in an environment of its own.

use askway::cli::place;
use askway::client::{Address, Client};
use askway::grpc::v1;
use askway::session::Secret;
use rustix::process::Signal;
use serde_json::Value;
use std::fs::{self, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Output, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Longer than anything here takes on a busy machine.
pub const PATIENCE: Duration = Duration::from_secs(60);
/// The program under test.
pub const ASKWAY: &str = env!("CARGO_BIN_EXE_askway");

/// A daemon that is ready, or was killed. It dies with this.
pub struct Daemon {
    folder: TempDir,
    /// The program that runs it, with its arguments; empty where nothing does.
    under: Vec<String>,
    /// Whether it sees other files than we do where its data are.
    is_apart: bool,
    flags: Vec<String>,
    child: Child,
    /// What it said when it was ready.
    pub ready: Value,
}

/// What a verb printed and how it ended.
#[derive(Debug)]
pub struct Said {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Said {
    /// Runs to the end.
    pub fn by(command: &mut Command) -> Self {
        Self::of(command.output().expect("it runs"))
    }

    pub fn of(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).expect("stdout is UTF-8"),
            err: String::from_utf8(output.stderr).expect("stderr is UTF-8"),
        }
    }

    /// Each line of stdout, as JSON.
    pub fn lines(&self) -> Vec<Value> {
        let read = |line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{self:?}"));
        self.out.lines().map(read).collect()
    }

    /// The last line of stdout.
    pub fn json(&self) -> Value {
        self.lines().pop().unwrap_or_else(|| panic!("nothing on stdout: {self:?}"))
    }

    /// The id of the ask it is about.
    pub fn id(&self) -> String {
        self.json()["ask"]["id"].as_str().unwrap_or_else(|| panic!("{self:?}")).to_owned()
    }

    /// The reason of the error on stderr.
    pub fn error(&self) -> Value {
        let line = self.err.lines().last().unwrap_or_else(|| panic!("no error: {self:?}"));
        serde_json::from_str::<Value>(line).unwrap_or_else(|_| panic!("{self:?}"))["error"].clone()
    }

    pub fn ends(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{self:?}");
        self
    }
}

impl Daemon {
    pub fn start(flags: &[&str]) -> Self {
        Self::start_with("", flags)
    }

    /// The same, with this in `askway.toml`.
    pub fn start_with(file: &str, flags: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        if !file.is_empty() {
            fs::create_dir(data_of(&folder)).expect("a data folder");
            fs::write(data_of(&folder).join("askway.toml"), file).expect("a file");
        }
        Self::on(folder, flags)
    }

    /// On a folder that holds something already.
    pub fn on(folder: TempDir, flags: &[&str]) -> Self {
        Self::under(folder, Vec::new(), flags)
    }

    /// Run by another program, which becomes it.
    pub fn under(folder: TempDir, under: Vec<String>, flags: &[&str]) -> Self {
        let flags: Vec<_> = flags.iter().map(|&flag| flag.to_owned()).collect();
        let (child, ready) = spawn(&folder, &under, &flags);
        Self { folder, under, is_apart: false, flags, child, ready }
    }

    /// The same, by one that gives it file systems of its own.
    pub fn apart(folder: TempDir, under: Vec<String>, flags: &[&str]) -> Self {
        let mut this = Self::under(folder, under, flags);
        this.is_apart = true;
        this
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Its data folder, by the path at which we see it.
    pub fn data(&self) -> PathBuf {
        let data = data_of(&self.folder);
        match data.strip_prefix("/") {
            Ok(within) if self.is_apart => {
                Path::new(&format!("/proc/{}/root", self.pid())).join(within)
            }
            _ => data,
        }
    }

    pub fn socket(&self) -> PathBuf {
        self.data().join(place::SOCKET)
    }

    pub fn signal(&self, sent: Signal) {
        signal(&self.child, sent);
    }

    /// How it ends, once it does.
    pub fn wait(&mut self) -> ExitStatus {
        self.child.wait().expect("it ends")
    }

    /// SIGKILL, and it is gone.
    pub fn kill(&mut self) {
        self.child.kill().expect("it is killed");
        self.child.wait().expect("it is gone");
    }

    /// The same flags on the same data.
    pub fn restart(&mut self) {
        (self.child, self.ready) = spawn(&self.folder, &self.under, &self.flags);
    }

    /// A client with this token; on the socket, without one, the host.
    pub fn client(&self, token: Option<&str>) -> Client {
        let address = Address::Unix(self.socket());
        let token = token.map(|token| Secret::read(token).expect("a token"));
        Client::new(address, token).with_patience(PATIENCE)
    }

    pub fn owner(&self) -> Client {
        let token = fs::read_to_string(self.data().join(place::OWNER_TOKEN)).expect("a token");
        self.client(Some(token.trim_end()))
    }

    /// The program with these arguments, with nothing of the environment but where this daemon is.
    pub fn command(&self, arguments: &[&str]) -> Command {
        command(&self.data(), arguments)
    }

    /// Runs a verb for programs, as a session where there is a token, else as the person.
    pub fn verb(&self, token: Option<&str>, arguments: &[&str]) -> Said {
        let mut command = self.command(arguments);
        if let Some(token) = token {
            command.env(place::TOKEN_VAR, token);
        }
        Said::by(command.arg("--json"))
    }

    /// A session asks, yes or no.
    pub fn ask(&self, token: &str, question: &str) -> Said {
        self.verb(Some(token), &["ask", question, "-o", "yes", "-o", "no"])
    }

    /// The tokens of a `lead` and of a `worker` it sent work to; nothing runs in them.
    pub fn pair(&self) -> (String, String) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("a runtime").block_on(async {
            let request = v1::EnrollRequest { agent: "lead".into(), ..Default::default() };
            let lead = self.client(None).enroll(request).await.expect("a root session").token;
            let sender = self.client(Some(&lead));
            let ticket = sender.send_work(v1::SendWorkRequest::default()).await.expect("sent");
            let (agent, ticket) = ("worker".into(), ticket.ticket);
            let request = v1::EnrollRequest { agent, ticket, ..Default::default() };
            let worker = sender.enroll(request).await.expect("a child").token;
            (lead, worker)
        })
    }

    /// Makes sure that the log is at its loudest: what a connection says that is none of ours is told
    /// of there alone.
    pub fn is_loud(&self) {
        let mut garbage = UnixStream::connect(self.socket()).expect("it listens");
        garbage.write_all(&[b'x'; 64]).expect("it is taken");
        let begun = Instant::now();
        while !self.log().contains("DEBUG") {
            assert!(begun.elapsed() < PATIENCE, "nothing is logged that is not for everybody");
            thread::yield_now();
        }
    }

    /// What the daemon wrote on stderr.
    pub fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if thread::panicking() {
            eprintln!("the daemon's log:\n{}", self.log());
        }
    }
}

/// The data folder of a daemon on this folder.
pub fn data_of(folder: &TempDir) -> PathBuf {
    folder.path().join("data")
}

/// The program on this data folder, with nothing else of the environment.
pub fn command(data: &Path, arguments: &[&str]) -> Command {
    command_of(Command::new(ASKWAY), data, arguments)
}

fn command_of(mut command: Command, data: &Path, arguments: &[&str]) -> Command {
    let path = std::env::var_os("PATH").unwrap_or_default();
    command.env_clear().env("PATH", path);
    command.env(place::DATA_VAR, data);
    command.args(arguments).stdin(Stdio::null());
    command
}

pub fn signal(process: &Child, sent: Signal) {
    let pid = rustix::process::Pid::from_child(process);
    rustix::process::kill_process(pid, sent).expect("it runs");
}

pub fn first_line(out: &mut ChildStdout) -> String {
    let mut line = String::new();
    BufReader::new(out).read_line(&mut line).expect("it can be read");
    line.trim_end().to_owned()
}

fn spawn(folder: &TempDir, under: &[String], flags: &[String]) -> (Child, Value) {
    let log = folder.path().join("log");
    let log = OpenOptions::new().create(true).append(true).open(log).expect("a log");
    let program = match under {
        [] => Command::new(ASKWAY),
        [program, arguments @ ..] => {
            let mut command = Command::new(program);
            command.args(arguments).arg(ASKWAY);
            command
        }
    };
    let mut command = command_of(program, &data_of(folder), &["serve", "--json"]);
    command.args(flags).stdout(Stdio::piped()).stderr(log);
    let mut child = command.spawn().expect("it starts");
    let stdout = child.stdout.take().expect("its output is piped");
    let (send, ready) = mpsc::channel();
    thread::spawn(move || {
        let mut line = String::new();
        let read = BufReader::new(stdout).read_line(&mut line);
        let _ = send.send(read.map(|_| line));
    });
    let line = ready.recv_timeout(PATIENCE);
    let line = line.expect("it is ready in time").expect("its output is text");
    let said = fs::read_to_string(folder.path().join("log")).unwrap_or_default();
    let ready = serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line}: {said}"));
    (child, ready)
}
