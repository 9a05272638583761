//! Records to bytes and back, the same for every store that keeps bytes; and histories back to asks.
//!
//! A record's bytes are its schema number, a check over what follows, and JSON: plain in schema 1,
//! [packed] in schema 2, whichever is shorter. They are read forward: a later askway reads what
//! an earlier one wrote, and an earlier one says so when it cannot. Nothing here knows where bytes are
//! kept; that is [`redb`](super::redb)'s to say.

use super::{Fault, packed};
use crate::ask::{Ask, AskId, Event, EventKind, fold};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::borrow::Cow;

/// The number of a record in plain JSON, as exports have it too.
pub const PLAIN: u8 = 1;

/// The number of a packed one, and the newest there is. A change that this program could not read
/// forward takes the next one.
pub const PACKED: u8 = 2;

/// Bytes before the JSON: the schema number and the check.
const HEAD: usize = 1 + size_of::<u64>();

/// The bytes of a record.
///
/// # Errors
///
/// When it cannot be spelled in JSON, which no record of the domain's is.
pub fn encode<T: Serialize>(record: &T) -> Result<Vec<u8>, Fault> {
    let json = serde_json::to_vec(record).map_err(|why| {
        Fault::Unreadable(format!("a record could not be written ({why}); report this"))
    })?;
    Ok(match packed::pack(&json) {
        Some(packed) => headed(PACKED, &packed),
        None => headed(PLAIN, &json),
    })
}

/// The record of these bytes. `what` names it in an error: `an event of ask_…`.
///
/// # Errors
///
/// [`Fault::Unreadable`] when a newer askway wrote it, and when the bytes are damaged.
pub fn decode<T: DeserializeOwned>(what: &str, bytes: &[u8]) -> Result<T, Fault> {
    let schema = match bytes.first() {
        Some(&schema @ (PLAIN | PACKED)) => schema,
        Some(0) | None => return Err(damaged(what, "it has no schema number")),
        Some(newer) => {
            return Err(Fault::Unreadable(format!(
                "{what} was written by a newer askway (schema {newer}, this one reads up to \
                 {PACKED}); start that version again"
            )));
        }
    };
    let body = match bytes.split_at_checked(HEAD) {
        Some((head, body)) if head[1..] == check(schema, body) => body,
        _ => return Err(damaged(what, "its check does not match")),
    };
    let json = match schema {
        PLAIN => Cow::Borrowed(body),
        _ => Cow::Owned(packed::unpack(body).map_err(|why| damaged(what, why))?),
    };
    serde_json::from_slice(&json).map_err(|why| damaged(what, why))
}

fn headed(schema: u8, body: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEAD + body.len());
    bytes.push(schema);
    bytes.extend(check(schema, body));
    bytes.extend(body);
    bytes
}

/// The ask a stored history makes; none for an empty one.
///
/// # Errors
///
/// [`Fault::Unreadable`] when this is not a whole history of that ask's.
pub fn fold_history(id: AskId, events: &[Event]) -> Result<Option<Ask>, Fault> {
    let Some(first) = events.first() else { return Ok(None) };
    let broken = |why: &str| damaged(&format!("the history of {id}"), why);
    let EventKind::Filed(filed) = &first.kind else {
        return Err(broken("it does not begin with its filing"));
    };
    if filed.id != id {
        return Err(broken("it is another ask's"));
    }
    for (before, event) in events.iter().enumerate() {
        let hop = match &event.kind {
            EventKind::Filed(_) if before > 0 => return Err(broken("it is filed twice")),
            EventKind::Filed(filed) => filed.first.hop,
            EventKind::Escalated(moved) => moved.hop,
            _ => 0,
        };
        if event.revision != before as u64 + 1 {
            return Err(broken("an event is missing"));
        }
        if hop >= filed.route.hops.len() {
            return Err(broken("a hop is not of its route"));
        }
    }
    Ok(fold(events))
}

/// What damage is called.
pub(super) fn damaged(what: &str, why: impl std::fmt::Display) -> Fault {
    Fault::Unreadable(format!("{what} is damaged ({why})"))
}

/// Any one changed byte is seen, and nearly all else. It guards against decay, not against people. From
/// schema 2 on the number itself is checked too: one bit of it makes another.
fn check(schema: u8, bytes: &[u8]) -> [u8; 8] {
    let number = (schema != PLAIN).then_some(schema);
    fnv(number.into_iter().chain(bytes.iter().copied())).to_be_bytes()
}

/// FNV-1a over 64 bits: the same number for the same bytes, in every process.
pub(crate) fn fnv(bytes: impl IntoIterator<Item = u8>) -> u64 {
    let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.into_iter().fold(0xcbf2_9ce4_8422_2325, mix)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::Timestamp;
    use crate::store::ClockMark;
    use proptest::prelude::*;

    fn mark() -> ClockMark {
        let service = Timestamp::from_millis(7);
        ClockMark {
            service,
            boot: "a boot".into(),
            since_boot: 3,
            awake_since: Timestamp::default(),
        }
    }

    #[test]
    fn a_record_reads_back() {
        let bytes = encode(&mark()).unwrap();
        assert_eq!(bytes[0], PACKED);
        assert_eq!(decode::<ClockMark>("the mark", &bytes), Ok(mark()));
    }

    #[test]
    fn a_record_of_before_reads_as_ever() {
        let bytes = headed(PLAIN, &serde_json::to_vec(&mark()).unwrap());
        assert_eq!(decode::<ClockMark>("the mark", &bytes), Ok(mark()));
    }

    #[test]
    fn what_packing_makes_longer_is_kept_plain() {
        let bytes = encode(&7).unwrap();
        assert_eq!(bytes[0], PLAIN);
        assert_eq!(decode::<u8>("a number", &bytes), Ok(7));
    }

    #[test]
    fn a_newer_record_is_refused_with_a_sentence() {
        let mut bytes = encode(&mark()).unwrap();
        bytes[0] = PACKED + 1;
        let Err(Fault::Unreadable(why)) = decode::<ClockMark>("the mark", &bytes) else {
            panic!("it was read");
        };
        assert!(why.starts_with("the mark was written by a newer askway"), "{why}");
    }

    proptest! {
        #[test]
        fn damage_is_seen_whatever_it_is(place in 0usize..400, bit in 0u8..8, cut in any::<bool>()) {
            let mut bytes = encode(&mark()).unwrap();
            let place = place % bytes.len();
            if cut { bytes.truncate(place) } else { bytes[place] ^= 1 << bit }
            prop_assert!(matches!(
                decode::<ClockMark>("the mark", &bytes),
                Err(Fault::Unreadable(_))
            ));
        }

        #[test]
        fn any_bytes_are_refused_in_words(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
            prop_assert!(decode::<ClockMark>("the mark", &bytes).is_err());
        }
    }
}
