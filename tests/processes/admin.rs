//! `askway admin`: copies of all that is kept, and what becomes of them.

use super::daemon::{Daemon, Said, command, data_of};
use super::terminal::Terminal;
use askway::cli::place;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::Stdio;
use tempfile::TempDir;

fn log_of(daemon: &Daemon, id: &str) -> String {
    daemon.verb(None, &["log", id]).ends(0).out
}

fn admin(data: &Path, arguments: &[&str]) -> Said {
    Said::by(command(data, &[&["admin"], arguments].concat()).arg("--json"))
}

fn text(path: &Path) -> &str {
    path.to_str().expect("it is text")
}

/// A daemon with an answered ask and an open one, and a folder for copies.
fn scene() -> (Daemon, TempDir, [String; 2]) {
    let daemon = Daemon::start(&[]);
    let (lead, worker) = daemon.pair();
    let ids = [
        daemon.ask(&worker, "Which store?").ends(0).id(),
        daemon.ask(&worker, "Which port?").ends(0).id(),
    ];
    daemon.verb(Some(&lead), &["answer", &ids[0], "yes"]).ends(0);
    (daemon, tempfile::tempdir().expect("a folder"), ids)
}

#[test]
fn what_was_backed_up_while_it_ran_is_there_after_a_restore() {
    let (mut daemon, copies, ids) = scene();
    let copy = copies.path().join("copy.redb");
    let copied = admin(&daemon.data(), &["backup", text(&copy)]).ends(0).json();
    assert_eq!((&copied["asks"], &copied["open"]), (&2.into(), &1.into()), "{copied}");
    let whole = admin(&daemon.data(), &["verify", text(&copy)]).ends(0).json();
    assert_eq!(whole["incarnation"], copied["incarnation"], "a copy is of the same store");
    assert_eq!(
        admin(&daemon.data(), &["backup", text(&copy)]).ends(1).error()["reason"],
        "CANNOT_SERVE"
    );
    admin(&daemon.data(), &["backup", text(&copy), "--replace"]).ends(0);

    let logs = ids.each_ref().map(|id| log_of(&daemon, id));
    // What happens later is not in it, and is told so by nobody.
    daemon.verb(None, &["answer", &ids[1], "no"]).ends(0);
    assert_eq!(admin(&daemon.data(), &["restore", text(&copy)]).ends(1).error()["reason"], "HELD");
    daemon.kill();
    let there = admin(&daemon.data(), &["restore", text(&copy)]).ends(1).error();
    assert!(
        there["message"].as_str().is_some_and(|said| said.contains("there is a store")),
        "{there}"
    );
    let restored = admin(&daemon.data(), &["restore", text(&copy), "--replace"]).ends(0).json();
    assert_ne!(restored["incarnation"], copied["incarnation"], "what is restored is another store");
    let before = Path::new(restored["before"].as_str().expect("it is kept")).to_owned();
    admin(&daemon.data(), &["verify", text(&before)]).ends(0);
    daemon.restart();
    assert_eq!(logs, ids.each_ref().map(|id| log_of(&daemon, id)), "as when it was copied");
    daemon.verb(None, &["answer", &ids[1], "yes"]).ends(0);
}

#[test]
fn what_was_exported_fills_the_folder_of_another_daemon_and_tokens_stay_good() {
    let (mut daemon, copies, ids) = scene();
    let (lead, _) = daemon.pair();
    let lines = copies.path().join("all.jsonl");
    admin(&daemon.data(), &["export", "--out", text(&lines)]).ends(0);
    let printed = Said::by(&mut command(&daemon.data(), &["admin", "export"])).ends(0).out;
    assert_eq!(printed.lines().count(), fs::read_to_string(&lines).unwrap().lines().count());
    let owner = daemon.data().join(place::OWNER_TOKEN);
    let logs = ids.each_ref().map(|id| log_of(&daemon, id));

    let folder = tempfile::tempdir().expect("a folder");
    let data = data_of(&folder);
    admin(&data, &["import", text(&lines)]).ends(0);
    fs::copy(owner, data.join(place::OWNER_TOKEN)).expect("copied");
    daemon.kill();
    let other = Daemon::on(folder, &[]);
    assert_eq!(logs, ids.each_ref().map(|id| log_of(&other, id)));
    let caller = other.verb(Some(&lead), &["status"]).ends(0).json()["caller"].clone();
    assert!(caller.as_str().is_some_and(|caller| caller.contains("lead")), "{caller}");
    admin(&other.data(), &["import", text(&lines)]).ends(1);
}

#[test]
fn a_copy_that_is_not_whole_is_refused_by_name_and_changes_nothing() {
    let (mut daemon, copies, _) = scene();
    let (copy, lines) = (copies.path().join("copy.redb"), copies.path().join("all.jsonl"));
    admin(&daemon.data(), &["backup", text(&copy)]).ends(0);
    admin(&daemon.data(), &["export", "--out", text(&lines)]).ends(0);
    daemon.kill();
    let before = fs::read(daemon.data().join("askway.redb")).expect("the store");
    let refused = |arguments: &[&str], why: &str| {
        let said = admin(&daemon.data(), arguments).ends(1);
        let message = said.error()["message"].as_str().expect("a message").to_owned();
        assert!(message.contains(why), "{message}");
        assert!(fs::read(daemon.data().join("askway.redb")).expect("the store") == before);
        assert!(fs::read_dir(daemon.data()).expect("the folder").all(|entry| {
            !entry.expect("one").file_name().to_string_lossy().contains("partial")
        }));
    };
    let whole = fs::read_to_string(&lines).expect("lines");
    let cut: String = whole.lines().take(3).map(|line| format!("{line}\n")).collect();
    fs::write(&lines, cut).expect("written");
    refused(&["import", text(&lines), "--replace"], "cut short");
    fs::write(&lines, whole.replacen("Which store?", "Which shop?", 1)).expect("written");
    refused(&["import", text(&lines), "--replace"], "digest");
    fs::write(&lines, "hello\n").expect("written");
    refused(&["import", text(&lines), "--replace"], "no export");
    refused(&["verify", text(&lines)], "not an askway store");
    refused(&["restore", text(&copies.path().join("none")), "--replace"], "cannot be read");
    let good = fs::read(&copy).expect("a copy");
    let mut found = 0;
    for at in (4_096..good.len()).step_by(good.len() / 61) {
        let mut bad = good.clone();
        bad[at] ^= 0x10;
        fs::write(&copy, &bad).expect("written");
        let said = admin(&daemon.data(), &["verify", text(&copy)]);
        // A byte that nothing uses may be any.
        found += usize::from(said.code != 0);
        assert!(said.code == 0 || said.error()["reason"] == "STORE_UNAVAILABLE", "{said:?}");
        assert_eq!(said.err.lines().count(), usize::from(said.code != 0), "nothing else: {said:?}");
    }
    assert!(found > 0, "no damage was seen");
    admin(&daemon.data(), &["check"]).ends(0);
}

/// A copy that is long in coming is told of at a terminal while it comes, and then no more.
#[test]
fn long_work_is_told_at_a_terminal_while_it_lasts() {
    let (mut daemon, copies, _) = scene();
    let (lines, pipe) = (copies.path().join("all.jsonl"), copies.path().join("pipe"));
    admin(&daemon.data(), &["export", "--out", text(&lines)]).ends(0);
    daemon.kill();
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().expect("it runs");
    assert!(made.success());
    let import = ["admin", "import", text(&pipe), "--replace"];
    let terminal = Terminal::run(&daemon, None, &import);
    let mut into = fs::OpenOptions::new().write(true).open(&pipe).expect("somebody reads it");
    let whole = fs::read(&lines).expect("lines");
    let (some, rest) = whole.split_at(whole.len() / 2);
    into.write_all(some).expect("it is read");
    terminal.see("importing: ").see(" records, ").see(" s so far");
    into.write_all(rest).expect("it is read");
    drop(into);
    terminal.see("imported ").see_no("so far");
    terminal.ends(0);
}

#[test]
fn copies_are_for_their_owner_alone_and_not_for_an_agent_to_make_unasked() {
    use std::os::unix::fs::MetadataExt;
    let (daemon, copies, _) = scene();
    let copy = copies.path().join("copy.redb");
    let line = ["admin", "backup", text(&copy), "--json"];
    let unasked = Said::by(daemon.command(&line).env("CLAUDECODE", "1")).ends(7);
    assert_eq!(unasked.error()["reason"], "AS_PERSON");
    assert!(!copy.exists());
    Said::by(daemon.command(&line).arg("--as-person=owner").env("CLAUDECODE", "1")).ends(0);
    assert_eq!(fs::metadata(&copy).expect("a copy").mode() & 0o777, 0o600);
    // Whoever is named has to be somebody, a session's token is an agent's, and a person's is no operator's.
    let nobody =
        Said::by(daemon.command(&line).arg("--as-person=nobody-here").env("CLAUDECODE", "1"));
    assert_ne!(nobody.code, 0, "{nobody:?}");
    let (_, worker) = daemon.pair();
    let other = ["admin", "export", "--json"];
    let by_session = Said::by(daemon.command(&other).env(place::TOKEN_VAR, &worker)).ends(7);
    assert_eq!(by_session.error()["reason"], "AS_PERSON");
    let owner = fs::read_to_string(daemon.data().join(place::OWNER_TOKEN)).expect("a token");
    let by_person = Said::by(daemon.command(&other).env(place::TOKEN_VAR, owner.trim())).ends(7);
    assert_eq!(by_person.error()["reason"], "WRONG_PRINCIPAL");
    assert!(daemon.log().contains("in_agent=true"), "what an agent's environment does is marked");
    let address = format!("unix:{}", daemon.socket().display());
    let mut other = daemon.command(&["admin", "check", "--json"]);
    let held = Said::by(other.env(place::ADDRESS_VAR, address)).ends(1);
    assert_eq!(held.error()["reason"], "HELD");
}

#[test]
fn a_watch_tells_what_a_restored_store_has_not_and_what_is_open_in_it_again() {
    let (mut daemon, copies, ids) = scene();
    let copy = copies.path().join("copy.redb");
    admin(&daemon.data(), &["backup", text(&copy)]).ends(0);
    let mut watch = daemon.command(&["inbox", "--all", "--watch", "--json"]);
    let mut watch = watch.stdout(Stdio::piped()).spawn().expect("it starts");
    let mut lines = BufReader::new(watch.stdout.take().expect("piped")).lines();
    let mut next = |what: &str, id: &str| loop {
        let line = lines.next().expect("a line").expect("text");
        let line: serde_json::Value = serde_json::from_str(&line).expect("an object");
        // Whether it was away for long enough to be told is not what this is about.
        if !line["ask"].is_null() {
            assert_eq!((&line["what"], &line["ask"]["id"]), (&what.into(), &id.into()), "{line}");
            return;
        }
    };
    next("came", &ids[1]);
    daemon.verb(None, &["answer", &ids[1], "no"]).ends(0);
    next("left", &ids[1]);
    let (_, worker) = daemon.pair();
    let later = daemon.ask(&worker, "Later?").ends(0).id();
    next("came", &later);
    daemon.kill();
    admin(&daemon.data(), &["restore", text(&copy), "--replace"]).ends(0);
    daemon.restart();
    next("gone", &later);
    next("came", &ids[1]);
    watch.kill().expect("it runs");
    watch.wait().expect("it ends");
}
