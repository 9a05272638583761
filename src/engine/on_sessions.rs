//! Deciding what is done to sessions, tickets and tokens: the part of a batch that has no asks.

use super::batch::{Verdict, keep_receipt};
use super::request::{Deed, Done, Enroll, Enroller, Intent, Request, SendWork};
use super::world::{Missing, World};
use crate::ask::{Now, SessionId, limits};
use crate::error::Error;
use crate::session::{
    self, Command, Deed as SessionDeed, Denied, Principal, SecretHash, Session, Ticket, Token, Work,
};
use crate::store::{Change, Record, StoredReceipt, Subject};
use std::sync::Arc;

pub(super) fn decide(world: &mut World, intent: Option<&Intent>, deed: &Deed, now: Now) -> Verdict {
    match deed {
        Deed::OnSession(id, command) => on_session(world, intent, *id, command, now),
        Deed::Enroll(enroll) => self::enroll(world, intent, enroll, now),
        Deed::SendWork(send) => send_work(world, intent, send, now),
        Deed::AcceptWork(taker, ticket) => accept_work(world, intent, *taker, *ticket, now),
        Deed::File(_) | Deed::OnAsk(..) | Deed::Gone(..) | Deed::Tick(_) | Deed::Forget(_) => {
            unreachable!("asks are decided in `on_asks`")
        }
        Deed::OnRoster(..) | Deed::UseToken(_) => unreachable!("these are decided in `on_roster`"),
    }
}

fn on_session(
    world: &mut World,
    intent: Option<&Intent>,
    id: SessionId,
    command: &Command,
    now: Now,
) -> Verdict {
    let Some(before) = world.session(id)? else {
        return Ok((None, Err(Error::no_such_session(id))));
    };
    let mut after = match session::decide(&before, command, now) {
        Ok(after) => after,
        Err(denied) => return Ok((None, Err(denied.into()))),
    };
    let mut change = Change::default();
    let mut expire_time = None;
    if let (Command::Resume { .. }, Some(after)) = (command, &mut after) {
        let from = by_token(world, intent)?;
        expire_time = from.as_ref().and_then(|from| from.expire_time);
        if !from.as_ref().is_some_and(|from| matches!(from.principal, Principal::Session(_))) {
            after.maker = from.and_then(|from| from.id);
        }
    }
    let after = after.map(Arc::new);
    let session = after.clone().unwrap_or_else(|| before.clone());
    if let Some(after) = after {
        if after.token != before.token {
            let fresh = Token { expire_time, ..token_of(&before, after.token) };
            exchange_token(world, &mut change, &before, fresh)?;
        }
        if matches!(command, Command::Revoke)
            && let Some(token) = world.token(before.token)?
        {
            change.writes.push(Record::Token(Arc::new(token.revoked(now.time))));
        }
        change.writes.push(Record::Session(after));
    }
    let minted = session.token != before.token;
    let subject = Subject::Session(id, session.stay);
    keep_receipt(&mut change, intent, subject, false, now);
    let done = Done { subject: Some(subject), session: Some(session), minted, ..Done::default() };
    Ok(((!change.writes.is_empty()).then_some(change), Ok(done)))
}

/// The token by which somebody calls; none on the socket.
fn by_token(world: &mut World, intent: Option<&Intent>) -> Result<Option<Arc<Token>>, Missing> {
    let secret = intent.and_then(|intent| intent.credential);
    Ok(secret.map(|secret| world.token(secret)).transpose()?.flatten())
}

/// The session's old token is void; `fresh` stands for it from now on.
fn exchange_token(
    world: &mut World,
    change: &mut Change,
    session: &Session,
    fresh: Token,
) -> Result<(), Missing> {
    if let Some(old) = world.token(session.token)? {
        let revision = old.revision + 1;
        change.writes.push(Record::Token(Arc::new(Token {
            void: true,
            revision,
            ..(*old).clone()
        })));
    }
    change.writes.push(Record::Token(Arc::new(fresh)));
    Ok(())
}

fn token_of(session: &Session, secret: SecretHash) -> Token {
    Token::new(secret, session.namespace.clone(), Principal::Session(session.reference()))
}

fn enroll(world: &mut World, intent: Option<&Intent>, enroll: &Enroll, now: Now) -> Verdict {
    // What is made by a token never outlives it.
    let (namespace, host, parent, maker, expire_time) = match &enroll.by {
        Enroller::Host(host, namespace, _) => {
            let from = by_token(world, intent)?;
            let (id, end) = (from.as_ref().and_then(|f| f.id), from.and_then(|f| f.expire_time));
            (namespace.clone(), host.clone(), None, id, end)
        }
        Enroller::Ticket(ticket) => {
            let ticket = world.ticket(*ticket)?;
            let sender = match &ticket {
                Some(ticket) => world.session(ticket.sender.session)?,
                None => None,
            };
            let Some(sender) = sender else { return refuse(Denied::BadTicket) };
            let end = world.token(sender.token)?.and_then(|token| token.expire_time);
            let parent = Some(sender.reference());
            (sender.namespace.clone(), sender.host.clone(), parent, sender.maker, end)
        }
    };
    let session = session::enroll(
        enroll.id,
        namespace,
        enroll.agent.clone(),
        host,
        parent,
        enroll.manner,
        enroll.secrets,
        now,
    );
    let mut change = Change::default();
    let work = match &enroll.by {
        Enroller::Host(_, _, work) => Work::root(*work, &session, now),
        Enroller::Ticket(ticket) => match redeem(world, &mut change, &session, *ticket, now)? {
            Ok(work) => work,
            Err(denied) => return refuse(denied),
        },
    };
    let session = Session { works: vec![work.id], maker, ..session };
    let token = Token { expire_time, ..token_of(&session, session.token) };
    change.writes.push(Record::Token(Arc::new(token)));
    change.writes.push(Record::Work(Arc::new(work)));
    let session = Arc::new(session);
    change.writes.push(Record::Session(session.clone()));
    let subject = Subject::Session(session.id, session.stay);
    keep_receipt(&mut change, intent, subject, false, now);
    let done =
        Done { subject: Some(subject), session: Some(session), minted: true, ..Done::default() };
    Ok((Some(change), Ok(done)))
}

/// The work a ticket hands to `taker`, with the ticket's spending in `change`.
fn redeem(
    world: &mut World,
    change: &mut Change,
    taker: &Session,
    ticket: SecretHash,
    now: Now,
) -> Result<Result<Work, Denied>, Missing> {
    let Some(ticket) = world.ticket(ticket)? else { return Ok(Err(Denied::BadTicket)) };
    let sender = world.session(ticket.sender.session)?;
    let from = world.work(ticket.from)?.expect("a ticket is minted from a work");
    Ok(ticket.redeem(taker, sender.as_deref(), &from, now).map(|(work, spent)| {
        change.writes.push(Record::Ticket(Arc::new(spent)));
        work
    }))
}

fn accept_work(
    world: &mut World,
    intent: Option<&Intent>,
    taker: SessionId,
    ticket: SecretHash,
    now: Now,
) -> Verdict {
    let taker = world.session(taker)?.expect("a credential's session exists");
    if let Err(denied) = taker.may(SessionDeed::Act) {
        return refuse(denied);
    }
    let mut change = Change::default();
    let work = match redeem(world, &mut change, &taker, ticket, now)? {
        Ok(work) => work,
        Err(denied) => return refuse(denied),
    };
    let taken = session::decide(&taker, &Command::TakeWork { work: work.id }, now);
    let taken = match taken {
        Ok(taken) => Arc::new(taken.expect("one more work is taken")),
        Err(denied) => return refuse(denied),
    };
    let subject = Subject::Work(work.id);
    change.writes.push(Record::Work(Arc::new(work)));
    change.writes.push(Record::Session(taken.clone()));
    keep_receipt(&mut change, intent, subject, false, now);
    let done = Done { subject: Some(subject), session: Some(taken), ..Done::default() };
    Ok((Some(change), Ok(done)))
}

fn send_work(world: &mut World, intent: Option<&Intent>, send: &SendWork, now: Now) -> Verdict {
    let sender = world.session(send.sender.session)?.expect("a credential's session exists");
    let from = match sender.may(SessionDeed::Act).and_then(|()| sender.work(send.from)) {
        Ok(from) => world.work(from)?.expect("a session's works exist"),
        Err(denied) => return refuse(denied),
    };
    if from.chain.len() >= limits::DEPTH {
        return refuse(Denied::TooDeep);
    }
    let ticket = Ticket {
        secret: send.ticket,
        namespace: sender.namespace.clone(),
        revision: 1,
        sender: send.sender.clone(),
        from: from.id,
        work: send.work,
        manner: send.manner,
        expire_time: now.time + limits::TICKET_LIFE,
        spent_by: None,
        void: false,
        stay: sender.stay,
    };
    let expire_time = Some(ticket.expire_time);
    let mut change = Change::default();
    change.writes.push(Record::Ticket(Arc::new(ticket)));
    let subject = Subject::Ticket(send.ticket, send.work);
    keep_receipt(&mut change, intent, subject, false, now);
    let done = Done { subject: Some(subject), minted: true, expire_time, ..Done::default() };
    Ok((Some(change), Ok(done)))
}

/// A replay of what minted a secret mints another in its place, while the first is unused; after
/// that it comes back without one.
pub(super) fn replay(
    world: &mut World,
    request: &Request,
    receipt: &Arc<StoredReceipt>,
    mut done: Done,
    now: Now,
) -> Verdict {
    match (receipt.subject, &request.deed) {
        (Subject::Session(id, stay), deed) => {
            let session = world.session(id)?.expect("sessions are kept");
            done.session = Some(session.clone());
            let (token, hold) = match deed {
                Deed::Enroll(enroll) => enroll.secrets,
                Deed::OnSession(_, Command::Resume { token, hold }) => (*token, *hold),
                _ => return Ok((None, Ok(done))),
            };
            let mint = Command::MintToken { token, hold };
            let Ok(Some(fresh)) = session::decide(&session, &mint, now) else {
                return Ok((None, Ok(done)));
            };
            if session.stay != stay {
                return Ok((None, Ok(done)));
            }
            let mut change = Change::default();
            let old = world.token(session.token)?;
            let expire_time = old.and_then(|old| old.expire_time);
            let token = Token { expire_time, ..token_of(&session, token) };
            exchange_token(world, &mut change, &session, token)?;
            let fresh = Arc::new(fresh);
            change.writes.push(Record::Session(fresh.clone()));
            (done.session, done.minted) = (Some(fresh), true);
            Ok((Some(change), Ok(done)))
        }
        (Subject::Ticket(ticket, _), Deed::SendWork(send)) => {
            replay_ticket(world, receipt, ticket, send, done)
        }
        _ => Ok((None, Ok(done))),
    }
}

fn replay_ticket(
    world: &mut World,
    receipt: &Arc<StoredReceipt>,
    ticket: SecretHash,
    send: &SendWork,
    mut done: Done,
) -> Verdict {
    let old = world.ticket(ticket)?.expect("tickets are kept as long as their receipts");
    done.expire_time = Some(old.expire_time);
    if old.spent_by.is_some() {
        return Ok((None, Ok(done)));
    }
    let fresh = Ticket { secret: send.ticket, revision: 1, ..(*old).clone() };
    let subject = Subject::Ticket(send.ticket, old.work);
    let void = Ticket { void: true, revision: old.revision + 1, ..(*old).clone() };
    let receipt = StoredReceipt { subject, ..(**receipt).clone() };
    let mut change = Change::default();
    change.writes.push(Record::Ticket(Arc::new(void)));
    change.writes.push(Record::Ticket(Arc::new(fresh)));
    change.writes.push(Record::Receipt(Arc::new(receipt)));
    (done.subject, done.minted) = (Some(subject), true);
    Ok((Some(change), Ok(done)))
}

fn refuse(denied: Denied) -> Verdict {
    Ok((None, Err(denied.into())))
}
