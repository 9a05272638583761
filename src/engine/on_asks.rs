//! Deciding what is done to asks: looks up what the rules want to know, and writes down what follows
//! beside the ask itself. The rules are [`ask::decide`](crate::ask::decide())'s.

use super::batch::{Verdict, keep_receipt};
use super::foresee::foresee_no;
use super::hops::idle_hops;
use super::on_roster;
use super::request::{Done, File, Request};
use super::world::{Missing, World};
use crate::ask::{
    self, Actor, Ask, AskId, Asked, Assurance, Command, Crowd, Ending, Event, Filing, Gone, Now,
    Policy, Rejection, SessionId, SessionRef, StandingNo, Target, Twin, WorkId, decide, evolve,
};
use crate::error::Error;
use crate::session::{self, Deed as SessionDeed, Session, Standing, Work};
use crate::store::{Change, Key, ReceiptKey, Record, Scope, Subject};
use std::sync::Arc;

pub(super) fn file(world: &mut World, request: &Request, file: &File, now: Now) -> Verdict {
    let asker = world.session(file.asker.session)?;
    let asker = asker.expect("a credential's session exists");
    let work = match asker.may(SessionDeed::Act).and_then(|()| asker.work(file.work)) {
        Ok(work) => world.work(work)?.expect("a session's works exist"),
        Err(denied) => return Ok((None, Err(denied.into()))),
    };
    if !work.may_ask {
        return Ok((None, Err(session::Denied::MayNotAsk.into())));
    }
    // Its id begins with the time of its filing: lists go by ids, and are filtered by that time.
    let id = filed_at(file.id, now);
    if !file.violations().is_empty() {
        return Ok((None, Err(Error::Invalid(file.violations().to_vec()))));
    }
    if let Some(same) = same_once_more(world, file, work.id)? {
        return Ok(found(request, file, same, now));
    }
    let filing = filing(world, id, file, &asker, &work, now)?;
    let again = filing.standing.clone().filter(|no| file.draft.again && no.stands(now));
    let events = match decide(None, &Command::Ask(Box::new(filing)), now) {
        Ok(events) => events,
        Err(rejection) => return Ok((None, Err(Error::of_rejection(rejection, id, None)))),
    };
    let ask = Arc::new(ask::fold(&events).expect("filing makes an ask"));
    let mut change = Change::default();
    if ask.is_open() {
        let opened = session::decide(&asker, &session::Command::Open { ask: id }, now);
        match opened {
            Ok(opened) => change.writes.extend(opened.map(|s| Record::Session(Arc::new(s)))),
            Err(denied) => return Ok((None, Err(denied.into()))),
        }
    }
    keep_twin(world, &mut change, &ask)?;
    change.writes.extend(again.map(|no| Record::StandingNo(Arc::new(no.asked_again()))));
    change.events.extend(events.into_iter().map(|event| (id, event)));
    change.writes.push(Record::Ask(ask.clone()));
    let subject = Subject::Ask(id);
    keep_receipt(&mut change, request.intent.as_ref(), subject, false, now);
    let done = Done { subject: Some(subject), ask: Some(ask), ..Done::default() };
    Ok((Some(change), Ok(done)))
}

/// How surely a person's word must be theirs: what the draft demands, or its route, whichever is more.
fn demand(file: &File) -> Option<Assurance> {
    file.draft.assurance.max(file.plan.assurance())
}

/// Rule 13: the ask that this work filed with the same content, while it is open or on its way.
/// Asked again on purpose, only an open one is the same.
fn same_once_more(
    world: &mut World,
    file: &File,
    work: WorkId,
) -> Result<Option<Arc<Ask>>, Missing> {
    let (digest, demand) = (file.asked().digest, demand(file));
    let Some(twin) = world.twin((work, digest))? else { return Ok(None) };
    let ask = world.ask(twin.ask)?;
    Ok(ask.filter(|ask| {
        // One that less is demanded of may be answered by whom this one is not to be.
        let same = ask.digest == digest && ask.is_same_once_more() && ask.assurance >= demand;
        same && (ask.is_open() || !file.draft.again)
    }))
}

/// The ask that is there already, with a receipt of this request's own.
fn found(
    request: &Request,
    file: &File,
    ask: Arc<Ask>,
    now: Now,
) -> (Option<Change>, super::request::Reply) {
    let subject = Subject::Ask(ask.id);
    let mut change = Change::default();
    keep_receipt(&mut change, request.intent.as_ref(), subject, false, now);
    let differs = file.draft.differs(&ask);
    let done = Done { subject: Some(subject), replayed: true, differs, ..Done::default() };
    (Some(change), Ok(Done { ask: Some(ask), ..done }))
}

fn filing(
    world: &mut World,
    id: AskId,
    file: &File,
    asker: &Session,
    work: &Work,
    now: Now,
) -> Result<Filing, Missing> {
    let standing = standing_no(world, work.tree, file.asked())?;
    let standing = standing.as_deref().cloned();
    let asked_again = file.draft.again && standing.as_ref().is_some_and(|no| no.stands(now));
    let route = file.plan.route(&work.chain);
    let route = if asked_again { route.of_people() } else { route };
    let route = on_roster::with_people_of(world, route, &asker.namespace)?;
    let demand = demand(file);
    let idle = idle_hops(world, &route, None, demand, (&file.asker, work.id))?;
    let tree = world.count(Scope::Tree(work.tree));
    let namespace = world.count(Scope::Open(asker.namespace.clone()));
    let crowd = Crowd { tree: tree?, namespace: namespace? };
    let crowd = known_of(world, crowd, &file.asker)?;
    Ok(Filing {
        id,
        namespace: asker.namespace.clone(),
        draft: file.draft.clone(),
        asker: file.asker.clone(),
        host: asker.host.clone(),
        work: work.id,
        tree: work.tree,
        chain: work.chain.clone(),
        route,
        idle,
        policy: world.policy,
        crowd,
        standing,
        assurance: demand,
    })
}

/// A person's no to what is asked, however it was spelled; where there is none, one that askway 0.1 wrote,
/// which is found by its spelling.
fn standing_no(
    world: &mut World,
    tree: WorkId,
    asked: Asked,
) -> Result<Option<Arc<StandingNo>>, Missing> {
    foresee_no(world, tree, asked);
    match world.standing((tree, asked.gist))? {
        Some(no) => Ok(Some(no)),
        None => world.standing((tree, asked.digest)),
    }
}

/// What a refusal may list: of the asks that fill a tree or a namespace those that the asker may
/// know of (rule 15).
fn known_of(world: &mut World, mut crowd: Crowd, asker: &SessionRef) -> Result<Crowd, Missing> {
    let Policy { open_in_tree, open_in_namespace, .. } = world.policy;
    for (full, (count, ids)) in
        [(open_in_tree, &mut crowd.tree), (open_in_namespace, &mut crowd.namespace)]
    {
        if *count < full {
            ids.clear();
        }
        let mut known = Vec::new();
        for id in std::mem::take(ids) {
            known.extend(world.ask(id)?.filter(|ask| ask.is_visible_to(asker)).map(|ask| ask.id));
        }
        *ids = known;
    }
    Ok(crowd)
}

fn filed_at(id: AskId, now: Now) -> AskId {
    let [.., a, b, c, d, e, f] = id.to_bytes();
    AskId::new(now.time, [a, b, c, d, e, f])
}

/// The work's record of its ask with this content: whatever it was before, it is `ask` now.
fn keep_twin(world: &mut World, change: &mut Change, ask: &Ask) -> Result<(), Missing> {
    let before = world.twin((ask.work, ask.digest))?;
    let revision = before.map_or(0, |twin| twin.revision) + 1;
    let twin = Twin { work: ask.work, digest: ask.digest, ask: ask.id, revision };
    change.writes.push(Record::Twin(Arc::new(twin)));
    Ok(())
}

/// The record of what `ask` asked before its content was changed, where it is the ask's.
fn forget_twin(world: &mut World, change: &mut Change, ask: &Ask) -> Result<(), Missing> {
    let twin = (ask.work, ask.digest);
    if world.twin(twin)?.is_some_and(|twin| twin.ask == ask.id) {
        change.removes.push(Key::Twin(twin));
    }
    Ok(())
}

pub(super) fn gone(
    world: &mut World,
    request: &Request,
    ask: AskId,
    session: SessionId,
    now: Now,
) -> Verdict {
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

/// Time has passed for an ask: whatever is due, or its end.
pub(super) fn tick(world: &mut World, request: &Request, id: AskId, now: Now) -> Verdict {
    match world.ask(id)? {
        Some(ask) if ask.is_past_retention(now) => purge(world, &ask),
        _ => on_ask(world, request, id, &Command::Tick { idle: vec![], standing: None }, now),
    }
}

/// The ask goes, with what is kept of it elsewhere; its receipts go when they are found to be its.
fn purge(world: &mut World, ask: &Ask) -> Verdict {
    let mut change = Change { removes: vec![Key::Ask(ask.id)], ..Change::default() };
    forget_twin(world, &mut change, ask)?;
    if StandingNo::may_be_of(ask) {
        let asked = ask.what_is_asked();
        foresee_no(world, ask.tree, asked);
        for no in [(ask.tree, asked.gist), (ask.tree, asked.digest)] {
            if world.standing(no)?.is_some_and(|no| no.ask == ask.id) {
                change.removes.push(Key::StandingNo(no));
            }
        }
    }
    Ok((Some(change), Ok(Done::default())))
}

/// A receipt goes after its time, and not before its ask (rule 7).
pub(super) fn forget(world: &mut World, key: &ReceiptKey, now: Now) -> Verdict {
    let done = Ok(Done::default());
    let Some(receipt) = world.receipt(key.clone())? else { return Ok((None, done)) };
    let kept_for_ask = match receipt.subject {
        Subject::Ask(ask) => world.ask(ask)?.is_some(),
        Subject::Session(..)
        | Subject::Work(_)
        | Subject::Ticket(..)
        | Subject::Token(_)
        | Subject::Roster => false,
    };
    if kept_for_ask || key.request.remembered_until(receipt.time) > now.time {
        return Ok((None, done));
    }
    Ok((Some(Change { removes: vec![Key::Receipt(key.clone())], ..Change::default() }), done))
}

/// Any command on an ask that exists.
pub(super) fn on_ask(
    world: &mut World,
    request: &Request,
    id: AskId,
    command: &Command,
    now: Now,
) -> Verdict {
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
    let mut change = Change::default();
    let ask = folding.ask.clone();
    if !folding.events.is_empty() {
        if before.is_open() && !ask.is_open() {
            settle(world, request, &mut change, &ask, now)?;
        }
        if before.digest != ask.digest {
            forget_twin(world, &mut change, &before)?;
            keep_twin(world, &mut change, &ask)?;
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
        let ask = &self.ask;
        if ask.is_open() {
            if let Some(idle) = command.idle_hops() {
                let waiting = match ask.waiting_on() {
                    Some(Target::Session(session)) => Some(session.session),
                    Some(Target::People { .. }) | None => None,
                };
                let whose = (&ask.asker, ask.work);
                *idle = idle_hops(world, &ask.route, waiting, ask.assurance, whose)?;
            }
            if let Some((asked, standing)) = command.standing(ask) {
                *standing = standing_no(world, ask.tree, asked)?.as_deref().cloned();
            }
        }
        match decide(Some(ask), &command, now) {
            Ok(events) => {
                for event in events {
                    self.ask = Arc::new(evolve(Some((*self.ask).clone()), &event));
                    self.events.push(event);
                }
                Ok(Ok(false))
            }
            Err(Rejection::Closed) => Ok(Ok(true)),
            Err(rejection) => Ok(Err(Error::of_rejection(rejection, ask.id, Some(ask)))),
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

/// A settled ask counts no longer against its asker; a person's end of it binds, or lifts what
/// bound.
fn settle(
    world: &mut World,
    request: &Request,
    change: &mut Change,
    ask: &Ask,
    now: Now,
) -> Result<(), Missing> {
    if let Some(asker) = world.session(ask.asker.session)? {
        let command = session::Command::Settle { ask: ask.id };
        if let Ok(Some(asker)) = session::decide(&asker, &command, now) {
            change.writes.push(Record::Session(Arc::new(asker)));
        }
    }
    let outcome = ask.outcome().expect("a settled ask has an outcome");
    let decides = matches!(outcome.ending, Ending::Answered(_) | Ending::Declined);
    if decides && matches!(outcome.by, Actor::Person(_)) {
        let asked = request.asked_by(ask);
        let before = standing_no(world, ask.tree, asked)?;
        let after = StandingNo::after(ask, asked, before.as_deref());
        change.writes.extend(after.map(|no| Record::StandingNo(Arc::new(no))));
    }
    Ok(())
}
