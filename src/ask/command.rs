//! What somebody wants done to an ask, and why it may not be.

use super::content::{Content, QuestionOption, Violation, check_length};
use super::decide::replaced;
use super::names::{
    Actor, AskId, HostName, LeaseId, Namespace, PersonName, RouteName, SessionId, SessionRef,
    WorkId,
};
use super::route::{Idle, Route};
use super::standing::Asked;
use super::time::Span;
use super::{
    Answers, Ask, Assurance, ContentDigest, Expiry, ExpiryAction, Lease, NoticeWhy, Policy,
    Priority, StandingNo, limits,
};
use data_encoding::HEXLOWER;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Why each hop of the route cannot answer now; none for one that can. Looked up by the engine from
/// the sessions' own records, and guarded in the commit.
pub type IdleHops = Vec<Option<Idle>>;

/// What an asker sends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Draft {
    /// What is asked.
    pub content: Arc<Content>,
    /// How much it matters.
    pub priority: Priority,
    /// The asker's own deadline.
    pub expire: Option<(Span, ExpiryAction)>,
    /// What it names as default, question by question; where it names nothing its recommended
    /// options are.
    pub defaults: Answers,
    /// What travels with it.
    pub carried: Carried,
    /// Which configured route; none for the default one.
    pub route: Option<RouteName>,
    /// Whether it is asked although a person's no to it still stands.
    pub again: bool,
    /// How surely a person's word must be theirs; none where a session may answer, too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assurance: Option<Assurance>,
}

/// What travels with an ask and comes back with its outcome; nobody here reads it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Carried {
    /// The asker's own state, in hexadecimal.
    pub state: String,
    /// The W3C `traceparent` of the call that asked.
    pub trace_parent: String,
    /// Its `tracestate`.
    pub trace_state: String,
}

impl Carried {
    /// What of the asker's own state travels: at most [`limits::ASKER_STATE_BYTES`](super::limits).
    pub fn new(state: &[u8], trace_parent: String, trace_state: String) -> Self {
        Self { state: HEXLOWER.encode(state), trace_parent, trace_state }
    }

    /// The asker's own state, as it was sent.
    pub fn state(&self) -> Vec<u8> {
        HEXLOWER.decode(self.state.as_bytes()).unwrap_or_default()
    }
}

impl Draft {
    /// Everything that keeps it from being filed, at once; empty when nothing does.
    pub fn violations(&self) -> Vec<Violation> {
        let mut found = self.content.violations();
        if let Some((after, _)) = self.expire
            && !(limits::EXPIRE_MIN..=limits::EXPIRE_MAX).contains(&after)
        {
            found.push(Violation::new(
                "expire",
                format!("must be from {} to {}", limits::EXPIRE_MIN, limits::EXPIRE_MAX),
            ));
        }
        match self.expire {
            // Faults of the content would be told twice.
            Some((_, ExpiryAction::Default)) if found.is_empty() => {
                found.extend(self.content.named_default(&self.defaults).err().unwrap_or_default());
            }
            Some((_, ExpiryAction::Default)) => {}
            _ if self.defaults.is_empty() => {}
            _ => found.push(Violation::new("defaults", "only an expiry with default has any")),
        }
        self.carried.check(&mut found);
        found
    }
}

impl Carried {
    fn check(&self, found: &mut Vec<Violation>) {
        // Two digits a byte.
        if self.state.len() > 2 * limits::ASKER_STATE_BYTES {
            let why = format!("must be at most {} bytes", limits::ASKER_STATE_BYTES);
            found.push(Violation::new("asker_state", why));
        }
        for (field, text, max) in [
            ("trace_parent", &self.trace_parent, limits::TRACE_PARENT_BYTES),
            ("trace_state", &self.trace_state, limits::TRACE_STATE_BYTES),
        ] {
            check_length(found, field, text, max);
            if !text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
                found.push(Violation::new(field, "must be printable ASCII"));
            }
        }
    }
}

/// How much is open where an ask is filed. Counted when it is admitted: what is in flight at that
/// instant may exceed a limit (rule 14).
#[derive(Clone, Debug, Default)]
pub struct Crowd {
    /// How many are open in its tree, and the oldest of them.
    pub tree: (usize, Vec<AskId>),
    /// The same in its namespace.
    pub namespace: (usize, Vec<AskId>),
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
    /// Whose credential it was enrolled with.
    pub host: HostName,
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
    /// What is configured.
    pub policy: Policy,
    /// What is open there already.
    pub crowd: Crowd,
    /// A person's no to the same content in this tree.
    pub standing: Option<StandingNo>,
    /// What the draft or its route demands, whichever is more.
    pub assurance: Option<Assurance>,
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
    /// A session answers; `standing` is a person's no to this content in this tree.
    AnswerAgent {
        by: SessionRef,
        digest: ContentDigest,
        answers: Answers,
        standing: Option<StandingNo>,
    },
    /// A person answers.
    Answer { by: PersonName, digest: ContentDigest, answers: Answers, assurance: Assurance },
    /// A person says no.
    Decline { by: PersonName, digest: ContentDigest, note: Option<String>, assurance: Assurance },
    /// Whoever is asked, or a person, moves it on from the hop they saw; a person's word is worth
    /// `assurance`.
    Escalate {
        by: Actor,
        hop: usize,
        reason: Option<String>,
        idle: IdleHops,
        assurance: Option<Assurance>,
    },
    /// The asker takes it back.
    Withdraw { by: SessionRef, note: Option<String> },
    /// Whoever is asked, or a person, speaks to the asker; a person's word is worth `assurance`.
    Say { by: Actor, text: String, assurance: Option<Assurance> },
    /// The asker speaks back, and may replace the options of its questions; `standing` is a person's
    /// no to what it then asks.
    Reply {
        by: SessionRef,
        text: String,
        options: BTreeMap<String, Vec<QuestionOption>>,
        standing: Option<StandingNo>,
    },
    /// A person was shown this content.
    MarkSeen { by: PersonName, digest: ContentDigest },
    /// A person is on it, for so long; from another claimant only with `take_over`.
    Claim { by: PersonName, length: Span, take_over: bool, assurance: Assurance },
    /// The claimant is not on it any more.
    Release { by: PersonName },
    /// A worker of the asker's takes what is unread, or has it for longer with `extend`.
    Lease { by: Actor, lease: LeaseId, holder: String, length: Span, extend: Option<LeaseId> },
    /// The asker's side has the turn or the outcome of this revision.
    Acknowledge { by: Actor, delivery: u64, lease: Option<LeaseId> },
    /// People were told of it as it was at revision `of`, or why they could not be.
    Noticed { why: NoticeWhy, of: u64, failure: Option<String> },
    /// Any of a person's, typed in an agent's environment: decided as it is, and recorded as that.
    InAgent(Box<Command>),
    /// A session is gone: the engine's sweep.
    SessionGone { session: SessionId, gone: Gone, idle: IdleHops },
    /// A person was removed: the engine.
    PersonGone { person: PersonName, idle: IdleHops },
    /// Time has passed: the timer. `standing` is a person's no to this content in this tree.
    Tick { idle: IdleHops, standing: Option<StandingNo> },
}

impl Command {
    /// Where it wants to be told which hops cannot answer; none where that does not matter to it.
    pub fn idle_hops(&mut self) -> Option<&mut IdleHops> {
        match self {
            Command::Ask(filing) => Some(&mut filing.idle),
            Command::Escalate { idle, .. }
            | Command::SessionGone { idle, .. }
            | Command::PersonGone { idle, .. }
            | Command::Tick { idle, .. } => Some(idle),
            Command::InAgent(command) => command.idle_hops(),
            Command::AnswerAgent { .. }
            | Command::Answer { .. }
            | Command::Decline { .. }
            | Command::Withdraw { .. }
            | Command::Say { .. }
            | Command::Reply { .. }
            | Command::MarkSeen { .. }
            | Command::Claim { .. }
            | Command::Release { .. }
            | Command::Lease { .. }
            | Command::Acknowledge { .. }
            | Command::Noticed { .. } => None,
        }
    }

    /// To what a standing no in the tree of `ask` it wants to be told of, and where; none where that does
    /// not matter to it.
    pub fn standing(&mut self, ask: &Ask) -> Option<(Asked, &mut Option<StandingNo>)> {
        match self {
            Command::AnswerAgent { standing, .. } => Some((ask.what_is_asked(), standing)),
            Command::InAgent(command) => command.standing(ask),
            Command::Reply { options, standing, .. } => {
                let content = replaced(ask, options).ok().flatten()?;
                Some((content.asked(), standing))
            }
            Command::Tick { standing, .. } => {
                let default = |expiry: &Expiry| expiry.action == ExpiryAction::Default;
                ask.expiry.as_ref().filter(|expiry| default(expiry))?;
                Some((ask.what_is_asked(), standing))
            }
            _ => None,
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
    /// A person's word must be more surely theirs.
    TooUnsure(Assurance),
    /// Another person is on it.
    Claimed(PersonName),
    /// This person is not on it.
    NotClaimed,
    /// The talk is as long as talk may be.
    TooManyTurns,
    /// A person has said no to this, and no session may say otherwise.
    StandingDecline(Box<StandingNo>),
    /// Another worker is handing this over, or the lease given is over; who has it now.
    Leased(Option<Lease>),
    /// As many asks are open in this tree of works as may be; the oldest of them.
    TreeFull(usize, Vec<AskId>),
    /// As many asks are open in this namespace as may be; the oldest of them.
    NamespaceFull(usize, Vec<AskId>),
    /// What was sent is wrong, field by field.
    Invalid(Vec<Violation>),
}
