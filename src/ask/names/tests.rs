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

#[test]
fn an_id_is_kept_with_its_time_first() {
    let id = AskId::new(Timestamp::from_millis(0x0102_0304_0506), [7, 8, 9, 10, 11, 12]);
    assert_eq!(id.to_bytes(), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
    assert_eq!(AskId::from_bytes(id.to_bytes()), id);
}

#[test]
fn a_name_is_as_long_as_it_may_be_and_who_sends_another_is_told_how() {
    assert!("a".repeat(limits::NAME_BYTES).parse::<AgentName>().is_ok());
    assert!("x".repeat(128).parse::<RequestId>().is_ok());
    let why = "a b".parse::<AgentName>().unwrap_err().to_string();
    assert!(why.contains("letters, digits"), "{why}");
}

#[test]
fn whoever_did_something_is_called_by_name_and_the_timer_by_what_it_is() {
    let session = SessionRef {
        agent: "lead".parse().unwrap(),
        session: SessionId::new(Timestamp::from_millis(1), [1; 6]),
    };
    assert_eq!(Actor::Session(session.clone()).to_string(), session.to_string());
    assert_eq!(Actor::Person(PersonName::owner()).to_string(), "owner");
    assert_eq!(Actor::Host("local".parse().unwrap()).to_string(), "local");
    assert_eq!(Actor::Timer.to_string(), "the timer");
}

#[test]
fn a_request_id_that_is_a_uuid_of_version_7_says_when_it_was_made_and_no_other_does() {
    let made = |text: &str| text.parse::<RequestId>().unwrap().made_at().map(Timestamp::as_millis);
    assert_eq!(made("01234567-89ab-7cde-8f01-23456789abcd"), Some(0x0123_4567_89ab));
    for other in [
        "mine",
        "01234567-89ab-4cde-8f01-23456789abcd",
        "01234567-89ab-7cde-8f01-23456789abcde",
        "01234567-89ab-7cde-8f01-23456789abc",
        "01234567-89ab-7zde-8f01-23456789abcd",
        "0123456-789ab-7cde-8f01-23456789abcd",
        "01234567889ab-7cde-8f01-23456789abcd",
    ] {
        assert_eq!(made(other), None, "{other}");
    }
}

#[test]
fn rule_07_what_became_of_a_request_is_known_until_its_id_is_too_old() {
    let made = 0x0123_4567_89ab_u64;
    let id: RequestId = "01234567-89ab-7cde-8f01-23456789abcd".parse().unwrap();
    let too_old = Timestamp::from_millis(made) + limits::RECEIPT_KEEP;
    let before = Timestamp::from_millis(too_old.as_millis() - 1);
    assert!(id.is_too_old(too_old) && !id.is_too_old(before));
    // Committed by a clock that is behind its maker's, or long after it was made.
    assert_eq!(id.remembered_until(Timestamp::from_millis(made - 5)), too_old);
    let late = Timestamp::from_millis(made + 5);
    assert_eq!(id.remembered_until(late), late + limits::RECEIPT_KEEP);
    // A maker whose clock is years ahead is believed within reason.
    let early = Timestamp::from_millis(1_000);
    let most = early + limits::KEEP_MAX + limits::RECEIPT_KEEP;
    assert_eq!(id.remembered_until(early), most);
    let other: RequestId = "mine".parse().unwrap();
    assert!(!other.is_too_old(Timestamp::from_millis(u64::MAX)));
    assert_eq!(other.remembered_until(late), late + limits::RECEIPT_KEEP);
}
