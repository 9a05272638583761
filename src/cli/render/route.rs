//! The way of an ask through its route: who was asked from when to when and why it left them, who is
//! asked now, who will be. Made of what the ask says and, for what is past, of its history.

use crate::grpc::v1;
use crate::grpc::v1::waiting_on::Who;

/// One hop of a route, as far as it is known.
#[derive(Clone, Debug, PartialEq)]
pub struct Stage<'a> {
    /// Its place in the route, from 0.
    pub index: usize,
    /// Who is asked.
    pub to: Option<&'a v1::WaitingOn>,
    /// For how long at most.
    pub timeout: Option<i64>,
    /// Where it stands.
    pub state: State,
    /// Since when it was asked, or when it will be at the latest: milliseconds since 1970.
    pub from: Option<i64>,
    /// Until when.
    pub until: Option<i64>,
    /// Why the ask went on from here, came here, or passed over it: as the daemon or a refuser put it.
    pub why: Option<&'a str>,
}

/// Where a hop stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It was asked.
    Past,
    /// It was never asked: it could not answer.
    PassedOver,
    /// It is asked.
    Now,
    /// It is asked if nobody answers before.
    ToCome,
    /// The ask was settled before it came here.
    NeverAsked,
}

impl State {
    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            State::Past => "past",
            State::PassedOver => "passed_over",
            State::Now => "now",
            State::ToCome => "to_come",
            State::NeverAsked => "never_asked",
        }
    }
}

/// Every hop in order. Without `events` the times of what is past are those that the ask still tells.
pub fn stages<'a>(ask: &'a v1::Ask, events: &'a [v1::Event]) -> Vec<Stage<'a>> {
    let is_move = |event: &&v1::Event| {
        matches!(event.kind(), v1::EventKind::Filed | v1::EventKind::Escalated)
    };
    let moves = events.iter().filter(is_move).filter_map(|event| event.ask.as_ref()?.hop.as_ref());
    let mut moves: Vec<_> = moves.collect();
    if moves.is_empty() {
        moves.extend(&ask.hop);
    }
    let mut stages: Vec<_> = ask.route.iter().enumerate().map(|hop| to_come(ask, hop)).collect();
    for (place, hop) in moves.iter().enumerate() {
        for skipped in &hop.skipped {
            if let Some(stage) = stage(&mut stages, skipped.index) {
                (stage.state, stage.why) = (State::PassedOver, some(&skipped.reason));
            }
        }
        let next = moves.get(place + 1);
        if let Some(stage) = stage(&mut stages, hop.index) {
            stage.from = Some(millis(hop.since_time));
            match next {
                Some(next) => {
                    stage.state = State::Past;
                    stage.until = Some(millis(next.since_time));
                    stage.why = some(&next.reason);
                }
                None => here(ask, stage),
            }
        }
    }
    before(ask, &moves, &mut stages);
    expected(ask, &mut stages);
    stages
}

/// When an ask that waits on a session comes to people, if every session on the way is silent until
/// its time; with the hop of people, and the sessions. None where it is with people, settled, or its
/// timer stands still.
pub fn arrival(ask: &v1::Ask) -> Option<(i64, &v1::WaitingOn, Vec<&v1::WaitingOn>)> {
    let here = ask.waiting_on.as_ref()?;
    if !is_session(Some(here)) {
        return None;
    }
    ask.escalate_time?;
    let stages = stages(ask, &[]);
    let to_come = || stages.iter().filter(|stage| stage.state == State::ToCome);
    let people = to_come().find(|stage| !is_session(stage.to))?;
    let before = to_come().take_while(|stage| stage.index < people.index);
    let sessions = std::iter::once(here).chain(before.filter_map(|stage| stage.to)).collect();
    Some((people.from?, people.to?, sessions))
}

/// Whether it is a session.
pub fn is_session(waiting_on: Option<&v1::WaitingOn>) -> bool {
    matches!(waiting_on.and_then(|waiting_on| waiting_on.who.as_ref()), Some(Who::Session(_)))
}

fn to_come<'a>(ask: &v1::Ask, (index, hop): (usize, &'a v1::RouteHop)) -> Stage<'a> {
    let state = if ask.outcome.is_some() { State::NeverAsked } else { State::ToCome };
    let timeout = hop.timeout.as_ref().map(length);
    Stage { index, to: hop.to.as_ref(), timeout, state, from: None, until: None, why: None }
}

/// The hop in force, or the last one that was.
fn here<'a>(ask: &'a v1::Ask, stage: &mut Stage<'a>) {
    match &ask.outcome {
        Some(outcome) => {
            (stage.state, stage.until) = (State::Past, Some(millis(outcome.settle_time)));
        }
        None => {
            stage.state = State::Now;
            stage.until = ask.escalate_time.map(|time| millis(Some(time)));
        }
    }
}

/// What came before the first move that is known: asked, and the ask tells only when that ended.
fn before<'a>(ask: &v1::Ask, moves: &[&'a v1::Hop], stages: &mut [Stage<'a>]) {
    let Some(first) = moves.first().filter(|first| first.cause() != v1::HopCause::Filed) else {
        return;
    };
    let index = usize::try_from(first.index).unwrap_or(usize::MAX);
    let unknown = |stage: &&mut Stage<'_>| {
        stage.index < index && matches!(stage.state, State::ToCome | State::NeverAsked)
    };
    let mut earlier: Vec<_> = stages.iter_mut().filter(unknown).collect();
    let only = earlier.len() == 1;
    for stage in &mut earlier {
        stage.state = State::Past;
    }
    if let Some(last) = earlier.last_mut() {
        (last.until, last.why) = (Some(millis(first.since_time)), some(&first.reason));
        last.from = only.then(|| millis(ask.create_time));
    }
}

/// When those to come are asked at the latest. The asker's own deadline brings an ask to people before
/// that; behind a hop without a time nothing is expected.
fn expected(ask: &v1::Ask, stages: &mut [Stage<'_>]) {
    let Some(now) = stages.iter().position(|stage| stage.state == State::Now) else { return };
    let mut at = stages[now].until;
    let mut among_sessions = is_session(stages[now].to);
    for (stage, hop) in stages.iter_mut().zip(&ask.route).skip(now + 1) {
        if among_sessions && !is_session(stage.to) {
            let expires = ask.expire_time.map(|time| millis(Some(time)));
            at = at.map(|at| expires.map_or(at, |expires| at.min(expires)));
            among_sessions = false;
        }
        stage.from = at;
        at = at.zip(stage.timeout).map(|(at, timeout)| at + timeout);
        if let Some(within) = &hop.within {
            at = at.map(|at| at.min(millis(ask.create_time) + length(within)));
        }
        stage.until = at;
    }
}

fn stage<'s, 'a>(stages: &'s mut [Stage<'a>], index: u32) -> Option<&'s mut Stage<'a>> {
    stages.get_mut(usize::try_from(index).ok()?)
}

fn some(text: &str) -> Option<&str> {
    (!text.is_empty()).then_some(text)
}

fn length(length: &prost_types::Duration) -> i64 {
    length.seconds.saturating_mul(1_000).saturating_add(i64::from(length.nanos) / 1_000_000)
}

fn millis(time: Option<prost_types::Timestamp>) -> i64 {
    super::human::millis(time)
}

#[cfg(test)]
mod tests {
    use super::super::fixture;
    use super::*;

    fn told(ask: &v1::Ask, events: &[v1::Event]) -> Vec<(State, Option<i64>, Option<i64>)> {
        let start = millis(fixture::time(0));
        let since = |time: Option<i64>| time.map(|time| time - start);
        let each = stages(ask, events).into_iter();
        each.map(|stage| (stage.state, since(stage.from), since(stage.until))).collect()
    }

    #[test]
    fn a_hop_was_is_or_will_be_asked_with_its_times() {
        let now = [(State::Now, Some(0), Some(900_000)), (State::ToCome, Some(900_000), None)];
        assert_eq!(told(&fixture::open(), &[]), now);
        let moved = [(State::Past, Some(0), Some(1_000)), (State::Now, Some(1_000), None)];
        assert_eq!(told(&fixture::with_people(), &[]), moved);
        assert_eq!(told(&fixture::with_people(), &fixture::history()), moved);
        let people = fixture::with_people();
        let whys: Vec<_> = stages(&people, &[]).iter().map(|s| s.why).collect();
        assert_eq!(whys, [Some("not mine to decide"), None]);
        let settled = [(State::Past, Some(0), Some(5_000)), (State::NeverAsked, None, None)];
        assert_eq!(told(&fixture::settled(v1::OutcomeKind::Answered), &[]), settled);
    }

    #[test]
    fn the_askers_own_deadline_brings_it_to_people_before() {
        let soon = v1::Ask { expire_time: fixture::time(60_000), ..fixture::open() };
        let (at, to, sessions) = arrival(&soon).expect("it comes to people");
        assert_eq!((at, sessions.len()), (millis(fixture::time(60_000)), 1));
        assert!(!is_session(Some(to)));
        assert_eq!(arrival(&fixture::with_people()), None);
        let held = v1::Ask { escalate_time: None, ..fixture::open() };
        assert_eq!(arrival(&held), None, "its timer stands still");
        assert_eq!(arrival(&fixture::settled(v1::OutcomeKind::Answered)), None);
    }

    #[test]
    fn who_was_passed_over_was_not_asked() {
        let mut ask = fixture::with_people();
        let hop = ask.hop.as_mut().expect("a hop");
        hop.cause = v1::HopCause::SenderGone.into();
        hop.skipped = vec![v1::SkippedHop { index: 0, reason: "it has ended".into() }];
        let stages = stages(&ask, &[]);
        assert_eq!((stages[0].state, stages[0].why), (State::PassedOver, Some("it has ended")));
    }
}
