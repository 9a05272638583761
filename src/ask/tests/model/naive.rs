//! The rules of the design, written a second time and as plainly as they go: one struct, a stopwatch
//! for each timer, no events. It shares nothing with what it checks but the numbers of the limits.

use crate::ask::{Idle, limits};

/// Who does something: sessions and people by their number, the asker is session 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    Session(usize),
    Person(usize),
    Host,
}

/// One entry of a route; times in milliseconds.
#[derive(Clone, Debug)]
pub struct Stop {
    /// The session; none where it is people.
    pub session: Option<usize>,
    pub time: Option<u64>,
    pub within: Option<u64>,
}

/// What a reader sees: the labels in order, and which of them is recommended.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Shown {
    pub labels: Vec<&'static str>,
    pub best: Option<&'static str>,
}

/// A timer that can be held: how much was left when it was last looked at.
#[derive(Clone, Copy, Debug)]
pub struct Watch {
    pub left: u64,
    at: u64,
    pub runs: bool,
}

impl Watch {
    fn new(left: u64, now: u64) -> Self {
        Self { left, at: now, runs: true }
    }

    pub fn due(&self) -> Option<u64> {
        self.runs.then_some(self.at + self.left)
    }

    fn hold(&mut self, now: u64) {
        if self.runs {
            let gone = now - self.at;
            *self = Self { left: self.left.saturating_sub(gone), at: now, runs: false };
        }
    }

    fn go(&mut self, now: u64, least: u64) {
        if !self.runs {
            *self = Self::new(self.left.max(least), now);
        }
    }
}

/// An asker's deadline that is still in force.
#[derive(Clone, Debug)]
pub struct Deadline {
    pub after: u64,
    pub default: bool,
    /// None once it came and only somebody's act helps: why.
    pub watch: Result<Watch, &'static str>,
}

/// How it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct End {
    pub word: String,
    pub by: Option<By>,
    pub time: u64,
    pub revision: u64,
}

/// An ask by the rules.
#[derive(Clone, Debug)]
pub struct Naive {
    pub revision: u64,
    filed: u64,
    window: u64,
    pub stops: Vec<Stop>,
    pub visited: Vec<usize>,
    pub cause: &'static str,
    pub skipped: Vec<usize>,
    pub route: Option<Watch>,
    pub deadline: Option<Deadline>,
    given: Option<&'static str>,
    pub shown: Shown,
    pub seen: Vec<(usize, u64)>,
    pub claim: Option<(usize, u64)>,
    /// Revision, speaker, unread.
    pub turns: Vec<(u64, By, bool)>,
    pub hold: Option<u64>,
    pub lease: Option<(u8, u64)>,
    pub end: Option<End>,
    pub delivery: &'static str,
}

type Said = Result<(), &'static str>;

/// What an asker files.
#[derive(Clone, Debug)]
pub struct Wish {
    pub stops: Vec<Stop>,
    pub shown: Shown,
    pub after: Option<(u64, bool)>,
    pub given: Option<&'static str>,
}

impl Naive {
    pub fn file(wish: &Wish, idle: &[Option<Idle>], now: u64) -> Result<Self, &'static str> {
        let mut ask = Self {
            revision: 0,
            filed: now,
            window: limits::PERSON_WINDOW.as_millis(),
            stops: wish.stops.clone(),
            visited: Vec::new(),
            cause: "Filed",
            skipped: Vec::new(),
            route: None,
            deadline: None,
            given: wish.given,
            shown: wish.shown.clone(),
            seen: Vec::new(),
            claim: None,
            turns: Vec::new(),
            hold: None,
            lease: None,
            end: None,
            delivery: "none",
        };
        if matches!(wish.after, Some((_, true))) && ask.named(&wish.shown).is_none() {
            return Err("Invalid");
        }
        ask.deadline = wish.after.map(|(after, default)| {
            let watch = Ok(Watch::new(after, now));
            Deadline { after, default, watch }
        });
        let first = ask.landing(0, false, idle, now).expect("a route ends with people");
        let cause = match first.checked_sub(1).map(|passed| idle[passed]) {
            None => "Filed",
            Some(Some(Idle::Blocked | Idle::Full)) => "SenderBlocked",
            Some(_) => "SenderGone",
        };
        ask.skipped = (0..first).collect();
        ask.move_to(first, cause, None, now);
        Ok(ask)
    }

    pub fn hop(&self) -> usize {
        *self.visited.last().expect("it was filed to a hop")
    }

    fn asked(&self) -> Option<usize> {
        self.stops[self.hop()].session
    }

    /// The label the asker named as its default.
    fn named(&self, shown: &Shown) -> Option<&'static str> {
        match self.given {
            Some(given) => shown.labels.contains(&given).then_some(given),
            None => shown.best,
        }
    }

    pub fn is_unread(&self) -> bool {
        match self.delivery {
            "unread" => true,
            "undeliverable" => false,
            _ => self.turns.iter().any(|(_, _, unread)| *unread),
        }
    }

    fn unread_person(&self) -> bool {
        self.turns.iter().any(|(_, by, unread)| *unread && matches!(by, By::Person(_)))
    }

    /// When time alone changes it next.
    pub fn next(&self) -> Option<u64> {
        let lapse = self.claim.map(|(_, lapse)| lapse);
        let route = self.route.and_then(|watch| watch.due());
        [lapse, self.hold, route, self.expires()].into_iter().flatten().min()
    }

    fn expires(&self) -> Option<u64> {
        self.deadline.as_ref()?.watch.ok()?.due()
    }

    /// Something happened: each timer is held or runs by who holds it now.
    fn happen(&mut self, now: u64) {
        self.revision += 1;
        if self.deadline.is_none() {
            self.hold = None;
        }
        if !self.is_unread() {
            self.lease = None;
        }
        if let Some(route) = &mut self.route {
            if self.claim.is_some() { route.hold(now) } else { route.go(now, 0) }
        }
        let held = self.claim.is_some() || self.hold.is_some();
        if let Some(Deadline { watch: Ok(watch), after, .. }) = &mut self.deadline {
            if held { watch.hold(now) } else { watch.go(now, 60_000.min(*after)) }
        }
    }

    fn landing(
        &self,
        start: usize,
        people: bool,
        idle: &[Option<Idle>],
        now: u64,
    ) -> Option<usize> {
        let last = self.stops.len() - 1;
        (start..=last).find(|hop| {
            let stop = &self.stops[*hop];
            let late = stop.within.is_some_and(|within| now >= self.filed + within);
            *hop == last || !(late || idle[*hop].is_some() || people && stop.session.is_some())
        })
    }

    fn move_to(&mut self, hop: usize, cause: &'static str, by: Option<By>, now: u64) {
        self.cause = cause;
        let from_session = !self.visited.is_empty() && self.asked().is_some();
        let missed = self.expires().is_some_and(|due| due <= now);
        if from_session && self.stops[hop].session.is_none() && missed {
            self.deadline = None;
        }
        if let Some(from) = self.visited.last() {
            let people =
                |hop: &usize| cause != "AskersExpiry" || self.stops[*hop].session.is_none();
            self.skipped = (from + 1..hop).filter(people).collect();
        }
        self.visited.push(hop);
        let rest = self.stops[hop].within.map(|within| self.filed + within - now);
        let time = self.stops[hop].time.into_iter().chain(rest).min();
        self.route = time.map(|time| Watch::new(time, now));
        if self.claim.is_some_and(|(person, _)| by == Some(By::Person(person))) {
            self.claim = None;
        }
        self.happen(now);
    }

    pub fn settle(&mut self, word: &str, by: Option<By>, now: u64) {
        let (revision, word) = (self.revision + 1, word.to_owned());
        self.end = Some(End { word, by, time: now, revision });
        (self.claim, self.hold) = (None, None);
        self.delivery = match self.end.as_ref().map(|end| &*end.word) {
            Some("withdrawn") => "acknowledged",
            Some("abandoned") => "undeliverable",
            _ => "unread",
        };
        self.happen(now);
    }

    fn open(&self) -> Said {
        if self.end.is_some() { Err("Closed") } else { Ok(()) }
    }

    fn asker(by: By, why: &'static str) -> Said {
        if by == By::Session(0) { Ok(()) } else { Err(why) }
    }

    /// Only whom it waits on, of sessions.
    fn turn_of(&self, by: By) -> Said {
        match by {
            By::Session(number) if self.asked() != Some(number) => Err("NotSender"),
            _ => Ok(()),
        }
    }

    /// `declined`: a person's no to this content stands.
    pub fn answer(&mut self, by: By, fresh: bool, label: &str, declined: bool, now: u64) -> Said {
        self.open()?;
        self.turn_of(by)?;
        if !fresh {
            return Err("Stale");
        }
        if !self.shown.labels.contains(&label) {
            return Err("Invalid");
        }
        if declined && matches!(by, By::Session(_)) {
            return Err("StandingDecline");
        }
        self.settle(&format!("answered {label}"), Some(by), now);
        Ok(())
    }

    pub fn decline(&mut self, by: By, fresh: bool, now: u64) -> Said {
        self.open()?;
        if !fresh {
            return Err("Stale");
        }
        self.settle("declined", Some(by), now);
        Ok(())
    }

    pub fn withdraw(&mut self, by: By, now: u64) -> Said {
        self.open()?;
        Self::asker(by, "NotAsker")?;
        self.settle("withdrawn", Some(by), now);
        Ok(())
    }

    pub fn escalate(&mut self, by: By, hop: usize, idle: &[Option<Idle>], now: u64) -> Said {
        self.open()?;
        if let By::Session(number) = by
            && !(self.visited.contains(&hop) && self.stops[hop].session == Some(number))
        {
            return Err("NotSender");
        }
        if hop > self.hop() {
            return Err("Invalid");
        }
        if hop == self.hop() {
            let to = self.landing(hop + 1, false, idle, now).ok_or("LastHop")?;
            self.move_to(to, "Refused", Some(by), now);
        }
        Ok(())
    }

    pub fn say(&mut self, by: By, now: u64) -> Said {
        self.open()?;
        self.turn_of(by)?;
        if self.turns.len() == limits::TURNS {
            return Err("TooManyTurns");
        }
        let first = matches!(by, By::Person(_)) && !self.unread_person();
        if first && self.deadline.is_some() {
            self.hold = Some(now + 3_600_000);
        }
        self.turns.push((self.revision + 1, by, true));
        self.happen(now);
        Ok(())
    }

    pub fn reply(&mut self, by: By, options: Option<&Shown>, now: u64) -> Said {
        self.open()?;
        Self::asker(by, "NotAsker")?;
        if self.turns.len() == limits::TURNS {
            return Err("TooManyTurns");
        }
        let default = self.deadline.as_ref().is_some_and(|deadline| deadline.default);
        if let Some(options) = options {
            if default && self.named(options).is_none() {
                return Err("Invalid");
            }
            if *options != self.shown {
                self.seen.clear();
                self.shown = options.clone();
            }
        }
        if let Some(deadline) = &mut self.deadline {
            deadline.watch = Ok(Watch::new(deadline.after, now));
        }
        self.turns.push((self.revision + 1, by, false));
        self.happen(now);
        Ok(())
    }

    pub fn mark_seen(&mut self, by: usize, fresh: bool, now: u64) -> Said {
        self.open()?;
        if !fresh {
            return Err("Stale");
        }
        if self.seen.iter().any(|(person, _)| *person == by) {
            return Ok(());
        }
        self.seen.push((by, now));
        if let Some(deadline) = &mut self.deadline
            && matches!(deadline.watch, Err("NotShown"))
        {
            deadline.watch = Ok(Watch::new(self.window, now));
        }
        self.happen(now);
        Ok(())
    }

    pub fn claim(&mut self, by: usize, minutes: u64, over: bool, now: u64) -> Said {
        self.open()?;
        if minutes == 0 || minutes > 15 {
            return Err("Invalid");
        }
        if self.claim.is_some_and(|(person, _)| person != by) && !over {
            return Err("Claimed");
        }
        self.claim = Some((by, now + minutes * 60_000));
        self.happen(now);
        Ok(())
    }

    pub fn release(&mut self, by: usize, now: u64) -> Said {
        self.open()?;
        match self.claim {
            None => Err("NotClaimed"),
            Some((person, _)) if person != by => Err("Claimed"),
            Some(_) => {
                self.claim = None;
                self.happen(now);
                Ok(())
            }
        }
    }

    fn receiver(by: By) -> Said {
        if by == By::Host { Ok(()) } else { Self::asker(by, "NotAsker") }
    }

    fn holder(&self, now: u64) -> Option<u8> {
        self.lease.filter(|(_, until)| *until > now).map(|(name, _)| name)
    }

    pub fn take(&mut self, by: By, name: u8, extend: Option<u8>, now: u64) -> Said {
        Self::receiver(by)?;
        if self.holder(now) != extend {
            return Err("Leased");
        }
        if self.is_unread() {
            self.lease = Some((extend.unwrap_or(name), now + limits::LEASE.as_millis()));
            self.happen(now);
        }
        Ok(())
    }

    pub fn acknowledge(&mut self, by: By, what: u64, lease: Option<u8>, now: u64) -> Said {
        Self::receiver(by)?;
        if self.is_unread() && self.holder(now) != lease {
            return Err("Leased");
        }
        let turn = self.turns.iter().find(|(revision, ..)| *revision == what);
        let outcome = self.end.as_ref().is_some_and(|end| end.revision == what);
        let unread = match turn {
            Some((_, _, unread)) => *unread,
            None if outcome => self.delivery == "unread",
            None => return Err("Unknown"),
        };
        if !unread {
            return Ok(());
        }
        self.turns.iter_mut().filter(|turn| turn.0 <= what).for_each(|turn| turn.2 = false);
        if outcome {
            self.delivery = "acknowledged";
        }
        if !self.unread_person() {
            self.hold = None;
        }
        self.happen(now);
        Ok(())
    }

    pub fn gone(
        &mut self,
        session: usize,
        for_good: bool,
        idle: &[Option<Idle>],
        now: u64,
    ) -> Said {
        match (session, &self.end) {
            (0, None) if for_good => self.settle("abandoned", Some(By::Host), now),
            (0, Some(_)) if for_good && self.is_unread() => {
                self.delivery = "undeliverable";
                self.happen(now);
            }
            (0, _) | (_, Some(_)) => {}
            (_, None) => {
                let here = self.asked() == Some(session);
                let gone = matches!(idle[self.hop()], Some(Idle::Ended | Idle::Paused));
                if here
                    && gone
                    && let Some(to) = self.landing(self.hop() + 1, false, idle, now)
                {
                    self.move_to(to, "SenderGone", None, now);
                }
            }
        }
        Ok(())
    }

    /// Whatever is due, in due order.
    pub fn tick(&mut self, idle: &[Option<Idle>], now: u64, awake: u64) {
        while self.end.is_none() && self.next().is_some_and(|due| due <= now) {
            let due = self.next();
            if self.claim.is_some_and(|(_, lapse)| Some(lapse) == due) {
                self.claim = None;
                self.happen(now);
            } else if self.hold == due {
                self.hold = None;
                self.happen(now);
            } else if self.route.and_then(|watch| watch.due()) == due {
                let to = self.landing(self.hop() + 1, false, idle, now);
                self.move_to(to.expect("the last hop has no timer"), "Timeout", None, now);
            } else if self.asked().is_some() {
                let to = self.landing(self.hop(), true, idle, now).expect("people are last");
                self.move_to(to, "AskersExpiry", None, now);
            } else {
                self.expire(now, awake);
            }
        }
    }

    /// The asker's deadline has come, with people.
    fn expire(&mut self, now: u64, awake: u64) {
        let deadline = self.deadline.as_mut().expect("it came");
        let shown = self.seen.iter().map(|(_, time)| *time).min();
        let spoke = self.turns.last().is_some_and(|(_, by, _)| matches!(by, By::Person(_)));
        if !deadline.default {
            return self.settle("expired", None, now);
        }
        deadline.watch = match shown {
            _ if spoke => Err("PersonSpoke"),
            None => Err("NotShown"),
            Some(shown) if shown.max(awake) + self.window > now => {
                Ok(Watch::new(shown.max(awake) + self.window - now, now))
            }
            Some(_) => {
                let label = self.named(&self.shown).expect("a reply keeps a default named");
                return self.settle(&format!("default {label}"), None, now);
            }
        };
        self.happen(now);
    }

    /// Whether the same content in its work is this ask.
    pub fn is_same(&self) -> bool {
        let over = self.end.as_ref().is_some_and(|end| {
            matches!(&*end.word, "withdrawn" | "abandoned") || self.delivery != "unread"
        });
        !over
    }
}
