//! Records as bytes, for every store that keeps bytes: one byte for the schema, then JSON. Read
//! forward: an older schema is understood, a newer one is refused with a sentence.

use super::Fault;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The schema this program writes. One more whenever an older program could misread a record.
pub const SCHEMA: u8 = 1;

/// The bytes of a record.
pub fn encode(record: &impl Serialize) -> Vec<u8> {
    let mut bytes = vec![SCHEMA];
    serde_json::to_writer(&mut bytes, record).expect("domain values have a JSON form");
    bytes
}

/// The record of these bytes.
///
/// # Errors
///
/// Unreadable, where a newer program wrote them, or nobody did.
pub fn decode<T: DeserializeOwned>(what: &str, bytes: &[u8]) -> Result<T, Fault> {
    match bytes.split_first() {
        Some((&SCHEMA, json)) => serde_json::from_slice(json)
            .map_err(|error| Fault::Unreadable(format!("{what} is damaged: {error}"))),
        Some((newer, _)) if *newer > SCHEMA => Err(Fault::Unreadable(format!(
            "{what} was written by a newer askway (schema {newer}, this one reads up to {SCHEMA}); \
             start that one"
        ))),
        _ => Err(Fault::Unreadable(format!("{what} is damaged: it has no schema"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_newer_record_is_refused_with_a_sentence_and_a_damaged_one_by_name() {
        let bytes = encode(&"text");
        assert_eq!(decode::<String>("a text", &bytes).unwrap(), "text");
        let newer = [&[SCHEMA + 1], &bytes[1..]].concat();
        let said = decode::<String>("a text", &newer).unwrap_err().to_string();
        assert!(said.contains("newer askway"), "{said}");
        for damaged in [&bytes[..3], &[], &[0, 1]] {
            let said = decode::<String>("a text", damaged).unwrap_err().to_string();
            assert!(said.contains("a text is damaged"), "{said}");
        }
    }
}
