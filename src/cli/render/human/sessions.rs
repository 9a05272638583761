//! Sessions and the daemon, for people.

use super::page::Page;
use super::table::Table;
use super::{FAINT, PLAIN, future, past};
use crate::ask::text::visible_line;
use crate::cli::look::Look;
use crate::cli::render::lay::{fill, wrap};
use crate::cli::render::words;
use crate::grpc::v1;

/// Columns from which on a session's notes stand in its own line.
const WIDE: usize = 120;
/// Columns below which little more than its name does.
const NARROW: usize = 60;

/// Sessions, a line each: its id, agent, state, age, who enrolled it, and what else is to be known.
pub fn sessions(all: &[v1::Session], now: i64, look: Look) -> String {
    let narrow = look.terminal && look.width < NARROW;
    let roomy = !look.terminal || look.width >= WIDE;
    let heads: &[&str] = match (narrow, roomy) {
        (true, _) => &["SESSION", "AGENT"],
        (_, false) => &["SESSION", "AGENT", "STATE", "ENROLLED", "BY"],
        (_, true) => &["SESSION", "AGENT", "STATE", "ENROLLED", "BY", "NOTES"],
    };
    let mut table = Table::new(look, heads);
    for session in all {
        let by = session.parent.as_ref().map(|parent| visible_line(&parent.agent));
        let by = by.unwrap_or_else(|| visible_line(&session.host)).into_owned();
        let (state, enrolled) = (words::session(session.state()), past(session.create_time, now));
        // What has no column of its own on a narrow terminal is of more use below than cut.
        let notes = notes(session, now);
        let below = match narrow {
            true => format!("{state}, enrolled {enrolled} by {by}, {notes}"),
            false => notes.clone(),
        };
        let below = below.trim_end_matches(", ");
        let below = match roomy || below.is_empty() {
            true => Vec::new(),
            false => wrap(&format!("{FAINT}{below}{PLAIN}"), look.width, "  ", "  "),
        };
        let cells = [
            visible_line(&session.id).into_owned(),
            visible_line(&session.agent).into_owned(),
            state.to_owned(),
            enrolled,
            by,
            notes,
        ];
        table.row(cells.into_iter().take(heads.len()).collect(), below);
    }
    table.lines().join("\n")
}

/// Since when it is what it is, until when, and what it does not do.
fn notes(session: &v1::Session, now: i64) -> String {
    let mut notes = Vec::new();
    if session.state_time.is_some() {
        let state = words::session(session.state());
        notes.push(format!("{state} {}", past(session.state_time, now)));
    }
    if session.deadline_time.is_some() {
        let when = future(session.deadline_time, now);
        match session.state() {
            v1::SessionState::Paused => notes.push(format!("ends {when}")),
            v1::SessionState::Active => {
                notes.push(format!("paused {when} unless it is heard of"));
            }
            v1::SessionState::Ended | v1::SessionState::Unspecified => {}
        }
    }
    match session.open_ask_ids.len() {
        0 => {}
        1 => notes.push("1 open ask".to_owned()),
        many => notes.push(format!("{many} open asks")),
    }
    if session.answers_none {
        notes.push("answers no asks".to_owned());
    }
    if session.wakeable {
        notes.push("can be woken".to_owned());
    }
    notes.join(", ")
}

/// Where the daemon says that it listens; an earlier one does not say.
fn listens_on(status: &v1::GetStatusResponse) -> String {
    match &status.listen_addresses[..] {
        [] => words::UNKNOWN.to_owned(),
        all => visible_line(&all.join(", ")).into_owned(),
    }
}

/// How the daemon at `address` with its data in `data` does.
pub fn status(
    status: &v1::GetStatusResponse,
    address: &str,
    data: &str,
    now: i64,
    look: Look,
) -> String {
    let line = |asks: u64, whom: &str| match asks {
        0 => format!("nothing waits on {whom}"),
        1 => format!("1 ask waits on {whom}"),
        many => format!("{many} asks wait on {whom}"),
    };
    let version = visible_line(&status.version);
    let started = past(status.start_time, now);
    let mut rows = vec![
        ("daemon", format!("askway {version}, started {started}")),
        ("address", visible_line(address).into_owned()),
        ("listens on", listens_on(status)),
        ("data", visible_line(data).into_owned()),
        ("you", visible_line(&status.caller).into_owned()),
        ("people", line(status.waiting_on_people, "people")),
        ("sessions", line(status.waiting_on_sessions, "sessions")),
    ];
    if !status.namespaces.is_empty() {
        rows.push(("namespaces", visible_line(&status.namespaces.join(", ")).into_owned()));
    }
    if status.oldest_open_time.is_some() {
        let oldest = past(status.oldest_open_time, now);
        rows.push(("oldest", format!("filed {oldest}")));
    }
    if status.untold > 0 {
        let untold = format!(
            "nobody could be told of {} of them; the notice hook failed {}: {}",
            status.untold,
            past(status.notice_failure_time, now),
            visible_line(&status.notice_failure),
        );
        rows.push(("notices", untold));
    }
    if !look.terminal {
        let rows: Vec<_> = rows.iter().map(|(name, value)| format!("{name}\t{value}")).collect();
        return rows.join("\n");
    }
    let mut page = Page::new(look);
    let widest = rows.iter().map(|(name, _)| name.len()).max().unwrap_or_default() + 2;
    for (name, value) in &rows {
        let first = fill(name, widest);
        page.hanging(&format!("{FAINT}{first}{PLAIN}"), &" ".repeat(widest), value);
    }
    page.into_text()
}
