//! Deciding a batch: pure. Requests in, changes and replies out; the rules themselves are
//! [`ask::decide`](crate::ask::decide()) and [`session::decide`](crate::session::decide()).

use super::on_sessions;
use super::request::{Deed, Done, File, Intent, Reply, Request};
use super::world::{Missing, World};
use crate::ask::{
    self, Ask, AskId, Command, Event, Filing, Gone, IdleHops, Now, Rejection, Route, SessionId,
    SessionRef, Target, WorkId, decide, evolve,
};
use crate::error::Error;
use crate::session::{self, Deed as SessionDeed, Session, Standing};
use crate::store::{Change, Key, Record, StoredReceipt, Subject};
use std::sync::Arc;

/// What one request came to.
#[derive(Debug)]
pub(super) struct Decided {
    /// What to commit; none where nothing changes.
    pub change: Option<Change>,
    /// What to say once that is on disk.
    pub reply: Reply,
}

/// Decides `requests` in order, each seeing what the ones before it made.
///
/// # Errors
///
/// When records have to be loaded first; `world` has noted them all.
pub(super) fn run_batch(
    world: &mut World,
    requests: &[&Request],
    now: Now,
) -> Result<Vec<Decided>, Missing> {
    let mut decided = Vec::with_capacity(requests.len());
    let mut missing = false;
    for request in requests {
        world.begin();
        match decide_one(world, request, now) {
            Ok((mut change, reply)) => {
                if let Some(change) = &mut change {
                    world.conclude(change);
                }
                decided.push(Decided { change, reply });
            }
            Err(Missing) => missing = true,
        }
    }
    if missing { Err(Missing) } else { Ok(decided) }
}

/// A change, where there is one, and the reply.
pub(super) type Verdict = Result<(Option<Change>, Reply), Missing>;

fn decide_one(world: &mut World, request: &Request, now: Now) -> Verdict {
    if let Some(intent) = &request.intent
        && let Some(receipt) = world.receipt(intent.key.clone())?
    {
        return replay(world, request, intent, &receipt, now);
    }
    match &request.deed {
        Deed::File(file) => file_ask(world, request, file, now),
        Deed::OnAsk(ask, command) => on_ask(world, request, *ask, command, now),
        Deed::Tick(ask) => on_ask(world, request, *ask, &Command::Tick { idle: vec![] }, now),
        Deed::Gone(ask, session) => gone(world, request, *ask, *session, now),
        deed => on_sessions::decide(world, request.intent.as_ref(), deed, now),
    }
}

/// The first result again, with things as they are now (rule 7).
fn replay(
    world: &mut World,
    request: &Request,
    intent: &Intent,
    receipt: &Arc<StoredReceipt>,
    now: Now,
) -> Verdict {
    if receipt.payload != intent.payload {
        return Ok((None, Err(Error::RequestIdReused)));
    }
    let mut done = Done {
        subject: Some(receipt.subject),
        closed: receipt.closed,
        replayed: true,
        ..Done::default()
    };
    match receipt.subject {
        Subject::Ask(ask) => {
            done.ask = world.ask(ask)?;
            Ok((None, Ok(done)))
        }
        _ => on_sessions::replay(world, request, receipt, done, now),
    }
}

fn file_ask(world: &mut World, request: &Request, file: &File, now: Now) -> Verdict {
    let asker = world.session(file.asker.session)?;
    let asker = asker.expect("a credential's session exists");
    let work = asker.may(SessionDeed::Act).and_then(|()| asker.work(file.work));
    let opened = session::decide(&asker, &session::Command::Open { ask: file.id }, now);
    let (work, opened) = match (work, opened) {
        (Ok(work), Ok(opened)) => (work, opened.expect("one more ask is open")),
        (Err(denied), _) | (_, Err(denied)) => return Ok((None, Err(denied.into()))),
    };
    let work = world.work(work)?.expect("a session's works exist");
    let route = Route::to_sender_then_owner(work.sender(), file.route_timeout);
    let idle = idle_hops(world, &route, &file.asker, work.id)?;
    let filing = Filing {
        id: file.id,
        namespace: asker.namespace.clone(),
        draft: file.draft.clone(),
        asker: file.asker.clone(),
        work: work.id,
        tree: work.tree,
        chain: work.chain.clone(),
        route,
        idle,
    };
    let events = match decide(None, &Command::Ask(Box::new(filing)), now) {
        Ok(events) => events,
        Err(Rejection::Invalid(violations)) => return Ok((None, Err(Error::Invalid(violations)))),
        Err(other) => unreachable!("filing is only ever invalid, not {other:?}"),
    };
    let ask = Arc::new(ask::fold(&events).expect("filing makes an ask"));
    let mut change = Change::default();
    change.events.extend(events.into_iter().map(|event| (file.id, event)));
    change.writes.push(Record::Ask(ask.clone()));
    change.writes.push(Record::Session(Arc::new(opened)));
    let subject = Subject::Ask(file.id);
    keep_receipt(&mut change, request.intent.as_ref(), subject, false, now);
    let done = Done { subject: Some(subject), ask: Some(ask), ..Done::default() };
    Ok((Some(change), Ok(done)))
}

fn gone(world: &mut World, request: &Request, ask: AskId, session: SessionId, now: Now) -> Verdict {
    let Some(session) = world.session(session)? else {
        return Ok((None, Err(Error::no_such_session(session))));
    };
    match gone_how(&session) {
        // Resumed since: nothing is gone.
        None => Ok((None, Ok(Done::default()))),
        Some(gone) => {
            let command = Command::SessionGone { session: session.id, gone, idle: vec![] };
            on_ask(world, request, ask, &command, now)
        }
    }
}

fn gone_how(session: &Session) -> Option<Gone> {
    match &session.standing {
        Standing::Active => None,
        Standing::Paused { .. } => Some(Gone::Paused),
        Standing::Ended { by, .. } => Some(Gone::Ended(by.clone())),
    }
}

/// Any command on an ask that exists.
fn on_ask(world: &mut World, request: &Request, id: AskId, command: &Command, now: Now) -> Verdict {
    let Some(before) = world.ask(id)? else { return Ok((None, Err(Error::no_such_ask(id)))) };
    let mut folding = Folding { ask: before.clone(), events: Vec::new() };
    sweep_first(world, &mut folding, now)?;

    let denied = match session::acting(command) {
        Some((session, deed)) => match world.session(session.session)? {
            Some(session) => session.may(deed).err(),
            None => Some(session::Denied::Ended),
        },
        None => None,
    };
    let result = match denied {
        Some(denied) => Err(Error::from(denied)),
        None => folding.decide(world, command, now)?,
    };

    let purge = matches!(command, Command::Tick { .. }) && folding.ask.is_past_retention(now);
    if purge {
        let change = Change { removes: vec![Key::Ask(id)], ..Change::default() };
        return Ok((Some(change), Ok(Done::default())));
    }
    let mut change = Change::default();
    let ask = folding.ask.clone();
    if !folding.events.is_empty() {
        if before.is_open() && !ask.is_open() {
            settle(world, &mut change, &ask, now)?;
        }
        change.events.extend(folding.events.into_iter().map(|event| (id, event)));
        change.writes.push(Record::Ask(ask.clone()));
    }
    let subject = Subject::Ask(id);
    let reply = result.map(|closed| {
        keep_receipt(&mut change, request.intent.as_ref(), subject, closed, now);
        Done { subject: Some(subject), closed, ask: Some(ask), ..Done::default() }
    });
    let changes = !change.writes.is_empty();
    Ok((changes.then_some(change), reply))
}

/// An ask, and the events that are being added to it.
struct Folding {
    ask: Arc<Ask>,
    events: Vec<Event>,
}

impl Folding {
    /// Decides `command` and folds what follows. Whether the ask was closed; an error changes
    /// nothing.
    fn decide(
        &mut self,
        world: &mut World,
        command: &Command,
        now: Now,
    ) -> Result<Result<bool, Error>, Missing> {
        let mut command = command.clone();
        if let Some(idle) = command.idle_hops()
            && self.ask.is_open()
        {
            let ask = &self.ask;
            *idle = idle_hops(world, &ask.route, &ask.asker, ask.work)?;
        }
        match decide(Some(&self.ask), &command, now) {
            Ok(events) => {
                for event in events {
                    self.ask = Arc::new(evolve(Some((*self.ask).clone()), &event));
                    self.events.push(event);
                }
                Ok(Ok(false))
            }
            Err(Rejection::Closed) => Ok(Ok(true)),
            Err(rejection) => Ok(Err(Error::of_rejection(rejection, &self.ask))),
        }
    }
}

/// An ask that another command reaches before the sweep does is decided as if swept: its asker may
/// have ended, and whom it waits on may be gone.
fn sweep_first(world: &mut World, folding: &mut Folding, now: Now) -> Result<(), Missing> {
    let asker = folding.ask.asker.session;
    let waited_on = match folding.ask.waiting_on() {
        Some(Target::Session(session)) => Some(session.session),
        _ => None,
    };
    if !folding.ask.is_open() && !folding.ask.is_unread() {
        return Ok(());
    }
    for session in [Some(asker), waited_on].into_iter().flatten() {
        let gone = world.session(session)?.and_then(|session| gone_how(&session));
        if let Some(gone) = gone {
            let command = Command::SessionGone { session, gone, idle: vec![] };
            let swept = folding.decide(world, &command, now)?;
            debug_assert!(swept.is_ok(), "a sweep is never refused");
        }
    }
    Ok(())
}

/// Which hops of `route` cannot answer an ask that belongs to `work` of `asker`'s.
fn idle_hops(
    world: &mut World,
    route: &Route,
    asker: &SessionRef,
    work: WorkId,
) -> Result<IdleHops, Missing> {
    session::idle_hops(route, |hop| {
        let below = below(world, hop, work)?;
        let below = below.as_ref().map(|(work, holder)| (&**work, &**holder));
        let session = world.session(hop.session)?;
        Ok(session::idle(session.as_deref(), asker, below))
    })
}

/// A work, and the session that holds it.
type Held = (Arc<session::Work>, Arc<Session>);

/// The work that `hop` sent, on the way down to `work`; none where it sent none of it.
fn below(world: &mut World, hop: &SessionRef, work: WorkId) -> Result<Option<Held>, Missing> {
    let mut next = Some(work);
    while let Some(id) = next {
        let Some(work) = world.work(id)? else { return Ok(None) };
        if work.sender() == Some(hop) {
            let holder = world.session(work.session.session)?;
            return Ok(holder.map(|holder| (work, holder)));
        }
        next = work.from;
    }
    Ok(None)
}

/// A settled ask counts no longer against its asker.
fn settle(world: &mut World, change: &mut Change, ask: &Ask, now: Now) -> Result<(), Missing> {
    if let Some(asker) = world.session(ask.asker.session)? {
        let command = session::Command::Settle { ask: ask.id };
        if let Ok(Some(asker)) = session::decide(&asker, &command, now) {
            change.writes.push(Record::Session(Arc::new(asker)));
        }
    }
    Ok(())
}

/// The receipt, in one commit with its effect.
pub(super) fn keep_receipt(
    change: &mut Change,
    intent: Option<&Intent>,
    subject: Subject,
    closed: bool,
    now: Now,
) {
    if let Some(Intent { key, payload }) = intent {
        let (key, payload) = (key.clone(), payload.clone());
        let receipt = StoredReceipt { key, payload, subject, closed, time: now.time };
        change.writes.push(Record::Receipt(Arc::new(receipt)));
    }
}
