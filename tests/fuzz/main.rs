//! The bodies of the fuzzers, over the seeds that lie here and over those seeds with a little damage:
//! what a fuzzer would find at once, every run of the tests finds. `scripts/fuzz` goes on from there.
//!
//! `ASKWAY_WRITE=1 cargo test --test fuzz seeds` writes the seeds that are made by code.

mod bodies;
mod seeds;

use bodies::{TARGETS, Target};
use std::path::PathBuf;
use std::{env, fs};

fn folder(target: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz/seeds").join(target)
}

fn seeds_of(target: &str) -> Vec<(String, Vec<u8>)> {
    let files = fs::read_dir(folder(target)).unwrap_or_else(|why| panic!("{target}: {why}"));
    let mut all: Vec<_> = files
        .map(|file| {
            let path = file.unwrap().path();
            (path.file_name().unwrap().to_str().unwrap().to_owned(), fs::read(path).unwrap())
        })
        .collect();
    all.sort();
    all
}

/// Every seed; each cut at some places, and with some bytes changed.
fn over_seeds(target: &Target, damages: usize) {
    let seeds = seeds_of(target.name);
    let mut taken = 0;
    for (name, bytes) in &seeds {
        println!("{}/{name}", target.name);
        taken += usize::from((target.run)(bytes));
        for step in 0..damages {
            let at = bytes.len() * step / damages;
            (target.run)(&bytes[..at]);
            let mut damaged = bytes.clone();
            damaged.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 1 << (step % 7));
            (target.run)(&damaged);
        }
    }
    assert!(2 * taken > seeds.len(), "{}: {taken} of {} were taken", target.name, seeds.len());
}

#[test]
fn any_request_is_decided_or_refused() {
    over_seeds(bodies::target("decide"), 40);
}

#[test]
fn any_record_is_a_value_or_an_error() {
    over_seeds(bodies::target("records"), 40);
}

#[test]
fn any_token_is_one_thing_or_none() {
    over_seeds(bodies::target("tokens"), 20);
}

#[test]
fn any_configuration_is_served_or_faulted_by_line() {
    over_seeds(bodies::target("config"), 20);
}

#[test]
fn any_file_of_the_command_line_is_read_or_placed() {
    over_seeds(bodies::target("json"), 40);
}

#[test]
fn rule_21_any_text_is_shown_without_what_is_hidden() {
    over_seeds(bodies::target("text"), 40);
}

#[test]
fn a_damaged_store_is_refused_or_right() {
    over_seeds(bodies::target("store"), 4);
}

/// A target without a test of its own would be run by nobody.
#[test]
fn every_target_is_built_and_has_seeds() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let manifest = fs::read_to_string(root.join("fuzz/Cargo.toml")).unwrap();
    let script = fs::read_to_string(root.join("scripts/fuzz")).unwrap();
    for Target { name, .. } in &TARGETS {
        assert!(manifest.contains(&format!("name = \"{name}\"")), "{name} is not built");
        assert!(script.contains(name), "{name} is not run");
        let body = fs::read_to_string(root.join(format!("fuzz/fuzz_targets/{name}.rs"))).unwrap();
        assert!(body.contains(&format!("target(\"{name}\")")), "{name} runs another");
        assert!(seeds_of(name).len() >= 3, "{name} has few seeds");
    }
}

#[test]
fn the_seeds_made_by_code_are_as_they_lie_here() {
    let write = env::var_os("ASKWAY_WRITE").is_some();
    for (target, name, bytes) in seeds::all() {
        let path = folder(target).join(name);
        if write {
            fs::create_dir_all(folder(target)).unwrap();
            fs::write(&path, &bytes).unwrap();
        }
        let found = fs::read(&path).unwrap_or_default();
        assert!(found == bytes, "{} differs: ASKWAY_WRITE=1 writes it", path.display());
    }
}
