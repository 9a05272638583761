//! A PostgreSQL of a test binary's own: made in a temporary folder, on a socket there, gone with the
//! process whatever ends it. One server for all tests, a database for each.

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// What to do where there is none: said once, and not passed over.
const MISSING: &str = "no PostgreSQL here: apt-get install postgresql, or name the folder of its \
     initdb in ASKWAY_POSTGRES";

/// The server runs until its input ends, which it does with this process.
const RUN: &str = "\"$1/postgres\" -D \"$2/data\" -k \"$2\" -c listen_addresses= \
     -c log_min_error_statement=panic -c max_connections=200 -c max_locks_per_transaction=256 -c log_min_messages=panic >&2 & \
     server=$!; cat; kill -INT $server; wait $server; rm -rf \"$2\"";

/// The server.
pub struct Cluster {
    folder: PathBuf,
    programs: PathBuf,
    account: Option<(u32, u32)>,
    // Its input is what keeps the server.
    _runs: Child,
}

impl Cluster {
    /// The one of this process.
    pub fn shared() -> &'static Cluster {
        static SHARED: OnceLock<Cluster> = OnceLock::new();
        SHARED.get_or_init(Cluster::start)
    }

    fn start() -> Cluster {
        let programs = programs();
        let account = account();
        let folder = tempfile::Builder::new().prefix("askway-pg-").tempdir().unwrap().keep();
        if let Some((user, group)) = account {
            std::os::unix::fs::chown(&folder, Some(user), Some(group)).unwrap();
        }
        let mut init = command(&programs.join("initdb"), account);
        let data = folder.join("data");
        let init = init.args(["--auth=trust", "--username=askway", "--encoding=UTF8"]);
        let init = init.args(["--locale=C", "--pgdata"]).arg(&data).output().unwrap();
        assert!(init.status.success(), "initdb: {}", String::from_utf8_lossy(&init.stderr));
        let mut run = command(Path::new("/bin/sh"), account);
        let run = run.args(["-c", RUN, "sh"]).arg(&programs).arg(&folder);
        let runs = run.stdin(Stdio::piped()).stdout(Stdio::null());
        // What interrupts the tests is not the server's to see.
        let runs = runs.process_group(0).spawn().unwrap();
        let cluster = Cluster { folder, programs, account, _runs: runs };
        cluster.wait_until_ready();
        cluster
    }

    fn wait_until_ready(&self) {
        let ready = || {
            let mut ask = command(&self.programs.join("pg_isready"), self.account);
            let ask = ask.arg("--quiet").arg("--timeout=30").arg("--host").arg(&self.folder);
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
        format!("postgres://askway@{folder}/{name}")
    }

    /// Does something in a database; what it prints.
    pub fn sql(&self, database: &str, sql: &str) -> String {
        let mut psql = command(&self.programs.join("psql"), self.account);
        let psql = psql.args(["-qAtX", "-v", "ON_ERROR_STOP=1", "-U", "askway", "-h"]);
        let psql = psql.arg(&self.folder).args(["-d", database]);
        let piped = psql.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut running = piped.spawn().unwrap();
        running.stdin.take().unwrap().write_all(sql.as_bytes()).unwrap();
        let done = running.wait_with_output().unwrap();
        assert!(done.status.success(), "{sql}: {}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).unwrap().trim().to_owned()
    }
}

/// The name of the database of a URL that [`Cluster::database`] gave.
pub fn name_of(url: &str) -> &str {
    url.rsplit('/').next().unwrap()
}

/// A program of PostgreSQL's, which does not run as root.
fn command(program: &Path, account: Option<(u32, u32)>) -> Command {
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
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
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
    let users = std::fs::read_to_string("/etc/passwd").unwrap();
    let of = |name: &str| {
        let line = users.lines().find(|line| line.split(':').next() == Some(name))?;
        let mut numbers = line.split(':').skip(2).map(|field| field.parse().ok());
        Some((numbers.next()??, numbers.next()??))
    };
    Some(of("postgres").or_else(|| of("nobody")).expect("an account that is not root's"))
}
