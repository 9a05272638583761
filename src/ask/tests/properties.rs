//! Laws that hold over every history: random commands by random principals at random times.
//! A failure prints its seed and the shortest history that shows it.

use super::*;
use proptest::prelude::*;

/// One step of a history: some time passes, then somebody tries something.
#[derive(Clone, Debug)]
struct Step {
    wait: Span,
    attempt: Attempt,
}

/// A command before it meets an ask: its numbers choose among what the ask has.
#[derive(Clone, Debug)]
enum Attempt {
    /// Where a person's no stands until so many minutes after filing, or none does.
    AnswerAgent(usize, bool, Pick, Option<u64>),
    Answer(usize, bool, Pick),
    Decline(usize, bool),
    Escalate(usize, usize, Vec<Option<Idle>>),
    Withdraw(usize),
    Say(usize),
    Reply(usize, Option<Vec<&'static str>>),
    MarkSeen(usize, bool),
    Claim(usize, u64, bool),
    Release(usize),
    /// With one of three leases, or none.
    Acknowledge(usize, u64, Option<u8>),
    Lease(usize, u8, Option<u8>),
    SessionGone(usize, bool, Vec<Option<Idle>>),
    /// At whatever instant it is, or exactly at the deadline, a little before, or after it.
    Tick(Option<i64>, Vec<Option<Idle>>),
}

/// What an answer selects.
#[derive(Clone, Copy, Debug)]
enum Pick {
    First,
    Removed,
    Nothing,
}

fn sessions() -> [SessionRef; 5] {
    [worker(), lead(), chief(), other_lead(), session("guest", 5)]
}

fn people() -> [PersonName; 3] {
    [owner(), person("ann"), person("bob")]
}

fn actor(number: usize) -> Actor {
    match sessions().get(number) {
        Some(session) => Actor::Session(session.clone()),
        None => Actor::Person(people()[number % 3].clone()),
    }
}

fn idle() -> impl Strategy<Value = Vec<Option<Idle>>> {
    let one = prop_oneof![
        4 => Just(None),
        1 => Just(Some(Idle::Ended)),
        1 => Just(Some(Idle::Paused)),
        1 => Just(Some(Idle::Blocked)),
    ];
    prop::collection::vec(one, 5)
}

fn pick() -> impl Strategy<Value = Pick> {
    prop_oneof![4 => Just(Pick::First), 1 => Just(Pick::Removed), 1 => Just(Pick::Nothing)]
}

fn lease() -> impl Strategy<Value = Option<u8>> {
    prop::option::of(0..3u8)
}

/// Ends are rarer than the rest, so that histories grow long.
fn attempt() -> impl Strategy<Value = Attempt> {
    let labels = prop_oneof![Just(vec!["SQLite"]), Just(vec!["Redis", "SQLite"]), Just(vec![])];
    let fresh = || prop::bool::weighted(0.9);
    prop_oneof![
        2 => (0..5usize, fresh(), pick(), prop::option::of(0..120u64))
            .prop_map(|(a, b, c, d)| Attempt::AnswerAgent(a, b, c, d)),
        1 => (0..3usize, fresh(), pick()).prop_map(|(a, b, c)| Attempt::Answer(a, b, c)),
        1 => (0..3usize, fresh()).prop_map(|(a, b)| Attempt::Decline(a, b)),
        4 => (0..8usize, 0..6usize, idle()).prop_map(|(a, b, c)| Attempt::Escalate(a, b, c)),
        1 => (0..3usize).prop_map(Attempt::Withdraw),
        4 => (0..8usize).prop_map(Attempt::Say),
        4 => (0..2usize, prop::option::of(labels)).prop_map(|(a, b)| Attempt::Reply(a, b)),
        2 => (0..3usize, fresh()).prop_map(|(a, b)| Attempt::MarkSeen(a, b)),
        4 => (0..3usize, 0..17u64, any::<bool>()).prop_map(|(a, b, c)| Attempt::Claim(a, b, c)),
        4 => (0..3usize).prop_map(Attempt::Release),
        3 => (0..2usize, 0..40u64, lease()).prop_map(|(a, b, c)| Attempt::Acknowledge(a, b, c)),
        3 => (0..2usize, 0..3u8, lease()).prop_map(|(a, b, c)| Attempt::Lease(a, b, c)),
        2 => (0..5usize, any::<bool>(), idle()).prop_map(|(a, b, c)| Attempt::SessionGone(a, b, c)),
        8 => (prop::option::of(-1..=1i64), idle()).prop_map(|(a, b)| Attempt::Tick(a, b)),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let wait = prop_oneof![Just(0), 1..1_000u64, 1_000..1_800_000u64, Just(86_400_000)];
    (wait, attempt()).prop_map(|(wait, attempt)| Step { wait: Span::from_millis(wait), attempt })
}

/// Up to four hops of any kind, then people.
fn filings() -> impl Strategy<Value = Filing> {
    let hop = prop_oneof![
        Just(to_session(lead(), 15)),
        Just(to_session(chief(), 10)),
        Just(to_session(session("guest", 5), 5)),
        Just(to_people(&["ann", "bob"], Some(mins(7)))),
        Just(to_people(&[], Some(mins(3)))),
    ];
    let last = prop_oneof![Just(to_people(&["owner"], None)), Just(to_people(&[], None))];
    let hops = (prop::collection::vec(hop, 0..4), last).prop_map(|(mut hops, last)| {
        hops.push(last);
        hops
    });
    let expire = prop::option::of((1..120u64, any::<bool>()));
    (hops, idle(), expire, prop::option::of(0..2u64)).prop_map(|(hops, idle, expire, standing)| {
        let facts = facts(&hops, &idle);
        let mut filing = Filing { idle: facts, ..filing(hops, None) };
        filing.draft.expire = expire.map(|(minutes, default)| {
            let action = if default { ExpiryAction::Default } else { ExpiryAction::Stop };
            (mins(minutes), action)
        });
        // Of what is asked again all the same, or no longer stands: one that is filed open.
        filing.draft.again = standing.is_some();
        let asked = to_lead_then_owner();
        filing.standing = standing.map(|minutes| standing_no(&asked, FILED + mins(minutes)));
        what(&mut filing).questions[0].options[0].recommended = true;
        filing
    })
}

/// What the engine would look up: sessions as drawn, people by whether there are any.
fn facts(hops: &[Hop], drawn: &[Option<Idle>]) -> IdleHops {
    let each = hops.iter().zip(drawn).map(|(hop, drawn)| match &hop.to {
        Target::Session(_) => *drawn,
        Target::People { people, .. } => people.is_empty().then_some(Idle::EmptyGroup),
    });
    each.collect()
}

impl Attempt {
    fn command(&self, ask: &Ask) -> Command {
        let stale = Content { questions: vec![], context: String::new() }.digest();
        let digest = |fresh: &bool| if *fresh { ask.digest } else { stale };
        let session = |number: &usize| sessions()[*number].clone();
        let person = |number: &usize| people()[*number].clone();
        let facts = |drawn: &Vec<Option<Idle>>| facts(&ask.route.hops, drawn);
        match self {
            Attempt::AnswerAgent(by, fresh, pick, no) => Command::AnswerAgent {
                by: session(by),
                digest: digest(fresh),
                answers: pick.answers(ask),
                standing: no.map(|minutes| standing_no(ask, FILED + mins(minutes))),
            },
            Attempt::Answer(by, fresh, pick) => Command::Answer {
                assurance: Assurance::Local,
                by: person(by),
                digest: digest(fresh),
                answers: pick.answers(ask),
            },
            Attempt::Decline(by, fresh) => Command::Decline {
                assurance: Assurance::Local,
                by: person(by),
                digest: digest(fresh),
                note: None,
            },
            Attempt::Escalate(by, hop, drawn) => {
                // Mostly the hop in force, else the next, also where there is none, or the last.
                let hop = match *hop {
                    0..4 => ask.hop.index,
                    4 => ask.hop.index + 1,
                    _ => ask.hop.index.saturating_sub(1),
                };
                let (by, idle) = (actor(*by), facts(drawn));
                Command::Escalate { by, hop, reason: None, idle, assurance: None }
            }
            Attempt::Withdraw(by) => Command::Withdraw { by: session(by), note: None },
            Attempt::Say(by) => say(actor(*by)),
            Attempt::Reply(by, labels) => {
                // The first is recommended where there are two, so that some replies name a default.
                let one = |(place, label): (usize, &&str), count| QuestionOption {
                    recommended: place == 0 && count > 1,
                    ..option(label)
                };
                let options = labels.as_ref().map(|labels| {
                    let each = labels.iter().enumerate().map(|label| one(label, labels.len()));
                    ("store".to_owned(), each.collect())
                });
                let options = options.into_iter().collect();
                Command::Reply { by: session(by), text: "so it is".into(), options, standing: None }
            }
            Attempt::MarkSeen(by, fresh) => {
                Command::MarkSeen { by: person(by), digest: digest(fresh) }
            }
            Attempt::Claim(by, minutes, take_over) => Command::Claim {
                by: person(by),
                length: mins(*minutes),
                take_over: *take_over,
                assurance: Assurance::Local,
            },
            Attempt::Release(by) => Command::Release { by: person(by) },
            Attempt::Acknowledge(by, delivery, lease) => Command::Acknowledge {
                by: Actor::Session(session(by)),
                delivery: *delivery,
                lease: lease.map(lease_id),
            },
            Attempt::Lease(by, lease, extend) => Command::Lease {
                by: Actor::Session(session(by)),
                lease: lease_id(*lease),
                holder: "mailer".into(),
                length: mins(5),
                extend: extend.map(lease_id),
            },
            Attempt::SessionGone(who, for_good, drawn) => Command::SessionGone {
                session: session(who).session,
                gone: if *for_good { ended() } else { Gone::Paused },
                idle: facts(drawn),
            },
            Attempt::Tick(_, drawn) => Command::Tick { idle: facts(drawn), standing: None },
        }
    }
}

impl Pick {
    fn answers(self, ask: &Ask) -> Answers {
        let label = ask.content.questions[0].options.first().map(|option| option.label.clone());
        let text = label.is_none().then(|| "as you like".to_owned());
        let selected = match self {
            Pick::First => label.into_iter().collect(),
            Pick::Removed => vec!["MySQL".to_owned()],
            Pick::Nothing => return BTreeMap::new(),
        };
        BTreeMap::from([("store".to_owned(), Answer { selected, text, default: false })])
    }
}

/// Runs a history and checks every law at each of its steps.
fn check(filing: Filing, steps: &[Step]) -> Result<(), TestCaseError> {
    let mut time = FILED;
    let filed = decide(None, &Command::Ask(Box::new(filing)), Now::at(time));
    let mut history = filed.map_err(|why| TestCaseError::fail(format!("{why:?}")))?;
    let mut ask = fold(&history).unwrap();
    reaches_a_person(&ask)?;
    for step in steps {
        time = time + step.wait;
        if let (Attempt::Tick(Some(beside), _), Some(due)) = (&step.attempt, ask.deadline()) {
            let exactly = due.as_millis().saturating_add_signed(*beside);
            time = time.max(Timestamp::from_millis(exactly));
        }
        let command = step.attempt.command(&ask);
        let said = decide(Some(&ask), &command, Now::at(time));
        let again = decide(Some(&ask), &command, Now::at(time));
        prop_assert_eq!(&said, &again, "the same question had two answers");
        let mut next = ask.clone();
        for event in said.unwrap_or_default() {
            prop_assert_eq!(event.revision, next.revision + 1, "revisions are dense");
            prop_assert_eq!(event.time, time);
            let kept = serde_json::to_string(&event).unwrap();
            prop_assert_eq!(&serde_json::from_str::<Event>(&kept).unwrap(), &event);
            next = evolve(Some(next), &event);
            history.push(event);
        }
        moved_forward(&ask, &next)?;
        reaches_a_person(&next)?;
        if matches!(command, Command::Tick { .. }) && next.is_open() {
            let progress = next.deadline().is_none_or(|deadline| deadline > time);
            prop_assert!(progress, "after a tick at {:?}: {:?}", time, next.deadline());
        }
        nobodys_word(&ask, &next, &command, time)?;
        ask = next;
    }
    prop_assert_eq!(fold(&history), Some(ask.clone()), "history folds to state");
    let outcomes = history.iter().filter(|event| event.kind.settles()).count();
    prop_assert_eq!(outcomes, usize::from(!ask.is_open()), "one outcome at most");
    let kept = serde_json::to_string(&ask).unwrap();
    prop_assert_eq!(serde_json::from_str::<Ask>(&kept).unwrap(), ask);
    Ok(())
}

/// What nobody said is never taken for a word of theirs; and one worker at a time has a lease.
fn nobodys_word(
    before: &Ask,
    after: &Ask,
    command: &Command,
    time: Timestamp,
) -> Result<(), TestCaseError> {
    if let Some(Ending::Expired(Some(answers))) = after.outcome().map(|outcome| &outcome.ending)
        && before.is_open()
    {
        let shown = before.shown_since().expect("somebody was shown it");
        prop_assert!(time.since(shown) >= limits::PERSON_WINDOW);
        prop_assert!(!before.person_spoke_last() && before.turn_hold.is_none_or(|t| t <= time));
        prop_assert!(answers.values().all(|answer| answer.default));
    }
    if let (Command::AnswerAgent { standing: Some(no), .. }, true) = (command, before.is_open()) {
        prop_assert!(after.is_open() || no.until <= time, "a session overruled a person");
    }
    if let (Some(one), Some(other)) = (&before.lease, &after.lease) {
        prop_assert!(one.id == other.id || !one.is_in_force(time), "two workers had it");
    }
    prop_assert!(after.lease.is_none() || after.is_unread(), "a lease of nothing");
    prop_assert!(after.turn_hold.is_none() || after.expiry.is_some(), "a hold of nothing");
    Ok(())
}

/// What one step may never undo.
fn moved_forward(before: &Ask, after: &Ask) -> Result<(), TestCaseError> {
    prop_assert!(after.hop.index >= before.hop.index, "it went back a hop");
    prop_assert!(after.visited.starts_with(&before.visited));
    prop_assert_eq!(after.visited.last(), Some(&after.hop.index));
    if !before.is_open() {
        prop_assert_eq!(after.outcome(), before.outcome(), "settled is final");
        prop_assert!(after.turns.len() == before.turns.len() && after.content == before.content);
    }
    for session in sessions() {
        let forgot = before.is_visible_to(&session) && !after.is_visible_to(&session);
        prop_assert!(!forgot, "{:?} lost sight of it", session);
    }
    prop_assert_eq!(after.digest, after.content.digest());
    Ok(())
}

/// Silence ends: whoever is asked but the last people, there is an instant at which it moves on.
fn reaches_a_person(ask: &Ask) -> Result<(), TestCaseError> {
    match ask.waiting_on() {
        None => prop_assert!(ask.claim.is_none() && ask.deadline().is_some()),
        Some(Target::Session(_)) => prop_assert!(ask.deadline().is_some()),
        Some(Target::People { people, .. }) => prop_assert!(!people.is_empty()),
    }
    let read = ask.turns.iter().all(|turn| !turn.unread);
    let gone = matches!(ask.delivery(), Some(Delivery::Undeliverable { .. }));
    prop_assert!(ask.is_unread() || read || gone, "an unread turn is forgotten");
    Ok(())
}

proptest! {
    // A failure is a fault to mend with a test of its own, not a file to carry about.
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_history_keeps_every_law(
        filing in filings(),
        steps in prop::collection::vec(step(), 0..40),
    ) {
        check(filing, &steps)?;
    }

    #[test]
    fn silence_alone_brings_every_ask_to_people(filing in filings(), late in 0..86_400_000u64) {
        let mut ask = file(filing);
        for _ in 0..limits::HOPS {
            let Some(deadline) = ask.deadline() else { break };
            let now = Now::at(deadline + Span::from_millis(late));
            ask = then(&ask, &tick(&ask), now);
            if !ask.is_open() {
                break;
            }
        }
        prop_assert!(!ask.route.hops.is_empty());
        let with_people = matches!(ask.waiting_on(), Some(Target::People { .. }));
        prop_assert!(with_people || ask.outcome().is_some_and(|o| o.ending == Ending::Expired(None)));
        let chosen = ask.outcome().is_some_and(|o| matches!(o.ending, Ending::Expired(Some(_))));
        prop_assert!(!chosen, "silence chose");
        prop_assert!(ask.visited.iter().any(|hop| ask.route.hops[*hop].to.session().is_none()));
    }
}
