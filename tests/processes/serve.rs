//! `askway serve`: what it makes, whom it lets in, and that it goes.

use super::{Daemon, askway, code, signal, text};
use askway::client::{Address, Client};
use askway::config::Config;
use rustix::process::Signal;
use serde_json::Value;
use std::fs;
use std::net::TcpStream;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).expect("it is there").mode() & 0o777
}

#[test]
fn it_says_where_it_serves_with_the_port_it_got() {
    let daemon = Daemon::start(&["--listen", "127.0.0.1:0"]);
    let socket = daemon.data().join("askway.sock");
    let start = format!("askway serves on unix:{} and http://127.0.0.1:", socket.display());
    let port = daemon.ready.strip_prefix(&start).expect(&daemon.ready);
    let port: u16 = port.parse().expect("it is a port");
    TcpStream::connect(("127.0.0.1", port)).expect("it serves there");
}

#[test]
fn it_says_so_to_programs() {
    let daemon = Daemon::start(&["--json"]);
    let said: Value = serde_json::from_str(&daemon.ready).expect(&daemon.ready);
    assert_eq!(said["pid"], daemon.process.id());
    assert_eq!(said["data"], daemon.data().display().to_string());
    assert_eq!(said["socket"], daemon.data().join("askway.sock").display().to_string());
    assert_eq!(said["address"], Value::Null);
}

#[test]
fn what_it_makes_is_for_its_owner_alone() {
    let daemon = Daemon::start(&[]);
    assert_eq!(mode(daemon.data()), 0o700);
    for name in ["askway.sock", "askway.lock", "askway.redb", "owner.token", "host.token"] {
        assert_eq!(mode(&daemon.data().join(name)), 0o600, "{name}");
    }
}

#[test]
fn c172_a_second_one_says_who_has_the_folder_and_writes_nothing() {
    let daemon = Daemon::start(&[]);
    let lock = daemon.data().join("askway.lock");
    let (before, names) = (fs::read(&lock).expect("read"), names(daemon.data()));
    let second = daemon.askway(&["serve"]);
    assert_eq!(code(&second), 1);
    let said = text(&second.stderr);
    assert!(said.contains(&daemon.process.id().to_string()) && said.contains("since"), "{said}");
    assert!(second.stdout.is_empty());
    assert_eq!((fs::read(&lock).expect("read"), self::names(daemon.data())), (before, names));
    assert!(daemon.askway(&["status"]).status.success(), "the first one serves on");
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder");
    let mut names: Vec<_> = entries
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn a_crash_leaves_nothing_in_the_way_and_the_same_tokens() {
    let mut daemon = Daemon::start(&[]);
    let token = fs::read(daemon.data().join("owner.token")).expect("read");
    daemon.crash(&[]);
    assert_eq!(fs::read(daemon.data().join("owner.token")).expect("read"), token);
    assert!(daemon.askway(&["status"]).status.success());
}

#[test]
fn a_signal_stops_it_whatever_its_clients_do() {
    for stop in [Signal::TERM, Signal::INT] {
        let mut daemon = Daemon::start(&["--listen", "127.0.0.1:0"]);
        let port: u16 = daemon.ready.rsplit(':').next().expect("a port").parse().expect("a port");
        let silent = TcpStream::connect(("127.0.0.1", port)).expect("it serves");
        let socket = daemon.data().join("askway.sock");
        let stuck = UnixStream::connect(&socket).expect("it serves");
        let begun = Instant::now();
        signal(&daemon.process, stop);
        let status = daemon.process.wait().expect("it ends");
        assert!(begun.elapsed() < Duration::from_secs(8), "{:?}", begun.elapsed());
        assert_eq!(status.code(), Some(0));
        assert!(!socket.exists(), "the socket went with it");
        drop((silent, stuck));
    }
}

#[test]
fn a_second_signal_stops_it_at_once() {
    let mut daemon = Daemon::start(&[]);
    let _stuck = UnixStream::connect(daemon.data().join("askway.sock")).expect("it serves");
    // Signals of one kind are merged while they wait, of two kinds they are not.
    signal(&daemon.process, Signal::TERM);
    signal(&daemon.process, Signal::INT);
    let status = daemon.process.wait().expect("it ends");
    let code = status.code().expect("it ends by itself");
    assert!([128 + 2, 128 + 15].contains(&code), "{code}");
}

#[test]
fn what_it_cannot_do_is_told_with_its_place() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("askway.toml"), "listen = \"off\"\nlisten_on = \"x\"\n")
        .expect("written");
    let mut command = askway(folder.path());
    let command = command.args(["--json", "serve"]).env("ASKWAY_ROUTE_TIMEOUT", "soon");
    let told = command.output().expect("it runs");
    assert_eq!(code(&told), 2);
    let told: Value = serde_json::from_slice(&told.stderr).expect("one object");
    let fields = told["error"]["fields"].as_array().expect("fields");
    let places: Vec<_> = fields.iter().filter_map(|field| field["field"].as_str()).collect();
    assert!(places.iter().any(|place| place.ends_with("askway.toml:2: listen_on")), "{places:?}");
    assert!(places.contains(&"ASKWAY_ROUTE_TIMEOUT"), "{places:?}");
}

#[test]
fn a_socket_that_another_one_serves_on_is_left_to_it() {
    let daemon = Daemon::start(&[]);
    let folder = tempfile::tempdir().expect("a folder");
    let socket = daemon.data().join("askway.sock");
    let mut command = askway(folder.path());
    let second = command.args(["serve", "--socket"]).arg(&socket).output().expect("it runs");
    assert_eq!(code(&second), 1);
    assert!(text(&second.stderr).contains("another process serves"), "{second:?}");
    assert!(daemon.askway(&["status"]).status.success());
}

#[tokio::test]
async fn ten_serve_in_one_process() {
    let shutdown = CancellationToken::new();
    let mut serving = Vec::new();
    for _ in 0..10 {
        let folder = tempfile::tempdir().expect("a folder");
        let daemon =
            askway::serve::Daemon::start(&Config::of(folder.path())).await.expect("starts");
        let client = Client::new(Address::Unix(daemon.socket().to_owned()), None);
        let served = tokio::spawn(daemon.serve(shutdown.clone()));
        serving.push((folder, client, served));
    }
    for (_, client, _) in &serving {
        client.status().await.expect("it serves");
    }
    shutdown.cancel();
    for (_folder, client, served) in serving {
        drop(client);
        served.await.expect("it ends").expect("it served well");
    }
}
