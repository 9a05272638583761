//! `askway.toml`: a configuration that can be served, or every fault with its line.

use askway::config::{Args, Config, FILE};
use std::fs;
use std::path::Path;
use std::sync::{LazyLock, Mutex};
use tempfile::TempDir;

/// One file, written anew for each text.
static FOLDER: LazyLock<Mutex<TempDir>> =
    LazyLock::new(|| Mutex::new(tempfile::tempdir().expect("a folder can be made")));

pub fn run(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    let folder = FOLDER.lock().expect("nobody panicked with it");
    let data = folder.path();
    fs::write(data.join(FILE), text).expect("a file can be written");
    let load = || Config::load(Args { data: Some(data.to_owned()), ..Args::default() });
    let loaded = load();
    assert_eq!(loaded, load(), "the same text says the same");
    match loaded {
        Ok(config) => {
            assert!(config.socket.is_absolute());
            true
        }
        Err(faults) => {
            assert!(!faults.0.is_empty());
            let lines = text.lines().count().max(1);
            let at = faults.0.iter().filter_map(|fault| line(&fault.place, data));
            at.for_each(|line| assert!((1..=lines + 1).contains(&line), "{line} of {lines}"));
            assert!(faults.0.iter().all(|fault| !fault.message.is_empty()));
            false
        }
    }
}

/// The line of the file that a place names.
fn line(place: &str, data: &Path) -> Option<usize> {
    let rest = place.strip_prefix(data.join(FILE).to_str()?)?.strip_prefix(':')?;
    rest.split(':').next()?.parse().ok()
}
