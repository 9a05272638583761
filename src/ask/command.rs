//! What somebody wants done to an ask, and why it may not be.

use super::content::{Content, QuestionOption, Violation};
use super::names::{Actor, AskId, Namespace, PersonName, SessionId, SessionRef, WorkId};
use super::route::{Idle, Route};
use super::time::Span;
use super::{Answers, ContentDigest, ExpiryAction, Priority};
use serde::Serialize;
use std::collections::BTreeMap;

/// Why each hop of the route cannot answer now; none for one that can. Looked up by the engine from
/// the sessions' own records, and guarded in the commit.
pub type IdleHops = Vec<Option<Idle>>;

/// What an asker sends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Draft {
    /// What is asked.
    pub content: Content,
    /// How much it matters.
    pub priority: Priority,
    /// The asker's own deadline.
    pub expire: Option<(Span, ExpiryAction)>,
}

/// A draft, with what the server knows of who sent it.
#[derive(Clone, Debug)]
pub struct Filing {
    /// The id the server made for it.
    pub id: AskId,
    /// Where it will live.
    pub namespace: Namespace,
    /// What the asker sent.
    pub draft: Draft,
    /// Who asks.
    pub asker: SessionRef,
    /// For which work.
    pub work: WorkId,
    /// The root of that work.
    pub tree: WorkId,
    /// Who sent the work, nearest first.
    pub chain: Vec<SessionRef>,
    /// Who will be asked.
    pub route: Route,
    /// Which of them cannot answer.
    pub idle: IdleHops,
}

/// How a session is gone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Gone {
    /// It may come back.
    Paused,
    /// It will not; who ended it.
    Ended(Actor),
}

/// What somebody wants done. Who they are was established from their credential; whose turn it is,
/// is decided here.
#[expect(missing_docs, reason = "each variant's sentence names its fields")]
#[derive(Clone, Debug)]
pub enum Command {
    /// A session files an ask.
    Ask(Box<Filing>),
    /// A session answers.
    AnswerAgent { by: SessionRef, digest: ContentDigest, answers: Answers },
    /// A person answers.
    Answer { by: PersonName, digest: ContentDigest, answers: Answers },
    /// A person says no.
    Decline { by: PersonName, digest: ContentDigest, note: Option<String> },
    /// Whoever is asked, or a person, moves it on from the hop they saw.
    Escalate { by: Actor, hop: usize, reason: Option<String>, idle: IdleHops },
    /// The asker takes it back.
    Withdraw { by: SessionRef, note: Option<String> },
    /// Whoever is asked, or a person, speaks to the asker.
    Say { by: Actor, text: String },
    /// The asker speaks back, and may replace the options of its questions.
    Reply { by: SessionRef, text: String, options: BTreeMap<String, Vec<QuestionOption>> },
    /// A person was shown this content.
    MarkSeen { by: PersonName, digest: ContentDigest },
    /// A person is on it, for so long; from another claimant only with `take_over`.
    Claim { by: PersonName, length: Span, take_over: bool },
    /// The claimant is not on it any more.
    Release { by: PersonName },
    /// The asker has the turn or the outcome of this revision.
    Acknowledge { by: SessionRef, delivery: u64 },
    /// A session is gone: the engine's sweep.
    SessionGone { session: SessionId, gone: Gone, idle: IdleHops },
    /// Time has passed: the timer.
    Tick { idle: IdleHops },
}

impl Command {
    /// Where it wants to be told which hops cannot answer; none where that does not matter to it.
    pub fn idle_hops(&mut self) -> Option<&mut IdleHops> {
        match self {
            Command::Ask(filing) => Some(&mut filing.idle),
            Command::Escalate { idle, .. }
            | Command::SessionGone { idle, .. }
            | Command::Tick { idle } => Some(idle),
            Command::AnswerAgent { .. }
            | Command::Answer { .. }
            | Command::Decline { .. }
            | Command::Withdraw { .. }
            | Command::Say { .. }
            | Command::Reply { .. }
            | Command::MarkSeen { .. }
            | Command::Claim { .. }
            | Command::Release { .. }
            | Command::Acknowledge { .. } => None,
        }
    }
}

/// Why nothing happens. Only [`Closed`](Rejection::Closed) is recorded under the request's id;
/// the others spend nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rejection {
    /// There is no such ask.
    Unknown,
    /// It is settled; the ask says how.
    Closed,
    /// It does not wait on this session (rule 5).
    NotSender,
    /// Only its asker may.
    NotAsker,
    /// There is nobody further to ask.
    LastHop,
    /// The content is not the one that was shown (rule 20).
    Stale,
    /// Another person is on it.
    Claimed(PersonName),
    /// This person is not on it.
    NotClaimed,
    /// The talk is as long as talk may be.
    TooManyTurns,
    /// What was sent is wrong, field by field.
    Invalid(Vec<Violation>),
}
