//! The notice hook, run by a real daemon: what the command is given, whatever agents write, and what
//! becomes of it when the daemon ends.

use super::daemon::{Daemon, PATIENCE, Said};
use askway::cli::place;
use rustix::process::Signal;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Instant;
use tempfile::TempDir;

/// A script for `sh` in a folder of its own, `$here` in it; and a daemon that runs it for notices.
struct Hook {
    folder: TempDir,
    daemon: Daemon,
}

impl Hook {
    fn new(script: &str, arguments: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("hook");
        let here = folder.path().display();
        fs::write(&path, format!("#!/bin/sh\nhere='{here}'\n{script}\n")).expect("a script");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it may be run");
        let command: Vec<_> = std::iter::once(path.to_str().expect("text"))
            .chain(arguments.iter().copied())
            .collect();
        // A list of strings is spelled alike in JSON and TOML.
        let command = serde_json::to_string(&command).expect("JSON");
        let daemon = Daemon::start_with(&format!("[notify]\ncommand = {command}\n"), &[]);
        Self { folder, daemon }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The owner is asked; gives the ask's id.
    fn ask(&self, root: &str, arguments: &[&str]) -> String {
        let arguments: Vec<_> = ["--json", "ask"].iter().chain(arguments).copied().collect();
        let mut command = self.daemon.command(&arguments);
        Said::by(command.env(place::TOKEN_VAR, root)).ends(0).id()
    }

    fn log(&self, id: &str) -> Vec<Value> {
        self.daemon.verb(None, &["log", id]).ends(0).lines()
    }

    /// The event of this kind, once there is one.
    fn until(&self, id: &str, kind: &str) -> Value {
        let begun = Instant::now();
        loop {
            if let Some(event) = self.log(id).into_iter().find(|event| event["kind"] == kind) {
                return event;
            }
            assert!(begun.elapsed() < PATIENCE, "no {kind} comes");
        }
    }
}

/// Waits for a file that a hook puts there whole; looking at it starts a program, so nothing spins.
fn until_there(daemon: &Daemon, path: &Path) -> String {
    let begun = Instant::now();
    loop {
        if let Ok(text) = fs::read_to_string(path) {
            return text;
        }
        daemon.verb(None, &["status"]).ends(0);
        assert!(begun.elapsed() < PATIENCE, "{} does not come", path.display());
    }
}

fn is_alive(pid: &str) -> bool {
    let ps = std::process::Command::new("ps").args(["-o", "stat=", "-p", pid]).output();
    let state = String::from_utf8(ps.expect("ps runs").stdout).expect("text");
    !state.trim().is_empty() && !state.trim().starts_with('Z')
}

/// What the hook was given, each time, whole.
const TELL: &str = "printf '%s\\0' \"$@\" > $here/argv; env -0 > $here/env; pwd > $here/cwd
cat > $here/stdin";

#[test]
fn whatever_agents_write_each_argument_is_one_and_only_text() {
    let arguments = [
        "--",
        "{header}",
        "{question}",
        "q={question}",
        "{id}",
        "{agent}",
        "{people}",
        "{reason}",
        "{notice}",
        "{{id}}",
    ];
    let hook = Hook::new(TELL, &arguments);
    let lead = hook.daemon.pair().0;
    let header = "--help=\"$(touch pwned)\" '`id`";
    let question = format!(
        "-rf {{id}} ; \n touch pwned \t| \\ \" ' $HOME \u{1b}[2J\u{202e} {}",
        "é".repeat(1_000)
    );
    let id =
        hook.ask(&lead, &[&format!("--header={header}"), "-o", "a", "-o", "b", "--", &question]);
    let event = hook.until(&id, "noticed");
    assert_eq!(event["by"]["kind"], "timer");

    let given = fs::read_to_string(hook.file("argv")).expect("text");
    let given: Vec<_> = given.strip_suffix('\0').expect("ended").split('\0').collect();
    let begun = "-rf {id} ; touch pwned | \\ \" ' $HOME \\u{1b}[2J\\u{202e} é";
    assert_eq!(given.len(), arguments.len(), "{given:?}");
    assert_eq!(given[..2], ["--", &*format!(" {header}")]);
    assert!(given[2].starts_with(&format!(" {begun}")), "{}", given[2]);
    assert!(given[3].starts_with(&format!("q={begun}")), "{}", given[3]);
    assert!(given[2].ends_with("é…") && given[2].len() < 1_100, "{}", given[2].len());
    assert_eq!(given[4..], [&*id, "lead", "owner", "it was filed", "came", "{id}"]);

    let told = fs::read_to_string(hook.file("stdin")).expect("text");
    let mut told: Value = serde_json::from_str(&told).expect("one line of JSON");
    assert_eq!(told["questions"][0]["question"], question);
    let mut shown = hook.daemon.verb(None, &["show", &id]).ends(0).json();
    // As it was before the notice was written down.
    shown["revision"] = told["revision"].clone();
    shown["asker_gone_time"] = told["asker_gone_time"].take();
    told["asker_gone_time"] = shown["asker_gone_time"].clone();
    assert_eq!(told, shown, "it is what show --json prints");
    assert_eq!(fs::read_to_string(hook.file("cwd")).expect("text"), "/\n");
    assert!(!hook.file("pwned").exists() && !Path::new("/pwned").exists());
}

#[test]
fn of_the_daemons_environment_no_token_and_nothing_of_ours_reaches_it() {
    let hook = Hook::new(TELL, &[]);
    let lead = hook.daemon.pair().0;
    let id = hook.ask(&lead, &["Which?", "-o", "a", "-o", "b"]);
    hook.until(&id, "noticed");
    let all = fs::read_to_string(hook.file("env")).expect("text");
    let names: BTreeSet<_> =
        all.split('\0').filter_map(|each| Some(each.split_once('=')?.0)).collect();
    assert!(names.contains("PATH"), "{names:?}");
    let of_the_shell = ["PATH", "PWD", "OLDPWD", "SHLVL", "_"];
    let others: Vec<_> = names.iter().filter(|name| !of_the_shell.contains(name)).collect();
    assert!(others.is_empty(), "the daemon has ASKWAY_DATA, and it got {others:?}");
    let stdin = fs::read_to_string(hook.file("stdin")).expect("text");
    for prefix in ["askp_", "asks_", "askt_", "askh_"] {
        assert!(!stdin.contains(prefix) && !all.contains(prefix), "{prefix}");
    }
}

#[test]
fn c158_a_hook_that_fails_shows_in_status_and_log_and_costs_the_ask_nothing() {
    let hook = Hook::new("echo 'no \u{1b}[31mdesktop' >&2; exit 3", &["{header}"]);
    let lead = hook.daemon.pair().0;
    let id = hook.ask(&lead, &["Which?", "-o", "a", "-o", "b"]);
    let event = hook.until(&id, "notice_failed");
    assert_eq!(event["text"], "ended with exit status: 3");
    let status = hook.daemon.verb(None, &["status"]).ends(0).json();
    assert_eq!((&status["untold"], &status["notice_failure"]), (&1.into(), &event["text"]));
    assert!(status["notice_failure_time"].is_string(), "{status}");
    let said = Said::by(&mut hook.daemon.command(&["status"])).ends(0).out;
    assert!(said.contains("the notice hook failed") && said.contains("exit status: 3"), "{said}");
    let said = Said::by(&mut hook.daemon.command(&["log", &id])).ends(0).out;
    assert!(said.contains("notice_failed"), "{said}");
    // What it printed is for whoever runs the daemon, and for no terminal as it is.
    let log = hook.daemon.log();
    assert!(log.contains("desktop") && !log.contains('\u{1b}'), "{log}");
    assert!(!serde_json::to_string(&hook.log(&id)).expect("JSON").contains("desktop"));
    hook.daemon.verb(None, &["answer", &id, "a", "--text", "well"]);
    hook.daemon.verb(None, &["decline", &id]);
    let shown = hook.daemon.verb(None, &["show", &id]).ends(0).json();
    assert_eq!(shown["state"], "settled");
    assert_eq!(hook.daemon.verb(None, &["status"]).ends(0).json()["untold"], 0);
}

/// Says who it is, and hangs unless it is told not to.
const HANGS: &str = "[ -e $here/go ] && { touch $here/told; exit 0; }
sleep 1000 & echo $! $$ > $here/new; mv $here/new $here/pids; wait";

#[test]
fn a_daemon_that_stops_takes_its_hooks_along_and_carries_the_notice_again() {
    let mut hook = Hook::new(HANGS, &[]);
    let lead = hook.daemon.pair().0;
    let id = hook.ask(&lead, &["Which?", "-o", "a", "-o", "b"]);
    let pids = until_there(&hook.daemon, &hook.file("pids"));
    hook.daemon.signal(Signal::TERM);
    hook.daemon.wait();
    let begun = Instant::now();
    while pids.split_whitespace().any(is_alive) {
        assert!(begun.elapsed() < PATIENCE, "one of {pids} lives on");
    }
    fs::write(hook.file("go"), "").expect("written");
    hook.daemon.restart();
    hook.until(&id, "noticed");
    assert!(hook.file("told").exists());
}

#[test]
fn a_daemon_that_is_killed_while_it_carries_a_notice_carries_it_again() {
    let mut hook = Hook::new(HANGS, &[]);
    let lead = hook.daemon.pair().0;
    let id = hook.ask(&lead, &["Which?", "-o", "a", "-o", "b"]);
    let pids = until_there(&hook.daemon, &hook.file("pids"));
    hook.daemon.kill();
    fs::write(hook.file("go"), "").expect("written");
    hook.daemon.restart();
    hook.until(&id, "noticed");
    // What a killed daemon leaves is ended here.
    for pid in pids.split_whitespace() {
        let pid = rustix::process::Pid::from_raw(pid.parse().expect("a number"));
        let _ = rustix::process::kill_process(pid.expect("not zero"), Signal::KILL);
    }
}

#[test]
fn a_hook_that_cannot_be_is_told_at_start_with_its_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = "[notify]\ncommand = [\n  \"notify-send\",\n  \"{titel}\",\n]\n";
    fs::write(folder.path().join("askway.toml"), file).expect("written");
    let mut serve = super::daemon::command(folder.path(), &["--json", "serve"]);
    let error = Said::by(&mut serve).ends(2).error();
    let field = error["fields"][0]["field"].as_str().expect("a place");
    assert!(field.ends_with("askway.toml:4: notify.command[1]"), "{error}");
}
