//! People and tokens, for people.

use super::table::Table;
use super::{FAINT, PLAIN, past};
use crate::ask::Span;
use crate::ask::text::visible_line;
use crate::cli::look::Look;
use crate::cli::namespace::Namespace;
use crate::cli::render::lay::wrap;
use crate::cli::render::{json, words};
use crate::grpc::v1;
use std::fmt::Write;

/// Columns below which little more than the name of a token's owner stands beside its id.
const WIDE: usize = 100;

/// Who did it: what nobody did, the daemon did by its configuration.
fn by(actor: Option<&v1::Actor>) -> String {
    match actor.and_then(|actor| actor.who.as_ref()) {
        Some(v1::actor::Who::Timer(_)) => "the configuration".to_owned(),
        _ => super::actor(actor),
    }
}

/// When, for people; for programs the time itself.
fn when(time: Option<prost_types::Timestamp>, now: i64, look: Look) -> String {
    match look.terminal {
        true => time.map(|time| past(Some(time), now)),
        false => json::time(time),
    }
    .unwrap_or_default()
}

/// People, a line each: name, when they were added, by whom.
pub fn people(all: &[v1::Person], now: i64, look: Look) -> String {
    let mut table = Table::new(look, &["NAME", "ADDED", "BY"]);
    for person in all {
        let name = visible_line(&person.name).into_owned();
        let cells = vec![name, when(person.create_time, now, look), by(person.by.as_ref())];
        table.row(cells, Vec::new());
    }
    table.lines().join("\n")
}

/// Namespaces, a line each: name, and how many people and tokens there are.
pub fn namespaces(all: &[Namespace], look: Look) -> String {
    let mut table = Table::new(look, &["NAME", "PEOPLE", "TOKENS"]);
    for one in all {
        let name = visible_line(&one.name).into_owned();
        table.row(vec![name, one.people.to_string(), one.tokens.to_string()], Vec::new());
    }
    table.lines().join("\n")
}

/// Tokens, a line each: id, whose, until when it is good, who made it when, what it is for.
pub fn tokens(all: &[v1::Token], now: i64, look: Look) -> String {
    let roomy = !look.terminal || look.width >= WIDE;
    let heads: &[&str] = match roomy {
        true => &["TOKEN", "FOR", "GOOD", "MADE", "BY", "NOTE"],
        false => &["TOKEN", "FOR", "GOOD"],
    };
    let mut table = Table::new(look, heads);
    for token in all {
        let (made, by) = match &token.by {
            Some(_) => (when(token.create_time, now, look), maker(token)),
            None => (String::new(), "the daemon, in its folder".to_owned()),
        };
        let note = visible_line(&token.note).into_owned();
        let mut below = format!("made {made}{}by {by}", if made.is_empty() { "" } else { " " });
        if !note.is_empty() {
            let _ = write!(below, ", {note}");
        }
        let below = match roomy {
            true => Vec::new(),
            false => wrap(&format!("{FAINT}{below}{PLAIN}"), look.width, "  ", "  "),
        };
        let cells = [
            visible_line(&token.id).into_owned(),
            whose(token),
            good(token, now, look),
            made,
            by,
            note,
        ];
        table.row(cells.into_iter().take(heads.len()).collect(), below);
    }
    table.lines().join("\n")
}

/// Who made it, by which token of theirs.
fn maker(token: &v1::Token) -> String {
    let mut text = by(token.by.as_ref());
    if !token.from_token_id.is_empty() {
        let _ = write!(text, " with {}", visible_line(&token.from_token_id));
    }
    text.push_str(words::in_agent(token.in_agent));
    text
}

fn whose(token: &v1::Token) -> String {
    use v1::token::Principal;
    match &token.principal {
        Some(Principal::Person(name)) => format!("person {}", visible_line(name)),
        Some(Principal::Host(name)) => format!("host {}", visible_line(name)),
        None => words::UNKNOWN.to_owned(),
    }
}

/// Until when it is good; empty for programs where that is until it is revoked.
fn good(token: &v1::Token, now: i64, look: Look) -> String {
    if !look.terminal {
        return json::time(token.expire_time).unwrap_or_default();
    }
    match token.expire_time {
        None => "until it is revoked".to_owned(),
        Some(end) if super::millis(Some(end)) <= now => format!("ended {}", past(Some(end), now)),
        Some(end) => format!("for {}", left(end, now)),
    }
}

/// For how long something is good that ends then.
fn left(end: prost_types::Timestamp, now: i64) -> String {
    let left = super::millis(Some(end)).saturating_sub(now).max(0);
    Span::from_millis(left.unsigned_abs()).to_string()
}

/// One token in a sentence, where it was made.
pub fn token_line(token: &v1::Token, now: i64) -> String {
    let mut text = format!("{} for {}", visible_line(&token.id), whose(token));
    if !token.note.is_empty() {
        let _ = write!(text, " ({})", visible_line(&token.note));
    }
    match token.expire_time {
        Some(end) => {
            let _ = write!(text, ", good for {}", left(end, now));
        }
        None => text.push_str(", good until it is revoked"),
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::super::fixture;
    use super::*;

    #[test]
    fn people_and_tokens_have_tabs_for_programs_and_heads_for_people() {
        let timer = v1::Actor { who: Some(v1::actor::Who::Timer(v1::Timer {})) };
        let person =
            |name: &str, by| v1::Person { name: name.into(), by, create_time: fixture::time(0) };
        let all = [person("ann", Some(timer)), person("b\u{1b}", fixture::by_person())];
        let now = super::super::millis(fixture::time(60_000));
        let time = json::time(fixture::time(0)).expect("a time");
        let rows = people(&all, now, Look::PLAIN);
        assert_eq!(rows, format!("ann\t{time}\tthe configuration\nb\\u{{1b}}\t{time}\towner"));
        let look = Look { terminal: true, ..Look::PLAIN };
        let plain = anstream::adapter::strip_str(&people(&all, now, look)).to_string();
        assert!(plain.starts_with("NAME"), "{plain}");
        assert!(plain.contains("ann      1m ago  the configuration"), "{plain}");
        let token = v1::Token {
            id: "tok_1".into(),
            principal: Some(v1::token::Principal::Host("ci".into())),
            note: "the\nmachine".into(),
            ..v1::Token::default()
        };
        let rows = tokens(std::slice::from_ref(&token), now, Look::PLAIN);
        assert_eq!(rows, "tok_1\thost ci\t\t\tthe daemon, in its folder\tthe\\nmachine");
        let shown = tokens(&[token], now, look);
        let shown = anstream::adapter::strip_str(&shown).to_string();
        assert!(shown.ends_with("  made by the daemon, in its folder, the\\nmachine"), "{shown}");
    }
}
