//! The rules as the command line tells them: deadlines, a person's no, whose word is next, what a wait
//! that is interrupted ends with.

use super::daemon::{Daemon, PATIENCE, Said, signal};
use askway::cli::place;
use askway::grpc::v1;
use rustix::process::Signal;
use serde_json::Value;
use std::io::BufRead;
use std::process::Stdio;
use std::time::Instant;

fn file(daemon: &Daemon, worker: &str, arguments: &[&str]) -> String {
    let line: Vec<_> = ["ask"].iter().chain(arguments).copied().collect();
    daemon.verb(Some(worker), &line).ends(0).id()
}

/// Both run out in the same minute, the least that a deadline may be; nothing is done meanwhile but
/// wait for them.
#[test]
fn a_wait_ends_with_the_default_that_stands_or_with_nothing_chosen() {
    let daemon = Daemon::start(&[]);
    let (_, worker) = daemon.pair();
    let common = ["-o", "A", "-o", "B", "--expire", "1m"];
    let with = |more: &[&str]| file(&daemon, &worker, &[more, &common[..]].concat());
    let stop = with(&["Stop?", "--on-expire", "stop"]);
    let default = with(&["Default?", "--default", "B"]);
    // With people: a deadline that comes while a session is asked only moves the ask on.
    for id in [&stop, &default] {
        daemon.verb(None, &["escalate", id]).ends(0);
    }
    // What goes to no terminal is shown to nobody, unless whoever passes it on says so.
    let unseen = daemon.command(&["show", &default]).output().unwrap();
    let told = String::from_utf8(unseen.stderr).unwrap();
    assert!(told.contains("It was printed to no terminal") && told.contains("--seen"), "{told}");
    let seen = daemon.verb(None, &["show", &default]).ends(0).json();
    assert_eq!(seen["seen"], serde_json::json!([]), "rule 4: silence is not consent");
    daemon.verb(Some(&worker), &["show", &default, "--seen"]).ends(7);
    let shown = daemon.command(&["show", &default, "--seen"]).output().unwrap();
    let shown = String::from_utf8(shown.stdout).unwrap();
    assert!(shown.contains("the asker's default stands") && shown.contains("q1 = B"), "{shown}");
    let seen = daemon.verb(None, &["show", &default]).ends(0).json();
    assert_eq!(seen["seen"][0]["person"], "owner");
    let revision = seen["revision"].clone();
    daemon.command(&["show", &default, "--seen"]).output().unwrap();
    let again = daemon.verb(None, &["show", &default]).ends(0).json();
    assert_eq!(again["revision"], revision, "what is known is not told again");

    let stopped = daemon.verb(Some(&worker), &["wait", &stop]).ends(4).json();
    assert_eq!(stopped["outcome"]["kind"], "expired");
    daemon.verb(Some(&worker), &["wait", &stop]).ends(4);
    let stood = daemon.verb(Some(&worker), &["wait", &default]).ends(0).json();
    let answer = &stood["outcome"]["answers"]["q1"];
    assert_eq!((&answer["selected"][0], &answer["default"]), (&"B".into(), &true.into()));
    assert_eq!(stood["outcome"]["by"]["kind"], "timer");
}

/// Nobody is at a terminal, and stdin is closed.
#[test]
fn c05_without_a_terminal_nothing_is_answered_by_itself() {
    let daemon = Daemon::start(&[]);
    let (lead, worker) = daemon.pair();
    let id = file(&daemon, &worker, &["Which?", "-o", "A", "-o", "B"]);
    for token in [None, Some(&*lead)] {
        let said = daemon.verb(token, &["answer", &id]).ends(2);
        assert!(said.err.contains("askway"), "it says what to type: {said:?}");
    }
    assert_eq!(daemon.verb(None, &["show", &id]).ends(0).json()["state"], "open");
    daemon.verb(Some(&worker), &["ask", "--wait", "1s", "Another?"]).ends(5);
}

#[test]
fn c74_a_waiter_that_was_stopped_has_its_answer_once_it_goes_on() {
    let daemon = Daemon::start(&[]);
    let (_, worker) = daemon.pair();
    let id = file(&daemon, &worker, &["Which?", "-o", "A", "-o", "B"]);
    let mut wait = daemon.command(&["wait", &id, "--json"]);
    wait.env(place::TOKEN_VAR, &worker).stdout(Stdio::piped()).stderr(Stdio::piped());
    let wait = wait.spawn().expect("it starts");
    signal(&wait, Signal::STOP);
    daemon.verb(None, &["answer", &id, "A"]).ends(0);
    signal(&wait, Signal::CONT);
    let told = Said::of(wait.wait_with_output().expect("it ends")).ends(0);
    assert_eq!(told.lines().len(), 1, "once: {told:?}");
    assert_eq!(told.json()["outcome"]["kind"], "answered");
    let delivery = daemon.verb(None, &["show", &id]).json()["delivery"]["state"].clone();
    assert_eq!(delivery, "acknowledged");
}

#[test]
fn an_inbox_that_is_watched_tells_what_comes_changes_and_leaves_over_a_restart() {
    let mut daemon = Daemon::start(&[]);
    let (lead, worker) = daemon.pair();
    let first = file(&daemon, &worker, &["First?", "-o", "A", "-o", "B"]);
    let mut watch = daemon.command(&["inbox", "--watch", "--json"]);
    let mut watch = watch.stdout(Stdio::piped()).spawn().expect("it starts");
    let out = watch.stdout.take().expect("piped");
    let mut lines = std::io::BufReader::new(out).lines();
    let mut next = |what: &str, id: &str| {
        // That the daemon is away and back is told where it takes long enough to be noticed.
        let mut told = lines.by_ref().map(|line| serde_json::from_str(&line.unwrap()).unwrap());
        let line: Value = told.find(|line: &Value| !line["ask"].is_null()).expect("a line");
        assert_eq!((&line["what"], &line["ask"]["id"]), (&what.into(), &id.into()), "{line}");
        line
    };
    daemon.verb(Some(&lead), &["escalate", &first, "-m", "not mine"]).ends(0);
    assert_eq!(next("came", &first)["ask"]["hop"]["reason"], "not mine");
    daemon.verb(None, &["claim", &first]).ends(0);
    assert_eq!(next("changed", &first)["ask"]["claim"]["person"], "owner");
    daemon.kill();
    daemon.restart();
    daemon.verb(None, &["answer", &first, "A"]).ends(0);
    assert_eq!(next("left", &first)["ask"]["outcome"]["kind"], "answered");
    signal(&watch, Signal::INT);
    assert_eq!(watch.wait().expect("it ends").code(), Some(130));
}

#[test]
fn rule_20_an_answer_is_bound_to_what_was_on_the_screen() {
    let daemon = Daemon::start(&[]);
    let (_, worker) = daemon.pair();
    let id = file(&daemon, &worker, &["Swap?", "-o", "Yes=keep everything", "-o", "No"]);
    daemon.command(&["show", &id]).output().unwrap();
    let options = ["-o", "Yes=delete everything", "-o", "No"];
    let reply = [&["reply", &id, "new options"][..], &options].concat();
    daemon.verb(Some(&worker), &reply).ends(0);
    for verb in [&["answer", &id, "Yes"][..], &["decline", &id]] {
        assert_eq!(daemon.verb(None, verb).ends(7).error()["reason"], "STALE");
    }
    let log = daemon.verb(None, &["log", &id]).ends(0).lines();
    let digests: Vec<_> = log.iter().map(|event| event["content_digest"].clone()).collect();
    assert_ne!(digests.first(), digests.last(), "the history says what was replaced: {log:?}");
    daemon.command(&["show", &id]).output().unwrap();
    daemon.verb(None, &["answer", &id, "Yes"]).ends(0);
}

#[test]
fn a_wait_says_that_another_worker_has_the_outcome_in_hand() {
    let daemon = Daemon::start(&[]);
    let (_, worker) = daemon.pair();
    let id = file(&daemon, &worker, &["Which?", "-o", "A", "-o", "B"]);
    daemon.verb(None, &["answer", &id, "A"]).ends(0);
    daemon.verb(Some(&worker), &["deliveries", "take", "--as", "one"]).ends(0);
    let mut wait = daemon.command(&["wait", &id]);
    let said = Said::by(wait.env(place::TOKEN_VAR, &worker)).ends(0);
    assert!(said.err.contains("not acknowledged") && said.err.contains("`one`"), "{said:?}");
}

#[test]
fn a_sender_is_told_of_a_lost_outcome_only_when_it_was_read() {
    let daemon = Daemon::start(&[]);
    let (lead, worker) = daemon.pair();
    let id = file(&daemon, &worker, &["Which?", "-o", "A", "-o", "B"]);
    daemon.verb(None, &["answer", &id, "A"]).ends(0);
    daemon.verb(Some(&worker), &["session", "end"]).ends(0);
    // The sweep that finds nobody is at its own time.
    let lost = |line: &Value| line["delivery"]["state"] == "undeliverable";
    daemon.verb(Some(&lead), &["wait", &id]).ends(0);
    let begun = Instant::now();
    while !lost(&daemon.verb(None, &["show", &id]).ends(0).json()) {
        assert!(begun.elapsed() < PATIENCE, "the sweep does not come");
    }
    let mut unread = daemon.command(&["inbox", "--json"]);
    let unread = unread.env(place::TOKEN_VAR, &lead).stdout(Stdio::piped()).spawn();
    let mut unread = unread.expect("it starts");
    drop(unread.stdout.take());
    unread.wait().expect("it ends");
    let told = daemon.verb(Some(&lead), &["inbox"]).ends(0).lines();
    assert!(told.len() == 1 && lost(&told[0]), "what nobody read is told again: {told:?}");
    assert_eq!(daemon.verb(Some(&lead), &["inbox"]).ends(0).out, "", "and then it is known");
}

#[test]
fn a_withdrawal_is_done_for_its_asker_and_too_late_for_others() {
    let daemon = Daemon::start(&[]);
    let (lead, worker) = daemon.pair();
    let id = file(&daemon, &worker, &["Which?", "-o", "A", "-o", "B"]);
    daemon.verb(Some(&worker), &["withdraw", &id]).ends(0);
    daemon.verb(Some(&worker), &["withdraw", &id]).ends(0);
    daemon.verb(Some(&lead), &["withdraw", &id]).ends(6);
}

#[test]
fn a_persons_no_stands_and_is_asked_over_only_on_purpose() {
    let daemon = Daemon::start(&[]);
    let (_, worker) = daemon.pair();
    let question = ["Delete it?", "-o", "Yes", "-o", "No"];
    let first = file(&daemon, &worker, &question);
    daemon.verb(None, &["decline", &first, "-m", "never"]).ends(0);
    daemon.verb(Some(&worker), &["wait", &first]).ends(3);

    let line: Vec<_> = ["ask"].iter().chain(&question).chain(&["--wait"]).copied().collect();
    let told = daemon.verb(Some(&worker), &line).ends(3).json();
    let outcome = &told["outcome"];
    assert_eq!((&outcome["stands_from"], &outcome["note"]), (&first.into(), &"never".into()));

    let again = file(&daemon, &worker, &[&question[..], &["--again"]].concat());
    let shown = daemon.verb(None, &["show", &again]).ends(0).json();
    assert_eq!((&shown["state"], &shown["asked_again"]), (&"open".into(), &1.into()));
    assert_eq!(shown["waiting_on"]["kind"], "people");
    let declined = daemon.verb(None, &["inbox", "--outcome", "declined"]).ends(0).lines();
    assert_eq!(declined.len(), 2, "{declined:?}");
}

#[test]
fn an_ask_that_awaits_its_asker_is_listed_and_ends_no_wait() {
    let daemon = Daemon::start(&[]);
    let (lead, worker) = daemon.pair();
    let (lead, worker) = (Some(&*lead), &*worker);
    let id = file(&daemon, worker, &["Which?", "-o", "A"]);
    daemon.verb(lead, &["say", &id, "How many?"]).ends(0);
    let listed = daemon.verb(lead, &["inbox", "--wait", "1s"]).ends(5).json();
    assert_eq!((&listed["id"], &listed["awaiting_reply"]), (&id.as_str().into(), &true.into()));
    daemon.verb(Some(worker), &["reply", &id, "Two."]).ends(0);
    let listed = daemon.verb(lead, &["inbox", "--wait", "10m"]).ends(0).json();
    assert_eq!(listed["awaiting_reply"], false);
}

#[test]
fn an_inbox_is_narrowed_to_what_is_looked_for() {
    let daemon = Daemon::start(&[]);
    let (_, worker) = daemon.pair();
    let cache = file(&daemon, &worker, &["Which cache?", "-o", "A"]);
    let index = file(&daemon, &worker, &["Which index?", "-o", "A"]);
    let shown = daemon.verb(None, &["show", &cache]).ends(0).json();
    let asker = shown["asker"]["session"].as_str().unwrap();
    let tree = shown["tree"].as_str().unwrap();
    let of = |arguments: &[&str]| -> Vec<Value> {
        let line = [&["inbox", "--all"], arguments].concat();
        daemon.verb(None, &line).ends(0).lines().iter().map(|ask| ask["id"].clone()).collect()
    };
    let both = [Value::from(cache.as_str()), Value::from(index.as_str())];
    assert_eq!(of(&["--text", "CACHE"]), both[..1]);
    assert_eq!(of(&["--asker", &asker[..10]]), both);
    assert_eq!(of(&["--tree", tree, "--since", "2h"]), both);
    assert_eq!(of(&["--text", "nothing"]), [] as [Value; 0]);
    daemon.verb(None, &["answer", &index, "A"]).ends(0);
    assert_eq!(of(&[]), both[..1], "what is settled waits on nobody");
    assert_eq!(of(&["--settled"]), both);
    assert_eq!(of(&["--outcome", "answered"]), both[1..]);
    let people = daemon.command(&["inbox", "--all"]).output().unwrap();
    let people = String::from_utf8(people.stdout).unwrap();
    assert!(people.contains("waiting on lead (hop 1 of 2), comes to you in 14m"), "{people}");
}

#[test]
fn the_same_question_is_the_same_ask_and_says_where_it_differs() {
    let daemon = Daemon::start(&[]);
    let (_, worker) = daemon.pair();
    let id = file(&daemon, &worker, &["Which?", "-o", "A"]);
    let line = ["ask", "Which?", "-o", "A", "--expire", "1h"];
    let again = daemon.verb(Some(&worker), &line).ends(0).json();
    assert_eq!((&again["ask"]["id"], &again["replayed"]), (&id.into(), &true.into()));
    assert_eq!(again["differs"][0], "expire");
}

#[test]
fn work_may_forbid_asks_and_sessions_may_answer_none() {
    let daemon = Daemon::start(&[]);
    let (lead, _) = daemon.pair();
    daemon.verb(Some(&lead), &["send-work", "--no-asks"]).ends(0);
    let mut run = daemon.command(&["run", "--answers-none", "--no-asks", "--as", "quiet", "--"]);
    run.args([super::daemon::ASKWAY, "ask", "Which?", "--json"]).env("ASKWAY_TOKEN", &lead);
    let refused = super::daemon::Said::of(run.output().unwrap()).ends(7).error();
    assert_eq!(refused["reason"], "MAY_NOT_ASK");
    let sessions = daemon.verb(None, &["session", "ls"]).ends(0).lines();
    let quiet = sessions.iter().find(|session| session["agent"] == "quiet").expect("it is there");
    assert_eq!((&quiet["answers_none"], &quiet["state"]), (&true.into(), &"paused".into()));
    assert!(quiet["deadline_time"].is_string(), "it says when it ends: {quiet}");
    let root = daemon.command(&["run", "--no-asks", "--as", "a", "--", "true"]).output().unwrap();
    assert_eq!(root.status.code(), Some(125));
}

#[test]
fn a_wait_that_is_interrupted_says_so() {
    let daemon = Daemon::start(&[]);
    let (_, worker) = daemon.pair();
    let id = file(&daemon, &worker, &["Which?", "-o", "A"]);
    let mut wait = daemon.command(&["wait", &id, "--json"]);
    let wait = wait.env("ASKWAY_TOKEN", &worker).stdout(Stdio::null()).stderr(Stdio::null());
    let mut wait = wait.spawn().unwrap();
    let (runtime, begun) = (tokio::runtime::Runtime::new().unwrap(), Instant::now());
    let owner = runtime.block_on(async { daemon.owner() });
    // Its watch is attached once it listens for signals.
    let live = || {
        let read = runtime.block_on(owner.get_ask(&id)).expect("it is read");
        read.asker() == v1::AskerPresence::Live
    };
    while !live() {
        assert!(begun.elapsed() < PATIENCE, "it does not wait");
        std::thread::yield_now();
    }
    signal(&wait, Signal::INT);
    assert_eq!(wait.wait().unwrap().code(), Some(130));
}
