//! Moving from hop to hop: because somebody refuses, because time passes. Part of
//! [`decide()`](super::decide()), which has the table.

use super::command::{Gone, IdleHops, Rejection};
use super::content::Violation;
use super::decide::within;
use super::event::{Escalated, Event, EventKind};
use super::expiry::at_expiry;
use super::names::{Actor, PersonName, SessionId};
use super::route::{Cause, Idle, Target};
use super::time::{Now, Span};
use super::{Ask, StandingNo, evolve, limits};

/// Moves it on for whoever is asked, or a person, from the hop they saw.
pub(super) fn escalate(
    ask: &Ask,
    by: &Actor,
    hop: usize,
    reason: &Option<String>,
    idle: &IdleHops,
    now: Now,
) -> Result<Vec<Event>, Rejection> {
    within("reason", reason.as_deref().unwrap_or_default(), limits::NOTE_BYTES)?;
    if let Actor::Session(session) = by {
        let saw_itself = |hop: usize| {
            ask.visited.contains(&hop) && ask.route.hops[hop].to.session() == Some(session)
        };
        if !saw_itself(hop) {
            return Err(Rejection::NotSender);
        }
    }
    if hop < ask.hop.index {
        // It has moved on already: who is asked now stands in the receipt.
        return Ok(Vec::new());
    }
    if hop > ask.hop.index {
        let here = format!("the ask is at hop {}, and has not been further", ask.hop.index);
        return Err(Rejection::Invalid(vec![Violation::new("hop", here)]));
    }
    let moved = next_hop(ask, Cause::Refused, by.clone(), reason.clone(), idle, now);
    let kind = EventKind::Escalated(moved.ok_or(Rejection::LastHop)?);
    Ok(vec![Event::new(ask.revision + 1, now.time, kind)])
}

/// The move to the next hop that is not idle; none from the last. Its time starts now, when the
/// move commits, so that no one is passed over before they were told (rule 22).
pub(super) fn next_hop(
    ask: &Ask,
    cause: Cause,
    by: Actor,
    reason: Option<String>,
    idle: &IdleHops,
    now: Now,
) -> Option<Escalated> {
    let landing =
        ask.route.first_awake(ask.hop.index + 1, idle, now.time.since(ask.create_time))?;
    let from = if planted!("hop_runs_before_it_is_told") { ask.hop.since } else { now.time };
    Some(Escalated {
        hop: landing.index,
        cause,
        by,
        reason,
        deadline: ask.route.hops[landing.index].deadline(ask.create_time, from),
        skipped: landing.skipped,
    })
}

/// The move to the first hop of people, from wherever a session is asked.
fn to_people(ask: &Ask, idle: &IdleHops, now: Now) -> Escalated {
    let landing = ask.route.first_people(ask.hop.index, idle, now.time.since(ask.create_time));
    let landing = landing.expect("the last hop of a route is people");
    Escalated {
        hop: landing.index,
        cause: Cause::AskersExpiry,
        by: Actor::Timer,
        reason: Some("the asker's deadline passed while a session was asked".to_owned()),
        deadline: ask.route.hops[landing.index].deadline(ask.create_time, now.time),
        skipped: landing.skipped,
    }
}

/// What a session that is gone means to an open ask: its own stays, unless it has ended; what waits on
/// it moves on, unless it is back or will be woken.
pub(super) fn session_gone(
    ask: &Ask,
    session: SessionId,
    gone: &Gone,
    idle: &IdleHops,
    now: Now,
) -> Vec<Event> {
    let once = |kind| vec![Event::new(ask.revision + 1, now.time, kind)];
    if ask.asker.session == session {
        return match gone {
            Gone::Paused => Vec::new(),
            Gone::Ended(by) => once(EventKind::Abandoned { by: by.clone() }),
        };
    }
    let Some(Target::Session(waiting)) = ask.waiting_on() else { return Vec::new() };
    // It may be back, or be woken: what else keeps it from new asks moves none on.
    let why = idle.get(ask.hop.index).copied().flatten();
    let why = why.filter(|why| matches!(why, Idle::Ended | Idle::Paused));
    let Some(why) = why.filter(|_| waiting.session == session) else { return Vec::new() };
    let reason = why.sentence(&Target::Session(waiting));
    let moved = next_hop(ask, why.cause(), Actor::Timer, Some(reason), idle, now);
    moved.map_or_else(Vec::new, |moved| once(EventKind::Escalated(moved)))
}

/// A removed person is asked no more: what waits on them alone moves on, or on the last hop waits on
/// `owner`, as it does where a group is empty (rule 9).
pub(super) fn person_gone(ask: &Ask, person: &PersonName, idle: &IdleHops, now: Now) -> Vec<Event> {
    let from_here = ask.route.hops.iter().skip(ask.hop.index);
    if !from_here.clone().any(|hop| hop.to.has(person)) {
        return Vec::new();
    }
    let kind = EventKind::PersonGone { person: person.clone() };
    let mut events = vec![Event::new(ask.revision + 1, now.time, kind)];
    let after = evolve(Some(ask.clone()), &events[0]);
    let empty =
        |hop: &super::Hop| matches!(&hop.to, Target::People { people, .. } if people.is_empty());
    if !empty(&after.route.hops[after.hop.index]) {
        return events;
    }
    let emptied = |(hop, why): (&super::Hop, Option<Idle>)| {
        if empty(hop) { Some(Idle::EmptyGroup) } else { why }
    };
    let known = idle.iter().copied().chain(std::iter::repeat(None));
    let idle: IdleHops = after.route.hops.iter().zip(known).map(emptied).collect();
    let reason = format!("{person} is not asked here any more");
    let moved = next_hop(&after, Cause::SenderGone, Actor::Timer, Some(reason), &idle, now);
    events.extend(moved.map(|moved| {
        let kind = EventKind::Escalated(moved);
        Event::new(after.revision + 1, now.time, kind)
    }));
    events
}

/// Whatever is due, in due order, each as if alone (rules 3 and 22).
pub(super) fn tick(
    ask: &Ask,
    idle: &IdleHops,
    standing: Option<&StandingNo>,
    now: Now,
) -> Vec<Event> {
    let mut ask = ask.clone();
    let mut events = Vec::new();
    while let Some(kind) = due(&ask, idle, standing, now) {
        let event = Event::new(ask.revision + 1, now.time, kind);
        ask = evolve(Some(ask), &event);
        events.push(event);
    }
    events
}

fn due(ask: &Ask, idle: &IdleHops, standing: Option<&StandingNo>, now: Now) -> Option<EventKind> {
    if !ask.is_open() {
        return None;
    }
    // In due order; of those due at one instant what holds goes before what is held, and the hop's
    // timer before the asker's.
    let claimed = ask.claim.as_ref();
    let timers = [
        (claimed.map(|claim| claim.lapse), Timer::Claim),
        (ask.turn_hold, Timer::TurnHold),
        (ask.hop.deadline.filter(|_| claimed.is_none()), Timer::Route),
        (ask.expiry.and_then(|expiry| expiry.due()), Timer::Expiry),
    ];
    let due = timers.into_iter().filter_map(|(time, timer)| Some((time?, timer)));
    let early = Span::from_secs(if planted!("timer_early") { 1 } else { 0 });
    let (time, timer) = due.filter(|(time, _)| *time <= now.time + early).min()?;
    Some(match timer {
        Timer::Claim => EventKind::ClaimLapsed { by: claimed?.by.clone() },
        Timer::TurnHold => EventKind::TurnHoldLapsed,
        Timer::Route => {
            let who = ask.route.target(ask.hop.index);
            let after = time.since(ask.hop.since);
            let reason = format!("{who} did not answer in {after}");
            let moved = next_hop(ask, Cause::Timeout, Actor::Timer, Some(reason), idle, now);
            EventKind::Escalated(moved.expect("only the last hop has no timer"))
        }
        Timer::Expiry => match ask.route.target(ask.hop.index) {
            Target::Session(_) => EventKind::Escalated(to_people(ask, idle, now)),
            Target::People { .. } => at_expiry(ask, ask.expiry?.action, standing, now),
        },
    })
}

/// What can be due, in the order in which one instant's are dealt with.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Timer {
    Claim,
    TurnHold,
    Route,
    Expiry,
}
