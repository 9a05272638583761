//! Asks as they can be found, and what every deed makes of each: the rules are asked once for each
//! ask, deed and circumstance, and their word is kept. So a million worlds cost a few thousand
//! decisions.
//!
//! Two asks are one here when they look the same from now on: instants are kept as lengths from the
//! present, and what nothing looks at (words, revisions) is left out. That this is so is tried: where
//! two histories come to one look, every deed is done to both, and must come to one look again.

use super::cast::{CAST, Runs, START, WINDOW, Who};
use super::deed::{Deed, OUTCOME, Said, Way, Why, Winner, gone};
use super::ledger::{Doing, Ledger, broken};
use super::planted::Planted;
use askway::ask::{
    Ask, Command, Delivery, Event, ExpiryAction, ExpiryClock, Now, Rejection, Seen, Span,
    StandingNo, State, Timestamp, decide, evolve, fold,
};
use askway::session;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// An ask by its look.
pub type Look = u32;

/// What matters of what is around an ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Around {
    pub lead: Runs,
    pub asker: Runs,
    /// Contents that a person's no stands against, as bits.
    pub nos: u8,
    /// How long ago the last gap ended; capped at the window.
    pub awake: Span,
}

/// What came of a deed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Came {
    pub said: Said,
    pub look: Look,
    pub nos: u8,
    pub broken: u16,
    pub changed: bool,
}

/// What of an ask anything depends on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Face {
    hop: usize,
    cause: u8,
    skipped: Vec<(usize, u8)>,
    deadline: Option<i64>,
    visited: Vec<usize>,
    content: u8,
    expiry: Option<(u8, Clock)>,
    claim: Option<(Who, i64, Option<Span>)>,
    turn_hold: Option<i64>,
    seen: Vec<(Who, u8, Span)>,
    turns: Vec<(Who, bool)>,
    settled: Option<(Winner, u8)>,
    ledger: Ledger,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Clock {
    Runs(i64),
    Stands(Span),
    Waits(u8),
}

/// One history that comes to a look.
#[derive(Clone, Debug)]
pub struct Past {
    pub ask: Arc<Ask>,
    events: Arc<Vec<Event>>,
    ledger: Ledger,
    now: Timestamp,
}

/// What callers, the timer and the properties want to know of an ask.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    pub open: bool,
    pub content: u8,
    pub hop: u8,
    pub claimed: bool,
    /// The places of unread turns, as bits.
    unread_turns: u8,
    unread_outcome: bool,
    pub winner: Option<Winner>,
    /// How long until its deadline; zero when that has come.
    pub due_in: Option<Span>,
    pub with_people: bool,
    /// Whether its hop should have been left by now.
    pub overdue: bool,
    pub met: u8,
}

impl Facts {
    /// What a watch offers the asker after what it has told: turns in order, then the outcome.
    pub fn offer_after(&self, told: Option<u8>) -> Option<u8> {
        let from = told.map_or(0, |told| told.saturating_add(1));
        let turn = (from..8).find(|place| self.unread_turns & 1 << place != 0);
        turn.or((self.unread_outcome && told != Some(OUTCOME)).then_some(OUTCOME))
    }
}

#[derive(Default)]
struct Table {
    by_face: HashMap<Face, Look>,
    /// For each look one history, and another where there is one.
    pasts: Vec<(Past, Option<Past>)>,
    facts: Vec<Facts>,
    came: HashMap<(Look, Who, Deed, Around), Came>,
    aged: HashMap<(Look, Span), Look>,
}

/// All that is known so far.
#[derive(Default)]
pub struct Kept {
    table: Mutex<Table>,
    planted: Option<Planted>,
}

impl Kept {
    pub fn new(planted: Option<Planted>) -> Self {
        Self { planted, ..Self::default() }
    }

    /// An ask that is filed now.
    pub fn file(&self, number: u8, expire: ExpiryAction, around: Around) -> Came {
        let now = now(START, around);
        let filing = CAST.filing(number, expire, around.lead, around.nos);
        let events = decide(None, &Command::Ask(Box::new(filing)), now).expect("it may be filed");
        let mut ask = fold(&events).expect("it is filed");
        if self.planted == Some(Planted::NoTimer) {
            ask.hop.deadline = None;
        }
        let mut past = Past {
            ask: Arc::new(ask),
            events: Arc::new(events),
            ledger: Ledger::filed(),
            now: START,
        };
        let doing = doing(Who::Asker, Deed::File, around);
        for event in past.events.iter().skip(1) {
            past.ledger.happen(event, &doing);
        }
        if past.ask.hop.index > 0 {
            past.ledger.passed_sender(past.ask.hop.index as u8);
        }
        let look = self.table.lock().unwrap().look_of(past);
        Came { said: Said::Done, look, nos: around.nos, broken: 0, changed: true }
    }

    /// What there is to know of it.
    pub fn facts(&self, look: Look) -> Facts {
        self.table.lock().unwrap().facts[look as usize]
    }

    /// How many looks there are, and how many decisions have been kept.
    pub fn counts(&self) -> (usize, usize) {
        let table = self.table.lock().unwrap();
        (table.pasts.len(), table.came.len())
    }

    /// The same ask, later.
    pub fn age(&self, look: Look, time: Span) -> Look {
        let mut table = self.table.lock().unwrap();
        if let Some(aged) = table.aged.get(&(look, time)) {
            return *aged;
        }
        let (one, other) = table.pasts[look as usize].clone();
        let aged = table.look_of(one.later(time));
        if let Some(other) = other {
            assert_eq!(table.look_of(other.later(time)), aged, "a look hides something");
        }
        table.aged.insert((look, time), aged);
        aged
    }

    /// What a deed makes of an ask.
    pub fn after(&self, look: Look, who: Who, deed: Deed, around: Around) -> Came {
        let mut table = self.table.lock().unwrap();
        let key = (look, who, deed, around);
        if let Some(came) = table.came.get(&key) {
            return *came;
        }
        let (one, other) = table.pasts[look as usize].clone();
        let mut comes = |past: &Past| {
            let (past, mut came) = self.perform(past, who, deed, around);
            came.look = table.look_of(past);
            came
        };
        let came = comes(&one);
        if let Some(other) = other {
            assert_eq!(comes(&other), came, "a look hides something: {who:?} {deed:?}");
        }
        table.came.insert(key, came);
        came
    }

    /// As the engine does it: the sweep first, then the session's standing, then the rules, then
    /// what is kept beside the ask.
    fn perform(&self, past: &Past, who: Who, deed: Deed, around: Around) -> (Past, Came) {
        let planted = self.planted;
        let prepared = Planted::prepare(planted, past.clone(), deed);
        let mut folding = Folding { past: prepared, around, planted, broken: 0 };
        folding.sweep_first(who);
        let said = folding.does(who, deed);
        let Folding { past: mut after, mut broken, .. } = folding;
        let before = &past.ask;
        if let Some(planted) = planted {
            planted.spoil(past, &mut after, deed);
        }
        let ask = &after.ask;
        if fold(after.events.iter()).as_ref() != Some(&**ask) {
            broken |= broken::RULE_18;
        }
        if before.outcome().is_some() && before.outcome() != ask.outcome() {
            broken |= broken::RULE_02;
        }
        if let Said::Closed(winner) = said
            && Winner::of(ask) != Some(winner)
        {
            broken |= broken::RULE_02;
        }
        let unread = ask.turns.iter().any(|turn| turn.unread);
        let acknowledged = matches!(ask.delivery(), Some(Delivery::Acknowledged(_)));
        let withdrawn = Winner::of(ask).is_some_and(|winner| winner.way == Way::Withdrawn);
        let turns = ask.turns.iter().map(|turn| turn.unread);
        if (acknowledged && unread && !withdrawn) || !after.ledger.has_turns(turns) {
            broken |= broken::RULE_11;
        }
        let late = ask.deadline().is_some_and(|deadline| deadline <= past.now);
        if deed == Deed::Tick && ask.is_open() && late {
            broken |= broken::RULE_22;
        }
        let nos = nos_after(before, ask, around.nos);
        let changed = after.events.len() > past.events.len();
        (after, Came { said, look: 0, nos, broken, changed })
    }
}

/// The contents a person's no stands against, once an ask has ended.
fn nos_after(before: &Ask, ask: &Ask, nos: u8) -> u8 {
    if !before.is_open() || ask.is_open() {
        return nos;
    }
    let which = CAST.which(ask.digest);
    let standing = CAST.no(nos, which);
    match StandingNo::after(ask, ask.what_is_asked(), standing.as_ref()) {
        None => nos,
        Some(no) if no.until > no.time && no.stands(Now::at(ask.outcome().unwrap().time)) => {
            nos | 1 << which
        }
        Some(_) => nos & !(1 << which),
    }
}

fn now(time: Timestamp, around: Around) -> Now {
    let awake_since = time.as_millis() - around.awake.as_millis();
    Now { time, awake_since: Timestamp::from_millis(awake_since) }
}

fn doing(who: Who, deed: Deed, around: Around) -> Doing {
    Doing { who, deed, lead: around.lead, awake: around.awake, nos: around.nos }
}

/// An ask while something is done to it.
struct Folding {
    past: Past,
    around: Around,
    planted: Option<Planted>,
    broken: u16,
}

impl Folding {
    /// Whoever is gone is seen to be so before anything else.
    fn sweep_first(&mut self, who: Who) {
        let Around { lead, asker, .. } = self.around;
        let ask = self.past.ask.clone();
        if !ask.is_open() && !ask.is_unread() {
            return;
        }
        let waits = ask.waits_on_session(&CAST.lead);
        for (gone_how, session, looks) in [(asker, &CAST.asker, true), (lead, &CAST.lead, waits)] {
            if gone_how != Runs::Active && looks {
                let ended = gone_how == Runs::Ended;
                let command = gone(session.session, ended, CAST.idle(lead));
                let swept = self.decide(&command, who, Deed::Sweep);
                assert!(swept.is_ok(), "a sweep is never refused");
            }
        }
    }

    fn does(&mut self, who: Who, deed: Deed) -> Said {
        if deed == Deed::Sweep {
            return Said::Done;
        }
        let Around { lead, asker, nos, .. } = self.around;
        let command = deed.command(who, &self.past.ask, CAST.idle(lead), nos);
        let command = Planted::rewrite(self.planted, command, &self.past.ask);
        if let Some((session, act)) = session::acting(&command)
            && CAST.session(session.session, lead, asker).may(act).is_err()
        {
            return Said::Refused(Why::Standing);
        }
        let ledger = self.past.ledger.clone();
        let said = match self.decide(&command, who, deed) {
            Ok(()) => Said::Done,
            Err(Rejection::Closed) => match Winner::of(&self.past.ask) {
                Some(winner) => Said::Closed(winner),
                None => unreachable!("what is closed has an outcome"),
            },
            Err(why) => Said::Refused(why.into()),
        };
        let said = Planted::misreport(self.planted, said, who, &self.past.ask);
        let closed = matches!(said, Said::Closed(_)) && !self.past.ask.is_open();
        let doing = doing(who, deed, self.around);
        self.broken |= ledger.of_reply(&doing, said == Said::Done || closed);
        said
    }

    fn decide(&mut self, command: &Command, who: Who, deed: Deed) -> Result<(), Rejection> {
        let early = self.planted == Some(Planted::TicksEarly) && deed == Deed::Tick;
        let time = if early { self.past.now + Span::from_mins(5) } else { self.past.now };
        let events = decide(Some(&self.past.ask), command, now(time, self.around))?;
        let doing = doing(who, deed, self.around);
        for event in events {
            let ask = evolve(Some((*self.past.ask).clone()), &event);
            self.broken |= self.past.ledger.happen(&event, &doing);
            self.past.ask = Arc::new(ask);
            Arc::make_mut(&mut self.past.events).push(event);
        }
        Ok(())
    }
}

impl Past {
    fn later(mut self, time: Span) -> Self {
        self.now = self.now + time;
        self.ledger.pass(time);
        self
    }

    /// Lets a planted mistake change the ask behind its history's back.
    pub fn change(&mut self, change: impl FnOnce(&mut Ask)) {
        change(Arc::make_mut(&mut self.ask));
    }

    fn facts(&self) -> Facts {
        let ask = &self.ask;
        let deadline = ask.deadline().filter(|_| ask.is_open());
        let turns = (0..).zip(&ask.turns).filter(|(_, turn)| turn.unread).map(|(place, _)| place);
        Facts {
            open: ask.is_open(),
            content: CAST.which(ask.digest),
            hop: ask.hop.index as u8,
            claimed: ask.claim.is_some(),
            unread_turns: turns.fold(0, |bits, place| bits | 1 << place),
            unread_outcome: ask.delivery() == Some(&Delivery::Unread),
            winner: Winner::of(ask),
            due_in: deadline.map(|deadline| deadline.since(self.now)),
            with_people: CAST.people.iter().any(|one| ask.waits_on_person(one)),
            overdue: self.ledger.is_overdue(),
            met: self.ledger.met,
        }
    }
}

impl Table {
    fn look_of(&mut self, past: Past) -> Look {
        let face = face(&past);
        if let Some(look) = self.by_face.get(&face) {
            let (one, other) = &mut self.pasts[*look as usize];
            if other.is_none() && one.events != past.events {
                *other = Some(past);
            }
            return *look;
        }
        let look = self.pasts.len() as Look;
        self.by_face.insert(face, look);
        self.facts.push(past.facts());
        self.pasts.push((past, None));
        look
    }
}

/// Every part of an ask is looked at here, or named as one that nothing that may happen depends on.
fn face(past: &Past) -> Face {
    let Ask {
        // Fixed when it is filed, and the same for both.
        id: _,
        namespace: _,
        create_time: _,
        priority: _,
        asker: _,
        host: _,
        work: _,
        tree: _,
        chain: _,
        route_name: _,
        route: _,
        terms: _,
        defaults: _,
        carried: _,
        again: _,
        // Nobody is removed or carries notices here, and all people are equally sure.
        assurance: _,
        notice: _,
        noticed: _,
        notice_failure: _,
        // Nobody takes leases here, and no sender is told that an outcome found nobody.
        lease: _,
        sender_told: _,
        // It numbers events; every delivery is named by its place.
        revision: _,
        content: _,
        digest,
        hop,
        visited,
        expiry,
        claim,
        turn_hold,
        seen,
        turns,
        state,
    } = &*past.ask;
    let from_now = |time: Timestamp| time.as_millis() as i64 - past.now.as_millis() as i64;
    let ago = |time: Timestamp| past.now.since(time).min(WINDOW);
    let open = *state == State::Open;
    let clock = |clock: ExpiryClock| match clock {
        ExpiryClock::Runs(due) => Clock::Runs(from_now(due)),
        ExpiryClock::Stands(left) => Clock::Stands(left),
        ExpiryClock::Waits(why) => Clock::Waits(why as u8),
    };
    let shown = |seen: &Seen| {
        let person = askway::ask::Actor::Person(seen.by.clone());
        (CAST.who(&person), CAST.which(seen.digest), ago(seen.time))
    };
    let expiry = expiry.filter(|_| open).map(|expiry| (expiry.action as u8, clock(expiry.clock)));
    let claim = claim.as_ref().map(|claim| {
        let by = CAST.who(&askway::ask::Actor::Person(claim.by.clone()));
        (by, from_now(claim.lapse), claim.route_left)
    });
    let delivery = match past.ask.delivery() {
        None | Some(Delivery::Unread) => 0,
        Some(Delivery::Acknowledged(_)) => 1,
        Some(Delivery::Undeliverable { .. }) => 2,
    };
    Face {
        hop: if open { hop.index } else { 0 },
        cause: if open { hop.cause as u8 } else { 0 },
        skipped: hop.skipped.iter().filter(|_| open).map(|one| (one.hop, one.why as u8)).collect(),
        // Under a claim it is not looked at: the claim has what was left.
        deadline: hop.deadline.filter(|_| open && claim.is_none()).map(from_now),
        visited: visited.iter().copied().filter(|_| open).collect(),
        content: CAST.which(*digest),
        expiry,
        claim,
        turn_hold: turn_hold.map(from_now),
        seen: seen.iter().filter(|_| open).map(shown).collect(),
        turns: turns.iter().map(|turn| (CAST.who(&turn.by), turn.unread)).collect(),
        settled: Winner::of(&past.ask).map(|winner| (winner, delivery)),
        ledger: past.ledger.clone(),
    }
}
