//! Values of the domain as words of the wire.

mod people;

pub use super::read::delivery_id;
use people::{claim, worth};
pub use people::{person, token};

use super::v1;
use crate::ask::{
    self, Actor, Ask, Cause, Delivery, Ending, Event, EventKind, ExpiryAction, ExpiryClock,
    LeaseId, Span, State, Target, Timestamp,
};
use crate::error::{Error, Refusal};
use crate::service::{Away, Presence, Receipt, Verdict};
use crate::session::{Session, Standing};
use std::collections::HashMap;

/// An instant, as it travels.
pub fn timestamp(time: Timestamp) -> prost_types::Timestamp {
    let (seconds, nanos) = parts(time.as_millis());
    prost_types::Timestamp { seconds, nanos }
}

fn duration(span: Span) -> prost_types::Duration {
    let (seconds, nanos) = parts(span.as_millis());
    prost_types::Duration { seconds, nanos }
}

fn parts(millis: u64) -> (i64, i32) {
    ((millis / 1_000) as i64, (millis % 1_000) as i32 * 1_000_000)
}

/// An ask, whole.
pub fn ask(ask: &Ask) -> v1::Ask {
    // Under a claim the timers stand still; once settled there are none.
    let runs = ask.is_open() && ask.claim.is_none();
    let expiry = ask.expiry.filter(|_| ask.is_open());
    v1::Ask {
        id: ask.id.to_string(),
        revision: ask.revision,
        state: match ask.state {
            State::Open => v1::AskState::Open,
            State::Settled { .. } => v1::AskState::Settled,
        }
        .into(),
        questions: ask.content.questions.iter().map(question).collect(),
        context: ask.content.context.clone(),
        content_digest: ask.digest.to_string(),
        priority: match ask.priority {
            ask::Priority::Low => v1::Priority::Low,
            ask::Priority::Normal => v1::Priority::Normal,
            ask::Priority::High => v1::Priority::High,
        }
        .into(),
        asker: Some(session_ref(&ask.asker)),
        work_id: ask.work.to_string(),
        chain: ask.chain.iter().map(session_ref).collect(),
        waiting_on: ask.waiting_on().as_ref().map(waiting_on),
        hop: Some(hop(ask)),
        escalate_time: ask.hop.deadline.filter(|_| runs).map(timestamp),
        expire_time: expiry.and_then(|expiry| expiry.due()).map(timestamp),
        create_time: Some(timestamp(ask.create_time)),
        turns: ask.turns.iter().map(turn).collect(),
        claim: ask.claim.as_ref().map(claim),
        outcome: ask.outcome().map(outcome),
        delivery: ask.delivery().map(|delivery| delivery_status(delivery, ask.lease.as_ref())),
        route: ask.route.hops.iter().map(route_hop).collect(),
        route_name: ask.route_name.to_string(),
        tree_work_id: ask.tree.to_string(),
        expiry: expiry.map(|expiry| self::expiry(ask, expiry)),
        awaiting_reply: ask.awaits_reply(),
        asked_again: ask.again,
        seen: ask.seen.iter().map(seen).collect(),
        asker_gone_time: None,
        lease: ask.lease.as_ref().map(lease),
        required_assurance: worth(ask.assurance).into(),
    }
}

fn expiry(ask: &Ask, expiry: ask::Expiry) -> v1::Expiry {
    let applies_default = expiry.action == ExpiryAction::Default;
    let named = applies_default.then(|| ask.content.named_default(&ask.defaults).ok()).flatten();
    let (left, waits) = match expiry.clock {
        ExpiryClock::Runs(_) => (None, ""),
        ExpiryClock::Stands(left) => (Some(duration(left)), ""),
        ExpiryClock::Waits(why) => (None, why.sentence()),
    };
    v1::Expiry {
        length: Some(duration(expiry.after)),
        applies_default,
        left,
        waits_reason: waits.to_owned(),
        defaults: answers(&named.unwrap_or_default()),
    }
}

fn seen(seen: &ask::Seen) -> v1::SeenMark {
    v1::SeenMark { person: seen.by.to_string(), seen_time: Some(timestamp(seen.time)) }
}

fn answers(answers: &ask::Answers) -> HashMap<String, v1::Answer> {
    let answer = |(id, answer): (&String, &ask::Answer)| {
        let (selected, text) = (answer.selected.clone(), answer.text.clone());
        (id.clone(), v1::Answer { selected, text, default: answer.default })
    };
    answers.iter().map(answer).collect()
}

/// An ask, whole, and since when its asker is away.
pub fn read_ask(ask: &Ask, away: &Away) -> v1::Ask {
    let asker_gone_time = away.get(&ask.asker.session).copied().map(timestamp);
    v1::Ask { asker_gone_time, ..self::ask(ask) }
}

/// What travels with an ask, for its asker.
pub fn carried(ask: &Ask) -> v1::Carried {
    v1::Carried {
        asker_state: ask.carried.state(),
        trace_parent: ask.carried.trace_parent.clone(),
        trace_state: ask.carried.trace_state.clone(),
    }
}

/// The delivery of `revision` of an ask; with a lease where a worker took it.
pub fn delivery(ask: &Ask, revision: u64, lease: Option<LeaseId>) -> v1::Delivery {
    let turn = ask.turns.iter().find(|turn| turn.revision == revision);
    v1::Delivery {
        id: delivery_id(&ask.id.to_string(), revision),
        revision,
        turn: turn.map(self::turn),
        ask: Some(self::ask(ask)),
        follow_up: ask.follow_up(revision),
        carried: Some(carried(ask)),
        lease_token: lease.map(|lease| lease.to_string()).unwrap_or_default(),
    }
}

fn question(question: &ask::Question) -> v1::Question {
    let option = |option: &ask::QuestionOption| v1::Option {
        label: option.label.clone(),
        description: option.description.clone(),
        recommended: option.recommended,
    };
    v1::Question {
        id: question.id.clone(),
        header: question.header.clone(),
        question: question.question.clone(),
        options: question.options.iter().map(option).collect(),
        multiple: question.multiple,
    }
}

/// One run of an agent.
pub fn session_ref(session: &ask::SessionRef) -> v1::SessionRef {
    v1::SessionRef { agent: session.agent.to_string(), session: session.session.to_string() }
}

fn waiting_on(target: &Target) -> v1::WaitingOn {
    let who = match target {
        Target::Session(session) => v1::waiting_on::Who::Session(session_ref(session)),
        Target::People { group, people } => v1::waiting_on::Who::People(v1::People {
            group: group.as_ref().map(ToString::to_string),
            people: people.iter().map(ToString::to_string).collect(),
        }),
    };
    v1::WaitingOn { who: Some(who) }
}

fn route_hop(hop: &ask::Hop) -> v1::RouteHop {
    v1::RouteHop {
        to: Some(waiting_on(&hop.to)),
        timeout: hop.timeout.map(duration),
        within: hop.within.map(duration),
    }
}

fn hop(ask: &Ask) -> v1::Hop {
    let skipped = ask.hop.skipped.iter().map(|skipped| v1::SkippedHop {
        index: skipped.hop as u32,
        reason: skipped.why.sentence(&ask.route.target(skipped.hop)),
    });
    v1::Hop {
        index: ask.hop.index as u32,
        of: ask.route.hops.len() as u32,
        cause: match ask.hop.cause {
            Cause::Filed => v1::HopCause::Filed,
            Cause::Timeout => v1::HopCause::Timeout,
            Cause::Refused => v1::HopCause::Refused,
            Cause::SenderGone => v1::HopCause::SenderGone,
            Cause::SenderBlocked => v1::HopCause::SenderBlocked,
            Cause::NeedsPerson => v1::HopCause::NeedsPerson,
            Cause::AskersExpiry => v1::HopCause::AskersExpiry,
        }
        .into(),
        reason: ask.hop.reason.clone().unwrap_or_default(),
        since_time: Some(timestamp(ask.hop.since)),
        skipped: skipped.collect(),
    }
}

/// A turn of talk.
pub fn turn(turn: &ask::Turn) -> v1::Turn {
    v1::Turn {
        revision: turn.revision,
        by: Some(actor(&turn.by)),
        text: turn.text.clone(),
        say_time: Some(timestamp(turn.time)),
        unread: turn.unread,
        in_agent: turn.in_agent,
        assurance: worth(turn.assurance).into(),
    }
}

fn actor(actor: &Actor) -> v1::Actor {
    use v1::actor::Who;
    let who = match actor {
        Actor::Session(session) => Who::Session(session_ref(session)),
        Actor::Person(person) => Who::Person(person.to_string()),
        Actor::Host(host) => Who::Host(host.to_string()),
        Actor::Timer => Who::Timer(v1::Timer {}),
    };
    v1::Actor { who: Some(who) }
}

fn outcome(outcome: &ask::Outcome) -> v1::Outcome {
    let kind = match outcome.ending {
        Ending::Answered(_) => v1::OutcomeKind::Answered,
        Ending::Declined => v1::OutcomeKind::Declined,
        Ending::Expired(_) => v1::OutcomeKind::Expired,
        Ending::Withdrawn => v1::OutcomeKind::Withdrawn,
        Ending::Abandoned => v1::OutcomeKind::Abandoned,
    };
    let answers = match &outcome.ending {
        Ending::Answered(given) | Ending::Expired(Some(given)) => answers(given),
        Ending::Declined | Ending::Expired(None) | Ending::Withdrawn | Ending::Abandoned => {
            HashMap::new()
        }
    };
    v1::Outcome {
        kind: kind.into(),
        answers,
        by: Some(actor(&outcome.by)),
        note: outcome.note.clone(),
        settle_time: Some(timestamp(outcome.time)),
        revision: outcome.revision,
        assurance: worth(outcome.assurance).into(),
        in_agent: outcome.in_agent,
        stands_from_ask_id: outcome.stands_from.map(|ask| ask.to_string()).unwrap_or_default(),
    }
}

fn lease(lease: &ask::Lease) -> v1::Lease {
    v1::Lease { holder: lease.holder.clone(), expire_time: Some(timestamp(lease.until)) }
}

fn delivery_status(delivery: &Delivery, lease: Option<&ask::Lease>) -> v1::DeliveryStatus {
    let (state, reason) = match delivery {
        Delivery::Unread => (v1::DeliveryState::Unread, String::new()),
        Delivery::Acknowledged(_) => (v1::DeliveryState::Acknowledged, String::new()),
        Delivery::Undeliverable { reason, .. } => {
            (v1::DeliveryState::Undeliverable, reason.clone())
        }
    };
    v1::DeliveryStatus { state: state.into(), reason, lease: lease.map(self::lease) }
}

/// An event, with the parts of the ask that it changed.
pub fn event(event: &Event, after: &Ask) -> v1::Event {
    use EventKind as E;
    use v1::EventKind as K;
    let asker = || Actor::Session(after.asker.clone());
    let (kind, by, text) = match &event.kind {
        E::Filed(_) => (K::Filed, asker(), None),
        E::Escalated(moved) => (K::Escalated, moved.by.clone(), moved.reason.clone()),
        E::Answered { by, .. } => (K::Answered, by.clone(), None),
        E::Declined { by, note, .. } => (K::Declined, Actor::Person(by.clone()), note.clone()),
        E::Withdrawn { by, note } => (K::Withdrawn, Actor::Session(by.clone()), note.clone()),
        E::Expired { .. } => (K::Expired, Actor::Timer, None),
        E::DefaultHeld { why, .. } => {
            (K::DefaultHeld, Actor::Timer, Some(why.sentence().to_owned()))
        }
        E::TurnHoldLapsed => (K::TurnHoldLapsed, Actor::Timer, None),
        E::Leased { by, holder, .. } => (K::Leased, by.clone(), Some(holder.clone())),
        E::Abandoned { by } => (K::Abandoned, by.clone(), None),
        E::Said { by, text, .. } => (K::Said, by.clone(), Some(text.clone())),
        E::Replied { by, text, .. } => (K::Replied, Actor::Session(by.clone()), Some(text.clone())),
        E::Seen { by, .. } => (K::Seen, Actor::Person(by.clone()), None),
        E::Claimed { by, .. } => (K::Claimed, Actor::Person(by.clone()), None),
        E::Released { by } => (K::Released, Actor::Person(by.clone()), None),
        E::ClaimLapsed { .. } => (K::ClaimLapsed, Actor::Timer, None),
        E::Acknowledged { .. } => (K::Acknowledged, asker(), None),
        E::PersonGone { person } => (K::PersonGone, Actor::Timer, Some(person.to_string())),
        E::SenderTold { by } => (K::SenderTold, Actor::Session(by.clone()), None),
        E::Noticed { failure: Some(why), .. } => (K::NoticeFailed, Actor::Timer, Some(why.clone())),
        E::Noticed { why, .. } => (K::Noticed, Actor::Timer, Some(why.sentence().to_owned())),
        E::Undeliverable { reason } => (K::Undeliverable, Actor::Timer, Some(reason.clone())),
    };
    let mut changed = ask(after);
    let content = matches!(event.kind, E::Filed(_) | E::Replied { content: Some(_), .. });
    if !content {
        changed.questions.clear();
        changed.context.clear();
    }
    if !matches!(event.kind, E::Filed(_) | E::PersonGone { .. }) {
        changed.route.clear();
    }
    if !matches!(event.kind, E::Filed(_)) {
        changed.chain.clear();
    }
    changed.turns.retain(|turn| turn.revision == event.revision);
    v1::Event {
        revision: event.revision,
        event_time: Some(timestamp(event.time)),
        kind: kind.into(),
        by: Some(actor(&by)),
        text: text.unwrap_or_default(),
        ask: Some(changed),
        in_agent: event.in_agent,
    }
}

/// Whether an asker is there.
pub fn presence(presence: Presence) -> v1::AskerPresence {
    match presence {
        Presence::Live => v1::AskerPresence::Live,
        Presence::Parked => v1::AskerPresence::Parked,
        Presence::Gone => v1::AskerPresence::Gone,
    }
}

/// A receipt.
pub fn receipt(receipt: &Receipt) -> v1::Receipt {
    let (result, reason) = match receipt.verdict {
        Verdict::Accepted => (v1::Result::Accepted, ""),
        Verdict::Closed => (v1::Result::Closed, ""),
        Verdict::Refused(reason) => (v1::Result::Refused, reason.as_str()),
    };
    let asker = receipt.asker.map_or(v1::AskerPresence::Unspecified, presence);
    v1::Receipt {
        result: result.into(),
        replayed: receipt.replayed,
        reason: reason.to_owned(),
        message: receipt.message.clone(),
        asker: asker.into(),
        ask: receipt.ask.as_deref().map(ask),
        open_ask_ids: receipt.open.iter().map(ToString::to_string).collect(),
        differs: receipt.differs.iter().map(ToString::to_string).collect(),
    }
}

/// The receipt of an accepted call about sessions.
pub fn accepted(replayed: bool) -> Option<v1::SessionReceipt> {
    let result = v1::Result::Accepted.into();
    Some(v1::SessionReceipt { result, replayed, ..Default::default() })
}

/// The receipt of a refused call about sessions; every other error stays one.
///
/// # Errors
///
/// Whatever is not a refusal.
pub fn refused(error: Error) -> Result<Option<v1::SessionReceipt>, Error> {
    match error {
        Error::Refused(Refusal { reason, message, .. }) => Ok(Some(v1::SessionReceipt {
            result: v1::Result::Refused.into(),
            replayed: false,
            reason: reason.as_str().to_owned(),
            message,
        })),
        fault => Err(fault),
    }
}

/// A session.
pub fn session(session: &Session) -> v1::Session {
    let (state, since) = match &session.standing {
        Standing::Active => (v1::SessionState::Active, None),
        Standing::Paused { since, .. } => (v1::SessionState::Paused, Some(*since)),
        Standing::Ended { since, .. } => (v1::SessionState::Ended, Some(*since)),
    };
    v1::Session {
        id: session.id.to_string(),
        agent: session.agent.to_string(),
        host: session.host.to_string(),
        parent: session.parent.as_ref().map(session_ref),
        state: state.into(),
        state_time: since.map(timestamp),
        work_ids: session.works.iter().map(ToString::to_string).collect(),
        open_ask_ids: session.open_asks.iter().map(ToString::to_string).collect(),
        create_time: Some(timestamp(session.create_time)),
        answers_none: !session.answers_asks,
        wakeable: session.wakeable,
        deadline_time: session.deadline().map(timestamp),
    }
}

#[cfg(test)]
mod tests;
