//! Folding events into an ask. Total: what has happened has happened, and nothing is checked here.

use super::event::{Escalated, Event, EventKind, Filed};
use super::names::Actor;
use super::{
    Ask, Claim, Delivery, Ending, ExpiryClock, HopInForce, Lease, Outcome, Seen, State, Timestamp,
    Turn, WhyNoDefault, limits,
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
        let mut ask = file(filed, event);
        ask.follow_notice(event);
        return ask;
    };
    assert_eq!(event.revision, ask.revision + 1, "the history of {} has a hole", ask.id);
    ask.revision = event.revision;
    apply(&mut ask, event);
    if !ask.is_unread() {
        ask.lease = None;
    }
    // Where there is no expiry any more there is nothing to hold.
    ask.turn_hold = ask.turn_hold.filter(|_| ask.expiry.is_some());
    let held = ask.claim.is_some() || ask.turn_hold.is_some();
    ask.expiry = ask.expiry.map(|expiry| expiry.settled(held, event.time));
    ask.follow_notice(event);
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
        host: filed.host,
        work: filed.work,
        tree: filed.tree,
        chain: filed.chain,
        route_name: filed.route_name,
        route: filed.route,
        assurance: filed.assurance,
        terms: filed.terms,
        visited: vec![filed.first.hop],
        hop: in_force(&filed.first, event.time),
        expiry: filed.expiry,
        defaults: filed.defaults,
        carried: filed.carried,
        again: filed.again,
        claim: None,
        turn_hold: None,
        seen: Vec::new(),
        turns: Vec::new(),
        lease: None,
        sender_told: false,
        notice: None,
        noticed: None,
        notice_failure: None,
        state: State::Open,
    }
}

fn apply(ask: &mut Ask, event: &Event) {
    let time = event.time;
    match &event.kind {
        EventKind::Filed(_) => panic!("{} is filed twice", ask.id),
        EventKind::Escalated(moved) => {
            drop_missed_expiry(ask, moved.hop, time);
            ask.visited.push(moved.hop);
            ask.hop = in_force(moved, time);
            move_claim(ask, moved, time);
        }
        EventKind::Answered { .. }
        | EventKind::Declined { .. }
        | EventKind::Withdrawn { .. }
        | EventKind::Expired { .. }
        | EventKind::Abandoned { .. } => settle(ask, event),
        EventKind::DefaultHeld { why, until } => {
            let clock = until.map_or(ExpiryClock::Waits(*why), ExpiryClock::Runs);
            ask.expiry.iter_mut().for_each(|expiry| expiry.clock = clock);
        }
        EventKind::Said { by, text, .. } => {
            // A later turn does not prolong the hold of an earlier one that is still unread.
            let first = matches!(by, Actor::Person(_)) && !has_unread_person(ask);
            say(ask, event, by.clone(), text, true);
            if first && ask.expiry.is_some() {
                ask.turn_hold = Some(time + limits::UNREAD_HOLD_MAX);
            }
        }
        EventKind::TurnHoldLapsed => ask.turn_hold = None,
        EventKind::Replied { by, text, content, expiry } => {
            say(ask, event, Actor::Session(by.clone()), text, false);
            if let Some(content) = content {
                let digest = content.digest();
                if digest != ask.digest {
                    ask.seen.clear();
                }
                (ask.content, ask.digest) = (content.clone().into(), digest);
            }
            if expiry.is_some() {
                ask.expiry = *expiry;
            }
        }
        EventKind::Seen { by, digest } => {
            ask.seen.push(Seen { by: by.clone(), digest: *digest, time });
            let window = ask.terms.person_window;
            for expiry in ask.expiry.iter_mut() {
                if expiry.clock == ExpiryClock::Waits(WhyNoDefault::NotShown) {
                    expiry.clock = ExpiryClock::Runs(time + window);
                }
            }
        }
        EventKind::Claimed { by, lapse, route_left } => {
            let (by, lapse, route_left) = (by.clone(), *lapse, *route_left);
            let in_agent = event.in_agent;
            ask.claim = Some(Claim { by, since: time, lapse, route_left, in_agent });
        }
        EventKind::Leased { lease, holder, until, .. } => {
            ask.lease = Some(Lease { id: *lease, holder: holder.clone(), until: *until });
        }
        EventKind::Released { .. } | EventKind::ClaimLapsed { .. } => run_on(ask, time),
        EventKind::Acknowledged { delivery } => acknowledge(ask, *delivery, time),
        EventKind::PersonGone { person } => ask.route.drop_person(person),
        EventKind::SenderTold { .. } => ask.sender_told = true,
        EventKind::Noticed { .. } => {} // all of it is the notice's own
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
        ask.expiry = ask.expiry.filter(|expiry| expiry.due().is_none_or(|due| due > time));
    }
}

/// A claim is on the ask, not on the hop: it holds the next hop's timer too, unless it is the
/// claimant that moves the ask on.
fn move_claim(ask: &mut Ask, moved: &Escalated, time: Timestamp) {
    let Some(claim) = &mut ask.claim else { return };
    if moved.by == Actor::Person(claim.by.clone()) {
        ask.claim = None;
    } else {
        claim.route_left = moved.deadline.map(|deadline| deadline.since(time));
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
fn settle(ask: &mut Ask, event: &Event) {
    let (assurance, stands_from) = match &event.kind {
        EventKind::Answered { assurance, .. } => (*assurance, None),
        EventKind::Declined { assurance, stands_from, .. } => (*assurance, *stands_from),
        _ => (None, None),
    };
    let (ending, by, note) = match event.kind.clone() {
        EventKind::Answered { by, answers, .. } => (Ending::Answered(answers), by, None),
        EventKind::Declined { by, note, .. } => (Ending::Declined, Actor::Person(by), note),
        EventKind::Withdrawn { by, note } => (Ending::Withdrawn, Actor::Session(by), note),
        EventKind::Expired { answers } => (Ending::Expired(answers), Actor::Timer, None),
        EventKind::Abandoned { by } => (Ending::Abandoned, by, None),
        other => unreachable!("{other:?} settles nothing"),
    };
    let delivery = match &ending {
        _ if planted!("sent_is_delivered") => Delivery::Acknowledged(event.time),
        Ending::Withdrawn => Delivery::Acknowledged(event.time),
        Ending::Abandoned => Delivery::Undeliverable {
            reason: "the asker's session has ended".to_owned(),
            time: event.time,
        },
        Ending::Answered(_) | Ending::Declined | Ending::Expired(_) => Delivery::Unread,
    };
    let (time, revision) = (event.time, event.revision);
    let in_agent = event.in_agent;
    let outcome = Outcome { ending, by, note, time, revision, stands_from, assurance, in_agent };
    ask.state = State::Settled { outcome, delivery };
    (ask.claim, ask.turn_hold) = (None, None);
}

fn say(ask: &mut Ask, event: &Event, by: Actor, text: &str, unread: bool) {
    let (revision, time, in_agent) = (event.revision, event.time, event.in_agent);
    let assurance = match &event.kind {
        EventKind::Said { assurance, .. } => *assurance,
        _ => None,
    };
    let text = text.to_owned();
    ask.turns.push(Turn { revision, by, text, time, unread, in_agent, assurance });
}

fn has_unread_person(ask: &Ask) -> bool {
    ask.turns.iter().any(|turn| turn.unread && matches!(turn.by, Actor::Person(_)))
}

/// After a claim the route timer has what it had left.
fn run_on(ask: &mut Ask, time: Timestamp) {
    let Some(claim) = ask.claim.take() else { return };
    if let Some(left) = claim.route_left {
        ask.hop.deadline = Some(time + left);
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
    if !has_unread_person(ask) {
        ask.turn_hold = None;
    }
}
