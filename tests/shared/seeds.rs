//! A test that is run by a seed, twice in processes of its own: both must come to the same.

use std::collections::BTreeMap;
use std::env;
use std::process::{Command, Stdio};

/// What a process is told that shall make one run.
const ONE: &str = "one-run";

/// What a run came to, by name.
pub type Came = BTreeMap<String, u64>;

/// What a program of such runs is called for.
pub enum Called {
    /// One run of this seed.
    One(u64),
    /// As many as it makes by itself.
    Many,
    /// Other tests.
    Nothing,
}

/// What this program, whose test is called `name`, is called for.
pub fn called(name: &str) -> Called {
    let given: Vec<String> = env::args().skip(1).collect();
    if let [mode, seed] = &given[..]
        && mode == ONE
    {
        return Called::One(seed.parse().expect("a seed"));
    }
    // `cargo test FILTER` and `cargo test -- --list` are about other tests.
    let mut filters = given.iter().filter(|given| !given.is_empty() && !given.starts_with("--"));
    let is_meant = filters.clone().next().is_none() || filters.any(|filter| name.contains(filter));
    match is_meant && !given.iter().any(|given| given == "--list") {
        true => Called::Many,
        false => Called::Nothing,
    }
}

/// Runs a seed twice: what happened, or what is wrong.
pub fn twice(seed: u64) -> Result<Came, String> {
    let first = in_process(seed)?;
    if first.get("violations") != Some(&0) {
        return Err(format!("seed {seed} breaks a promise"));
    }
    let second = in_process(seed)?;
    match first == second {
        true => Ok(first),
        false => Err(format!("seed {seed} came to two traces:\n{first:?}\n{second:?}")),
    }
}

/// Runs a seed in a process of its own.
fn in_process(seed: u64) -> Result<Came, String> {
    let own = env::current_exe().map_err(|why| format!("no program to start: {why}"))?;
    let made = Command::new(own).args([ONE, &seed.to_string()]).stderr(Stdio::inherit()).output();
    let made = made.map_err(|why| format!("no run: {why}"))?;
    let said = String::from_utf8_lossy(&made.stdout).into_owned();
    if !made.status.success() {
        return Err(format!("seed {seed} did not end: {said}"));
    }
    let read = |pair: &str| {
        let (name, count) = pair.split_once('=')?;
        Some((name.to_owned(), count.parse().ok()?))
    };
    said.split_whitespace().map(|pair| read(pair).ok_or_else(|| said.clone())).collect()
}

/// The whole number that this variable is set to.
pub fn set(name: &str) -> Option<u64> {
    let text = env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name}={text} is not a whole number")))
}

/// A seed by chance, on which nothing has been decided yet.
pub fn by_chance() -> u64 {
    getrandom::u64().expect("random numbers") >> 16
}

/// The system's clock, which no run sets.
pub fn seconds_now() -> u64 {
    rustix::time::clock_gettime(rustix::time::ClockId::Monotonic).tv_sec as u64
}
