//! Asks and receipts for tests, in every state.

use crate::grpc::v1;

/// The id of each of them.
pub const ID: &str = "ask_k3f9ab1200000000000g";
/// The asker's session.
pub const ASKER: &str = "ses_w0000000000000000000";
/// Its sender's session.
pub const SENDER: &str = "ses_00000000000000000000";

/// So many milliseconds after 2026-01-02T03:04:05.678Z.
pub fn time(millis: i64) -> Option<prost_types::Timestamp> {
    let millis = 1_767_323_045_678 + millis;
    let nanos = (millis % 1_000) as i32 * 1_000_000;
    Some(prost_types::Timestamp { seconds: millis / 1_000, nanos })
}

fn session(agent: &str, session: &str) -> v1::SessionRef {
    v1::SessionRef { agent: agent.into(), session: session.into() }
}

fn by(who: v1::actor::Who) -> Option<v1::Actor> {
    Some(v1::Actor { who: Some(who) })
}

/// The sender, acting.
pub fn by_sender() -> Option<v1::Actor> {
    by(v1::actor::Who::Session(session("lead", SENDER)))
}

/// The person, acting.
pub fn by_person() -> Option<v1::Actor> {
    by(v1::actor::Who::Person("owner".into()))
}

/// Filed, and waiting on its sender.
pub fn open() -> v1::Ask {
    let option = |label: &str, description: &str, recommended| v1::Option {
        label: label.into(),
        description: description.into(),
        recommended,
    };
    let lead = v1::WaitingOn { who: Some(v1::waiting_on::Who::Session(session("lead", SENDER))) };
    let hop = |to, seconds: Option<i64>| v1::RouteHop {
        within: None,
        to: Some(to),
        timeout: seconds.map(|seconds| prost_types::Duration { seconds, nanos: 0 }),
    };
    v1::Ask {
        id: ID.into(),
        revision: 1,
        state: v1::AskState::Open.into(),
        questions: vec![v1::Question {
            id: "q1".into(),
            header: "Cache".into(),
            question: "Which store for the cache?".into(),
            options: vec![option("SQLite", "one file", true), option("Postgres", "", false)],
            multiple: false,
        }],
        context: "It holds a million rows.".into(),
        content_digest: "00".repeat(32),
        priority: v1::Priority::High.into(),
        asker: Some(session("worker", ASKER)),
        work_id: "wrk_00000000000000000000".into(),
        chain: vec![session("lead", SENDER)],
        waiting_on: Some(lead.clone()),
        hop: Some(v1::Hop {
            index: 0,
            of: 2,
            cause: v1::HopCause::Filed.into(),
            reason: String::new(),
            since_time: time(0),
            skipped: Vec::new(),
        }),
        escalate_time: time(900_000),
        expire_time: time(3_600_000),
        create_time: time(0),
        route: vec![hop(lead, Some(900)), hop(owner(), None)],
        route_name: "default".into(),
        tree_work_id: "wrk_00000000000000000001".into(),
        expiry: Some(v1::Expiry {
            length: Some(prost_types::Duration { seconds: 3_600, nanos: 0 }),
            ..v1::Expiry::default()
        }),
        ..v1::Ask::default()
    }
}

fn owner() -> v1::WaitingOn {
    let people = v1::People { group: None, people: vec!["owner".into()] };
    v1::WaitingOn { who: Some(v1::waiting_on::Who::People(people)) }
}

/// The same with a default that stands at its deadline.
pub fn with_default() -> v1::Ask {
    let answer = v1::Answer { selected: vec!["SQLite".into()], ..v1::Answer::default() };
    let expiry = v1::Expiry {
        length: Some(prost_types::Duration { seconds: 3_600, nanos: 0 }),
        applies_default: true,
        defaults: [("q1".to_owned(), answer)].into(),
        ..v1::Expiry::default()
    };
    v1::Ask { expiry: Some(expiry), ..open() }
}

/// The same after its sender refused.
pub fn with_people() -> v1::Ask {
    v1::Ask {
        revision: 2,
        waiting_on: Some(owner()),
        hop: Some(v1::Hop {
            index: 1,
            of: 2,
            cause: v1::HopCause::Refused.into(),
            reason: "not mine to decide".into(),
            since_time: time(1_000),
            skipped: Vec::new(),
        }),
        escalate_time: None,
        ..open()
    }
}

/// What happened until then.
pub fn history() -> Vec<v1::Event> {
    let event = |revision, millis, kind: v1::EventKind, by, text: &str, ask| v1::Event {
        revision,
        event_time: time(millis),
        kind: kind.into(),
        by,
        text: text.into(),
        ask: Some(ask),
        in_agent: false,
    };
    let asker = by(v1::actor::Who::Session(session("worker", ASKER)));
    vec![
        event(1, 0, v1::EventKind::Filed, asker, "", open()),
        event(2, 1_000, v1::EventKind::Escalated, by_sender(), "not mine to decide", with_people()),
    ]
}

/// The same with an unread turn of the sender's.
pub fn spoken() -> v1::Ask {
    let turn = v1::Turn {
        revision: 2,
        by: by_sender(),
        text: "How many rows?".into(),
        say_time: time(2_000),
        unread: true,
        in_agent: false,
        assurance: v1::Assurance::Unspecified.into(),
    };
    v1::Ask { revision: 2, turns: vec![turn], ..open() }
}

/// Settled this way, by whoever would.
pub fn settled(kind: v1::OutcomeKind) -> v1::Ask {
    let asker = by(v1::actor::Who::Session(session("worker", ASKER)));
    let timer = by(v1::actor::Who::Timer(v1::Timer {}));
    let host = by(v1::actor::Who::Host("local".into()));
    let text = Some("it fits".to_owned());
    let answer = v1::Answer { selected: vec!["SQLite".into()], text, default: false };
    let (by, answers) = match kind {
        v1::OutcomeKind::Answered => (by_sender(), [("q1".to_owned(), answer)].into()),
        v1::OutcomeKind::Declined => (by_person(), [].into()),
        v1::OutcomeKind::Withdrawn => (asker, [].into()),
        v1::OutcomeKind::Abandoned => (host, [].into()),
        v1::OutcomeKind::Expired | v1::OutcomeKind::Unspecified => (timer, [].into()),
    };
    let note = (kind == v1::OutcomeKind::Declined).then(|| "not this year".to_owned());
    v1::Ask {
        revision: 3,
        state: v1::AskState::Settled.into(),
        waiting_on: None,
        escalate_time: None,
        expire_time: None,
        outcome: Some(v1::Outcome {
            kind: kind.into(),
            answers,
            by,
            note,
            settle_time: time(5_000),
            revision: 3,
            stands_from_ask_id: String::new(),
            assurance: v1::Assurance::Unspecified.into(),
            in_agent: false,
        }),
        delivery: Some(v1::DeliveryStatus {
            state: v1::DeliveryState::Unread.into(),
            reason: String::new(),
            lease: None,
        }),
        ..open()
    }
}

/// A receipt with an open ask.
pub fn receipt(result: v1::Result, reason: &str) -> v1::Receipt {
    v1::Receipt {
        differs: Vec::new(),
        result: result.into(),
        replayed: false,
        reason: reason.into(),
        message: if reason.is_empty() { String::new() } else { "words".into() },
        asker: v1::AskerPresence::Live.into(),
        ask: Some(open()),
        open_ask_ids: Vec::new(),
    }
}
