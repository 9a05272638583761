//! Whom an ask waits on, since when and why, its whole way, and when it comes to people.

use super::history::cause;
use super::list::deadline;
use super::page::Page;
use super::{BOLD, FAINT, PLAIN, future, future_of, lasting, past_of};
use crate::ask::Span;
use crate::ask::text::visible_line;
use crate::cli::render::route::{self, Stage, State};
use crate::grpc::v1;
use std::fmt::Write;

/// Whom an ask waits on.
pub fn waited_on(ask: &v1::Ask) -> String {
    named(ask.waiting_on.as_ref(), None)
}

/// Whether `you` are among those it waits on.
pub(super) fn is_yours(ask: &v1::Ask, you: Option<&str>) -> bool {
    let who = ask.waiting_on.as_ref().and_then(|waiting_on| waiting_on.who.as_ref());
    match (who, you) {
        (Some(v1::waiting_on::Who::People(people)), Some(you)) => {
            people.people.iter().any(|person| person == you)
        }
        _ => false,
    }
}

/// The same of any hop; `you` are spoken to.
pub(super) fn named(waiting_on: Option<&v1::WaitingOn>, you: Option<&str>) -> String {
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
fn members(waiting_on: Option<&v1::WaitingOn>) -> Option<String> {
    let Some(v1::waiting_on::Who::People(people)) = waiting_on?.who.as_ref() else {
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
    let (at, people, sessions) = route::arrival(ask)?;
    let sessions: Vec<_> = sessions.into_iter().map(|to| named(Some(to), None)).collect();
    let (whom, who) = (named(Some(people), you), sessions.join(" or "));
    Some(format!("comes to {whom} {} unless {who} answers", future_of(at, now)))
}

/// The same with since when and what comes next, on one line.
pub fn progress(ask: &v1::Ask, you: Option<&str>, now: i64) -> String {
    let whom = named(ask.waiting_on.as_ref(), you);
    let mut line = format!("waiting on {whom}");
    if let Some(hop) = &ask.hop {
        let _ = write!(line, " for {}", lasting(hop.since_time, now));
    }
    if let Some(claim) = &ask.claim {
        let _ = write!(line, "; {} is on it", visible_line(&claim.person));
    }
    for next in [moves(ask, you, now), deadline(ask, now)].iter().flatten() {
        let _ = write!(line, "; {next}");
    }
    line
}

/// Why an ask is where it is, in a clause; none where it began there.
pub(super) fn why(ask: &v1::Ask) -> Option<String> {
    let hop = ask.hop.as_ref().filter(|_| ask.outcome.is_none())?;
    let stages = route::stages(ask, &[]);
    let here = stages.iter().position(|stage| stage.state == State::Now).unwrap_or_default();
    let before = stages[..here].iter().rev().find(|stage| stage.state == State::Past);
    let who = before.map(|stage| named(stage.to, None));
    let reason = crate::ask::text::brief(&hop.reason);
    let mut parts = Vec::new();
    match (hop.cause(), who) {
        (v1::HopCause::Timeout, Some(who)) => {
            let after = before.and_then(|stage| stage.until?.checked_sub(stage.from?));
            let after = after.and_then(|after| u64::try_from(after).ok()).map(Span::from_millis);
            let after = after.map(|after| format!(" in {after}")).unwrap_or_default();
            parts.push(format!("{who} did not answer{after}"));
        }
        (v1::HopCause::Refused, Some(who)) if !reason.is_empty() => {
            parts.push(format!("passed on from {who}: {reason}"));
        }
        (v1::HopCause::Refused, Some(who)) => parts.push(format!("passed on from {who}")),
        (moved, _) => parts.extend(cause(moved).map(str::to_owned)),
    }
    for skipped in &hop.skipped {
        parts.push(format!("passed over: {}", visible_line(&skipped.reason)));
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// On whom it waits now, and why.
pub(super) fn waiting(page: &mut Page, ask: &v1::Ask, you: Option<&str>, now: i64) {
    if ask.waiting_on.is_none() {
        return;
    }
    let mut line = format!("waiting on {BOLD}{}{PLAIN}", waited_on(ask));
    if let Some(members) = members(ask.waiting_on.as_ref()) {
        let _ = write!(line, " ({members})");
    }
    let Some(hop) = &ask.hop else { return page.own(&line) };
    let _ = write!(line, " for {}", lasting(hop.since_time, now));
    // What the reasons below say of whoever is gone or was passed over is all there is to say.
    let is_said = matches!(hop.cause(), v1::HopCause::SenderGone | v1::HopCause::SenderBlocked);
    if let Some(cause) = cause(hop.cause()).filter(|_| !is_said) {
        let _ = write!(line, ": {cause}");
    }
    if let Some(next) = moves(ask, you, now) {
        let _ = write!(line, "; {next}");
    }
    page.own(&line);
    if !hop.reason.is_empty() {
        page.theirs(&hop.reason);
    }
    for skipped in &hop.skipped {
        page.own(&format!("passed over: {}", visible_line(&skipped.reason)));
    }
}

/// Every hop of its route: who was asked from when to when, who is, who will be.
pub(super) fn way(
    page: &mut Page,
    ask: &v1::Ask,
    events: &[v1::Event],
    you: Option<&str>,
    now: i64,
) {
    let stages = route::stages(ask, events);
    if stages.is_empty() {
        return;
    }
    match ask.route_name.is_empty() {
        true => page.own("route"),
        false => page.own(&format!("route {}", visible_line(&ask.route_name))),
    }
    let arrow = page.look().arrow();
    for stage in &stages {
        let is_now = stage.state == State::Now;
        let mark = if is_now { arrow } else { "" };
        let mark = crate::cli::render::lay::fill(mark, 2);
        let who = named(stage.to, you);
        let who = match members(stage.to) {
            Some(members) => format!("{who} ({members})"),
            None => who,
        };
        let told = told(stage, ask.outcome.is_some(), now);
        let line = match is_now {
            true => format!("{BOLD}{who}{PLAIN}  {told}"),
            false => format!("{who}  {FAINT}{told}{PLAIN}"),
        };
        page.hanging(&format!("  {mark} {}  ", stage.index + 1), "        ", &line);
    }
}

/// When it was, is or will be asked.
fn told(stage: &Stage<'_>, settled: bool, now: i64) -> String {
    /// Bytes of a reason that stand here; all of it stands with the event in the log.
    const REASON: usize = 200;
    let why = stage.why.map(|why| visible_line(crate::ask::text::begin(why, REASON)));
    let why = why.map(|why| format!(": {why}")).unwrap_or_default();
    match stage.state {
        State::Past => {
            let from = stage.from.map(|from| format!("asked {}", past_of(from, now)));
            let from = from.unwrap_or_else(|| "asked".to_owned());
            let left = if settled && stage.why.is_none() { "settled" } else { "left" };
            match stage.until {
                Some(until) => format!("{from}, {left} {}{why}", past_of(until, now)),
                None => format!("{from}{why}"),
            }
        }
        State::PassedOver => format!("passed over{why}"),
        State::Now => {
            let from = stage.from.map(|from| past_of(from, now)).unwrap_or_default();
            match stage.until {
                Some(until) => format!("asked {from}, moves on {}", future_of(until, now)),
                None => format!("asked {from}, until somebody answers"),
            }
        }
        State::ToCome => match stage.from {
            Some(from) => future_of(from, now),
            None => "if it comes to that".to_owned(),
        },
        State::NeverAsked => "was not asked".to_owned(),
    }
}
