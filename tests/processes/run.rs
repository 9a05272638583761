//! `askway run`: a command as a session; its code, its signals, its end.

use super::daemon::{ASKWAY, Daemon, PATIENCE, Said, first_line, signal};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::fs;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::process::{Command, Stdio};
use std::time::Instant;

fn run(daemon: &Daemon, arguments: &[&str]) -> Command {
    let mut command = daemon.command(&["run"]);
    command.args(arguments);
    command
}

/// Every session, as a person sees them.
fn sessions(daemon: &Daemon) -> Vec<Value> {
    daemon.verb(None, &["session", "ls", "--all"]).ends(0).lines()
}

#[test]
fn the_code_is_the_commands_and_so_is_stdout() {
    let daemon = Daemon::start(&[]);
    let script = "echo out; echo err >&2; exit 7";
    let ran = Said::by(&mut run(&daemon, &["--as", "a", "--", "sh", "-c", script])).ends(7);
    assert_eq!((ran.out.as_str(), ran.err.as_str()), ("out\n", "err\n"));
    let script = "kill -TERM $$";
    Said::by(&mut run(&daemon, &["--as", "a", "--", "sh", "-c", script])).ends(128 + 15);
}

#[test]
fn its_own_failures_are_no_commands_codes() {
    let daemon = Daemon::start(&[]);
    let file = daemon.data().join("not-a-program");
    fs::write(&file, "x").expect("written");
    let file = file.display().to_string();
    for (command, expected) in [("no-such-program", 127), (file.as_str(), 126)] {
        let ran = Said::by(&mut run(&daemon, &["--as", "a", "--", command])).ends(expected);
        assert!(ran.err.contains(command), "{ran:?}");
    }
    let mut bad = run(&daemon, &["--as", "a", "--", "true"]);
    Said::by(bad.env("ASKWAY_TOKEN", "nonsense")).ends(125);
}

#[test]
fn the_command_knows_who_it_is_and_not_how_it_is_held() {
    let daemon = Daemon::start(&[]);
    let mut ran = run(&daemon, &["--as", "lead", "--", "env"]);
    let ran = ran.current_dir(daemon.data()).env("ASKWAY_ADDR", "unix:askway.sock");
    let told = Said::by(ran).ends(0).out;
    let value = |name: &str| {
        told.lines().find_map(|line| line.strip_prefix(&format!("{name}="))).unwrap_or_default()
    };
    assert!(value("ASKWAY_TOKEN").starts_with("asks_"), "{told}");
    assert!(value("ASKWAY_SESSION").starts_with("ses_"), "{told}");
    assert_eq!(value("ASKWAY_AGENT"), "lead");
    assert_eq!(value("ASKWAY_DATA"), daemon.data().display().to_string());
    let address = std::path::Path::new(value("ASKWAY_ADDR").trim_start_matches("unix:"));
    assert!(address.is_absolute() && address.ends_with("askway.sock"), "{told}");
    assert!(!told.contains("askl_"), "the holder's secret is not for the command");
}

#[test]
fn a_session_is_paused_at_the_end_resumed_by_its_id_and_ended_for_good() {
    let daemon = Daemon::start(&[]);
    let state = || sessions(&daemon)[0]["state"].clone();
    Said::by(&mut run(&daemon, &["--as", "a", "--", "true"])).ends(0);
    assert_eq!(state(), "paused");
    let id = sessions(&daemon)[0]["id"].as_str().expect("an id").to_owned();
    let say = "echo $ASKWAY_SESSION $ASKWAY_AGENT";
    let again = Said::by(&mut run(&daemon, &["--resume", &id, "--", "sh", "-c", say])).ends(0);
    assert_eq!(again.out, format!("{id} a\n"));
    assert_eq!(state(), "paused");
    Said::by(&mut run(&daemon, &["--final", "--resume", &id, "--", "true"])).ends(0);
    assert_eq!((sessions(&daemon).len(), state()), (1, "ended".into()));
    Said::by(&mut run(&daemon, &["--resume", &id, "--", "true"])).ends(125);
}

#[test]
fn a_run_in_a_run_makes_the_sender_chain() {
    let daemon = Daemon::start(&[]);
    let inner = r#""$0" run --as worker -- sh -c 'echo $ASKWAY_AGENT'"#;
    let mut lead = run(&daemon, &["--as", "lead", "--", "sh", "-c", inner, ASKWAY]);
    assert_eq!(Said::by(&mut lead).ends(0).out, "worker\n");
    let sessions = sessions(&daemon);
    let of = |agent: &str| sessions.iter().find(|s| s["agent"] == agent).expect(agent);
    assert_eq!(of("worker")["parent"]["session"], of("lead")["id"]);
    assert_eq!(of("lead")["parent"], Value::Null);
}

#[test]
fn a_background_run_gives_its_id_at_once_and_lives_on_by_itself() {
    let daemon = Daemon::start(&[]);
    let script = "echo $PPID > \"$ASKWAY_DATA/pid.new\"; mv \"$ASKWAY_DATA/pid.new\" \
                  \"$ASKWAY_DATA/pid\"; echo said; exec sleep 600";
    // The output ends only when nobody holds the pipes any more.
    let begun = Instant::now();
    let mut ran = run(&daemon, &["--background", "--as", "w", "--", "sh", "-c", script]);
    let ran = Said::by(&mut ran).ends(0);
    assert!(begun.elapsed() < PATIENCE);
    let id = ran.out.trim_end().to_owned();
    assert!(id.starts_with("ses_"), "{ran:?}");
    assert_eq!(sessions(&daemon)[0]["state"], "active");

    let log = daemon.data().join("runs").join(format!("{id}.log"));
    assert_eq!(fs::metadata(&log).expect("its log").mode() & 0o777, 0o600);
    let pid = loop {
        if let Ok(pid) = fs::read_to_string(daemon.data().join("pid")) {
            break pid.trim().parse().expect("a process");
        }
        assert!(begun.elapsed() < PATIENCE, "its command does not start");
        std::thread::yield_now();
    };
    kill_process(Pid::from_raw(pid).expect("a process"), Signal::KILL).expect("it lives");
}

#[test]
fn a_background_run_that_cannot_begin_tells_its_caller() {
    let daemon = Daemon::start(&[]);
    let mut ran = run(&daemon, &["--background", "--as", "w", "--", "true"]);
    let ran = Said::by(ran.env("ASKWAY_TOKEN", "nonsense")).ends(125);
    assert!(ran.out.is_empty() && !ran.err.is_empty(), "{ran:?}");
}

#[test]
fn what_is_sent_to_the_run_is_for_the_command() {
    let daemon = Daemon::start(&[]);
    for (sent, name) in [(Signal::TERM, "TERM"), (Signal::HUP, "HUP")] {
        let script = format!("trap 'echo got; exit 3' {name}; echo ready; while :; do :; done");
        let mut command = run(&daemon, &["--as", "a", "--", "sh", "-c", &script]);
        let mut process = command.stdout(Stdio::piped()).spawn().expect("it starts");
        let mut out = process.stdout.take().expect("piped");
        assert_eq!(first_line(&mut out), "ready");
        signal(&process, sent);
        let mut rest = String::new();
        out.read_to_string(&mut rest).expect("read");
        assert_eq!(rest, "got\n");
        assert_eq!(process.wait().expect("it ends").code(), Some(3));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn the_command_dies_with_the_run() {
    let daemon = Daemon::start(&[]);
    let mut command = run(&daemon, &["--as", "a", "--", "sh", "-c", "echo ready; exec sleep 600"]);
    let mut process = command.stdout(Stdio::piped()).spawn().expect("it starts");
    let mut out = process.stdout.take().expect("piped");
    assert_eq!(first_line(&mut out), "ready");
    signal(&process, Signal::KILL);
    process.wait().expect("it ends");
    // The pipe ends when the command is gone, which had it last.
    let mut rest = String::new();
    out.read_to_string(&mut rest).expect("read");
}

#[test]
fn a_run_outlives_its_daemon_and_holds_its_session_again() {
    let mut daemon = Daemon::start(&[]);
    let script = "echo ready; read line; \"$0\" session ls --json; exit 4";
    let mut command = run(&daemon, &["--as", "a", "--", "sh", "-c", script, ASKWAY]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut process = command.spawn().expect("it starts");
    let mut out = process.stdout.take().expect("piped");
    assert_eq!(first_line(&mut out), "ready");
    daemon.kill();
    daemon.restart();
    drop(process.stdin.take());
    let mut listed = String::new();
    out.read_to_string(&mut listed).expect("read");
    let listed: Value = serde_json::from_str(&listed).expect(&listed);
    assert_eq!(listed["state"], "active");
    assert_eq!(process.wait().expect("it ends").code(), Some(4));
    assert_eq!(sessions(&daemon)[0]["state"], "paused");
}
