//! A PostgreSQL of a test binary's own: made in a temporary folder, on a socket there, gone with the
//! process whatever ends it. One server for all tests, a database for each.

use std::fs;
use std::io::Write;
use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// What to do where there is none: said once, and not passed over.
const MISSING: &str = "no PostgreSQL here: apt-get install postgresql, or name the folder of its \
     initdb in ASKWAY_POSTGRES";

/// The server runs until its input ends, which it does with this process. Ended in another way, it is gone
/// as well.
const RUN: &str = "exec 3<&0; \"$1/postgres\" -D \"$2/data\" -k \"$2\" -c listen_addresses=127.0.0.1 \
     -c port=$3 -c log_min_error_statement=panic -c max_connections=200 -c log_min_messages=panic \
     -c max_locks_per_transaction=256 $4 3<&- >&2 & \
     server=$!; (cat <&3; kill -INT $server) & exec 3<&-; wait $server; rm -rf \"$2\"";

/// The server.
pub struct Cluster {
    pub folder: PathBuf,
    pub programs: PathBuf,
    pub account: Option<(u32, u32)>,
    pub port: u16,
    /// Its input is what keeps the server.
    pub runs: Child,
}

impl Cluster {
    /// The one of this process.
    pub fn shared() -> &'static Cluster {
        static SHARED: OnceLock<Cluster> = OnceLock::new();
        SHARED.get_or_init(|| Cluster::start("", &[]))
    }

    /// One with these settings, `-c name=value` each, and files beside its own.
    pub fn start(settings: &str, files: &[(&str, &str)]) -> Cluster {
        let programs = programs();
        let account = account();
        let folder = new_folder(account);
        let mut init = command(&programs.join("initdb"), account);
        let data = folder.join("data");
        let init = init.args(["--auth=trust", "--username=askway", "--encoding=UTF8"]);
        let init = init.args(["--locale=C", "--pgdata"]).arg(&data).output().unwrap();
        assert!(init.status.success(), "initdb: {}", String::from_utf8_lossy(&init.stderr));
        for (name, text) in files {
            let path = data.join(name);
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
            give(&path, account);
        }
        Cluster::run(folder, programs, account, settings)
    }

    /// The server on what lies in the folder.
    pub fn run(
        folder: PathBuf,
        programs: PathBuf,
        account: Option<(u32, u32)>,
        settings: &str,
    ) -> Cluster {
        let port = free_port();
        let mut run = command(Path::new("/bin/sh"), account);
        let run = run.args(["-c", RUN, "sh"]).arg(&programs).arg(&folder);
        let run = run.arg(port.to_string()).arg(settings);
        let run = run.stdin(Stdio::piped()).stdout(Stdio::null());
        // What interrupts the tests is not the server's to see.
        let runs = run.process_group(0).spawn().unwrap();
        let cluster = Cluster { folder, programs, account, port, runs };
        cluster.wait_until_ready();
        cluster
    }

    fn wait_until_ready(&self) {
        let ready = || {
            let mut ask = command(&self.programs.join("pg_isready"), self.account);
            let ask = ask.arg("--quiet").arg("--timeout=30").arg("--host").arg(&self.folder);
            let ask = ask.arg("--port").arg(self.port.to_string());
            ask.status().unwrap().success()
        };
        // It answers at once where nothing listens yet, so it is asked until somebody does.
        while !ready() {
            assert!(self.folder.join("data").exists(), "the server has ended");
            std::thread::yield_now();
        }
    }

    /// A new database, whose name begins so; its URL.
    pub fn database(&self, begins: &str) -> String {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let name = format!("{begins}{}", NUMBER.fetch_add(1, Ordering::Relaxed));
        self.sql("postgres", &format!("create database {name}"));
        let folder = self.folder.display().to_string().replace('/', "%2F");
        format!("postgres://askway@{folder}:{}/{name}", self.port)
    }

    /// Where it listens on loopback.
    pub fn address(&self) -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], self.port))
    }

    /// Does something in a database; what it prints.
    pub fn sql(&self, database: &str, sql: &str) -> String {
        let mut psql = command(&self.programs.join("psql"), self.account);
        let psql = psql.args(["-qAtX", "-v", "ON_ERROR_STOP=1", "-U", "askway", "-h"]);
        let psql = psql.arg(&self.folder).args(["-p", &self.port.to_string(), "-d", database]);
        let piped = psql.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut running = piped.spawn().unwrap();
        running.stdin.take().unwrap().write_all(sql.as_bytes()).unwrap();
        let done = running.wait_with_output().unwrap();
        assert!(done.status.success(), "{sql}: {}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).unwrap().trim().to_owned()
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        drop(self.runs.stdin.take());
        let _ = self.runs.wait();
    }
}

/// The name of the database of a URL that [`Cluster::database`] gave.
pub fn name_of(url: &str) -> &str {
    url.rsplit('/').next().unwrap()
}

/// A folder of the server's.
pub fn new_folder(account: Option<(u32, u32)>) -> PathBuf {
    let folder = tempfile::Builder::new().prefix("askway-pg-").tempdir().unwrap().keep();
    give(&folder, account);
    folder
}

fn give(path: &Path, account: Option<(u32, u32)>) {
    if let Some((user, group)) = account {
        std::os::unix::fs::chown(path, Some(user), Some(group)).unwrap();
    }
}

/// A port nobody listens on now. Who takes it before the server does fails its test: the server has ended.
fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// A program of PostgreSQL's, which does not run as root.
pub fn command(program: &Path, account: Option<(u32, u32)>) -> Command {
    let mut command = Command::new(program);
    command.env("LC_ALL", "C").current_dir("/");
    if let Some((user, group)) = account {
        command.uid(user).gid(group);
    }
    command
}

/// Where they are: newest first.
fn programs() -> PathBuf {
    if let Some(named) = std::env::var_os("ASKWAY_POSTGRES") {
        return named.into();
    }
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = versions.map(|version| version.path().join("bin")).collect();
    let path = std::env::var_os("PATH").unwrap_or_default();
    found.sort();
    found.reverse();
    found.extend(std::env::split_paths(&path));
    let there = found.into_iter().find(|folder| folder.join("initdb").is_file());
    there.unwrap_or_else(|| panic!("{MISSING}"))
}

/// Whom the server runs as; nobody else where this is not root.
fn account() -> Option<(u32, u32)> {
    if !rustix::process::geteuid().is_root() {
        return None;
    }
    let users = fs::read_to_string("/etc/passwd").unwrap();
    let of = |name: &str| {
        let line = users.lines().find(|line| line.split(':').next() == Some(name))?;
        let mut numbers = line.split(':').skip(2).map(|field| field.parse().ok());
        Some((numbers.next()??, numbers.next()??))
    };
    Some(of("postgres").or_else(|| of("nobody")).expect("an account that is not root's"))
}
