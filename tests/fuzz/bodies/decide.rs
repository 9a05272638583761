//! Any bytes as requests, read and validated as they are from the wire, then decided and folded. The
//! first is filed; each further one is done to what came of it.
//!
//! One byte for who and when, one for which request, two for its length, then so many bytes of it;
//! and on.

use askway::ask::{
    Actor, Ask, AskId, Assurance, Command, Crowd, Filing, Hop, Namespace, Now, PersonName, Policy,
    Rejection, Route, SessionId, SessionRef, Span, Target, Timestamp, WorkId, decide, evolve, fold,
    limits,
};
use askway::grpc::convert;
use askway::grpc::fuzzed::{Read, read};

const FILED: Timestamp = Timestamp::from_millis(1_796_000_000_000);

pub fn run(bytes: &[u8]) -> bool {
    let mut rest = bytes;
    let mut ask: Option<Ask> = None;
    let mut now = FILED;
    let mut decided = false;
    while let Some((who, kind, request)) = next(&mut rest) {
        now = now + Span::from_millis(u64::from(who >> 3) * 45_000);
        let Some(read) = read(kind, request) else { continue };
        let Ok(read) = read.map_err(|status| assert!(!status.message().is_empty())) else {
            continue;
        };
        ask = match (ask, read) {
            (None, Read::Ask(draft, work)) => file(draft, work, now),
            (Some(ask), read) => Some(act(ask, command(read, who), now)),
            (None, _) => None,
        };
        decided |= ask.is_some();
        ask = ask.map(|ask| act(ask, Some(Command::Tick { idle: vec![], standing: None }), now));
    }
    decided
}

/// Who acts and when, what they send, and its bytes.
fn next<'a>(rest: &mut &'a [u8]) -> Option<(u8, u8, &'a [u8])> {
    let [who, kind, low, high, after @ ..] = *rest else { return None };
    let (request, after) =
        after.split_at(after.len().min(usize::from(u16::from_le_bytes([*low, *high]))));
    *rest = after;
    Some((*who, *kind, request))
}

fn session(number: u8) -> SessionRef {
    let session = SessionId::new(FILED, [number; 6]);
    SessionRef { agent: "worker".parse().expect("a name"), session }
}

fn file(draft: askway::ask::Draft, work: Option<WorkId>, now: Timestamp) -> Option<Ask> {
    let hop = |to, timeout| Hop { to, timeout, within: None };
    let lead = hop(Target::Session(session(1)), Some(limits::ROUTE_TIMEOUT));
    let hops = vec![lead, hop(Target::person(PersonName::owner()), None)];
    let work = work.unwrap_or(WorkId::new(now, [1; 6]));
    // That it demands a person rules out a default; its route may demand one, too.
    let demanded = draft.assurance;
    let violations = draft.violations();
    let filing = Filing {
        id: AskId::new(now, [7; 6]),
        namespace: Namespace::default(),
        draft,
        asker: session(0),
        host: "local".parse().expect("a name"),
        work,
        tree: work,
        chain: vec![session(1)],
        idle: vec![None; hops.len()],
        route: Route { hops },
        policy: Policy::default(),
        crowd: Crowd::default(),
        standing: None,
        assurance: demanded,
    };
    match decide(None, &Command::Ask(Box::new(filing)), Now::at(now)) {
        Ok(events) => {
            assert!(violations.is_empty(), "filed in spite of {violations:?}");
            fold(&events)
        }
        Err(Rejection::Invalid(found)) => {
            assert!(!found.is_empty());
            assert!(found == violations || (violations.is_empty() && demanded.is_some()));
            None
        }
        Err(other) => panic!("a valid draft is filed: {other:?}"),
    }
}

fn command(read: Read, who: u8) -> Option<Command> {
    let (by, person) = (session(who & 1), PersonName::owner());
    let actor = match who & 3 {
        0 | 1 => Actor::Session(by.clone()),
        _ => Actor::Person(person.clone()),
    };
    Some(match read {
        Read::Answer(digest, answers) if who & 2 == 0 => {
            Command::AnswerAgent { by, digest, answers, standing: None }
        }
        Read::Answer(digest, answers) => {
            Command::Answer { by: person, digest, answers, assurance: Assurance::Local }
        }
        Read::Decline(digest, note) if who & 2 == 0 => match note {
            Some(_) => Command::Withdraw { by, note },
            None => Command::MarkSeen { by: person, digest },
        },
        Read::Decline(digest, note) => {
            Command::Decline { by: person, digest, note, assurance: Assurance::Local }
        }
        Read::Reply(text, options) if options.is_empty() && who & 4 == 0 => {
            Command::Say { by: actor, text, assurance: None }
        }
        Read::Reply(text, options) => Command::Reply { by, text, options, standing: None },
        Read::Claim(length, take_over) => {
            Command::Claim { by: person, length, take_over, assurance: Assurance::Local }
        }
        Read::Acknowledge(_, delivery, lease) => {
            Command::Acknowledge { by: actor, delivery, lease }
        }
        Read::List(_, _, page) => {
            let reason = Some("not mine".to_owned());
            Command::Escalate { by: actor, hop: page % 3, reason, idle: vec![], assurance: None }
        }
        Read::Take(..) | Read::Sessions(..) => Command::Release { by: person },
        // One ask is enough.
        Read::Ask(..) => return None,
    })
}

/// The ask after a command, whatever it is; what was refused leaves it as it was.
fn act(ask: Ask, command: Option<Command>, now: Timestamp) -> Ask {
    let Some(command) = command else { return ask };
    let open = ask.is_open();
    let outcome = ask.outcome().cloned();
    let Ok(events) = decide(Some(&ask), &command, Now::at(now)) else { return ask };
    let after = events.iter().fold(ask, |ask, event| evolve(Some(ask), event));
    assert!(open || after.outcome() == outcome.as_ref(), "settled once");
    if matches!(command, Command::Tick { .. }) && after.is_open() {
        assert!(after.deadline().is_none_or(|deadline| deadline > now), "a tick makes progress");
    }
    assert!(after.content.violations().is_empty(), "{:?}", after.content.violations());
    let _ = convert::ask(&after);
    after
}
