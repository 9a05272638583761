//! The release server as a process, and what the system says of it.

use askway::client::{Address, Client};
use askway::session::Secret;
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::Duration;
use tempfile::TempDir;

/// The program under test, as cargo built it for this.
const ASKWAY: &str = env!("CARGO_BIN_EXE_askway");
/// Another one in its place: what is compared is then measured by the same hand.
static OTHER: OnceLock<PathBuf> = OnceLock::new();
/// What a user may raise, raised: a million open asks is what is measured, not what people answer.
/// The four open asks of a session stand.
const SETTINGS: &str = "\
listen = \"127.0.0.1:0\"
log = \"error\"

[limits]
tree = 10000
namespace = 1000000
waiting_on_session = 10000
asks_a_minute = 1000000
calls_a_principal = 1000000
streams_a_principal = 1000000
calls = 1000000
";

/// Measures this program from here on.
pub fn measure(program: PathBuf) {
    OTHER.set(program).expect("it is said once");
}

fn program() -> &'static Path {
    OTHER.get().map_or(Path::new(ASKWAY), PathBuf::as_path)
}

/// A daemon on a folder of its own, until it is dropped.
pub struct Daemon {
    folder: TempDir,
    child: Child,
    address: String,
}

impl Daemon {
    /// Starts one, with this at the end of its `askway.toml`.
    pub fn start(more: &str) -> Self {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
        let data = folder.path().join("data");
        fs::create_dir(&data).expect("a data folder");
        fs::write(data.join("askway.toml"), format!("{SETTINGS}{more}")).expect("its settings");
        let (child, address) = spawn(&data);
        Self { folder, child, address }
    }

    /// SIGKILL, and it is gone.
    pub fn kill(&mut self) {
        self.child.kill().expect("it is killed");
        self.child.wait().expect("it is gone");
    }

    /// The same folder again; returns once it says that it is ready.
    pub fn restart(&mut self) {
        (self.child, self.address) = spawn(&self.data());
    }

    pub fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// A connection of its own, as the host.
    pub fn host(&self) -> Client {
        self.client("host.token")
    }

    /// A connection of its own, as the person `owner`.
    pub fn owner(&self) -> Client {
        self.client("owner.token")
    }

    fn client(&self, token: &str) -> Client {
        let text = fs::read_to_string(self.data().join(token)).expect("a token");
        let secret = Secret::read(text.trim_end()).expect("a token");
        let address = Address::parse(&self.address).expect("an address");
        Client::new(address, Some(secret)).with_patience(Duration::from_secs(60))
    }

    /// Bytes of memory it has.
    pub fn memory(&self) -> f64 {
        let status = self.proc("status");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB"));
        kilobytes.and_then(|text| text.trim().parse::<f64>().ok()).expect("it has memory") * 1_024.0
    }

    /// Seconds of processor it has used.
    pub fn processor(&self) -> f64 {
        processor_of(&self.proc("stat"))
    }

    /// The same, and those this program has used.
    pub fn processors(&self) -> (f64, f64) {
        let own = fs::read_to_string("/proc/self/stat").expect("it runs");
        (self.processor(), processor_of(&own))
    }

    /// Bytes it had written to files.
    pub fn written(&self) -> f64 {
        let io = self.proc("io");
        let line = io.lines().find_map(|line| line.strip_prefix("write_bytes: "));
        line.and_then(|text| text.parse().ok()).expect("it says so")
    }

    /// Bytes its data take on the disk.
    pub fn kept(&self) -> f64 {
        use std::os::unix::fs::MetadataExt;
        let store = fs::metadata(self.data().join("askway.redb")).expect("a store");
        store.blocks() as f64 * 512.0
    }

    /// Bytes of the program.
    pub fn program() -> f64 {
        fs::metadata(program()).expect("it is built").len() as f64
    }

    fn proc(&self, file: &str) -> String {
        fs::read_to_string(format!("/proc/{}/{file}", self.pid())).expect("it runs")
    }

    /// How often the disk is synced while `work` is done; none where `strace` is not there.
    pub async fn syncs_during(&self, work: impl Future<Output = ()>) -> Option<f64> {
        let summary = self.folder.path().join("strace");
        let mut strace = Command::new("strace");
        strace.args(["-f", "-c", "-e", "trace=fsync,fdatasync,sync_file_range,msync", "-o"]);
        strace.arg(&summary).arg("-p").arg(self.pid().to_string()).stderr(Stdio::piped());
        let mut child = strace.spawn().ok()?;
        let mut first = String::new();
        let stderr = child.stderr.take().expect("it is piped");
        let mut stderr = BufReader::new(stderr);
        stderr.read_line(&mut first).ok()?;
        work.await;
        kill_process(Pid::from_child(&child), Signal::INT).ok()?;
        child.wait().ok()?;
        // Columns: share, seconds, microseconds a call, calls, (errors,) name.
        let table = fs::read_to_string(&summary).ok()?;
        let calls = |line: &str| line.split_whitespace().nth(3)?.parse::<f64>().ok();
        let rows = table.lines().filter(|line| line.ends_with("sync") || line.ends_with("range"));
        Some(rows.filter_map(calls).sum())
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Seconds of processor, by what the system says of a process.
fn processor_of(stat: &str) -> f64 {
    let after_name = stat.rsplit(')').next().expect("its name stands in brackets");
    let fields: Vec<f64> =
        after_name.split_whitespace().map(|field| field.parse().unwrap_or(0.0)).collect();
    // Fields 14 and 15 of the whole line, in hundredths of a second.
    (fields[11] + fields[12]) / 100.0
}

fn spawn(data: &Path) -> (Child, String) {
    let mut command = Command::new(program());
    command.args(["serve", "--json"]).env("ASKWAY_DATA", data).stdout(Stdio::piped());
    let mut child = command.spawn().expect("it starts");
    let mut line = String::new();
    let stdout = child.stdout.take().expect("it is piped");
    BufReader::new(stdout).read_line(&mut line).expect("it says when it is ready");
    let ready: serde_json::Value = serde_json::from_str(&line).expect("an object");
    let address = ready["address"].as_str().expect("it serves on loopback").to_owned();
    (child, address)
}
