//! `askway demo`: all of it happens, in time, and leaves nothing behind.

use super::daemon::{Said, command, first_line, signal};
use rustix::process::Signal;
use std::process::Stdio;
use std::time::{Duration, Instant};

#[test]
fn the_demo_tells_the_whole_story_in_under_a_minute() {
    let folder = tempfile::tempdir().expect("a folder");
    let begun = Instant::now();
    let mut demo = command(folder.path(), &["demo", "--json"]);
    let told = Said::by(demo.env("TMPDIR", folder.path())).ends(0);
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
    let said = |step: serde_json::Value| step["told"].as_str().expect("what happened").to_owned();
    let story: String = told.lines().into_iter().map(said).collect();
    // What it says of itself is the story alone, and nobody answers what they were not shown.
    assert_eq!(told.err, "");
    assert_eq!(story.matches("askway show").count(), 2, "{story}");
    for step in ["The lead answered", "route timer ran out", "The lead refused", "SIGKILL"] {
        assert!(story.contains(step), "{step}: {story}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 0, "nothing is left");
}

#[test]
fn a_demo_that_is_stopped_leaves_nothing_behind() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut demo = command(folder.path(), &["demo"]);
    let demo = demo.env("TMPDIR", folder.path()).stdout(Stdio::piped());
    let mut demo = demo.spawn().expect("it starts");
    let mut out = demo.stdout.take().expect("piped");
    assert!(!first_line(&mut out).is_empty(), "it has begun");
    signal(&demo, Signal::TERM);
    assert_eq!(demo.wait().expect("it ends").code(), Some(130));
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 0, "nothing is left");
}
