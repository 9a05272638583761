//! What a shell is told while somebody types, and the manual.

use super::daemon::{self, Daemon, Said};
use super::terminal::Terminal;
use rustix::process::Signal;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

/// What would complete the last of these words, as bash is told.
fn offered(command: &mut Command, words: &[&str]) -> Vec<String> {
    command
        .env("ASKWAY_COMPLETE", "bash")
        .env("_CLAP_COMPLETE_INDEX", (words.len() - 1).to_string())
        .env("_ASKWAY_LINE", words.join(" "));
    let said = Said::by(command.env("_CLAP_IFS", "\n").arg("--").args(words)).ends(0);
    assert_eq!(said.err, "");
    said.out.lines().map(str::to_owned).collect()
}

fn by(daemon: &Daemon, words: &[&str]) -> Vec<String> {
    offered(&mut daemon.command(&[]), words)
}

fn ask(daemon: &Daemon, worker: &str, arguments: &[&str]) -> String {
    daemon.verb(Some(worker), &[&["ask"], arguments].concat()).ends(0).id()
}

#[test]
fn ids_and_labels_of_what_is_open_are_offered() {
    let daemon = Daemon::start(&[]);
    let (_, worker) = daemon.pair();
    let one = ask(
        &daemon,
        &worker,
        &["Which?", "-o", "Postgres", "-o", "SQLite=one file", "-o", "Pg 17"],
    );
    let two = ask(&daemon, &worker, &["And which then?"]);

    let mut both = [one.clone(), two.clone()];
    both.sort();
    let mut ids = by(&daemon, &["askway", "show", "ask_"]);
    ids.sort();
    assert_eq!(ids, both);
    assert_eq!(by(&daemon, &["askway", "decline", &two[..12]]), [&*two]);
    assert_eq!(by(&daemon, &["askway", "answer", &one, "P"]), ["Postgres", "'Pg 17'"]);
    assert!(by(&daemon, &["askway", "deliveries", "ack", "ask_zzzz"]).is_empty());
    // A session completes what is its own to take back.
    let mut mine = daemon.command(&[]);
    let mut mine = offered(mine.env("ASKWAY_TOKEN", &worker), &["askway", "withdraw", "ask_"]);
    mine.sort();
    assert_eq!(mine, both);

    daemon.verb(Some(&worker), &["withdraw", &two]).ends(0);
    assert_eq!(by(&daemon, &["askway", "show", "ask_"]), [one]);
}

#[test]
fn an_id_without_its_beginning_is_completed_and_bash_lists_the_questions() {
    let daemon = Daemon::start(&[]);
    let (_, worker) = daemon.pair();
    let one = ask(&daemon, &worker, &["Which?", "-o", "A", "-o", "B"]);
    assert_eq!(by(&daemon, &["askway", "show", &one[4..10]]), [&one[4..]]);
    assert_eq!(by(&daemon, &["askway", "answer", &one[4..], ""])[..2], ["A", "B"]);
    let listed = |words: &[&str], variables: &[(&str, &str)]| {
        let mut command = daemon.command(&[]);
        command.env("_CLAP_COMPLETE_COMP_TYPE", "63").envs(variables.iter().copied());
        offered(&mut command, words)
    };
    // One alone is inserted: nothing may stand beside it.
    assert_eq!(listed(&["askway", "show", "ask_"], &[]), [&*one]);
    let long = "long words ".repeat(20);
    let two = ask(&daemon, &worker, &[&*long]);
    let all = listed(&["askway", "show", "ask_"], &[]);
    assert!(all.contains(&format!("{one}  (Which?)")), "{all:?}");
    let begins = |line: &&String| line.starts_with(&format!("{two}  (long words"));
    assert!(all.iter().find(begins).is_some_and(|line| line.ends_with("…)")), "{all:?}");
    let ascii = listed(&["askway", "show", "ask_"], &[("ASKWAY_ASCII", "1")]);
    assert!(ascii.iter().find(begins).is_some_and(|line| line.ends_with("...)")), "{ascii:?}");
    // What is inserted is an id alone.
    assert!(by(&daemon, &["askway", "show", "ask_"]).contains(&one));
}

#[test]
fn nothing_is_shown_to_anybody_by_completing() {
    let daemon = Daemon::start(&[]);
    let (_, worker) = daemon.pair();
    let one = ask(&daemon, &worker, &["Which?", "-o", "A", "-o", "B"]);
    by(&daemon, &["askway", "answer", &one, ""]);
    let events = daemon.verb(None, &["log", &one]).ends(0).lines();
    assert_eq!(events.len(), 1, "{events:?}");
}

#[test]
fn completing_starts_nothing_and_waits_for_nobody() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    let nobody = |words: &[&str]| offered(&mut daemon::command(&data, &[]), words);
    assert!(nobody(&["askway", "show", "ask_"]).is_empty());
    assert!(nobody(&["askway", "comp"]).contains(&"completions".to_owned()));
    assert!(!data.exists(), "a folder was made");

    // A daemon that does not answer is not waited for.
    let mut daemon = Daemon::start(&[]);
    daemon.signal(Signal::STOP);
    assert!(by(&daemon, &["askway", "show", "ask_"]).is_empty());
    daemon.signal(Signal::CONT);
    daemon.kill();
    assert!(by(&daemon, &["askway", "show", "ask_"]).is_empty());
}

#[test]
fn hostile_words_reach_no_shell_by_completing() {
    let daemon = Daemon::start(&[]);
    let (_, worker) = daemon.pair();
    let one = ask(
        &daemon,
        &worker,
        &["\u{1b}]0;title\u{7}Which\nline?", "-o", "$(touch x)=\u{1b}[2J", "-o", "B"],
    );
    for shell in ["bash", "zsh", "fish"] {
        let mut command = daemon.command(&["--", "askway", "show", "ask_"]);
        command
            .env("ASKWAY_COMPLETE", shell)
            .env("_CLAP_COMPLETE_INDEX", "2")
            .env("_CLAP_IFS", "\n");
        let said = Said::by(&mut command).ends(0);
        assert!(said.out.contains(&one), "{shell}: {said:?}");
        assert_eq!(said.out.trim_end().lines().count(), 1, "{shell}: {said:?}");
        assert!(!said.out.contains(['\u{1b}', '\u{7}']), "{shell}: {said:?}");
    }
}

/// They quote what they put on the line by themselves, and hand over what was begun as it stands there.
#[test]
fn other_shells_are_given_a_label_as_it_is_however_it_was_begun() {
    let daemon = Daemon::start(&[]);
    let (_, worker) = daemon.pair();
    let label = r"a`touch X`\ 'b: $(x)";
    let id = ask(&daemon, &worker, &["Which?", "-o", label, "-o", "B"]);
    let given = |shell: &str, begun: &str| {
        let mut command = daemon.command(&["--", "askway", "answer", &id, begun]);
        command.env("ASKWAY_COMPLETE", shell).env("_CLAP_COMPLETE_INDEX", "3");
        let out = Said::by(command.env("_CLAP_IFS", "\n")).ends(0).out;
        // What the option would mean, which is nothing here, stands behind.
        out.trim_end().trim_end_matches(':').to_owned()
    };
    // zsh splits what it is told at colons, and takes a backslash before one.
    let for_zsh = label.replace('\\', r"\\").replace(':', r"\:");
    for begun in ["a", r"a\`t", "'a`touch X", "\"a\\`touch"] {
        assert_eq!(given("fish", begun), label, "{begun}");
        assert_eq!(given("zsh", begun), for_zsh, "{begun}");
    }
    assert_eq!(given("fish", r"'a`touch X`\\ \'b"), label, "its single quotes know a backslash");
    assert_eq!(given("zsh", r"'a`touch X`\ '\''b"), for_zsh);
}

#[test]
fn bash_completes_with_the_script_as_it_is_printed() {
    let daemon = Daemon::start(&[]);
    let (_, worker) = daemon.pair();
    let one = ask(&daemon, &worker, &["Which?", "-o", "A", "-o", "B"]);
    let script = "source <(\"$ASKWAY\" completions bash) || exit 9
        COMP_WORDS=(askway show ask_) COMP_CWORD=2 COMP_TYPE=9
        eval \"$(complete -p askway | sed 's/.*-F \\([a-z_]*\\).*/f=\\1/')\"
        \"$f\" askway ask_ show; printf '%s\\n' \"${COMPREPLY[@]}\"";
    let like = daemon.command(&[]);
    let mut bash = Command::new("bash");
    bash.args(["--norc", "-c", script]).env("ASKWAY", daemon::ASKWAY);
    for (name, value) in like.get_envs() {
        value.map(|value| bash.env(name, value));
    }
    let said = Said::by(&mut bash).ends(0);
    assert_eq!(said.out.trim(), one, "{said:?}");
}

/// A bash on a terminal that completes for an `askway` which only says what it is given, in a file.
fn bash(daemon: &Daemon, folder: &Path) -> Terminal {
    let (bin, stub) = (folder.join("bin"), folder.join("bin/askway"));
    fs::create_dir(&bin).expect("a folder");
    fs::create_dir(folder.join("work")).expect("a folder");
    let says = "#!/bin/sh\nprintf '<%s>' \"$@\" >>\"$SAID\"; echo >>\"$SAID\"; echo it ran\n";
    fs::write(&stub, says).expect("written");
    fs::set_permissions(&stub, fs::Permissions::from_mode(0o755)).expect("it is ours");
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").expect("a path"));
    let said = folder.join("said").display().to_string();
    let variables = [
        ("PATH", &*path),
        ("SAID", &said),
        ("ASKWAY", daemon::ASKWAY),
        ("PS1", "$ "),
        ("HISTFILE", ""),
        ("LC_ALL", "C.UTF-8"),
    ];
    let bash = Terminal::of_program("bash", daemon, &["--norc", "--noprofile", "-i"], &variables);
    let work = folder.join("work");
    bash.press(&format!("cd {}; source <(\"$ASKWAY\" completions bash)\r", work.display()));
    bash.press("echo begun $((1 + 1))\r").see("begun 2");
    bash
}

/// What the stub was given after the id, run by run.
fn given(folder: &Path, id: &str) -> Vec<String> {
    let said = fs::read_to_string(folder.join("said")).expect("it ran");
    let begin = format!("<answer><{id}>");
    said.lines().map(|line| line.strip_prefix(&begin).unwrap_or(line).to_owned()).collect()
}

#[test]
fn bash_runs_nothing_of_a_label_that_it_completes() {
    let daemon = Daemon::start(&[]);
    let (_, worker) = daemon.pair();
    let folder = tempfile::tempdir().expect("a folder");
    let asked = |labels: &[&str]| {
        let options = labels.iter().flat_map(|label| ["-o", label]);
        ask(&daemon, &worker, &["Which?"].into_iter().chain(options).collect::<Vec<_>>())
    };
    let sets: [&[&str]; 4] = [
        &["a$(touch X)", "b; touch X", "c  d", "e's; touch X; '"],
        &["f!! !x", "g* [a] {b,c}", "h\" \"$(touch X)", "i|touch X"],
        &["j<X>X", "k~ & touch X", "l#", "m ${x} && touch X"],
        &["n`touch X`", "o\\`touch X\\`", "p\\", "q'`touch X` \\'!! \\\""],
    ];
    let bash = bash(&daemon, folder.path());
    // A pattern must not find what a label is.
    fs::write(folder.path().join("work/a$(touch X)"), "").expect("written");
    let mut ran = 0;
    for labels in sets {
        let id = asked(labels);
        for label in labels {
            bash.press(&format!("askway answer {id} {}\t\r", &label[..1]));
            ran += 1;
            bash.see_that_times("it ran", ran);
            let given = given(folder.path(), &id);
            assert_eq!(given.last(), Some(&format!("<{label}>")), "{}", bash.contents());
        }
    }
    let there: Vec<_> = fs::read_dir(folder.path().join("work")).expect("a folder").collect();
    assert_eq!(there.len(), 1, "something was run: {there:?}");
}

#[test]
fn bash_completes_a_label_behind_a_quote_and_leaves_what_cannot_be_quoted() {
    let daemon = Daemon::start(&[]);
    let (_, worker) = daemon.pair();
    let folder = tempfile::tempdir().expect("a folder");
    let labels = ["k one $(touch X)", "k two", "b`touch X`\\'s", "-d $(touch X)"];
    let offers: Vec<_> = labels.iter().flat_map(|label| ["-o", label]).collect();
    let id = ask(&daemon, &worker, &[&["Which?"], &offers[..]].concat());
    let bash = bash(&daemon, folder.path());
    let typed = [
        // What both begin with is inserted with its quote; what is typed on is within it.
        ("k\to\t\r", "<k one $(touch X)>"),
        ("'k o\t\r", "<k one $(touch X)>"),
        ("'b\t\r", "<b`touch X`\\'s>"),
        ("b\t\r", "<b`touch X`\\'s>"),
        // Within these a `$` would mean something.
        ("\"k o\t\"\r", "<k o>"),
        ("x''k\t\r", "<xk>"),
    ];
    for (place, (keys, given_then)) in typed.iter().enumerate() {
        bash.press(&format!("askway answer {id} {keys}"));
        bash.see_that_times("it ran", place + 1);
        let given = given(folder.path(), &id);
        assert_eq!(given.last().map(String::as_str), Some(*given_then), "{}", bash.contents());
    }
    assert_eq!(fs::read_dir(folder.path().join("work")).expect("a folder").count(), 0);
}

#[test]
fn the_manual_has_a_page_for_every_verb() {
    let folder = tempfile::tempdir().expect("a folder");
    let pages = folder.path().join("man1");
    let run = |arguments: &[&str]| Said::by(&mut daemon::command(folder.path(), arguments));
    run(&["man", "--out", pages.to_str().expect("text")]).ends(0);
    for verb in ["", "-answer", "-inbox", "-session-ls", "-serve", "-man"] {
        let page = fs::read_to_string(pages.join(format!("askway{verb}.1"))).expect("a page");
        assert!(page.contains(".SH SYNOPSIS") && page.contains("askway"), "{verb}: {page}");
    }
    let names =
        fs::read_dir(&pages).expect("a folder").map(|page| page.expect("a page").file_name());
    let hidden: Vec<_> = names.filter(|name| name.to_string_lossy().contains("__")).collect();
    assert!(hidden.is_empty(), "{hidden:?}");

    let page = run(&["man", "answer"]).ends(0).out;
    assert!(page.contains("\n.SH EXAMPLES\n.nf\n  askway answer\n"), "{page}");
    assert!(page.contains(&format!("\"askway {}\"", env!("CARGO_PKG_VERSION"))), "{page}");
    assert!(page.contains(".TH askway-answer 1") && page.contains("askway answer "), "{page}");
    run(&["man", "anwser"]).ends(2);
    run(&["man", "__exec"]).ends(2);
    run(&["completions", "tcsh"]).ends(2);
}
