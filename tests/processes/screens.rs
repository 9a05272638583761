//! What a person sees at a real terminal of their own, and what programs get instead.

use super::daemon::{Daemon, Said};
use rustix::fs::{Mode, OFlags, open};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};

/// Runs to the end with a terminal of so many columns for its input and output; gives all that the
/// terminal was sent, what was said beside it, and the code.
pub fn on_terminal(command: &mut Command, columns: u16) -> Said {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
    grantpt(&master).expect("granted");
    unlockpt(&master).expect("unlocked");
    let size = Winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(&master, size).expect("a size");
    let name = ptsname(&master, Vec::new()).expect("a name");
    let slave = open(name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).expect("its other side");
    let side = || Stdio::from(slave.try_clone().expect("another"));
    command.env("TERM", "xterm").stdin(side()).stdout(side()).stderr(Stdio::piped());
    let child = command.spawn().expect("it starts");
    // The command keeps its own handles until it is dropped; the terminal ends when all are closed.
    command.stdin(Stdio::null()).stdout(Stdio::null());
    drop(slave);
    let (mut shown, mut part) = (Vec::new(), [0; 4_096]);
    let mut master = File::from(master);
    // A terminal whose other side is closed says so with an error.
    while let Ok(length @ 1..) = master.read(&mut part) {
        shown.extend_from_slice(&part[..length]);
    }
    let mut output = child.wait_with_output().expect("it ends");
    output.stdout = shown;
    Said::of(output)
}

fn filed(daemon: &Daemon, worker: &str, question: &str) -> String {
    let line = [
        "ask",
        question,
        "-o",
        "A=the *first*",
        "-o",
        "B",
        "--context",
        "# On it\n\n**so** &#27;[2J",
    ];
    let receipt = daemon.verb(Some(worker), &line).ends(0).json();
    receipt["ask"]["id"].as_str().expect("an id").to_owned()
}

#[test]
fn a_terminal_gets_colour_within_its_width_and_a_pipe_gets_neither() {
    let daemon = Daemon::start(&[]);
    let (_, worker) = daemon.pair();
    let question =
        "Which of the two stores is the one to be used for the cache, and why is it that?";
    let id = filed(&daemon, &worker, question);
    let moved = filed(&daemon, &worker, "And here?");
    daemon.verb(None, &["escalate", &moved, "-m", "look at it"]).ends(0);
    for line in [&["inbox"][..], &["inbox", "--all"], &["show", &id], &["log", &id], &["status"]] {
        for columns in [40, 80, 120] {
            let mut command = daemon.command(line);
            let shown = on_terminal(command.env("PAGER", "cat"), columns).ends(0).out;
            assert!(shown.contains("\u{1b}["), "{line:?}: {shown:?}");
            let size = |size| std::num::NonZeroU16::new(size).expect("a size");
            let mut parser = vt100::Parser::new(size(200), size(columns), 0);
            parser.process(shown.as_bytes());
            let rows = shown.matches("\r\n").count();
            assert_eq!(usize::from(parser.screen().cursor_position().0), rows, "{shown}");
        }
        let mut command = daemon.command(line);
        command.env("PAGER", "cat").env("NO_COLOR", "1");
        let shown = on_terminal(&mut command, 80).out;
        assert!(!shown.contains('\u{1b}'), "{line:?}: {shown:?}");
        let piped = Said::by(&mut daemon.command(line)).ends(0).out;
        assert!(!piped.contains('\u{1b}'), "{line:?}: {piped:?}");
    }
    let forced = Said::by(daemon.command(&["show", &id]).env("CLICOLOR_FORCE", "1")).ends(0);
    assert!(forced.out.contains("\u{1b}[1m"), "{forced:?}");
    let listed = Said::by(&mut daemon.command(&["inbox", "--all"])).ends(0).out;
    assert!(listed.contains(question) && listed.contains(&format!("{id}\t")), "{listed}");
    let mut command = daemon.command(&["show", &id]);
    command.env("ASKWAY_ASCII", "1").env("PAGER", "cat");
    let shown = on_terminal(&mut command, 40).out;
    assert!(shown.is_ascii(), "{shown}");
}

#[test]
fn a_pager_is_run_on_a_terminal_alone_and_one_that_is_missing_is_done_without() {
    let daemon = Daemon::start(&[]);
    let (_, worker) = daemon.pair();
    let id = filed(&daemon, &worker, "Which?");
    let paged = |line: &[&str], pager: &str| {
        on_terminal(daemon.command(line).env("ASKWAY_PAGER", pager), 80).out
    };
    assert!(paged(&["show", &id], "sed s/^/PAGED/").contains("PAGED"));
    assert!(paged(&["log", &id], "sed s/^/PAGED/").contains("PAGED"));
    for line in [&["show", &id, "--no-pager"][..], &["show", &id, "--json"], &["inbox"]] {
        assert!(!paged(line, "sed s/^/PAGED/").contains("PAGED"), "{line:?}");
    }
    assert!(paged(&["show", &id], "no-such-pager-here").contains("Which?"));
    let piped = Said::by(daemon.command(&["show", &id]).env("PAGER", "sed s/^/PAGED/")).ends(0);
    assert!(piped.out.contains("Which?") && !piped.out.contains("PAGED"), "{piped:?}");
}

#[test]
fn a_reader_that_has_gone_is_no_failure_of_any_verb() {
    let daemon = Daemon::start(&[]);
    let (_, worker) = daemon.pair();
    let id = filed(&daemon, &worker, "Which?");
    let lines: [&[&str]; 8] = [
        &["inbox", "--all"],
        &["show", &id],
        &["log", &id],
        &["status"],
        &["session", "ls"],
        &["deliveries"],
        &["--help"],
        &["inbox", "--all", "--json"],
    ];
    for line in lines {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let ended = daemon.command(line).stdout(writer).output().expect("it runs");
        assert_eq!(ended.status.code(), Some(0), "{line:?}: {ended:?}");
    }
}

#[test]
fn an_empty_inbox_says_so_and_one_that_cannot_be_read_does_not() {
    let mut daemon = Daemon::start(&[]);
    let empty = Said::by(&mut daemon.command(&["inbox"])).ends(0);
    assert_eq!(empty.out, "");
    assert!(empty.err.starts_with("Nothing waits on you."), "{empty:?}");
    // Where a filter left all out, others may well wait.
    let (_, worker) = daemon.pair();
    filed(&daemon, &worker, "Which?");
    for narrow in [["--text", "zzz"], ["--waiting-on", "bob"]] {
        let said =
            on_terminal(&mut daemon.command(&[&["inbox"], &narrow[..]].concat()), 80).ends(0);
        assert!(said.err.starts_with("Nothing of that kind waits on you."), "{said:?}");
        assert!(!said.err.contains("on others"), "{said:?}");
    }
    daemon.kill();
    let away = Said::by(&mut daemon.command(&["inbox"])).ends(9);
    assert!(!away.err.contains("Nothing waits"), "{away:?}");
    let away = on_terminal(&mut daemon.command(&["inbox"]), 80).ends(9);
    assert!(away.out.is_empty() && !away.err.contains("Nothing waits"), "{away:?}");
}

#[test]
fn a_watched_inbox_rings_for_what_comes_and_not_for_what_was_there() {
    let daemon = Daemon::start(&[]);
    let (_, worker) = daemon.pair();
    let waits = |question: &str| {
        let id = filed(&daemon, &worker, question);
        daemon.verb(None, &["escalate", &id]).ends(0);
    };
    waits("The first?");
    let mut command = daemon.command(&["inbox", "--watch", "--bell"]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("it starts");
    let mut told = BufReader::new(child.stdout.take().expect("piped"));
    for question in ["The first?", "The second?"] {
        let mut line = String::new();
        told.read_line(&mut line).expect("read");
        assert!(line.contains(question), "{line}");
        if question == "The first?" {
            waits("The second?");
        }
    }
    child.kill().expect("it runs");
    let mut rung = Vec::new();
    child.stderr.take().expect("piped").read_to_end(&mut rung).expect("read");
    child.wait().expect("it ends");
    assert_eq!(rung, b"\x07");
}

#[test]
fn an_inbox_is_narrowed_by_whom_it_waits_on_and_by_age() {
    let daemon = Daemon::start(&[]);
    let (_, worker) = daemon.pair();
    let (with_lead, moved) =
        (filed(&daemon, &worker, "Which?"), filed(&daemon, &worker, "And here?"));
    let escalated = daemon.verb(None, &["escalate", &moved]).ends(0).json();
    let lead = escalated["ask"]["chain"][0]["session"].as_str().expect("a session");
    let of = |arguments: &[&str]| -> Vec<String> {
        let line = [&["inbox", "--all"], arguments].concat();
        let asks = daemon.verb(None, &line).ends(0).lines();
        asks.iter().map(|ask| ask["id"].as_str().expect("an id").to_owned()).collect()
    };
    assert_eq!(of(&["--waiting-on", "owner"]), [moved.as_str()]);
    assert_eq!(of(&["--waiting-on", &lead[..12]]), [with_lead.as_str()]);
    assert_eq!(of(&["--waiting-on", "nobody"]), [""; 0]);
    assert_eq!(of(&["--older", "1h"]), [""; 0]);
    assert_eq!(of(&["--older", "0s"]), [with_lead, moved]);
    daemon.verb(None, &["inbox", "--waiting-on", "ses_zzzzz"]).ends(8);
}

#[test]
fn talk_keeps_to_the_terminal_each_line_of_it_behind_the_bar() {
    let daemon = Daemon::start(&[]);
    let (_, worker) = daemon.pair();
    let id = filed(&daemon, &worker, "Which?");
    daemon.verb(None, &["say", &id, &["word"; 60].join(" ")]).ends(0);
    let mut command = daemon.command(&["wait", &id]);
    command.env(askway::cli::place::TOKEN_VAR, &worker).env("NO_COLOR", "1");
    let shown = on_terminal(&mut command, 40).ends(10).out;
    let words: Vec<_> = shown.lines().filter(|line| line.contains("word")).collect();
    let kept = |line: &&str| line.starts_with("  │ ") && line.chars().count() <= 40;
    assert!(words.len() > 5 && words.iter().all(kept), "{shown}");
}
