//! Whom an ask waits on, since when and why, and when it comes to people.

use super::{BOLD, PLAIN, barred, future, future_of, millis, past};
use crate::ask::text::visible_line;
use crate::grpc::v1;
use std::fmt::Write;

/// Whom an ask waits on.
pub fn waited_on(ask: &v1::Ask) -> String {
    named(ask.waiting_on.as_ref(), None)
}

/// The same of any hop; `you` are spoken to.
fn named(waiting_on: Option<&v1::WaitingOn>, you: Option<&str>) -> String {
    match waiting_on.and_then(|waiting_on| waiting_on.who.as_ref()) {
        Some(v1::waiting_on::Who::Session(session)) => visible_line(&session.agent).into_owned(),
        Some(v1::waiting_on::Who::People(people))
            if you.is_some_and(|you| people.people.iter().any(|person| person == you)) =>
        {
            "you".to_owned()
        }
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

/// Who the people of a group are.
fn members(ask: &v1::Ask) -> Option<String> {
    let Some(v1::waiting_on::Who::People(people)) = ask.waiting_on.as_ref()?.who.as_ref() else {
        return None;
    };
    people.group.as_ref()?;
    let names: Vec<_> = people.people.iter().map(|name| visible_line(name)).collect();
    Some(names.join(", "))
}

/// When it moves on by itself; while sessions are asked, when it comes to people.
pub(super) fn moves(ask: &v1::Ask, you: Option<&str>, now: i64) -> Option<String> {
    ask.escalate_time?;
    Some(match comes(ask, you, now) {
        Some(comes) => comes,
        None => format!("moves on {}", future(ask.escalate_time, now)),
    })
}

/// `comes to you in 12m unless lead answers`: with every session on the way silent until its time.
fn comes(ask: &v1::Ask, you: Option<&str>, now: i64) -> Option<String> {
    let is_session = |waiting_on: Option<&v1::WaitingOn>| {
        let who = waiting_on.and_then(|waiting_on| waiting_on.who.as_ref());
        matches!(who, Some(v1::waiting_on::Who::Session(_)))
    };
    if !is_session(ask.waiting_on.as_ref()) {
        return None;
    }
    let next = usize::try_from(ask.hop.as_ref()?.index).ok()? + 1;
    let (mut at, mut asked) = (millis(ask.escalate_time), vec![waited_on(ask)]);
    for hop in ask.route.get(next..)? {
        if !is_session(hop.to.as_ref()) {
            // The asker's own deadline brings it to people before that.
            let at = ask.expire_time.map_or(at, |expires| at.min(millis(Some(expires))));
            let (whom, who) = (named(hop.to.as_ref(), you), asked.join(" or "));
            return Some(format!("comes to {whom} {} unless {who} answers", future_of(at, now)));
        }
        asked.push(named(hop.to.as_ref(), None));
        at += hop.timeout.map_or(0, |timeout| timeout.seconds * 1_000);
        if let Some(within) = hop.within {
            at = at.min(millis(ask.create_time) + within.seconds * 1_000);
        }
    }
    None
}

pub(super) fn waiting(ask: &v1::Ask, you: Option<&str>, now: i64) -> Option<String> {
    ask.waiting_on.as_ref()?;
    let mut text = format!("waiting on {BOLD}{}{PLAIN}", waited_on(ask));
    if let Some(members) = members(ask) {
        let _ = write!(text, " ({members})");
    }
    if let Some(hop) = &ask.hop {
        let _ = write!(text, " since {}", past(hop.since_time, now));
        let cause = match hop.cause() {
            v1::HopCause::Filed | v1::HopCause::Unspecified => None,
            v1::HopCause::Timeout => Some("nobody answered before"),
            v1::HopCause::Refused => Some("it was moved on"),
            // What the reason says of whoever was passed over is all there is to say.
            v1::HopCause::SenderGone | v1::HopCause::SenderBlocked => None,
            v1::HopCause::NeedsPerson => Some("a person must answer it"),
            v1::HopCause::AskersExpiry => Some("the asker's own deadline came"),
        };
        if let Some(cause) = cause {
            let _ = write!(text, ": {cause}");
        }
        if let Some(next) = moves(ask, you, now) {
            let _ = write!(text, "; {next}");
        }
        let _ = write!(text, "\nhop {} of {}", hop.index + 1, hop.of);
        if !ask.route_name.is_empty() {
            let _ = write!(text, " of the route {}", visible_line(&ask.route_name));
        }
        if !hop.reason.is_empty() {
            let _ = write!(text, "\n{}", barred(&hop.reason));
        }
    }
    Some(text)
}
