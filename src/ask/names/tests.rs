//! How names are spelled, and which are none.

use super::*;

#[test]
fn an_id_is_spelled_one_way_and_reads_back() {
    let id = AskId::new(Timestamp::from_millis(1_796_000_000_123), [1, 2, 3, 250, 251, 252]);
    let text = id.to_string();
    assert_eq!(text.len(), 24);
    assert_eq!(text.parse::<AskId>().unwrap(), id);
    assert_eq!(id.time().as_millis(), 1_796_000_000_123);
    assert!(text.to_uppercase().parse::<AskId>().is_err());
    assert!(text.parse::<SessionId>().is_err());
    assert!(text[..23].parse::<AskId>().is_err());
    let mut unused_bits = text.clone();
    unused_bits.replace_range(23.., "1");
    assert!(unused_bits.parse::<AskId>().is_err());
}

#[test]
fn ids_of_one_moment_differ_in_their_first_characters() {
    let time = Timestamp::from_millis(1_796_000_000_123);
    let one = AskId::new(time, [1; 6]).to_string();
    let two = AskId::new(time, [200; 6]).to_string();
    assert_ne!(one[..8], two[..8]);
    assert_eq!(one[14..], two[14..]);
}

#[test]
fn names_are_refused_with_what_would_be_right() {
    assert!("lead".parse::<AgentName>().is_ok());
    for bad in ["", "-x", "a b", "a\n", "é", &"a".repeat(65)] {
        assert!(bad.parse::<AgentName>().is_err(), "{bad:?}");
    }
    assert!("any text, even ü".parse::<RequestId>().is_ok());
    assert!("two\nlines".parse::<RequestId>().is_err());
    assert!("x".repeat(129).parse::<RequestId>().is_err());
}
