//! Text for people: plain and short, times as people read them. Every word of an agent or a person
//! is made visible, and what may have several lines stands behind a bar of its own, so that it never
//! looks like a line of ours (rule 21).

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
pub fn ask(ask: &v1::Ask, now: i64) -> String {
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
    if let Some(line) = waiting(ask, now) {
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
    if ask.expire_time.is_some() {
        put(&mut text, &format!("expires {}", future(ask.expire_time, now)));
    }
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
            put(&mut text, &delivered(delivery));
        }
    }
    text.truncate(text.trim_end_matches('\n').len());
    text
}

/// One ask of a list, in two lines. `whom` says whether to say on whom it waits.
pub fn listed(ask: &v1::Ask, now: i64, whom: bool) -> String {
    let id = visible_line(&ask.id);
    let agent = words::agent(ask.asker.as_ref());
    let mut first = format!("{BOLD}{id}{PLAIN}  {agent}, {}", past(ask.create_time, now));
    if ask.priority() != v1::Priority::Normal && ask.priority() != v1::Priority::Unspecified {
        let _ = write!(first, ", {} priority", words::priority(ask.priority()));
    }
    if whom {
        let _ = write!(first, ", waiting on {}", waited_on(ask));
    }
    if ask.escalate_time.is_some() {
        let _ = write!(first, ", moves on {}", future(ask.escalate_time, now));
    }
    let asked = ask.questions.first().map(|asked| visible_line(&asked.question).into_owned());
    let mut asked = asked.unwrap_or_default();
    if asked.chars().count() > SHOWN_CHARS {
        asked = asked.chars().take(SHOWN_CHARS).chain(['…']).collect();
    }
    if ask.questions.len() > 1 {
        let _ = write!(asked, " (and {} more)", ask.questions.len() - 1);
    }
    format!("{first}\n    {asked}")
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
        Some(v1::actor::Who::Timer(_)) => format!("{kind}: its time was up"),
        Some(_) => format!("{kind} by {}", actor(outcome.by.as_ref())),
        None => kind.to_owned(),
    }
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
    if !event.text.is_empty() {
        let _ = write!(text, "\n{}", barred(&event.text));
    }
    text
}

/// One session of a list.
pub fn session_line(session: &v1::Session, now: i64) -> String {
    let mut text = format!(
        "{BOLD}{}{PLAIN}  {}, {}",
        visible_line(&session.id),
        visible_line(&session.agent),
        words::session(session.state()),
    );
    if session.state_time.is_some() {
        let _ = write!(text, " {}", past(session.state_time, now));
    }
    let _ = write!(text, ", enrolled {}", past(session.create_time, now));
    if let Some(parent) = &session.parent {
        let _ = write!(text, " by {}", visible_line(&parent.agent));
    }
    match session.open_ask_ids.len() {
        0 => {}
        1 => text.push_str(", 1 open ask"),
        many => {
            let _ = write!(text, ", {many} open asks");
        }
    }
    text
}

/// How the daemon does.
pub fn status(status: &v1::GetStatusResponse, now: i64) -> String {
    let mut text = format!(
        "askway {}, started {}\nyou are {}\n{} open on people, {} on sessions",
        visible_line(&status.version),
        past(status.start_time, now),
        visible_line(&status.caller),
        status.waiting_on_people,
        status.waiting_on_sessions,
    );
    if status.oldest_open_time.is_some() {
        let _ = write!(text, "; the oldest was filed {}", past(status.oldest_open_time, now));
    }
    text
}

/// Whom an ask waits on.
pub fn waited_on(ask: &v1::Ask) -> String {
    match ask.waiting_on.as_ref().and_then(|waiting_on| waiting_on.who.as_ref()) {
        Some(v1::waiting_on::Who::Session(session)) => visible_line(&session.agent).into_owned(),
        Some(v1::waiting_on::Who::People(people)) => match &people.group {
            Some(group) => visible_line(group).into_owned(),
            None => {
                let names: Vec<_> = people.people.iter().map(|name| visible_line(name)).collect();
                names.join(", ")
            }
        },
        None => "nobody".to_owned(),
    }
}

/// How long from now an instant is: `in 12m`; `now` where it has passed.
pub fn future(time: Option<prost_types::Timestamp>, now: i64) -> String {
    match millis(time) - now {
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

fn waiting(ask: &v1::Ask, now: i64) -> Option<String> {
    ask.waiting_on.as_ref()?;
    let mut text = format!("waiting on {BOLD}{}{PLAIN}", waited_on(ask));
    if let Some(hop) = &ask.hop {
        let _ = write!(text, " since {}", past(hop.since_time, now));
        let cause = match hop.cause() {
            v1::HopCause::Filed | v1::HopCause::Unspecified => None,
            v1::HopCause::Timeout => Some("nobody answered before"),
            v1::HopCause::Refused => Some("it was moved on"),
            v1::HopCause::SenderGone => Some("the sender is gone"),
            v1::HopCause::SenderBlocked => Some("the sender is blocked on this work"),
            v1::HopCause::AskersExpiry => Some("the asker's own deadline came"),
        };
        if let Some(cause) = cause {
            let _ = write!(text, ": {cause}");
        }
        if ask.escalate_time.is_some() {
            let _ = write!(text, "; moves on {}", future(ask.escalate_time, now));
        }
        if !hop.reason.is_empty() {
            let _ = write!(text, "\n{}", barred(&hop.reason));
        }
    }
    Some(text)
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

fn delivered(delivery: &v1::DeliveryStatus) -> String {
    match delivery.state() {
        v1::DeliveryState::Unread => "the asker has yet to see it".to_owned(),
        v1::DeliveryState::Acknowledged => "the asker has it".to_owned(),
        v1::DeliveryState::Undeliverable => {
            format!("it cannot be delivered: {}", visible_line(&delivery.reason))
        }
        v1::DeliveryState::Unspecified => "delivery unknown".to_owned(),
    }
}

fn actor(actor: Option<&v1::Actor>) -> String {
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
