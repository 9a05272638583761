//! What callers hand back: page tokens, revisions to resume at, ids of deliveries, names. Each is read
//! as exactly one thing, and spelled back as it came.

use askway::ask::{
    AgentName, AskId, ContentDigest, LeaseId, Namespace, PersonName, RequestId, SessionId, Span,
    Timestamp, WorkId, limits,
};
use askway::grpc::fuzzed::{Read, read};
use askway::grpc::{convert, v1};
use askway::session::Secret;
use prost::Message;
use std::fmt::Display;
use std::str::FromStr;

pub fn run(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    let ids = [
        same::<AskId>(text),
        same::<SessionId>(text),
        same::<WorkId>(text),
        same::<LeaseId>(text),
        same::<ContentDigest>(text),
    ];
    assert!(ids.iter().filter(|read| **read).count() <= 1, "{text} is two things");
    let names = [same::<AgentName>(text), same::<PersonName>(text), same::<Namespace>(text)];
    assert!(names == [names[0]; 3] && (!names[0] || text.len() <= limits::NAME_BYTES));
    let request = request_id(text);
    if let Some(secret) = Secret::read(text) {
        assert!(text.starts_with(secret.kind().prefix()) && !format!("{secret:?}").contains(text));
    }
    let page = page_token(text);
    assert_eq!(page, text.is_empty() || ids[0], "a page goes on after an ask, or begins");
    ids.contains(&true) || names[0] || request || delivery(text)
}

/// Whether it is one of these; then it is spelled as it came.
fn same<T: FromStr + Display>(text: &str) -> bool {
    text.parse::<T>().is_ok_and(|read| {
        assert_eq!(read.to_string(), text);
        true
    })
}

fn request_id(text: &str) -> bool {
    let Ok(id) = text.parse::<RequestId>() else { return false };
    let now = Timestamp::from_millis(1_796_000_000_000);
    assert!(id.remembered_until(now) >= now + limits::RECEIPT_KEEP);
    // What is refused as too old is not remembered either, so it is never decided twice.
    let later = now + limits::KEEP_MAX + limits::RECEIPT_KEEP + Span::from_millis(1);
    if id.made_at().is_some_and(|made| made <= now) {
        assert!(id.is_too_old(later));
    }
    same::<RequestId>(text)
}

fn page_token(text: &str) -> bool {
    let request = v1::ListAsksRequest { page_token: text.into(), ..Default::default() };
    let Some(listed) = read(7, &request.encode_to_vec()) else { panic!("it was just written") };
    match listed {
        Ok(Read::List(_, after, _)) => {
            assert_eq!(after.map(|id| id.to_string()).unwrap_or_default(), text);
            true
        }
        Ok(other) => panic!("{other:?} is no list"),
        Err(_) => false,
    }
}

fn delivery(text: &str) -> bool {
    let delivery_id = text.to_owned();
    let request = v1::AcknowledgeDeliveryRequest { delivery_id, ..Default::default() };
    match read(5, &request.encode_to_vec()) {
        Some(Ok(Read::Acknowledge(ask, revision, None))) => {
            let spelled = convert::delivery_id(&ask.to_string(), revision);
            assert_eq!(read_delivery(&spelled), Some((ask, revision)), "{text}");
            true
        }
        _ => false,
    }
}

fn read_delivery(text: &str) -> Option<(AskId, u64)> {
    let delivery_id = text.to_owned();
    let request = v1::AcknowledgeDeliveryRequest { delivery_id, ..Default::default() };
    match read(5, &request.encode_to_vec())? {
        Ok(Read::Acknowledge(ask, revision, _)) => Some((ask, revision)),
        _ => None,
    }
}
