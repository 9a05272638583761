//! The daemon as a process on a machine whose wall clock is set (rule 19): faketime moves it for that
//! process alone.

use super::daemon::{Daemon, PATIENCE, Said};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const ROUTE_TIMEOUT: Duration = Duration::from_secs(10);
const HOUR: i64 = 3_600;

/// faketime's library.
fn faketime() -> PathBuf {
    let folders = fs::read_dir("/usr/lib").expect("libraries").map(|folder| folder.unwrap().path());
    let library = |folder: PathBuf| folder.join("faketime/libfaketimeMT.so.1");
    let found = folders.map(library).find(|library| library.exists());
    found.expect("faketime is installed (Debian: apt-get install faketime)")
}

/// A wall clock, which one process goes by.
struct Wall {
    file: PathBuf,
}

impl Wall {
    fn new(folder: &Path) -> Self {
        Self { file: folder.join("wall") }
    }

    /// So many seconds off the machine's from now on. It is never seen half-written.
    fn set(&self, seconds: i64) {
        let next = self.file.with_extension("next");
        fs::write(&next, format!("{seconds:+}")).expect("it is written");
        fs::rename(next, &self.file).expect("it is put in place");
    }

    fn command(&self) -> Vec<String> {
        let library = faketime();
        [
            "env".to_owned(),
            format!("LD_PRELOAD={}", library.display()),
            format!("FAKETIME_TIMESTAMP_FILE={}", self.file.display()),
            "FAKETIME_NO_CACHE=1".to_owned(),
            "FAKETIME_DONT_FAKE_MONOTONIC=1".to_owned(),
        ]
        .into()
    }
}

/// What the daemon takes the time to be, in milliseconds.
fn service_time(daemon: &Daemon) -> i64 {
    let status = daemon.verb(None, &["status"]).ends(0).json();
    let time = status["service_time"].as_str().expect("a time").parse::<jiff::Timestamp>();
    time.expect("a time").as_millisecond()
}

fn has_moved(daemon: &Daemon, id: &str) -> bool {
    let events = Said::lines(&daemon.verb(None, &["log", id]).ends(0));
    let moved = events.iter().filter(|event| event["kind"] == "escalated").count();
    assert!(moved <= 1, "once: {events:?}");
    moved == 1
}

#[test]
fn rule_19_a_wall_clock_that_is_set_moves_no_timer_and_no_time_goes_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let wall = Wall::new(folder.path());
    let past = -24 * 400 * HOUR;
    wall.set(past);
    let timeout = format!("{}s", ROUTE_TIMEOUT.as_secs());
    let mut daemon = Daemon::under(folder, wall.command(), &["--route-timeout", &timeout]);
    let (_, worker) = daemon.pair();
    let (mut last, mut asks) = (service_time(&daemon), Vec::new());
    let off = (jiff::Timestamp::now().as_millisecond() - last) / 1_000 + past;
    assert!(
        off.unsigned_abs() < PATIENCE.as_secs(),
        "it begins at its wall clock, not {off} s off"
    );
    for hours in [1, -1, 24 * 365, -24] {
        wall.set(past + hours * HOUR);
        let begun = Instant::now();
        asks.push((daemon.ask(&worker, &format!("At {hours}?")).ends(0).id(), begun));
        // Killed as well: what it was the time to be is kept, and the boot clock counts on from there.
        if hours % 2 == 0 {
            daemon.kill();
            daemon.restart();
        }
        let now = service_time(&daemon);
        let passed = begun.elapsed().as_millis() as i64;
        assert!(now >= last, "time went back by {} ms", last - now);
        last = now;
        let (first, begun) = &asks[0];
        let early = begun.elapsed() < ROUTE_TIMEOUT * 8 / 10;
        assert!(!early || !has_moved(&daemon, first), "{passed} ms and {hours} hours moved it");
    }
    for (id, begun) in &asks {
        while !has_moved(&daemon, id) {
            assert!(begun.elapsed() < ROUTE_TIMEOUT + PATIENCE, "nothing moves it");
        }
        // A tenth of what passes is the most that service time drifts.
        let took = begun.elapsed();
        assert!(took >= ROUTE_TIMEOUT * 8 / 10, "{took:?}");
        daemon.verb(None, &["answer", id, "yes"]).ends(0);
    }
}
