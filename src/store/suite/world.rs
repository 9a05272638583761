//! A small world of sessions, people and asks that goes on at random, by the domain's own rules;
//! and, kept the plain way, what a store that was told all of it must say.

use super::plain::{lists, scopes};
use super::sample::{Dice, mark, name, receipt, reference, session, work};
use crate::ask::{
    Actor, Answer, Answers, Ask, AskId, Assurance, Carried, Command, Content, Crowd, Draft, Event,
    ExpiryAction, Filing, Gone, Hop, Idle, NoticeWhy, Now, PersonName, Plan, Policy, Priority,
    Question, QuestionOption, SessionId, Span, Target, Timestamp, WorkId, decide, evolve, fold,
};
use crate::session::{Session, Standing};
use crate::store::{Batch, Change, Key, Listing, Record, SessionScope, Store};
use std::collections::{BTreeMap, BTreeSet};

pub(super) const SESSIONS: u8 = 6;
pub(super) const PEOPLE: [&str; 3] = ["owner", "ada", "grace"];
pub(super) const NAMESPACES: [&str; 2] = ["default", "other"];
pub(super) const HOSTS: [&str; 2] = ["local", "ci"];

/// Begins shortly before a million seconds after the epoch; any time will do.
pub(super) const BEGINNING: Timestamp = Timestamp::from_millis(999_999_000);

/// The world, and all that is known of it.
#[derive(Clone, Debug)]
pub struct World {
    /// The asks there are, each with its history.
    pub asks: BTreeMap<AskId, (Ask, Vec<Event>)>,
    /// The ids of those that were removed.
    pub removed: BTreeSet<AskId>,
    /// The sessions there are.
    pub sessions: BTreeMap<SessionId, Session>,
    /// Everything written once.
    pub receipts: Vec<Record>,
    now: Timestamp,
    dice: Dice,
}

impl World {
    /// A world in which nothing has happened yet; the same for the same seed.
    pub fn new(seed: u64) -> Self {
        Self {
            asks: BTreeMap::new(),
            removed: BTreeSet::new(),
            sessions: BTreeMap::new(),
            receipts: Vec::new(),
            now: BEGINNING,
            dice: Dice::new(seed),
        }
    }

    /// Something happens. The change says what, and is held to be kept.
    pub fn step(&mut self) -> Change {
        self.now = self.now + Span::from_millis(self.dice.roll(300_000));
        match self.dice.roll(12) {
            0..3 => self.file(),
            3 => self.turn_a_session(),
            4 if self.dice.one_in(3) => self.remove().unwrap_or_else(|| self.file()),
            _ => self.act().unwrap_or_else(|| self.file()),
        }
    }

    /// A batch of a few such changes, with a mark.
    pub fn steps(&mut self) -> Batch {
        let changes = (0..=self.dice.roll(3)).map(|_| self.step()).collect();
        Batch { changes, mark: Some(mark(self.now.as_millis())) }
    }

    /// An ask is filed.
    pub fn file(&mut self) -> Change {
        let id = AskId::new(self.now, self.dice.six());
        self.file_as(id)
    }

    /// An ask is filed under this id.
    pub fn file_as(&mut self, id: AskId) -> Change {
        let filing = self.filing(id);
        let now = Now::at(self.now);
        let events = decide(None, &Command::Ask(Box::new(filing)), now).expect("it is well formed");
        self.record(id, None, events)
    }

    /// A person says something on an open ask.
    pub fn say(&mut self, id: AskId) -> Change {
        let command = Command::Say {
            by: Actor::Person(PersonName::owner()),
            text: "well".into(),
            assurance: None,
        };
        let ask = self.asks[&id].0.clone();
        let events = decide(Some(&ask), &command, Now::at(self.now)).expect("it is open");
        self.record(id, Some(ask), events)
    }

    /// People are told of an open ask, or cannot be.
    pub fn notice(&mut self, id: AskId, failure: Option<&str>) -> Change {
        let ask = self.asks[&id].0.clone();
        let (why, failure) = (NoticeWhy::Came, failure.map(str::to_owned));
        let command = Command::Noticed { why, of: ask.revision, failure };
        let events = decide(Some(&ask), &command, Now::at(self.now)).expect("it is never refused");
        self.record(id, Some(ask), events)
    }

    /// A session is enrolled, or becomes something else.
    pub fn turn_a_session(&mut self) -> Change {
        let number = 1 + self.dice.roll(SESSIONS.into()) as u8;
        let since = self.now;
        let fresh = session(number);
        let before = self.sessions.get(&fresh.id).map_or(0, |before| before.revision);
        let parent = (number > 2).then(|| reference(number - 2));
        let standing = match self.dice.roll(3) {
            0 => Standing::Active,
            1 => Standing::Paused { since, lost_hold: self.dice.one_in(2) },
            _ => Standing::Ended { since, by: Actor::Timer },
        };
        let turned = Session {
            revision: before + 1,
            namespace: name(NAMESPACES[usize::from(number == 4)]),
            parent,
            standing,
            sweep: self.dice.one_in(2),
            held: self.dice.one_in(2),
            ..fresh
        };
        self.sessions.insert(turned.id, turned.clone());
        Change {
            expects: vec![(Key::Session(turned.id), before)],
            writes: vec![Record::Session(turned.into())],
            ..Change::default()
        }
    }

    /// What a store that was told all of this must say.
    ///
    /// # Panics
    ///
    /// When it says something else.
    pub async fn check(&self, store: &dyn Store) {
        self.check_asks(store).await;
        self.check_all(store).await;
        self.check_lists(store).await;
        self.check_deadlines(store).await;
        self.check_notices(store).await;
        self.check_prefixes(store).await;
        self.check_sessions(store).await;
    }

    async fn check_asks(&self, store: &dyn Store) {
        let keys: Vec<_> = self.asks.keys().chain(&self.removed).copied().map(Key::Ask).collect();
        let loaded = store.load(&keys).await.expect("the store is there");
        let expected = self.asks.values().map(|(ask, _)| Some(Record::Ask(ask.clone().into())));
        let expected = expected.chain(self.removed.iter().map(|_| None));
        for (key, (loaded, expected)) in keys.iter().zip(loaded.into_iter().zip(expected)) {
            assert_eq!(loaded, expected, "{key:?}");
        }
        self.check_histories(store).await;
    }

    /// Every history, and that nothing is left of what was removed; every receipt.
    pub(super) async fn check_histories(&self, store: &dyn Store) {
        for (id, (ask, history)) in &self.asks {
            let found = store.history(*id, 0, usize::MAX).await.expect("the store is there");
            assert_eq!(found, *history, "the history of {id}");
            assert_eq!(fold(&found).as_ref(), Some(ask), "{id} folded from its history");
        }
        for id in &self.removed {
            assert_eq!(store.history(*id, 0, 9).await, Ok(vec![]), "{id} was removed");
        }
        let keys: Vec<_> = self.receipts.iter().map(Record::key).collect();
        let expected = self.receipts.iter().cloned().map(Some).collect();
        assert_eq!(store.load(&keys).await, Ok(expected));
    }

    async fn check_all(&self, store: &dyn Store) {
        let (mut asks, mut after) = (Vec::new(), None);
        loop {
            let page = store.asks(after, 4).await.expect("the store is there");
            let Some(last) = page.last() else { break };
            after = Some(last.id);
            asks.extend(page.iter().map(|ask| Ask::clone(ask)));
        }
        let expected: Vec<_> = self.asks.values().map(|(ask, _)| ask.clone()).collect();
        assert_eq!(asks, expected, "all asks, in time order");
        assert_eq!(store.asks(None, 0).await, Ok(vec![]));
        let (mut receipts, mut after) = (Vec::new(), None);
        loop {
            let page = store.receipts(after.as_ref(), 7).await.expect("the store is there");
            let Some(last) = page.last() else { break };
            after = Some(last.key.clone());
            receipts.extend(page.into_iter().map(Record::Receipt));
        }
        let key = |record: &Record| match record.key() {
            Key::Receipt(key) => key,
            other => unreachable!("{other:?} is no receipt's"),
        };
        let mut expected = self.receipts.clone();
        expected.sort_unstable_by_key(key);
        assert_eq!(receipts, expected, "all receipts, in the order of their keys");
        assert_eq!(store.receipts(None, 0).await, Ok(vec![]));
    }

    async fn check_lists(&self, store: &dyn Store) {
        for scope in scopes() {
            let of_scope = self.asks.values().filter(|(ask, _)| lists(&scope, ask));
            let expected: Vec<_> = of_scope.map(|(ask, _)| (ask.id, ask.revision)).collect();
            let (mut listed, mut after) = (Vec::new(), None);
            loop {
                let page = store.list(&scope, after, 3).await.expect("the store is there");
                assert_eq!(page.total, expected.len(), "the total of {scope:?}");
                let Some((last, _)) = page.asks.last() else { break };
                after = Some(*last);
                listed.extend(page.asks);
            }
            assert_eq!(listed, expected, "{scope:?}");
            let only_total = Listing { asks: Vec::new(), total: expected.len() };
            assert_eq!(store.list(&scope, None, 0).await, Ok(only_total));
        }
    }

    /// What it must say of sessions.
    ///
    /// # Panics
    ///
    /// When it says something else.
    pub async fn check_sessions(&self, store: &dyn Store) {
        let families = (1..=SESSIONS).map(|number| SessionScope::Family(session(number).id));
        let namespaces = NAMESPACES.map(|text| SessionScope::Namespace(name(text)));
        let marks = [SessionScope::ToSweep, SessionScope::Held, SessionScope::Asleep];
        let scopes = families.chain(namespaces).chain(marks);
        for scope in scopes {
            let of_scope = self.sessions.values().filter(|session| scope.has(session));
            let (mut listed, mut after) = (Vec::new(), None);
            loop {
                let page = store.sessions(&scope, after, 2).await.expect("the store is there");
                let Some(last) = page.last() else { break };
                after = Some(last.id);
                listed.extend(page.iter().map(|session| Session::clone(session)));
            }
            assert_eq!(listed, of_scope.cloned().collect::<Vec<_>>(), "{scope:?}");
            assert_eq!(store.sessions(&scope, None, 0).await, Ok(vec![]));
        }
    }

    fn filing(&mut self, id: AskId) -> Filing {
        let chain = (0..self.dice.roll(3)).map(|_| self.anyone()).collect::<Vec<_>>();
        let people = Target::People { group: None, people: vec![name("ada"), name("grace")] };
        let timeout = Span::from_mins(1 + self.dice.roll(20));
        let mut route = Plan::built_in(timeout).route(&chain);
        if self.dice.one_in(3) {
            route.hops.insert(0, Hop { to: people, timeout: Some(timeout), within: None });
        }
        let idle = route.hops.iter().map(|_| self.dice.one_in(6).then_some(Idle::Paused)).collect();
        let expire = self.dice.one_in(3).then(|| Span::from_mins(1 + self.dice.roll(90)));
        let option = |label: &str| QuestionOption {
            label: label.into(),
            description: String::new(),
            recommended: false,
        };
        let question = Question {
            id: "q".into(),
            header: String::new(),
            question: "Which one?".into(),
            options: vec![option("this"), option("that")],
            multiple: false,
        };
        let content = Content { questions: vec![question], context: "Ünïcode \u{1f40c}".into() };
        Filing {
            id,
            namespace: name(NAMESPACES[usize::from(self.dice.one_in(4))]),
            draft: Draft {
                content: content.into(),
                priority: Priority::Normal,
                expire: expire.map(|after| (after, ExpiryAction::Stop)),
                defaults: Answers::new(),
                carried: Carried::default(),
                route: None,
                again: false,
                assurance: None,
            },
            asker: self.anyone(),
            host: name(self.dice.pick::<&str>(&HOSTS)),
            work: WorkId::new(self.now, [1; 6]),
            tree: work(1 + self.dice.roll(SESSIONS.into()) as u8).id,
            chain,
            route,
            idle,
            policy: Policy::default(),
            crowd: Crowd::default(),
            standing: None,
            assurance: None,
        }
    }

    fn anyone(&mut self) -> crate::ask::SessionRef {
        reference(1 + self.dice.roll(SESSIONS.into()) as u8)
    }

    /// Somebody does something to an ask; none when nothing came of a few attempts.
    fn act(&mut self) -> Option<Change> {
        for _ in 0..20 {
            let ids: Vec<_> = self.asks.keys().copied().collect();
            let id = *self.dice.pick(if ids.is_empty() { return None } else { &ids });
            let ask = self.asks[&id].0.clone();
            let command = self.command(&ask);
            match decide(Some(&ask), &command, Now::at(self.now)) {
                Ok(events) if !events.is_empty() => {
                    return Some(self.record(id, Some(ask), events));
                }
                Ok(_) | Err(_) => {}
            }
        }
        None
    }

    fn command(&mut self, ask: &Ask) -> Command {
        let person: PersonName = name(self.dice.pick::<&str>(&PEOPLE));
        let answer = Answer { selected: vec!["this".into()], text: None, default: false };
        let answers = Answers::from([("q".to_owned(), answer)]);
        let (asker, digest) = (ask.asker.clone(), ask.digest);
        let idle = ask.route.hops.iter().map(|_| self.dice.one_in(4).then_some(Idle::Ended));
        let idle: Vec<_> = idle.collect();
        let waiting = ask.route.hops[ask.hop.index].to.session().cloned();
        let waiting = waiting.unwrap_or_else(|| self.anyone());
        let unread = ask.turns.iter().rev().find(|turn| turn.unread).map(|turn| turn.revision);
        let delivery = ask.outcome().map(|outcome| outcome.revision).or(unread).unwrap_or(0);
        let spoken = Actor::Person(person.clone());
        match self.dice.roll(17) {
            0 => Command::AnswerAgent { by: waiting, digest, answers, standing: None },
            1 => Command::Answer { assurance: Assurance::Local, by: person, digest, answers },
            2 => Command::Decline {
                assurance: Assurance::Local,
                by: person,
                digest,
                note: Some("no".into()),
            },
            3 => {
                let hop = ask.hop.index;
                Command::Escalate { by: spoken, hop, reason: None, idle, assurance: None }
            }
            4 => Command::Withdraw { by: asker, note: None },
            5 => Command::Say { by: spoken, text: "hm".into(), assurance: None },
            6 => Command::Reply {
                by: asker,
                text: "so".into(),
                options: BTreeMap::new(),
                standing: None,
            },
            7 => Command::MarkSeen { by: person, digest },
            8 => Command::Claim {
                by: person,
                length: Span::from_mins(5),
                take_over: true,
                assurance: Assurance::Local,
            },
            9 => Command::Release { by: person },
            10 | 11 => Command::Acknowledge { by: Actor::Session(asker), delivery, lease: None },
            12 => {
                let gone = Gone::Ended(Actor::Timer);
                let gone = if self.dice.one_in(2) { Gone::Paused } else { gone };
                let session = *self.dice.pick(&[asker.session, waiting.session]);
                Command::SessionGone { session, gone, idle }
            }
            13 | 14 => {
                let failure = self.dice.one_in(2).then(|| "nobody is at home".to_owned());
                Command::Noticed { why: NoticeWhy::Came, of: ask.revision, failure }
            }
            _ => Command::Tick { idle, standing: None },
        }
    }

    fn record(&mut self, id: AskId, before: Option<Ask>, events: Vec<Event>) -> Change {
        let expects = vec![(Key::Ask(id), before.as_ref().map_or(0, |ask| ask.revision))];
        let after = events.iter().fold(before, |ask, event| Some(evolve(ask, event)));
        let after = after.expect("there are events");
        let number = self.receipts.len() as u64;
        let receipt = Record::Receipt(receipt(number, "a caller").into());
        self.receipts.push(receipt.clone());
        let history = self.asks.remove(&id).map_or_else(Vec::new, |(_, history)| history);
        let history = history.into_iter().chain(events.iter().cloned()).collect();
        self.asks.insert(id, (after.clone(), history));
        Change {
            expects,
            events: events.into_iter().map(|event| (id, event)).collect(),
            writes: vec![Record::Ask(after.into()), receipt],
            removes: Vec::new(),
        }
    }

    fn remove(&mut self) -> Option<Change> {
        let settled = self.asks.values().filter(|(ask, _)| !ask.is_open());
        let settled: Vec<_> = settled.map(|(ask, _)| (ask.id, ask.revision)).collect();
        let (id, revision) =
            *self.dice.pick(if settled.is_empty() { return None } else { &settled });
        self.asks.remove(&id);
        self.removed.insert(id);
        let (expects, removes) = (vec![(Key::Ask(id), revision)], vec![Key::Ask(id)]);
        Some(Change { expects, removes, ..Change::default() })
    }
}
