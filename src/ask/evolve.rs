//! Folding events into an ask. Total: what has happened has happened, and nothing is checked here.

use super::event::{Escalated, Event, EventKind, Filed};
use super::names::Actor;
use super::{
    Ask, Claim, Delivery, Ending, HopInForce, Outcome, Seen, Span, State, Timestamp, Turn, limits,
};

/// The ask after `event`.
///
/// # Panics
///
/// When a history does not begin with `Filed`, or files twice: such a history was never written by
/// [`decide()`](super::decide()), and a store that returns it must be stopped, not served.
pub fn evolve(ask: Option<Ask>, event: &Event) -> Ask {
    let Some(mut ask) = ask else {
        let EventKind::Filed(filed) = &event.kind else {
            panic!("a history begins with Filed, not {:?}", event.kind);
        };
        return file(filed, event);
    };
    assert_eq!(event.revision, ask.revision + 1, "the history of {} has a hole", ask.id);
    ask.revision = event.revision;
    apply(&mut ask, event);
    ask
}

/// The ask that a whole history makes; none for an empty one.
pub fn fold<'a>(events: impl IntoIterator<Item = &'a Event>) -> Option<Ask> {
    events.into_iter().fold(None, |ask, event| Some(evolve(ask, event)))
}

fn file(filed: &Filed, event: &Event) -> Ask {
    let filed = filed.clone();
    Ask {
        id: filed.id,
        namespace: filed.namespace,
        revision: event.revision,
        create_time: event.time,
        digest: filed.content.digest(),
        content: filed.content,
        priority: filed.priority,
        asker: filed.asker,
        work: filed.work,
        tree: filed.tree,
        chain: filed.chain,
        route: filed.route,
        visited: vec![filed.first.hop],
        hop: in_force(&filed.first, event.time),
        expiry: filed.expiry,
        claim: None,
        seen: Vec::new(),
        turns: Vec::new(),
        state: State::Open,
    }
}

fn apply(ask: &mut Ask, event: &Event) {
    let time = event.time;
    match &event.kind {
        EventKind::Filed(_) => panic!("{} is filed twice", ask.id),
        EventKind::Escalated(moved) => {
            run_on(ask, time);
            drop_missed_expiry(ask, moved.hop, time);
            ask.visited.push(moved.hop);
            ask.hop = in_force(moved, time);
        }
        EventKind::Answered { by, answers } => {
            settle(ask, event, Ending::Answered(answers.clone()), by.clone(), None);
        }
        EventKind::Declined { by, note } => {
            settle(ask, event, Ending::Declined, Actor::Person(by.clone()), note.clone());
        }
        EventKind::Withdrawn { by, note } => {
            settle(ask, event, Ending::Withdrawn, Actor::Session(by.clone()), note.clone());
        }
        EventKind::Expired => settle(ask, event, Ending::Expired, Actor::Timer, None),
        EventKind::Abandoned { by } => settle(ask, event, Ending::Abandoned, by.clone(), None),
        EventKind::Said { by, text } => say(ask, event, by.clone(), text, true),
        EventKind::Replied { by, text, content, expiry } => {
            say(ask, event, Actor::Session(by.clone()), text, false);
            if let Some(content) = content {
                ask.content = content.clone();
                ask.digest = content.digest();
            }
            if let Some(expiry) = expiry {
                ask.expiry = Some(*expiry);
                // Under a claim its clock stands still at its full length.
                if let Some(claim) = &mut ask.claim {
                    claim.expiry_left = Some(expiry.after);
                }
            }
        }
        EventKind::Seen { by, digest } => {
            ask.seen.push(Seen { by: by.clone(), digest: *digest, time });
        }
        EventKind::Claimed { by, lapse, route_left, expiry_left } => {
            ask.claim = Some(Claim {
                by: by.clone(),
                since: time,
                lapse: *lapse,
                route_left: *route_left,
                expiry_left: *expiry_left,
            });
        }
        EventKind::Released { .. } | EventKind::ClaimLapsed { .. } => run_on(ask, time),
        EventKind::Acknowledged { delivery } => acknowledge(ask, *delivery, time),
        EventKind::Undeliverable { reason } => {
            if let State::Settled { delivery, .. } = &mut ask.state {
                *delivery = Delivery::Undeliverable { reason: reason.clone(), time };
            }
        }
    }
}

/// An expiry that came while a session was asked applies nothing (rule 4), whatever moved the ask
/// on to people then: they were not asked before it, and must not lose the ask to it unheard.
fn drop_missed_expiry(ask: &mut Ask, to: usize, time: Timestamp) {
    let is_people = |hop: usize| ask.route.hops[hop].to.session().is_none();
    if !is_people(ask.hop.index) && is_people(to) {
        ask.expiry = ask.expiry.filter(|expiry| expiry.time > time);
    }
}

fn in_force(moved: &Escalated, since: Timestamp) -> HopInForce {
    HopInForce {
        index: moved.hop,
        cause: moved.cause,
        reason: moved.reason.clone(),
        since,
        deadline: moved.deadline,
        skipped: moved.skipped.clone(),
    }
}

/// What the asker did itself needs no delivery; what the end of its session did finds nobody.
fn settle(ask: &mut Ask, event: &Event, ending: Ending, by: Actor, note: Option<String>) {
    let delivery = match &ending {
        Ending::Withdrawn => Delivery::Acknowledged(event.time),
        Ending::Abandoned => Delivery::Undeliverable {
            reason: "the asker's session has ended".to_owned(),
            time: event.time,
        },
        Ending::Answered(_) | Ending::Declined | Ending::Expired => Delivery::Unread,
    };
    let outcome = Outcome { ending, by, note, time: event.time, revision: event.revision };
    ask.state = State::Settled { outcome, delivery };
    ask.claim = None;
}

fn say(ask: &mut Ask, event: &Event, by: Actor, text: &str, unread: bool) {
    let (revision, time) = (event.revision, event.time);
    ask.turns.push(Turn { revision, by, text: text.to_owned(), time, unread });
}

/// After a claim: each timer has what it had left; an expiry at least a minute.
fn run_on(ask: &mut Ask, time: Timestamp) {
    let Some(claim) = ask.claim.take() else { return };
    if let Some(left) = claim.route_left {
        ask.hop.deadline = Some(time + left);
    }
    if let (Some(expiry), Some(left)) = (&mut ask.expiry, claim.expiry_left) {
        expiry.time = time + Span::max(left, limits::EXPIRE_LEFT_MIN.min(expiry.after));
    }
}

/// Deliveries are in order: who has one has every turn before it (rule 11).
fn acknowledge(ask: &mut Ask, delivery: u64, time: Timestamp) {
    for turn in ask.turns.iter_mut().filter(|turn| turn.revision <= delivery) {
        turn.unread = false;
    }
    if let State::Settled { outcome, delivery: state } = &mut ask.state
        && outcome.revision == delivery
    {
        *state = Delivery::Acknowledged(time);
    }
}
