//! The daemon as a process on a disk that is full, and stopped for a while.

use super::daemon::{Daemon, PATIENCE, Said};
use rustix::process::{Resource, Rlimit, Signal, prlimit};
use serde_json::Value;
use std::time::Instant;

fn ask(daemon: &Daemon, token: &str, question: &str) -> Said {
    daemon.verb(Some(token), &["ask", question, "-o", "yes", "-o", "no"])
}

fn id(filed: &Said) -> String {
    filed.json()["ask"]["id"].as_str().expect("an id").to_owned()
}

/// How long a file of the daemon's may be from now on; none for as long as the disk lets it.
fn bound_files(daemon: &Daemon, bytes: Option<u64>) {
    let pid = i32::try_from(daemon.pid()).ok().and_then(rustix::process::Pid::from_raw);
    let limit = Rlimit { current: bytes, maximum: None };
    prlimit(pid, Resource::Fsize, limit).expect("it is set");
}

#[test]
fn rule_01_a_disk_without_room_is_said_loses_nothing_and_heals_when_there_is_some() {
    let daemon = Daemon::start(&[]);
    let (_, worker) = daemon.pair();
    let first = id(&ask(&daemon, &worker, "Before?").ends(0));
    bound_files(&daemon, Some(0));
    let refused = ask(&daemon, &worker, "While it is full?").ends(9);
    assert_eq!(refused.error()["reason"], "STORE_UNAVAILABLE");
    // What cannot be read is not empty, and what can be is there.
    let listed = daemon.verb(None, &["inbox", "--all"]);
    let is_there = listed.lines().iter().any(|line| line["id"] == first.as_str());
    assert!(listed.code == 9 || (listed.code == 0 && is_there), "{listed:?}");
    bound_files(&daemon, None);
    let begun = Instant::now();
    let second = loop {
        let filed = ask(&daemon, &worker, "After?");
        if filed.code == 0 {
            break id(&filed);
        }
        assert!(begun.elapsed() < PATIENCE, "it does not heal: {filed:?}");
    };
    for id in [first, second] {
        assert_eq!(daemon.verb(None, &["show", &id]).ends(0).json()["outcome"], Value::Null);
    }
    daemon.signal(Signal::TERM);
}

#[test]
fn rule_03_a_daemon_that_was_stopped_moves_an_ask_on_once_it_goes_on() {
    let daemon = Daemon::start_with("route_timeout = \"2s\"\n", &[]);
    let (_, worker) = daemon.pair();
    let id = id(&ask(&daemon, &worker, "Which?").ends(0));
    let due = Instant::now() + std::time::Duration::from_secs(2);
    daemon.signal(Signal::STOP);
    while Instant::now() < due {
        std::thread::yield_now();
    }
    daemon.signal(Signal::CONT);
    let begun = Instant::now();
    loop {
        let events = daemon.verb(None, &["log", &id]).ends(0).lines();
        let moved = events.iter().filter(|event| event["kind"] == "escalated").count();
        assert!(moved <= 1, "once: {events:?}");
        if moved == 1 {
            break;
        }
        assert!(begun.elapsed() < PATIENCE, "it does not move: {events:?}");
    }
    daemon.verb(None, &["answer", &id, "yes"]).ends(0);
}
