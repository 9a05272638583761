//! What went wrong in systems of this kind, and what an ask does instead. The numbers are those of
//! the collection the design was drawn from.

use super::*;

#[test]
fn c10_an_expiry_is_nobodys_no() {
    let ask = filed(vec![to_people(&["owner"], None)], Some(mins(60)));
    let expired = then(&ask, &tick(&ask), after(mins(60)));
    let outcome = expired.outcome().unwrap();
    assert_eq!((&outcome.ending, &outcome.by), (&Ending::Expired(None), &Actor::Timer));
}

#[test]
fn c14_an_answer_at_the_deadline_and_the_expiry_in_both_orders() {
    let ask = filed(vec![to_people(&["owner"], None)], Some(mins(60)));
    let now = after(mins(60));

    let answered = then(&ask, &answer(&ask, "owner"), now);
    assert_eq!(run(&answered, &tick(&answered), now).0, []);
    assert_eq!(answered.outcome().unwrap().ending, Ending::Answered(answers("Postgres")));

    let expired = then(&ask, &tick(&ask), now);
    assert_eq!(rejected(&expired, &answer(&ask, "owner"), now), Rejection::Closed);
    assert_eq!(expired.outcome().unwrap().ending, Ending::Expired(None));
}

#[test]
fn c18_an_answer_before_anybody_waits_is_kept_for_them() {
    let ask = to_lead_then_owner();
    let answered = then(&ask, &answer_agent(&ask, lead()), after(mins(1)));
    let outcome = answered.outcome().unwrap();
    assert_eq!(outcome.by, Actor::Session(lead()));
    assert_eq!(answered.delivery(), Some(&Delivery::Unread));
    assert!(answered.is_unread(), "it is offered until the asker has it");
    let kept = FILED + mins(1) + limits::KEEP_MAX;
    assert!(!answered.is_past_retention(Now::at(Timestamp::from_millis(kept.as_millis() - 1))));
    assert!(answered.is_past_retention(Now::at(kept)));
}

#[test]
fn c28_each_way_of_being_over_says_which_and_when() {
    let ask = filed(vec![to_people(&["owner"], None)], Some(mins(60)));
    let answered = then(&ask, &answer(&ask, "ann"), after(mins(1)));
    let expired = then(&ask, &tick(&ask), after(mins(60)));
    let withdrawn = then(&ask, &withdraw(), after(mins(2)));
    let ends = [
        (&answered, Ending::Answered(answers("Postgres")), mins(1)),
        (&expired, Ending::Expired(None), mins(60)),
        (&withdrawn, Ending::Withdrawn, mins(2)),
    ];
    for (ask, ending, when) in ends {
        let late = answer(ask, "owner");
        assert_eq!(rejected(ask, &late, after(mins(90))), Rejection::Closed);
        let outcome = ask.outcome().unwrap();
        assert_eq!((&outcome.ending, outcome.time), (&ending, FILED + when));
    }
    let nowhere = decide(None, &answer(&ask, "owner"), after(mins(90)));
    assert_eq!(nowhere, Err(Rejection::Unknown));
}

#[test]
fn c31_c36_a_second_answer_learns_of_the_first() {
    let ask = to_lead_then_owner();
    let answered = then(&ask, &answer(&ask, "ann"), after(mins(1)));
    for by in ["ann", "owner"] {
        assert_eq!(rejected(&answered, &answer(&ask, by), after(mins(2))), Rejection::Closed);
    }
    let outcome = answered.outcome().unwrap();
    assert_eq!(outcome.by, Actor::Person(person("ann")));
    assert_eq!((outcome.time, outcome.revision), (FILED + mins(1), 2));
}

/// Everything that may come at once, to try in every order.
#[test]
fn c96_no_order_reopens_or_goes_back() {
    let ask = filed(vec![to_session(lead(), 15), to_people(&["owner"], None)], Some(mins(60)));
    let now = after(mins(60));
    let commands = [
        claim("owner", 5, false),
        escalate(&ask, Actor::Session(lead()), 0),
        answer_agent(&ask, lead()),
        answer(&ask, "ann"),
        withdraw(),
        tick(&ask),
    ];
    for order in orders(commands.len()) {
        let mut at = ask.clone();
        for place in order {
            let Ok(events) = decide(Some(&at), &commands[place], now) else { continue };
            let next = events.iter().fold(at.clone(), |ask, event| evolve(Some(ask), event));
            assert!(next.hop.index >= at.hop.index);
            assert!(at.is_open() || next.outcome() == at.outcome());
            at = next;
        }
        assert!(!at.is_open());
        let late = rejected(&at, &claim("owner", 5, false), now);
        assert_eq!(late, Rejection::Closed);
    }
}

/// Every order of the numbers below `count`.
fn orders(count: usize) -> Vec<Vec<usize>> {
    let mut found: Vec<Vec<usize>> = vec![vec![]];
    for number in 0..count {
        found = found
            .into_iter()
            .flat_map(|order| {
                (0..=order.len()).map(move |place| {
                    let mut order = order.clone();
                    order.insert(place, number);
                    order
                })
            })
            .collect();
    }
    found
}

#[test]
fn c99_a_hop_with_nobody_in_it_takes_no_time() {
    let mut filing = filing(
        vec![to_session(lead(), 15), to_people(&[], Some(mins(15))), to_people(&["owner"], None)],
        None,
    );
    filing.idle = vec![Some(Idle::Ended), Some(Idle::EmptyGroup), None];
    let ask = file(filing);
    assert!(ask.waits_on_person(&owner()));
    assert_eq!(ask.hop.since, FILED);
    assert_eq!(ask.hop.skipped.len(), 2);
}

#[test]
fn c100_a_refusal_and_the_route_timer_together_are_one_step() {
    let ask = filed(
        vec![
            to_session(lead(), 15),
            to_people(&["ann"], Some(mins(15))),
            to_people(&["owner"], None),
        ],
        None,
    );
    let now = after(mins(15));
    let refusal = escalate(&ask, Actor::Session(lead()), 0);

    let timed_out = then(&ask, &tick(&ask), now);
    assert_eq!(run(&timed_out, &refusal, now).0, [], "it has moved on already");
    let of_a_person = escalate(&ask, Actor::Person(owner()), 0);
    assert_eq!(run(&timed_out, &of_a_person, now).0, [], "from a stale copy");
    assert_eq!((timed_out.hop.index, timed_out.hop.cause), (1, Cause::Timeout));

    let refused = then(&ask, &refusal, now);
    assert_eq!(run(&refused, &tick(&refused), now).0, []);
    assert_eq!(run(&refused, &refusal, now).0, []);
    assert_eq!((refused.hop.index, refused.hop.cause), (1, Cause::Refused));
    assert_eq!(refused.hop.reason.as_deref(), Some("ask a person"));
}

#[test]
fn c105_due_means_at_or_after() {
    let ask = to_lead_then_owner();
    for late in [Span::from_secs(1), mins(1), Span::from_hours(1)] {
        let moved = then(&ask, &tick(&ask), Now::at(FILED + mins(15) + late));
        assert!(moved.waits_on_person(&owner()), "{late} late");
        assert_eq!(moved.hop.since.since(FILED + mins(15)), late, "how late is on record");
    }
}

#[test]
fn c113_no_timer_outlives_what_it_was_for() {
    let ask = filed(vec![to_session(lead(), 15), to_people(&["owner"], None)], Some(mins(60)));
    let now = after(mins(15));
    for end in [answer(&ask, "ann"), withdraw(), decline(&ask, "ann"), answer_agent(&ask, lead())] {
        let over = then(&ask, &end, now);
        let later = after(Span::from_hours(24));
        assert_eq!(run(&over, &tick(&over), later).0, [], "{end:?}");
        assert!(over.deadline() > Some(later.time), "only its removal is still to come");
    }
    let moved = then(&ask, &escalate(&ask, Actor::Session(lead()), 0), after(mins(14)));
    assert_eq!(moved.deadline(), Some(FILED + mins(60)), "the route timer is gone with its hop");
    assert_eq!(run(&moved, &tick(&moved), now).0, []);
}

#[test]
fn c114_the_end_of_a_session_settles_all_its_asks_and_a_late_answer_is_closed() {
    let routed = to_lead_then_owner();
    let with_person = then(&routed, &tick(&routed), after(mins(15)));
    let claimed = then(&with_person, &claim("owner", 5, false), after(mins(16)));
    for ask in [routed, with_person, claimed] {
        let over = then(&ask, &gone(&ask, &worker(), ended()), after(mins(17)));
        let outcome = over.outcome().unwrap();
        assert_eq!(outcome.ending, Ending::Abandoned);
        assert_eq!(outcome.by, Actor::Host("me".parse().unwrap()));
        let late = rejected(&over, &answer(&ask, "owner"), after(mins(18)));
        assert_eq!(late, Rejection::Closed);
    }
}

#[test]
fn c143_a_label_that_was_taken_back_is_not_offered() {
    let ask = to_lead_then_owner();
    let ask = then(&ask, &reply("no Postgres here", &["Redis", "SQLite"]), after(mins(1)));
    let gone = Command::Answer {
        assurance: Assurance::Local,
        by: owner(),
        digest: ask.digest,
        answers: answers("Postgres"),
    };
    let Rejection::Invalid(found) = rejected(&ask, &gone, after(mins(2))) else {
        panic!("it was accepted as another fault");
    };
    assert_eq!(found.len(), 1);
    assert!(found[0].description.contains("`Redis`"), "{found:?}");
}

#[test]
fn c09_a_claim_holds_the_timers_and_what_was_left_runs_on() {
    let ask = filed(vec![to_session(lead(), 15), to_people(&["owner"], None)], Some(mins(60)));
    let held = then(&ask, &claim("owner", 15, false), after(mins(10)));
    assert_eq!(held.deadline(), Some(FILED + mins(25)));
    assert_eq!(run(&held, &tick(&held), after(mins(24))).0, []);

    // Renewed, or taken over, it keeps what was left at first.
    let held = then(&held, &claim("owner", 15, false), after(mins(20)));
    let held = then(&held, &claim("ann", 15, true), after(mins(30)));
    let released = then(&held, &Command::Release { by: person("ann") }, after(mins(40)));
    assert_eq!(released.hop.deadline, Some(FILED + mins(45)));
    assert_eq!(released.expiry.and_then(|expiry| expiry.due()), Some(FILED + mins(90)));

    // An expiry has at least a minute, to say something in.
    let late = then(&ask, &tick(&ask), after(mins(15)));
    let held = then(&late, &claim("owner", 5, false), after(mins(60)));
    let lapsed = then(&held, &tick(&held), after(mins(65)));
    assert_eq!(lapsed.deadline(), Some(FILED + mins(66)));
}
