//! The documented shape of a delivery. The ask's: [`super::shapes`].

use super::shapes::{Ask, Turn, text, time};
use crate::grpc::v1;
use data_encoding::HEXLOWER;
use serde::Serialize;

/// An outcome or a turn on its way to the asker. A text that is none is told in hex.
#[derive(Serialize)]
pub struct Delivered<'a> {
    pub id: &'a str,
    pub kind: &'static str,
    pub revision: u64,
    pub turn: Option<Turn<'a>>,
    pub follow_up: Option<&'a str>,
    pub asker_state: Option<&'a str>,
    pub asker_state_hex: Option<String>,
    pub trace_parent: Option<&'a str>,
    pub trace_state: Option<&'a str>,
    pub lease: Option<Taken<'a>>,
    pub ask: Option<Ask<'a>>,
}

#[derive(Serialize)]
pub struct Taken<'a> {
    pub token: &'a str,
    pub expire_time: Option<String>,
}

impl<'a> Delivered<'a> {
    pub fn of(delivery: &'a v1::Delivery, until: Option<prost_types::Timestamp>) -> Self {
        let carried = delivery.carried.as_ref();
        let state = carried.map(|carried| carried.asker_state.as_slice()).unwrap_or_default();
        let as_text = std::str::from_utf8(state);
        let token = text(&delivery.lease_token);
        Self {
            id: &delivery.id,
            kind: if delivery.turn.is_some() { "turn" } else { "outcome" },
            revision: delivery.revision,
            turn: delivery.turn.as_ref().map(Turn::of),
            follow_up: text(&delivery.follow_up),
            asker_state: as_text.ok().and_then(text),
            asker_state_hex: as_text.is_err().then(|| HEXLOWER.encode(state)),
            trace_parent: carried.and_then(|carried| text(&carried.trace_parent)),
            trace_state: carried.and_then(|carried| text(&carried.trace_state)),
            lease: token.map(|token| Taken { token, expire_time: time(until) }),
            ask: delivery.ask.as_ref().map(Ask::of),
        }
    }
}
