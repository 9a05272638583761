//! The house rules a compiler does not know: who may know whom (read from ARCHITECTURE.md), who may
//! read a clock, how long files and functions may be, and what must not be left lying about. Each
//! check is tried on planted violations in `planted`; `source` reads Rust.

mod attacks;
mod cases;
mod limits;
mod planted;
mod rules;
mod source;

use source::{Token, before_tests, functions, paths, tokens};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Lines of a file of the program: what one reads in one go.
const FILE_LINES: usize = 400;
/// Lines of a file of tests: a table of cases is as long as its cases.
const TEST_FILE_LINES: usize = 600;
/// Lines of a function of the program: a screen.
const FUNCTION_LINES: usize = 70;
/// Lines of a function of tests, which may be one table.
const TEST_FUNCTION_LINES: usize = 120;
/// The transition tables: each is to be read in one piece, so its lines do not count.
const TABLES: [(&str, &str); 2] =
    [("src/ask/decide.rs", "decide"), ("src/session/decide.rs", "decide")];

/// The pure modules, and the crates they may use outside their tests.
const PURE: [(&str, &[&str]); 2] = [
    (
        "ask",
        &[
            "serde",
            "data_encoding",
            "sha2",
            "unicode_normalization",
            "unicode_properties",
            "unicode_security",
        ],
    ),
    ("session", &["serde", "data_encoding", "sha2", "secrecy", "subtle"]),
];
/// What of `std` is not pure.
const EFFECTS: [&str; 6] =
    ["std::fs", "std::net", "std::env", "std::process", "std::thread", "std::io"];
/// Each database crate, and the only folders that may use it.
const DATABASES: [(&str, &[&str]); 4] = [
    ("redb", &["src/store/redb/", "src/store/fault/"]),
    ("tokio_postgres", &["src/store/postgres/"]),
    ("rusqlite", &[]),
    ("sqlx", &[]),
];

/// Modules whose time arrives with what they are asked, but for the one clock.
const TIMELESS: [&str; 5] = ["ask", "session", "store", "service", "engine"];
const CLOCK: &str = "src/engine/clock.rs";
const CLOCK_READS: [&str; 5] =
    ["SystemTime::now", "Instant::now", "clock_gettime", "Timestamp::now", "Utc::now"];

/// Left over from writing: macros and attributes.
const LEFTOVERS: [(&str, &str); 4] =
    [("todo", "!"), ("unimplemented", "!"), ("dbg", "!"), ("ignore", "]")];
/// Hosts of packages and homes of machines; spelled in two, so that this file passes.
const NOT_OURS: [&str; 9] = [
    concat!("crates", ".io"),
    concat!("docs", ".rs"),
    concat!("github", ".com"),
    concat!("gitlab", ".com"),
    concat!("npmjs", "."),
    concat!("pypi", ".org"),
    concat!("/ho", "me/"),
    concat!("/ro", "ot/"),
    concat!("/Us", "ers/"),
];

/// A file of the project: where, from its root, and what.
struct File {
    path: String,
    text: String,
}

#[test]
fn the_house_is_tidy() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let files = read(root);
    let house = House::read(&files);
    assert!(files.iter().any(|file| file.path == CLOCK), "the clock is not where it was");
    let mut found: Vec<_> = files.iter().flat_map(|file| house.violations(file)).collect();
    found.extend(house.rows_amiss(&files));
    assert!(found.is_empty(), "\n{}\n", found.join("\n"));
}

/// Every text file of the project.
fn read(root: &Path) -> Vec<File> {
    let mut files = Vec::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(root).unwrap().to_str().unwrap().replace('\\', "/");
            if matches!(name.as_str(), "target" | ".git") || name.ends_with("Cargo.lock") {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else if let Ok(text) = fs::read_to_string(&path) {
                files.push(File { path: name, text });
            }
        }
    }
    files.sort_by(|one, other| one.path.cmp(&other.path));
    files
}

/// What the checks measure by.
struct House {
    /// Which modules each may know; none is everything.
    may_know: BTreeMap<String, Option<Vec<String>>>,
    /// The crates that Cargo.toml names, as code spells them.
    crates: Vec<String>,
}

impl House {
    fn read(files: &[File]) -> Self {
        let text = |path: &str| {
            let file = files.iter().find(|file| file.path == path);
            &file.unwrap_or_else(|| panic!("{path} is missing")).text
        };
        Self { may_know: may_know(text("ARCHITECTURE.md")), crates: crates(text("Cargo.toml")) }
    }

    fn rows_amiss(&self, files: &[File]) -> Vec<String> {
        let modules: Vec<_> = files.iter().filter_map(|file| module(&file.path)).collect();
        let missing = modules.iter().filter(|module| !self.may_know.contains_key(**module));
        let missing =
            missing.map(|module| format!("src/{module}: no row in ARCHITECTURE.md's table"));
        let named = self.may_know.keys().chain(self.may_know.values().flatten().flatten());
        let stale = named.filter(|name| !modules.contains(&name.as_str()));
        let stale = stale.map(|name| format!("ARCHITECTURE.md: the table names no module: {name}"));
        missing.chain(stale).collect()
    }

    fn violations(&self, file: &File) -> Vec<String> {
        let mut found = Vec::new();
        for (number, line) in file.text.lines().enumerate() {
            for word in NOT_OURS.iter().filter(|word| line.contains(**word)) {
                found.push(format!("{}:{}: no `{word}` in the project", file.path, number + 1));
            }
        }
        if file.path.ends_with(".rs") {
            let tokens = tokens(&file.text);
            let own = if is_test(&file.path) { 0 } else { before_tests(&tokens) };
            let (program, tests) = tokens.split_at(own);
            leftovers(file, &tokens, tests, &mut found);
            lengths(file, program, tests, &mut found);
            databases(file, &tokens, &mut found);
            if let Some(module) = module(&file.path) {
                self.imports(file, module, &tokens, &mut found);
                self.purity(file, module, program, &mut found);
                clocks(file, module, &tokens, &mut found);
            }
        }
        found
    }

    /// Imports against the table, however they are spelled.
    fn imports(&self, file: &File, module: &str, tokens: &[Token], found: &mut Vec<String>) {
        let Some(Some(allowed)) = self.may_know.get(module) else { return };
        let depth = file.path.trim_end_matches("/mod.rs").split('/').count() - 1;
        for (line, path) in paths(tokens) {
            let parts: Vec<_> = path.split("::").collect();
            let up = parts.iter().take_while(|part| **part == "super").count();
            let from_root = if parts[0] == "crate" { 1 } else { up };
            if parts[0] != "crate" && (up == 0 || up < depth) {
                continue;
            }
            let Some(first) = parts.get(from_root) else { continue };
            let known = *first == module || allowed.iter().any(|known| known == first);
            if self.may_know.contains_key(*first) && !known {
                let place = format!("{}:{line}", file.path);
                found.push(format!("{place}: `{module}` may not know `{first}` ({path})"));
            }
        }
    }

    /// What `ask` and `session` must do without.
    fn purity(&self, file: &File, module: &str, program: &[Token], found: &mut Vec<String>) {
        let Some((_, allowed)) = PURE.iter().find(|(pure, _)| *pure == module) else { return };
        if is_test(&file.path) {
            return;
        }
        for (line, path) in paths(program) {
            let first = path.split("::").next().unwrap_or_default();
            let foreign = self.crates.iter().any(|known| known == first);
            let effect = EFFECTS.iter().any(|effect| path.starts_with(effect));
            if effect || foreign && !allowed.contains(&first) {
                found.push(format!("{}:{line}: `{module}` is pure: no `{path}`", file.path));
            }
        }
        for token in program.iter().filter(|token| token.text == "async") {
            found.push(format!("{}:{}: `{module}` is pure: no `async`", file.path, token.line));
        }
    }
}

/// The rows under the heading: `| module | may know |`.
fn may_know(text: &str) -> BTreeMap<String, Option<Vec<String>>> {
    let section =
        text.split("\n## Who may know whom\n").nth(1).expect("ARCHITECTURE.md: the heading");
    let section = section.split("\n## ").next().unwrap_or_default();
    let mut table = BTreeMap::new();
    for line in section.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<_> = line.split('|').map(str::trim).collect();
        let everything = cells[2].starts_with("everything");
        for module in quoted(cells[1]) {
            table.insert(module, (!everything).then(|| quoted(cells[2])));
        }
    }
    assert!(!table.is_empty(), "ARCHITECTURE.md: the table of who may know whom has no rows");
    table
}

fn quoted(cell: &str) -> Vec<String> {
    cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// Every crate of every section of dependencies.
fn crates(manifest: &str) -> Vec<String> {
    let sections = manifest.split("\n[").filter(|section| {
        section.split(']').next().is_some_and(|name| name.ends_with("dependencies"))
    });
    let lines = sections.flat_map(|section| section.lines().skip(1));
    let names = lines.filter_map(|line| line.split_once(" = ").map(|(name, _)| name.trim()));
    names.filter(|name| !name.starts_with('#')).map(|name| name.replace('-', "_")).collect()
}

/// The module a file of `src/` belongs to; none for the roots.
fn module(path: &str) -> Option<&str> {
    let name = path.strip_prefix("src/")?.split('/').next()?;
    let name = name.strip_suffix(".rs").unwrap_or(name);
    (!matches!(name, "lib" | "main")).then_some(name)
}

fn is_test(path: &str) -> bool {
    path.starts_with("tests/") || path.ends_with("/tests.rs") || path.contains("/tests/")
}

fn leftovers(file: &File, tokens: &[Token], tests: &[Token], found: &mut Vec<String>) {
    let pairs = |tokens: &[Token], first: &str, second: &[&str]| -> Vec<usize> {
        let is = |pair: &&[Token]| pair[0].text == first && second.contains(&pair[1].text.as_str());
        tokens.windows(2).filter(is).map(|pair| pair[0].line).collect()
    };
    for (word, mark) in LEFTOVERS {
        // `#[ignore]` and `#[ignore = "…"]` both.
        let marks = if mark == "]" { &["]", "="][..] } else { &["!"][..] };
        for line in pairs(tokens, word, marks) {
            found.push(format!("{}:{line}: `{word}` is left over", file.path));
        }
    }
    let mut sleeps = pairs(tests, "sleep", &["("]);
    // In the simulation time is the run's own, and passes by nothing else.
    if !["tests/sim/", "tests/fleet/"].iter().any(|folder| file.path.starts_with(folder)) {
        sleeps.extend(pairs(tests, "sleep_until", &["("]));
    }
    for line in sleeps {
        found.push(format!(
            "{}:{line}: a test waits for what it waits for, and never sleeps",
            file.path
        ));
    }
}

fn lengths(file: &File, program: &[Token], tests: &[Token], found: &mut Vec<String>) {
    let in_table = |name: &str| TABLES.contains(&(file.path.as_str(), name));
    let mut lines = file.text.lines().count();
    for (part, most) in [(program, FUNCTION_LINES), (tests, TEST_FUNCTION_LINES)] {
        for (name, line, length) in functions(part) {
            if in_table(&name) {
                lines -= length;
            } else if length > most {
                let place = format!("{}:{line}", file.path);
                found.push(format!("{place}: `{name}` has {length} lines, more than {most}"));
            }
        }
    }
    let most = if is_test(&file.path) { TEST_FILE_LINES } else { FILE_LINES };
    if lines > most {
        found.push(format!("{}: {lines} lines, more than {most}", file.path));
    }
}

fn databases(file: &File, tokens: &[Token], found: &mut Vec<String>) {
    for (line, path) in paths(tokens) {
        for (database, folders) in DATABASES {
            let used = path == database || path.starts_with(&format!("{database}::"));
            if used && !folders.iter().any(|folder| file.path.starts_with(folder)) {
                let place = format!("{}:{line}", file.path);
                found.push(format!("{place}: `{database}` outside its folder ({path})"));
            }
        }
    }
}

fn clocks(file: &File, module: &str, tokens: &[Token], found: &mut Vec<String>) {
    if !TIMELESS.contains(&module) || file.path == CLOCK {
        return;
    }
    for (line, path) in paths(tokens) {
        if CLOCK_READS.iter().any(|read| path.ends_with(read)) {
            found.push(format!("{}:{line}: reads a clock (`{path}`); take `Now`", file.path));
        }
    }
}
