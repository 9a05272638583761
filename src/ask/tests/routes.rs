//! Who is asked in turn: climbs, their total, rounds of people; and how much may be open.

use super::*;

/// The route of a plan with these hops, for the worker's work.
fn planned(hops: Vec<PlanHop>, repeat: u32) -> Vec<Hop> {
    let plan = Plan::new("climb".parse().unwrap(), hops, repeat, mins(15)).unwrap();
    plan.route(&[lead(), chief()]).hops
}

fn senders(timeout: u64, total: u64) -> PlanHop {
    PlanHop { to: PlanTo::Senders { total: mins(total) }, timeout: Some(mins(timeout)) }
}

fn planned_person(name: &str, timeout: Option<u64>) -> PlanHop {
    PlanHop { to: PlanTo::Person(person(name)), timeout: timeout.map(mins) }
}

#[test]
fn a_climb_is_bounded_in_total_however_long_each_is_asked() {
    let ask = filed(planned(vec![senders(20, 30), planned_person("owner", None)], 1), None);
    assert_eq!(ask.deadline(), Some(FILED + mins(20)));
    let moved = then(&ask, &tick(&ask), after(mins(20)));
    assert!(moved.waits_on_session(&chief()));
    assert_eq!(moved.deadline(), Some(FILED + mins(30)), "what is left of the total");
    let moved = then(&moved, &tick(&moved), after(mins(30)));
    assert!(moved.waits_on_person(&owner()));
    assert_eq!(moved.hop.cause, Cause::Timeout);

    // Late by more than the total, nobody of the climb is asked any more.
    let late = then(&ask, &tick(&ask), after(mins(30)));
    assert!(late.waits_on_person(&owner()));
    assert_eq!(late.hop.skipped, [Skipped { hop: 1, why: Idle::TooLate }]);

    // Refused in good time, the next has its whole time.
    let refused = then(&ask, &escalate(&ask, Actor::Session(lead()), 0), after(mins(5)));
    assert_eq!(refused.deadline(), Some(FILED + mins(25)));
}

#[test]
fn people_are_asked_in_rounds_and_the_last_of_them_without_end() {
    let people = vec![planned_person("ann", Some(10)), planned_person("bob", Some(10))];
    let mut ask = filed(planned(people, 3), None);
    let mut asked = Vec::new();
    let mut time = FILED;
    loop {
        let Some(Target::People { people, .. }) = ask.waiting_on() else { panic!("{ask:?}") };
        asked.push(people[0].to_string());
        let Some(deadline) = ask.deadline() else { break };
        assert_eq!(deadline, time + mins(10), "each round has its whole time");
        time = deadline;
        ask = then(&ask, &tick(&ask), Now::at(time));
    }
    assert_eq!(asked, ["ann", "bob", "ann", "bob", "ann", "bob"]);
    assert_eq!(rejected(&ask, &escalate(&ask, Actor::Person(owner()), 5), after(mins(99))), {
        Rejection::LastHop
    });
}

#[test]
fn rule_14_a_session_that_is_asked_enough_is_gone_past() {
    let hops = || vec![to_session(lead(), 15), to_people(&["owner"], None)];
    let mut full = filing(hops(), None);
    full.idle[0] = Some(Idle::Full);
    let ask = file(full);
    assert!(ask.waits_on_person(&owner()));
    assert_eq!(ask.hop.skipped, [Skipped { hop: 0, why: Idle::Full }]);
    let said = ask.hop.reason.as_deref();
    assert_eq!(said, Some("lead is asked as much as it may be already"));
}

#[test]
fn rule_14_what_waits_on_a_session_stays_when_it_is_full_or_blocked_and_is_not_gone() {
    // It is paused and its host wakes it, or it came back before the sweep was here: only who is
    // gone loses what waits on them.
    let ask = to_lead_then_owner();
    for why in [Idle::Full, Idle::Blocked, Idle::AnswersNone] {
        let idle = vec![Some(why), None];
        let swept = Command::SessionGone { session: session_id(2), gone: Gone::Paused, idle };
        assert_eq!(run(&ask, &swept, after(mins(1))).0, [], "{why:?}");
    }
}

#[test]
fn rule_14_a_tree_and_a_namespace_hold_so_many_open_asks_and_say_which() {
    let filing = filing(vec![to_people(&["owner"], None)], None);
    let of = |number: u8| AskId::new(FILED, [number; 6]);
    let policy = Policy::default();
    let file = |crowd: Crowd| {
        let filing = Filing { crowd, ..filing.clone() };
        decide(None, &Command::Ask(Box::new(filing)), after(Span::default()))
    };
    let (tree, namespace) = (policy.open_in_tree, policy.open_in_namespace);
    assert_eq!((tree, namespace), (64, 10_000));
    let crowd = |in_tree, in_namespace| Crowd {
        tree: (in_tree, vec![of(1)]),
        namespace: (in_namespace, vec![of(2)]),
    };
    assert!(file(crowd(tree - 1, namespace - 1)).is_ok());
    assert_eq!(file(crowd(tree, 0)), Err(Rejection::TreeFull(tree, vec![of(1)])));
    let over = namespace + 5; // what was in flight may exceed it
    assert_eq!(file(crowd(0, over)), Err(Rejection::NamespaceFull(over, vec![of(2)])));
}

#[test]
fn rule_14_a_conversation_ends() {
    let mut ask = to_lead_then_owner();
    for _ in 0..limits::TURNS {
        ask = then(&ask, &say(Actor::Person(owner())), after(mins(1)));
    }
    let more = rejected(&ask, &say(Actor::Person(owner())), after(mins(1)));
    assert_eq!(more, Rejection::TooManyTurns);
    assert_eq!(rejected(&ask, &reply("2 GB", &[]), after(mins(1))), Rejection::TooManyTurns);
    assert!(!then(&ask, &answer(&ask, "owner"), after(mins(1))).is_open(), "an answer is no turn");
}

#[test]
fn rule_16_who_acted_is_the_credentials_word_in_every_event() {
    let ask = to_lead_then_owner();
    let at = after(mins(1));
    let by = |command: &Command| match run(&ask, command, at).0.remove(0).kind {
        EventKind::Answered { by, .. } | EventKind::Said { by, .. } => by,
        EventKind::Escalated(moved) => moved.by,
        EventKind::Declined { by, .. } | EventKind::Claimed { by, .. } => Actor::Person(by),
        EventKind::Withdrawn { by, .. } | EventKind::Replied { by, .. } => Actor::Session(by),
        other => panic!("{other:?}"),
    };
    assert_eq!(by(&answer(&ask, "ann")), Actor::Person(person("ann")));
    assert_eq!(by(&decline(&ask, "bob")), Actor::Person(person("bob")));
    assert_eq!(by(&claim("ann", 5, false)), Actor::Person(person("ann")));
    assert_eq!(by(&answer_agent(&ask, lead())), Actor::Session(lead()));
    assert_eq!(by(&say(Actor::Session(lead()))), Actor::Session(lead()));
    assert_eq!(by(&escalate(&ask, Actor::Person(owner()), 0)), Actor::Person(owner()));
    assert_eq!(by(&withdraw()), Actor::Session(worker()));
    assert_eq!(by(&reply("2 GB", &[])), Actor::Session(worker()));
}

#[test]
fn rule_19_a_persons_window_starts_anew_after_a_gap() {
    let ask = with_default(vec![to_people(&["owner"], None)], 60);
    let ask = then(&ask, &seen(&ask, "owner"), after(mins(1)));
    let woken = FILED + mins(300);
    let now = |time| Now { time, awake_since: woken };
    let held = then(&ask, &tick(&ask), now(woken));
    assert_eq!(held.deadline(), Some(woken + limits::PERSON_WINDOW));
    assert!(held.is_open());
    let over = then(&held, &tick(&held), now(woken + limits::PERSON_WINDOW));
    assert!(!over.is_open());
}

#[test]
fn rule_21_a_holder_is_one_visible_line() {
    let ask = then(&to_lead_then_owner(), &say(Actor::Person(owner())), after(mins(1)));
    for hostile in ["\u{1b}[2J", "a\nb", "\u{202e}x", &"x".repeat(limits::HOLDER_BYTES + 1)] {
        let command = Command::Lease {
            by: Actor::Session(worker()),
            lease: lease_id(1),
            holder: hostile.into(),
            length: limits::LEASE,
            extend: None,
        };
        let refused = rejected(&ask, &command, after(mins(2)));
        assert!(matches!(refused, Rejection::Invalid(_)), "{hostile:?}: {refused:?}");
    }
}
