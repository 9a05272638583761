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
    // What would be refused is not what to type.
    let told = Said::by(&mut daemon.command(&["show", id])).ends(0).err;
    assert!(told.contains("next: export ASKWAY_TOKEN_FILE=FILE"), "{told}");
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

/// What the daemon reads is a file of its own user's, that nobody else may write to, and no link.
#[test]
fn a_folder_a_store_or_settings_behind_links_or_open_to_others_are_not_served() {
    let mut daemon = Daemon::start(&[]);
    daemon.kill();
    let said = |command: &mut std::process::Command| {
        let refused = Said::by(command);
        assert!(matches!(refused.code, 1 | 2), "{refused:?}");
        refused.err
    };
    let link = daemon.data().parent().expect("it is in one").join("link");
    symlink(daemon.data(), &link).expect("made");
    for named in [link.clone(), link.join("")] {
        let mut serve = daemon.command(&["serve", "--json"]);
        let error = said(serve.env(place::DATA_VAR, &named));
        assert!(error.contains("symbolic link"), "{}: {error}", named.display());
    }
    for name in ["askway.toml", "askway.redb", "askway.lock"] {
        let path = daemon.data().join(name);
        let aside = daemon.data().join("aside");
        if !path.exists() {
            fs::write(&path, "").expect("written");
        }
        fs::rename(&path, &aside).expect("moved");
        symlink(&aside, &path).expect("made");
        let error = said(&mut daemon.command(&["serve", "--json"]));
        assert!(error.contains("symbolic link") && error.contains(name), "{error}");
        fs::rename(&aside, &path).expect("moved back");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).expect("it is ours");
        let error = said(&mut daemon.command(&["serve", "--json"]));
        assert!(error.contains("by others") && error.contains(name), "{error}");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("it is ours");
    }
    daemon.restart();
    daemon.verb(None, &["inbox"]).ends(0);
}

/// Neither waited for nor read without end, and what is set to nothing is not set.
#[test]
fn a_token_is_read_from_no_pipe_no_link_and_no_device() {
    let daemon = Daemon::start(&[]);
    let pipe = daemon.data().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().expect("it runs").success());
    let link = daemon.data().join("link.token");
    symlink(daemon.data().join(place::OWNER_TOKEN), &link).expect("made");
    let long = daemon.data().join("long.token");
    fs::write(&long, vec![b'a'; 1 << 16]).expect("written");
    fs::set_permissions(&long, fs::Permissions::from_mode(0o600)).expect("it is ours");
    let cases = [(pipe, "no file"), (link, "symbolic link"), (long, "larger than")];
    for (path, why) in cases.into_iter().chain([("/dev/zero".into(), "no file")]) {
        let refused = with_file(&daemon, path.to_str().expect("UTF-8"), &["inbox"]).ends(7);
        assert!(refused.err.contains(why), "{}: {refused:?}", path.display());
    }
    let mut unset = daemon.command(&["inbox"]);
    Said::by(unset.env(place::TOKEN_VAR, "").env(place::TOKEN_FILE_VAR, "")).ends(0);
}

#[test]
fn the_namespaces_are_listed_for_the_daemons_user_and_for_nobody_else() {
    let daemon = Daemon::start(&[]);
    let add = ["person", "add", "ann", "--namespace", "acme", "--new-namespace"];
    daemon.verb(None, &add).ends(0);
    let create = ["token", "create", "--person", "ann", "--namespace", "acme"];
    let ann = daemon.verb(None, &create).ends(0).json()["secret"].clone();
    let listed = Said::by(&mut daemon.command(&["namespace", "ls"])).ends(0).out;
    assert_eq!(listed, "default\t1\t2\nacme\t2\t1\n", "the folder's tokens are two");
    let rows = daemon.verb(None, &["namespace", "ls"]).ends(0).lines();
    assert_eq!((&rows[1]["name"], &rows[1]["people"]), (&"acme".into(), &2.into()));
    let (_, worker) = daemon.pair();
    for token in [ann.as_str().expect("it is shown once"), &worker] {
        let refused = daemon.verb(Some(token), &["namespace", "ls"]).ends(7);
        assert_eq!(refused.error()["reason"], "WRONG_PRINCIPAL");
        assert!(!refused.out.contains("default"), "{refused:?}");
    }
}

#[test]
fn a_token_that_is_made_again_says_what_became_of_the_first() {
    let daemon = Daemon::start(&[]);
    let file = |name: &str| daemon.data().join(name).to_str().expect("UTF-8").to_owned();
    let (first, second, third) = (file("1.token"), file("2.token"), file("3.token"));
    let create = |out: &str| {
        let line = ["token", "create", "--host", "ci", "--request-id", "once", "--out", out];
        Said::by(&mut daemon.command(&line))
    };
    create(&first).ends(0);
    let again = create(&second).ends(0);
    assert!(again.err.contains("is void"), "{again:?}");
    with_file(&daemon, &first, &["status"]).ends(7);
    with_file(&daemon, &second, &["status"]).ends(0);
    let used = create(&third).ends(7);
    assert!(
        used.err.contains("has been used") && used.err.contains("token revoke tok_"),
        "{used:?}"
    );
    assert!(!std::path::Path::new(&third).exists(), "there is nothing to be in it");

    let both = ["token", "revoke", "--session", "ses_0000", "--namespace", "acme"];
    daemon.verb(None, &both).ends(2);
}
