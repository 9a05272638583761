//! What the command gets of the daemon's environment, and how it ends; the whole way from an ask to
//! a command is tried in `tests/processes/notices.rs`.

use super::*;
use crate::config::Argument;
use crate::store::suite::World;

/// Any ask.
fn ask() -> Ask {
    let mut world = World::new(1);
    let id = world.file().events[0].0;
    world.asks[&id].0.clone()
}

/// Runs this script for `sh`, with the ask's id, for so long.
async fn run(script: &str, within: Duration) -> Result<(), String> {
    let command = ["sh", "-c", script, "sh", "{id}"];
    let literal = |text: &str| text.replace('{', "{{").replace('}', "}}");
    let command = command.map(|text| match text {
        "{id}" => Argument::read(text),
        text => Argument::read(&literal(text)),
    });
    let command = command.into_iter().collect::<Result<_, _>>().expect("arguments");
    let runner = Runner { hook: Hook { command }, within, grace: Duration::from_millis(300) };
    runner.tell(&ask(), NoticeWhy::Came).await
}

/// Longer than any script here takes that ends.
const LONG: Duration = Duration::from_secs(60);
/// Not long enough for one that does not.
const SHORT: Duration = Duration::from_millis(500);

/// Whether a process is there and has not ended. One that has may be waited for by nobody.
fn is_alive(pid: &str) -> bool {
    let ps = std::process::Command::new("ps").args(["-o", "stat=", "-p", pid.trim()]).output();
    let state = String::from_utf8(ps.expect("ps runs").stdout).expect("text");
    !state.trim().is_empty() && !state.trim().starts_with('Z')
}

#[tokio::test]
async fn how_it_ended_is_how_it_went() {
    assert_eq!(run("exit 0", LONG).await, Ok(()));
    assert_eq!(run("exit 3", LONG).await, Err("ended with exit status: 3".to_owned()));
    assert_eq!(
        run("printf secret >&2; exit 1", LONG).await,
        Err("ended with exit status: 1".into())
    );
    let command = vec![Argument::read("/no/such/program").expect("an argument")];
    let runner = Runner { hook: Hook { command }, within: LONG, grace: SHORT };
    let failed = runner.tell(&ask(), NoticeWhy::Came).await.unwrap_err();
    assert!(failed.starts_with("could not be started: "), "{failed}");
}

#[tokio::test]
async fn one_that_reads_nothing_and_prints_much_is_no_trouble() {
    assert_eq!(run("exec <&-; yes | head -c 1000000; exit 0", LONG).await, Ok(()));
}

#[tokio::test]
async fn one_that_hangs_is_killed_with_its_children_also_where_they_will_not_go() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("pids");
    let script = format!(
        "trap '' TERM; sh -c 'trap \"\" TERM; echo $$ >> {0}; while :; do sleep 1; done' & \
         echo $$ >> {0}; while :; do sleep 1; done",
        file.display()
    );
    // Killed before it has begun it proves nothing: until both have said who they are.
    let mut within = SHORT;
    let pids = loop {
        let failed = run(&script, within).await.unwrap_err();
        assert!(failed.starts_with("did not end within "), "{failed}");
        let pids = std::fs::read_to_string(&file).unwrap_or_default();
        if pids.lines().count() >= 2 {
            break pids;
        }
        within *= 2;
    };
    for pid in pids.lines() {
        assert!(!is_alive(pid), "{pid} of {pids}");
    }
}

#[tokio::test]
async fn a_child_that_keeps_its_output_has_the_same_time_and_changes_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("pid");
    let script = format!("sleep 1000 & echo $! > {}; exit 0", file.display());
    assert_eq!(run(&script, Duration::from_secs(3)).await, Ok(()));
    let pid = std::fs::read_to_string(&file).expect("it was written");
    assert!(!is_alive(&pid), "{pid}");
}

#[test]
fn of_the_environment_only_what_is_named_passes() {
    let names = [
        "PATH",
        "HOME",
        "LANG",
        "LC_ALL",
        "LC_TIME",
        "DISPLAY",
        "WAYLAND_DISPLAY",
        "XDG_RUNTIME_DIR",
        "DBUS_SESSION_BUS_ADDRESS",
    ];
    let others = [
        "ASKWAY_TOKEN",
        "ASKWAY_TOKEN_FILE",
        "ASKWAY_DATA",
        "LD_PRELOAD",
        "LC",
        "AWS_SECRET",
        "BASH_ENV",
        "path",
        "IFS",
    ];
    let all = names.iter().chain(&others).map(|name| (OsString::from(name), OsString::from("x")));
    let passes: Vec<_> = passed(all).map(|(name, _)| name).collect();
    assert_eq!(passes, names.map(OsString::from));
}

#[tokio::test]
async fn of_what_it_prints_the_beginning_is_kept_and_all_is_taken() {
    let printed = vec![b'x'; 100_000];
    let mut kept = Vec::new();
    keep(Some(&printed[..]), &mut kept).await;
    assert_eq!(kept, vec![b'x'; OUTPUT_BYTES]);
}
