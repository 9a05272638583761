//! Sessions and the daemon, for people.

use super::{BOLD, PLAIN, future, past};
use crate::ask::text::visible_line;
use crate::cli::render::words;
use crate::grpc::v1;
use std::fmt::Write;

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
    match session.state() {
        _ if session.deadline_time.is_none() => {}
        v1::SessionState::Paused => {
            let _ = write!(text, ", ends {}", future(session.deadline_time, now));
        }
        v1::SessionState::Active => {
            let when = future(session.deadline_time, now);
            let _ = write!(text, ", paused {when} unless it is heard of");
        }
        v1::SessionState::Ended | v1::SessionState::Unspecified => {}
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
    if session.answers_none {
        text.push_str(", answers no asks");
    }
    if session.wakeable {
        text.push_str(", can be woken");
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
    if status.untold > 0 {
        let _ = write!(
            text,
            "\nnobody could be told of {} of them; the notice hook failed {}: {}",
            status.untold,
            past(status.notice_failure_time, now),
            visible_line(&status.notice_failure),
        );
    }
    text
}
