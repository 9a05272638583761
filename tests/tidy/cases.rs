//! docs/cases.md and the tests: each that is named there is there, and each test that bears a case's
//! number is listed with it.

use super::source::tokens;
use super::{File, quoted, read};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

const LIST: &str = "docs/cases.md";

#[test]
fn the_list_of_cases_and_the_tests_agree() {
    let files = read(Path::new(env!("CARGO_MANIFEST_DIR")));
    let list = files.iter().find(|file| file.path == LIST).expect("the list is there");
    let found = amiss(&listed(&list.text), &tests(&files));
    assert!(found.is_empty(), "\n{}\n", found.join("\n"));
}

/// The tests each case names, by its number.
fn listed(text: &str) -> BTreeMap<u32, Vec<String>> {
    let rows = text.lines().filter_map(|line| line.strip_prefix("| C"));
    let rows = rows.filter_map(|row| {
        let (number, rest) = row.split_once(' ')?;
        Some((number.parse().ok()?, quoted(rest)))
    });
    rows.collect()
}

/// Every function there is; those of the program's are too many to be mistaken for a test.
pub(super) fn tests(files: &[File]) -> BTreeSet<String> {
    let rust = files.iter().filter(|file| file.path.ends_with(".rs"));
    let each = rust.flat_map(|file| {
        let tokens = tokens(&file.text);
        let functions = tokens.windows(2).filter(|pair| pair[0].text == "fn");
        functions.map(|pair| pair[1].text.clone()).collect::<Vec<_>>()
    });
    each.collect()
}

/// The cases that a test's name begins with: `c31_c36_…` has two.
fn numbers(test: &str) -> impl Iterator<Item = u32> + '_ {
    let parts = test.split('_').map_while(|part| match part.strip_prefix('c') {
        Some(number) => number.parse().ok(),
        None => None,
    });
    parts.into_iter()
}

fn amiss(listed: &BTreeMap<u32, Vec<String>>, tests: &BTreeSet<String>) -> Vec<String> {
    let named = listed.iter().flat_map(|(case, names)| names.iter().map(move |name| (case, name)));
    let missing = named.filter(|(_, name)| !tests.contains(*name));
    let missing = missing.map(|(case, name)| format!("{LIST}: C{case:02} names no test: {name}"));
    let borne = tests.iter().flat_map(|test| numbers(test).map(move |case| (case, test)));
    let unlisted =
        borne.filter(|(case, test)| listed.get(case).is_none_or(|names| !names.contains(test)));
    let unlisted = unlisted.map(|(case, test)| format!("{LIST}: C{case:02} does not name {test}"));
    missing.chain(unlisted).collect()
}

#[test]
fn a_test_that_is_not_there_or_not_listed_is_caught() {
    let list = listed("| case | tests |\n|---|---|\n| C07 | words | `c07_one`, `rule_two` |\n");
    let with = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    assert!(amiss(&list, &with(&["c07_one", "rule_two", "c_helper", "close"])).is_empty());
    assert_eq!(amiss(&list, &with(&["c07_one"])), ["docs/cases.md: C07 names no test: rule_two"]);
    let more = with(&["c07_one", "rule_two", "c07_c09_three"]);
    assert_eq!(amiss(&list, &more).len(), 2, "of each of its cases");
}
