//! What a store keeps: any bytes are an error in words or a value, and a value is the same again.
//! Each line is one event; those that are read together make an ask, or do not.

use askway::ask::{Actor, Ask, AskId, Event, EventKind, Now, StandingNo, Timestamp, Twin};
use askway::grpc::convert;
use askway::session::{Session, Ticket, Token, Work};
use askway::store::record::{decode, encode, fold_history};
use askway::store::{ClockMark, StoredReceipt};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Debug;

pub fn run(bytes: &[u8]) -> bool {
    // As they are: the check before a record keeps nearly all out.
    let _ = decode::<Event>("an event", bytes);
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    let lines: Vec<serde_json::Value> =
        text.lines().map_while(|line| serde_json::from_str(line).ok()).collect();
    let events: Vec<Event> = lines.iter().map_while(same).collect();
    let others = lines.iter().any(|line| {
        let read = [
            same::<Session>(line).is_some(),
            same::<Work>(line).is_some(),
            same::<Ticket>(line).is_some(),
            same::<Token>(line).is_some(),
            same::<StoredReceipt>(line).is_some(),
            same::<Twin>(line).is_some(),
            same::<StandingNo>(line).is_some(),
            same::<ClockMark>(line).is_some(),
        ];
        read.contains(&true)
    });
    let id = events.first().and_then(|event| match &event.kind {
        EventKind::Filed(filed) => Some(filed.id),
        _ => None,
    });
    let other = AskId::from_bytes([9; 12]);
    assert!(id == Some(other) || events.is_empty() || fold_history(other, &events).is_err());
    if let Some(id) = id
        && let Ok(Some(ask)) = fold_history(id, &events)
    {
        assert_eq!(ask.revision, events.len() as u64);
        look(&ask, &events);
    }
    others || !events.is_empty()
}

/// A value, where these bytes are one: then it is written and read as the same.
fn same<T>(line: &serde_json::Value) -> Option<T>
where
    T: Serialize + DeserializeOwned + PartialEq + Debug,
{
    let bytes = encode(line).expect("JSON can be written");
    let value: T = decode("a record", &bytes).ok()?;
    let again = encode(&value).expect("a record can be written");
    assert_eq!(decode::<T>("a record", &again).as_ref(), Ok(&value));
    Some(value)
}

/// Whatever is asked of an ask that was loaded has an answer.
fn look(ask: &Ask, events: &[Event]) {
    let _ = (ask.waiting_on(), ask.deadline(), ask.shown_since(), ask.is_listed());
    let _ = (ask.is_same_once_more(), ask.awaits_reply(), ask.orphan_of());
    let _ = ask.is_past_retention(Now::at(Timestamp::from_millis(u64::MAX)));
    let _ = (ask.is_visible_to(&ask.asker), ask.is_delivered_to(&Actor::Timer));
    let _ = convert::ask(ask);
    for event in events {
        let _ = convert::event(event, ask);
    }
}
