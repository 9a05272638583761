//! Who is who, on the command line; and secrets, which are nowhere but where they belong.

use crate::daemon::{Daemon, Said};
use askway::cli::place;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

fn with_file(daemon: &Daemon, file: &str, arguments: &[&str]) -> Said {
    let mut command = daemon.command(arguments);
    Said::by(command.env(place::TOKEN_FILE_VAR, file).arg("--json"))
}

#[test]
fn a_person_is_added_answers_by_a_token_of_their_own_and_is_removed() {
    let daemon = Daemon::start(&[]);
    let (_, worker) = daemon.pair();
    daemon.verb(None, &["person", "add", "ann"]).ends(0);
    let file = daemon.data().join("ann.own");
    let file = file.to_str().expect("UTF-8");
    let create = ["token", "create", "--person", "ann", "--note", "laptop", "--out", file];
    let made = daemon.verb(None, &create).ends(0).json();
    assert_eq!(made["secret"], serde_json::Value::Null, "it is in the file alone");
    assert_eq!(fs::metadata(file).expect("it is there").permissions().mode() & 0o777, 0o600);
    daemon.verb(None, &create).ends(2);
    let asked = ["ask", "Sure?", "-o", "yes", "-o", "no", "--assurance", "token"];
    let ask = daemon.verb(Some(&worker), &asked).ends(0).json()["ask"].clone();
    assert_eq!(ask["required_assurance"], "token");
    let id = ask["id"].as_str().expect("an id");
    let too_low = daemon.verb(None, &["answer", id, "yes"]).ends(7);
    assert_eq!(too_low.error()["reason"], "ASSURANCE_TOO_LOW");
    let answered = with_file(&daemon, file, &["answer", id, "yes"]).ends(0).json();
    let outcome = &answered["ask"]["outcome"];
    assert_eq!((&outcome["assurance"], &outcome["by"]["person"]), (&"token".into(), &"ann".into()));
    let shown = Said::by(&mut daemon.command(&["show", id])).ends(0);
    assert!(shown.out.contains("answered by ann (assurance token)"), "{}", shown.out);

    let token = made["token"]["id"].as_str().expect("an id");
    let listed = daemon.verb(None, &["token", "ls"]).ends(0);
    assert!(listed.out.contains(token) && listed.out.contains("laptop"));
    daemon.verb(None, &["token", "revoke", token]).ends(0);
    let refused = with_file(&daemon, file, &["inbox"]).ends(7);
    assert_eq!(refused.error()["reason"], "CREDENTIAL_REVOKED");
    daemon.verb(None, &["person", "rm", "ann"]).ends(0);
    let names = daemon.verb(None, &["person", "ls"]).ends(0).lines();
    assert_eq!(names.iter().map(|one| &one["name"]).collect::<Vec<_>>(), ["owner"]);
    // A file that others can read is no secret.
    fs::set_permissions(file, fs::Permissions::from_mode(0o644)).expect("it is ours");
    let open = with_file(&daemon, file, &["inbox"]).ends(7).error();
    assert!(open["message"].as_str().is_some_and(|said| said.contains("open to others")));
}

#[test]
fn a_folder_of_an_earlier_askway_starts_and_a_revoked_token_of_it_is_made_anew() {
    let mut daemon = Daemon::start(&[]);
    daemon.kill();
    let path = daemon.data().join(place::OWNER_TOKEN);
    // As it was before there were checks.
    let earlier = format!("askp_{}\n", "07".repeat(32));
    fs::write(&path, &earlier).expect("written");
    daemon.restart();
    daemon.verb(None, &["inbox"]).ends(0);
    assert_eq!(fs::read_to_string(&path).expect("it is there"), earlier, "it is still taken");
    let tokens = daemon.verb(None, &["token", "ls"]).ends(0).lines();
    let own = |one: &&serde_json::Value| one["person"] == "owner";
    for token in tokens.iter().filter(own) {
        let id = token["id"].as_str().expect("an id");
        daemon.verb(None, &["token", "revoke", id]).ends(0);
    }
    daemon.verb(None, &["inbox"]).ends(7);
    daemon.kill();
    daemon.restart();
    daemon.verb(None, &["inbox"]).ends(0);
    assert_ne!(fs::read_to_string(&path).expect("it is there"), earlier);
}

#[test]
fn a_removed_person_is_not_brought_back_by_the_configuration() {
    let file = "[route.default]\nhops = [{ to = \"person:ann\" }]\n";
    let mut daemon = Daemon::start_with(file, &[]);
    let (_, worker) = daemon.pair();
    let waits_on = |said: Said| said.json()["ask"]["waiting_on"]["people"].clone();
    let first = daemon.verb(Some(&worker), &["ask", "One?", "-o", "yes"]).ends(0);
    assert_eq!(waits_on(first), serde_json::json!(["ann"]));
    daemon.verb(None, &["person", "rm", "ann"]).ends(0);
    daemon.kill();
    daemon.restart();
    let later = daemon.verb(Some(&worker), &["ask", "Two?", "-o", "yes"]).ends(0);
    assert_eq!(waits_on(later), serde_json::json!(["owner"]));
    let mut as_ann = daemon.command(&["inbox", "--json"]);
    let refused = Said::by(as_ann.env(place::PERSON_VAR, "ann")).ends(7);
    assert_eq!(refused.error()["reason"], "CREDENTIAL_REVOKED");
    assert_eq!(daemon.verb(None, &["inbox"]).ends(0).lines().len(), 2);
}

/// The secrets that went through every door stand in the files that are for them, and nowhere else.
#[test]
fn no_secret_is_in_a_log_an_error_or_the_store() {
    let daemon = Daemon::start(&["--log", "trace"]);
    let (lead, worker) = daemon.pair();
    daemon.verb(None, &["person", "add", "ann"]).ends(0);
    let made = daemon.verb(None, &["token", "create", "--person", "ann"]).ends(0).json();
    let ann = made["secret"].as_str().expect("it is shown once").to_owned();
    let sent = daemon.verb(Some(&lead), &["send-work"]).ends(0).json();
    let ticket = sent["ticket"].as_str().expect("it is shown once").to_owned();
    let owner = fs::read_to_string(daemon.data().join(place::OWNER_TOKEN)).expect("a token");
    let secrets = [lead.clone(), worker.clone(), ann.clone(), ticket, owner.trim_end().to_owned()];
    let mut said = String::new();
    let verbs: [&[&str]; 9] = [
        &["ask", "Which?", "-o", "yes"],
        &["inbox"],
        &["session", "ls"],
        &["status"],
        &["token", "ls"],
        &["person", "ls"],
        &["show", "ask_0000"],
        &["send-work", "--from", "wrk_0"],
        &["deliveries", "take"],
    ];
    for token in [Some(lead.as_str()), Some(&worker), Some(&ann), None] {
        for verb in verbs {
            let done = daemon.verb(token, verb);
            said.push_str(&done.out);
            said.push_str(&done.err);
        }
    }
    // Wrong places for each of them: the errors are told, the secrets are not.
    for secret in &secrets {
        for wrong in [&secret[..secret.len() - 1], &format!("{secret}0"), &format!("x{secret}")] {
            let done = daemon.verb(Some(wrong), &["status"]);
            said.push_str(&done.err);
        }
        said.push_str(&daemon.verb(Some(&worker), &["show", secret]).err.replace(secret, ""));
    }
    let session = daemon.verb(None, &["session", "ls"]).ends(0).lines();
    for session in session {
        let id = session["id"].as_str().expect("an id");
        said.push_str(&daemon.verb(None, &["token", "revoke", "--session", id]).out);
    }
    daemon.is_loud();
    let log = daemon.log();
    let store = fs::read(daemon.data().join("askway.redb")).expect("it is there");
    for secret in &secrets {
        // What is random of it: the prefix is everywhere.
        let heart = &secret[10..40];
        assert!(!log.contains(heart), "a secret is in the log");
        assert!(!said.contains(heart), "a secret is in what was printed");
        let bytes = heart.as_bytes();
        assert!(!store.windows(bytes.len()).any(|part| part == bytes), "a secret is in the store");
    }
}

#[test]
fn a_tokens_file_behind_a_link_is_not_written_and_a_folder_that_others_write_to_not_served() {
    let mut daemon = Daemon::start(&[]);
    let link = daemon.data().join("link");
    symlink("/dev/null", &link).expect("made");
    let link = link.to_str().expect("UTF-8");
    daemon.verb(None, &["token", "create", "--host", "ci", "--out", link]).ends(2);
    let tokens = daemon.verb(None, &["token", "ls"]).ends(0).lines();
    assert!(tokens.iter().all(|token| token["host"] != "ci"), "nothing was made for nobody");
    daemon.kill();
    fs::set_permissions(daemon.data(), fs::Permissions::from_mode(0o777)).expect("it is ours");
    let refused = Said::by(&mut daemon.command(&["serve", "--json"])).ends(1);
    assert_eq!(refused.error()["reason"], "CANNOT_SERVE");
    fs::set_permissions(daemon.data(), fs::Permissions::from_mode(0o700)).expect("it is ours");
    let socket = daemon.socket();
    let _ = fs::remove_file(&socket);
    symlink("/dev/null", &socket).expect("made");
    let refused = Said::by(&mut daemon.command(&["serve", "--json"])).ends(1);
    let message = refused.error()["message"].as_str().unwrap_or_default().to_owned();
    assert!(message.contains("is no socket"), "{message}");
}
