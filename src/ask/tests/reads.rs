//! What an ask says of itself: to lists, to timers, to those who wait for it, and to the engine, which
//! looks up for each command what it wants to know.

use super::*;

fn asker() -> Actor {
    Actor::Session(worker())
}

fn gone(who: SessionRef, ask: &Ask) -> Command {
    let gone = Gone::Ended(Actor::Timer);
    Command::SessionGone { session: who.session, gone, idle: awake(ask) }
}

#[test]
fn it_waits_on_a_person_whom_the_hop_in_force_names() {
    let ask = filed(vec![to_session(lead(), 15), to_people(&["owner", "ann"], None)], None);
    assert!(!ask.waits_on_person(&owner()), "the lead has its time first");
    let ask = then(&ask, &escalate(&ask, Actor::Session(lead()), 0), after(mins(1)));
    assert!(ask.waits_on_person(&owner()) && ask.waits_on_person(&person("ann")));
    assert!(!ask.waits_on_person(&person("bob")));
    let ask = then(&ask, &answer(&ask, "ann"), after(mins(2)));
    assert!(!ask.waits_on_person(&owner()), "it is settled");
}

#[test]
fn the_askers_word_is_next_after_anybody_elses_while_it_is_open() {
    let ask = to_lead_then_owner();
    assert!(!ask.awaits_reply(), "nobody has spoken");
    let spoken = then(&ask, &say(Actor::Session(lead())), after(mins(1)));
    assert!(spoken.awaits_reply());
    let replied = then(&spoken, &reply("2 GB", &[]), after(mins(2)));
    assert!(!replied.awaits_reply(), "the asker spoke last");
    let settled = then(&spoken, &answer_agent(&spoken, lead()), after(mins(2)));
    assert!(!settled.awaits_reply(), "it is settled");
}

#[test]
fn what_was_decided_for_an_asker_that_has_ended_is_its_senders_to_learn() {
    let open = to_lead_then_owner();
    assert_eq!(open.orphan_of(), None);
    let answered = then(&open, &answer_agent(&open, lead()), after(mins(1)));
    assert_eq!(answered.orphan_of(), None, "the asker may still read it");
    let orphan = then(&answered, &gone(worker(), &answered), after(mins(2)));
    assert_eq!(orphan.orphan_of(), Some(&lead()), "nobody else of its chain");
    let told = Command::Acknowledge {
        by: Actor::Session(lead()),
        delivery: orphan.outcome().unwrap().revision,
        lease: None,
    };
    assert_eq!(then(&orphan, &told, after(mins(3))).orphan_of(), None, "once");
    let abandoned = then(&open, &gone(worker(), &open), after(mins(1)));
    assert!(!abandoned.is_open());
    assert_eq!(abandoned.orphan_of(), None, "nothing was decided");
}

#[test]
fn lists_have_what_somebody_still_waits_for() {
    let open = to_lead_then_owner();
    assert!(open.is_listed());
    let answered = then(&open, &answer_agent(&open, lead()), after(mins(1)));
    assert!(answered.is_listed(), "the asker has to read it");
    let outcome = answered.outcome().unwrap().revision;
    let done = then(&answered, &read(outcome), after(mins(2)));
    assert!(!done.is_listed(), "everybody has everything");
    let orphan = then(&answered, &gone(worker(), &answered), after(mins(2)));
    assert!(orphan.is_listed(), "its sender has to learn of it");
    let withdrawn = then(&open, &withdraw(), after(mins(1)));
    assert!(!withdrawn.is_listed(), "it needs no delivery");
}

#[test]
fn a_no_is_kept_for_as_long_as_it_binds_and_an_answer_is_not() {
    let keeps = |policy: Policy, command: fn(&Ask) -> Command| {
        let mut filing = filing(vec![to_people(&["owner"], None)], None);
        filing.policy = policy;
        let ask = file(filing);
        let ask = then(&ask, &command(&ask), after(mins(1)));
        let outcome = ask.outcome().unwrap().revision;
        let ask = then(&ask, &read(outcome), after(mins(2)));
        ask.deadline().unwrap().since(FILED)
    };
    let mut policy = Policy::default();
    (policy.terms.keep, policy.terms.decline_stands) = (mins(60), mins(600));
    let owners = |ask: &Ask| answer(ask, "owner");
    assert_eq!(keeps(policy, owners), mins(2 + 60));
    assert_eq!(keeps(policy, |ask| decline(ask, "owner")), mins(1 + 600));
}

#[test]
fn a_demand_is_met_by_itself_and_by_what_is_surer() {
    let met = |demanded: Assurance, proved| demanded.is_met_by(proved);
    assert!(met(Assurance::Local, None) && met(Assurance::Local, Some(Assurance::Local)));
    assert!(met(Assurance::Local, Some(Assurance::Token)));
    assert!(met(Assurance::Token, Some(Assurance::Token)));
    assert!(!met(Assurance::Token, Some(Assurance::Local)) && !met(Assurance::Token, None));
    assert_eq!(Assurance::Local.to_string(), "local");
    assert_eq!(Assurance::Token.to_string(), "token");
}

/// Each command of a person's that decides or speaks.
fn of_a_person(ask: &Ask, by: &str) -> [Command; 5] {
    [
        answer(ask, by),
        decline(ask, by),
        say(Actor::Person(person(by))),
        claim(by, 5, false),
        escalate(ask, Actor::Person(person(by)), 0),
    ]
}

#[test]
fn a_persons_word_that_is_not_sure_enough_changes_nothing_whatever_it_says() {
    let mut sure =
        filing(vec![to_people(&["owner"], Some(mins(5))), to_people(&["ann"], None)], None);
    sure.draft.assurance = Some(Assurance::Token);
    sure.assurance = Some(Assurance::Token);
    let sure = file(sure);
    let plain = filed(vec![to_people(&["owner"], Some(mins(5))), to_people(&["ann"], None)], None);
    for (unsure, enough) in of_a_person(&sure, "owner").iter().zip(of_a_person(&plain, "owner")) {
        let why = rejected(&sure, unsure, after(mins(1)));
        assert_eq!(why, Rejection::TooUnsure(Assurance::Token), "{unsure:?}");
        then(&plain, &enough, after(mins(1)));
    }
}

#[test]
fn what_travels_with_an_ask_comes_back_as_it_was() {
    for state in [&[][..], &[0], &[1, 255, 16], &[171; 300]] {
        assert_eq!(Carried::new(state, String::new(), String::new()).state(), state);
    }
}

#[test]
fn a_digest_is_its_hexadecimal_digits_and_nothing_else_is_one() {
    let digest = content().digest();
    let text = digest.to_string();
    assert_eq!((text.len(), text.parse()), (64, Ok(digest)));
    assert_eq!(format!("{digest:?}"), text);
    let bytes: String = digest.to_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(bytes, text);
    for wrong in [&text[1..], &format!("{text}0"), &text.replace(|_| true, "g"), ""] {
        assert!(wrong.parse::<ContentDigest>().is_err(), "{wrong}");
    }
}

#[test]
fn who_may_be_idle_is_looked_up_for_what_moves_an_ask_and_for_nothing_else() {
    let ask = to_lead_then_owner();
    let idle = vec![None, Some(Idle::Ended)];
    let mut moves = [
        Command::Ask(Box::new(filing(vec![to_people(&["owner"], None)], None))),
        escalate(&ask, Actor::Session(lead()), 0),
        gone(lead(), &ask),
        Command::PersonGone { person: owner(), idle: awake(&ask) },
        tick(&ask),
        Command::InAgent(Box::new(escalate(&ask, Actor::Person(owner()), 0))),
    ];
    for command in &mut moves {
        *command.idle_hops().expect("it moves the ask") = idle.clone();
        assert!(format!("{command:?}").contains("Ended"), "{command:?}");
    }
    let others = [
        answer_agent(&ask, lead()),
        answer(&ask, "owner"),
        decline(&ask, "owner"),
        withdraw(),
        say(asker()),
        reply("so", &[]),
        seen(&ask, "owner"),
        claim("owner", 5, false),
        Command::Release { by: owner() },
        read(1),
        Command::InAgent(Box::new(answer(&ask, "owner"))),
    ];
    for mut command in others {
        assert!(command.idle_hops().is_none(), "{command:?}");
    }
}

#[test]
fn a_no_that_stands_is_looked_up_where_a_session_or_a_default_might_say_otherwise() {
    let ask = with_default(vec![to_session(lead(), 15), to_people(&["owner"], None)], 30);
    let plain = to_lead_then_owner();
    let mut no = standing_no(&ask, FILED + mins(600));
    no.note = Some("looked up".into());
    let asks_of = |mut command: Command, ask: &Ask, digest: ContentDigest| {
        let (asked, place) = command.standing(ask).expect("it might say otherwise");
        assert_eq!(asked.digest, digest);
        *place = Some(no.clone());
        assert!(format!("{command:?}").contains("looked up"), "{command:?}");
    };
    asks_of(answer_agent(&ask, lead()), &ask, ask.digest);
    asks_of(Command::InAgent(Box::new(answer_agent(&ask, lead()))), &ask, ask.digest);
    asks_of(tick(&ask), &ask, ask.digest);
    let replaced = reply("rather", &["DuckDB", "Postgres"]);
    let then_asked = then(&plain, &replaced, after(mins(1))).digest;
    assert_ne!(then_asked, plain.digest);
    asks_of(replaced, &plain, then_asked);
    assert!(tick(&plain).standing(&plain).is_none(), "nothing is taken by default");
    assert!(reply("so", &[]).standing(&ask).is_none(), "it asks what it asked");
    for mut command in [answer(&ask, "owner"), decline(&ask, "owner"), withdraw(), read(1)] {
        assert!(command.standing(&ask).is_none(), "{command:?}");
    }
}

#[test]
fn a_turn_says_how_sure_it_is_who_spoke() {
    let said =
        |assurance| Command::Say { by: Actor::Person(owner()), text: "why?".into(), assurance };
    for assurance in [None, Some(Assurance::Local), Some(Assurance::Token)] {
        let ask = then(&to_lead_then_owner(), &said(assurance), after(mins(1)));
        assert_eq!(ask.turns[0].assurance, assurance);
    }
}

#[test]
fn each_reason_to_hold_a_default_is_another_sentence() {
    use WhyNoDefault::{Declined, NotShown, PersonSpoke, ShownLately};
    let all = [NotShown, ShownLately, PersonSpoke, Declined].map(WhyNoDefault::sentence);
    assert_eq!(all.iter().collect::<std::collections::HashSet<_>>().len(), all.len());
    assert!(all.iter().all(|sentence| sentence.contains(' ')), "{all:?}");
}

#[test]
fn what_is_told_has_as_much_of_a_long_text_as_fits() {
    let text = "word ".repeat(limits::FOLLOW_UP_BYTES / 5);
    let said = Command::Say { by: Actor::Person(owner()), text, assurance: None };
    let told = then(&to_lead_then_owner(), &said, after(mins(1))).follow_up(2);
    assert!(
        (limits::FOLLOW_UP_BYTES / 4..=limits::FOLLOW_UP_BYTES).contains(&told.len()),
        "{}",
        told.len()
    );
}

#[test]
fn a_person_who_goes_and_was_alone_there_moves_it_on_in_the_next_event() {
    let ask = filed(vec![to_people(&["ann"], Some(mins(5))), to_people(&["owner"], None)], None);
    let gone = Command::PersonGone { person: person("ann"), idle: awake(&ask) };
    let (events, moved) = run(&ask, &gone, after(mins(1)));
    assert_eq!(events.iter().map(|event| event.revision).collect::<Vec<_>>(), [2, 3]);
    assert!(moved.waits_on_person(&owner()));
}
