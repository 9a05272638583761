//! Seeds that nobody would write by hand: requests as protobuf, histories as their records.

use askway::ask::{Event, Timestamp};
use askway::grpc::v1;
use askway::store::suite::{World, mark, receipt, session, standing_no, ticket, token, twin, work};
use prost::Message;
use serde::Serialize;
use std::collections::HashMap;

type Seed = (&'static str, &'static str, Vec<u8>);

/// Each with its target and its name.
pub fn all() -> Vec<Seed> {
    let mut seeds = decisions();
    seeds.extend(records());
    seeds.extend(damages());
    seeds
}

/// One request with who sends it, as the target reads it.
fn sent(who: u8, kind: u8, request: &impl Message) -> Vec<u8> {
    let bytes = request.encode_to_vec();
    let [low, high] = u16::try_from(bytes.len()).expect("it is a small one").to_le_bytes();
    [vec![who, kind, low, high], bytes].concat()
}

fn draft() -> v1::AskRequest {
    let option = |label: &str, recommended| v1::Option {
        label: label.into(),
        description: String::new(),
        recommended,
    };
    v1::AskRequest {
        questions: vec![v1::Question {
            id: "store".into(),
            question: "Which store?".into(),
            options: vec![option("SQLite", true), option("Postgres", false)],
            ..Default::default()
        }],
        context: "a cache of 2 GB".into(),
        expire: Some(prost_types::Duration { seconds: 600, nanos: 0 }),
        on_expire: v1::ExpiryAction::Default.into(),
        ..Default::default()
    }
}

fn decisions() -> Vec<Seed> {
    let asked = || sent(0, 0, &draft());
    let digest = digest(&draft());
    let answer = v1::Answer { selected: vec!["SQLite".into()], text: None, default: false };
    let answered = v1::AnswerRequest {
        content_digest: digest.clone(),
        answers: HashMap::from([("store".to_owned(), answer)]),
        ..Default::default()
    };
    let declined = v1::DeclineRequest {
        content_digest: digest,
        note: Some("not now".into()),
        ..Default::default()
    };
    let seen = v1::DeclineRequest { note: None, ..declined.clone() };
    let option = |label: &str| v1::Option { label: label.into(), ..Default::default() };
    let replied = v1::ReplyRequest {
        text: "2 GB".into(),
        replaced: vec![v1::ReplacedOptions {
            question_id: "store".into(),
            options: vec![v1::Option { recommended: true, ..option("Redis") }, option("SQLite")],
        }],
        ..Default::default()
    };
    let said = v1::ReplyRequest { replaced: vec![], ..replied.clone() };
    let claimed = v1::ClaimRequest { take_over: true, ..Default::default() };
    let moved = v1::ListAsksRequest { page_size: 3, ..Default::default() };
    let delivery_id = "dlv_00000000000000000000_2".into();
    let has = v1::AcknowledgeDeliveryRequest { delivery_id, ..Default::default() };
    vec![
        ("decide", "asked", asked()),
        ("decide", "answered_by_agent", [asked(), sent(1, 1, &answered)].concat()),
        ("decide", "answered_late", [asked(), sent(255, 1, &answered)].concat()),
        ("decide", "declined", [asked(), sent(2, 2, &declined)].concat()),
        (
            "decide",
            "default",
            [asked(), sent(1, 7, &moved), sent(10, 2, &seen), sent(250, 8, &said)].concat(),
        ),
        (
            "decide",
            "talked",
            [asked(), sent(2, 3, &said), sent(0, 5, &has), sent(4, 3, &replied)].concat(),
        ),
        ("decide", "claimed", [asked(), sent(2, 4, &claimed), sent(26, 6, &said)].concat()),
    ]
}

/// What the daemon would say the digest is.
fn digest(request: &v1::AskRequest) -> String {
    match askway::grpc::fuzzed::read(0, &request.encode_to_vec()) {
        Some(Ok(askway::grpc::fuzzed::Read::Ask(draft, _))) => draft.content.digest().to_string(),
        other => panic!("{other:?} is no draft"),
    }
}

fn line(record: &impl Serialize) -> String {
    serde_json::to_string(record).expect("a record can be written") + "\n"
}

fn records() -> Vec<Seed> {
    let mut world = World::new(3);
    (0..60).for_each(|_| drop(world.step()));
    let mut histories: Vec<&Vec<Event>> = world.asks.values().map(|(_, events)| events).collect();
    histories.sort_by_key(|events| std::cmp::Reverse(events.len()));
    let names = ["history_1", "history_2", "history_3", "history_4"];
    let told = histories.into_iter().map(|events| events.iter().map(line).collect::<String>());
    let mut seeds: Vec<Seed> =
        names.into_iter().zip(told).map(|(name, text)| ("records", name, text.into())).collect();
    let others = [
        ("session", line(&session(1))),
        ("work", line(&work(1))),
        ("ticket", line(&ticket(1))),
        ("token", line(&token(1))),
        ("receipt", line(&receipt(1, "a caller"))),
        ("twin", line(&twin(1))),
        ("no", line(&standing_no(1))),
        ("mark", line(&mark(Timestamp::from_millis(7).as_millis()))),
    ];
    seeds.extend(others.map(|(name, text)| ("records", name, text.into_bytes())));
    seeds
}

fn damages() -> Vec<Seed> {
    vec![
        ("store", "a_bit", vec![0, 16, 1, 0, 4]),
        ("store", "a_header", vec![0, 0, 9, 0x80, 255]),
        ("store", "cut", vec![0, 80, 0, 3, 0]),
        ("store", "zeros", vec![0, 32, 0, 4, 255]),
        ("store", "longer", vec![0, 1, 0, 7, 3]),
        ("store", "two", vec![0, 16, 40, 2, 7, 1, 0, 3, 5, 9]),
    ]
}
