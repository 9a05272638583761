//! Routes as they are configured: who is to be asked, before it is known who sent the work. A
//! [`Plan`] becomes the [`Route`] of an ask when that is filed, and its rules are checked when it is
//! made, so that every route ends with people. How plans are written: `config/routes.rs`.

use super::Assurance;
use super::limits;
use super::names::{GroupName, PersonName, RouteName, SessionRef};
use super::route::{Hop, Route, Target};
use super::time::Span;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// A route by its name: hops of sessions, then hops of people, and how often the people are asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    name: RouteName,
    hops: Vec<PlanHop>,
    repeat: u32,
    assurance: Option<Assurance>,
}

/// Whom a hop of a plan means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlanTo {
    /// The session that sent the work; nobody where the work is a root's.
    Sender,
    /// Every session that the work came through, nearest first, each once.
    Senders {
        /// The time from the filing after which none of them is asked any more.
        total: Span,
    },
    /// This person.
    Person(PersonName),
    /// Any of these people, who are this group; at least one.
    Group(GroupName, Vec<PersonName>),
}

/// One entry of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanHop {
    /// Who is asked.
    pub to: PlanTo,
    /// For how long each, before the next. None is the route timeout, and no timer on the last hop of
    /// a plan that does not repeat.
    pub timeout: Option<Span>,
}

/// What is wrong with a plan, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanFault {
    /// Where it stands.
    pub part: PlanPart,
    /// What it must be; a sentence about that part.
    pub message: String,
}

/// A part of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlanPart {
    /// All hops.
    Hops,
    /// Whom this hop means.
    To(usize),
    /// The time of this hop.
    Timeout(usize),
    /// The time of all senders of this hop.
    Total(usize),
    /// How often people are asked.
    Repeat,
}

impl Plan {
    /// A plan whose people are asked `repeat` times in turn; 1 is once. `route_timeout` is the time
    /// of every timed hop that names none.
    ///
    /// # Errors
    ///
    /// All its faults.
    pub fn new(
        name: RouteName,
        mut hops: Vec<PlanHop>,
        repeat: u32,
        route_timeout: Span,
    ) -> Result<Self, Vec<PlanFault>> {
        let faults = Self::faults(&hops.iter().map(Some).collect::<Vec<_>>(), repeat);
        if !faults.is_empty() {
            return Err(faults);
        }
        let timed = if repeat > 1 { hops.len() } else { hops.len() - 1 };
        for hop in &mut hops[..timed] {
            hop.timeout.get_or_insert(route_timeout);
        }
        Ok(Self { name, hops, repeat, assurance: None })
    }

    /// The sender for `route_timeout`, then the person `owner`: what `default` is where nothing else
    /// is configured.
    pub fn built_in(route_timeout: Span) -> Self {
        let sender = PlanHop { to: PlanTo::Sender, timeout: Some(route_timeout) };
        let owner = PlanHop { to: PlanTo::Person(PersonName::owner()), timeout: None };
        Self { name: RouteName::default(), hops: vec![sender, owner], repeat: 1, assurance: None }
    }

    /// Everything that is wrong with such hops. None is a hop of which nothing is known, because it
    /// could not be read: the others are looked at all the same.
    pub fn faults(hops: &[Option<&PlanHop>], repeat: u32) -> Vec<PlanFault> {
        let mut faults = Vec::new();
        let mut add = |part, message: String| faults.push(PlanFault { part, message });
        match hops.len() {
            0 => add(PlanPart::Hops, "must name who is asked, people at the end".to_owned()),
            count if count > limits::HOPS => {
                add(PlanPart::Hops, format!("has {count}, and at most {} may be", limits::HOPS));
            }
            _ => {}
        }
        for (index, hop) in hops.iter().enumerate() {
            let Some(hop) = hop else { continue };
            hop.faults(index, &hops[..index], &mut add);
        }
        if let Some(Some(hop)) = hops.last() {
            let index = hops.len() - 1;
            if hop.to.is_session() {
                let message = "is last, and the last hop must be people: person:NAME or group:NAME";
                add(PlanPart::To(index), message.to_owned());
            } else if repeat == 1 && hop.timeout.is_some() {
                let message = "must not be there: the last hop is asked until somebody answers, \
                               unless the route repeats";
                add(PlanPart::Timeout(index), message.to_owned());
            }
        }
        if let Some(message) = repeat_fault(hops, repeat) {
            add(PlanPart::Repeat, message);
        }
        faults
    }

    /// The same, where a person's word must be so surely theirs: sessions are passed over then.
    pub fn demanding(self, assurance: Option<Assurance>) -> Self {
        Self { assurance, ..self }
    }

    /// How surely a person's word must be theirs; none where a session may answer, too.
    pub fn assurance(&self) -> Option<Assurance> {
        self.assurance
    }

    /// What it is called.
    pub fn name(&self) -> &RouteName {
        &self.name
    }

    /// Who is asked for work that came through `chain`: who sent it, who sent them theirs, and so on,
    /// nearest first; empty for a root session.
    ///
    /// Each session is asked once. Where one round of people ends with whom the next begins with, they
    /// are asked once there: nobody is the hop after themselves only because a route repeats.
    pub fn route(&self, chain: &[SessionRef]) -> Route {
        let mut hops: Vec<Hop> = Vec::new();
        for hop in self.hops.iter().filter(|hop| hop.to.is_session()) {
            let (reach, within) = match hop.to {
                PlanTo::Senders { total } => (chain.len(), Some(total)),
                _ => (chain.len().min(1), None),
            };
            for session in &chain[..reach] {
                if hops.iter().all(|hop| hop.to.session() != Some(session)) {
                    let to = Target::Session(session.clone());
                    hops.push(Hop { to, timeout: hop.timeout, within });
                }
            }
        }
        let people: Vec<Hop> = self.hops.iter().filter_map(PlanHop::of_people).collect();
        for _ in 0..self.repeat {
            let is_asked = |first: &Hop| hops.last().is_some_and(|last| last.to == first.to);
            let again = people.first().is_some_and(is_asked);
            hops.extend(people.iter().skip(usize::from(again)).cloned());
        }
        hops.last_mut().expect("every plan ends with people").timeout = None;
        Route { hops }
    }
}

/// What is wrong with how often the people of `hops` are asked.
fn repeat_fault(hops: &[Option<&PlanHop>], repeat: u32) -> Option<String> {
    if !(1..=limits::REPEAT_MAX).contains(&repeat) {
        return Some(format!("must be a whole number from 1 to {}", limits::REPEAT_MAX));
    }
    let known = || hops.iter().flatten();
    let people = known().filter(|hop| !hop.to.is_session()).count();
    if repeat > 1 && people == 1 && known().count() == hops.len() {
        let message = "needs two hops of people: one alone is asked until somebody answers";
        return Some(message.to_owned());
    }
    let sessions = known().map(|hop| hop.to.sessions_at_most()).max().unwrap_or(0);
    let all = sessions + people * repeat as usize;
    (repeat > 1 && all > limits::ROUTE_HOPS).then(|| {
        format!("makes up to {all} hops of the route, and at most {} may be", limits::ROUTE_HOPS)
    })
}

impl PlanHop {
    /// What is wrong with it as hop `index`, after those `before` it.
    fn faults(
        &self,
        index: usize,
        before: &[Option<&PlanHop>],
        add: &mut impl FnMut(PlanPart, String),
    ) {
        let mut before = before.iter().flatten();
        let is_asked = |hop: &&PlanHop| match hop.to {
            PlanTo::Senders { .. } => true,
            PlanTo::Sender => self.to == PlanTo::Sender,
            PlanTo::Person(_) | PlanTo::Group(..) => false,
        };
        if matches!(&self.to, PlanTo::Group(_, people) if people.is_empty()) {
            add(PlanPart::To(index), "is a group of nobody".to_owned());
        }
        if self.to.is_session() {
            if before.clone().any(|hop| !hop.to.is_session()) {
                let message = "stands after people: sessions are asked before them".to_owned();
                add(PlanPart::To(index), message);
            }
            if before.any(is_asked) {
                add(PlanPart::To(index), "is asked by a hop before it already".to_owned());
            }
        }
        let fits = |span| (limits::ROUTE_TIMEOUT_MIN..=limits::ROUTE_TIMEOUT_MAX).contains(&span);
        let must = || {
            let (min, max) = (limits::ROUTE_TIMEOUT_MIN, limits::ROUTE_TIMEOUT_MAX);
            format!("must be from {min} to {max}")
        };
        if self.timeout.is_some_and(|timeout| !fits(timeout)) {
            add(PlanPart::Timeout(index), must());
        }
        if let PlanTo::Senders { total } = self.to {
            if !fits(total) {
                add(PlanPart::Total(index), must());
            } else if self.timeout.is_some_and(|timeout| fits(timeout) && timeout > total) {
                let message = format!("is longer than the total of all senders, {total}");
                add(PlanPart::Timeout(index), message);
            }
        }
    }

    /// The hop of a route, where it is people.
    fn of_people(&self) -> Option<Hop> {
        let to = match &self.to {
            PlanTo::Sender | PlanTo::Senders { .. } => return None,
            PlanTo::Person(person) => Target::person(person.clone()),
            PlanTo::Group(group, people) => {
                Target::People { group: Some(group.clone()), people: people.clone() }
            }
        };
        Some(Hop { to, timeout: self.timeout, within: None })
    }
}

impl PlanTo {
    fn is_session(&self) -> bool {
        self.sessions_at_most() > 0
    }

    fn sessions_at_most(&self) -> usize {
        match self {
            PlanTo::Sender => 1,
            PlanTo::Senders { .. } => limits::DEPTH,
            PlanTo::Person(_) | PlanTo::Group(..) => 0,
        }
    }
}

impl fmt::Display for PlanPart {
    /// As it is written: `hops[1].timeout`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PlanPart::Hops => f.write_str("hops"),
            PlanPart::To(hop) => write!(f, "hops[{hop}].to"),
            PlanPart::Timeout(hop) => write!(f, "hops[{hop}].timeout"),
            PlanPart::Total(hop) => write!(f, "hops[{hop}].total"),
            PlanPart::Repeat => f.write_str("repeat"),
        }
    }
}

/// Every plan there is, by its name; `default` is always among them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plans(BTreeMap<RouteName, Plan>);

impl Plans {
    /// These, and the built-in `default` where it is none of them.
    pub fn new(plans: impl IntoIterator<Item = Plan>, route_timeout: Span) -> Self {
        let built_in = Plan::built_in(route_timeout);
        let each = std::iter::once(built_in).chain(plans);
        Self(each.map(|plan| (plan.name.clone(), plan)).collect())
    }

    /// The built-in `default` alone.
    pub fn built_in(route_timeout: Span) -> Self {
        Self::new([], route_timeout)
    }

    /// The plan of this name.
    pub fn get(&self, name: &RouteName) -> Option<&Plan> {
        self.0.get(name)
    }

    /// The plan of an ask that names none.
    pub fn default_plan(&self) -> &Plan {
        self.get(&RouteName::default()).expect("it is always there")
    }

    /// Everybody whom any of them may ask, each once.
    pub fn people(&self) -> BTreeSet<PersonName> {
        let hops = self.0.values().flat_map(|plan| &plan.hops);
        let each = hops.flat_map(|hop| match &hop.to {
            PlanTo::Person(person) => std::slice::from_ref(person),
            PlanTo::Group(_, people) => people,
            PlanTo::Sender | PlanTo::Senders { .. } => &[],
        });
        each.cloned().collect()
    }

    /// All names, in their order.
    pub fn names(&self) -> impl Iterator<Item = &RouteName> {
        self.0.keys()
    }
}

#[cfg(test)]
mod tests;
