//! Each rule of the design is a test by its number.

use super::{File, read};
use std::path::Path;

/// How many rules there are.
const RULES: usize = 22;

/// The rules that no function of these files is named after.
fn untested(files: &[File]) -> Vec<usize> {
    let named = |rule: usize| {
        let begins = format!("fn rule_{rule:02}_");
        files.iter().any(|file| file.text.contains(&begins))
    };
    (1..=RULES).filter(|rule| !named(*rule)).collect()
}

#[test]
fn each_rule_of_the_design_is_a_test_by_its_number() {
    let mut files = read(Path::new(env!("CARGO_MANIFEST_DIR")));
    files.retain(|file| file.path.ends_with(".rs") && !file.path.starts_with("tests/tidy/"));
    assert_eq!(untested(&files), [0; 0], "these rules have no test");
}

#[test]
fn a_rule_without_a_test_is_caught() {
    let text =
        (1..=RULES).filter(|rule| *rule != 13).map(|rule| format!("fn rule_{rule:02}_x() {{}}\n"));
    let file = File { path: "tests/all/rules.rs".into(), text: text.collect() };
    assert_eq!(untested(&[file]), [13]);
}
