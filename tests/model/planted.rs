//! Mistakes of an engine, a store or a rule, planted one at a time to see that the model finds each.

use super::cast::{CAST, Who};
use super::deed::{Deed, OUTCOME, Said, Way, Why, Winner};
use super::kept::Past;
use askway::ask::{Actor, Ask, Assurance, Claim, Command, Priority, Seen, State, Turn};

/// One mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Planted {
    /// The receipt of an earlier call is not looked for.
    ReceiptsForgotten,
    /// A request id that was spent on something else is taken.
    IdTakenTwice,
    /// A loser is told that it was itself that won.
    LoserWins,
    /// What is settled is decided once more.
    SettledTwice,
    /// The timer's clock is five minutes ahead.
    TicksEarly,
    /// A hop comes into force without its timer.
    NoTimer,
    /// The timer does not look whether somebody is on it.
    ClaimIgnored,
    /// A default stands that nobody was shown.
    DefaultUnseen,
    /// A default stands over a person's word.
    OverWords,
    /// Whoever sent the work may answer when it is not asked any more.
    AnyoneAnswers,
    /// A person may answer only in turn.
    PersonTurnedAway,
    /// Who acknowledges is not looked at.
    AnyoneAcknowledges,
    /// An outcome is acknowledged without the turns before it.
    TurnsLeftBehind,
    /// An ask is changed without an event.
    BehindHistory,
    /// Which content an answer was given for is not looked at.
    StaleTaken,
    /// What a tick made is not kept.
    TickForgotten,
}

impl Planted {
    /// The ask as a mistaken engine hands it to the rules.
    pub fn prepare(planted: Option<Self>, mut past: Past, deed: Deed) -> Past {
        let settles = deed.settles().is_some();
        match planted {
            Some(Planted::SettledTwice) if settles => past.change(|ask| ask.state = State::Open),
            Some(Planted::ClaimIgnored) if deed == Deed::Tick => {
                past.change(|ask| ask.claim = None::<Claim>);
            }
            Some(Planted::DefaultUnseen) if deed == Deed::Tick => past.change(|ask| {
                let (by, digest, time) = (CAST.people[0].clone(), ask.digest, ask.create_time);
                ask.seen = vec![Seen { by, digest, time }];
            }),
            Some(Planted::OverWords) if deed == Deed::Tick => past.change(|ask| {
                let said = |turn: &Turn| !matches!(turn.by, Actor::Person(_));
                ask.turns.retain(said);
            }),
            _ => {}
        }
        past
    }

    /// The command as a mistaken engine hands it to the rules.
    pub fn rewrite(planted: Option<Self>, command: Command, ask: &Ask) -> Command {
        match (planted, command) {
            (Some(Planted::AnyoneAnswers), Command::AnswerAgent { digest, answers, .. }) => {
                let by = CAST.people[0].clone();
                Command::Answer { by, digest, answers, assurance: Assurance::Local }
            }
            (Some(Planted::AnyoneAcknowledges), Command::Acknowledge { delivery, lease, .. }) => {
                Command::Acknowledge { by: CAST.actor(Who::Asker), delivery, lease }
            }
            (Some(Planted::StaleTaken), Command::Answer { by, answers, assurance, .. }) => {
                Command::Answer { by, digest: ask.digest, answers, assurance }
            }
            (_, command) => command,
        }
    }

    /// What a mistaken engine tells a caller.
    pub fn misreport(planted: Option<Self>, said: Said, who: Who, ask: &Ask) -> Said {
        match (planted, said) {
            (Some(Planted::LoserWins), Said::Closed(_)) => {
                Said::Closed(Winner { by: who, way: Way::Answered })
            }
            (Some(Planted::PersonTurnedAway), Said::Done)
                if ask.outcome().is_some_and(|outcome| outcome.by == CAST.actor(Who::Bob)) =>
            {
                Said::Refused(Why::NotSender)
            }
            (_, said) => said,
        }
    }

    /// What a mistaken engine keeps.
    pub fn spoil(self, before: &Past, after: &mut Past, deed: Deed) {
        match self {
            Planted::TurnsLeftBehind if deed == Deed::Acknowledge { delivery: OUTCOME } => {
                let turns = before.ask.turns.clone();
                after.change(|ask| ask.turns = turns);
            }
            Planted::BehindHistory if matches!(deed, Deed::Claim { .. }) => {
                after.change(|ask| ask.priority = Priority::High);
            }
            Planted::TickForgotten if deed == Deed::Tick => *after = before.clone(),
            _ => {}
        }
    }
}
