//! Sessions, the work they were sent and by whom, tickets and tokens: records and the rules over
//! them. Pure, like [`ask`](crate::ask); start reading at [`decide()`].
//!
//! Sessions keep no history: a record and its revision are all there is.

mod called;
mod decide;
mod facts;
mod roster;
mod secret;

pub use called::may_be_called;
pub use decide::{Command, Deed, Denied, ENROLL_REVISION, decide, enroll};
pub use facts::{acting, idle, idle_hops};
pub use roster::{Member, Roster, RosterDenied, issuable};
pub use secret::{Kind, Secret, SecretHash};

use crate::ask::{
    Actor, AgentName, AskId, Assurance, HostName, Namespace, PersonName, SessionId, SessionRef,
    Timestamp, TokenId, WorkId, limits,
};
use serde::{Deserialize, Serialize};

/// The host that the daemon's own user is, on the socket.
pub const LOCAL_HOST: &str = "local";

/// One run of an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    /// Its id.
    pub id: SessionId,
    /// Where it lives.
    pub namespace: Namespace,
    /// Which agent runs.
    pub agent: AgentName,
    /// The principal whose credential enrolled it, or its parent.
    pub host: HostName,
    /// The session that enrolled it by a ticket; none for a root session.
    pub parent: Option<SessionRef>,
    /// How often this record was written.
    pub revision: u64,
    /// When it was enrolled.
    pub create_time: Timestamp,
    /// Active, paused or ended.
    pub standing: Standing,
    /// Whether its asks have yet to be moved after it was paused or ended.
    pub sweep: bool,
    /// Counts the pauses and resumes somebody asked for: a blocking work counts only while the run
    /// that sent it still holds the session, and so only in the stay it was sent in.
    pub stay: u32,
    /// Its token, hashed.
    pub token: SecretHash,
    /// Whether that token has ever been used; until then a replayed Enroll may mint another.
    pub token_used: bool,
    /// The secret of whoever holds it, hashed.
    pub hold: SecretHash,
    /// Whether it was ever held: then losing the hold pauses it.
    pub held: bool,
    /// The works it was sent, oldest first.
    pub works: Vec<WorkId>,
    /// Its open asks; their number is limited exactly.
    pub open_asks: Vec<AskId>,
    /// Whether it answers asks at all.
    pub answers_asks: bool,
    /// Whether its host wakes it when something waits on it: then it may be asked while it is
    /// paused and that host watches.
    pub wakeable: bool,
    /// Until when it is taken to run without being held; each call of its own puts that off.
    pub alive_until: Timestamp,
    /// The stay from which on the tickets it made are good: those of before were revoked with it.
    #[serde(default)]
    pub tickets_from: u32,
    /// Whether the sessions it enrolled have yet to be revoked with it.
    #[serde(default)]
    pub revokes: bool,
    /// The host's token by which its credentials came to be, its own or those of whoever sent it work:
    /// they go with it. None on the socket.
    #[serde(default)]
    pub maker: Option<TokenId>,
}

/// What a session says of itself when it is enrolled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manner {
    /// Whether it answers asks at all.
    pub answers_asks: bool,
    /// Whether its host wakes it when something waits on it.
    pub wakeable: bool,
}

impl Default for Manner {
    fn default() -> Self {
        Self { answers_asks: true, wakeable: false }
    }
}

/// Whether a session runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// It may do everything.
    Active,
    /// It may read, watch, acknowledge and withdraw, and be resumed.
    Paused {
        /// Since when.
        since: Timestamp,
        /// Whether only its hold was lost: then the same holder may take it up again.
        lost_hold: bool,
    },
    /// It is over.
    Ended {
        /// Since when.
        since: Timestamp,
        /// Who ended it.
        by: crate::ask::Actor,
    },
}

impl Session {
    /// This run of this agent.
    pub fn reference(&self) -> SessionRef {
        SessionRef { agent: self.agent.clone(), session: self.id }
    }

    /// Whether it runs.
    pub fn is_active(&self) -> bool {
        self.standing == Standing::Active
    }

    /// The instant at which time alone next changes it: paused when nobody held it or called for
    /// long, ended when it was paused for long. A hold that is lost is noticed elsewhere.
    pub fn deadline(&self) -> Option<Timestamp> {
        match &self.standing {
            Standing::Active if self.held => None,
            Standing::Active => Some(self.alive_until),
            Standing::Paused { since, .. } => Some(*since + limits::PAUSED_MAX),
            Standing::Ended { .. } => None,
        }
    }

    /// Whether a call of its own at `time` puts off when it is taken to be gone.
    pub fn is_renewed_at(&self, time: Timestamp) -> bool {
        let renewed = time + limits::SESSION_TTL;
        self.is_active() && !self.held && renewed.since(self.alive_until) >= limits::SESSION_RENEW
    }

    /// Whether it is paused, and its host would wake it.
    pub fn is_asleep(&self) -> bool {
        self.wakeable && matches!(self.standing, Standing::Paused { .. })
    }

    /// Whether it is over.
    pub fn is_ended(&self) -> bool {
        matches!(self.standing, Standing::Ended { .. })
    }
}

/// One piece of work a session was sent, or its own where it is a root session. Never changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Work {
    /// Its id.
    pub id: WorkId,
    /// Where it lives.
    pub namespace: Namespace,
    /// Whose work it is.
    pub session: SessionRef,
    /// The work it was sent from; none for a root session's own.
    pub from: Option<WorkId>,
    /// The root of it: itself, for a root session's own.
    pub tree: WorkId,
    /// Who sent it, who sent them theirs, and so on: nearest first. Its length is its depth.
    pub chain: Vec<SessionRef>,
    /// The stay of `session` while which the sender is blocked on it.
    pub blocking: Option<u32>,
    /// Whether asks may be filed for it.
    pub may_ask: bool,
    /// When it was taken up.
    pub create_time: Timestamp,
}

/// What a sender says of the work it sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkManner {
    /// Whether it is blocked until the work is done.
    pub blocking: bool,
    /// Whether asks may be filed for it.
    pub may_ask: bool,
}

impl Default for WorkManner {
    fn default() -> Self {
        Self { blocking: false, may_ask: true }
    }
}

impl Work {
    /// Who sent it.
    pub fn sender(&self) -> Option<&SessionRef> {
        self.chain.first()
    }
}

/// What a sender hands over with work. Redeemed once, by enrolling a session or by an active one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ticket {
    /// The secret, hashed: its key.
    pub secret: SecretHash,
    /// Where it lives.
    pub namespace: Namespace,
    /// How often this record was written.
    pub revision: u64,
    /// Who sent the work.
    pub sender: SessionRef,
    /// The work it was sent from.
    pub from: WorkId,
    /// The id the work will have.
    pub work: WorkId,
    /// What the sender said of it.
    pub manner: WorkManner,
    /// Until when it may be redeemed.
    pub expire_time: Timestamp,
    /// Who redeemed it.
    pub spent_by: Option<SessionRef>,
    /// Whether a replay of its SendWork has minted another in its place.
    pub void: bool,
    /// The stay of its sender in which it was made.
    #[serde(default)]
    pub stay: u32,
}

/// A principal's own credential, as stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Token {
    /// The secret, hashed: its key.
    pub secret: SecretHash,
    /// Where its principal lives.
    pub namespace: Namespace,
    /// How often this record was written.
    pub revision: u64,
    /// Whom it stands for.
    pub principal: Principal,
    /// Whether it is no longer good.
    pub void: bool,
    /// What it is called, where somebody may speak of it: a session's has no name of its own.
    #[serde(default)]
    pub id: Option<TokenId>,
    /// Who made it for whom; none for a session's, and for those the daemon keeps in its folder.
    #[serde(default)]
    pub issue: Option<Issue>,
    /// Whether an issued one was ever used; until then a replay may mint another. When it was used
    /// last is not kept: that would be a write a call.
    #[serde(default)]
    pub used: bool,
    /// Until when it is good; none for as long as nobody revokes it.
    #[serde(default)]
    pub expire_time: Option<Timestamp>,
    /// When it was revoked. Voided by another in its place, it never was.
    #[serde(default)]
    pub revoke_time: Option<Timestamp>,
}

/// The making of a token by `token create`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Issue {
    /// What it is for, in its maker's words.
    pub note: String,
    /// Who made it.
    pub by: Actor,
    /// When.
    pub time: Timestamp,
    /// By which token it was made: it never outlives that. None on the socket.
    #[serde(default)]
    pub from: Option<TokenId>,
    /// Whether it was made in an agent's environment: an agent may have.
    #[serde(default)]
    pub in_agent: bool,
}

/// Why a token is not good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// Another stands in its place.
    Void,
    /// Somebody revoked it.
    Revoked,
    /// Its time is over.
    Expired,
}

impl Token {
    /// One that the daemon makes: good until it is made void.
    pub fn new(secret: SecretHash, namespace: Namespace, principal: Principal) -> Self {
        Self {
            secret,
            namespace,
            revision: 1,
            principal,
            void: false,
            id: None,
            issue: None,
            used: false,
            expire_time: None,
            revoke_time: None,
        }
    }

    /// Whether it is good at `now`.
    ///
    /// # Errors
    ///
    /// Why it is not.
    pub fn fit(&self, now: Timestamp) -> Result<(), Unfit> {
        match self.expire_time {
            _ if self.revoke_time.is_some() => Err(Unfit::Revoked),
            _ if self.void => Err(Unfit::Void),
            Some(time) if time <= now => Err(Unfit::Expired),
            _ => Ok(()),
        }
    }

    /// The same, revoked at `time`.
    pub fn revoked(&self, time: Timestamp) -> Self {
        let revoke_time = self.revoke_time.or(Some(time));
        Self { void: true, revoke_time, revision: self.revision + 1, ..self.clone() }
    }

    /// What a person's word by it is worth: one that was made for them proves that they have it, one
    /// that lies in the daemon's folder only that the caller can read that folder.
    pub fn assurance(&self) -> Assurance {
        if self.issue.is_some() { Assurance::Token } else { Assurance::Local }
    }
}

/// Whoever a credential stands for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Principal {
    /// One run of an agent.
    Session(SessionRef),
    /// What enrolls root sessions.
    Host(HostName),
    /// A human who may answer.
    Person(PersonName),
}

impl From<Principal> for crate::ask::Actor {
    fn from(principal: Principal) -> Self {
        match principal {
            Principal::Session(session) => crate::ask::Actor::Session(session),
            Principal::Host(host) => crate::ask::Actor::Host(host),
            Principal::Person(person) => crate::ask::Actor::Person(person),
        }
    }
}

#[cfg(test)]
mod tests;
