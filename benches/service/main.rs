//! How fast askway is, as ratios within one run: `cargo bench --bench service`, `-- --quick` for less
//! of everything in under a minute.
//!
//! The release server runs as a process of its own and is driven over loopback by the real client.
//! Beside it, in the same run and with the same callers and connections, stand the two things it
//! cannot beat: a plain tonic echo ([`echo`]), and one append with a sync of the disk ([`disk`]). They
//! are measured before and after; where they moved, the run does not count, and says so.
//!
//! Each figure is one line, `FIGURE name value unit`, for programs; a table for people follows.

mod cast;
mod daemon;
mod disk;
mod echo;
mod figures;
mod report;

use report::Report;
use std::path::PathBuf;
use std::process::ExitCode;

/// How much of everything is done.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    /// Calls of each caller in a burst.
    pub calls: usize,
    /// Repetitions of each burst; the median counts.
    pub repetitions: usize,
    /// Single steps whose middle and end are looked at.
    pub steps: usize,
    /// Asks that are stored where much is stored.
    pub stored: usize,
    /// Watchers that wait at once, and the connections they share.
    pub watchers: (usize, usize),
    /// Asks whose route timers run at once.
    pub timers: usize,
    /// Seconds over which an idle daemon is looked at.
    pub idle_seconds: u64,
}

const QUICK: Scale = Scale {
    calls: 40,
    repetitions: 3,
    steps: 200,
    stored: 20_000,
    watchers: (5_000, 50),
    timers: 4_000,
    idle_seconds: 3,
};

const FULL: Scale = Scale {
    calls: 100,
    repetitions: 5,
    steps: 1_000,
    stored: 990_000, // with those of the steps, as many as a namespace may have
    watchers: (100_000, 1_000),
    timers: 1_000_000,
    idle_seconds: 20,
};

/// What was typed after `--`.
struct Typed {
    scale: Scale,
    /// Only figures whose names contain this.
    only: Option<String>,
    /// The program to measure, where it is not the one built for this.
    server: Option<PathBuf>,
    /// Whether a figure that misses its goal by more than twice fails the run.
    check: bool,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.first().is_some_and(|first| first == echo::SERVE) {
        return echo::serve();
    }
    // `cargo test --all-targets` builds and calls what is to be measured; there is nothing to test.
    if !arguments.iter().any(|argument| argument == "--bench") {
        println!("measured by `cargo bench --bench service`; nothing was measured");
        return ExitCode::SUCCESS;
    }
    let typed = match read(&arguments) {
        Ok(typed) => typed,
        Err(wrong) => {
            eprintln!(
                "{wrong}; next: cargo bench --bench service -- [--quick] [--only NAME] \
                 [--server PROGRAM] [--check]"
            );
            return ExitCode::from(2);
        }
    };
    if let Some(program) = typed.server.clone() {
        daemon::measure(program);
    }
    let runtime = tokio::runtime::Runtime::new().expect("the system gives threads");
    let mut report = Report::default();
    runtime.block_on(figures::all(typed.scale, typed.only.as_deref(), &mut report));
    print!("{}", report.table());
    let missed = report.missed_by_twice();
    if typed.check && !missed.is_empty() {
        eprintln!("missed by more than twice: {}", missed.join(", "));
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

fn read(arguments: &[String]) -> Result<Typed, String> {
    let mut typed = Typed { scale: FULL, only: None, server: None, check: false };
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        match argument.as_str() {
            "--bench" => {}
            "--quick" => typed.scale = QUICK,
            "--check" => typed.check = true,
            "--only" => typed.only = Some(rest.next().ok_or("--only needs a name")?.clone()),
            "--server" => {
                let path = rest.next().ok_or("--server needs the path of a program")?;
                typed.server = Some(path.into());
            }
            other => return Err(format!("`{other}` is not known")),
        }
    }
    Ok(typed)
}
