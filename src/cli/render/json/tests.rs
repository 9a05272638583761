//! Each shape against the documentation, in every state.

use super::*;
use crate::cli::Exit;
use crate::cli::render::fixture::{self, ASKER, ID, SENDER};
use serde_json::{Value, json};

fn read(line: &str) -> Value {
    assert!(!line.contains('\n'), "one line");
    serde_json::from_str(line).expect("it is JSON")
}

fn open() -> Value {
    json!({
        "id": ID,
        "state": "open",
        "revision": 1,
        "content_digest": "00".repeat(32),
        "questions": [{
            "id": "q1",
            "header": "Cache",
            "question": "Which store for the cache?",
            "options": [
                {"label": "SQLite", "description": "one file", "recommended": true},
                {"label": "Postgres", "description": "", "recommended": false},
            ],
            "multiple": false,
        }],
        "context": "It holds a million rows.",
        "priority": "high",
        "asker": {"agent": "worker", "session": ASKER},
        "work": "wrk_00000000000000000000",
        "chain": [{"agent": "lead", "session": SENDER}],
        "waiting_on": {"kind": "session", "agent": "lead", "session": SENDER},
        "hop": {
            "index": 0, "of": 2, "cause": "filed", "reason": null,
            "since": "2026-01-02T03:04:05.678Z", "skipped": [],
        },
        "escalate_time": "2026-01-02T03:19:05.678Z",
        "expire_time": "2026-01-02T04:04:05.678Z",
        "create_time": "2026-01-02T03:04:05.678Z",
        "turns": [],
        "claim": null,
        "outcome": null,
        "delivery": null,
        "tree": "wrk_00000000000000000001",
        "route_name": "default",
        "expiry": {
            "length_seconds": 3_600, "applies_default": false, "left_seconds": null,
            "waits_reason": null, "defaults": {},
        },
        "awaiting_reply": false,
        "asked_again": 0,
        "required_assurance": null,
        "asker_gone_time": null,
        "seen": [],
        "route": way(
            ("now", Some("2026-01-02T03:19:05.678Z"), None),
            ("to_come", Some("2026-01-02T03:19:05.678Z")),
        ),
        "people_time": "2026-01-02T03:19:05.678Z",
    })
}

/// The route, with where each hop stands: until when the first, since when the second is asked.
fn way(
    (lead, until, reason): (&str, Option<&str>, Option<&str>),
    (owner, from): (&str, Option<&str>),
) -> Value {
    json!([
        {
            "index": 0,
            "to": {"kind": "session", "agent": "lead", "session": SENDER},
            "state": lead, "from_time": "2026-01-02T03:04:05.678Z", "until_time": until,
            "timeout_seconds": 900, "reason": reason,
        },
        {
            "index": 1,
            "to": {"kind": "people", "group": null, "people": ["owner"]},
            "state": owner, "from_time": from, "until_time": null, "timeout_seconds": null,
            "reason": null,
        },
    ])
}

/// `base` with the fields of `change` in place of its own.
fn with(mut base: Value, change: Value) -> Value {
    let Value::Object(change) = change else { panic!("an object") };
    base.as_object_mut().expect("an object").extend(change);
    base
}

#[test]
fn an_open_ask_waits_on_a_session_or_on_people() {
    assert_eq!(read(&ask(&fixture::open())), open());
    let with_people = with(
        open(),
        json!({
            "revision": 2,
            "waiting_on": {"kind": "people", "group": null, "people": ["owner"]},
            "hop": {
                "index": 1, "of": 2, "cause": "refused", "reason": "not mine to decide",
                "since": "2026-01-02T03:04:06.678Z", "skipped": [],
            },
            "escalate_time": null,
            "route": way(
                ("past", Some("2026-01-02T03:04:06.678Z"), Some("not mine to decide")),
                ("now", Some("2026-01-02T03:04:06.678Z")),
            ),
            "people_time": null,
        }),
    );
    assert_eq!(read(&ask(&fixture::with_people())), with_people);
}

#[test]
fn a_claim_says_who_is_on_it_and_until_when() {
    let claim = v1::Claim {
        person: "owner".into(),
        since_time: fixture::time(0),
        lapse_time: fixture::time(900_000),
        in_agent: false,
    };
    let claimed = v1::Ask { claim: Some(claim), ..fixture::open() };
    let expected = json!({
        "person": "owner",
        "since": "2026-01-02T03:04:05.678Z",
        "lapse_time": "2026-01-02T03:19:05.678Z",
        "in_agent": false,
    });
    assert_eq!(read(&ask(&claimed)), with(open(), json!({"claim": expected})));
}

#[test]
fn a_turn_says_who_what_when_and_whether_it_is_unread() {
    let turn = json!({
        "revision": 2,
        "by": {"kind": "session", "agent": "lead", "session": SENDER},
        "text": "How many rows?",
        "time": "2026-01-02T03:04:07.678Z",
        "unread": true,
        "in_agent": false,
        "assurance": null,
    });
    let spoken = with(open(), json!({"revision": 2, "turns": [turn]}));
    assert_eq!(read(&ask(&fixture::spoken())), spoken);
}

#[test]
fn a_settled_ask_says_how_it_ended_and_whether_the_asker_knows() {
    use v1::OutcomeKind as K;
    let lead = json!({"kind": "session", "agent": "lead", "session": SENDER});
    let worker = json!({"kind": "session", "agent": "worker", "session": ASKER});
    let answers = json!({"q1": {"selected": ["SQLite"], "text": "it fits", "default": false}});
    let person = json!({"kind": "person", "person": "owner"});
    let table = [
        (K::Answered, "answered", answers, lead, json!(null)),
        (K::Declined, "declined", json!({}), person, json!("not this year")),
        (K::Expired, "expired", json!({}), json!({"kind": "timer"}), json!(null)),
        (K::Withdrawn, "withdrawn", json!({}), worker, json!(null)),
        (
            K::Abandoned,
            "abandoned",
            json!({}),
            json!({"kind": "host", "host": "local"}),
            json!(null),
        ),
    ];
    for (kind, name, answers, by, note) in table {
        let outcome = json!({
            "kind": name, "answers": answers, "by": by, "note": note,
            "time": "2026-01-02T03:04:10.678Z", "stands_from": null, "assurance": null,
            "in_agent": false,
        });
        let settled = with(
            open(),
            json!({
                "state": "settled", "revision": 3, "waiting_on": null, "escalate_time": null,
                "expire_time": null, "outcome": outcome,
                "delivery": {"state": "unread", "reason": null, "lease": null},
                "route": way(
                    ("past", Some("2026-01-02T03:04:10.678Z"), None),
                    ("never_asked", None),
                ),
                "people_time": null,
            }),
        );
        assert_eq!(read(&ask(&fixture::settled(kind))), settled);
    }
}

#[test]
fn a_delivery_says_how_far_it_is() {
    use v1::DeliveryState as D;
    let table = [
        (D::Acknowledged, "", json!({"state": "acknowledged", "reason": null, "lease": null})),
        (
            D::Undeliverable,
            "gone",
            json!({"state": "undeliverable", "reason": "gone", "lease": null}),
        ),
    ];
    for (state, reason, expected) in table {
        let mut settled = fixture::settled(v1::OutcomeKind::Answered);
        let delivery =
            v1::DeliveryStatus { state: state.into(), reason: reason.into(), lease: None };
        settled.delivery = Some(delivery);
        assert_eq!(read(&ask(&settled))["delivery"], expected);
    }
}

#[test]
fn a_default_a_seen_mark_and_a_lease_are_told() {
    let mut given = fixture::with_default();
    let expiry = given.expiry.as_mut().expect("a deadline");
    expiry.left = Some(prost_types::Duration { seconds: 60, nanos: 0 });
    expiry.waits_reason = "not shown".into();
    given.seen = vec![v1::SeenMark { person: "owner".into(), seen_time: fixture::time(0) }];
    given.delivery = Some(v1::DeliveryStatus {
        lease: Some(v1::Lease { holder: "w".into(), expire_time: fixture::time(0) }),
        ..v1::DeliveryStatus::default()
    });
    let told = read(&ask(&given));
    let time = "2026-01-02T03:04:05.678Z";
    let expected = json!({
        "length_seconds": 3_600, "applies_default": true, "left_seconds": 60,
        "waits_reason": "not shown",
        "defaults": {"q1": {"selected": ["SQLite"], "text": null, "default": false}},
    });
    assert_eq!(told["expiry"], expected);
    assert_eq!(told["seen"], json!([{"person": "owner", "time": time}]));
    assert_eq!(told["delivery"]["lease"], json!({"holder": "w", "expire_time": time}));
}

#[test]
fn a_delivery_brings_back_what_was_sent_along() {
    let mut given = v1::Delivery {
        id: "d".into(),
        revision: 3,
        follow_up: "words".into(),
        lease_token: "t".into(),
        carried: Some(v1::Carried { asker_state: b"mine".into(), ..v1::Carried::default() }),
        ..v1::Delivery::default()
    };
    let expected = json!({
        "id": "d", "kind": "outcome", "revision": 3, "turn": null, "follow_up": "words",
        "asker_state": "mine", "asker_state_hex": null, "trace_parent": null, "trace_state": null,
        "lease": {"token": "t", "expire_time": "2026-01-02T03:04:05.678Z"}, "ask": null,
    });
    assert_eq!(read(&delivery(&given, fixture::time(0))), expected);
    given.carried = Some(v1::Carried { asker_state: vec![0xff, 0], ..v1::Carried::default() });
    let told = read(&delivery(&given, None));
    assert_eq!((&told["asker_state"], &told["asker_state_hex"]), (&Value::Null, &"ff00".into()));
}

#[test]
fn fields_stand_in_the_documented_order() {
    let order = [
        "\"id\"",
        "\"state\"",
        "\"revision\"",
        "\"content_digest\"",
        "\"questions\"",
        "\"context\"",
        "\"priority\"",
        "\"asker\"",
        "\"work\"",
        "\"waiting_on\"",
        "\"hop\"",
        "\"escalate_time\"",
        "\"expire_time\"",
        "\"create_time\"",
        "\"turns\"",
        "\"outcome\"",
        "\"delivery\"",
    ];
    let line = ask(&fixture::open());
    let mut from = 0;
    for field in order {
        from += line[from..].find(field).unwrap_or_else(|| panic!("{field} after {from}"));
    }
}

#[test]
fn a_receipt_says_what_became_of_the_call() {
    let accepted = fixture::receipt(v1::Result::Accepted, "");
    let expected = json!({
        "result": "accepted", "replayed": false, "reason": null, "message": null, "asker": "live",
        "open_asks": [], "ask": open(), "differs": [],
    });
    assert_eq!(read(&receipt(&accepted)), expected);

    let mut refused = fixture::receipt(v1::Result::Refused, "NOT_SENDER");
    refused.asker = v1::AskerPresence::Parked.into();
    let change = json!({
        "result": "refused", "reason": "NOT_SENDER", "message": "words", "asker": "parked",
    });
    assert_eq!(read(&receipt(&refused)), with(expected.clone(), change));

    let mut closed = fixture::receipt(v1::Result::Closed, "");
    closed.asker = v1::AskerPresence::Gone.into();
    closed.replayed = true;
    closed.ask = None;
    let change = json!({"result": "closed", "replayed": true, "asker": "gone", "ask": null});
    assert_eq!(read(&receipt(&closed)), with(expected, change));
}

#[test]
fn an_error_says_what_to_type_next() {
    let mut given = Failure::new(Exit::Usage, "INVALID_ARGUMENT", "two fields are wrong");
    given.fields.push(("questions[0].id".into(), "must be one line".into()));
    let expected = json!({"error": {
        "reason": "INVALID_ARGUMENT",
        "message": "two fields are wrong",
        "fields": [{"field": "questions[0].id", "description": "must be one line"}],
        "next": null,
    }});
    assert_eq!(read(&failure(&given)), expected);
    let advised = Failure::usage("words").then("askway --help");
    assert_eq!(read(&failure(&advised))["error"]["next"], "askway --help");
}

#[test]
fn an_event_says_what_happened_and_where_the_ask_then_was() {
    let happened = v1::Event {
        revision: 2,
        event_time: fixture::time(1_000),
        kind: v1::EventKind::Escalated.into(),
        by: fixture::by_sender(),
        text: "not mine to decide".into(),
        ask: Some(fixture::with_people()),
        in_agent: true,
    };
    let value = read(&event(ID, &happened));
    assert_eq!(value["ask"], ID);
    assert_eq!(value["kind"], "escalated");
    assert_eq!(value["by"]["agent"], "lead");
    assert_eq!(value["text"], "not mine to decide");
    assert_eq!(value["waiting_on"]["people"], json!(["owner"]));
    assert_eq!(value["hop"]["index"], 1);
    assert_eq!(value["outcome"], Value::Null);
    assert_eq!(value["in_agent"], true);
}

#[test]
fn rule_21_hidden_characters_are_escaped_and_mean_the_same() {
    let text = "a\u{1b}[2J\u{7f}\u{202e}\u{e0041}\u{2028}\n\t\"\\ é 日本 👩‍👩‍👧";
    let mut hostile = fixture::open();
    hostile.context = text.into();
    let line = ask(&hostile);
    assert!(crate::ask::text::is_one_safe_line(&line), "{line}");
    assert!(line.contains(r"\u001b[2J\u007f\u202e\udb40\udc41\u2028\n\t"), "{line}");
    assert!(line.contains("é 日本 👩‍👩‍👧"), "{line}");
    assert_eq!(read(&line)["context"], text);
}
