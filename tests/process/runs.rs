//! `askway run`: a command as an agent's session, from its beginning to whatever ends it.

use super::daemon::{Daemon, PATIENCE, Said};
use askway::cli::place;
use askway::client::Watched;
use askway::grpc::v1;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::Stdio;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};
use tokio_stream::StreamExt;

/// `askway run` with these arguments, as typed by a person.
fn run(daemon: &Daemon, arguments: &[&str]) -> Said {
    let mut command = daemon.command(&[&["run"], arguments].concat());
    Said::of(command.stdin(Stdio::null()).output().expect("it runs"))
}

fn session(daemon: &Daemon, id: &str) -> Value {
    let all = daemon.verb(None, &["session", "ls", "--all"]).ends(0).lines();
    all.into_iter().find(|session| session["id"] == id).expect("the session")
}

/// Asks for the session until it is in this state.
fn comes_to_be(daemon: &Daemon, id: &str, state: &str) {
    let begun = Instant::now();
    while session(daemon, id)["state"] != state {
        assert!(begun.elapsed() < PATIENCE, "{id} is not {state}");
    }
}

/// What `read` gives, which may never come.
fn in_time<T: Send + 'static>(read: impl FnOnce() -> T + Send + 'static) -> T {
    let (send, done) = mpsc::channel();
    thread::spawn(move || send.send(read()));
    done.recv_timeout(PATIENCE).expect("it comes in time")
}

#[test]
fn it_ends_as_its_command_does() {
    let daemon = Daemon::start(&[]);
    let said = run(&daemon, &["--as", "x", "--", "sh", "-c", "echo out; echo err >&2; exit 42"]);
    assert_eq!((said.code, said.out.as_str(), said.err.as_str()), (42, "out\n", "err\n"));
    run(&daemon, &["--as", "x", "--", "sh", "-c", "kill -TERM $$"]).ends(128 + 15);
    run(&daemon, &["--as", "x", "--", "/no/such/command"]).ends(127);
    run(&daemon, &["--as", "x", "--", "/etc/passwd"]).ends(126);
    run(&daemon, &["--as", "x"]).ends(2);
}

#[test]
fn without_a_daemon_it_fails_itself() {
    let mut daemon = Daemon::start(&[]);
    daemon.kill();
    let said = run(&daemon, &["--as", "x", "--", "echo", "not reached"]).ends(125);
    assert_eq!(said.out, "");
}

#[test]
fn the_command_is_told_who_it_is_and_not_the_holds_secret() {
    let daemon = Daemon::start(&[]);
    let said = run(&daemon, &["--as", "x", "--", "env"]).ends(0);
    let all = said.out.lines().filter_map(|line| line.split_once('='));
    let mut own: Vec<_> = all.filter(|(name, _)| name.starts_with("ASKWAY_")).collect();
    own.sort();
    let names: Vec<_> = own.iter().map(|(name, _)| *name).collect();
    let told = ["ASKWAY_ADDR", "ASKWAY_AGENT", "ASKWAY_DATA", "ASKWAY_SESSION", "ASKWAY_TOKEN"];
    assert_eq!(names, told);
    assert!(own[4].1.starts_with("asks_") && own[3].1.starts_with("ses_"));
    // Tokens of every kind: people's, sessions', tickets, hosts', holds'.
    let kinds = ["askp_", "asks_", "askt_", "askh_", "askl_"];
    let secrets: usize = kinds.iter().map(|kind| said.out.matches(kind).count()).sum();
    assert_eq!(secrets, 1, "the session's token alone");
}

#[test]
fn a_sender_that_is_blocked_on_its_worker_is_passed_over() {
    let daemon = Daemon::start(&[]);
    let inner = r#""$ASKWAY" run --as worker -- "$ASKWAY" ask "Which?" -o A --json"#;
    let receipt = run(&daemon, &["--as", "lead", "--", "sh", "-c", inner]).ends(0).json();
    assert_eq!(receipt["ask"]["waiting_on"]["kind"], "people", "{receipt}");
    assert_eq!(receipt["ask"]["asker"]["agent"], "worker");
    assert_eq!(receipt["ask"]["chain"][0]["agent"], "lead", "{receipt}");
}

#[test]
fn in_the_background_it_returns_at_once_and_its_sender_answers() {
    let daemon = Daemon::start(&[]);
    let lead = r#"
        worker=$("$ASKWAY" run --background --as worker -- \
            sh -c '"$ASKWAY" ask "Which?" -o A --wait --json; touch "$SCRATCH/went-on"') || exit 11
        ask=$("$ASKWAY" inbox --wait 60s --json | sed -n 's/.*"id":"\(ask_[a-z0-9]*\)".*/\1/p')
        "$ASKWAY" answer "$ask" A > "$SCRATCH/answered" || exit 12
        echo "$worker""#;
    let said = run(&daemon, &["--as", "lead", "--", "sh", "-c", lead]).ends(0);
    let worker = said.out.trim_end();
    assert!(worker.starts_with("ses_") && !worker.contains('\n'), "{said:?}");
    comes_to_be(&daemon, worker, "paused");
    assert!(daemon.scratch("went-on").exists(), "the answer reached it");
    let log = daemon.data().join("runs").join(format!("{worker}.log"));
    assert!(std::fs::read_to_string(log).unwrap().contains("\"answered\""), "its output is kept");
}

#[test]
fn an_ended_command_leaves_a_session_to_resume_unless_it_was_final() {
    let daemon = Daemon::start(&[]);
    let own = ["sh", "-c", "echo $ASKWAY_SESSION $ASKWAY_AGENT"];
    let said = run(&daemon, &[&["--as", "x", "--"], &own[..]].concat()).ends(0);
    let id = said.out.split(' ').next().unwrap();
    assert_eq!(session(&daemon, id)["state"], "paused");
    let again = run(&daemon, &[&["--resume", id, "--final", "--"], &own[..]].concat()).ends(0);
    assert_eq!(again.out, said.out, "the same session");
    assert_eq!(session(&daemon, id)["state"], "ended");
    run(&daemon, &["--resume", id, "--", "echo"]).ends(125);
}

#[cfg(target_os = "linux")]
#[test]
fn the_command_dies_with_its_run() {
    let daemon = Daemon::start(&[]);
    let mut command =
        daemon.command(&["run", "--as", "x", "--", "sh", "-c", "echo here; exec cat"]);
    let mut run = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut out = BufReader::new(run.stdout.take().unwrap());
    let (here, mut out) = in_time(move || {
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        (line, out)
    });
    assert_eq!(here, "here\n");
    let stdin = run.stdin.take(); // open, so that the command does not end by itself
    run.kill().unwrap();
    run.wait().unwrap();
    let rest = in_time(move || {
        let mut rest = String::new();
        out.read_to_string(&mut rest).map(|_| rest)
    });
    assert_eq!(rest.unwrap(), "", "its stdout is closed, since it is gone");
    drop(stdin);
}

#[test]
fn a_run_keeps_its_session_over_a_restart_of_the_daemon() {
    let mut daemon = Daemon::start(&[]);
    let line = r#"echo "$ASKWAY_SESSION"; read go; "$ASKWAY" ask "Which?" -o A --json"#;
    let mut command = daemon.command(&["run", "--as", "x", "--", "sh", "-c", line]);
    let mut run = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut out = BufReader::new(run.stdout.take().unwrap());
    let (id, mut out) = in_time(move || {
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        (line, out)
    });
    daemon.kill();
    daemon.restart();
    let id = id.trim_end();
    assert_eq!(session(&daemon, id)["state"], "active");
    run.stdin.take().unwrap().write_all(b"go\n").unwrap();
    let mut rest = String::new();
    out.read_to_string(&mut rest).unwrap();
    let receipt: Value = serde_json::from_str(rest.trim_end()).expect("a receipt");
    assert_eq!(receipt["ask"]["asker"]["session"], id);
    assert_eq!(run.wait().unwrap().code(), Some(0));
    assert_eq!(session(&daemon, id)["state"], "paused", "the run has ended in order");
}

#[test]
fn the_demo_happens() {
    let daemon = Daemon::start(&[]);
    let mut command = daemon.command(&["demo"]);
    command.env("TMPDIR", daemon.scratch("")).stdin(Stdio::null());
    let said = Said::of(command.output().expect("it runs")).ends(0);
    for told in ["The lead answered", "timer ran out", "refused", "SIGKILL", "has finished"] {
        assert!(said.out.contains(told), "{told}: {said:?}");
    }
}

#[tokio::test]
async fn it_stops_in_good_order_though_nobody_reads_a_stream() {
    let mut daemon = Daemon::start(&[]);
    let request = v1::EnrollRequest { agent: "x".into(), ..Default::default() };
    let token = daemon.client(None).enroll(request).await.expect("a session").token;
    let asker = daemon.client(Some(&token));
    let question = v1::Question { question: "Which?".into(), ..Default::default() };
    let request = v1::AskRequest { questions: vec![question], ..Default::default() };
    let ask = asker.ask(request).await.expect("filed").ask.expect("the ask");
    let mut watch = asker.watch_ask(&ask.id, None);
    let first = watch.next().await.expect("it is open").expect("a message");
    assert!(matches!(first, Watched::Ask(_)), "{first:?}");
    // This thread does nothing but wait for the process: its connection is not read.
    let (status, after) = daemon.terminate();
    assert!(status.success(), "{status:?}");
    assert!(after < Duration::from_secs(8), "{after:?}");
    assert!(!daemon.data().join(place::SOCKET).exists(), "it leaves no socket");
}
