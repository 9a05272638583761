//! Who plays: one asker with two works of one sender, two people, and what they ask each other.

use askway::ask::{
    Actor, Answer, Answers, AskId, Assurance, Carried, Content, ContentDigest, Crowd, Draft,
    ExpiryAction, Filing, Hop, HostName, IdleHops, Namespace, PersonName, Policy, Priority,
    Question, QuestionOption, Route, SessionId, SessionRef, Span, StandingNo, Target, Terms,
    Timestamp, WorkId,
};
use askway::session::{self, Command, Kind, Manner, Secret, Session, enroll};
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// When every play begins.
pub const START: Timestamp = Timestamp::from_millis(1_796_000_000_000);
/// How long each hop but the last is asked.
pub const TIMEOUTS: [Option<Span>; 3] = [Some(Span::from_mins(3)), Some(Span::from_mins(2)), None];
/// The asker's own deadline.
pub const EXPIRE: Span = Span::from_mins(4);
/// How long a person must have been shown an ask before its default may stand.
pub const WINDOW: Span = Span::from_mins(1);
/// How long a claim holds.
pub const CLAIM: Span = Span::from_secs(90);
/// Less than any of them.
pub const MOMENT: Span = Span::from_secs(30);

/// A caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Who {
    /// The session that asks.
    Asker,
    /// The session that sent it the work: the first hop.
    Lead,
    /// The person of the second hop.
    Ann,
    /// The person of the last hop.
    Bob,
    /// The service itself: its timer, its sweep.
    Service,
}

/// Whether a session runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Runs {
    Active,
    Paused,
    Ended,
}

/// What never changes, made once.
pub struct Cast {
    pub asker: SessionRef,
    pub lead: SessionRef,
    pub people: [PersonName; 2],
    /// The content as filed, and as a reply makes it.
    pub contents: [Content; 2],
    pub digests: [ContentDigest; 2],
    /// The sender's record in each standing, by the rules of sessions.
    leads: [Session; 3],
    askers: [Session; 3],
}

pub static CAST: LazyLock<Cast> = LazyLock::new(|| {
    let contents = [content(["SQLite", "Postgres"]), content(["Redis", "SQLite"])];
    let digests = [contents[0].digest(), contents[1].digest()];
    let (askers, leads) = (standings("worker", 3), standings("lead", 2));
    Cast {
        asker: askers[0].reference(),
        lead: leads[0].reference(),
        people: ["ann", "bob"].map(|name| name.parse().unwrap()),
        contents,
        digests,
        leads,
        askers,
    }
});

impl Cast {
    pub fn lead_when(&self, runs: Runs) -> &Session {
        &self.leads[runs as usize]
    }

    pub fn asker_when(&self, runs: Runs) -> &Session {
        &self.askers[runs as usize]
    }

    /// The record behind a reference.
    pub fn session(&self, id: SessionId, lead: Runs, asker: Runs) -> &Session {
        if id == self.lead.session { self.lead_when(lead) } else { self.asker_when(asker) }
    }

    pub fn person(&self, who: Who) -> PersonName {
        self.people[usize::from(who == Who::Bob)].clone()
    }

    pub fn actor(&self, who: Who) -> Actor {
        match who {
            Who::Asker => Actor::Session(self.asker.clone()),
            Who::Lead => Actor::Session(self.lead.clone()),
            Who::Ann | Who::Bob => Actor::Person(self.person(who)),
            Who::Service => Actor::Timer,
        }
    }

    pub fn who(&self, actor: &Actor) -> Who {
        match actor {
            Actor::Session(one) if *one == self.asker => Who::Asker,
            Actor::Session(_) => Who::Lead,
            Actor::Person(one) if *one == self.people[0] => Who::Ann,
            Actor::Person(_) => Who::Bob,
            Actor::Host(_) | Actor::Timer => Who::Service,
        }
    }

    /// Which of the two contents it is.
    pub fn which(&self, digest: ContentDigest) -> u8 {
        self.digests.iter().position(|known| *known == digest).expect("it is one of two") as u8
    }

    /// Which hops cannot answer.
    pub fn idle(&self, lead: Runs) -> IdleHops {
        let of = |_: &SessionRef| {
            let record = Some(self.lead_when(lead));
            Ok::<_, ()>(session::idle(record, &self.asker, None, false, false))
        };
        session::idle_hops(&route(), of).unwrap()
    }

    /// A person's no to a content that still stands, where `nos` has it.
    pub fn no(&self, nos: u8, which: u8) -> Option<StandingNo> {
        let no = StandingNo {
            tree: WorkId::new(START, [8; 6]),
            digest: self.digests[usize::from(which)],
            namespace: Namespace::default(),
            ask: ask_id(9),
            by: self.people[0].clone(),
            note: None,
            time: START,
            until: START + Span::from_hours(24 * 30),
            again: 0,
            revision: 1,
            assurance: Some(Assurance::Local),
            in_agent: false,
        };
        (nos & 1 << which != 0).then_some(no)
    }

    /// What the asker files for its work `number`.
    pub fn filing(&self, number: u8, expire: ExpiryAction, lead: Runs, nos: u8) -> Filing {
        let work = |number| WorkId::new(START, [number; 6]);
        let terms = Terms { person_window: WINDOW, ..Terms::default() };
        Filing {
            id: ask_id(number),
            namespace: Namespace::default(),
            draft: Draft {
                content: self.contents[0].clone().into(),
                priority: Priority::Normal,
                expire: Some((EXPIRE, expire)),
                defaults: Answers::new(),
                carried: Carried::default(),
                route: None,
                again: false,
                assurance: None,
            },
            asker: self.asker.clone(),
            host: host(),
            work: work(number),
            tree: work(8),
            chain: vec![self.lead.clone()],
            idle: self.idle(lead),
            route: route(),
            policy: Policy { terms, ..Policy::default() },
            crowd: Crowd::default(),
            standing: self.no(nos, 0),
            assurance: None,
        }
    }
}

pub fn host() -> HostName {
    "local".parse().unwrap()
}

fn ask_id(number: u8) -> AskId {
    AskId::new(START, [number; 6])
}

/// The sender, then one person, then another.
fn route() -> Route {
    let people = |name: &str| Target::person(name.parse().unwrap());
    let lead =
        SessionRef { agent: "lead".parse().unwrap(), session: SessionId::new(START, [2; 6]) };
    let targets = [Target::Session(lead), people("ann"), people("bob")];
    let hops = targets.into_iter().zip(TIMEOUTS);
    Route { hops: hops.map(|(to, timeout)| Hop { to, timeout, within: None }).collect() }
}

/// The options that a reply may put in place of the first ones, and those: the first is recommended.
pub fn options(labels: [&str; 2]) -> Vec<QuestionOption> {
    let option = |(place, label): (usize, &str)| QuestionOption {
        label: label.into(),
        description: String::new(),
        recommended: place == 0,
    };
    labels.into_iter().enumerate().map(option).collect()
}

fn content(labels: [&str; 2]) -> Content {
    let question = Question {
        id: "store".into(),
        header: String::new(),
        question: "Which store?".into(),
        options: options(labels),
        multiple: false,
    };
    Content { questions: vec![question], context: String::new() }
}

/// A whole answer to either content: what both offer.
pub fn answers() -> Answers {
    let answer = Answer { selected: vec!["SQLite".into()], ..Answer::default() };
    BTreeMap::from([("store".into(), answer)])
}

/// A session's record while it runs, is paused, and is over.
fn standings(agent: &str, number: u8) -> [Session; 3] {
    let hash = |byte| Secret::new(Kind::Session, [byte; 32]).hash();
    let now = askway::ask::Now::at(START);
    let active = enroll(
        SessionId::new(START, [number; 6]),
        Namespace::default(),
        agent.parse().unwrap(),
        host(),
        None,
        Manner::default(),
        (hash(number), hash(number + 100)),
        now,
    );
    let then = |session: &Session, command: &Command| {
        session::decide(session, command, now).unwrap().expect("it changes something")
    };
    let paused = then(&active, &Command::Pause);
    let ended = then(&paused, &Command::End { by: Actor::Host(host()) });
    let resume = Command::Resume { token: hash(7), hold: hash(8) };
    assert!(then(&paused, &resume).is_active(), "what is resumed runs as before");
    [active, paused, ended]
}
