//! What may be done to a session, in each standing.
//!
//! ```text
//!               Pause, hold lost             End
//!   ACTIVE ───────────────────────► PAUSED ──────► ENDED
//!     ▲  ▲                           │  │            ▲
//!     │  └── Resume (a new token) ───┘  │            │
//!     └───── Hold, when only the hold ──┘            │
//!            was lost                                │
//!     └──────────────────── End ─────────────────────┘
//! ```
//!
//! Who may pause, resume and end is [`service::authorize`](crate::service)'s to say: it depends on
//! what never changes. What a session may do in its standing is said here.

use super::{Manner, SecretHash, Session, Standing, Ticket, Work};
use crate::ask::{
    Actor, AgentName, AskId, HostName, Namespace, Now, SessionId, SessionRef, WorkId, limits,
};

/// The revision of a session's first record.
pub const ENROLL_REVISION: u64 = 1;

/// What somebody wants done to a session.
#[expect(missing_docs, reason = "each variant's sentence names its fields")]
#[derive(Clone, Debug)]
pub enum Command {
    /// Whoever runs it begins, or goes on, to hold it.
    Hold { secret: SecretHash },
    /// Its hold was gone for too long: the engine.
    LoseHold,
    /// Somebody stops it for now.
    Pause,
    /// Somebody starts it again, with a new token and a new holder.
    Resume { token: SecretHash, hold: SecretHash },
    /// Somebody ends it for good.
    End { by: Actor },
    /// Its credentials and those of the sessions it enrolled are taken away.
    Revoke,
    /// Those it enrolled have been revoked with it: the engine.
    RevokedBelow,
    /// Its token was used for the first time.
    UseToken { token: SecretHash },
    /// A replay of what minted its token mints another in its place.
    MintToken { token: SecretHash, hold: SecretHash },
    /// It takes up a work it was sent.
    TakeWork { work: WorkId },
    /// It has one more open ask.
    Open { ask: AskId },
    /// One of its asks is settled.
    Settle { ask: AskId },
    /// Its asks have been moved as it was, in this stay and standing: the engine's sweep. What
    /// happened to it since wants another.
    Swept { stay: u32, standing: Standing },
    /// It called, so it runs.
    Renew,
    /// Its host watches no more, and so does not wake it.
    Unwatched,
    /// Time has passed: the timer.
    Tick,
}

/// Why nothing may happen to a session, or by it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Denied {
    /// It is over.
    Ended,
    /// It is paused, and this needs it active.
    Paused,
    /// It is active, and this needs it paused.
    Active,
    /// The holder's secret is not this session's.
    NotHolder,
    /// It has as many open asks as it may have: these.
    TooManyOpen(Vec<AskId>),
    /// It holds as many works as it may hold.
    TooManyWorks,
    /// There is no such work of its own.
    NoSuchWork,
    /// Its sender said that no asks are filed for this work.
    MayNotAsk,
    /// The work would be sent deeper than work may be.
    TooDeep,
    /// The ticket is unknown, void, spent, of another namespace, or its sender has ended.
    BadTicket,
    /// The ticket's time is over.
    TicketExpired,
    /// The work comes from the session's own descendant, or itself.
    Cycle,
}

/// What an active session does and a paused one may not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deed {
    /// Ask, AnswerAgent, Escalate, Say, Reply, SendWork, AcceptWork.
    Act,
    /// Withdraw, acknowledge, read, watch.
    Look,
}

impl Session {
    /// Whether it may do this now.
    ///
    /// # Errors
    ///
    /// Its standing, where that is why not.
    pub fn may(&self, deed: Deed) -> Result<(), Denied> {
        match (&self.standing, deed) {
            (Standing::Active, _) | (Standing::Paused { .. }, Deed::Look) => Ok(()),
            (Standing::Paused { .. }, Deed::Act) => Err(Denied::Paused),
            (Standing::Ended { .. }, _) => Err(Denied::Ended),
        }
    }

    /// The work an ask belongs to: the one it names, else the latest.
    ///
    /// # Errors
    ///
    /// When it is none of this session's.
    pub fn work(&self, named: Option<WorkId>) -> Result<WorkId, Denied> {
        match named {
            Some(work) if !self.works.contains(&work) => Err(Denied::NoSuchWork),
            Some(work) => Ok(work),
            None => self.works.last().copied().ok_or(Denied::NoSuchWork),
        }
    }
}

/// The session after `command`; none when it changes nothing.
///
/// # Errors
///
/// Why it may not; the session is as it was.
pub fn decide(session: &Session, command: &Command, now: Now) -> Result<Option<Session>, Denied> {
    use Command as C;
    let mut next = session.clone();
    next.revision += 1;
    match (&session.standing, command) {
        // The sweep may finish, and an ask may be settled, whatever became of the session.
        (_, C::Settle { ask }) => {
            next.open_asks.retain(|open| open != ask);
            return Ok((next.open_asks.len() < session.open_asks.len()).then_some(next));
        }
        (_, C::Swept { stay, standing }) => {
            let is_last = session.stay == *stay && session.standing == *standing;
            next.sweep = false;
            return Ok((session.sweep && is_last).then_some(next));
        }

        (_, C::Tick) => match (&session.standing, session.deadline()) {
            (_, due) if due.is_none_or(|due| due > now.time) => return Ok(None),
            (Standing::Active, _) => {
                next.standing = Standing::Paused { since: now.time, lost_hold: true };
                next.sweep = true;
            }
            _ => end(&mut next, Actor::Timer, now),
        },
        (_, C::Renew) => {
            next.alive_until = now.time + limits::SESSION_TTL;
            return Ok(session.is_renewed_at(now.time).then_some(next));
        }
        (_, C::Unwatched) => {
            next.sweep = true;
            return Ok((session.is_asleep() && !session.sweep).then_some(next));
        }

        (_, C::RevokedBelow) => {
            next.revokes = false;
            return Ok(session.revokes.then_some(next));
        }
        // Not a lost hold: whoever holds it holds it by a credential that may be in other hands.
        (Standing::Active | Standing::Paused { .. }, C::Revoke) => {
            let since = match session.standing {
                Standing::Paused { since, .. } => since,
                _ => now.time,
            };
            next.standing = Standing::Paused { since, lost_hold: false };
            next.stay += 1;
            revoke(&mut next);
        }
        // Its own token was good for nothing any more; those it enrolled may live.
        (Standing::Ended { .. }, C::Revoke) => revoke(&mut next),

        (Standing::Ended { .. }, C::End { .. } | C::LoseHold) => return Ok(None),
        (
            Standing::Ended { .. },
            C::Hold { .. }
            | C::Pause
            | C::Resume { .. }
            | C::UseToken { .. }
            | C::MintToken { .. }
            | C::TakeWork { .. }
            | C::Open { .. },
        ) => return Err(Denied::Ended),

        (Standing::Active, C::Hold { secret }) => {
            holder(session, secret)?;
            if session.held {
                return Ok(None);
            }
            next.held = true;
        }
        (Standing::Paused { lost_hold: true, .. }, C::Hold { secret }) => {
            holder(session, secret)?;
            next.standing = Standing::Active;
            next.sweep = false;
            // It may have been paused for its silence, without ever having been held.
            next.held = true;
        }
        (Standing::Paused { lost_hold: false, .. }, C::Hold { .. }) => {
            return Err(Denied::Paused);
        }

        // A resume ends the holds before it: there is none to lose.
        (Standing::Active, C::LoseHold) if !session.held => return Ok(None),
        (Standing::Active, C::LoseHold) => {
            next.standing = Standing::Paused { since: now.time, lost_hold: true };
            next.sweep = true;
        }
        (Standing::Active, C::Pause) => {
            next.standing = Standing::Paused { since: now.time, lost_hold: false };
            next.sweep = true;
            next.stay += 1;
        }
        (Standing::Paused { since, lost_hold: true }, C::Pause) => {
            next.standing = Standing::Paused { since: *since, lost_hold: false };
            next.stay += 1;
        }
        (Standing::Paused { .. }, C::Pause | C::LoseHold) => return Ok(None),

        (Standing::Active, C::Resume { .. }) => return Err(Denied::Active),
        (Standing::Paused { .. }, C::Resume { token, hold }) => {
            next.standing = Standing::Active;
            // Those it enrolled before are revoked all the same.
            next.sweep = session.revokes;
            next.stay += 1;
            next.held = false;
            next.alive_until = now.time + limits::SESSION_TTL;
            (next.token, next.token_used, next.hold) = (*token, false, *hold);
        }
        (Standing::Active | Standing::Paused { .. }, C::End { by }) => {
            end(&mut next, by.clone(), now);
        }

        (Standing::Active | Standing::Paused { .. }, C::UseToken { token }) => {
            if session.token != *token || session.token_used {
                return Ok(None);
            }
            next.token_used = true;
        }
        (Standing::Active | Standing::Paused { .. }, C::MintToken { token, hold }) => {
            if session.token_used {
                return Ok(None);
            }
            (next.token, next.hold) = (*token, *hold);
        }
        (Standing::Paused { .. }, C::TakeWork { .. } | C::Open { .. }) => {
            return Err(Denied::Paused);
        }
        (Standing::Active, C::TakeWork { work }) => {
            if session.works.len() >= limits::WORKS {
                return Err(Denied::TooManyWorks);
            }
            next.works.push(*work);
        }
        (Standing::Active, C::Open { ask }) => {
            if session.open_asks.len() >= limits::OPEN_ASKS + usize::from(planted!("one_ask_more"))
            {
                return Err(Denied::TooManyOpen(session.open_asks.clone()));
            }
            next.open_asks.push(*ask);
        }
    }
    Ok(Some(next))
}

fn revoke(session: &mut Session) {
    session.sweep = true;
    session.revokes = true;
    session.tickets_from = session.stay;
}

fn end(session: &mut Session, by: Actor, now: Now) {
    session.standing = Standing::Ended { since: now.time, by };
    session.sweep = true;
    session.stay += 1;
}

fn holder(session: &Session, secret: &SecretHash) -> Result<(), Denied> {
    if session.hold == *secret { Ok(()) } else { Err(Denied::NotHolder) }
}

/// A new session, before it has any work.
#[expect(clippy::too_many_arguments, reason = "each is one thing the server knows of it")]
pub fn enroll(
    id: SessionId,
    namespace: Namespace,
    agent: AgentName,
    host: HostName,
    parent: Option<SessionRef>,
    manner: Manner,
    (token, hold): (SecretHash, SecretHash),
    now: Now,
) -> Session {
    Session {
        id,
        namespace,
        agent,
        host,
        parent,
        revision: ENROLL_REVISION,
        create_time: now.time,
        standing: Standing::Active,
        sweep: false,
        stay: 0,
        token,
        token_used: false,
        hold,
        held: false,
        works: Vec::new(),
        open_asks: Vec::new(),
        answers_asks: manner.answers_asks,
        wakeable: manner.wakeable,
        alive_until: now.time + limits::SESSION_TTL,
        tickets_from: 0,
        revokes: false,
        maker: None,
    }
}

impl Work {
    /// A root session's own work: sent by nobody.
    pub fn root(id: WorkId, session: &Session, now: Now) -> Self {
        Self {
            id,
            namespace: session.namespace.clone(),
            session: session.reference(),
            from: None,
            tree: id,
            chain: Vec::new(),
            blocking: None,
            may_ask: true,
            create_time: now.time,
        }
    }
}

impl Ticket {
    /// The work this ticket hands to `taker`, who takes it up now, and the ticket spent. `sender` is
    /// the sending session as it is now, `from` the work it sent this from.
    ///
    /// # Errors
    ///
    /// When the ticket is not good for it.
    pub fn redeem(
        &self,
        taker: &Session,
        sender: Option<&Session>,
        from: &Work,
        now: Now,
    ) -> Result<(Work, Ticket), Denied> {
        let good = |sender: &Session| !sender.is_ended() && sender.tickets_from <= self.stay;
        let sender_lives = sender.is_some_and(good);
        let foreign = self.namespace != taker.namespace;
        if self.void || self.spent_by.is_some() || !sender_lives || foreign {
            return Err(Denied::BadTicket);
        }
        if self.expire_time <= now.time {
            return Err(Denied::TicketExpired);
        }
        let chain: Vec<_> =
            [self.sender.clone()].into_iter().chain(from.chain.iter().cloned()).collect();
        if chain.len() > limits::DEPTH {
            return Err(Denied::TooDeep);
        }
        if chain.iter().any(|above| above.session == taker.id) {
            return Err(Denied::Cycle);
        }
        let work = Work {
            id: self.work,
            namespace: self.namespace.clone(),
            session: taker.reference(),
            from: Some(from.id),
            tree: from.tree,
            chain,
            blocking: self.manner.blocking.then_some(taker.stay),
            // What is sent on is no way around it.
            may_ask: self.manner.may_ask && from.may_ask,
            create_time: now.time,
        };
        let spent = Ticket {
            spent_by: Some(taker.reference()),
            revision: self.revision + 1,
            ..self.clone()
        };
        Ok((work, spent))
    }
}
