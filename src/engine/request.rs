//! What the engine is asked to do, and what it says then.

use crate::ask::{
    Actor, AgentName, Ask, AskId, Asked, Command, Draft, HostName, Namespace, PersonName, Plan,
    SessionId, SessionRef, Span, TokenId, Violation, WorkId,
};
use crate::error::Error;
use crate::session::{self, Manner, Principal, SecretHash, Session, Token, WorkManner};
use crate::store::{ReceiptKey, Subject};
use std::sync::Arc;

/// One thing to do.
#[derive(Clone, Debug)]
pub struct Request {
    /// The caller's intent; none for what is not kept as one, or what the engine does of itself.
    pub intent: Option<Intent>,
    /// The token it came by: what is not good any more when it is decided does nothing. None on the
    /// socket, where a ticket speaks, and for what the engine does of itself.
    pub credential: Option<SecretHash>,
    /// What.
    pub deed: Deed,
    /// What a person's no to the ask is found by, as its caller's task found it; another content's is of
    /// no use.
    pub asked: Option<Asked>,
}

impl Request {
    /// What is done by nobody's credential.
    pub fn own(deed: Deed) -> Self {
        Self { intent: None, credential: None, deed, asked: None }
    }

    /// What a caller intends.
    pub fn of(intent: Intent, deed: Deed) -> Self {
        Self { credential: intent.credential, intent: Some(intent), deed, asked: None }
    }

    /// The same, where a person's no to `asked` will be looked for.
    pub fn about(self, asked: Asked) -> Self {
        Self { asked: Some(asked), ..self }
    }

    /// What a no to `ask` is found by: found before where its content is the same, else now.
    pub fn asked_by(&self, ask: &Ask) -> Asked {
        let found = self.asked.filter(|asked| asked.digest == ask.digest);
        found.unwrap_or_else(|| ask.what_is_asked())
    }

    /// What a caller does that is not kept as an intent: a repeat is told by what is there.
    pub fn by(credential: Option<SecretHash>, deed: Deed) -> Self {
        Self { intent: None, credential, deed, asked: None }
    }
}

/// A caller's intent: what makes a repeat a repeat (rule 7).
#[derive(Clone, Debug)]
pub struct Intent {
    /// Who, with which request id.
    pub key: ReceiptKey,
    /// SHA-256 of the canonical domain payload, in hexadecimal.
    pub payload: String,
    /// The token it came by; see [`Request::credential`].
    pub credential: Option<SecretHash>,
}

/// What to do. Ids and secrets are made before, so that deciding stays without chance.
#[derive(Clone, Debug)]
pub enum Deed {
    /// A session files an ask.
    File(Box<File>),
    /// Anything on an ask that exists.
    OnAsk(AskId, Box<Command>),
    /// A session is gone: one of the asks it leaves.
    Gone(AskId, SessionId),
    /// Time has passed for an ask.
    Tick(AskId),
    /// A receipt may have been kept long enough.
    Forget(ReceiptKey),
    /// Anything on a session that exists.
    OnSession(SessionId, session::Command),
    /// A host or a ticket makes a session.
    Enroll(Box<Enroll>),
    /// A session sends work.
    SendWork(SendWork),
    /// A session takes work up.
    AcceptWork(SessionId, SecretHash),
    /// Anything on the people and tokens of a namespace.
    OnRoster(Namespace, Box<OnRoster>),
    /// An issued token was used for the first time.
    UseToken(SecretHash),
}

/// What is done to the people and tokens of a namespace.
#[derive(Clone, Debug)]
pub enum OnRoster {
    /// A person is added.
    Add(PersonName, Actor),
    /// A person is removed, and their tokens are void.
    Remove(PersonName, Actor),
    /// The asks that would have reached a removed person have been told: the engine.
    Swept(PersonName),
    /// A token is made.
    Issue(Issuing),
    /// A token that the daemon keeps in its folder becomes known, and its person with it.
    Install(Token),
    /// A token is revoked, and all that it made.
    Revoke(TokenId),
    /// The sessions of a host's revoked token have been revoked: the engine.
    SessionsRevoked(TokenId),
}

/// A token that is made for somebody.
#[derive(Clone, Debug)]
pub struct Issuing {
    /// The id it will have.
    pub id: TokenId,
    /// The secret, hashed.
    pub secret: SecretHash,
    /// A person or a host.
    pub principal: Principal,
    /// For how long; none for as long as nobody revokes it.
    pub ttl: Option<Span>,
    /// What it is for.
    pub note: String,
    /// Who makes it.
    pub by: Actor,
    /// Whether that was in an agent's environment.
    pub in_agent: bool,
}

/// A session files an ask.
#[derive(Clone, Debug)]
pub struct File {
    /// The id it will have.
    pub id: AskId,
    /// Who asks.
    pub asker: SessionRef,
    /// For which of its works; none for the latest.
    pub work: Option<WorkId>,
    /// What it sent.
    pub draft: Draft,
    /// Who is asked, before it is looked up who sent the work.
    pub plan: Plan,
    // Of the draft; found by its caller and not by the one who decides for all.
    asked: Asked,
    violations: Vec<Violation>,
}

impl File {
    /// What a session is to file.
    pub fn new(
        id: AskId,
        asker: SessionRef,
        work: Option<WorkId>,
        draft: Draft,
        plan: Plan,
    ) -> Self {
        let (asked, violations) = (draft.content.asked(), draft.violations());
        Self { id, asker, work, draft, plan, asked, violations }
    }

    /// The fingerprints of what is asked.
    pub fn asked(&self) -> Asked {
        self.asked
    }

    /// What keeps it from being filed.
    pub fn violations(&self) -> &[Violation] {
        &self.violations
    }
}

/// A host or a ticket makes a session.
#[derive(Clone, Debug)]
pub struct Enroll {
    /// The id it will have.
    pub id: SessionId,
    /// What its agent is called.
    pub agent: AgentName,
    /// Who makes it.
    pub by: Enroller,
    /// What it says of itself.
    pub manner: Manner,
    /// Its token and its holder's secret, hashed.
    pub secrets: (SecretHash, SecretHash),
}

/// Who makes a session.
#[derive(Clone, Debug)]
pub enum Enroller {
    /// A host, a root session with this work of its own.
    Host(HostName, Namespace, WorkId),
    /// Whoever has this ticket, a child of its sender.
    Ticket(SecretHash),
}

/// A session sends work.
#[derive(Clone, Debug)]
pub struct SendWork {
    /// Who sends.
    pub sender: SessionRef,
    /// From which of its works; none for the latest.
    pub from: Option<WorkId>,
    /// What it says of it.
    pub manner: WorkManner,
    /// The ticket, hashed.
    pub ticket: SecretHash,
    /// The id the work will have.
    pub work: WorkId,
}

/// What came of it. Sent only when it is on disk.
pub type Reply = Result<Done, Error>;

/// What was done.
#[derive(Clone, Debug, Default)]
pub struct Done {
    /// What it was about.
    pub subject: Option<Subject>,
    /// Whether the ask was settled before, so that nothing was done to it.
    pub closed: bool,
    /// Whether it was done before, under the same request id.
    pub replayed: bool,
    /// The ask, as it is now.
    pub ask: Option<Arc<Ask>>,
    /// Where the ask found for the same question differs from what was sent: field by field.
    pub differs: Vec<&'static str>,
    /// The session, as it is now.
    pub session: Option<Arc<Session>>,
    /// The token, where it was about one.
    pub token: Option<Arc<Token>>,
    /// The tokens that were revoked with it, which it or one of these had made.
    pub revoked: Vec<TokenId>,
    /// Whether the secrets that came with the request are good now.
    pub minted: bool,
    /// Until when a ticket may be redeemed.
    pub expire_time: Option<crate::ask::Timestamp>,
}
