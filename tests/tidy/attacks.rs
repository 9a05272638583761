//! docs/attacks.md and SECURITY.md: every test that is named there is one, and every attack names some.

use super::cases::tests;
use super::{quoted, read};
use std::collections::BTreeSet;
use std::path::Path;

const PAGE: &str = "docs/attacks.md";
const SECURITY: &str = "SECURITY.md";
/// Words of a test's name at least, where it stands among other words: no other name here has as many.
const WORDS: usize = 5;

#[test]
fn every_attack_names_tests_and_every_test_that_is_named_is_there() {
    let files = read(Path::new(env!("CARGO_MANIFEST_DIR")));
    let text = |path: &str| &files.iter().find(|file| file.path == path).expect(path).text;
    let there = tests(&files);
    let mut found = amiss(text(PAGE), &there);
    found.extend(unknown(SECURITY, named(text(SECURITY)), &there));
    assert!(found.is_empty(), "\n{}\n", found.join("\n"));
}

/// The names of tests in prose.
fn named(text: &str) -> Vec<String> {
    let is_name = |word: &String| {
        word.split('_').count() >= WORDS
            && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
    };
    quoted(text).into_iter().filter(is_name).collect()
}

fn unknown(page: &str, names: Vec<String>, there: &BTreeSet<String>) -> Vec<String> {
    let unknown = names.into_iter().filter(|name| !there.contains(name));
    unknown.map(|name| format!("{page} names no test: {name}")).collect()
}

/// What is wrong with the page's tables: `| attack | what keeps it | tests |`.
fn amiss(page: &str, there: &BTreeSet<String>) -> Vec<String> {
    let rows =
        page.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| attack |"));
    let mut found = Vec::new();
    let mut seen = 0;
    for row in rows {
        let cells: Vec<_> = row.trim_matches('|').split(" | ").collect();
        let [attack, rule, tests] = cells[..] else {
            found.push(format!("{PAGE}: three cells are wanted: {row}"));
            continue;
        };
        seen += 1;
        let tests = quoted(tests);
        if rule.trim().is_empty() || tests.is_empty() {
            found.push(format!("{PAGE}: nothing tries, or nothing keeps: {attack}"));
        }
        found.extend(unknown(PAGE, tests, there));
    }
    if seen == 0 {
        found.push(format!("{PAGE} has no rows"));
    }
    found
}

#[test]
fn an_attack_that_nothing_tries_is_caught() {
    let there = ["one_two".to_owned()].into();
    let head = "| attack | what keeps it | tests |\n|---|---|---|\n";
    let page = |row: &str| format!("{head}{row}\n");
    assert!(amiss(&page("| a `x` | rule | `one_two` |"), &there).is_empty());
    assert_eq!(amiss(&page("| a | rule | `one_two`, `two_one` |"), &there).len(), 1);
    assert_eq!(amiss(&page("| a | rule | none |"), &there).len(), 1);
    assert_eq!(amiss(&page("| a | rule |"), &there).len(), 2);
    assert_eq!(amiss(head, &there).len(), 1);
    assert_eq!(
        named("see `a_test_of_many_words`, `src/cli/a.rs` and `one_two`"),
        ["a_test_of_many_words"]
    );
}
