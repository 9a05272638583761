//! The README's lines, run as they stand there. A line that is new there fails here until it is said how
//! it is to be run.

use super::daemon::{ASKWAY, Daemon, PATIENCE, Said};
use askway::cli::place;
use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::symlink;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

const README: &str = include_str!("../../README.md");

/// How a line of the README is run.
#[derive(Clone, Copy, Debug)]
enum How {
    /// By the person at the terminal; ends well.
    Person,
    /// By a session that was sent work; ends well.
    Worker,
    /// By such a session; a person answers with this while it waits, or declines.
    Waits(Option<&'static str>),
    /// By the person, until a line has come.
    Follows,
    /// By the person, with a script of this name that does nothing.
    Runs(&'static str),
    /// Not by itself, since it is part of something else or run by every test.
    Elsewhere,
}

/// Every line of the README that runs askway.
const LINES: [(&str, How); 27] = [
    ("askway serve", How::Elsewhere),
    ("askway run --as lead -- ./lead.sh", How::Runs("lead.sh")),
    ("askway run --background --as worker -- ./worker.sh", How::Runs("worker.sh")),
    ("while askway inbox --wait 10m; do", How::Elsewhere),
    ("askway inbox --json", How::Person),
    ("askway answer ID LABEL", How::Person),
    (
        "askway ask \"Which store for the cache?\" -o \"SQLite=one file, no service\" -o Postgres \
         --recommend SQLite --wait --json",
        How::Waits(Some("SQLite")),
    ),
    ("askway inbox", How::Person),
    ("askway inbox --watch", How::Follows),
    // Prompts, another machine and other folders: `prompts`, `transport` and `complete`.
    ("askway answer", How::Elsewhere),
    ("askway serve --listen 0.0.0.0:7700 --tls-cert cert.pem --tls-key key.pem", How::Elsewhere),
    ("source <(askway completions bash)", How::Elsewhere),
    ("askway man --out ~/.local/share/man/man1", How::Elsewhere),
    ("askway admin backup monday.redb", How::Person),
    ("askway admin verify monday.redb", How::Person),
    ("askway show ask_8f3k", How::Person),
    ("askway answer ask_8f3k SQLite", How::Person),
    ("askway decline ask_8f3k -m \"neither; use the one we have\"", How::Person),
    ("askway log ask_8f3k", How::Person),
    (
        "askway ask \"Delete the old index?\" -o Yes -o No --expire 1h --on-expire stop --wait",
        How::Waits(Some("Yes")),
    ),
    (
        "askway ask \"Delete the old index?\" -o Yes -o No --expire 1h --default No --wait",
        How::Waits(None),
    ),
    ("askway ask \"Delete the old index?\" -o Yes -o No --again", How::Worker),
    ("askway deliveries", How::Person),
    ("askway deliveries take --max 10 --lease 5m --as one", How::Person),
    ("askway deliveries extend ASK --lease TOKEN --for 10m", How::Person),
    ("askway deliveries ack DELIVERY --lease TOKEN", How::Person),
    ("askway ask \"Deploy it?\" -o Yes -o No --request-id \"$id\" --wait", How::Waits(Some("Yes"))),
];

/// The lines of the README's shell blocks that run askway, without their comments.
fn lines() -> Vec<String> {
    let mut lines = Vec::new();
    let (mut in_shell, mut whole) = (false, String::new());
    for line in README.lines() {
        if line.starts_with("```") {
            in_shell = line == "```sh";
            continue;
        }
        let line = line.split(" # ").next().unwrap_or_default().trim();
        if !in_shell || line.starts_with('#') {
            continue;
        }
        if let Some(start) = line.strip_suffix('\\') {
            whole.push_str(start);
            continue;
        }
        whole.push_str(line);
        let line = std::mem::take(&mut whole);
        if line.contains("askway ") {
            lines.push(line);
        }
    }
    lines
}

/// A daemon, a worker of its own, and a folder in which `askway` is on the path.
struct Stage {
    daemon: Daemon,
    worker: String,
    filed: u32,
}

impl Stage {
    fn new() -> Self {
        let daemon = Daemon::start(&[]);
        let (_, worker) = daemon.pair();
        symlink(ASKWAY, daemon.data().join("askway")).expect("a link");
        Self { daemon, worker, filed: 0 }
    }

    fn shell(&self, line: &str, worker: bool) -> Command {
        let data = self.daemon.data();
        let path = std::env::var("PATH").unwrap_or_default();
        let mut command = Command::new("sh");
        command.args(["-c", line]).current_dir(&data).env_clear().stdin(Stdio::null());
        command.env("PATH", format!("{}:{path}", data.display())).env(place::DATA_VAR, &data);
        command.env("id", "deploy-42");
        if worker {
            command.env(place::TOKEN_VAR, &self.worker);
        }
        command
    }

    /// An ask that nobody has settled.
    fn ask(&mut self) -> String {
        self.filed += 1;
        let question = format!("Which store for the cache {}?", self.filed);
        let line = ["ask", &question, "-o", "SQLite", "-o", "LABEL"];
        self.daemon.verb(Some(&self.worker), &line).ends(0).id()
    }

    /// The line with what stands for something filled in.
    fn filled(&mut self, line: &str) -> String {
        if line.contains("DELIVERY") || line.contains("TOKEN") {
            let id = self.ask();
            self.daemon.verb(None, &["answer", &id, "SQLite"]).ends(0);
            let taken = self.daemon.verb(None, &["deliveries", "take", "--max", "100"]).ends(0);
            let taken = taken.lines();
            let mine = taken.iter().find(|taken| taken["ask"]["id"] == id.as_str());
            let mine = mine.expect("what was answered is unread");
            let text = |value: &serde_json::Value| value.as_str().expect("a text").to_owned();
            let (delivery, token) = (text(&mine["id"]), text(&mine["lease"]["token"]));
            return line
                .replace("DELIVERY", &delivery)
                .replace("TOKEN", &token)
                .replace("ASK", &id);
        }
        if line.contains("deliveries") {
            let id = self.ask();
            self.daemon.verb(None, &["answer", &id, "SQLite"]).ends(0);
            return line.to_owned();
        }
        match line.contains("ask_8f3k") || line.contains(" ID ") {
            true => {
                let id = self.ask();
                line.replace("ask_8f3k", &id[..12]).replace(" ID ", &format!(" {id} "))
            }
            false => line.to_owned(),
        }
    }

    fn run(&mut self, line: &str, how: How) {
        match how {
            How::Elsewhere => {}
            How::Person | How::Worker => {
                let filled = self.filled(line);
                Said::by(&mut self.shell(&filled, matches!(how, How::Worker))).ends(0);
            }
            How::Runs(script) => {
                let script = self.daemon.data().join(script);
                fs::write(&script, "#!/bin/sh\n").expect("written");
                let mode = std::os::unix::fs::PermissionsExt::from_mode(0o700);
                fs::set_permissions(&script, mode).expect("it may be run");
                Said::by(&mut self.shell(line, false)).ends(0);
            }
            How::Waits(label) => self.waits(line, label),
            How::Follows => {
                let id = self.ask();
                self.daemon.verb(None, &["escalate", &id]).ends(0);
                let mut command = self.shell(&format!("exec {line}"), false);
                let mut child = command.stdout(Stdio::piped()).spawn().expect("it starts");
                let mut told = String::new();
                let out = child.stdout.take().expect("piped");
                BufReader::new(out).read_line(&mut told).expect("read");
                assert!(told.contains("Which store for the cache"), "{told}");
                end(&mut child);
            }
        }
        self.settle_all();
    }

    /// Runs a line that waits, and decides what it asks.
    fn waits(&self, line: &str, label: Option<&str>) {
        let mut command = self.shell(line, true);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let child = child.expect("it starts");
        let begun = Instant::now();
        let id = loop {
            let open = self.daemon.verb(None, &["inbox", "--all"]).ends(0).lines();
            if let Some(ask) = open.iter().find(|ask| ask["state"] == "open") {
                break ask["id"].as_str().expect("an id").to_owned();
            }
            assert!(begun.elapsed() < PATIENCE, "{line}: nothing is asked");
        };
        let code = match label {
            Some(label) => {
                self.daemon.verb(None, &["answer", &id, label]).ends(0);
                0
            }
            None => {
                self.daemon.verb(None, &["decline", &id]).ends(0);
                3
            }
        };
        Said::of(child.wait_with_output().expect("it ends")).ends(code);
    }

    fn settle_all(&self) {
        for ask in self.daemon.verb(None, &["inbox", "--all"]).ends(0).lines() {
            let id = ask["id"].as_str().expect("an id");
            self.daemon.verb(Some(&self.worker), &["withdraw", id]).ends(0);
        }
    }
}

fn end(child: &mut Child) {
    child.kill().expect("it runs");
    child.wait().expect("it ends");
}

#[test]
fn every_line_of_the_readme_does_what_it_says() {
    let mut stage = Stage::new();
    for (line, how) in LINES {
        stage.run(line, how);
    }
    let unread = stage.daemon.verb(None, &["status"]).ends(0).json();
    assert_eq!(unread["waiting_on_people"], 0, "{unread}");
}

#[test]
fn every_line_of_the_readme_is_run() {
    let written = lines();
    let run: Vec<_> = LINES.iter().map(|(line, _)| (*line).to_owned()).collect();
    let (there, here): (BTreeSet<_>, BTreeSet<_>) =
        (written.iter().collect(), run.iter().collect());
    let missing: Vec<_> = there.difference(&here).collect();
    let gone: Vec<_> = here.difference(&there).collect();
    assert!(missing.is_empty() && gone.is_empty(), "not run: {missing:#?}\nnot there: {gone:#?}");
}
