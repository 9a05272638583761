//! What an ask and its events look like on the wire.

use super::*;
use crate::ask::{
    Answers, AskId, Assurance, Carried, Command, Content, Crowd, Draft, Expiry, ExpiryAction,
    Filing, Idle, Now, PersonName, Plan, Policy, Priority, Question, SessionId, SessionRef, WorkId,
    decide, evolve,
};

const START: Timestamp = Timestamp::from_millis(1_800_000_000_123);

fn agent(name: &str) -> SessionRef {
    SessionRef { agent: name.parse().unwrap(), session: SessionId::new(START, [3; 6]) }
}

fn filing() -> Command {
    let question = Question {
        id: "q1".into(),
        header: "Store".into(),
        question: "Which?".into(),
        options: Vec::new(),
        multiple: true,
    };
    let content = Content { questions: vec![question], context: "a\u{1b}[2J".into() };
    let expire = Some((Span::from_mins(90), ExpiryAction::Stop));
    Command::Ask(Box::new(Filing {
        id: AskId::new(START, [1; 6]),
        namespace: Default::default(),
        draft: Draft {
            content: content.into(),
            priority: Priority::High,
            expire,
            defaults: Answers::new(),
            carried: Carried::default(),
            route: None,
            again: false,
            assurance: None,
        },
        asker: agent("worker"),
        host: "local".parse().unwrap(),
        work: WorkId::new(START, [2; 6]),
        tree: WorkId::new(START, [2; 6]),
        chain: vec![agent("lead")],
        route: Plan::built_in(Span::from_mins(15)).route(&[agent("lead")]),
        policy: Policy::default(),
        crowd: Crowd::default(),
        standing: None,
        assurance: None,
        idle: vec![Some(Idle::Blocked), None],
    }))
}

/// The ask after these commands, and its last event.
fn after(commands: &[Command]) -> (Event, Ask) {
    let mut at = None;
    for command in commands {
        let events = decide(at.as_ref().map(|(_, ask)| ask), command, Now::at(START)).unwrap();
        for event in events {
            let ask = evolve(at.take().map(|(_, ask)| ask), &event);
            at = Some((event, ask));
        }
    }
    at.expect("something happened")
}

fn owner() -> PersonName {
    PersonName::owner()
}

#[test]
fn an_open_ask_says_who_is_asked_why_and_until_when() {
    let (_, filed) = after(&[filing()]);
    let wire = ask(&filed);
    assert_eq!((wire.state(), wire.priority()), (v1::AskState::Open, v1::Priority::High));
    // Text travels as it is; whoever shows it makes it visible.
    assert_eq!(wire.context, "a\u{1b}[2J");
    assert_eq!(wire.content_digest.parse(), Ok(filed.digest));
    let people = v1::People { group: None, people: vec!["owner".into()] };
    let who = v1::waiting_on::Who::People(people);
    assert_eq!(wire.waiting_on, Some(v1::WaitingOn { who: Some(who) }));
    let hop = wire.hop.unwrap();
    assert_eq!((hop.index, hop.of, hop.cause()), (1, 2, v1::HopCause::SenderBlocked));
    let reason = "lead is blocked until this work is done".to_owned();
    assert_eq!(hop.skipped, [v1::SkippedHop { index: 0, reason }]);
    assert_eq!(wire.escalate_time, None, "the last hop has no timer");
    assert_eq!(wire.expire_time, Some(timestamp(START + Span::from_mins(90))));
    let quarter = prost_types::Duration { seconds: 900, nanos: 0 };
    assert_eq!(wire.route[0].timeout, Some(quarter));
    assert_eq!((wire.route[1].timeout, wire.outcome, wire.delivery), (None, None, None));
    let create_time = prost_types::Timestamp { seconds: 1_800_000_000, nanos: 123_000_000 };
    assert_eq!(wire.create_time, Some(create_time));
}

#[test]
fn under_a_claim_no_timer_runs_and_once_settled_nobody_is_asked() {
    let claim = Command::Claim {
        by: owner(),
        length: Span::from_mins(1),
        take_over: false,
        assurance: Assurance::Local,
    };
    let (_, claimed) = after(&[filing(), claim.clone()]);
    assert!(matches!(claimed.expiry, Some(Expiry { .. })), "it has one, which stands still");
    let wire = ask(&claimed);
    assert_eq!((wire.escalate_time, wire.expire_time), (None, None));
    assert_eq!(wire.claim.unwrap().lapse_time, Some(timestamp(START + Span::from_mins(1))));

    let note = Some("no".to_owned());
    let no =
        Command::Decline { assurance: Assurance::Local, by: owner(), digest: claimed.digest, note };
    let (_, declined) = after(&[filing(), claim, no]);
    let wire = ask(&declined);
    assert_eq!((wire.waiting_on, wire.claim, wire.expire_time), (None, None, None));
    let outcome = wire.outcome.unwrap();
    assert_eq!((outcome.kind(), outcome.note()), (v1::OutcomeKind::Declined, "no"));
    assert_eq!(outcome.by.unwrap().who, Some(v1::actor::Who::Person("owner".into())));
    assert_eq!(wire.delivery.unwrap().state(), v1::DeliveryState::Unread);
}

#[test]
fn an_event_carries_what_it_changed_and_no_more() {
    let say = |text: &str| Command::Say {
        by: Actor::Person(owner()),
        text: text.into(),
        assurance: None,
    };
    let (said, ask_then) = after(&[filing(), say("one"), say("two")]);
    let wire = event(&said, &ask_then);
    assert_eq!((wire.revision, wire.kind(), wire.text.as_str()), (3, v1::EventKind::Said, "two"));
    let part = wire.ask.unwrap();
    assert!(part.questions.is_empty() && part.context.is_empty() && part.route.is_empty());
    assert_eq!(part.turns.len(), 1);
    assert_eq!((part.turns[0].text.as_str(), part.turns[0].unread), ("two", true));
    assert_eq!(part.content_digest, ask_then.digest.to_string());

    let (filed, ask_then) = after(&[filing()]);
    let wire = event(&filed, &ask_then);
    assert_eq!(wire.ask, Some(ask(&ask_then)), "the first one has it all");
}
