//! The daemon as a process on a disk that is full, and stopped for a while.

use super::daemon::{Daemon, PATIENCE, data_of};
use rustix::process::{Resource, Rlimit, Signal, geteuid, prlimit};
use serde_json::Value;
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::time::Instant;

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
    let first = daemon.ask(&worker, "Before?").ends(0).id();
    bound_files(&daemon, Some(0));
    let refused = daemon.ask(&worker, "While it is full?").ends(9);
    assert_eq!(refused.error()["reason"], "STORE_UNAVAILABLE");
    // What cannot be read is not empty, and what can be is there.
    let listed = daemon.verb(None, &["inbox", "--all"]);
    let is_there = listed.lines().iter().any(|line| line["id"] == first.as_str());
    assert!(listed.code == 9 || (listed.code == 0 && is_there), "{listed:?}");
    bound_files(&daemon, None);
    let begun = Instant::now();
    let second = loop {
        let filed = daemon.ask(&worker, "After?");
        if filed.code == 0 {
            break filed.id();
        }
        assert!(begun.elapsed() < PATIENCE, "it does not heal: {filed:?}");
    };
    for id in [first, second] {
        assert_eq!(daemon.verb(None, &["show", &id]).ends(0).json()["outcome"], Value::Null);
    }
    daemon.signal(Signal::TERM);
}

/// What gives a program a file system in memory, of so many bytes, at a folder.
fn on_a_small_disk(folder: &Path, bytes: u64) -> Vec<String> {
    let script = "mount -t tmpfs -o size=$1,mode=700 none \"$2\" && shift 2 && exec \"$@\"";
    let (size, folder) = (bytes.to_string(), folder.display().to_string());
    let user: &[&str] = if geteuid().is_root() { &[] } else { &["--user", "--map-root-user"] };
    let words = [&["unshare", "--mount"], user, &["sh", "-c", script, "sh", &size, &folder]];
    words.concat().into_iter().map(str::to_owned).collect()
}

#[test]
fn rule_01_a_small_disk_that_fills_up_is_said_and_all_that_was_acknowledged_is_there() {
    const DISK: u64 = 6 << 20;
    let folder = tempfile::tempdir().expect("a folder");
    let data = data_of(&folder);
    fs::create_dir(&data).expect("a data folder");
    let daemon = Daemon::apart(folder, on_a_small_disk(&data, DISK), &[]);
    let (_, worker) = daemon.pair();
    // Others fill most of it, asks the rest.
    let others = daemon.data().join("others");
    let mut file = File::create(&others).expect("a file");
    let all = std::iter::repeat_with(|| file.write_all(&[1; 4_096])).take_while(Result::is_ok);
    let blocks = all.count();
    assert!((1..DISK as usize / 4_096).contains(&blocks), "it is the small one: {blocks} blocks");
    let mut acknowledged = Vec::new();
    let context = "x".repeat(4_096);
    let refused = loop {
        let arguments = ["ask", "Full?", "-o", "yes", "-o", "no", "--context", &context];
        let filed = daemon.verb(Some(&worker), &arguments);
        if filed.code != 0 {
            break filed;
        }
        let id = filed.id();
        // One session has no more than so many open.
        let withdrawn = daemon.verb(Some(&worker), &["withdraw", &id]);
        acknowledged.push((id, withdrawn.code == 0));
        assert!(acknowledged.len() < DISK as usize / context.len(), "it never fills up");
    };
    assert_eq!(refused.ends(9).error()["reason"], "STORE_UNAVAILABLE");
    fs::remove_file(&others).expect("it is removed");
    drop(file);
    let begun = Instant::now();
    loop {
        let filed = daemon.ask(&worker, "After?");
        if filed.code == 0 {
            acknowledged.push((filed.id(), false));
            break;
        }
        assert!(begun.elapsed() < PATIENCE, "it does not heal: {filed:?}");
    }
    for (id, is_withdrawn) in acknowledged {
        let outcome = &daemon.verb(None, &["show", &id]).ends(0).json()["outcome"];
        assert!(!is_withdrawn || outcome["kind"] == "withdrawn", "{id}: {outcome}");
    }
}

#[test]
fn rule_03_a_daemon_that_was_stopped_moves_an_ask_on_once_it_goes_on() {
    let daemon = Daemon::start_with("route_timeout = \"2s\"\n", &[]);
    let (_, worker) = daemon.pair();
    let id = daemon.ask(&worker, "Which?").ends(0).id();
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
