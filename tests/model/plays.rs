//! The plays: small numbers of deeds for each caller, so that every order of them can be looked at.

use super::cast::{Runs, Who};
use super::deed::Wish;
use super::planted::Planted;
use super::world::Play;
use askway::ask::ExpiryAction;

/// Nobody does anything to two asks.
fn empty(name: &'static str, expire: ExpiryAction) -> Play {
    Play {
        name,
        expire,
        callers: Vec::new(),
        lead: Vec::new(),
        asker_may_end: false,
        crashes: 0,
        repeats: 0,
        moments: 0,
        late: 0,
        second_comes: false,
        two: true,
        planted: None,
        comes_to: &[],
    }
}

/// Two asks with a default, between the sender and two people: shown, claimed, answered or neither.
pub fn defaults() -> Play {
    Play {
        callers: vec![
            (Who::Ann, 1, vec![Wish::MarkSeen, Wish::Claim, Wish::Release]),
            (Who::Bob, 1, vec![Wish::Claim, Wish::Answer]),
            (Who::Lead, 1, vec![Wish::AnswerAgent, Wish::Escalate]),
        ],
        moments: 1,
        comes_to: &[
            "a default is held",
            "a default stands",
            "a claim lapses",
            "a loser is told who won",
        ],
        ..empty("defaults", ExpiryAction::Default)
    }
}

/// One ask with a default, more that is done to it, and a timer that may be late.
pub fn one_default() -> Play {
    Play {
        callers: vec![
            (Who::Ann, 2, vec![Wish::MarkSeen, Wish::Claim, Wish::Release]),
            (Who::Bob, 1, vec![Wish::Claim, Wish::Answer]),
            (Who::Lead, 1, vec![Wish::AnswerAgent, Wish::Escalate]),
        ],
        moments: 2,
        late: 1,
        two: false,
        ..Play { name: "one default", ..defaults() }
    }
}

/// Repeats, losers and a crash over one ask, while the sender comes and goes and the asker may end.
pub fn crash() -> Play {
    Play {
        callers: vec![
            (Who::Lead, 1, vec![Wish::AnswerAgent, Wish::Escalate, Wish::Acknowledge]),
            (Who::Bob, 1, vec![Wish::Answer, Wish::Escalate]),
            (Who::Asker, 1, vec![Wish::Withdraw, Wish::Acknowledge]),
        ],
        lead: vec![Runs::Active, Runs::Paused, Runs::Ended],
        asker_may_end: true,
        crashes: 1,
        repeats: 1,
        two: false,
        comes_to: &[
            "an ask expires",
            "an ask is abandoned",
            "a sender that is gone is passed over",
            "an answer is told again after it settled",
            "a crash between commit and reply",
            "a loser is told who won",
            "an outcome is acknowledged",
        ],
        ..empty("crash", ExpiryAction::Stop)
    }
}

/// A second ask that is filed whenever its message comes, across a crash and the sender's end.
pub fn second() -> Play {
    Play {
        callers: vec![
            (Who::Lead, 1, vec![Wish::AnswerAgent, Wish::Escalate, Wish::Acknowledge]),
            (Who::Asker, 1, vec![Wish::Withdraw, Wish::Acknowledge]),
        ],
        lead: vec![Runs::Ended],
        crashes: 1,
        second_comes: true,
        comes_to: &[
            "an ask expires",
            "a sender that is gone is passed over",
            "an answer is told again after it settled",
            "a crash between commit and reply",
            "a loser is told who won",
        ],
        ..empty("second", ExpiryAction::Stop)
    }
}

/// Talk: a person's word, the asker's reply with other options, and what was bound to the old ones.
pub fn talk() -> Play {
    Play {
        callers: vec![
            (Who::Ann, 2, vec![Wish::Say, Wish::MarkSeen, Wish::Answer]),
            (Who::Asker, 2, vec![Wish::ReplyAnew, Wish::Acknowledge]),
            (Who::Lead, 1, vec![Wish::Say, Wish::AnswerAgent]),
        ],
        moments: 1,
        two: false,
        comes_to: &[
            "a default is held",
            "a default stands",
            "a loser is told who won",
            "an answer is stale",
            "an outcome is acknowledged",
        ],
        ..empty("talk", ExpiryAction::Default)
    }
}

/// A person's no, which binds the other ask too.
pub fn noes() -> Play {
    Play {
        callers: vec![
            (Who::Ann, 2, vec![Wish::Decline, Wish::MarkSeen]),
            (Who::Bob, 1, vec![Wish::Answer, Wish::Claim]),
            (Who::Lead, 1, vec![Wish::AnswerAgent]),
        ],
        comes_to: &[
            "a default is held",
            "a default stands",
            "a claim lapses",
            "a loser is told who won",
            "a no stands against the other ask",
        ],
        ..empty("noes", ExpiryAction::Default)
    }
}

/// A play that is small, and in which a mistake can be made.
pub fn with(planted: Planted) -> Play {
    let small = |callers: Vec<(Who, u8, Vec<Wish>)>, expire| Play {
        callers,
        two: false,
        comes_to: &[],
        planted: Some(planted),
        ..empty("planted", expire)
    };
    let (stop, default) = (ExpiryAction::Stop, ExpiryAction::Default);
    let answers = || (Who::Ann, 1, vec![Wish::Answer]);
    match planted {
        Planted::ReceiptsForgotten | Planted::IdTakenTwice => {
            Play { repeats: 1, ..small(vec![(Who::Ann, 1, vec![Wish::Say])], stop) }
        }
        Planted::LoserWins | Planted::SettledTwice => {
            small(vec![answers(), (Who::Asker, 1, vec![Wish::Withdraw])], stop)
        }
        Planted::TicksEarly | Planted::TickForgotten => small(vec![], stop),
        Planted::NoTimer => Play { moments: 7, ..small(vec![], stop) },
        Planted::ClaimIgnored | Planted::BehindHistory => {
            let (claims, moves) = (vec![Wish::Claim], vec![Wish::Escalate]);
            small(vec![(Who::Ann, 1, claims), (Who::Lead, 1, moves)], stop)
        }
        Planted::DefaultUnseen => small(vec![], default),
        Planted::OverWords => {
            let asker = (Who::Asker, 1, vec![Wish::Acknowledge]);
            small(vec![(Who::Ann, 2, vec![Wish::Say, Wish::MarkSeen]), asker], default)
        }
        Planted::AnyoneAnswers => small(vec![(Who::Lead, 1, vec![Wish::AnswerAgent])], stop),
        Planted::PersonTurnedAway => small(vec![(Who::Bob, 1, vec![Wish::Answer])], stop),
        Planted::AnyoneAcknowledges => {
            small(vec![answers(), (Who::Lead, 1, vec![Wish::Acknowledge])], stop)
        }
        Planted::TurnsLeftBehind => {
            let asker = (Who::Asker, 1, vec![Wish::Acknowledge]);
            small(vec![(Who::Ann, 2, vec![Wish::Answer, Wish::Say]), asker], stop)
        }
        Planted::StaleTaken => small(vec![answers(), (Who::Asker, 1, vec![Wish::ReplyAnew])], stop),
    }
}
