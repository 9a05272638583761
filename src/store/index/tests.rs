//! The index by itself: it holds what it was told, and nothing of what has left.

use super::*;
use crate::ask::{SessionId, Timestamp};

fn id(number: u64) -> AskId {
    let random = number.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes();
    AskId::new(Timestamp::from_millis(number), random[..6].try_into().unwrap())
}

fn row(number: u64) -> Row {
    let session = SessionId::new(Timestamp::from_millis(1), [0; 6]);
    let asker = SessionRef { agent: "worker".parse().unwrap(), session };
    Row {
        id: id(number),
        revision: 1,
        namespace: Namespace::default(),
        open: true,
        waits_on: WaitsOn::People(vec![PersonName::owner(), PersonName::owner()]),
        known_to: vec![asker.clone()],
        orphan_of: None,
        host: "local".parse().unwrap(),
        tree: WorkId::new(Timestamp::from_millis(1), [0; 6]),
        asker,
        deadline: Some(Timestamp::from_millis(1_000_000 - number)),
        notice: Some(Timestamp::from_millis(number)),
        untold: true,
    }
}

#[test]
fn an_emptied_index_holds_nothing() {
    let mut index = Index::default();
    for number in 0..100 {
        index.put(&row(number));
    }
    let open = Scope::Open(Namespace::default());
    assert_eq!(index.list(&open, None, 0).total, 100);
    for number in 0..100 {
        index.put(&Row { deadline: None, notice: None, open: false, ..row(number) });
    }
    assert_eq!(index.list(&open, None, 9), Listing::default());
    assert_eq!(index.deadlines(LAST.time(), 9), []);
    assert_eq!(index.notices(LAST.time(), 9), []);
    for number in 0..100 {
        index.remove(id(number));
    }
    assert!(index.asks.is_empty() && index.members.is_empty() && index.numbers.is_empty());
    assert!(index.scopes.iter().all(Option::is_none) && index.spelled.is_empty());
    assert_eq!(index.free.len(), index.scopes.len());
}

#[test]
fn a_person_named_twice_is_asked_once() {
    let mut index = Index::default();
    index.put(&row(1));
    let scope = Scope::WaitingOnPerson(Namespace::default(), PersonName::owner());
    assert_eq!(index.list(&scope, None, 9), Listing { asks: vec![(id(1), 1)], total: 1 });
}

#[test]
fn every_prefix_of_a_spelled_id_finds_it_and_only_what_begins_so() {
    let mut index = Index::default();
    let all: Vec<_> = (0..200).map(id).collect();
    (0..200).for_each(|number| index.put(&row(number)));
    for wanted in &all {
        let text = wanted.to_string();
        for length in 0..=text.len() {
            let mut found = index.resolve(&text[..length], usize::MAX);
            found.sort_unstable();
            let begins = |id: &&AskId| id.to_string().starts_with(&text[..length]);
            let expected: Vec<_> = all.iter().filter(begins).copied().collect();
            assert_eq!(found, expected, "{}", &text[..length]);
        }
    }
    for strange in ["ses_", "ask_U", "ask_é", "ask_ ", &format!("{}0", all[0])] {
        assert_eq!(index.resolve(strange, 9), [], "{strange}");
    }
}

#[test]
fn what_is_settled_is_found_for_a_while() {
    let mut index = Index::default();
    let count = LATELY as u64 + 1;
    for number in 0..count {
        index.put(&row(number));
        index.settle(id(number));
        index.settle(id(number));
    }
    assert_eq!(index.resolve(&id(0).to_string(), 9), [], "the oldest made room");
    for number in 1..count {
        assert_eq!(index.resolve(&id(number).to_string(), 9), [id(number)]);
    }
    assert_eq!((index.spelled.len(), index.lately.len()), (LATELY, LATELY));
    assert!(index.asks.is_empty());
}
