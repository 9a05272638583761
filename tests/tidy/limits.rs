//! `docs/limits.md` has every limit there is, with its number and its reason, as they stand in the
//! source: written anew by `ASKWAY_WRITE=1 cargo test --test tidy limits`.

use std::fs;
use std::path::Path;

const PAGE: &str = "docs/limits.md";
/// Where limits stand, and what they bound.
const SOURCES: [(&str, &str); 4] = [
    ("What an ask, a session and their texts may be", "src/ask/limits.rs"),
    ("The wire", "src/grpc/limits.rs"),
    ("How much at once, and how fast", "src/service/rates.rs"),
    ("Exports", "src/store/export.rs"),
];
/// What stands before the tables is written by hand.
const BEGINS: &str = "## What an ask";

/// The tables of these sources, each with its path and text.
fn tables(sources: &[(&str, &str, String)]) -> String {
    let mut page = String::new();
    for (title, path, text) in sources {
        page.push_str(&format!("## {title}\n\n[{path}](../{path})\n\n"));
        page.push_str("| limit | is | because |\n|---|---|---|\n");
        let mut reason = String::new();
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            if let Some(said) = line.strip_prefix("/// ") {
                reason = if reason.is_empty() { said.into() } else { format!("{reason} {said}") };
                continue;
            }
            if let Some(constant) = line.strip_prefix("pub const ") {
                let mut constant = constant.to_owned();
                while !constant.ends_with(';') {
                    constant.push(' ');
                    constant.push_str(lines.next().expect("a constant ends").trim());
                }
                let (name, rest) = constant.split_once(": ").expect("a constant has a type");
                let (_, value) = rest.split_once(" = ").expect("a constant has a value");
                let value = value.trim_end_matches(';').trim();
                let reason = reason.replace("[`", "`").replace("`]", "`");
                page.push_str(&format!("| `{name}` | `{value}` | {reason} |\n"));
            }
            reason.clear();
        }
        page.push('\n');
    }
    page.trim_end().to_owned() + "\n"
}

#[test]
fn every_limit_is_in_the_table_with_its_number_and_its_reason() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |path: &str| fs::read_to_string(root.join(path)).expect(path);
    let sources = SOURCES.map(|(title, path)| (title, path, read(path)));
    let wanted = tables(&sources);
    let page = read(PAGE);
    let (by_hand, found) = page.split_at(page.find(BEGINS).expect("the tables are there"));
    if std::env::var_os("ASKWAY_WRITE").is_some() {
        fs::write(root.join(PAGE), format!("{by_hand}{wanted}")).expect("written");
        return;
    }
    assert!(found == wanted, "{PAGE} is not as the source: ASKWAY_WRITE=1 cargo test --test tidy");
    assert!(!wanted.contains("| |"), "a limit without a reason");
}

#[test]
fn a_limit_is_read_with_its_reason_over_as_many_lines_as_it_takes() {
    let text = "/// One,\n/// two.\npub const A: usize = 3;\n\n/// No limit.\nfn a() {}\n\
                /// B.\npub const B: Span =\n    Span::from_secs(1);\n";
    let page = tables(&[("T", "a.rs", text.to_owned())]);
    assert!(
        page.contains("| `A` | `3` | One, two. |\n| `B` | `Span::from_secs(1)` | B. |"),
        "{page}"
    );
}
