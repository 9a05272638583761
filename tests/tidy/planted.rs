//! The checks, tried on violations planted for them: a check that finds nothing checks nothing.

use super::source::{paths, tokens};
use super::{File, House, crates, may_know};

const TABLE: &str = "
## Who may know whom

| module | may know |
|---|---|
| `ask` | nothing |
| `session` | `ask` |
| `store`, `engine` | `ask`, `session` |
| `serve` | everything |

## Next

| `later` | `ask` |
";

const MANIFEST: &str = "[package]
name = \"x\"

[dependencies]
tokio = \"1\" # a reason
serde = \"1\"
tokio-util = { version = \"1\" }

[dev-dependencies]
proptest = \"1\"
";

fn house() -> House {
    House { may_know: may_know(TABLE), crates: crates(MANIFEST) }
}

fn found(path: &str, text: &str) -> Vec<String> {
    house().violations(&File { path: path.into(), text: text.into() })
}

#[track_caller]
fn caught(path: &str, text: &str) {
    assert_eq!(found(path, text).len(), 1, "{path}: {text}");
}

#[track_caller]
fn passes(path: &str, text: &str) {
    assert_eq!(found(path, text), [""; 0], "{path}: {text}");
}

#[test]
fn an_import_against_the_table_is_caught_however_it_is_spelled() {
    for text in [
        "use crate::store::Store;",
        "use crate::store;",
        "use crate::{ask::Ask, store::{Key}};",
        "use crate::{\n    ask::Ask,\n    store as kept,\n};",
        "fn f() -> crate::store::Key { g() }",
        "use super::super::store::Key;",
        "#[cfg(test)]\nmod tests {\n    use crate::store::Key;\n}",
    ] {
        caught("src/session/decide.rs", text);
    }
    caught("src/session.rs", "use super::store::Key;");
    caught("src/session/mod.rs", "use super::store::Key;");
}

#[test]
fn an_import_that_the_table_allows_passes() {
    passes("src/session/decide.rs", "use crate::ask::Ask; use super::Session;");
    passes(
        "src/session/decide.rs",
        "// crate::store\n/// [`crate::store`]\nconst A: &str = \"crate::store\";",
    );
    passes("src/session/decide.rs", "use super::store::Key; // a module of its own");
    passes("src/store/redb/mod.rs", "use crate::store::Key; use crate::session::Ticket;");
    passes("src/serve.rs", "use crate::store::Key;");
    passes("src/lib.rs", "pub mod store;");
}

#[test]
fn a_row_too_few_or_too_many_is_caught() {
    let file = |path: &str| File { path: path.into(), text: String::new() };
    let mut files: Vec<_> = [
        "src/ask/mod.rs",
        "src/session.rs",
        "src/store/mod.rs",
        "src/engine/mod.rs",
        "src/serve.rs",
    ]
    .map(file)
    .into();
    assert_eq!(house().rows_amiss(&files), [""; 0]);
    files.push(file("src/web/mod.rs"));
    assert_eq!(house().rows_amiss(&files).len(), 1);
    files.remove(4);
    assert_eq!(house().rows_amiss(&files).len(), 2);
}

#[test]
fn an_effect_in_a_pure_module_is_caught() {
    for text in [
        "use tokio::sync::mpsc;",
        "use tokio_util::sync::CancellationToken;",
        "use std::fs;",
        "fn f() { std::env::var(name) }",
        "pub async fn f() {}",
    ] {
        caught("src/ask/decide.rs", text);
        passes("src/ask/tests/cases.rs", text);
    }
    passes("src/ask/event.rs", "use serde::Serialize; use std::fmt; use std::str::FromStr;");
    passes("src/ask/event.rs", "#[cfg(test)]\nmod tests {\n    use proptest::prelude::*;\n}");
    passes("src/engine/mod.rs", "use tokio::sync::mpsc; use std::env;");
}

#[test]
fn a_clock_read_away_from_the_clock_is_caught() {
    for text in [
        "fn f() { let a = Instant::now(); }",
        "fn f() { let a = std::time::SystemTime::now(); }",
        "fn f() { let a = jiff::Timestamp::now(); }",
        "fn f() { let a = rustix::time::clock_gettime(id); }",
    ] {
        caught("src/engine/timer.rs", text);
        passes("src/engine/clock.rs", text);
        passes("src/serve.rs", text);
    }
    passes("src/engine/timer.rs", "fn f() { self.clock.now() }");
}

#[test]
fn a_database_outside_its_folder_is_caught() {
    for text in ["use redb::Database;", "fn f(a: &::redb::Database) {}", "use redb;"] {
        caught("src/engine/mod.rs", text);
        caught("src/store/mod.rs", text);
        passes("src/store/redb/open.rs", text);
    }
    passes("src/serve.rs", "use crate::store::redb::Redb;");
    caught("src/store/mod.rs", "use rusqlite::Connection;");
}

#[test]
fn what_is_too_long_is_caught() {
    let function =
        |lines: usize| format!("fn f(a: [u8; 4]) {{\n{}}}\n", "a();\n".repeat(lines - 2));
    passes("src/cli/ask.rs", &function(70));
    caught("src/cli/ask.rs", &function(71));
    passes("tests/all/rules.rs", &function(120));
    caught("tests/all/rules.rs", &function(121));
    passes("src/cli/ask.rs", "trait T {\n    fn f(&self);\n}");
    passes("src/cli/ask.rs", &"// a\n".repeat(400));
    caught("src/cli/ask.rs", &"// a\n".repeat(401));
    caught("src/ask/tests/table.rs", &"// a\n".repeat(601));
    let table = format!("{}fn decide() {{\n{}}}\n", "// a\n".repeat(400), "a();\n".repeat(200));
    passes("src/ask/decide.rs", &table);
    assert_eq!(found("src/cli/ask.rs", &table).len(), 2);
}

#[test]
fn what_is_left_over_is_caught() {
    for text in [
        concat!("fn f() { to", "do!() }"),
        concat!("fn f() { unimple", "mented!(\"later\") }"),
        concat!("fn f() { d", "bg!(a); }"),
        concat!("#[ig", "nore]\nfn f() {}"),
        concat!("#[ig", "nore = \"slow\"]\nfn f() {}"),
    ] {
        caught("src/cli/ask.rs", text);
        caught("tests/all/rules.rs", text);
    }
    let sleeps = "async fn f() { tokio::time::sleep(BRIEFLY).await; }";
    passes("src/engine/timer.rs", sleeps);
    caught("tests/all/rules.rs", sleeps);
    let until = "async fn f() { tokio::time::sleep_until(due).await; }";
    caught("tests/all/rules.rs", until);
    passes("tests/sim/world.rs", until);
    caught("src/engine/tests.rs", sleeps);
    caught("src/engine/timer.rs", &format!("#[cfg(test)]\nmod tests {{\n{sleeps}\n}}"));
}

#[test]
fn hosts_of_packages_and_paths_of_a_machine_are_caught_in_any_file() {
    for text in [concat!("see https://github", ".com/x"), concat!("cd /ho", "me/me/askway")] {
        caught("README.md", text);
        caught("src/cli/ask.rs", &format!("// {text}"));
    }
}

#[test]
fn rust_is_read_as_it_is_meant() {
    let read = |text: &str| -> Vec<String> {
        paths(&tokens(text)).into_iter().map(|(_, path)| path).collect()
    };
    let groups = read("use a::{b, c::{d, e as f}, self}; g::<H>::i();");
    assert_eq!(groups, ["a::b", "a::c::d", "a::c::e", "a::self", "g"]);
    assert_eq!(read("let a = \"b::c\"; /* d::e /* f::g */ h::i */ r#\"j::\"k\"# ; l::m"), ["l::m"]);
    assert_eq!(read("fn f<'a>(c: char) { c == '\\'' || c == ':' || n::o('\"') }"), ["n::o"]);
    assert_eq!(read("<T as p::Q>::r::s()"), ["p::Q"]);
    assert_eq!(tokens("a\n// b\n\"c\nd\" e").last().map(|token| token.line), Some(4));
}
