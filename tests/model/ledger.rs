//! The second book: what happened to an ask, kept by somebody who sees only events and a clock, and
//! what of it breaks a rule. It shares no arithmetic with the rules it watches.

use super::cast::{CAST, CLAIM, EXPIRE, Runs, TIMEOUTS, WINDOW, Who};
use super::deed::{Deed, OUTCOME};
use askway::ask::{Cause, Event, EventKind, Span};

/// Rules that can be seen to be broken, as bits.
pub mod broken {
    pub const RULE_02: u16 = 1 << 2;
    pub const RULE_03: u16 = 1 << 3;
    pub const RULE_04: u16 = 1 << 4;
    pub const RULE_05: u16 = 1 << 5;
    pub const RULE_06: u16 = 1 << 6;
    pub const RULE_07: u16 = 1 << 7;
    pub const RULE_11: u16 = 1 << 11;
    pub const RULE_18: u16 = 1 << 12;
    pub const RULE_20: u16 = 1 << 13;
    pub const RULE_22: u16 = 1 << 14;
}

/// The longest a person's unread turn holds an expiry.
const UNREAD_HOLD: Span = Span::from_hours(1);
/// What an expiry has left at least after it was held.
const LEFT_MIN: Span = Span::from_mins(1);

/// Things worth seeing that leave no trace in an ask.
pub mod seen {
    pub const CLAIM_LAPSED: u8 = 1;
    pub const DEFAULT_HELD: u8 = 2;
    pub const SENDER_PASSED: u8 = 4;
}

/// Who spoke last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
enum Spoke {
    #[default]
    Nobody,
    Asker,
    Lead,
    Person,
}

/// What an onlooker knows of one ask. Lengths of time are capped where more makes no difference.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Ledger {
    hop: u8,
    /// How long the hop in force has been asked, claims aside.
    waited: Span,
    /// How long ago the content as it is was first shown.
    shown: Option<Span>,
    content: u8,
    spoke: Spoke,
    /// Whose claim is in force, and for how long it has been.
    claim: Option<(Who, Span)>,
    /// For how long a person's unread turn has held the expiry.
    unread: Option<Span>,
    /// What is left of the asker's deadline; none once it is gone.
    left: Option<Span>,
    /// By place: whether it is a person's, and unread.
    turns: Vec<(bool, bool)>,
    settled: bool,
    pub met: u8,
}

/// Under which circumstances something was done.
pub struct Doing {
    pub who: Who,
    pub deed: Deed,
    pub lead: Runs,
    /// How long ago the last gap ended.
    pub awake: Span,
    /// Contents that a person's no stands against.
    pub nos: u8,
}

impl Ledger {
    pub fn filed() -> Self {
        Self { left: Some(EXPIRE), ..Self::default() }
    }

    /// It was filed past a sender that is gone.
    pub fn passed_sender(&mut self, hop: u8) {
        (self.hop, self.met) = (hop, self.met | seen::SENDER_PASSED);
    }

    fn is_held(&self) -> bool {
        self.claim.is_some() || self.unread.is_some()
    }

    /// Time goes by.
    pub fn pass(&mut self, time: Span) {
        if self.settled {
            return;
        }
        let more = |span: Span, most: Span| (span + time).min(most);
        if self.claim.is_none() {
            let most = TIMEOUTS[usize::from(self.hop)].unwrap_or_default();
            self.waited = more(self.waited, most);
        }
        if !self.is_held() {
            let less = |left: Span| left.as_millis().saturating_sub(time.as_millis());
            self.left = self.left.map(|left| Span::from_millis(less(left)));
        }
        self.shown = self.shown.map(|shown| more(shown, WINDOW));
        self.claim = self.claim.map(|(who, since)| (who, more(since, CLAIM)));
        self.unread = self.unread.map(|since| more(since, UNREAD_HOLD));
    }

    /// What a deed must have been told, whatever the rules say.
    pub fn of_reply(&self, doing: &Doing, done: bool) -> u16 {
        let answers = matches!(doing.deed, Deed::Answer { content } if content == self.content);
        if answers && !self.settled && !done { broken::RULE_06 } else { 0 }
    }

    /// One thing happened: which rules it breaks.
    pub fn happen(&mut self, event: &Event, doing: &Doing) -> u16 {
        let held = self.is_held();
        let wrong = if self.settled && event.kind.settles() { broken::RULE_02 } else { 0 };
        let wrong = wrong | self.apply(&event.kind, doing);
        if held && !self.is_held() {
            self.left = self.left.map(|left| left.max(LEFT_MIN));
        }
        if event.kind.settles() {
            let (turns, met) = (std::mem::take(&mut self.turns), self.met);
            *self = Self { settled: true, turns, met, ..Self::default() };
        }
        wrong
    }

    fn apply(&mut self, kind: &EventKind, doing: &Doing) -> u16 {
        let unless = |fine: bool, rule: u16| if fine { 0 } else { rule };
        let asked = self.hop == 0 && doing.who == Who::Lead;
        let bound = doing.deed.bound_to().is_none_or(|content| content == self.content);
        match kind {
            EventKind::Filed(_) => 0,
            EventKind::Answered { .. } if doing.who == Who::Lead => {
                unless(asked, broken::RULE_05) | unless(bound, broken::RULE_20)
            }
            EventKind::Answered { .. } | EventKind::Declined { .. } => {
                unless(bound, broken::RULE_20)
            }
            EventKind::Escalated(moved) => {
                let wrong = self.moves(moved.cause, doing);
                self.come_to(moved.hop as u8, &moved.by);
                wrong
            }
            EventKind::Expired { answers } => {
                let due = self.left == Some(Span::default()) && !self.is_held() && self.hop > 0;
                let silent = self.shown.is_some_and(|shown| shown.min(doing.awake) >= WINDOW)
                    && self.spoke != Spoke::Person
                    && doing.nos & 1 << self.content == 0;
                unless(due && (answers.is_none() || silent), broken::RULE_04)
            }
            EventKind::DefaultHeld { .. } => {
                self.met |= seen::DEFAULT_HELD;
                0
            }
            EventKind::Said { by, .. } => {
                let (who, person) = (CAST.who(by), matches!(CAST.who(by), Who::Ann | Who::Bob));
                let first = person && !self.turns.contains(&(true, true));
                self.turns.push((person, true));
                self.spoke = if person { Spoke::Person } else { Spoke::Lead };
                if first && self.left.is_some() {
                    self.unread = Some(Span::default());
                }
                unless(who != Who::Lead || asked, broken::RULE_05)
            }
            EventKind::TurnHoldLapsed => {
                unless(self.unread.take() == Some(UNREAD_HOLD), broken::RULE_04)
            }
            EventKind::Replied { content, .. } => {
                self.turns.push((false, false));
                self.spoke = Spoke::Asker;
                if content.is_some() {
                    (self.content, self.shown) = (1, None);
                }
                self.left = self.left.map(|_| EXPIRE);
                unless(doing.who == Who::Asker, broken::RULE_05)
            }
            EventKind::Seen { .. } => {
                self.shown = self.shown.or(Some(Span::default()));
                0
            }
            EventKind::Claimed { by, .. } => {
                let by = CAST.who(&askway::ask::Actor::Person(by.clone()));
                self.claim = Some((by, Span::default()));
                0
            }
            EventKind::Released { .. } => {
                self.claim = None;
                0
            }
            EventKind::ClaimLapsed { .. } => {
                self.met |= seen::CLAIM_LAPSED;
                let over = self.claim.take().is_some_and(|(_, since)| since >= CLAIM);
                unless(over, broken::RULE_03)
            }
            EventKind::Acknowledged { .. } => self.acknowledge(doing),
            EventKind::Withdrawn { .. } => unless(doing.who == Who::Asker, broken::RULE_05),
            EventKind::Abandoned { .. }
            | EventKind::Leased { .. }
            | EventKind::Noticed { .. }
            | EventKind::PersonGone { .. }
            | EventKind::Undeliverable { .. }
            | EventKind::SenderTold { .. } => 0,
        }
    }

    /// Rule 3: no hop moves before its time; rule 5: nobody moves it whom it does not wait on.
    fn moves(&mut self, cause: Cause, doing: &Doing) -> u16 {
        let time = TIMEOUTS[usize::from(self.hop)];
        let (fine, rule) = match cause {
            Cause::Timeout => {
                let over = time.is_some_and(|time| self.waited >= time);
                (over && self.claim.is_none(), broken::RULE_03)
            }
            Cause::AskersExpiry => {
                let over = self.left == Some(Span::default()) && !self.is_held();
                (over && self.hop == 0, broken::RULE_04)
            }
            Cause::SenderGone => (doing.lead != Runs::Active && self.hop == 0, broken::RULE_03),
            Cause::Refused => {
                let asked = doing.who != Who::Lead || self.hop == 0;
                let seen = doing.deed == Deed::Escalate { hop: self.hop };
                (asked && seen && doing.who != Who::Asker, broken::RULE_05)
            }
            Cause::Filed | Cause::SenderBlocked | Cause::NeedsPerson => (false, broken::RULE_03),
        };
        if cause == Cause::SenderGone {
            self.met |= seen::SENDER_PASSED;
        }
        if fine { 0 } else { rule }
    }

    fn come_to(&mut self, hop: u8, by: &askway::ask::Actor) {
        let missed = self.hop == 0 && !self.is_held() && self.left == Some(Span::default());
        if missed {
            // Dropped for good: what came while a session was asked applies nothing.
            (self.left, self.unread) = (None, None);
        }
        (self.hop, self.waited) = (hop, Span::default());
        if self.claim.is_some_and(|(who, _)| CAST.actor(who) == *by) {
            self.claim = None;
        }
    }

    /// Rule 11: by the asker alone, and never the outcome with an earlier turn left unread.
    fn acknowledge(&mut self, doing: &Doing) -> u16 {
        let Deed::Acknowledge { delivery } = doing.deed else { return broken::RULE_11 };
        let upto = match delivery {
            OUTCOME => self.turns.len(),
            turn => usize::from(turn) + 1,
        };
        self.turns.iter_mut().take(upto).for_each(|turn| turn.1 = false);
        if !self.turns.contains(&(true, true)) {
            self.unread = None;
        }
        if doing.who == Who::Asker { 0 } else { broken::RULE_11 }
    }

    /// Whether the hop in force has been asked for all its time, and nobody is on it.
    pub fn is_overdue(&self) -> bool {
        let time = TIMEOUTS[usize::from(self.hop)];
        !self.settled && self.claim.is_none() && time.is_some_and(|time| self.waited >= time)
    }

    /// Whether these are the turns an ask has, and which of them are unread.
    pub fn has_turns(&self, unread: impl Iterator<Item = bool>) -> bool {
        self.turns.iter().map(|turn| turn.1).eq(unread)
    }
}
