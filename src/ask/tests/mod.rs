//! Tests of the domain: `table` has every command in every state, `rules` the rules of the design
//! by their numbers, `expiry` when an asker's deadline does what, `once` the same question again,
//! `routes` who is asked in turn, `notices` what
//! people are told and when, `follow_up` what the asker is told, `cases` what went wrong
//! elsewhere, `properties` histories nobody thought of, `model` the rules a second time, `reads` what an
//! ask says of itself, `bounds` how long and how many.

mod bounds;
mod cases;
mod expiry;
mod follow_up;
mod in_agent;
mod model;
mod notices;
mod once;
mod properties;
mod reads;
mod routes;
mod rules;
mod table;

use super::*;
use std::collections::BTreeMap;

/// When every ask of these tests is filed.
const FILED: Timestamp = Timestamp::from_millis(1_796_000_000_000);

/// The present, so long after filing.
fn after(span: Span) -> Now {
    Now::at(FILED + span)
}

fn mins(minutes: u64) -> Span {
    Span::from_mins(minutes)
}

fn session_id(number: u8) -> SessionId {
    SessionId::new(FILED, [number; 6])
}

fn session(agent: &str, number: u8) -> SessionRef {
    SessionRef { agent: agent.parse().unwrap(), session: session_id(number) }
}

/// Who asks.
fn worker() -> SessionRef {
    session("worker", 3)
}

/// Who sent the worker its work.
fn lead() -> SessionRef {
    session("lead", 2)
}

/// Who sent the lead its work.
fn chief() -> SessionRef {
    session("chief", 1)
}

/// Another run of the same agent as the sender: nobody to this ask.
fn other_lead() -> SessionRef {
    session("lead", 9)
}

fn person(name: &str) -> PersonName {
    name.parse().unwrap()
}

fn owner() -> PersonName {
    PersonName::owner()
}

fn to_session(session: SessionRef, minutes: u64) -> Hop {
    Hop { to: Target::Session(session), timeout: Some(mins(minutes)), within: None }
}

fn to_people(names: &[&str], timeout: Option<Span>) -> Hop {
    let people = names.iter().map(|name| person(name)).collect();
    Hop { to: Target::People { group: None, people }, timeout, within: None }
}

fn option(label: &str) -> QuestionOption {
    QuestionOption { label: label.into(), description: String::new(), recommended: false }
}

/// What is asked by a draft, to be changed.
fn what(filing: &mut Filing) -> &mut Content {
    Arc::make_mut(&mut filing.draft.content)
}

fn content() -> Content {
    let question = Question {
        id: "store".into(),
        header: "Store".into(),
        question: "Which store for the cache?".into(),
        options: vec![option("SQLite"), option("Postgres")],
        multiple: false,
    };
    Content { questions: vec![question], context: "a cache of 2 GB".into() }
}

/// A whole answer to [`content`].
fn answers(label: &str) -> Answers {
    let answer = Answer { selected: vec![label.into()], ..Answer::default() };
    BTreeMap::from([("store".into(), answer)])
}

/// What an asker files along `hops`, nobody of them idle.
fn filing(hops: Vec<Hop>, expire: Option<Span>) -> Filing {
    Filing {
        id: AskId::new(FILED, [7; 6]),
        namespace: Namespace::default(),
        draft: Draft {
            content: content().into(),
            priority: Priority::Normal,
            expire: expire.map(|after| (after, ExpiryAction::Stop)),
            defaults: Answers::new(),
            carried: Carried::default(),
            route: None,
            again: false,
            assurance: None,
        },
        asker: worker(),
        host: "local".parse().unwrap(),
        work: WorkId::new(FILED, [1; 6]),
        tree: WorkId::new(FILED, [0; 6]),
        chain: vec![lead(), chief()],
        idle: vec![None; hops.len()],
        route: Route { hops },
        policy: Policy::default(),
        crowd: Crowd::default(),
        standing: None,
        assurance: None,
    }
}

/// An ask along `hops`, filed at [`FILED`].
fn filed(hops: Vec<Hop>, expire: Option<Span>) -> Ask {
    file(filing(hops, expire))
}

fn file(filing: Filing) -> Ask {
    let events = decide(None, &Command::Ask(Box::new(filing)), after(Span::default())).unwrap();
    fold(&events).unwrap()
}

/// The ask of the default route: the lead for 15 minutes, then the owner.
fn to_lead_then_owner() -> Ask {
    filed(vec![to_session(lead(), 15), to_people(&["owner"], None)], None)
}

/// The events of an accepted command, and the ask as after them.
fn run(ask: &Ask, command: &Command, now: Now) -> (Vec<Event>, Ask) {
    let events = decide(Some(ask), command, now)
        .unwrap_or_else(|why| panic!("{command:?} was rejected: {why:?}"));
    let after = events.iter().fold(ask.clone(), |ask, event| evolve(Some(ask), event));
    (events, after)
}

/// The ask as after an accepted command.
fn then(ask: &Ask, command: &Command, now: Now) -> Ask {
    run(ask, command, now).1
}

fn rejected(ask: &Ask, command: &Command, now: Now) -> Rejection {
    match decide(Some(ask), command, now) {
        Err(rejection) => rejection,
        Ok(events) => panic!("{command:?} was accepted: {events:?}"),
    }
}

/// Nobody of the route is idle.
fn awake(ask: &Ask) -> IdleHops {
    vec![None; ask.route.hops.len()]
}

fn tick(ask: &Ask) -> Command {
    Command::Tick { idle: awake(ask), standing: None }
}

fn answer_agent(ask: &Ask, by: SessionRef) -> Command {
    Command::AnswerAgent { by, digest: ask.digest, answers: answers("SQLite"), standing: None }
}

fn answer(ask: &Ask, by: &str) -> Command {
    Command::Answer {
        assurance: Assurance::Local,
        by: person(by),
        digest: ask.digest,
        answers: answers("Postgres"),
    }
}

fn decline(ask: &Ask, by: &str) -> Command {
    Command::Decline {
        assurance: Assurance::Local,
        by: person(by),
        digest: ask.digest,
        note: Some("not this week".into()),
    }
}

fn escalate(ask: &Ask, by: Actor, hop: usize) -> Command {
    let (reason, idle) = (Some("ask a person".into()), awake(ask));
    Command::Escalate { by, hop, reason, idle, assurance: None }
}

fn withdraw() -> Command {
    Command::Withdraw { by: worker(), note: Some("found it".into()) }
}

fn say(by: Actor) -> Command {
    Command::Say { by, text: "how large is it?".into(), assurance: None }
}

fn reply(text: &str, labels: &[&str]) -> Command {
    let options = labels.iter().map(|label| option(label)).collect::<Vec<_>>();
    let replaced = (!options.is_empty()).then(|| ("store".to_owned(), options));
    Command::Reply {
        by: worker(),
        text: text.into(),
        options: replaced.into_iter().collect(),
        standing: None,
    }
}

fn claim(by: &str, minutes: u64, take_over: bool) -> Command {
    Command::Claim { by: person(by), length: mins(minutes), take_over, assurance: Assurance::Local }
}

fn lease_id(number: u8) -> LeaseId {
    LeaseId::new(FILED, [number; 6])
}

/// A person's no to the content of `ask` in its tree.
fn standing_no(ask: &Ask, until: Timestamp) -> StandingNo {
    StandingNo {
        tree: ask.tree,
        digest: ask.digest,
        namespace: ask.namespace.clone(),
        ask: AskId::new(FILED, [6; 6]),
        by: person("ann"),
        note: Some("not this week".into()),
        time: FILED,
        until,
        again: 0,
        revision: 1,
        assurance: None,
        in_agent: false,
    }
}

/// The content of the store question, SQLite recommended, filed with a default in `minutes`.
fn with_default(hops: Vec<Hop>, minutes: u64) -> Ask {
    let mut filing = filing(hops, None);
    what(&mut filing).questions[0].options[0].recommended = true;
    filing.draft.expire = Some((mins(minutes), ExpiryAction::Default));
    file(filing)
}

fn seen(ask: &Ask, by: &str) -> Command {
    Command::MarkSeen { by: person(by), digest: ask.digest }
}

/// The asker has everything up to `delivery`.
fn read(delivery: u64) -> Command {
    Command::Acknowledge { by: Actor::Session(worker()), delivery, lease: None }
}

/// When its expiry comes, where its clock runs.
fn due(ask: &Ask) -> Option<Timestamp> {
    ask.expiry.and_then(|expiry| expiry.due())
}

/// How its expiry's clock runs.
fn clock(ask: &Ask) -> Option<ExpiryClock> {
    ask.expiry.map(|expiry| expiry.clock)
}

fn gone(ask: &Ask, session: &SessionRef, gone: Gone) -> Command {
    let why = if gone == Gone::Paused { Idle::Paused } else { Idle::Ended };
    let of = |hop: &Hop| (hop.to.session() == Some(session)).then_some(why);
    let idle = ask.route.hops.iter().map(of).collect();
    Command::SessionGone { session: session.session, gone, idle }
}

fn ended() -> Gone {
    Gone::Ended(Actor::Host("me".parse().unwrap()))
}
