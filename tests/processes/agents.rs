//! A person's commands where a coding agent runs its own.

use crate::daemon::{Daemon, Said};
use askway::cli::place;

/// As an agent would type it: Claude Code's marker is set.
fn by_agent(daemon: &Daemon, arguments: &[&str]) -> Said {
    Said::by(daemon.command(arguments).env("CLAUDECODE", "1").arg("--json"))
}

fn filed(daemon: &Daemon, worker: &str, question: &str) -> String {
    let asked = ["ask", question, "-o", "A", "-o", "B"];
    daemon.verb(Some(worker), &asked).ends(0).id()
}

#[test]
fn what_a_person_does_is_refused_there_until_a_person_is_named() {
    let daemon = Daemon::start(&[]);
    let (_, worker) = daemon.pair();
    let id = &filed(&daemon, &worker, "Which?");
    let lines: [&[&str]; 11] = [
        &["answer"],
        &["answer", id, "A"],
        &["decline", id],
        &["escalate", id],
        &["say", id, "words"],
        &["claim", id],
        &["release", id],
        &["person", "add", "ann"],
        &["person", "rm", "ann"],
        &["token", "create", "--person", "owner"],
        &["token", "revoke", "tok_00000000000000000000"],
    ];
    for line in lines {
        let error = by_agent(&daemon, line).ends(7).error();
        assert_eq!(error["reason"], "AS_PERSON", "{line:?}: {error}");
        assert_eq!(error["next"], "the same with --as-person owner", "{line:?}");
        assert!(error["message"].as_str().is_some_and(|said| said.contains("CLAUDECODE")));
    }
    let log = daemon.verb(None, &["log", id]).ends(0).lines();
    assert_eq!(log.len(), 1, "nothing came of any of it: {log:?}");
    let reading: [&[&str]; 6] =
        [&["inbox"], &["show", id], &["log", id], &["status"], &["person", "ls"], &["token", "ls"]];
    for line in reading {
        by_agent(&daemon, line).ends(0);
    }
    by_agent(&daemon, &["--as-person", "owner", "person", "add", "ann"]).ends(0);
    let create = ["--as-person", "owner", "token", "create", "--person", "ann"];
    let made = by_agent(&daemon, &create).ends(0).json();
    assert_eq!(made["token"]["in_agent"], true, "who made it there is told by the list: {made}");
    let list = Said::by(&mut daemon.command(&["token", "ls"])).ends(0);
    assert!(list.out.contains("local (typed in an agent's environment)"), "{}", list.out);
}

#[test]
fn an_agent_that_looks_is_not_a_person_who_was_shown_it() {
    let daemon = Daemon::start(&[]);
    let (_, worker) = daemon.pair();
    let id = filed(&daemon, &worker, "Which?");
    let show = |arguments: &[&str]| {
        Said::by(daemon.command(arguments).env("AI_AGENT", "some")).ends(0);
        daemon.verb(None, &["show", &id]).ends(0).json()["seen"].clone()
    };
    assert_eq!(show(&["show", &id]), serde_json::json!([]));
    let said = Said::by(&mut daemon.command(&["answer", &id, "nothing like it"])).ends(2);
    assert!(!said.err.is_empty());
    let mut claimed = daemon.command(&["show", &id, "--seen", "--json"]);
    let claimed = Said::by(claimed.env("AI_AGENT", "some")).ends(7);
    assert_eq!(claimed.error()["reason"], "AS_PERSON");
    let as_person = ["show", &id, "--seen", "--as-person", "owner"];
    assert_eq!(show(&as_person)[0]["person"], "owner");
}

#[test]
fn what_is_done_as_a_person_there_says_so_to_everybody() {
    let daemon = Daemon::start(&[]);
    let (lead, worker) = daemon.pair();
    let id = filed(&daemon, &worker, "Which?");
    by_agent(&daemon, &["say", &id, "so?", "--as-person", "owner"]).ends(0);
    let done = by_agent(&daemon, &["answer", &id, "A", "--as-person", "owner"]).ends(0).json();
    assert_eq!(done["ask"]["outcome"]["in_agent"], true);
    let wait = daemon.verb(Some(&worker), &["wait", &id]).ends(0).out;
    assert!(wait.contains("\"in_agent\":true"), "{wait}");
    let log = daemon.verb(None, &["log", &id]).ends(0).lines();
    let marks: Vec<_> = log.iter().map(|event| event["in_agent"].clone()).collect();
    assert_eq!(marks[..3], [false, true, true]);
    let text = |verb| Said::by(&mut daemon.command(&[verb, &id])).ends(0).out;
    let shown = text("show");
    let ended = "answered by owner (assurance local, typed in an agent's environment)";
    assert!(shown.contains(ended), "{shown}");
    assert!(
        shown.contains("owner (assurance local, typed in an agent's environment) said"),
        "{shown}"
    );
    assert!(text("log").contains("answered\towner (typed in an agent's environment)"));
    // A session's token is the mark of an agent by itself; the session's own answer is a session's.
    let other = filed(&daemon, &worker, "And now?");
    let as_owner = ["--as-person", "owner", "answer", &other, "A"];
    let done = daemon.verb(Some(&worker), &as_owner).ends(0).json();
    assert_eq!(done["ask"]["outcome"]["in_agent"], true);
    let third = filed(&daemon, &worker, "And then?");
    let mut by_lead = daemon.command(&["answer", &third, "A", "--json"]);
    let done = Said::by(by_lead.env("CLAUDECODE", "1").env(place::TOKEN_VAR, &lead)).ends(0);
    assert_eq!(done.json()["ask"]["outcome"]["in_agent"], false);
}

#[test]
fn a_person_named_there_keeps_a_token_of_their_own() {
    let daemon = Daemon::start(&[]);
    let (_, worker) = daemon.pair();
    daemon.verb(None, &["person", "add", "ann"]).ends(0);
    let made = daemon.verb(None, &["token", "create", "--person", "ann"]).ends(0).json();
    let token = made["secret"].as_str().expect("a token").to_owned();
    for (name, assurance) in [("ann", "token"), ("owner", "local")] {
        let id = filed(&daemon, &worker, name);
        let line = ["answer", &id, "A", "--as-person", name, "--json"];
        let mut command = daemon.command(&line);
        let done = Said::by(command.env("CODEX_SANDBOX", "seatbelt").env(place::TOKEN_VAR, &token));
        let outcome = done.ends(0).json()["ask"]["outcome"].clone();
        assert_eq!(
            (&outcome["by"]["person"], &outcome["assurance"]),
            (&name.into(), &assurance.into())
        );
        assert_eq!(outcome["in_agent"], true);
    }
}
