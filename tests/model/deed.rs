//! What a caller wants, what it is told, and both as the domain has them.

use super::cast::{CAST, CLAIM, Who, answers, options};
use super::kept::Facts;
use askway::ask::{Actor, Ask, Assurance, Command, Ending, Gone, IdleHops, Rejection};
use std::collections::BTreeMap;

/// The delivery of the outcome; smaller numbers are the places of turns.
pub const OUTCOME: u8 = u8::MAX;

/// What somebody wants, with what they saw when they said it: a message keeps it, however late it
/// comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Deed {
    File,
    AnswerAgent {
        content: u8,
    },
    Answer {
        content: u8,
    },
    Decline {
        content: u8,
    },
    Escalate {
        hop: u8,
    },
    Withdraw,
    Say,
    Reply {
        anew: bool,
    },
    MarkSeen {
        content: u8,
    },
    Claim {
        take_over: bool,
    },
    Release,
    Acknowledge {
        delivery: u8,
    },
    Tick,
    /// The sweep looks whether somebody is gone.
    Sweep,
}

/// What a caller may want, before it has looked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    AnswerAgent,
    Answer,
    Decline,
    Escalate,
    Withdraw,
    Say,
    ReplyAnew,
    MarkSeen,
    Claim,
    Release,
    Acknowledge,
}

impl Wish {
    /// The deed, of somebody who sees the ask as it is now, and was told of a delivery.
    pub fn seeing(self, who: Who, ask: Facts, told: Option<u8>) -> Option<Deed> {
        let content = ask.content;
        match self {
            Wish::Acknowledge if who == Who::Asker => {
                told.map(|delivery| Deed::Acknowledge { delivery })
            }
            // Whoever else tries has seen the outcome in its own list.
            Wish::Acknowledge => (!ask.open).then_some(Deed::Acknowledge { delivery: OUTCOME }),
            _ if !ask.open => None,
            Wish::AnswerAgent => Some(Deed::AnswerAgent { content }),
            Wish::Answer => Some(Deed::Answer { content }),
            Wish::Decline => Some(Deed::Decline { content }),
            Wish::Escalate => Some(Deed::Escalate { hop: ask.hop }),
            Wish::Withdraw => Some(Deed::Withdraw),
            Wish::Say => Some(Deed::Say),
            Wish::ReplyAnew => (content == 0).then_some(Deed::Reply { anew: true }),
            Wish::MarkSeen => Some(Deed::MarkSeen { content }),
            Wish::Claim => Some(Deed::Claim { take_over: who == Who::Bob }),
            Wish::Release => ask.claimed.then_some(Deed::Release),
        }
    }
}

/// What was told to a caller, or is kept for one that asks again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Said {
    Done,
    /// Too late; who won.
    Closed(Winner),
    Refused(Why),
}

/// Who ended an ask, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Winner {
    pub by: Who,
    pub way: Way,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Way {
    Answered,
    Declined,
    Expired,
    Default,
    Withdrawn,
    Abandoned,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Why {
    Stale,
    NotSender,
    NotAsker,
    LastHop,
    Claimed,
    NotClaimed,
    Declined,
    /// The session that acts is paused or over.
    Standing,
    /// The request id was spent on something else.
    Reused,
    Other,
}

impl Winner {
    /// None while nobody has won.
    pub fn of(ask: &Ask) -> Option<Self> {
        let outcome = ask.outcome()?;
        let way = match &outcome.ending {
            Ending::Answered(_) => Way::Answered,
            Ending::Declined => Way::Declined,
            Ending::Expired(None) => Way::Expired,
            Ending::Expired(Some(_)) => Way::Default,
            Ending::Withdrawn => Way::Withdrawn,
            Ending::Abandoned => Way::Abandoned,
        };
        Some(Self { by: CAST.who(&outcome.by), way })
    }
}

impl From<Rejection> for Why {
    fn from(rejection: Rejection) -> Self {
        match rejection {
            Rejection::Stale => Why::Stale,
            Rejection::NotSender => Why::NotSender,
            Rejection::NotAsker => Why::NotAsker,
            Rejection::LastHop => Why::LastHop,
            Rejection::Claimed(_) => Why::Claimed,
            Rejection::NotClaimed => Why::NotClaimed,
            Rejection::StandingDecline(_) => Why::Declined,
            _ => Why::Other,
        }
    }
}

impl Deed {
    /// Whether it ends an ask that it is done to.
    pub fn settles(self) -> Option<Way> {
        match self {
            Deed::AnswerAgent { .. } | Deed::Answer { .. } => Some(Way::Answered),
            Deed::Decline { .. } => Some(Way::Declined),
            Deed::Withdraw => Some(Way::Withdrawn),
            _ => None,
        }
    }

    /// Which content an answer is bound to.
    pub fn bound_to(self) -> Option<u8> {
        match self {
            Deed::AnswerAgent { content }
            | Deed::Answer { content }
            | Deed::Decline { content } => Some(content),
            _ => None,
        }
    }

    /// The command, as the engine hands it to the rules with what it has looked up.
    pub fn command(self, who: Who, ask: &Ask, idle: IdleHops, nos: u8) -> Command {
        let session = || match who {
            Who::Asker => CAST.asker.clone(),
            _ => CAST.lead.clone(),
        };
        let (by, person) = (CAST.actor(who), CAST.person(who));
        let digest = |content: u8| CAST.digests[usize::from(content)];
        let mut command = match self {
            Deed::File => unreachable!("it is filed elsewhere"),
            Deed::AnswerAgent { content } => Command::AnswerAgent {
                by: session(),
                digest: digest(content),
                answers: answers(),
                standing: None,
            },
            Deed::Answer { content } => {
                let (digest, answers) = (digest(content), answers());
                Command::Answer { by: person, digest, answers, assurance: Assurance::Local }
            }
            Deed::Decline { content } => {
                let (digest, note) = (digest(content), None);
                Command::Decline { by: person, digest, note, assurance: Assurance::Local }
            }
            Deed::Escalate { hop } => {
                let hop = hop.into();
                Command::Escalate { by, hop, reason: None, idle, assurance: None }
            }
            Deed::Withdraw => Command::Withdraw { by: session(), note: None },
            Deed::Say => Command::Say { by, text: "how large is it?".into(), assurance: None },
            Deed::Reply { anew } => {
                let anew = anew.then(|| ("store".to_owned(), options(["Redis", "SQLite"])));
                let options = BTreeMap::from_iter(anew);
                Command::Reply { by: session(), text: "2 GB".into(), options, standing: None }
            }
            Deed::MarkSeen { content } => Command::MarkSeen { by: person, digest: digest(content) },
            Deed::Claim { take_over } => {
                Command::Claim { by: person, length: CLAIM, take_over, assurance: Assurance::Local }
            }
            Deed::Release => Command::Release { by: person },
            Deed::Acknowledge { delivery } => {
                Command::Acknowledge { by, delivery: revision(ask, delivery), lease: None }
            }
            Deed::Tick => Command::Tick { idle, standing: None },
            Deed::Sweep => unreachable!("the sweep comes before every deed"),
        };
        if let Some((asked, standing)) = command.standing(ask) {
            *standing = CAST.no(nos, CAST.which(asked.digest));
        }
        command
    }
}

/// That a session is gone, as the sweep says it.
pub fn gone(session: askway::ask::SessionId, ended: bool, idle: IdleHops) -> Command {
    let gone = match ended {
        true => Gone::Ended(Actor::Host(super::cast::host())),
        false => Gone::Paused,
    };
    Command::SessionGone { session, gone, idle }
}

/// The revision of a delivery.
fn revision(ask: &Ask, delivery: u8) -> u64 {
    match delivery {
        OUTCOME => ask.outcome().map_or(0, |outcome| outcome.revision),
        turn => ask.turns.get(usize::from(turn)).map_or(0, |turn| turn.revision),
    }
}
