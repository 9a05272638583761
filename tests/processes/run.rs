//! `askway run`: a command as a session; its code, its signals, its end.

use super::{Daemon, askway, code, first_line, signal, text};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::fs;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

fn run(daemon: &Daemon, arguments: &[&str]) -> Command {
    let mut command = askway(daemon.data());
    command.arg("run").args(arguments);
    command
}

/// Every session, as a person sees them.
fn sessions(daemon: &Daemon) -> Vec<Value> {
    let listed = daemon.askway(&["session", "ls", "--all", "--json"]);
    assert!(listed.status.success(), "{listed:?}");
    text(&listed.stdout).lines().map(|line| serde_json::from_str(line).expect(line)).collect()
}

#[test]
fn the_code_is_the_commands_and_so_is_stdout() {
    let daemon = Daemon::start(&[]);
    let ran = run(&daemon, &["--as", "a", "--", "sh", "-c", "echo out; echo err >&2; exit 7"]);
    let ran = { ran }.output().expect("it runs");
    assert_eq!((code(&ran), text(&ran.stdout).as_str()), (7, "out\n"));
    assert_eq!(text(&ran.stderr), "err\n");
    let ran = run(&daemon, &["--as", "a", "--", "sh", "-c", "kill -TERM $$"]).output().unwrap();
    assert_eq!(code(&ran), 128 + 15);
}

#[test]
fn its_own_failures_are_no_commands_codes() {
    let daemon = Daemon::start(&[]);
    let file = daemon.data().join("not-a-program");
    fs::write(&file, "x").expect("written");
    let file = file.display().to_string();
    for (command, expected) in [("no-such-program", 127), (file.as_str(), 126)] {
        let ran = run(&daemon, &["--as", "a", "--", command]).output().expect("it runs");
        assert_eq!(code(&ran), expected, "{ran:?}");
        assert!(text(&ran.stderr).contains(command), "{ran:?}");
    }
    let mut bad = run(&daemon, &["--as", "a", "--", "true"]);
    let ran = bad.env("ASKWAY_TOKEN", "nonsense").output().expect("it runs");
    assert_eq!(code(&ran), 125, "a bad token falls back to nobody: {ran:?}");
}

#[test]
fn the_command_knows_who_it_is_and_not_how_it_is_held() {
    let daemon = Daemon::start(&[]);
    let mut ran = run(&daemon, &["--as", "lead", "--", "env"]);
    let ran = ran.current_dir(daemon.data()).env("ASKWAY_ADDR", "unix:askway.sock");
    let told = text(&ran.output().expect("it runs").stdout);
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
    run(&daemon, &["--as", "a", "--", "true"]).output().expect("it runs");
    assert_eq!(state(), "paused");
    let id = sessions(&daemon)[0]["id"].as_str().expect("an id").to_owned();
    let say = "echo $ASKWAY_SESSION $ASKWAY_AGENT";
    let again = run(&daemon, &["--resume", &id, "--", "sh", "-c", say]).output().unwrap();
    assert_eq!(text(&again.stdout), format!("{id} a\n"), "{again:?}");
    assert_eq!(state(), "paused");
    run(&daemon, &["--final", "--resume", &id, "--", "true"]).output().expect("it runs");
    assert_eq!((sessions(&daemon).len(), state()), (1, "ended".into()));
    let ended = run(&daemon, &["--resume", &id, "--", "true"]).output().expect("it runs");
    assert_eq!(code(&ended), 125, "{ended:?}");
}

#[test]
fn a_run_in_a_run_makes_the_sender_chain() {
    let daemon = Daemon::start(&[]);
    let inner = r#""$0" run --as worker -- sh -c 'echo $ASKWAY_AGENT'"#;
    let program = env!("CARGO_BIN_EXE_askway");
    let ran = run(&daemon, &["--as", "lead", "--", "sh", "-c", inner, program]).output().unwrap();
    assert_eq!((code(&ran), text(&ran.stdout).as_str()), (0, "worker\n"), "{ran:?}");
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
    let ran = run(&daemon, &["--background", "--as", "w", "--", "sh", "-c", script]);
    let ran = { ran }.output().expect("it returns");
    assert!(begun.elapsed() < Duration::from_secs(60));
    let id = text(&ran.stdout).trim_end().to_owned();
    assert!(code(&ran) == 0 && id.starts_with("ses_"), "{ran:?}");
    assert_eq!(sessions(&daemon)[0]["state"], "active");

    let log = daemon.data().join("runs").join(format!("{id}.log"));
    assert_eq!(fs::metadata(&log).expect("its log").mode() & 0o777, 0o600);
    let pid = loop {
        if let Ok(pid) = fs::read_to_string(daemon.data().join("pid")) {
            break pid.trim().parse().expect("a process");
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "its command does not start");
        std::thread::yield_now();
    };
    kill_process(Pid::from_raw(pid).expect("a process"), Signal::KILL).expect("it lives");
}

#[test]
fn a_background_run_that_cannot_begin_tells_its_caller() {
    let daemon = Daemon::start(&[]);
    let mut ran = run(&daemon, &["--background", "--as", "w", "--", "true"]);
    let ran = ran.env("ASKWAY_TOKEN", "nonsense").output().expect("it returns");
    assert_eq!(code(&ran), 125);
    assert!(ran.stdout.is_empty() && !ran.stderr.is_empty(), "{ran:?}");
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
    let program = env!("CARGO_BIN_EXE_askway");
    let mut command = run(&daemon, &["--as", "a", "--", "sh", "-c", script, program]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut process = command.spawn().expect("it starts");
    let mut out = process.stdout.take().expect("piped");
    assert_eq!(first_line(&mut out), "ready");
    daemon.crash(&[]);
    drop(process.stdin.take());
    let mut listed = String::new();
    out.read_to_string(&mut listed).expect("read");
    let listed: Value = serde_json::from_str(&listed).expect(&listed);
    assert_eq!(listed["state"], "active");
    assert_eq!(process.wait().expect("it ends").code(), Some(4));
    assert_eq!(sessions(&daemon)[0]["state"], "paused");
}
