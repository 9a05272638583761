//! Everything that happened to an ask, oldest first, each with who did it and why.

use super::page::Page;
use super::{BOLD, FAINT, PLAIN, actor, chosen, past, waited_on};
use crate::ask::text::visible_line;
use crate::cli::look::Look;
use crate::cli::render::json;
use crate::cli::render::words;
use crate::grpc::v1;
use std::fmt::Write;

/// The history, an event a line with what was said below it; for programs with tabs: revision, time,
/// what, by whom, to whom, what was decided or said.
pub fn history(events: &[v1::Event], now: i64, look: Look) -> String {
    if !look.terminal {
        let lines: Vec<_> = events.iter().map(row).collect();
        return lines.join("\n");
    }
    let mut page = Page::new(look);
    events.iter().for_each(|each| event(&mut page, each, now));
    page.into_text()
}

fn row(event: &v1::Event) -> String {
    let to = moved(event).map(waited_on).unwrap_or_default();
    let time = json::time(event.event_time).unwrap_or_default();
    let (what, by) = (words::event(event.kind()), by(event));
    let mut text = visible_line(&event.text).into_owned();
    if let Some(outcome) = decided(event) {
        let parted = if text.is_empty() { "" } else { ": " };
        text = format!("{}{parted}{text}", chosen::row(outcome));
    }
    format!("{}\t{time}\t{what}\t{by}\t{to}\t{text}", event.revision)
}

fn event(page: &mut Page, event: &v1::Event, now: i64) {
    let what = words::event(event.kind()).replace('_', " ");
    let by = by(event);
    let when = past(event.event_time, now);
    let mut line = format!("{BOLD}{what}{PLAIN} by {by} {FAINT}{when}{PLAIN}");
    // Writing to a string does not fail.
    if let Some(ask) = moved(event) {
        let _ = write!(line, ", to {}", waited_on(ask));
        let hop = ask.hop.as_ref();
        if let Some(cause) = hop.and_then(|hop| cause(hop.cause())) {
            let _ = write!(line, ": {cause}");
        }
    }
    let replaced = event.ask.as_ref().filter(|_| event.kind() == v1::EventKind::Replied);
    let replaced = replaced.map_or(&[][..], |ask| &ask.questions);
    if !replaced.is_empty() {
        line.push_str(", with other options");
    }
    page.hanging(&format!("{:>4}  ", event.revision), "      ", &line);
    let skipped = moved(event).and_then(|ask| ask.hop.as_ref()).map(|hop| &hop.skipped[..]);
    for skipped in skipped.unwrap_or_default() {
        page.own(&format!("      passed over: {}", visible_line(&skipped.reason)));
    }
    if let Some(outcome) = decided(event) {
        chosen::write(page, outcome);
    }
    if !event.text.is_empty() {
        page.theirs(&event.text);
    }
    for asked in replaced {
        let labels = asked.options.iter().map(|option| visible_line(&option.label).into_owned());
        let labels: Vec<_> = labels.collect();
        page.own(&format!("      {}: {}", visible_line(&asked.id), labels.join(", ")));
    }
}

/// Who did it, and where they typed it.
fn by(event: &v1::Event) -> String {
    format!("{}{}", actor(event.by.as_ref()), words::in_agent(event.in_agent))
}

/// What an event has decided, where it has.
fn decided(event: &v1::Event) -> Option<&v1::Outcome> {
    let decides = matches!(event.kind(), v1::EventKind::Answered | v1::EventKind::Expired);
    let outcome = event.ask.as_ref().filter(|_| decides)?.outcome.as_ref();
    outcome.filter(|outcome| !outcome.answers.is_empty())
}

/// The ask as after a move.
fn moved(event: &v1::Event) -> Option<&v1::Ask> {
    let moved = matches!(event.kind(), v1::EventKind::Filed | v1::EventKind::Escalated);
    event.ask.as_ref().filter(|ask| moved && ask.waiting_on.is_some())
}

/// Why an ask moved, where that is not all in what was said.
pub(super) fn cause(cause: v1::HopCause) -> Option<&'static str> {
    match cause {
        v1::HopCause::Filed | v1::HopCause::Unspecified => None,
        v1::HopCause::Timeout => Some("nobody answered before"),
        v1::HopCause::Refused => Some("it was moved on"),
        v1::HopCause::SenderGone => Some("who was asked is gone"),
        v1::HopCause::SenderBlocked => Some("who was asked waits for this work"),
        v1::HopCause::NeedsPerson => Some("a person must answer it"),
        v1::HopCause::AskersExpiry => Some("the asker's own deadline came"),
    }
}
