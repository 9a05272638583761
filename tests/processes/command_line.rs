//! The command line as others script it: exit codes, and one object a line.

use super::daemon::{Daemon, Said};
use askway::cli::place;
use askway::grpc::v1;
use serde_json::Value;
use std::collections::HashMap;
use std::fs;
use std::sync::{Arc, Mutex};
use tokio::task::{JoinSet, block_in_place};

fn ask(daemon: &Daemon, worker: &str, question: &str) -> String {
    daemon.verb(Some(worker), &["ask", question, "-o", "A=the first", "-o", "B"]).ends(0).id()
}

#[test]
fn an_ask_is_spoken_about_answered_and_delivered() {
    let daemon = Daemon::start(&[]);
    let (lead, worker) = daemon.pair();
    let (lead, worker) = (Some(&*lead), Some(&*worker));
    let line = ["ask", "Which?", "-o", "A=the first", "-o", "B", "--request-id", "one"];
    let filed = daemon.verb(worker, &line).ends(0);
    let id = &*filed.id();
    let receipt = filed.json();
    assert_eq!(receipt["result"], "accepted");
    assert_eq!(receipt["replayed"], false);
    assert_eq!(receipt["ask"]["state"], "open");
    assert_eq!(receipt["ask"]["delivery"], Value::Null);
    assert_eq!(receipt["ask"]["waiting_on"]["kind"], "session");
    assert_eq!(receipt["ask"]["waiting_on"]["agent"], "lead");
    assert_eq!(receipt["ask"]["questions"][0]["options"][0]["description"], "the first");
    assert_eq!(daemon.verb(worker, &line).ends(0).json()["replayed"], true);
    let other = ["ask", "Another?", "--request-id", "one"];
    assert_eq!(daemon.verb(worker, &other).ends(2).error()["reason"], "REQUEST_ID_REUSED");

    assert_eq!(daemon.verb(worker, &["wait", id, "--for", "1ms"]).ends(5).json()["id"], id);
    assert_eq!(daemon.verb(lead, &["inbox", "--wait", "10m"]).ends(0).json()["id"], id);
    assert_eq!(daemon.verb(worker, &["inbox", "--wait", "1ms"]).ends(5).out, "");
    assert_eq!(daemon.verb(lead, &["say", id, "How many?"]).ends(0).json()["result"], "accepted");
    let spoken = daemon.verb(worker, &["wait", id, "--for", "10m"]).ends(10).json();
    assert_eq!(spoken["turns"][0]["text"], "How many?");
    daemon.verb(worker, &["wait", id, "--for", "1ms"]).ends(5);
    daemon.verb(worker, &["reply", id, "A million."]).ends(0);

    let answered = daemon.verb(lead, &["answer", id, "A", "--text", "it fits"]).ends(0).json();
    assert_eq!(answered["ask"]["delivery"]["state"], "unread");
    // Somebody else's wait acknowledges nothing; the asker's does.
    for (caller, delivery) in [(None, "unread"), (worker, "acknowledged")] {
        let told = daemon.verb(caller, &["wait", id]).ends(0).json();
        let outcome = &told["outcome"];
        assert_eq!(
            (&outcome["kind"], &outcome["by"]["kind"]),
            (&"answered".into(), &"session".into())
        );
        assert_eq!(outcome["answers"]["q1"]["selected"][0], "A", "{outcome}");
        let shown = daemon.verb(None, &["show", id]).ends(0).json();
        assert_eq!(shown["delivery"]["state"], delivery);
    }
    let late = daemon.verb(None, &["answer", id, "B"]).ends(6);
    assert_eq!(
        (late.json()["result"].clone(), late.error()["reason"].clone()),
        ("closed".into(), "CLOSED".into())
    );
    let log = daemon.verb(worker, &["log", id]).ends(0).lines();
    let kinds: Vec<_> = log.iter().map(|event| event["kind"].as_str().unwrap()).collect();
    let told = ["filed", "said", "acknowledged", "replied", "answered", "acknowledged"];
    assert_eq!(kinds, told);
    assert_eq!(daemon.verb(worker, &["show", &id[4..12]]).ends(0).json()["id"], id);
}

#[test]
fn each_other_ending_has_its_exit_code() {
    let daemon = Daemon::start(&[]);
    let (lead, worker) = daemon.pair();
    let (lead, worker) = (Some(&*lead), Some(&*worker));

    let declined = &*ask(&daemon, worker.unwrap(), "Declined?");
    let refused = daemon.verb(lead, &["decline", declined]).ends(7);
    assert_eq!(refused.out, "", "a session cannot decline");
    daemon.verb(None, &["decline", declined, "-m", "no money"]).ends(0);
    let told = daemon.verb(worker, &["wait", declined]).ends(3).json();
    assert_eq!(
        (&told["outcome"]["kind"], &told["outcome"]["note"]),
        (&"declined".into(), &"no money".into())
    );

    let withdrawn = &*ask(&daemon, worker.unwrap(), "Withdrawn?");
    daemon.verb(worker, &["withdraw", withdrawn]).ends(0);
    daemon.verb(worker, &["wait", withdrawn]).ends(4);

    let moved = &*ask(&daemon, worker.unwrap(), "Escalated?");
    assert_eq!(daemon.verb(None, &["inbox"]).ends(0).out, "", "it waits on the lead");
    assert_eq!(daemon.verb(None, &["inbox", "--all"]).ends(0).json()["id"], moved);
    let receipt = daemon.verb(lead, &["escalate", moved, "-m", "not mine"]).ends(0).json();
    let hop = &receipt["ask"]["hop"];
    assert_eq!((&hop["cause"], &hop["reason"]), (&"refused".into(), &"not mine".into()));
    assert_eq!(receipt["ask"]["waiting_on"]["people"][0], "owner", "{receipt}");
    let late = daemon.verb(lead, &["answer", moved, "A"]).ends(7);
    assert_eq!(late.error()["reason"], "NOT_SENDER");
    let last = daemon.verb(None, &["escalate", moved]).ends(7);
    assert_eq!(last.error()["reason"], "LAST_HOP");
    assert!(last.error()["next"].as_str().unwrap().starts_with("askway answer"));
    assert_eq!(daemon.verb(None, &["inbox", "--wait", "10m"]).ends(0).json()["id"], moved);
    let claimed = daemon.verb(None, &["claim", moved]).ends(0).json();
    assert_eq!(claimed["ask"]["claim"]["person"], "owner");
    daemon.verb(None, &["release", moved]).ends(0);
    let bad = daemon.verb(None, &["answer", moved, "C"]).ends(2).error();
    assert_eq!(bad["reason"], "INVALID_ARGUMENT");
    assert!(!bad["fields"].as_array().unwrap().is_empty(), "{bad}");

    let (_, stranger) = daemon.pair();
    for unknown in [moved, "ask_00000000000000000000"] {
        let said = daemon.verb(Some(&stranger), &["show", unknown]).ends(8);
        assert_eq!((said.out.as_str(), said.error()["reason"].clone()), ("", "NOT_FOUND".into()));
    }
    daemon.verb(worker, &["session", "end"]).ends(0);
    daemon.verb(None, &["wait", moved]).ends(4);
}

#[test]
fn sessions_tickets_and_the_daemon_are_told_as_json() {
    let daemon = Daemon::start(&[]);
    let (lead, _) = daemon.pair();
    let sessions = daemon.verb(None, &["session", "ls"]).ends(0).lines();
    let agents: Vec<_> = sessions.iter().map(|session| session["agent"].clone()).collect();
    assert_eq!(agents, ["lead", "worker"]);
    assert_eq!(sessions[1]["parent"]["session"], sessions[0]["id"]);
    let sent = daemon.verb(Some(&lead), &["send-work"]).ends(0).json();
    assert!(sent["ticket"].as_str().unwrap().starts_with("askt_"), "{sent}");
    daemon.verb(None, &["send-work"]).ends(7);
    let status = daemon.verb(None, &["status"]).ends(0).json();
    assert_eq!(status["data"], daemon.data().display().to_string());

    let id = sessions[1]["id"].as_str().unwrap();
    let ended = daemon.verb(None, &["session", "end", &id[..10]]).ends(0).json();
    assert_eq!(
        (&ended["result"], &ended["session"]["state"]),
        (&"accepted".into(), &"ended".into())
    );
    assert_eq!(daemon.verb(None, &["session", "ls"]).ends(0).lines().len(), 1);
    assert_eq!(daemon.verb(None, &["session", "ls", "--all"]).ends(0).lines().len(), 2);
    daemon.verb(None, &["session", "end", "zzzz"]).ends(8);
}

#[test]
fn a_person_asks_nobody_and_a_bad_token_is_nobody() {
    let daemon = Daemon::start(&[]);
    let person = daemon.verb(None, &["ask", "Which?"]).ends(7);
    assert!(person.error()["next"].as_str().unwrap().starts_with("askway run --as"));
    let owner = fs::read_to_string(daemon.data().join(place::OWNER_TOKEN)).unwrap();
    let (_, real) = daemon.pair();
    let flipped = if real.ends_with('0') { "1" } else { "0" };
    let unknown = format!("{}{flipped}", &real[..real.len() - 1]);
    let status = daemon.verb(Some(owner.trim_end()), &["status"]).ends(0);
    assert_eq!(status.json()["caller"], "person owner", "a person's own token is theirs");
    daemon.verb(Some(owner.trim_end()), &["ask", "Which?"]).ends(7);
    let ticket = format!("askt_{}", "0".repeat(64));
    for token in ["nonsense", &ticket, &unknown] {
        for line in [&["status"][..], &["inbox"], &["ask", "Which?"], &["session", "ls"]] {
            let said = daemon.verb(Some(token), line).ends(7);
            assert_eq!(said.error()["reason"], "BAD_CREDENTIAL", "{token} {line:?}");
            assert_eq!(said.out, "", "{token} {line:?}");
        }
    }
}

#[test]
fn a_daemon_that_is_away_is_to_be_tried_again() {
    let mut daemon = Daemon::start(&[]);
    daemon.kill();
    let said = daemon.verb(None, &["inbox"]).ends(9);
    assert_eq!((said.out.as_str(), said.error()["reason"].clone()), ("", "NO_DAEMON".into()));
}

/// Asks, each known by its first four characters.
type Beginnings = Arc<Mutex<HashMap<String, String>>>;

/// Files asks, four in a session, until two begin alike; gives both.
async fn until_two_begin_alike(daemon: Arc<Daemon>, all: Beginnings) -> [String; 2] {
    loop {
        let request = v1::EnrollRequest { agent: "asker".into(), ..Default::default() };
        let enrolled = daemon.client(None).enroll(request).await.expect("a root session");
        let asker = daemon.client(Some(&enrolled.token));
        for number in 0..4 {
            let question = v1::Question { question: format!("{number}?"), ..Default::default() };
            let request = v1::AskRequest { questions: vec![question], ..Default::default() };
            let receipt = asker.ask(request).await.expect("an ask is filed");
            let id = receipt.ask.expect("the ask").id;
            let before = all.lock().unwrap().insert(id[4..8].to_owned(), id.clone());
            if let Some(before) = before {
                return [before, id];
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_ambiguous_beginning_of_an_id_lists_what_it_could_be() {
    let daemon = Arc::new(Daemon::start(&["--log", "error"]));
    let (all, mut askers) = (Beginnings::default(), JoinSet::new());
    for _ in 0..32 {
        askers.spawn(until_two_begin_alike(daemon.clone(), all.clone()));
    }
    let two = askers.join_next().await.expect("an asker").expect("two that begin alike");
    askers.shutdown().await;
    let said = block_in_place(|| daemon.verb(None, &["show", &two[0][4..8]])).ends(2);
    let error = said.error();
    assert_eq!((error["reason"].as_str(), said.out.as_str()), (Some("AMBIGUOUS_ID"), ""));
    for id in &two {
        assert!(error["message"].as_str().unwrap().contains(id.as_str()), "{error}");
        block_in_place(|| daemon.verb(None, &["show", id])).ends(0);
    }
    assert!(error["next"].as_str().unwrap().starts_with("askway show ask_"), "{error}");
}

#[test]
fn what_is_not_there_is_looked_for_where_it_would_be() {
    let daemon = Daemon::start(&[]);
    for (line, next) in [
        (&["person", "rm", "nobody"][..], "askway person ls"),
        (&["session", "end", "ses_zzzz"], "askway session ls --all"),
        (&["token", "revoke", "tok_00000000000000000000"], "askway token ls"),
        (&["person", "ls", "--namespace", "n2"], "--new-namespace"),
        (&["show", "ask_zzzz"], "askway inbox --all"),
    ] {
        let error = daemon.verb(None, line).error();
        assert!(
            error["next"].as_str().is_some_and(|said| said.contains(next)),
            "{line:?}: {error}"
        );
    }
}

#[test]
fn a_field_that_is_wrong_is_named_by_what_was_typed_for_it() {
    let daemon = Daemon::start(&[]);
    let (_, worker) = daemon.pair();
    let people = |token: Option<&str>, line: &[&str]| {
        let mut command = daemon.command(line);
        token.map(|token| command.env(place::TOKEN_VAR, token));
        Said::by(&mut command).ends(2).err
    };
    let twice = ["ask", "Which?", "-o", "A", "-o", "B", "-o", "a", "--expire", "1s"];
    let said = people(Some(&worker), &twice);
    assert!(said.contains("  --option (the 3rd of them): `a` looks like"), "{said}");
    assert!(said.contains("  --expire: must be from"), "{said}");
    let said = people(None, &["show", "ask_!!!!"]);
    assert!(said.contains("  ID: must be"), "{said}");
    let asked = daemon.verb(Some(&worker), &["ask", "Which?", "-o", "A", "-o", "B"]).ends(0).json();
    let id = asked["ask"]["id"].as_str().expect("an id");
    let said = people(None, &["claim", id, "--for", "2h"]);
    assert!(said.contains("  --for: must be from"), "{said}");
    // Programs read the names that the API has for them, also of what a file says.
    let fields = daemon.verb(Some(&worker), &twice).ends(2).error()["fields"].clone();
    let fields: Vec<_> = fields.as_array().unwrap().iter().map(|one| &one["field"]).collect();
    assert_eq!(fields, ["questions[0].options[2].label", "expire"]);
    let file = daemon.data().join("ask.json");
    let bad = r#"{"questions":[{"question":"Which?","options":[{"label":"A"},{"label":"a"}]}]}"#;
    std::fs::write(&file, bad).expect("written");
    let said = people(Some(&worker), &["ask", "--file", file.to_str().expect("text")]);
    assert!(said.contains("  questions[0].options[1].label: "), "{said}");
}

#[test]
fn what_to_type_next_has_the_ids_that_lists_show_and_places_that_a_shell_takes() {
    let daemon = Daemon::start(&[]);
    let (_, worker) = daemon.pair();
    let asked = daemon.verb(Some(&worker), &["ask", "Which?", "-o", "A", "-o", "B"]).ends(0).json();
    let id = asked["ask"]["id"].as_str().expect("an id");
    let short = &id[..10];
    let next = |said: Said| said.error()["next"].as_str().expect("a hint").to_owned();
    let wrong = daemon.verb(None, &["answer", id, "a"]).ends(2);
    assert_eq!(next(wrong), format!("askway answer {short} A"));
    let none = daemon.verb(None, &["release", id]).ends(7);
    assert_eq!(next(none), format!("askway claim {short}"));
    let shown = Said::by(&mut daemon.command(&["show", id])).ends(0).err;
    assert!(shown.contains(&format!("next: askway answer {short} LABEL")), "{shown}");
    // What is settled may be found by its whole id alone.
    daemon.verb(None, &["answer", short, "A"]).ends(0);
    let late = daemon.verb(None, &["answer", id, "B"]).ends(6);
    assert!(late.err.contains(&format!("askway show {id}")) || late.out.contains(id), "{late:?}");

    let place = daemon.data().join("my token's file");
    std::fs::copy(daemon.data().join(place::OWNER_TOKEN), &place).expect("copied");
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o644);
    std::fs::set_permissions(&place, open).expect("it is ours");
    let mut command = daemon.command(&["inbox", "--json"]);
    let open = Said::by(command.env(place::TOKEN_FILE_VAR, &place)).ends(7);
    let typed = place.to_str().expect("text").replace('\'', r"'\''");
    assert_eq!(next(open), format!("chmod 600 '{typed}'"));
}

#[test]
fn a_credential_that_is_missing_or_bad_is_told_by_the_variable_that_says_it() {
    let daemon = Daemon::start(&[]);
    let with = |variables: &[(&str, &str)]| {
        let mut command = daemon.command(&["inbox", "--json"]);
        Said::by(command.envs(variables.iter().copied())).ends(7).error()
    };
    let file = with(&[(place::TOKEN_FILE_VAR, "/nope")]);
    assert!(file["next"].as_str().unwrap().contains("unset ASKWAY_TOKEN_FILE"), "{file}");
    let token = with(&[(place::TOKEN_VAR, "x")]);
    assert!(token["next"].as_str().unwrap().starts_with("unset ASKWAY_TOKEN,"), "{token}");
    let address = format!("unix:{}", daemon.socket().display());
    let elsewhere = tempfile::tempdir().expect("a folder");
    let data = elsewhere.path().to_str().expect("text");
    let none = with(&[(place::ADDRESS_VAR, &address), (place::DATA_VAR, data)]);
    assert_eq!(none["reason"], "NO_CREDENTIAL");
    assert!(none["message"].as_str().unwrap().contains("no token"), "{none}");
    assert!(none["next"].as_str().unwrap().starts_with("export ASKWAY_TOKEN_FILE="), "{none}");
}

#[test]
fn a_token_that_cannot_be_written_is_revoked_again() {
    let daemon = Daemon::start(&[]);
    daemon.verb(None, &["person", "add", "ann"]).ends(0);
    let tokens = || daemon.verb(None, &["token", "ls"]).ends(0).lines().len();
    let before = tokens();
    for more in [&[][..], &["--json"]] {
        let line = [&["token", "create", "--person", "ann"][..], more].concat();
        let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("it is there");
        let said = Said::of(daemon.command(&line).stdout(full).output().expect("it runs")).ends(1);
        assert!(said.err.contains("is revoked again, since nobody has it"), "{said:?}");
        assert_eq!(tokens(), before, "{said:?}");
    }
}

#[test]
fn what_is_said_may_stand_behind_a_flag_as_in_other_verbs() {
    let daemon = Daemon::start(&[]);
    let (lead, worker) = daemon.pair();
    let id = ask(&daemon, &worker, "Which?");
    daemon.verb(Some(&lead), &["say", &id, "-m", "- how many?"]).ends(0);
    let line = ["reply", &id, "--message", "A million."];
    let said = daemon.verb(Some(&worker), &line).ends(0).json();
    let texts: Vec<_> =
        said["ask"]["turns"].as_array().unwrap().iter().map(|t| &t["text"]).collect();
    assert_eq!(texts, ["- how many?", "A million."]);
    daemon.verb(Some(&lead), &["say", &id]).ends(2);
    daemon.verb(Some(&lead), &["say", &id, "one", "-m", "two"]).ends(2);
    let unknown = Said::by(&mut daemon.command(&["frobnicate"])).ends(2);
    assert!(unknown.err.contains("there are serve, demo, run, ask"), "{unknown:?}");
    assert!(unknown.err.contains("next: askway --help"), "{unknown:?}");
}
