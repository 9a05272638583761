//! Who comes, who goes, whose tokens there are, and how many of each.

use super::*;
use crate::ask::{SessionId, SessionRef};

const START: Timestamp = Timestamp::from_millis(1_796_000_000_000);

fn by() -> Actor {
    Actor::Person(PersonName::owner())
}

fn at(minutes: u64) -> Timestamp {
    START + Span::from_mins(minutes)
}

fn person(number: usize) -> PersonName {
    format!("p{number}").parse().unwrap()
}

fn roster() -> Roster {
    Roster::new(Namespace::default(), &by(), START)
}

fn with(roster: &Roster, number: usize) -> Roster {
    roster.add(&person(number), &by(), START).unwrap().expect("they were not there")
}

fn names<'a>(people: impl Iterator<Item = &'a PersonName>) -> Vec<&'a str> {
    people.map(PersonName::as_str).collect()
}

fn members(roster: &Roster) -> Vec<&str> {
    names(roster.members().map(|(name, _)| name))
}

fn token_id(number: u64) -> TokenId {
    let [.., a, b] = number.to_be_bytes();
    TokenId::new(START, [0, 0, 0, 0, a, b])
}

fn secret(number: u64) -> SecretHash {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&number.to_be_bytes());
    super::super::Secret::new(Kind::Person, bytes).hash()
}

fn token(principal: Principal, number: u64) -> Token {
    Token::new(secret(number), Namespace::default(), principal)
}

fn host(name: &str) -> Principal {
    Principal::Host(name.parse().unwrap())
}

#[test]
fn a_person_is_there_once_until_they_are_removed_and_may_come_back() {
    let new = roster();
    assert_eq!((members(&new), new.revision), (vec!["owner"], 0));
    assert!(new.has(&PersonName::owner()) && !new.has(&person(1)));
    let one = with(&new, 1);
    assert_eq!((members(&one), one.revision), (vec!["owner", "p1"], 1));
    assert!(one.has(&person(1)));
    assert_eq!(one.add(&person(1), &by(), at(1)), Ok(None), "they are there");

    let removed = one.remove(&person(1), &by(), at(1)).unwrap();
    assert_eq!((members(&removed), removed.revision), (vec!["owner"], 2));
    assert!(!removed.has(&person(1)));
    let gone = Err(RosterDenied::NoPerson(person(1)));
    assert_eq!(removed.remove(&person(1), &by(), at(2)), gone, "twice");
    assert_eq!(new.remove(&person(1), &by(), at(2)), gone, "never there");
    assert_eq!(members(&with(&removed, 1)), ["owner", "p1"]);
    assert_eq!(new.remove(&PersonName::owner(), &by(), at(1)), Err(RosterDenied::OwnerStays));
}

#[test]
fn the_asks_of_who_was_removed_are_told_once() {
    let removed = with(&with(&roster(), 1), 2).remove(&person(1), &by(), at(1)).unwrap();
    assert_eq!(names(removed.to_sweep()), ["p1"]);
    let swept = removed.swept(&person(1)).expect("they have yet to be told");
    assert_eq!((names(swept.to_sweep()), swept.revision), (vec![], removed.revision + 1));
    assert_eq!(swept.swept(&person(1)), None, "once");
    for other in [person(2), person(3), PersonName::owner()] {
        assert_eq!(removed.swept(&other), None, "{other}");
    }
    // Somebody who came back is asked again: what is said of the removed is not said of them.
    assert_eq!(with(&removed, 1).swept(&person(1)), None);
}

#[test]
fn there_are_as_many_people_as_there_may_be_and_the_removed_do_not_count() {
    let full = (1..limits::PEOPLE).fold(roster(), |roster, number| with(&roster, number));
    assert_eq!(full.members().count(), limits::PEOPLE);
    let one_more = |roster: &Roster| roster.add(&person(limits::PEOPLE), &by(), START);
    assert_eq!(one_more(&full), Err(RosterDenied::TooManyPeople));
    let room = full.remove(&person(1), &by(), at(1)).unwrap();
    assert!(one_more(&room).unwrap().is_some());
}

#[test]
fn of_the_removed_the_oldest_whose_asks_are_told_are_forgotten_beyond_a_number() {
    let most = limits::PEOPLE + limits::PEOPLE_REMOVED;
    let removing = |roster: &Roster, number: usize, is_swept: bool| {
        let gone = with(roster, number).remove(&person(number), &by(), at(number as u64)).unwrap();
        if is_swept { gone.swept(&person(number)).unwrap() } else { gone }
    };
    // The first is not told yet, and stays whatever comes after it.
    let full = (1..most).fold(roster(), |roster, number| removing(&roster, number, number > 1));
    assert_eq!(full.people.len(), most);
    let next = removing(&full, most, true);
    assert_eq!(next.people.len(), most);
    assert!(next.people.contains_key(&person(1)) && !next.people.contains_key(&person(2)));
    assert!(next.people.contains_key(&person(3)) && next.people.contains_key(&person(most)));
    assert!(next.has(&PersonName::owner()), "who is there is never forgotten");
}

#[test]
fn a_token_is_of_somebody_who_is_there_and_there_are_so_many() {
    let ann = Principal::Person(person(1));
    let refused = roster().with_token(token_id(1), &token(ann.clone(), 1));
    assert_eq!(refused, Err(RosterDenied::NoPerson(person(1))));
    let one = with(&roster(), 1).with_token(token_id(1), &token(ann, 1)).unwrap();
    assert_eq!((one.tokens.get(&token_id(1)), one.revision), (Some(&secret(1)), 2));
    let full = (0..limits::TOKENS as u64).fold(roster(), |roster, number| {
        roster.with_token(token_id(number), &token(host("ci"), number)).unwrap()
    });
    assert_eq!(full.tokens.len(), limits::TOKENS);
    let more = full.with_token(token_id(9_999), &token(host("ci"), 9_999));
    assert_eq!(more, Err(RosterDenied::TooManyTokens));

    let fewer = full.without_tokens(&[token_id(0), token_id(7)]);
    assert_eq!((fewer.tokens.len(), fewer.revision), (limits::TOKENS - 2, full.revision + 1));
    assert!(!fewer.tokens.contains_key(&token_id(7)) && fewer.tokens.contains_key(&token_id(1)));
}

#[test]
fn what_a_host_made_by_a_revoked_token_is_revoked_once_and_a_persons_made_nothing() {
    let ann = Principal::Person(person(1));
    let both = with(&roster(), 1)
        .with_token(token_id(1), &token(ann.clone(), 1))
        .and_then(|roster| roster.with_token(token_id(2), &token(host("ci"), 2)))
        .unwrap();
    let revoked = both.revoking([(token_id(1), &ann), (token_id(2), &host("ci"))]);
    assert!(revoked.tokens.is_empty());
    let hosts: Vec<_> =
        revoked.revoked_hosts.iter().map(|(id, host)| (*id, host.as_str())).collect();
    assert_eq!(hosts, [(token_id(2), "ci")]);
    let done = revoked.sessions_revoked(token_id(2)).expect("they have yet to be");
    assert!(done.revoked_hosts.is_empty() && done.revision == revoked.revision + 1);
    assert_eq!(done.sessions_revoked(token_id(2)), None);
    assert_eq!(revoked.sessions_revoked(token_id(1)), None);
}

#[test]
fn a_namespace_is_known_once_and_there_are_so_many() {
    let name = |number: usize| format!("n{number}").parse::<Namespace>().unwrap();
    let full = (0..limits::NAMESPACES).fold(roster(), |roster, number| {
        roster.with_namespace(&name(number)).unwrap().expect("it was not known")
    });
    assert_eq!((full.namespaces.len(), full.revision), (limits::NAMESPACES, 64));
    assert_eq!(full.with_namespace(&name(3)), Ok(None), "it is known");
    let more = full.with_namespace(&name(limits::NAMESPACES));
    assert_eq!(more, Err(RosterDenied::TooManyNamespaces));
}

#[test]
fn a_token_is_made_for_a_person_or_a_named_host_for_a_time_with_a_line_of_note() {
    let ann = Principal::Person(person(1));
    let fields =
        |principal: &Principal, ttl: Option<Span>, note: &str| match issuable(principal, ttl, note)
        {
            Ok(_) => Vec::new(),
            Err(found) => found.into_iter().map(|violation| violation.field).collect(),
        };
    assert_eq!(issuable(&ann, None, ""), Ok(Kind::Person));
    assert_eq!(issuable(&host("ci"), None, "for the build"), Ok(Kind::Host));
    assert_eq!(fields(&host(LOCAL_HOST), None, ""), ["host"]);
    for good in [limits::TOKEN_TTL_MIN, limits::TOKEN_TTL_MAX] {
        assert_eq!(fields(&ann, Some(good), ""), [""; 0]);
    }
    let shorter = Span::from_millis(limits::TOKEN_TTL_MIN.as_millis() - 1);
    let longer = limits::TOKEN_TTL_MAX + Span::from_millis(1);
    for bad in [shorter, longer] {
        assert_eq!(fields(&ann, Some(bad), ""), ["ttl"], "{bad}");
    }
    assert_eq!(fields(&ann, None, &"x".repeat(limits::TOKEN_NOTE_BYTES)), [""; 0]);
    for bad in ["two\nlines", &"x".repeat(limits::TOKEN_NOTE_BYTES + 1)] {
        assert_eq!(fields(&ann, None, bad), ["note"], "{bad}");
    }
    let all = fields(&host(LOCAL_HOST), Some(shorter), "\u{7}");
    assert_eq!(all, ["host", "ttl", "note"], "all at once");
}

#[test]
#[should_panic(expected = "a session's token is made by Enroll")]
fn a_sessions_token_is_not_made_here() {
    let session =
        SessionRef { agent: "a".parse().unwrap(), session: SessionId::new(START, [1; 6]) };
    let _ = issuable(&Principal::Session(session), None, "");
}
