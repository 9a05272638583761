//! The same question once more: the same ask (rule 13), a person's no that still stands; and
//! deliveries of which one worker at a time has the lease.

use super::*;

#[test]
fn rule_13_the_same_question_is_the_same_ask_until_its_outcome_was_read() {
    let ask = to_lead_then_owner();
    let at = after(mins(1));
    assert!(ask.is_same_once_more());
    for end in [answer(&ask, "owner"), decline(&ask, "owner"), answer_agent(&ask, lead())] {
        let settled = then(&ask, &end, at);
        assert!(settled.is_same_once_more(), "{end:?} is on its way");
        let had = then(&settled, &read(settled.revision), at);
        assert!(!had.is_same_once_more(), "{end:?} was read");
        let nobody = then(&settled, &gone(&settled, &worker(), ended()), at);
        assert!(!nobody.is_same_once_more());
    }
    let expiring = filed(vec![to_people(&["owner"], None)], Some(mins(60)));
    assert!(then(&expiring, &tick(&expiring), after(mins(60))).is_same_once_more());

    // What was taken back, or ended with its asker, is asked anew; also with a turn still unread.
    let said = then(&ask, &say(Actor::Person(owner())), at);
    for end in [withdraw(), gone(&ask, &worker(), ended())] {
        assert!(!then(&said, &end, at).is_same_once_more(), "{end:?}");
    }
}

#[test]
fn rule_13_what_was_sent_otherwise_is_named() {
    let hops = || vec![to_session(lead(), 90), to_people(&["owner"], None)];
    let sent = filing(hops(), Some(mins(60)));
    let ask = file(sent.clone());
    let differs = |change: &dyn Fn(&mut Draft)| {
        let mut draft = sent.draft.clone();
        change(&mut draft);
        draft.differs(&ask)
    };
    let none: [&str; 0] = [];
    assert_eq!(differs(&|_| ()), none);
    assert_eq!(differs(&|draft| draft.route = Some("default".parse().unwrap())), none);
    assert_eq!(differs(&|draft| draft.route = Some("climb".parse().unwrap())), ["route"]);
    assert_eq!(differs(&|draft| draft.expire = None), ["expire"]);
    assert_eq!(differs(&|draft| draft.expire = Some((mins(61), ExpiryAction::Stop))), ["expire"]);
    assert_eq!(
        differs(&|draft| draft.expire = Some((mins(60), ExpiryAction::Default))),
        ["expire"]
    );
    assert_eq!(differs(&|draft| draft.defaults = answers("SQLite")), ["expire"]);
    assert_eq!(differs(&|draft| draft.priority = Priority::High), none);

    // Talk does not change what was sent; an expiry that is dropped is not in force any more.
    let replied = then(&ask, &reply("2 GB", &[]), after(mins(1)));
    assert_eq!(sent.draft.differs(&replied), none);
    let dropped = then(&ask, &tick(&ask), after(mins(60)));
    assert_eq!(sent.draft.differs(&dropped), ["expire"]);
}

/// The ask with the same content, filed in `minutes` with what stands then.
fn asked_again(standing: &StandingNo, again: bool, minutes: u64) -> Ask {
    let mut filing = filing(vec![to_session(lead(), 15), to_people(&["owner"], None)], None);
    (filing.id, filing.draft.again) = (AskId::new(FILED, [8; 6]), again);
    filing.standing = Some(standing.clone());
    fold(&decide(None, &Command::Ask(Box::new(filing)), after(mins(minutes))).unwrap()).unwrap()
}

#[test]
fn c38_a_persons_no_binds() {
    let ask = to_lead_then_owner();
    let declined = then(&ask, &decline(&ask, "ann"), after(mins(1)));
    let no = StandingNo::after(&declined, declined.what_is_asked(), None).unwrap();
    let gist = ask.what_is_asked().gist;
    assert_eq!((no.tree, no.digest, no.ask, no.revision), (ask.tree, gist, ask.id, 1));
    assert_eq!(no.until, FILED + mins(1) + limits::DECLINE_STANDS);

    // One that askway 0.1 wrote is kept by its spelling: the next no is a record of its own.
    let older = StandingNo { digest: ask.digest, revision: 3, again: 2, ..no.clone() };
    let over = StandingNo::after(&declined, declined.what_is_asked(), Some(&older)).unwrap();
    assert_eq!((over.digest, over.revision, over.again), (gist, 1, 2));

    // Filed and settled at once, by that person, with the note, linked to the first.
    let second = asked_again(&no, false, 10);
    let outcome = second.outcome().unwrap();
    assert_eq!((&outcome.ending, &outcome.by), (&Ending::Declined, &Actor::Person(person("ann"))));
    assert_eq!(outcome.note.as_deref(), Some("not this week"));
    assert_eq!((outcome.stands_from, second.revision), (Some(ask.id), 2));
    assert!(second.is_unread(), "the asker is told");
    assert_eq!(
        StandingNo::after(&second, second.what_is_asked(), Some(&no)),
        None,
        "a repetition prolongs nothing"
    );

    // Until it is over.
    let day = 24 * 60;
    assert!(!asked_again(&no, false, day).is_open());
    let over = asked_again(&no, false, day + 1);
    assert!(over.is_open() && over.again == 0);
}

#[test]
fn c38_asked_again_all_the_same_it_goes_to_people_and_is_counted() {
    let ask = to_lead_then_owner();
    let declined = then(&ask, &decline(&ask, "ann"), after(mins(1)));
    let no = StandingNo::after(&declined, declined.what_is_asked(), None).unwrap();
    let again = asked_again(&no, true, 5);
    assert!(again.is_open());
    assert_eq!(again.again, 1);
    let no = no.asked_again();
    assert_eq!((no.again, no.revision), (1, 2));

    // Declined once more, the count goes on; the first twin's late no does not forget it.
    let declined = then(&again, &decline(&again, "owner"), after(mins(6)));
    let second = StandingNo::after(&declined, declined.what_is_asked(), Some(&no)).unwrap();
    assert_eq!((second.again, second.revision, second.by.as_str()), (1, 3, "owner"));
    assert_eq!(asked_again(&second, true, 7).again, 2);
    let late = then(&ask, &decline(&ask, "bob"), after(mins(8)));
    assert_eq!(StandingNo::after(&late, late.what_is_asked(), Some(&second)).unwrap().again, 1);

    let route = Route { hops: vec![to_session(lead(), 15), to_people(&["ann"], None)] };
    assert_eq!(route.of_people().hops, [to_people(&["ann"], None)]);
}

#[test]
fn a_second_no_does_not_shorten_the_first() {
    let ask = to_lead_then_owner();
    let declined = then(&ask, &decline(&ask, "ann"), after(mins(1)));
    let no = StandingNo::after(&declined, declined.what_is_asked(), None).unwrap();
    let mut short = filing(vec![to_people(&["owner"], None)], None);
    short.policy.terms.decline_stands = Span::default();
    let short = file(short);
    let declined = then(&short, &decline(&short, "bob"), after(mins(2)));
    assert_eq!(
        StandingNo::after(&declined, declined.what_is_asked(), Some(&no)).unwrap().until,
        no.until
    );
    let alone = StandingNo::after(&declined, declined.what_is_asked(), None).unwrap();
    assert!(!alone.stands(after(mins(2))), "where nothing is to stand, nothing does");
}

#[test]
fn a_session_cannot_say_yes_to_what_a_person_declined_and_a_person_can() {
    let ask = to_lead_then_owner();
    let no = standing_no(&ask, FILED + mins(100));
    let by_lead = |until| Command::AnswerAgent {
        by: lead(),
        digest: ask.digest,
        answers: answers("SQLite"),
        standing: Some(StandingNo { until, ..no.clone() }),
    };
    let now = after(mins(10));
    let refused = rejected(&ask, &by_lead(no.until), now);
    assert_eq!(refused, Rejection::StandingDecline(Box::new(no.clone())));
    // It climbs as usual, and whoever may lift the no does by answering.
    let moved = then(&ask, &escalate(&ask, Actor::Session(lead()), 0), now);
    let answered = then(&moved, &answer(&moved, "owner"), now);
    let lifted = StandingNo::after(&answered, answered.what_is_asked(), Some(&no)).unwrap();
    assert_eq!((lifted.until, lifted.revision), (now.time, 2));
    assert!(!lifted.stands(now));
    assert!(!then(&ask, &by_lead(lifted.until), now).is_open());
    assert_eq!(
        StandingNo::after(&answered, answered.what_is_asked(), Some(&lifted)),
        None,
        "once is enough"
    );
    assert_eq!(StandingNo::after(&answered, answered.what_is_asked(), None), None);

    // A session's answer, an expiry, a withdrawal leave it as it is.
    let by_session = then(&ask, &answer_agent(&ask, lead()), now);
    let withdrawn = then(&ask, &withdraw(), now);
    for other in [&ask, &by_session, &withdrawn] {
        assert_eq!(StandingNo::after(other, other.what_is_asked(), Some(&no)), None);
    }
}

/// An ask whose answer nobody has read.
fn answered() -> Ask {
    let ask = to_lead_then_owner();
    then(&ask, &answer(&ask, "owner"), after(mins(1)))
}

fn lease(holder: &str, name: u8, extend: Option<u8>) -> Command {
    let (lease, extend) = (lease_id(name), extend.map(lease_id));
    let (by, length) = (Actor::Host("local".parse().unwrap()), limits::LEASE);
    Command::Lease { by, lease, holder: holder.into(), length, extend }
}

fn hand_over(ask: &Ask, name: Option<u8>) -> Command {
    let by = Actor::Host("local".parse().unwrap());
    Command::Acknowledge { by, delivery: ask.revision_of_outcome(), lease: name.map(lease_id) }
}

impl Ask {
    fn revision_of_outcome(&self) -> u64 {
        self.outcome().expect("it is settled").revision
    }
}

#[test]
fn one_worker_at_a_time_has_what_is_unread() {
    let ask = then(&answered(), &lease("one", 1, None), after(mins(2)));
    let now = after(mins(3));
    let held = ask.lease.clone().unwrap();
    assert_eq!((held.holder.as_str(), held.until), ("one", FILED + mins(7)));
    let told = Rejection::Leased(Some(held));
    assert_eq!(rejected(&ask, &lease("two", 2, None), now), told);
    assert_eq!(rejected(&ask, &hand_over(&ask, None), now), told);
    assert_eq!(rejected(&ask, &hand_over(&ask, Some(2)), now), told);

    let longer = then(&ask, &lease("one", 3, Some(1)), now);
    let held = longer.lease.clone().unwrap();
    assert_eq!((held.id, held.until), (lease_id(1), FILED + mins(8)), "it keeps its name");
    let had = then(&longer, &hand_over(&longer, Some(1)), after(mins(7)));
    assert!(!had.is_unread());
    assert_eq!(had.lease, None);
    assert_eq!(run(&had, &hand_over(&had, Some(1)), after(mins(7))).0, [], "twice is once");
    assert_eq!(run(&had, &lease("two", 2, None), after(mins(7))).0, [], "nothing is left");
}

#[test]
fn who_has_a_lease_for_longer_is_called_as_before_or_as_said_now() {
    let ask = then(&answered(), &lease("one", 1, None), after(mins(2)));
    let holder = |ask: &Ask, command: &Command, now: Now| {
        then(ask, command, now).lease.expect("it is leased").holder
    };
    assert_eq!(holder(&ask, &lease("", 3, Some(1)), after(mins(3))), "one");
    assert_eq!(holder(&ask, &lease("two", 3, Some(1)), after(mins(3))), "two");
    assert_eq!(holder(&ask, &lease("", 2, None), after(mins(7))), "", "another lease is nobody's");
}

#[test]
fn a_late_lease_is_refused_and_told_who_has_it() {
    let ask = then(&answered(), &lease("one", 1, None), after(mins(2)));
    let lapsed = after(mins(7));
    assert_eq!(rejected(&ask, &hand_over(&ask, Some(1)), lapsed), Rejection::Leased(None));
    assert_eq!(rejected(&ask, &lease("one", 1, Some(1)), lapsed), Rejection::Leased(None));
    let taken = then(&ask, &lease("two", 2, None), lapsed);
    let told = rejected(&taken, &hand_over(&taken, Some(1)), lapsed);
    assert_eq!(told, Rejection::Leased(taken.lease.clone()));
    assert_eq!(taken.lease.as_ref().unwrap().holder, "two");
    assert!(!then(&taken, &hand_over(&taken, Some(2)), lapsed).is_unread());
    // Without any, the asker itself may, once nobody holds one.
    assert!(!then(&ask, &hand_over(&ask, None), lapsed).is_unread());
}

#[test]
fn a_lease_is_gone_with_what_it_was_for() {
    let ask = then(&answered(), &lease("one", 1, None), after(mins(2)));
    let nobody = then(&ask, &gone(&ask, &worker(), ended()), after(mins(3)));
    assert_eq!(nobody.lease, None);
    assert_eq!(run(&nobody, &lease("two", 2, None), after(mins(3))).0, []);

    // An outcome that comes while a turn is leased is handed over by the same worker.
    let said = then(&to_lead_then_owner(), &say(Actor::Person(owner())), after(mins(1)));
    let leased = then(&said, &lease("one", 1, None), after(mins(2)));
    let settled = then(&leased, &answer(&leased, "owner"), after(mins(3)));
    assert!(!then(&settled, &hand_over(&settled, Some(1)), after(mins(4))).is_unread());
}

#[test]
fn where_the_same_question_was_sent_otherwise_it_says_in_what() {
    let mut demanding = filing(vec![to_people(&["owner"], None)], None);
    let plain = demanding.draft.clone();
    let ask = file(demanding.clone());
    assert_eq!(plain.differs(&ask), [""; 0]);
    let stricter = Draft { assurance: Some(Assurance::Token), ..plain.clone() };
    demanding.assurance = Some(Assurance::Token);
    let strict = file(demanding);
    assert_eq!(strict.assurance, Some(Assurance::Token));
    assert_eq!(plain.differs(&strict), ["assurance"], "it demands more than was sent");
    assert_eq!(stricter.differs(&strict), [""; 0]);
    assert_eq!(stricter.differs(&ask), [""; 0], "less than was sent it never demands in the end");
}

#[test]
fn a_no_that_was_over_when_the_next_was_said_is_not_counted_on() {
    let ask = to_lead_then_owner();
    let ask = then(&ask, &escalate(&ask, Actor::Session(lead()), 0), after(mins(1)));
    let declined = then(&ask, &decline(&ask, "owner"), after(mins(2)));
    let asked = declined.what_is_asked();
    let again = |until| {
        let before = StandingNo { again: 5, ..standing_no(&declined, until) };
        StandingNo::after(&declined, asked, Some(&before)).expect("a no").again
    };
    let time = declined.outcome().unwrap().time;
    assert_eq!(again(time), 0);
    assert_eq!(again(time + Span::from_millis(1)), 5);
}

#[test]
fn a_no_may_be_of_what_a_person_declined_themselves_and_of_nothing_else() {
    let ask = to_lead_then_owner();
    assert!(!StandingNo::may_be_of(&ask), "it is open");
    let ask = then(&ask, &escalate(&ask, Actor::Session(lead()), 0), after(mins(1)));
    let ends = [decline(&ask, "owner"), answer(&ask, "owner"), withdraw()];
    let may = ends.map(|end| StandingNo::may_be_of(&then(&ask, &end, after(mins(2)))));
    assert_eq!(may, [true, false, false]);
    let mut again = filing(vec![to_people(&["owner"], None)], None);
    again.standing = Some(standing_no(&ask, FILED + mins(60)));
    let repeated = file(again);
    assert!(repeated.outcome().is_some_and(|outcome| outcome.stands_from.is_some()));
    assert!(!StandingNo::may_be_of(&repeated), "that is the earlier one's");
}
