//! The JSON that programs read: one object a line, the fields of the documented shapes in their
//! order. Fields may be added; none is ever changed. Absent is null; a text that may be empty is "".

mod deliveries;
mod fault;
mod people;
mod sessions;
mod shapes;
mod way;

use super::words;
use crate::ask::text::is_hidden;
use crate::cli::Failure;
use crate::client::Address;
use crate::grpc::v1;
use deliveries::Delivered;
use fault::{Failed, Fault, Field};
use people::{Made, Namespace, Person, Token};
use serde::Serialize;
use sessions::{Sent, Session, SessionReceipt, Status};
pub use shapes::time;
use shapes::{Ask, By, Event, Followed, Hop, Outcome, Receipt, WaitingOn, text};
use std::fmt::Write;
use std::path::Path;

/// One line for an ask.
pub fn ask(ask: &v1::Ask) -> String {
    line(&Ask::of(ask))
}

/// The same, with the times of its way from its history.
pub fn whole(ask: &v1::Ask, events: &[v1::Event]) -> String {
    line(&Ask::with(ask, events))
}

/// One line for a receipt.
pub fn receipt(receipt: &v1::Receipt) -> String {
    line(&Receipt {
        result: words::result(receipt.result()),
        replayed: receipt.replayed,
        reason: text(&receipt.reason),
        message: text(&receipt.message),
        asker: words::presence(receipt.asker()),
        open_asks: &receipt.open_ask_ids,
        ask: receipt.ask.as_ref().map(Ask::of),
        differs: &receipt.differs,
    })
}

/// One line for an ask that came, changed or left while it was watched, at `now` in milliseconds.
pub fn followed(what: &'static str, now: i64, ask: &v1::Ask) -> String {
    line(&Followed { what, time: time(Some(instant(now))), ask: Some(Ask::of(ask)) })
}

/// The same about no ask: that the daemon is away, or back.
pub fn followed_nothing(what: &'static str, now: i64) -> String {
    line(&Followed { what, time: time(Some(instant(now))), ask: None })
}

fn instant(now: i64) -> prost_types::Timestamp {
    prost_types::Timestamp {
        seconds: now.div_euclid(1_000),
        nanos: now.rem_euclid(1_000) as i32 * 1_000_000,
    }
}

/// One line for an event of the ask `ask`.
pub fn event(ask: &str, event: &v1::Event) -> String {
    let after = event.ask.as_ref();
    line(&Event {
        ask,
        revision: event.revision,
        time: time(event.event_time),
        kind: words::event(event.kind()),
        by: event.by.as_ref().and_then(By::of),
        text: text(&event.text),
        waiting_on: after.and_then(|ask| ask.waiting_on.as_ref()).and_then(WaitingOn::of),
        hop: after.and_then(|ask| ask.hop.as_ref()).map(Hop::of),
        outcome: after.and_then(|ask| ask.outcome.as_ref()).map(Outcome::of),
        content_digest: after.and_then(|ask| text(&ask.content_digest)),
        in_agent: event.in_agent,
    })
}

/// One line for a delivery; with the end of its lease, where a worker took it.
pub fn delivery(delivery: &v1::Delivery, until: Option<prost_types::Timestamp>) -> String {
    line(&Delivered::of(delivery, until))
}

/// One line for a session.
pub fn session(session: &v1::Session) -> String {
    line(&Session::of(session))
}

/// One line for a receipt about a session.
pub fn session_receipt(receipt: &v1::SessionReceipt, session: Option<&v1::Session>) -> String {
    line(&SessionReceipt {
        result: words::result(receipt.result()),
        replayed: receipt.replayed,
        reason: text(&receipt.reason),
        session: session.map(Session::of),
    })
}

/// One line for a person.
pub fn person(person: &v1::Person) -> String {
    line(&Person::of(person))
}

/// One line for a namespace.
pub(in crate::cli) fn namespace(one: &crate::cli::namespace::Namespace) -> String {
    line(&Namespace { name: &one.name, people: one.people, tokens: one.tokens })
}

/// One line for a token, without what it is.
pub fn token(token: &v1::Token) -> String {
    line(&Token::of(token))
}

/// One line for a token that was made; with what it is, where that is `shown` here and now.
pub fn made(made: &v1::CreateTokenResponse, shown: bool) -> String {
    let receipt = made.receipt.clone().unwrap_or_default();
    line(&Made {
        result: words::result(receipt.result()),
        replayed: receipt.replayed,
        reason: text(&receipt.reason),
        token: made.token.as_ref().map(Token::of),
        secret: text(&made.secret).filter(|_| shown),
    })
}

/// One line for a ticket that was made.
pub fn sent(sent: &v1::SendWorkResponse) -> String {
    let receipt = sent.receipt.clone().unwrap_or_default();
    line(&Sent {
        result: words::result(receipt.result()),
        replayed: receipt.replayed,
        reason: text(&receipt.reason),
        work: text(&sent.work_id),
        ticket: text(&sent.ticket),
        expire_time: time(sent.expire_time),
    })
}

/// One line for how the daemon of `data` at `address` does.
pub fn status(status: &v1::GetStatusResponse, address: &Address, data: &Path) -> String {
    line(&Status {
        version: &status.version,
        caller: &status.caller,
        address: address.to_string(),
        data: data.display().to_string(),
        start_time: time(status.start_time),
        service_time: time(status.service_time),
        waiting_on_people: status.waiting_on_people,
        waiting_on_sessions: status.waiting_on_sessions,
        oldest_open_time: time(status.oldest_open_time),
        untold: status.untold,
        notice_failure_time: time(status.notice_failure_time),
        notice_failure: text(&status.notice_failure),
        listening: &status.listen_addresses,
        namespaces: &status.namespaces,
    })
}

/// One line for why a verb failed.
pub fn failure(failure: &Failure) -> String {
    let fields = failure.fields.iter();
    let fields = fields.map(|(field, description)| Field { field, description }).collect();
    line(&Failed {
        error: Fault {
            reason: &failure.reason,
            message: &failure.message,
            fields,
            next: failure.next.as_deref(),
        },
    })
}

/// `value` as one line that a terminal can show: every hidden character is escaped (rule 21).
pub fn line(value: &impl Serialize) -> String {
    let plain = serde_json::to_string(value).expect("every key here is a string");
    if !plain.chars().any(is_hidden) {
        return plain;
    }
    let mut safe = String::with_capacity(plain.len() + 16);
    let mut units = [0; 2];
    for c in plain.chars() {
        if is_hidden(c) {
            // Hidden characters stand in JSON strings only, where an escape means the same.
            for unit in c.encode_utf16(&mut units) {
                let _ = write!(safe, "\\u{unit:04x}"); // writing to a string does not fail
            }
        } else {
            safe.push(c);
        }
    }
    safe
}

#[cfg(test)]
mod tests;
