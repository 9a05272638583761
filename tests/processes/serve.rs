//! `askway serve`: what it makes, whom it lets in, and that it goes.

use super::daemon::{Daemon, Said, command, first_line};
use askway::cli::place;
use askway::client::{Address, Client};
use askway::config::Config;
use rustix::process::Signal;
use serde_json::Value;
use std::fs;
use std::net::TcpStream;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).expect("it is there").mode() & 0o777
}

/// The port that a daemon got.
fn port(daemon: &Daemon) -> u16 {
    let address = daemon.ready["address"].as_str().expect("an address");
    address.strip_prefix("http://127.0.0.1:").expect(address).parse().expect("a port")
}

#[test]
fn it_says_where_it_serves_to_people() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut serve = command(folder.path(), &["serve", "--listen", "127.0.0.1:0"]);
    let mut serving = serve.stdout(Stdio::piped()).spawn().expect("it starts");
    let ready = first_line(serving.stdout.as_mut().expect("piped"));
    serving.kill().expect("it runs");
    serving.wait().expect("it ends");
    let socket = folder.path().join(place::SOCKET);
    let start = format!("askway serves on unix:{} and http://127.0.0.1:", socket.display());
    let port = ready.strip_prefix(&start).expect(&ready);
    assert!(port.parse::<u16>().is_ok_and(|port| port > 0), "{ready}");
}

#[test]
fn it_says_where_it_serves_to_programs_with_the_port_it_got() {
    let daemon = Daemon::start(&["--listen", "127.0.0.1:0"]);
    assert_eq!(daemon.ready["pid"], daemon.pid());
    assert_eq!(daemon.ready["data"], daemon.data().display().to_string());
    assert_eq!(daemon.ready["socket"], daemon.socket().display().to_string());
    let address = format!("http://127.0.0.1:{}", port(&daemon));
    let mut over_tcp = daemon.command(&["status", "--json"]);
    let said = Said::by(over_tcp.env(place::ADDRESS_VAR, &address)).ends(0);
    assert_eq!(said.json()["address"], address, "it serves whoever has a token");
    assert_eq!(Daemon::start(&[]).ready["address"], Value::Null);
}

#[test]
fn what_it_makes_is_for_its_owner_alone() {
    let daemon = Daemon::start(&[]);
    assert_eq!(mode(&daemon.data()), 0o700);
    for name in
        ["askway.sock", "askway.lock", "askway.redb", "store.id", "owner.token", "host.token"]
    {
        assert_eq!(mode(&daemon.data().join(name)), 0o600, "{name}");
    }
}

#[test]
fn rule_17_a_store_that_was_lost_or_emptied_is_no_new_one() {
    let mut daemon = Daemon::start(&[]);
    let (_, worker) = daemon.pair();
    daemon.verb(Some(&worker), &["ask", "Which?", "-o", "yes"]).ends(0);
    daemon.kill();
    let (store, note) = (daemon.data().join("askway.redb"), daemon.data().join("store.id"));
    let kept = fs::read(&store).expect("a store");
    let refused = || {
        let said = Said::by(&mut daemon.command(&["serve", "--json"])).ends(1);
        assert_eq!(said.error()["reason"], "STORE_UNAVAILABLE", "{said:?}");
        said.error()["message"].as_str().expect("a sentence").to_owned()
    };
    fs::write(&store, "").expect("it is emptied");
    assert!(refused().contains("is missing or empty"));
    fs::remove_file(&store).expect("it is lost");
    assert!(refused().contains("is missing or empty"));
    assert!(!store.exists(), "nothing was put in its place");
    let other = Daemon::start(&[]);
    fs::copy(other.data().join("askway.redb"), &store).expect("another is put there");
    assert!(refused().contains("is not the store that was here"));

    fs::write(&store, kept).expect("it is put back");
    daemon.restart();
    assert_eq!(daemon.verb(None, &["inbox", "--all"]).ends(0).lines().len(), 1);
    // Whoever means it begins anew.
    daemon.kill();
    fs::remove_file(&store).expect("it is given up");
    fs::remove_file(&note).expect("and so is the note");
    daemon.restart();
    assert!(daemon.verb(None, &["inbox", "--all"]).ends(0).lines().is_empty());
}

#[test]
fn c172_a_second_one_says_who_has_the_folder_and_writes_nothing() {
    let daemon = Daemon::start(&[]);
    let files = || {
        let all = fs::read_dir(daemon.data()).expect("a folder").map(|entry| entry.expect("entry"));
        let mut all: Vec<_> = all.map(|e| (e.file_name(), fs::read(e.path()).ok())).collect();
        all.sort();
        all
    };
    let before = files();
    let second = Said::by(&mut daemon.command(&["serve"])).ends(1);
    let who = format!("process {}", daemon.pid());
    assert!(second.err.contains(&who) && second.err.contains("since"), "{second:?}");
    assert_eq!(second.out, "");
    let error = daemon.verb(None, &["serve"]).ends(1).error();
    assert_eq!(error["reason"], "HELD");
    assert!(error["message"].as_str().expect("words").contains(&who), "{error}");
    assert_eq!(files(), before);
    daemon.verb(None, &["status"]).ends(0);
}

#[test]
fn a_crash_leaves_nothing_in_the_way_and_the_same_tokens() {
    let mut daemon = Daemon::start(&[]);
    let token = fs::read(daemon.data().join("owner.token")).expect("read");
    daemon.kill();
    daemon.restart();
    assert_eq!(fs::read(daemon.data().join("owner.token")).expect("read"), token);
    daemon.verb(None, &["status"]).ends(0);
}

#[test]
fn a_signal_stops_it_whatever_its_clients_do() {
    for stop in [Signal::TERM, Signal::INT] {
        let mut daemon = Daemon::start(&["--listen", "127.0.0.1:0"]);
        let silent = TcpStream::connect(("127.0.0.1", port(&daemon))).expect("it serves");
        let socket = daemon.socket();
        let stuck = UnixStream::connect(&socket).expect("it serves");
        let begun = Instant::now();
        daemon.signal(stop);
        let status = daemon.wait();
        assert!(begun.elapsed() < Duration::from_secs(8), "{:?}", begun.elapsed());
        assert_eq!(status.code(), Some(0));
        assert!(!socket.exists(), "the socket went with it");
        drop((silent, stuck));
    }
}

#[test]
fn a_second_signal_stops_it_at_once() {
    let mut daemon = Daemon::start(&[]);
    let _stuck = UnixStream::connect(daemon.socket()).expect("it serves");
    // Signals of one kind are merged while they wait, of two kinds they are not.
    daemon.signal(Signal::TERM);
    daemon.signal(Signal::INT);
    let status = daemon.wait();
    let code = status.code().expect("it ends by itself");
    assert!([128 + 2, 128 + 15].contains(&code), "{code}");
}

#[test]
fn what_it_cannot_do_is_told_with_its_place() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("askway.toml"), "listen = \"off\"\nlisten_on = \"x\"\n")
        .expect("written");
    let mut serve = command(folder.path(), &["--json", "serve"]);
    let error = Said::by(serve.env("ASKWAY_ROUTE_TIMEOUT", "soon")).ends(2).error();
    let fields = error["fields"].as_array().expect("fields");
    let places: Vec<_> = fields.iter().filter_map(|field| field["field"].as_str()).collect();
    assert!(places.iter().any(|place| place.ends_with("askway.toml:2: listen_on")), "{places:?}");
    assert!(places.contains(&"ASKWAY_ROUTE_TIMEOUT"), "{places:?}");
}

#[test]
fn a_socket_that_another_one_serves_on_is_left_to_it() {
    let daemon = Daemon::start(&[]);
    let folder = tempfile::tempdir().expect("a folder");
    let mut serve = command(folder.path(), &["serve", "--socket"]);
    let second = Said::by(serve.arg(daemon.socket())).ends(1);
    assert!(second.err.contains("another process serves"), "{second:?}");
    daemon.verb(None, &["status"]).ends(0);
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

#[test]
fn whoever_a_route_names_has_a_token_and_answers_with_it() {
    let route = "[route.default]\nhops = [ { to = \"group:backup\" } ]\n\
                 [group.backup]\npeople = [\"ann\", \"bob/b\"]\n";
    let daemon = Daemon::start_with(route, &[]);
    let lead = daemon.pair().0;
    let asked = daemon.verb(Some(&lead), &["ask", "which?", "-o", "a", "-o", "b"]).ends(0).json();
    assert_eq!(asked["ask"]["waiting_on"]["group"], "backup");
    let id = asked["ask"]["id"].as_str().expect("an id").to_owned();
    let by = |person: &str, arguments: &[&str]| {
        Said::by(daemon.command(arguments).env(place::PERSON_VAR, person).arg("--json"))
    };
    assert_eq!(by("ann", &["inbox"]).ends(0).json()["id"], id.as_str());
    let answered = by("bob/b", &["answer", &id, "a"]).ends(0).json();
    assert_eq!(answered["ask"]["outcome"]["by"]["person"], "bob/b");
    assert_eq!(by("ann", &["answer", &id, "b"]).ends(6).json()["result"], "closed");
    assert_eq!(by("carl", &["inbox"]).ends(7).error()["reason"], "BAD_CREDENTIAL");
}
