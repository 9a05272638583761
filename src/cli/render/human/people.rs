//! People and tokens, for people.

use super::{BOLD, PLAIN, future, past};
use crate::ask::text::visible_line;
use crate::cli::render::words;
use crate::grpc::v1;
use std::fmt::Write;

/// One person of a list.
pub fn person_line(person: &v1::Person, now: i64) -> String {
    let when = past(person.create_time, now);
    let name = visible_line(&person.name);
    format!("{BOLD}{name}{PLAIN}  added {when} by {}", super::actor(person.by.as_ref()))
}

/// One token of a list.
pub fn token_line(token: &v1::Token, now: i64) -> String {
    use v1::token::Principal;
    let whose = match &token.principal {
        Some(Principal::Person(name)) => format!("person {}", visible_line(name)),
        Some(Principal::Host(name)) => format!("host {}", visible_line(name)),
        None => words::UNKNOWN.to_owned(),
    };
    let mut text = format!("{BOLD}{}{PLAIN}  {whose}", visible_line(&token.id));
    if !token.note.is_empty() {
        let _ = write!(text, ", {}", visible_line(&token.note));
    }
    match &token.by {
        Some(by) => {
            let when = past(token.create_time, now);
            let _ = write!(text, ", made {when} by {}", super::actor(Some(by)));
            if !token.from_token_id.is_empty() {
                let _ = write!(text, " with {}", visible_line(&token.from_token_id));
            }
            text.push_str(words::in_agent(token.in_agent));
        }
        None => text.push_str(", kept by the daemon in its folder"),
    }
    if let Some(end) = token.expire_time {
        let is_over = super::millis(Some(end)) <= now;
        let over = |end| format!(", over since {}", past(end, now));
        let left = |end| format!(", good until {}", future(end, now));
        text.push_str(&if is_over { over(Some(end)) } else { left(Some(end)) });
    }
    text
}
