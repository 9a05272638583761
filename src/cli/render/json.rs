//! The shapes that programs read. Fields are added, never changed.

use crate::cli::exit::Failure;
use crate::cli::time::exact;
use crate::grpc::v1;
use serde_json::{Map, Value, json};

/// An ask.
pub fn ask(ask: &v1::Ask) -> Value {
    let hop = ask.hop.clone().unwrap_or_default();
    json!({
        "id": ask.id,
        "state": match ask.state() {
            v1::AskState::Settled => "settled",
            _ => "open",
        },
        "revision": ask.revision,
        "content_digest": ask.content_digest,
        "questions": ask.questions.iter().map(question).collect::<Vec<_>>(),
        "context": ask.context,
        "priority": match ask.priority() {
            v1::Priority::Low => "low",
            v1::Priority::High => "high",
            _ => "normal",
        },
        "asker": session_ref(ask.asker.as_ref()),
        "work": ask.work_id,
        "chain": ask.chain.iter().map(|sender| session_ref(Some(sender))).collect::<Vec<_>>(),
        "waiting_on": waiting_on(ask.waiting_on.as_ref()),
        "hop": {
            "index": hop.index,
            "of": hop.of,
            "cause": cause(hop.cause()),
            "reason": or_null(&hop.reason),
            "since": time(hop.since_time.as_ref()),
        },
        "escalate_time": time(ask.escalate_time.as_ref()),
        "expire_time": time(ask.expire_time.as_ref()),
        "create_time": time(ask.create_time.as_ref()),
        "turns": ask.turns.iter().map(turn).collect::<Vec<_>>(),
        "claim": ask.claim.as_ref().map(|claim| json!({
            "person": claim.person,
            "since": time(claim.since_time.as_ref()),
            "lapse_time": time(claim.lapse_time.as_ref()),
        })),
        "outcome": ask.outcome.as_ref().map(outcome),
        "delivery": ask.delivery.as_ref().map(|delivery| json!({
            "state": match delivery.state() {
                v1::DeliveryState::Acknowledged => "acknowledged",
                v1::DeliveryState::Undeliverable => "undeliverable",
                _ => "unread",
            },
            "reason": or_null(&delivery.reason),
        })),
    })
}

fn question(question: &v1::Question) -> Value {
    let option = |option: &v1::Option| {
        json!({
            "label": option.label,
            "description": option.description,
            "recommended": option.recommended,
        })
    };
    json!({
        "id": question.id,
        "header": question.header,
        "question": question.question,
        "options": question.options.iter().map(option).collect::<Vec<_>>(),
        "multiple": question.multiple,
    })
}

fn session_ref(session: Option<&v1::SessionRef>) -> Value {
    session.map_or(Value::Null, |s| json!({ "agent": s.agent, "session": s.session }))
}

fn waiting_on(target: Option<&v1::WaitingOn>) -> Value {
    match target.and_then(|target| target.who.as_ref()) {
        Some(v1::waiting_on::Who::Session(s)) => {
            json!({ "kind": "session", "agent": s.agent, "session": s.session })
        }
        Some(v1::waiting_on::Who::People(people)) => {
            json!({ "kind": "people", "group": people.group, "people": people.people })
        }
        None => Value::Null,
    }
}

fn cause(cause: v1::HopCause) -> &'static str {
    match cause {
        v1::HopCause::Unspecified | v1::HopCause::Filed => "filed",
        v1::HopCause::Timeout => "timeout",
        v1::HopCause::Refused => "refused",
        v1::HopCause::SenderGone => "sender_gone",
        v1::HopCause::SenderBlocked => "sender_blocked",
        v1::HopCause::AskersExpiry => "askers_expiry",
    }
}

fn turn(turn: &v1::Turn) -> Value {
    json!({
        "revision": turn.revision,
        "by": actor(turn.by.as_ref()),
        "text": turn.text,
        "time": time(turn.say_time.as_ref()),
        "unread": turn.unread,
    })
}

fn actor(actor: Option<&v1::Actor>) -> Value {
    use v1::actor::Who;
    match actor.and_then(|actor| actor.who.as_ref()) {
        Some(Who::Session(s)) => {
            json!({ "kind": "session", "agent": s.agent, "session": s.session })
        }
        Some(Who::Person(person)) => json!({ "kind": "person", "person": person }),
        Some(Who::Host(host)) => json!({ "kind": "host", "host": host }),
        Some(Who::Timer(_)) => json!({ "kind": "timer" }),
        None => Value::Null,
    }
}

fn outcome(outcome: &v1::Outcome) -> Value {
    let answer = |(id, answer): (&String, &v1::Answer)| {
        let answer = json!({
            "selected": answer.selected,
            "text": answer.text,
            "default": answer.default,
        });
        (id.clone(), answer)
    };
    json!({
        "kind": match outcome.kind() {
            v1::OutcomeKind::Answered => "answered",
            v1::OutcomeKind::Declined => "declined",
            v1::OutcomeKind::Expired => "expired",
            v1::OutcomeKind::Withdrawn => "withdrawn",
            v1::OutcomeKind::Abandoned | v1::OutcomeKind::Unspecified => "abandoned",
        },
        "answers": outcome.answers.iter().map(answer).collect::<Map<_, _>>(),
        "by": actor(outcome.by.as_ref()),
        "note": outcome.note,
        "time": time(outcome.settle_time.as_ref()),
    })
}

/// A receipt.
pub fn receipt(receipt: &v1::Receipt) -> Value {
    json!({
        "result": result(receipt.result()),
        "replayed": receipt.replayed,
        "reason": or_null(&receipt.reason),
        "message": or_null(&receipt.message),
        "asker": match receipt.asker() {
            v1::AskerPresence::Live => json!("live"),
            v1::AskerPresence::Parked => json!("parked"),
            v1::AskerPresence::Gone => json!("gone"),
            v1::AskerPresence::Unspecified => Value::Null,
        },
        "open_asks": receipt.open_ask_ids,
        "ask": receipt.ask.as_ref().map(ask),
    })
}

pub fn result(result: v1::Result) -> &'static str {
    match result {
        v1::Result::Accepted => "accepted",
        v1::Result::Closed => "closed",
        v1::Result::Refused | v1::Result::Unspecified => "refused",
    }
}

/// An event of the ask `id`.
pub fn event(event: &v1::Event) -> Value {
    let ask = event.ask.clone().unwrap_or_default();
    let kind = event.kind().as_str_name().trim_start_matches("EVENT_KIND_").to_lowercase();
    json!({
        "ask": ask.id,
        "revision": event.revision,
        "time": time(event.event_time.as_ref()),
        "kind": kind,
        "by": actor(event.by.as_ref()),
        "text": or_null(&event.text),
        "waiting_on": waiting_on(ask.waiting_on.as_ref()),
        "hop": ask.hop.as_ref().map(|hop| json!({
            "index": hop.index,
            "of": hop.of,
            "cause": cause(hop.cause()),
            "reason": or_null(&hop.reason),
            "since": time(hop.since_time.as_ref()),
        })),
        "outcome": ask.outcome.as_ref().map(outcome),
    })
}

/// A session.
pub fn session(session: &v1::Session) -> Value {
    json!({
        "id": session.id,
        "agent": session.agent,
        "host": session.host,
        "parent": session_ref(session.parent.as_ref()),
        "state": match session.state() {
            v1::SessionState::Paused => "paused",
            v1::SessionState::Ended => "ended",
            v1::SessionState::Active | v1::SessionState::Unspecified => "active",
        },
        "state_time": time(session.state_time.as_ref()),
        "works": session.work_ids,
        "open_asks": session.open_ask_ids,
        "create_time": time(session.create_time.as_ref()),
    })
}

/// A failure.
pub fn failure(failure: &Failure) -> Value {
    let field = |(field, description): &(String, String)| json!({ "field": field, "description": description });
    json!({ "error": {
        "reason": failure.reason,
        "message": failure.message,
        "fields": failure.fields.iter().map(field).collect::<Vec<_>>(),
        "next": failure.next,
    }})
}

/// An instant, or null.
pub fn time(time: Option<&prost_types::Timestamp>) -> Value {
    time.map_or(Value::Null, |time| json!(exact(time)))
}

pub fn or_null(text: &str) -> Value {
    if text.is_empty() { Value::Null } else { json!(text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(value: &Value) -> Vec<&str> {
        value.as_object().unwrap().keys().map(String::as_str).collect()
    }

    /// Others script against these names: taking one away, or changing one, breaks them.
    #[test]
    fn the_documented_fields_are_all_there() {
        let by = v1::Actor { who: Some(v1::actor::Who::Timer(v1::Timer {})) };
        let settled = v1::Ask {
            id: "ask_x".into(),
            questions: vec![v1::Question {
                options: vec![v1::Option::default()],
                ..Default::default()
            }],
            outcome: Some(v1::Outcome {
                kind: v1::OutcomeKind::Answered.into(),
                answers: [("q1".to_owned(), v1::Answer::default())].into(),
                by: Some(by),
                ..Default::default()
            }),
            delivery: Some(v1::DeliveryStatus::default()),
            ..Default::default()
        };
        let shown = ask(&settled);
        for key in [
            "id",
            "state",
            "revision",
            "content_digest",
            "questions",
            "context",
            "priority",
            "asker",
            "work",
            "waiting_on",
            "hop",
            "escalate_time",
            "expire_time",
            "create_time",
            "turns",
            "outcome",
            "delivery",
        ] {
            assert!(keys(&shown).contains(&key), "{key}");
        }
        assert_eq!(keys(&shown["hop"]), ["cause", "index", "of", "reason", "since"]);
        assert_eq!(keys(&shown["outcome"]), ["answers", "by", "kind", "note", "time"]);
        assert_eq!(keys(&shown["outcome"]["answers"]["q1"]), ["default", "selected", "text"]);
        assert_eq!(shown["outcome"]["by"], json!({ "kind": "timer" }));
        assert_eq!(keys(&shown["delivery"]), ["reason", "state"]);
        assert_eq!(
            keys(&shown["questions"][0]),
            ["header", "id", "multiple", "options", "question"]
        );
        let open = ask(&v1::Ask { state: v1::AskState::Open.into(), ..Default::default() });
        for absent in ["outcome", "delivery", "waiting_on", "escalate_time"] {
            assert_eq!(open[absent], Value::Null, "{absent}");
        }
        let shown = receipt(&v1::Receipt::default());
        for key in ["result", "replayed", "reason", "asker", "ask"] {
            assert!(keys(&shown).contains(&key), "{key}");
        }
        let mut wrong = Failure::usage("no");
        wrong.fields.push(("f".into(), "d".into()));
        let shown = failure(&wrong);
        assert_eq!(keys(&shown["error"]), ["fields", "message", "next", "reason"]);
        assert_eq!(keys(&shown["error"]["fields"][0]), ["description", "field"]);
    }
}
