//! Text for people: plain and short, times as people read them. Every word of an agent or a person
//! is made visible, and what may have several lines stands behind a bar of its own, so that it never
//! looks like a line of ours (rule 21).

mod chosen;
mod delivery;
mod expiry;
mod history;
mod list;
mod page;
mod people;
mod sessions;
mod table;
mod waiting;
mod whole;

pub use chosen::chosen;
pub use delivery::{deliveries, delivery};
pub use history::history;
pub use list::{Inbox, elsewhere, listed, short_id, typed_id};
pub use people::{namespaces, people, token_line, tokens};
pub use sessions::{sessions, status};
pub use waiting::{progress, waited_on};
pub use whole::{ask, short};

use super::words;
use crate::ask::Span;
use crate::ask::text::visible_line;
use crate::cli::look::Look;
use crate::grpc::v1;
use page::Page;
use std::time::{SystemTime, UNIX_EPOCH};

/// Begins what matters most; a terminal alone gets to see it.
pub const BOLD: &str = "\u{1b}[1m";
/// Begins what matters least.
const FAINT: &str = "\u{1b}[2m";
/// Ends either.
pub const PLAIN: &str = "\u{1b}[0m";

/// Begins what presses.
const PRESSING: &str = "\u{1b}[33m";

/// The present in milliseconds since 1970, by this machine's clock: times here are for reading.
pub fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// Since when the asker's session is paused or ended; none while it runs.
fn gone(ask: &v1::Ask, now: i64) -> Option<String> {
    ask.asker_gone_time.map(|since| format!("asker gone for {}", lasting(Some(since), now)))
}

/// How it ended: who, when, and what was decided of each question.
pub fn outcome(ask: &v1::Ask, now: i64, look: Look) -> String {
    let mut page = Page::new(look);
    whole::outcome(&mut page, ask, now);
    page.into_text()
}

/// Which way it ended and by whom, on one line: `answered by lead`.
pub fn outcome_line(outcome: &v1::Outcome) -> String {
    let kind = words::outcome(outcome.kind());
    match outcome.by.as_ref().and_then(|by| by.who.as_ref()) {
        Some(v1::actor::Who::Timer(_)) if outcome.answers.values().any(|a| a.default) => {
            format!("{kind}: its time was up, nobody chose, and its default stands")
        }
        Some(v1::actor::Who::Timer(_)) => format!("{kind}: its time was up"),
        Some(_) if !outcome.stands_from_ask_id.is_empty() => {
            let before = visible_line(&outcome.stands_from_ask_id);
            let who = actor(outcome.by.as_ref());
            let typed = words::in_agent(outcome.in_agent);
            format!("{kind} by {who}{typed} (who said no before, to {before})")
        }
        Some(_) => {
            let worth =
                words::assurance(outcome.assurance()).map(|worth| format!("assurance {worth}"));
            let typed = outcome.in_agent.then(|| words::IN_AGENT.to_owned());
            let how: Vec<_> = [worth, typed].into_iter().flatten().collect();
            let how = if how.is_empty() { String::new() } else { format!(" ({})", how.join(", ")) };
            format!("{kind} by {}{how}", actor(outcome.by.as_ref()))
        }
        None => kind.to_owned(),
    }
}

/// What is special about where it stands: whose word is next, and that it was asked before.
fn standing(ask: &v1::Ask) -> Option<String> {
    let mut parts = Vec::new();
    if ask.awaiting_reply && ask.outcome.is_none() {
        parts.push("awaits the asker's reply".to_owned());
    }
    match ask.asked_again {
        0 => {}
        1 => parts.push("asked again, once, after a person's no".to_owned()),
        times => parts.push(format!("asked again, {times} times, after a person's no")),
    }
    if let Some(worth) = words::assurance(ask.required_assurance()) {
        parts.push(format!("demands a person's word of assurance {worth}"));
    }
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// One turn of talk.
pub fn turn(turn: &v1::Turn, now: i64, look: Look) -> String {
    let mut page = Page::new(look);
    whole::turn(&mut page, turn, now);
    page.into_text()
}

/// The time of day here, for a line that is read later: `10:32:05`.
pub fn clock(now: i64) -> String {
    let time = jiff::Timestamp::from_millisecond(now).unwrap_or_default();
    time.to_zoned_datetime(jiff::tz::TimeZone::system()).strftime("%H:%M:%S").to_string()
}

/// How long from now an instant is: `in 12m`; `now` where it has passed.
pub fn future(time: Option<prost_types::Timestamp>, now: i64) -> String {
    future_of(millis(time), now)
}

fn future_of(time: i64, now: i64) -> String {
    match time - now {
        left if left > 0 => format!("in {}", Span::from_millis(left.unsigned_abs())),
        _ => "now".to_owned(),
    }
}

/// How long ago an instant was: `12m ago`.
pub fn past(time: Option<prost_types::Timestamp>, now: i64) -> String {
    past_of(millis(time), now)
}

/// How long something lasts by now: `12m`.
pub fn lasting(time: Option<prost_types::Timestamp>, now: i64) -> String {
    let whole = now.saturating_sub(millis(time)).max(0) / 1_000 * 1_000;
    Span::from_millis(whole.unsigned_abs()).to_string()
}

fn past_of(time: i64, now: i64) -> String {
    match now - time {
        gone if gone >= 1_000 => format!("{} ago", Span::from_millis(gone.unsigned_abs())),
        _ => "just now".to_owned(),
    }
}

pub(super) fn millis(time: Option<prost_types::Timestamp>) -> i64 {
    let Some(time) = time else { return 0 };
    time.seconds.saturating_mul(1_000).saturating_add(i64::from(time.nanos) / 1_000_000)
}

pub fn actor(actor: Option<&v1::Actor>) -> String {
    match actor.and_then(|actor| actor.who.as_ref()) {
        Some(v1::actor::Who::Session(session)) => visible_line(&session.agent).into_owned(),
        Some(v1::actor::Who::Person(name) | v1::actor::Who::Host(name)) => {
            visible_line(name).into_owned()
        }
        Some(v1::actor::Who::Timer(_)) => "the timer".to_owned(),
        None => "somebody".to_owned(),
    }
}

fn session(session: Option<&v1::SessionRef>) -> String {
    let id = session.map(|session| visible_line(&session.session)).unwrap_or_default();
    format!("{} ({id})", words::agent(session))
}

fn put(text: &mut String, line: &str) {
    text.push_str(line);
    text.push('\n');
}

#[cfg(test)]
mod hostile;
#[cfg(test)]
mod screens;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_support;
