//! The rules of the design that the pure core alone can keep, each by its number.

use super::*;

/// An ask that expires in an hour, with the lead for `minutes`, then the owner.
fn expiring(minutes: u64) -> Ask {
    filed(vec![to_session(lead(), minutes), to_people(&["owner"], None)], Some(mins(60)))
}

#[test]
fn rule_02_settled_once() {
    let ask = to_lead_then_owner();
    let at = after(mins(1));
    let ends = [
        answer_agent(&ask, lead()),
        answer(&ask, "owner"),
        decline(&ask, "owner"),
        withdraw(),
        gone(&ask, &worker(), ended()),
    ];
    for first in &ends {
        let settled = then(&ask, first, at);
        let won = settled.outcome().unwrap();
        for second in &ends {
            if let Ok(events) = decide(Some(&settled), second, after(mins(2))) {
                let ask = events.iter().fold(settled.clone(), |ask, e| evolve(Some(ask), e));
                assert_eq!(ask.outcome(), Some(won), "{second:?} after {first:?}");
            }
        }
    }
}

#[test]
fn rule_03_reaches_a_person_at_its_time_and_not_before() {
    let ask = to_lead_then_owner();
    let deadline = FILED + mins(15);
    assert_eq!(ask.deadline(), Some(deadline));

    let before = Timestamp::from_millis(deadline.as_millis() - 1);
    assert_eq!(run(&ask, &tick(&ask), Now::at(before)).0, []);

    for late in [Span::default(), Span::from_millis(1), mins(1), Span::from_hours(48)] {
        let now = Now::at(deadline + late);
        let (events, moved) = run(&ask, &tick(&ask), now);
        assert_eq!(events.len(), 1);
        assert!(moved.waits_on_person(&owner()));
        assert_eq!((moved.hop.cause, moved.hop.since), (Cause::Timeout, now.time));
        assert_eq!(moved.hop.reason.as_deref(), Some("lead did not answer in 15m"));
        assert_eq!(moved.deadline(), None, "the owner has no timer");
    }
}

#[test]
fn rule_04_an_expiry_while_a_session_is_asked_goes_to_people_and_is_dropped() {
    let ask = filed(
        vec![
            to_session(lead(), 120),
            to_session(chief(), 120),
            to_people(&["ann"], Some(mins(10))),
            to_people(&["owner"], None),
        ],
        Some(mins(60)),
    );
    let (_, moved) = run(&ask, &tick(&ask), after(mins(60)));
    assert_eq!((moved.hop.index, moved.hop.cause), (2, Cause::AskersExpiry));
    assert_eq!(moved.expiry, None);
    assert_eq!(moved.deadline(), Some(FILED + mins(70)));
}

#[test]
fn rule_04_an_expiry_that_came_while_a_session_was_asked_is_dropped_however_late_it_is_seen() {
    // The server was down from before the route timer until after the expiry: the person who is
    // asked now was never asked before it.
    let ask = expiring(15);
    let (events, moved) = run(&ask, &tick(&ask), after(mins(90)));
    assert_eq!(events.len(), 1);
    assert!(moved.is_open() && moved.waits_on_person(&owner()));
    assert_eq!((moved.expiry, moved.deadline()), (None, None));

    // The same where the session itself refuses before the timer has run.
    let refused = then(&ask, &escalate(&ask, Actor::Session(lead()), 0), after(mins(61)));
    assert_eq!(refused.expiry, None);

    // One that is still to come stays.
    let in_time = then(&ask, &tick(&ask), after(mins(59)));
    assert_eq!(in_time.deadline(), Some(FILED + mins(60)));
    assert!(!then(&in_time, &tick(&in_time), after(mins(60))).is_open());

    // Held by a claim, it has not come; the claim goes along, and what was left runs on after it.
    let ask = expiring(90);
    let claimed = then(&ask, &claim("owner", 15, false), after(mins(50)));
    let refused = then(&claimed, &escalate(&claimed, Actor::Session(lead()), 0), after(mins(62)));
    assert_eq!(clock(&refused), Some(ExpiryClock::Stands(mins(10))));
    let released = then(&refused, &Command::Release { by: owner() }, after(mins(64)));
    assert_eq!(due(&released), Some(FILED + mins(74)));
}

#[test]
fn rule_04_an_expiry_never_lands_on_a_session() {
    let mut ask = filed(
        vec![
            to_session(lead(), 120),
            to_people(&[], Some(mins(10))),
            to_session(chief(), 120),
            to_people(&["owner"], None),
        ],
        Some(mins(60)),
    );
    let idle = vec![None, Some(Idle::EmptyGroup), None, None];
    ask = then(&ask, &Command::Tick { idle, standing: None }, after(mins(60)));
    assert!(ask.waits_on_person(&owner()));
    assert_eq!(ask.hop.skipped, [Skipped { hop: 1, why: Idle::EmptyGroup }]);
}

#[test]
fn rule_05_only_whom_it_waits_on() {
    let ask = to_lead_then_owner();
    let at = after(mins(1));
    let same_run_other_agent = SessionRef { agent: "chief".parse().unwrap(), ..lead() };
    for foreign in [worker(), chief(), other_lead(), same_run_other_agent] {
        let by = Actor::Session(foreign.clone());
        assert_eq!(rejected(&ask, &answer_agent(&ask, foreign), at), Rejection::NotSender);
        assert_eq!(rejected(&ask, &escalate(&ask, by.clone(), 0), at), Rejection::NotSender);
        assert_eq!(rejected(&ask, &say(by), at), Rejection::NotSender);
    }
    let moved = then(&ask, &escalate(&ask, Actor::Session(lead()), 0), at);
    assert_eq!(rejected(&moved, &answer_agent(&moved, lead()), at), Rejection::NotSender);
    assert!(!then(&ask, &answer_agent(&ask, lead()), at).is_open());
}

#[test]
fn rule_05_whose_turn_it_is_is_said_before_what_is_wrong_with_the_answer() {
    let ask = to_lead_then_owner();
    let digest = Content { questions: vec![], context: String::new() }.digest();
    let command =
        Command::AnswerAgent { by: chief(), digest, answers: Answers::new(), standing: None };
    assert_eq!(rejected(&ask, &command, after(mins(1))), Rejection::NotSender);
}

#[test]
fn rule_06_a_person_may_always_answer() {
    let ask = to_lead_then_owner();
    let at = after(mins(1));
    let claimed = then(&ask, &claim("ann", 5, false), at);
    let moved = then(&ask, &tick(&ask), after(mins(15)));
    for open in [ask, claimed, moved] {
        let settled = then(&open, &answer(&open, "bob"), after(mins(16)));
        assert_eq!(settled.outcome().unwrap().by, Actor::Person(person("bob")));
    }
}

#[test]
fn rule_09_idle_hop_no_waiting() {
    let all = [
        (Idle::Ended, Cause::SenderGone, "lead has ended"),
        (Idle::Paused, Cause::SenderGone, "lead is paused"),
        (Idle::IsAsker, Cause::SenderBlocked, "lead is the asker"),
        (Idle::Blocked, Cause::SenderBlocked, "lead is blocked until this work is done"),
        (Idle::AnswersNone, Cause::SenderGone, "lead does not answer asks"),
        (Idle::EmptyGroup, Cause::SenderGone, "nobody is in the group"),
    ];
    for (why, cause, sentence) in all {
        let last = || to_people(&["owner"], None);
        let first = match why {
            Idle::EmptyGroup => to_people(&[], Some(mins(10))),
            _ => to_session(lead(), 15),
        };
        // When it is filed.
        let mut filing = filing(vec![first.clone(), last()], None);
        filing.idle[0] = Some(why);
        let ask = file(filing);
        assert!(ask.waits_on_person(&owner()), "{why:?}");
        assert_eq!((ask.hop.cause, ask.hop.reason.as_deref()), (cause, Some(sentence)));
        assert_eq!(ask.hop.skipped, [Skipped { hop: 0, why }]);
        assert_eq!((&ask.visited[..], ask.deadline()), (&[1][..], None));

        // On the way up.
        let ask = filed(vec![to_session(chief(), 5), first, last()], None);
        let idle = vec![None, Some(why), None];
        let ask = then(&ask, &Command::Tick { idle, standing: None }, after(mins(5)));
        assert_eq!((ask.hop.index, ask.hop.cause), (2, Cause::Timeout));
        assert_eq!(ask.hop.skipped, [Skipped { hop: 1, why }]);
    }
}

#[test]
fn rule_09_a_hop_that_goes_idle_while_it_is_asked_is_left_at_once() {
    let ask = to_lead_then_owner();
    for (how, sentence) in [(Gone::Paused, "lead is paused"), (ended(), "lead has ended")] {
        let now = after(mins(3));
        let moved = then(&ask, &gone(&ask, &lead(), how), now);
        assert!(moved.waits_on_person(&owner()));
        assert_eq!(moved.hop.cause, Cause::SenderGone);
        assert_eq!(moved.hop.reason.as_deref(), Some(sentence));
    }
    // It can be woken, so the facts say nothing against it.
    let idle = awake(&ask);
    let woken = Command::SessionGone { session: session_id(2), gone: Gone::Paused, idle };
    assert_eq!(run(&ask, &woken, after(mins(3))).0, []);
}

#[test]
fn rule_09_when_all_are_idle_the_owner_is_asked() {
    let mut filing = filing(
        vec![to_session(lead(), 15), to_people(&[], Some(mins(5))), to_people(&[], None)],
        None,
    );
    filing.idle = vec![Some(Idle::Ended), Some(Idle::EmptyGroup), Some(Idle::EmptyGroup)];
    let ask = file(filing);
    assert!(ask.waits_on_person(&owner()));
    assert_eq!(ask.hop.index, 2);
}

#[test]
fn rule_10_an_ask_is_answered_whole() {
    let ask = to_lead_then_owner();
    let at = after(mins(1));
    let text = |text: &str| Answer { text: Some(text.into()), ..Answer::default() };
    let one = |id: &str, answer: Answer| BTreeMap::from([(id.to_owned(), answer)]);
    let by_default = Answer { default: true, selected: vec!["SQLite".into()], text: None };
    let both = Answer { selected: vec!["SQLite".into(), "Postgres".into()], ..Answer::default() };
    let bad = [
        Answers::new(),
        one("store", Answer::default()),
        one("store", text(" \t")),
        one("store", both),
        one("store", by_default),
        one("other", text("x")),
        answers("sqlite"),
    ];
    for answers in bad {
        let command = Command::Answer {
            assurance: Assurance::Local,
            by: owner(),
            digest: ask.digest,
            answers: answers.clone(),
        };
        let Rejection::Invalid(violations) = rejected(&ask, &command, at) else {
            panic!("{answers:?} was not invalid");
        };
        assert!(violations.iter().all(|found| found.field.starts_with("answers[")));
    }
    let free = one("store", text("neither"));
    let command = Command::Answer {
        assurance: Assurance::Local,
        by: owner(),
        digest: ask.digest,
        answers: free.clone(),
    };
    let settled = then(&ask, &command, at);
    assert_eq!(settled.outcome().unwrap().ending, Ending::Answered(free));
}

#[test]
fn rule_11_delivered_means_acknowledged_in_order() {
    let ask = to_lead_then_owner();
    let at = after(mins(1));
    let ask = then(&ask, &say(Actor::Session(lead())), at);
    let ask = then(&ask, &reply("2 GB", &[]), at);
    let ask = then(&ask, &say(Actor::Person(owner())), at);
    assert_eq!(unread(&ask), [2, 4], "the asker's own turn needs no delivery");
    let acknowledge =
        |delivery| Command::Acknowledge { by: Actor::Session(worker()), delivery, lease: None };

    let first = then(&ask, &acknowledge(2), at);
    assert_eq!(unread(&first), [4]);
    assert_eq!(run(&first, &acknowledge(2), at).0, [], "twice is once");
    assert_eq!(run(&first, &acknowledge(3), at).0, []);
    assert_eq!(rejected(&first, &acknowledge(99), at), Rejection::Unknown);

    let settled = then(&first, &answer(&first, "owner"), at);
    assert!(settled.is_unread());
    assert_eq!(unread(&settled), [4]);
    let turn = then(&settled, &acknowledge(4), at);
    assert!(turn.is_unread(), "the outcome is still on its way");
    let whole = then(&settled, &acknowledge(settled.revision), at);
    assert!(!whole.is_unread());
    assert_eq!(unread(&whole), [0; 0], "who has the outcome has the turns before it");
}

#[test]
fn rule_11_a_turn_stays_unread_when_the_asker_withdraws() {
    let ask = then(&to_lead_then_owner(), &say(Actor::Person(owner())), after(mins(1)));
    let withdrawn = then(&ask, &withdraw(), after(mins(2)));
    assert!(withdrawn.is_unread());
    let read = Command::Acknowledge { by: Actor::Session(worker()), delivery: 2, lease: None };
    assert!(!then(&withdrawn, &read, after(mins(3))).is_unread());
    let nobody = then(&withdrawn, &gone(&withdrawn, &worker(), ended()), after(mins(3)));
    assert!(!nobody.is_unread());
}

fn unread(ask: &Ask) -> Vec<u64> {
    ask.turns.iter().filter(|turn| turn.unread).map(|turn| turn.revision).collect()
}

#[test]
fn rule_15_foreign_is_unknown() {
    let ask = to_lead_then_owner();
    for known in [worker(), lead(), chief()] {
        assert!(ask.is_visible_to(&known), "{known:?}");
    }
    assert!(!ask.is_visible_to(&other_lead()), "another run of the same agent is nobody");

    // A hop sees it from when it is asked, and ever after.
    let guest = session("guest", 5);
    let mut filing = filing(
        vec![to_session(lead(), 15), to_session(guest.clone(), 15), to_people(&["owner"], None)],
        None,
    );
    filing.chain.clear();
    let ask = file(filing);
    assert!(ask.is_visible_to(&lead()) && !ask.is_visible_to(&guest));
    let ask = then(&ask, &tick(&ask), after(mins(15)));
    assert!(ask.is_visible_to(&lead()) && ask.is_visible_to(&guest));
    let ask = then(&ask, &answer(&ask, "owner"), after(mins(16)));
    assert!(ask.is_visible_to(&lead()) && ask.is_visible_to(&guest));
}

#[test]
fn rule_18_history_is_enough() {
    let filing = filing(vec![to_session(lead(), 15), to_people(&["owner"], None)], Some(mins(60)));
    let mut history =
        decide(None, &Command::Ask(Box::new(filing)), after(Span::default())).unwrap();
    let mut ask = fold(&history).unwrap();
    type Make = dyn Fn(&Ask) -> Command;
    let steps: [(u64, &Make); 8] = [
        (1, &|_| say(Actor::Session(lead()))),
        (2, &|_| reply("2 GB", &["Redis", "SQLite"])),
        (3, &|_| claim("owner", 2, false)),
        (5, &|ask| tick(ask)),
        (6, &|ask| Command::MarkSeen { by: owner(), digest: ask.digest }),
        (7, &|ask| escalate(ask, Actor::Session(lead()), 0)),
        (8, &|ask| Command::Answer {
            assurance: Assurance::Local,
            by: owner(),
            digest: ask.digest,
            answers: answers("Redis"),
        }),
        (9, &|ask| Command::Acknowledge {
            by: Actor::Session(worker()),
            delivery: ask.revision,
            lease: None,
        }),
    ];
    for (minute, command) in steps {
        let (events, next) = run(&ask, &command(&ask), after(mins(minute)));
        assert_eq!(events.len(), 1);
        history.extend(events);
        ask = next;
    }
    assert_eq!(fold(&history), Some(ask.clone()));
    let kept = serde_json::to_string(&history).unwrap();
    let read: Vec<Event> = serde_json::from_str(&kept).unwrap();
    assert_eq!(fold(&read), Some(ask));
}

#[test]
fn rule_20_bound_to_what_was_shown() {
    let shown = to_lead_then_owner();
    let ask = then(&shown, &reply("or Redis", &["Redis", "SQLite"]), after(mins(1)));
    assert_ne!(ask.digest, shown.digest);
    let at = after(mins(2));
    for old in [answer_agent(&shown, lead()), answer(&shown, "owner"), decline(&shown, "owner")] {
        assert_eq!(rejected(&ask, &old, at), Rejection::Stale);
    }
    assert!(!then(&ask, &answer_agent(&ask, lead()), at).is_open());

    // Claims, hops, seen marks, talk without new options: nothing a reader decides on has changed.
    let same = then(&shown, &claim("ann", 5, false), at);
    let same = then(&same, &Command::MarkSeen { by: owner(), digest: shown.digest }, at);
    let same = then(&same, &reply("2 GB", &[]), at);
    let same = then(&same, &escalate(&same, Actor::Session(lead()), 0), at);
    assert!(!then(&same, &answer(&shown, "owner"), at).is_open());
}

#[test]
fn rule_22_a_tick_makes_progress_and_runs_through_nobody() {
    let ask = filed(
        vec![
            to_people(&["ann"], Some(mins(5))),
            to_people(&["bob"], Some(mins(5))),
            to_people(&["owner"], None),
        ],
        None,
    );
    // A day late: one step all the same, and Bob has his five minutes.
    let now = after(Span::from_hours(24));
    let (events, moved) = run(&ask, &tick(&ask), now);
    assert_eq!((events.len(), moved.hop.index), (1, 1));
    assert_eq!(moved.deadline(), Some(now.time + mins(5)));
    assert_eq!(run(&moved, &tick(&moved), now).0, [], "the same tick again does nothing");
}
