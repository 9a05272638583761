//! Text for people: plain and short, times as people read them. Every word of an agent or a person
//! is made visible, and what may have several lines stands behind a bar of its own, so that it never
//! looks like a line of ours (rule 21).

mod delivery;
mod expiry;
mod people;
mod sessions;
mod waiting;

pub use delivery::delivery;
pub use people::{person_line, token_line};
pub use sessions::{session_line, status};
pub use waiting::waited_on;

use super::words;
use crate::ask::Span;
use crate::ask::text::{visible, visible_line};
use crate::grpc::v1;
use std::fmt::Write;
use std::time::{SystemTime, UNIX_EPOCH};

/// Begins what matters most; a terminal alone gets to see it.
pub const BOLD: &str = "\u{1b}[1m";
/// Begins what matters least.
const FAINT: &str = "\u{1b}[2m";
/// Ends either.
pub const PLAIN: &str = "\u{1b}[0m";

/// Characters of a question that a list shows: a line of a narrow terminal.
const SHOWN_CHARS: usize = 72;

/// The present in milliseconds since 1970, by this machine's clock: times here are for reading.
pub fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// One ask, whole.
pub fn ask(ask: &v1::Ask, you: Option<&str>, now: i64) -> String {
    let mut text = String::new();
    put(
        &mut text,
        &format!(
            "{BOLD}{}{PLAIN}  {}, {} priority",
            visible_line(&ask.id),
            words::state(ask.state()),
            words::priority(ask.priority()),
        ),
    );
    put(
        &mut text,
        &format!("asked by {} {}", session(ask.asker.as_ref()), past(ask.create_time, now)),
    );
    if let Some(gone) = gone(ask, now) {
        put(&mut text, &gone);
    }
    if let Some(line) = waiting::waiting(ask, you, now) {
        put(&mut text, &line);
    }
    if let Some(hop) = &ask.hop {
        for skipped in &hop.skipped {
            put(&mut text, &format!("passed over: {}", visible_line(&skipped.reason)));
        }
    }
    if let Some(claim) = &ask.claim {
        let person = visible_line(&claim.person);
        put(
            &mut text,
            &format!("{person} is on it; that lapses {}", future(claim.lapse_time, now)),
        );
    }
    let more = [standing(ask), expiry::expiry(ask, now), expiry::seen(ask, now)];
    more.iter().flatten().for_each(|line| put(&mut text, line));
    if !ask.context.is_empty() {
        put(&mut text, "");
        put(&mut text, &barred(&ask.context));
    }
    for asked in &ask.questions {
        put(&mut text, "");
        put(&mut text, &question(asked));
    }
    if !ask.turns.is_empty() {
        put(&mut text, "");
        ask.turns.iter().for_each(|said| put(&mut text, &turn(said, now)));
    }
    if ask.outcome.is_some() {
        put(&mut text, "");
        put(&mut text, &outcome(ask, now));
        if let Some(delivery) = &ask.delivery {
            put(&mut text, &delivery::delivered(delivery, now));
        }
    }
    text.truncate(text.trim_end_matches('\n').len());
    text
}

/// One ask of a list, in two lines. `whom` says whether to say on whom it waits.
pub fn listed(ask: &v1::Ask, you: Option<&str>, now: i64, whom: bool) -> String {
    let id = visible_line(&ask.id);
    let agent = words::agent(ask.asker.as_ref());
    let mut first = format!("{BOLD}{id}{PLAIN}  {agent}, {}", past(ask.create_time, now));
    if let Some(gone) = gone(ask, now) {
        let _ = write!(first, ", {gone}");
    }
    if ask.priority() != v1::Priority::Normal && ask.priority() != v1::Priority::Unspecified {
        let _ = write!(first, ", {} priority", words::priority(ask.priority()));
    }
    if whom {
        match (&ask.outcome, &ask.hop) {
            (Some(_), _) => {}
            (None, hop) => {
                let _ = write!(first, ", waiting on {}", waited_on(ask));
                if let Some(hop) = hop {
                    let _ = write!(first, " (hop {} of {})", hop.index + 1, hop.of);
                }
            }
        }
    }
    if let Some(ended) = &ask.outcome {
        let _ = write!(first, ", {}", outcome_line(ended));
    }
    if let Some(claim) = &ask.claim {
        let _ = write!(first, ", {} is on it", visible_line(&claim.person));
    }
    if let Some(next) = waiting::moves(ask, you, now) {
        let _ = write!(first, ", {next}");
    }
    if let Some(standing) = standing(ask) {
        let _ = write!(first, ", {standing}");
    }
    if let Some(lost) = ask.delivery.as_ref().filter(|d| !d.reason.is_empty()) {
        let _ = write!(first, "; {}", delivery::delivered(lost, now));
    }
    let words = |asked: &v1::Question| match asked.header.as_str() {
        "" => visible_line(&asked.question).into_owned(),
        header => format!("{}: {}", visible_line(header), visible_line(&asked.question)),
    };
    let mut asked = ask.questions.first().map(words).unwrap_or_default();
    if asked.chars().count() > SHOWN_CHARS {
        asked = asked.chars().take(SHOWN_CHARS).chain(['…']).collect();
    }
    if ask.questions.len() > 1 {
        let _ = write!(asked, " (and {} more)", ask.questions.len() - 1);
    }
    format!("{first}\n    {asked}")
}

/// Since when the asker's session is paused or ended; none while it runs.
fn gone(ask: &v1::Ask, now: i64) -> Option<String> {
    ask.asker_gone_time.map(|since| format!("asker gone since {}", past(Some(since), now)))
}

/// How it ended: who, when, and what was decided of each question.
pub fn outcome(ask: &v1::Ask, now: i64) -> String {
    let Some(outcome) = &ask.outcome else { return String::new() };
    let line = outcome_line(outcome);
    let mut text = format!("{BOLD}{line}{PLAIN} {}\n", past(outcome.settle_time, now));
    for asked in &ask.questions {
        let Some(answer) = outcome.answers.get(&asked.id) else { continue };
        put(&mut text, &format!("  {}", visible_line(&asked.question)));
        let by_default = if answer.default { " (the default that was named)" } else { "" };
        for label in &answer.selected {
            put(&mut text, &format!("    = {}{by_default}", visible_line(label)));
        }
        if let Some(written) = &answer.text {
            put(&mut text, &barred(written));
        }
    }
    if let Some(note) = &outcome.note {
        put(&mut text, &barred(note));
    }
    text.truncate(text.trim_end_matches('\n').len());
    text
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
            format!("{kind} by {who} (who said no before, to {before})")
        }
        Some(_) => {
            let worth = words::assurance(outcome.assurance());
            let worth = worth.map(|worth| format!(" (assurance {worth})")).unwrap_or_default();
            format!("{kind} by {}{worth}", actor(outcome.by.as_ref()))
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
pub fn turn(turn: &v1::Turn, now: i64) -> String {
    let unread = if turn.unread { " (unread)" } else { "" };
    let by = actor(turn.by.as_ref());
    format!("{by} said {}{unread}:\n{}", past(turn.say_time, now), barred(&turn.text))
}

/// One event of a history.
pub fn event(event: &v1::Event, now: i64) -> String {
    let what = words::event(event.kind()).replace('_', " ");
    let by = actor(event.by.as_ref());
    let when = past(event.event_time, now);
    let mut text = format!("{:>4}  {what} by {by} {FAINT}{when}{PLAIN}", event.revision);
    let moved = matches!(event.kind(), v1::EventKind::Filed | v1::EventKind::Escalated);
    if let Some(ask) = event.ask.as_ref().filter(|ask| moved && ask.waiting_on.is_some()) {
        let _ = write!(text, ", to {}", waited_on(ask));
    }
    let replaced = event.ask.as_ref().filter(|_| event.kind() == v1::EventKind::Replied);
    let replaced = replaced.map_or(&[][..], |ask| &ask.questions);
    if !replaced.is_empty() {
        text.push_str(", with other options");
    }
    if !event.text.is_empty() {
        let _ = write!(text, "\n{}", barred(&event.text));
    }
    for asked in replaced {
        let labels = asked.options.iter().map(|option| visible_line(&option.label).into_owned());
        let labels: Vec<_> = labels.collect();
        let _ = write!(text, "\n      {}: {}", visible_line(&asked.id), labels.join(", "));
    }
    text
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

fn past(time: Option<prost_types::Timestamp>, now: i64) -> String {
    match now - millis(time) {
        gone if gone >= 1_000 => format!("{} ago", Span::from_millis(gone.unsigned_abs())),
        _ => "just now".to_owned(),
    }
}

fn millis(time: Option<prost_types::Timestamp>) -> i64 {
    let Some(time) = time else { return 0 };
    time.seconds.saturating_mul(1_000).saturating_add(i64::from(time.nanos) / 1_000_000)
}

fn question(question: &v1::Question) -> String {
    let id = visible_line(&question.id);
    let mut text = match question.header.is_empty() {
        true => format!("{FAINT}{id}{PLAIN}\n"),
        false => format!("{FAINT}{id}{PLAIN}  {}\n", visible_line(&question.header)),
    };
    put(&mut text, &barred(&question.question));
    for option in &question.options {
        let recommended = if option.recommended { " (recommended)" } else { "" };
        put(&mut text, &format!("  - {BOLD}{}{PLAIN}{recommended}", visible_line(&option.label)));
        if !option.description.is_empty() {
            put(&mut text, &barred(&option.description));
        }
    }
    text.push_str(match (question.options.is_empty(), question.multiple) {
        (true, _) => "  answer in your own words",
        (false, true) => "  several may be chosen; own words may be added",
        (false, false) => "  one may be chosen; own words may be added",
    });
    text
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

/// Text of somebody else's, each line behind a bar.
fn barred(text: &str) -> String {
    let text = visible(text);
    let lines: Vec<_> = text.split('\n').map(|line| format!("  | {line}")).collect();
    lines.join("\n")
}

fn put(text: &mut String, line: &str) {
    text.push_str(line);
    text.push('\n');
}

#[cfg(test)]
mod tests;
