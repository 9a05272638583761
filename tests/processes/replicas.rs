//! Several daemons over one PostgreSQL.

#[path = "../shared/cluster.rs"]
pub mod cluster;
#[path = "../shared/standby.rs"]
mod standby;

use super::daemon::{Daemon, PATIENCE, Said, command};
use super::terminal::Terminal;
use askway::client::Watched;
use askway::grpc::v1;
use cluster::{Cluster, name_of};
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::Stdio;
use tokio_stream::StreamExt;

fn over(url: &str) -> Daemon {
    Daemon::start_with(&format!("store = \"{url}\"\n"), &[])
}

/// Asked at one daemon, seen at another, answered there; the first is killed, and who watched there
/// goes on at the other from where it was.
#[tokio::test(flavor = "multi_thread")]
async fn a_watch_of_a_killed_replica_goes_on_at_another() {
    let url = Cluster::shared().database("d");
    let (mut one, other) = tokio::task::block_in_place(|| (over(&url), over(&url)));
    // It has a runtime of its own.
    let pair = || std::thread::scope(|scope| scope.spawn(|| one.pair()).join());
    let (lead, worker) = tokio::task::block_in_place(pair).expect("two sessions");
    let id = tokio::task::block_in_place(|| one.ask(&worker, "Which store?").ends(0).id());
    let mut watch = one.client(Some(&worker)).watch_ask(&id, None);
    let seen = until(&mut watch, |watched| matches!(watched, Watched::Ask(_))).await;
    assert!(matches!(seen, Watched::Ask(ask) if ask.revision == 1));
    let request = v1::SayRequest { ask_id: id.clone(), text: "hm".into(), ..Default::default() };
    other.client(Some(&lead)).say(request).await.expect("it is an ask there too");
    until(&mut watch, |watched| matches!(watched, Watched::Event(event) if event.revision == 2))
        .await;
    one.kill();
    let mut watch = other.client(Some(&worker)).watch_ask(&id, Some(2));
    tokio::task::block_in_place(|| other.verb(Some(&lead), &["answer", &id, "yes"]).ends(0));
    until(&mut watch, |watched| match watched {
        Watched::Event(event) => {
            assert_eq!(event.revision, 3, "no gap, no repeat");
            true
        }
        _ => false,
    })
    .await;
    tokio::task::block_in_place(|| one.restart());
    let here = tokio::task::block_in_place(|| one.verb(None, &["show", &id]).ends(0).json());
    assert!(here.to_string().contains("answered"), "{here}");
}

/// Away as after a failover that takes its time: it refuses whoever comes, and has ended those there were.
fn take_away(url: &str, is_away: bool) {
    let name = name_of(url);
    let sql = match is_away {
        true => format!(
            "alter database {name} allow_connections false; \
             select pg_terminate_backend(pid) from pg_stat_activity where datname = '{name}'"
        ),
        false => format!("alter database {name} allow_connections true"),
    };
    Cluster::shared().sql("postgres", &sql);
}

#[test]
fn whoever_waits_is_told_in_a_line_that_the_store_is_away_and_that_it_is_back() {
    let url = Cluster::shared().database("d");
    let daemon = over(&url);
    let (lead, worker) = daemon.pair();
    let id = daemon.ask(&worker, "Which store?").ends(0).id();
    let waits = Terminal::run(&daemon, Some(&worker), &["wait", &id]);
    let listens = Terminal::run_with(&daemon, None, &["wait", &id], &[("TERM", "dumb")]);
    for terminal in [&waits, &listens] {
        terminal.see("waiting on lead for");
    }
    let follow = |more: &[&str]| {
        let line = [&["inbox", "--all", "--watch"], more].concat();
        let mut command = daemon.command(&line);
        let mut child = command.stdout(Stdio::piped()).spawn().expect("it starts");
        let told = BufReader::new(child.stdout.take().expect("piped"));
        (child, told.lines().map(|line| line.expect("it is read")))
    };
    let (people, mut told) = follow(&[]);
    let (programs, mut lines) = follow(&["--json"]);
    let json = |line: Option<String>| -> serde_json::Value {
        serde_json::from_str(&line.expect("a line")).expect("an object")
    };
    assert!(told.next().expect("a line").contains("Which store?"));
    assert_eq!(json(lines.next())["what"], "came");
    take_away(&url, true);
    waits.see("the daemon's store away since").see_no("waiting on lead");
    listens.see("the daemon's store away since");
    let away = told.next().expect("a line");
    assert!(away.contains(" the daemon's store is away; what comes meanwhile"), "{away}");
    assert_eq!(json(lines.next())["what"], "store_away");
    take_away(&url, false);
    waits.see("waiting on lead for").see_no("away since");
    listens.see_that_times("waiting on lead for", 2);
    let back = told.next().expect("a line");
    assert!(back.ends_with(" the daemon's store is back"), "{back}");
    assert_eq!(json(lines.next())["what"], "store_back");
    daemon.verb(Some(&lead), &["answer", &id, "yes"]).ends(0);
    waits.see("answered by lead");
    assert!(told.next().expect("a line").contains("answered by lead: yes"));
    assert_eq!(json(lines.next())["what"], "left");
    waits.ends(0);
    listens.ends(0);
    for mut child in [people, programs] {
        child.kill().expect("it runs");
        child.wait().expect("it ends");
    }
}

async fn until(
    watch: &mut (impl tokio_stream::Stream<Item = Result<Watched, askway::client::ClientError>> + Unpin),
    wanted: impl Fn(&Watched) -> bool,
) -> Watched {
    let look = async {
        loop {
            let watched = watch.next().await.expect("it goes on").expect("it is read");
            if wanted(&watched) {
                return watched;
            }
        }
    };
    tokio::time::timeout(PATIENCE, look).await.expect("it comes")
}

#[test]
fn another_database_than_before_is_refused_and_no_password_is_told() {
    let cluster = Cluster::shared();
    let (url, another) = (cluster.database("d"), cluster.database("d"));
    let mut daemon = over(&url);
    daemon.kill();
    let file = daemon.data().join("askway.toml");
    let start = |url: &str| {
        fs::write(&file, format!("store = \"{url}\"\n")).expect("a file");
        Said::by(&mut command(&daemon.data(), &["serve", "--json"])).ends(1)
    };
    let said = start(&another).error();
    let told = said["message"].as_str().unwrap_or_default();
    assert!(told.contains(name_of(&another)) && told.contains("not the store that was"), "{said}");
    assert_eq!(said["reason"], "STORE_UNAVAILABLE");
    let missing = url.replace("askway@", "askway:hunter2@").replace(name_of(&url), "nowhere");
    let said = start(&missing);
    assert!(said.err.contains("nowhere") && !said.err.contains("hunter2"), "{said:?}");
    let typed = ["serve", "--json", "--store", "postgres://a:hunter2@127.0.0.1:1/d"];
    let said = Said::by(&mut command(&daemon.data(), &typed)).ends(2);
    assert!(said.err.contains("ASKWAY_STORE") && !said.err.contains("hunter2"), "{said:?}");
}

/// All that is kept goes from a daemon over PostgreSQL to a file of its own, and is there.
#[test]
fn what_is_in_the_database_is_backed_up_as_a_store_of_its_own() {
    let url = Cluster::shared().database("d");
    let daemon = over(&url);
    let (_, worker) = daemon.pair();
    let line = ["ask", "Which store?", "-o", "yes", "-o", "no"];
    let asked = daemon.verb(Some(&worker), &line).ends(0).json();
    let id = asked["ask"]["id"].as_str().expect("an id").to_owned();
    let copies = tempfile::tempdir().expect("a folder");
    let copy = copies.path().join("copy.redb").display().to_string();
    let copied = daemon.verb(None, &["admin", "backup", &copy]).ends(0).json();
    assert_eq!(copied["asks"], 1, "{copied}");
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    let restore = ["admin", "restore", &copy, "--json"];
    Said::by(&mut command(&data, &restore)).ends(0);
    let restored = Daemon::on(folder, &[]);
    let shown = restored.verb(None, &["show", &id]).ends(0).json();
    assert!(shown.to_string().contains("Which store?"), "{shown}");
}

/// And back: what a file's daemon had is in the database, and another daemon goes on with it.
#[test]
fn what_is_in_a_file_goes_into_an_empty_database() {
    let url = Cluster::shared().database("d");
    let mut daemon = Daemon::start(&[]);
    let (lead, worker) = daemon.pair();
    let line = ["ask", "Which store?", "-o", "yes", "-o", "no"];
    let asked = daemon.verb(Some(&worker), &line).ends(0).json();
    let id = asked["ask"]["id"].as_str().expect("an id").to_owned();
    let copies = tempfile::tempdir().expect("a folder");
    let lines = copies.path().join("all.jsonl").display().to_string();
    daemon.verb(None, &["admin", "export", "--out", &lines]).ends(0);
    daemon.kill();
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    let import = || {
        let mut command = command(&data, &["admin", "import", &lines, "--json"]);
        Said::by(command.env("ASKWAY_STORE", &url))
    };
    assert_eq!(import().ends(0).json()["asks"], 1);
    let again = import().ends(1).error();
    assert!(again["message"].as_str().is_some_and(|said| said.contains("holds something")));
    fs::write(data.join("askway.toml"), format!("store = \"{url}\"\n")).expect("a file");
    let shared = Daemon::on(folder, &[]);
    let answered = shared.verb(Some(&lead), &["answer", &id, "yes"]).ends(0);
    assert!(answered.out.contains(&id), "tokens and ids stay good: {answered:?}");
}
