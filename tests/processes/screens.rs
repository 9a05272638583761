//! What a person sees at a real terminal of their own, and what programs get instead.

use super::daemon::{Daemon, Said};
use super::terminal::{Terminal, on_terminal};
use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;

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
    daemon.verb(Some(worker), &line).ends(0).id()
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
    assert!(paged(&["show", &id], "false").contains("Which?"), "it failed and showed nothing");
    let piped = Said::by(daemon.command(&["show", &id]).env("PAGER", "sed s/^/PAGED/")).ends(0);
    assert!(piped.out.contains("Which?") && !piped.out.contains("PAGED"), "{piped:?}");
}

#[test]
fn rule_4_what_a_pager_may_not_have_shown_is_not_seen() {
    let daemon = Daemon::start(&[]);
    let (_, worker) = daemon.pair();
    let line = ["ask", "Which?", "-o", "A", "-o", "B", "--context", "A\n\nlong\n\nstory."];
    let named = ["--expire", "1h", "--default", "A"];
    let filed = daemon.verb(Some(&worker), &[&line[..], &named].concat()).ends(0).json();
    let id = filed["ask"]["id"].as_str().expect("an id");
    let is_seen = || {
        let seen = daemon.verb(None, &["show", id]).ends(0).json()["seen"].clone();
        seen.as_array().is_some_and(|seen| !seen.is_empty())
    };
    let paged = |pager: &str, rows: u16| {
        let show = ["show", id];
        let terminal = Terminal::of_rows(rows, &daemon, &show, &[("ASKWAY_PAGER", pager)]);
        terminal.see("next: askway answer");
        let told = terminal.contents().contains("it does not count as shown");
        terminal.ends(0);
        told
    };
    // Left before what is asked was read; killed; and what is asked is longer than the screen.
    for (pager, rows) in [("read line; exit 0", 60), ("cat > /dev/null; exit 3", 60), ("cat -", 12)]
    {
        let told = paged(pager, rows);
        assert!(!is_seen(), "{pager} {rows}");
        assert_eq!(told, !pager.contains("exit 3"), "{pager}");
    }
    assert!(!paged("cat -", 60));
    assert!(is_seen(), "all that is asked stood on the first screen");
}

#[test]
fn what_is_asked_stands_before_the_context_that_may_be_long() {
    let daemon = Daemon::start(&[]);
    let (_, worker) = daemon.pair();
    let id = filed(&daemon, &worker, "Which?");
    for line in [&["show", &id][..], &["show", &id, "--no-pager"]] {
        let shown = Said::by(&mut daemon.command(line)).ends(0).out;
        let at = |text: &str| shown.find(text).unwrap_or_else(|| panic!("{text}: {shown}"));
        assert!(at("Which?") < at("the *first*") && at("the *first*") < at("# On it"), "{shown}");
    }
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
    for narrow in [["--text", "zzz"], ["--since", "0s"]] {
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
    assert_eq!(of(&["--older", "1h"]), [""; 0]);
    assert_eq!(of(&["--older", "0s"]), [with_lead, moved]);
    for who in ["ses_zzzzz", "nobody", "lead"] {
        for more in [&[][..], &["--all"], &["--watch"]] {
            let unknown =
                daemon.verb(None, &[&["inbox", "--waiting-on", who], more].concat()).ends(8);
            let next = unknown.error()["next"].as_str().expect("a hint").to_owned();
            assert!(next.contains("askway session ls"), "{who}: {next}");
        }
    }
}

/// A line that comes while an inbox is watched.
fn next_line(told: &mut impl BufRead) -> String {
    let mut line = String::new();
    told.read_line(&mut line).expect("read");
    line
}

#[test]
fn a_watched_inbox_says_that_the_daemon_is_away_and_what_was_answered() {
    let mut daemon = Daemon::start(&[]);
    let (lead, worker) = daemon.pair();
    let id = filed(&daemon, &worker, "Which?");
    let mut command = daemon.command(&["inbox", "--all", "--watch", "--text", "Which"]);
    let mut child = command.stdout(Stdio::piped()).spawn().expect("it starts");
    let mut told = BufReader::new(child.stdout.take().expect("piped"));
    assert!(next_line(&mut told).contains(&format!("{id}  Which?")));
    daemon.kill();
    let away = next_line(&mut told);
    assert!(away.contains(" the daemon is away") && away.as_bytes()[2] == b':', "{away}");
    daemon.restart();
    let back = next_line(&mut told);
    assert!(back.contains(" the daemon is back") && back.as_bytes()[2] == b':', "{back}");
    // What the filter leaves out is not told.
    filed(&daemon, &worker, "And here?");
    daemon.verb(Some(&lead), &["answer", &id, "A", "--text", "it \u{1b}fits"]).ends(0);
    let left = next_line(&mut told);
    assert!(left.contains(&format!("{id}  answered by lead: A, \"it \\u{{1b}}fits\"")), "{left}");
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    let log = Said::by(&mut daemon.command(&["log", &id])).ends(0).out;
    assert!(log.lines().any(|line| line.ends_with("\tA, \"it \\u{1b}fits\"")), "{log}");
    for untaken in [&["--older", "1h"][..], &["--settled"], &["--outcome", "declined"]] {
        daemon.verb(None, &[&["inbox", "--watch"], untaken].concat()).ends(2);
    }
}

#[test]
fn people_and_tokens_are_lists_with_tabs_and_the_timer_is_nobody() {
    let file = "[route.default]\nhops = [{ to = \"person:ann\" }]\n";
    let daemon = Daemon::start_with(file, &[]);
    let note = "a note that goes on and on, well beyond what a terminal of eighty columns has";
    let made = ["token", "create", "--person", "ann", "--note", note];
    daemon.verb(None, &made).ends(0);
    let people = Said::by(&mut daemon.command(&["person", "ls"])).ends(0).out;
    let ann = people.lines().find(|line| line.starts_with("ann\t")).expect("her line");
    assert!(ann.split('\t').count() == 3 && ann.ends_with("\tthe configuration"), "{people}");
    let tokens = Said::by(&mut daemon.command(&["token", "ls"])).ends(0).out;
    assert!(tokens.lines().all(|line| line.split('\t').count() == 6), "{tokens}");
    assert!(tokens.contains("\tperson ann\t") && tokens.contains(note), "{tokens}");
    for (line, head) in [(["person", "ls"], "NAME"), (["token", "ls"], "TOKEN")] {
        let mut command = daemon.command(&line);
        let shown = on_terminal(command.env("NO_COLOR", "1"), 80).ends(0).out;
        assert!(shown.starts_with(head), "{shown}");
        assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
    }
}

#[test]
fn a_ticket_says_at_a_terminal_what_it_is_for_and_a_refusal_names_the_verb() {
    let daemon = Daemon::start(&[]);
    let (lead, _) = daemon.pair();
    let terminal = Terminal::run(&daemon, Some(&lead), &["send-work"]);
    terminal
        .see("askt_")
        .see("Give it to the program that takes the work up")
        .see("askway run --as");
    terminal.ends(0);
    let mut piped = daemon.command(&["send-work"]);
    let piped = Said::by(piped.env(askway::cli::place::TOKEN_VAR, &lead)).ends(0);
    assert!(piped.out.starts_with("askt_") && piped.out.lines().count() == 1, "{piped:?}");
    assert!(!piped.err.contains("Give it"), "{piped:?}");
    let refused = Said::by(&mut daemon.command(&["send-work"])).ends(7);
    assert!(refused.err.contains("a person may not do this: askway send-work"), "{refused:?}");
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
