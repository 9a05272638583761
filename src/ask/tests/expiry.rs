//! Rule 4: when an asker's deadline comes, what it does, and what holds it.

use super::*;

/// What holds when an expiry of an hour is looked at, and what a tick then does: the rows of
/// [`happened`] and [`at`]. The columns are what the asker wanted, and who is asked.
const TABLE: &str = "
                   stop/session default/session stop/people default/people
too-early          .            .               .           .
not-shown          people       people          expired     wait-NotShown
shown-too-short    people       people          expired     until
shown-long-enough  people       people          expired     defaults
shown-before-a-gap people       people          expired     until
gap-long-ago       people       people          expired     defaults
others-content     people       people          expired     wait-NotShown
turn-unread        .            .               .           .
turn-at-last-read  people       people          expired     wait-PersonSpoke
turn-never-read    hold-lapsed  hold-lapsed     hold-lapsed hold-lapsed
hour-after-that    people       people          expired     wait-PersonSpoke
spoke-and-was-read people       people          expired     wait-PersonSpoke
replied            .            .               .           .
replied-due        people       people          expired     defaults
new-options-due    people       people          expired     wait-NotShown
claimed            .            .               .           .
claim-lapsed       claim-lapsed claim-lapsed    claim-lapsed claim-lapsed
released           .            .               .           .
released-due       people       people          expired     defaults
";

const COLUMNS: [&str; 4] = ["stop/session", "default/session", "stop/people", "default/people"];

/// The ask of a column: it expires in an hour, and nobody of its route has a shorter time.
fn column(name: &str) -> Ask {
    let (action, asked) = name.split_once('/').unwrap();
    let last = || to_people(&["owner"], None);
    let hops = match asked {
        "session" => vec![to_session(lead(), 600), last()],
        "people" => vec![last()],
        _ => panic!("nobody is known who is `{asked}`"),
    };
    match action {
        "stop" => {
            let mut filing = filing(hops, Some(mins(60)));
            what(&mut filing).questions[0].options[0].recommended = true;
            file(filing)
        }
        "default" => with_default(hops, 60),
        _ => panic!("no action is `{action}`"),
    }
}

/// What has happened to the ask in the hour before; minutes after the filing.
fn happened(row: &str, ask: Ask) -> Ask {
    let spoke = |ask: &Ask, at| then(ask, &say(Actor::Person(owner())), after(mins(at)));
    let shown = |ask: &Ask, at| then(ask, &seen(ask, "owner"), after(mins(at)));
    let claimed = |ask: &Ask| then(ask, &claim("owner", 15, false), after(mins(50)));
    match row {
        "too-early" | "not-shown" => ask,
        "shown-too-short" => then(&ask, &seen(&ask, "owner"), Now::at(FILED + short())),
        "shown-long-enough" => shown(&ask, 59),
        "shown-before-a-gap" | "gap-long-ago" => shown(&ask, 20),
        "others-content" => {
            let ask = shown(&ask, 10);
            let other = reply("or Redis", &["Redis"]);
            let Command::Reply { mut options, text, by, .. } = other else { unreachable!() };
            options.get_mut("store").unwrap()[0].recommended = true;
            let changed =
                then(&ask, &Command::Reply { options, text, by, standing: None }, after(mins(11)));
            assert_eq!(due(&changed), Some(FILED + mins(71)));
            changed
        }
        "turn-unread" | "turn-never-read" => spoke(&shown(&ask, 10), 20),
        "turn-at-last-read" => {
            let ask = spoke(&shown(&ask, 10), 20);
            then(&ask, &read(ask.revision), after(mins(50)))
        }
        "hour-after-that" => {
            let ask = spoke(&shown(&ask, 10), 20);
            then(&ask, &tick(&ask), after(mins(80)))
        }
        "spoke-and-was-read" => {
            let ask = spoke(&shown(&ask, 10), 20);
            then(&ask, &read(ask.revision), after(mins(20)))
        }
        "replied" | "replied-due" => {
            let ask = spoke(&shown(&ask, 10), 20);
            let ask = then(&ask, &read(ask.revision), after(mins(20)));
            then(&ask, &reply("2 GB", &[]), after(mins(30)))
        }
        "new-options-due" => {
            let ask = shown(&ask, 10);
            let Command::Reply { by, text, mut options, .. } = reply("2 GB", &["SQLite"]) else {
                unreachable!()
            };
            options.get_mut("store").unwrap()[0].recommended = true;
            then(&ask, &Command::Reply { by, text, options, standing: None }, after(mins(30)))
        }
        "claimed" | "claim-lapsed" => claimed(&shown(&ask, 10)),
        "released" | "released-due" => {
            let ask = claimed(&shown(&ask, 10));
            then(&ask, &Command::Release { by: owner() }, after(mins(55)))
        }
        _ => panic!("nothing is known to happen in the row `{row}`"),
    }
}

/// A millisecond less than the person window before the hour.
fn short() -> Span {
    Span::from_millis(mins(60).as_millis() - limits::PERSON_WINDOW.as_millis() + 1)
}

/// When the tick comes.
fn at(row: &str) -> Now {
    match row {
        "too-early" => Now::at(FILED + Span::from_millis(mins(60).as_millis() - 1)),
        "shown-before-a-gap" => Now { awake_since: FILED + short(), ..after(mins(60)) },
        "gap-long-ago" => Now { awake_since: FILED + mins(59), ..after(mins(60)) },
        "others-content" => after(mins(71)),
        "turn-at-last-read" => after(mins(90)),
        "turn-never-read" => after(mins(80)),
        "hour-after-that" => after(mins(120)),
        "replied-due" | "new-options-due" => after(mins(90)),
        "claim-lapsed" | "released-due" => after(mins(65)),
        _ => after(mins(60)),
    }
}

/// What the tick did, as a cell spells it.
fn cell(before: &Ask, events: &[Event], ask: &Ask) -> String {
    let [event] = events else {
        assert_eq!((events, ask), (&[][..], before));
        return ".".to_owned();
    };
    match &event.kind {
        EventKind::Escalated(moved) if moved.cause == Cause::AskersExpiry => {
            assert!(ask.waits_on_person(&owner()));
            assert_eq!((ask.expiry, ask.turn_hold), (None, None), "it is dropped for good");
            "people".to_owned()
        }
        EventKind::Expired { answers: None } => "expired".to_owned(),
        EventKind::Expired { answers: Some(answers) } => {
            assert!(answers.values().all(|answer| answer.default), "{answers:?}");
            assert_eq!(answers["store"].selected, ["SQLite"]);
            "defaults".to_owned()
        }
        EventKind::DefaultHeld { why, until: None } => {
            assert_eq!(clock(ask), Some(ExpiryClock::Waits(*why)));
            assert_eq!(ask.deadline(), None, "only somebody's act goes on from here");
            format!("wait-{why:?}")
        }
        EventKind::DefaultHeld { until: Some(until), .. } => {
            assert_eq!(ask.deadline(), Some(*until));
            "until".to_owned()
        }
        EventKind::ClaimLapsed { .. } => {
            assert_eq!(due(ask), Some(event.time + mins(10)), "what was left runs on");
            "claim-lapsed".to_owned()
        }
        EventKind::TurnHoldLapsed => {
            assert_eq!(due(ask), Some(event.time + mins(40)), "what was left runs on");
            "hold-lapsed".to_owned()
        }
        other => panic!("a tick never makes {other:?} of an expiry"),
    }
}

#[test]
fn rule_04_the_expiry_table() {
    let mut lines = TABLE.lines().filter(|line| !line.trim().is_empty());
    let columns: Vec<_> = lines.next().unwrap().split_whitespace().collect();
    assert_eq!(columns, COLUMNS, "a column is missing");
    let mut wrong = Vec::new();
    for line in lines {
        let words: Vec<_> = line.split_whitespace().collect();
        assert_eq!(words.len(), columns.len() + 1, "a cell is missing in `{line}`");
        for (name, expected) in columns.iter().zip(&words[1..]) {
            let (before, now) = (happened(words[0], column(name)), at(words[0]));
            let (events, ask) = run(&before, &tick(&before), now);
            // Rule 22, after every tick there is.
            assert!(ask.deadline().is_none_or(|due| due > now.time), "{line}: {ask:?}");
            let found = cell(&before, &events, &ask);
            if found != *expected {
                wrong.push(format!("{} / {name}: {found} instead of {expected}", words[0]));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn rule_04_silence_is_not_consent() {
    // Nobody looks for a week: nothing is chosen, and nothing is over.
    let ask = with_default(vec![to_people(&["owner"], None)], 60);
    let held = then(&ask, &tick(&ask), after(mins(60)));
    let week = mins(7 * 24 * 60);
    assert_eq!(run(&held, &tick(&held), after(week)).0, []);

    // Shown at last, a person has the whole window to object in.
    let shown = then(&held, &seen(&held, "owner"), after(week));
    let stands = FILED + week + limits::PERSON_WINDOW;
    assert_eq!(shown.deadline(), Some(stands));
    let objected = then(&shown, &say(Actor::Person(owner())), after(week));
    assert_eq!(clock(&objected), Some(ExpiryClock::Stands(limits::PERSON_WINDOW)));
    let (events, over) = run(&shown, &tick(&shown), Now::at(stands));
    assert_eq!(events.len(), 1);
    let outcome = over.outcome().unwrap();
    assert!(matches!(&outcome.ending, Ending::Expired(Some(_))), "{outcome:?}");
    assert_eq!(outcome.by, Actor::Timer, "nobody's answer");

    // A gap in between is a time in which nobody can say what was on their screen.
    let gap = Now { awake_since: FILED + week + Span::from_secs(50), ..Now::at(stands) };
    let again = then(&shown, &tick(&shown), gap);
    assert_eq!(again.deadline(), Some(gap.awake_since + limits::PERSON_WINDOW));
}

#[test]
fn rule_04_whoever_spoke_was_not_silent() {
    let ask = with_default(vec![to_people(&["owner"], None)], 60);
    let ask = then(&ask, &seen(&ask, "owner"), after(mins(1)));
    let ask = then(&ask, &say(Actor::Person(owner())), after(mins(2)));
    let ask = then(&ask, &read(ask.revision), after(mins(2)));
    let held = then(&ask, &tick(&ask), after(mins(60)));
    assert_eq!(clock(&held), Some(ExpiryClock::Waits(WhyNoDefault::PersonSpoke)));
    // Being shown it once more is no word; the asker's reply starts the whole time anew.
    let held = then(&held, &seen(&held, "ann"), after(mins(61)));
    assert_eq!(held.deadline(), None);
    let replied = then(&held, &reply("2 GB", &[]), after(mins(62)));
    assert_eq!(replied.deadline(), Some(FILED + mins(122)));
    assert!(!then(&replied, &tick(&replied), after(mins(122))).is_open());
}

#[test]
fn rule_04_an_unread_turn_holds_for_an_hour_at_most_however_many_there_are() {
    let ask = filed(vec![to_people(&["owner"], None)], Some(mins(60)));
    let ask = then(&ask, &say(Actor::Person(owner())), after(mins(59)));
    let ask = then(&ask, &say(Actor::Person(person("ann"))), after(mins(100)));
    assert_eq!(ask.deadline(), Some(FILED + mins(119)), "the second prolongs nothing");
    assert_eq!(run(&ask, &tick(&ask), after(mins(118))).0, []);

    // What was left, at least a minute, runs on.
    let ask = then(&ask, &tick(&ask), after(mins(119)));
    assert_eq!(ask.deadline(), Some(FILED + mins(120)));
    // One more turn while the first is unread still holds nothing.
    let ask = then(&ask, &say(Actor::Person(owner())), after(mins(119)));
    assert_eq!(ask.deadline(), Some(FILED + mins(120)));
    assert!(!then(&ask, &tick(&ask), after(mins(120))).is_open());
}

#[test]
fn rule_04_one_of_two_turns_read_is_not_all_read() {
    let ask = filed(vec![to_people(&["owner"], None)], Some(mins(60)));
    let ask = then(&ask, &say(Actor::Person(owner())), after(mins(10)));
    let first = ask.revision;
    let ask = then(&ask, &say(Actor::Person(owner())), after(mins(20)));
    let second = ask.revision;
    let ask = then(&ask, &read(first), after(mins(30)));
    assert_eq!(clock(&ask), Some(ExpiryClock::Stands(mins(50))));
    let ask = then(&ask, &read(second), after(mins(40)));
    assert_eq!(ask.deadline(), Some(FILED + mins(90)));
    // A turn of its own, once all are read.
    let ask = then(&ask, &say(Actor::Person(owner())), after(mins(50)));
    assert_eq!(ask.deadline(), Some(FILED + mins(110)));
}

#[test]
fn rule_04_what_runs_on_has_at_least_a_minute() {
    let ask = filed(vec![to_people(&["owner"], None)], Some(mins(60)));
    let last = Now::at(FILED + Span::from_millis(mins(60).as_millis() - 1));
    for (hold, release) in [
        (say(Actor::Person(owner())), read(2)),
        (claim("owner", 5, false), Command::Release { by: owner() }),
    ] {
        let held = then(&ask, &hold, last);
        let on = then(&held, &release, after(mins(61)));
        assert_eq!(on.deadline(), Some(FILED + mins(62)), "{hold:?}");
    }
    // Held when it had come already and nobody had noticed, it has not come.
    let held = then(&ask, &claim("owner", 5, false), after(mins(63)));
    assert_eq!(clock(&held), Some(ExpiryClock::Stands(Span::default())));
    let on = then(&held, &tick(&held), after(mins(68)));
    assert_eq!(on.deadline(), Some(FILED + mins(69)));
}

#[test]
fn rule_04_a_claim_and_an_unread_turn_each_hold_until_both_are_gone() {
    let ask = filed(vec![to_session(lead(), 30), to_people(&["owner"], None)], Some(mins(60)));
    let both = then(&ask, &claim("owner", 15, false), after(mins(10)));
    let both = then(&both, &say(Actor::Person(owner())), after(mins(15)));
    let release = Command::Release { by: owner() };

    let turn = then(&both, &release, after(mins(20)));
    assert_eq!(clock(&turn), Some(ExpiryClock::Stands(mins(50))));
    assert_eq!(turn.hop.deadline, Some(FILED + mins(40)), "a turn holds no route timer");
    let none = then(&turn, &read(turn.turns[0].revision), after(mins(25)));
    assert_eq!(due(&none), Some(FILED + mins(75)));

    let claimed = then(&both, &read(both.turns[0].revision), after(mins(20)));
    assert_eq!(clock(&claimed), Some(ExpiryClock::Stands(mins(50))));
    assert_eq!(claimed.deadline(), Some(FILED + mins(25)), "the claim's lapse");
    let none = then(&claimed, &release, after(mins(22)));
    assert_eq!(due(&none), Some(FILED + mins(72)));
}

#[test]
fn rule_04_a_reply_under_a_hold_starts_anew_when_the_hold_ends() {
    let ask = filed(vec![to_people(&["owner"], None)], Some(mins(60)));
    let ask = then(&ask, &say(Actor::Person(owner())), after(mins(10)));
    let turn = ask.revision;
    let ask = then(&ask, &reply("2 GB", &[]), after(mins(20)));
    assert_eq!(clock(&ask), Some(ExpiryClock::Stands(mins(60))));
    let ask = then(&ask, &read(turn), after(mins(30)));
    assert_eq!(due(&ask), Some(FILED + mins(90)));
}

#[test]
fn talk_moves_no_route_timer() {
    let ask = filed(vec![to_session(lead(), 15), to_people(&["owner"], None)], Some(mins(60)));
    let talked = then(&ask, &say(Actor::Session(lead())), after(mins(1)));
    assert_eq!(talked.expiry, ask.expiry, "a session's turn holds nothing either");
    let talked = then(&talked, &say(Actor::Person(owner())), after(mins(2)));
    let talked = then(&talked, &reply("2 GB", &["SQLite"]), after(mins(3)));
    let talked = then(&talked, &read(talked.revision), after(mins(4)));
    assert_eq!(talked.hop, ask.hop);
    assert!(then(&talked, &tick(&talked), after(mins(15))).waits_on_person(&owner()));
}

#[test]
fn a_claim_goes_along_to_the_next_hop_and_holds_its_timer() {
    let hops = vec![
        to_session(lead(), 30),
        to_people(&["ann"], Some(mins(20))),
        to_people(&["owner"], None),
    ];
    let ask = filed(hops, Some(mins(60)));
    let claimed = then(&ask, &claim("ann", 15, false), after(mins(10)));

    let refused = then(&claimed, &escalate(&ask, Actor::Session(lead()), 0), after(mins(12)));
    assert_eq!(refused.claim.as_ref().map(|claim| &claim.by), Some(&person("ann")));
    assert_eq!(refused.deadline(), Some(FILED + mins(25)), "the claim's lapse alone");
    let lapsed = then(&refused, &tick(&refused), after(mins(25)));
    assert_eq!(lapsed.hop.deadline, Some(FILED + mins(45)), "its whole time");
    assert_eq!(due(&lapsed), Some(FILED + mins(75)));

    // Moved on by the claimant, nobody is on it any more.
    let handed = then(&claimed, &escalate(&ask, Actor::Person(person("ann")), 0), after(mins(12)));
    assert_eq!((&handed.claim, handed.deadline()), (&None, Some(FILED + mins(32))));
    assert_eq!(due(&handed), Some(FILED + mins(62)));
}

#[test]
fn nothing_is_held_where_there_is_no_expiry() {
    let ask = filed(vec![to_session(lead(), 90), to_people(&["owner"], None)], Some(mins(60)));
    let moved = then(&ask, &tick(&ask), after(mins(60)));
    let said = then(&moved, &say(Actor::Person(owner())), after(mins(61)));
    assert_eq!(said.deadline(), None);

    // Nor once it is dropped under the hold: a lapse would be an event about nothing.
    let hops = vec![to_session(lead(), 5), to_people(&["owner"], None)];
    let ask = then(&filed(hops, None), &say(Actor::Person(owner())), after(mins(1)));
    assert_eq!(then(&ask, &tick(&ask), after(mins(5))).deadline(), None);
}

#[test]
fn rule_04_a_default_is_named_or_refused() {
    let people = || vec![to_people(&["owner"], None)];
    let mut unnamed = filing(people(), None);
    unnamed.draft.expire = Some((mins(60), ExpiryAction::Default));
    let refused = |filing: &Filing| match decide(
        None,
        &Command::Ask(Box::new(filing.clone())),
        after(Span::default()),
    ) {
        Err(Rejection::Invalid(found)) => found.into_iter().map(|found| found.field).collect(),
        other => panic!("{other:?}"),
    };
    let fields: Vec<String> = refused(&unnamed);
    assert_eq!(fields, ["defaults[store]"], "the order of options never implies a choice");

    let mut given = unnamed.clone();
    given.draft.defaults = answers("Postgres");
    let ask = file(given.clone());
    let gone = reply("no Postgres", &["SQLite"]);
    assert!(matches!(rejected(&ask, &gone, after(mins(1))), Rejection::Invalid(_)));
    let kept = then(&ask, &reply("or Redis", &["Redis", "Postgres"]), after(mins(1)));
    let shown = then(&kept, &seen(&kept, "owner"), after(mins(2)));
    let over = then(&shown, &tick(&shown), after(mins(61)));
    let Some(Ending::Expired(Some(named))) = over.outcome().map(|outcome| &outcome.ending) else {
        panic!("{over:?}")
    };
    assert_eq!(named["store"].selected, ["Postgres"]);

    given.draft.defaults = answers("MySQL");
    assert_eq!(refused(&given), ["defaults[store].selected"]);
    let mut stop = filing(people(), Some(mins(60)));
    stop.draft.defaults = answers("SQLite");
    assert_eq!(refused(&stop), ["defaults"]);
}
