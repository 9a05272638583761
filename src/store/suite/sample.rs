//! Records to write, and dice to choose by.

use crate::ask::{
    Actor, AskId, Content, ContentDigest, Namespace, PersonName, SessionId, SessionRef, StandingNo,
    Timestamp, Twin, WorkId,
};
use crate::session::{
    Kind, Principal, Roster, Secret, SecretHash, Session, Standing, Ticket, Token, Work, WorkManner,
};
use crate::store::{ClockMark, ReceiptKey, StoredReceipt, Subject};
use std::str::FromStr;

/// Numbers that look random, and are the same for the same seed.
#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    /// The dice of a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below `sides`, which is not 0.
    pub fn roll(&mut self, sides: u64) -> u64 {
        self.next() % sides
    }

    /// Whether the one case in `sides` came.
    pub fn one_in(&mut self, sides: u64) -> bool {
        self.roll(sides) == 0
    }

    /// One of these; there is one.
    pub fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.roll(of.len() as u64) as usize]
    }

    /// Six bytes, as ids want them.
    pub fn six(&mut self) -> [u8; 6] {
        let [a, b, c, d, e, f, ..] = self.next().to_be_bytes();
        [a, b, c, d, e, f]
    }

    // SplitMix64: a counter, well stirred.
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

/// A name; `text` is one.
pub(super) fn name<T: FromStr>(text: &str) -> T {
    text.parse().unwrap_or_else(|_| panic!("`{text}` is a name"))
}

/// A root session, at its first revision.
pub fn session(number: u8) -> Session {
    Session {
        id: SessionId::new(Timestamp::from_millis(u64::from(number)), [number; 6]),
        namespace: Namespace::default(),
        agent: name(&format!("agent-{}", number % 3)),
        host: name("host"),
        parent: None,
        revision: 1,
        create_time: Timestamp::from_millis(u64::from(number)),
        standing: Standing::Active,
        sweep: false,
        stay: 0,
        token: secret(Kind::Session, number),
        token_used: false,
        hold: secret(Kind::Hold, number),
        held: false,
        works: vec![work_id(number)],
        open_asks: Vec::new(),
        answers_asks: true,
        wakeable: number.is_multiple_of(2),
        alive_until: Timestamp::from_millis(1_000 * u64::from(number)),
        tickets_from: 0,
        maker: None,
        revokes: false,
    }
}

/// The work of that session.
pub fn work(number: u8) -> Work {
    Work {
        id: work_id(number),
        namespace: Namespace::default(),
        session: reference(number),
        from: None,
        tree: work_id(number),
        chain: Vec::new(),
        blocking: None,
        may_ask: true,
        create_time: Timestamp::from_millis(u64::from(number)),
    }
}

/// A ticket of that session.
pub fn ticket(number: u8) -> Ticket {
    Ticket {
        secret: secret(Kind::Ticket, number),
        namespace: Namespace::default(),
        revision: 1,
        sender: reference(number),
        from: work_id(number),
        work: work_id(number),
        manner: WorkManner::default(),
        expire_time: Timestamp::from_millis(9),
        spent_by: None,
        void: false,
        stay: 0,
    }
}

/// The token of that session.
pub fn token(number: u8) -> Token {
    let principal = Principal::Session(reference(number));
    Token::new(secret(Kind::Session, number), Namespace::default(), principal)
}

/// A receipt of `caller` for the request of that number.
pub fn receipt(number: u64, caller: &str) -> StoredReceipt {
    StoredReceipt {
        key: ReceiptKey { request: name(&format!("request {number}")), caller: caller.into() },
        payload: "00".repeat(32),
        subject: Subject::Work(work_id(1)),
        closed: false,
        time: Timestamp::from_millis(number),
    }
}

/// Which ask that work filed last with some content.
pub fn twin(number: u8) -> Twin {
    Twin { work: work_id(number), digest: digest(), ask: ask_id(number), revision: 1 }
}

/// A person's no to that content under that work.
pub fn standing_no(number: u8) -> StandingNo {
    StandingNo {
        tree: work_id(number),
        digest: digest(),
        namespace: Namespace::default(),
        ask: ask_id(number),
        by: PersonName::owner(),
        note: Some("no".into()),
        time: Timestamp::from_millis(1),
        until: Timestamp::from_millis(9),
        again: 0,
        revision: 1,
        assurance: None,
        in_agent: false,
    }
}

fn digest() -> ContentDigest {
    Content { questions: Vec::new(), context: "some content".into() }.digest()
}

fn ask_id(number: u8) -> AskId {
    AskId::new(Timestamp::from_millis(u64::from(number)), [number; 6])
}

/// Who is known in a namespace, where a person of that number was added to it.
pub fn roster(number: u8) -> Roster {
    let time = Timestamp::from_millis(u64::from(number));
    let fresh = Roster::new(Namespace::default(), &Actor::Timer, time);
    let person = name(&format!("person-{number}"));
    fresh.add(&person, &Actor::Timer, time).ok().flatten().expect("there is room for one")
}

/// The clock's mark at a moment.
pub fn mark(millis: u64) -> ClockMark {
    let service = Timestamp::from_millis(millis);
    let awake_since = Timestamp::from_millis(millis / 2);
    ClockMark { service, boot: "a boot".into(), since_boot: millis, awake_since }
}

/// That session, as others name it.
pub(super) fn reference(number: u8) -> SessionRef {
    session(number).reference()
}

fn work_id(number: u8) -> WorkId {
    WorkId::new(Timestamp::from_millis(u64::from(number)), [number; 6])
}

fn secret(kind: Kind, number: u8) -> SecretHash {
    Secret::new(kind, [number; 32]).hash()
}
