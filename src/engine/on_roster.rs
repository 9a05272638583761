//! Deciding what is done to the people and tokens of a namespace. The rules are
//! [`Roster`]'s.

use super::batch::{Verdict, keep_receipt};
use super::request::{Deed, Done, Intent, Issuing, OnRoster};
use super::world::{Missing, World};
use crate::ask::{Actor, Namespace, Now, PersonName, Route, TokenId, limits};
use crate::session::{Issue, Principal, Roster, RosterDenied, SecretHash, Token};
use crate::store::{Change, Record, Subject};
use std::sync::Arc;

pub(super) fn decide(
    world: &mut World,
    intent: Option<&Intent>,
    namespace: &Namespace,
    deed: &OnRoster,
    now: Now,
) -> Verdict {
    let mut change = Change::default();
    let mut subject = Subject::Roster;
    let mut done = Done::default();
    let found = world.roster(namespace.clone())?;
    let roster = found.as_deref().cloned();
    let or_new = |by: &Actor| {
        let fresh = || Roster::new(namespace.clone(), by, now.time);
        roster.clone().unwrap_or_else(fresh)
    };
    let decided = match deed {
        OnRoster::Add(person, by) => or_new(by).add(person, by, now.time),
        OnRoster::Remove(person, by) => {
            remove(world, &mut change, or_new(by), (person, by), now)?.map(Some)
        }
        OnRoster::Swept(person) => Ok(roster.and_then(|roster| roster.swept(person))),
        OnRoster::Issue(issuing) => {
            subject = Subject::Token(issuing.id);
            let roster = without_expired(world, or_new(&issuing.by), now)?;
            let by_token = intent.and_then(|intent| intent.credential);
            let from = by_token.map(|secret| world.token(secret)).transpose()?.flatten();
            let issued = issue(namespace, roster, issuing, from.as_deref(), now);
            issued.map(|(roster, token)| {
                done.token = Some(token.clone());
                done.minted = true;
                change.writes.push(Record::Token(token));
                Some(roster)
            })
        }
        OnRoster::Install(token) => return install(world, or_new(&Actor::Timer), token, now),
        OnRoster::Revoke(id) => match roster.filter(|roster| roster.tokens.contains_key(id)) {
            Some(_) => {
                done.revoked = revoke(world, &mut change, namespace, *id, now)?;
                Ok(None)
            }
            None => Err(RosterDenied::NoToken(*id)),
        },
        OnRoster::SessionsRevoked(id) => Ok(roster.and_then(|roster| roster.sessions_revoked(*id))),
    };
    let roster = match decided {
        Ok(roster) => roster,
        Err(denied) => return Ok((None, Err(denied.into()))),
    };
    // Whoever is the first of a namespace makes it.
    let first = found.is_none() && roster.is_none();
    let roster = if first { new_with_owner(namespace, deed, now) } else { roster };
    if found.is_none()
        && roster.is_some()
        && let Err(denied) = note_namespace(world, &mut change, namespace, now)?
    {
        return Ok((None, Err(denied.into())));
    }
    change.writes.extend(roster.map(|roster| Record::Roster(Arc::new(roster))));
    keep_receipt(&mut change, intent, subject, false, now);
    done.subject = Some(subject);
    Ok(((!change.writes.is_empty()).then_some(change), Ok(done)))
}

/// Without a person, whose tokens are void with it.
fn remove(
    world: &mut World,
    change: &mut Change,
    roster: Roster,
    (person, by): (&PersonName, &Actor),
    now: Now,
) -> Result<Result<Roster, RosterDenied>, Missing> {
    let without = match roster.remove(person, by, now.time) {
        Ok(without) => without,
        Err(denied) => return Ok(Err(denied)),
    };
    let revoked = void_tokens_of(world, change, &without, person, now)?;
    Ok(Ok(if revoked.is_empty() { without } else { forget(&without, &revoked) }))
}

/// Revokes a token and, since whoever stole it may have made others, all that it made, and these. By a
/// token of the daemon's own user they may be of any namespace. Gives those beside the first.
fn revoke(
    world: &mut World,
    change: &mut Change,
    namespace: &Namespace,
    first: TokenId,
    now: Now,
) -> Result<Vec<TokenId>, Missing> {
    let mut rosters = vec![world.roster(namespace.clone())?.expect("a token is listed in it")];
    if *namespace == Namespace::default() {
        for other in rosters[0].namespaces.clone() {
            rosters.extend(world.roster(other)?);
        }
    }
    let mut tokens = Vec::new();
    for (place, roster) in rosters.iter().enumerate() {
        for (id, secret) in &roster.tokens {
            tokens.extend(world.token(*secret)?.map(|token| (place, *id, token)));
        }
    }
    let mut all = vec![first];
    let mut looked_at = 0;
    while let Some(maker) = all.get(looked_at).copied() {
        let made = |(_, id, token): &&(usize, TokenId, Arc<Token>)| {
            let from = token.issue.as_ref().and_then(|issue| issue.from);
            from == Some(maker) && !all.contains(id)
        };
        let made: Vec<TokenId> = tokens.iter().filter(made).map(|(_, id, _)| *id).collect();
        all.extend(made);
        looked_at += 1;
    }
    tokens.retain(|(_, id, _)| all.contains(id));
    for (place, roster) in rosters.iter().enumerate() {
        let here = tokens.iter().filter(|(at, ..)| *at == place);
        let mut here = here.map(|(_, id, token)| (*id, &token.principal)).peekable();
        if here.peek().is_some() {
            change.writes.push(Record::Roster(Arc::new(roster.revoking(here))));
        }
    }
    let revoked = |(_, _, token): &(usize, TokenId, Arc<Token>)| token.revoked(now.time);
    change.writes.extend(tokens.iter().map(|token| Record::Token(Arc::new(revoked(token)))));
    Ok(all.split_off(1))
}

/// `owner` is added by being the first who is: then that alone is what makes the namespace.
fn new_with_owner(namespace: &Namespace, deed: &OnRoster, now: Now) -> Option<Roster> {
    let OnRoster::Add(_, by) = deed else { return None };
    Some(Roster { revision: 1, ..Roster::new(namespace.clone(), by, now.time) })
}

/// Takes a new namespace into the list that `default` keeps.
fn note_namespace(
    world: &mut World,
    change: &mut Change,
    namespace: &Namespace,
    now: Now,
) -> Result<Result<(), RosterDenied>, Missing> {
    if *namespace == Namespace::default() {
        return Ok(Ok(()));
    }
    let known = world.roster(Namespace::default())?;
    let fresh = || Roster::new(Namespace::default(), &Actor::Timer, now.time);
    Ok(known.as_deref().cloned().unwrap_or_else(fresh).with_namespace(namespace).map(|with| {
        change.writes.extend(with.map(|roster| Record::Roster(Arc::new(roster))));
    }))
}

/// The token that is made, by the token `from` where that is how the maker came: it ends with that at
/// the latest.
fn issue(
    namespace: &Namespace,
    roster: Roster,
    issuing: &Issuing,
    from: Option<&Token>,
    now: Now,
) -> Result<(Roster, Arc<Token>), RosterDenied> {
    let (note, by, in_agent) = (issuing.note.clone(), issuing.by.clone(), issuing.in_agent);
    let wanted = issuing.ttl.map(|ttl| now.time + ttl);
    let ends = wanted.into_iter().chain(from.and_then(|from| from.expire_time));
    let from = from.and_then(|from| from.id);
    let token = Token {
        id: Some(issuing.id),
        issue: Some(Issue { note, by, time: now.time, from, in_agent }),
        expire_time: ends.min(),
        ..Token::new(issuing.secret, namespace.clone(), issuing.principal.clone())
    };
    Ok((roster.with_token(issuing.id, &token)?, Arc::new(token)))
}

/// Where the list is full, those whose time is over make room.
fn without_expired(world: &mut World, roster: Roster, now: Now) -> Result<Roster, Missing> {
    if roster.tokens.len() < limits::TOKENS {
        return Ok(roster);
    }
    let mut over = Vec::new();
    for (id, secret) in &roster.tokens {
        let token = world.token(*secret)?;
        over.extend(token.is_none_or(|token| token.fit(now.time).is_err()).then_some(*id));
    }
    Ok(if over.is_empty() { roster } else { forget(&roster, &over) })
}

/// Within one change the record is written once, so it grows by one revision only.
fn forget(roster: &Roster, ids: &[TokenId]) -> Roster {
    Roster { revision: roster.revision, ..roster.without_tokens(ids) }
}

fn void_tokens_of(
    world: &mut World,
    change: &mut Change,
    roster: &Roster,
    person: &PersonName,
    now: Now,
) -> Result<Vec<TokenId>, Missing> {
    let mut revoked = Vec::new();
    for (id, secret) in &roster.tokens {
        let Some(token) = world.token(*secret)? else { continue };
        if token.principal == Principal::Person(person.clone()) {
            change.writes.push(Record::Token(Arc::new(token.revoked(now.time))));
            revoked.push(*id);
        }
    }
    Ok(revoked)
}

/// A token of the folder's is known, with the person it is for; one that was removed stays so, and
/// one that was revoked is not good again. The token as it is kept tells.
fn install(world: &mut World, roster: Roster, token: &Token, now: Now) -> Verdict {
    let mut change = Change::default();
    let known = world.token(token.secret)?;
    let mut done = Done { token: known.clone(), ..Done::default() };
    let mut next = roster.clone();
    if let Principal::Person(person) = &token.principal
        && !next.people.contains_key(person)
    {
        match next.add(person, &Actor::Timer, now.time) {
            Ok(with) => next = with.unwrap_or(next),
            Err(denied) => return Ok((None, Err(denied.into()))),
        }
    }
    let welcome = match &token.principal {
        Principal::Person(person) => next.has(person),
        Principal::Session(_) | Principal::Host(_) => true,
    };
    let kept = match known {
        // One that an earlier askway installed has no id yet.
        Some(known) if known.id.is_none() && !known.void && welcome => {
            let revision = known.revision + 1;
            Some(Token { id: token.id, revision, ..(*known).clone() })
        }
        Some(_) => None,
        None if welcome => Some(token.clone()),
        None => Some(token.revoked(now.time)),
    };
    if let Some(kept) = kept {
        if let (Some(id), false) = (kept.id, kept.void) {
            match next.with_token(id, &kept) {
                Ok(with) => next = with,
                Err(denied) => return Ok((None, Err(denied.into()))),
            }
        }
        let kept = Arc::new(kept);
        done.token = Some(kept.clone());
        change.writes.push(Record::Token(kept));
    }
    if next != roster || roster.revision == 0 {
        let next = Roster { revision: roster.revision + 1, ..next };
        if roster.revision == 0
            && let Err(denied) = note_namespace(world, &mut change, &next.namespace, now)?
        {
            return Ok((None, Err(denied.into())));
        }
        change.writes.push(Record::Roster(Arc::new(next)));
    }
    Ok(((!change.writes.is_empty()).then_some(change), Ok(done)))
}

/// The route, with those alone who are there: in `default` everybody whom the configuration names, but
/// those who were removed; elsewhere those who were added.
pub(super) fn with_people_of(
    world: &mut World,
    route: Route,
    namespace: &Namespace,
) -> Result<Route, Missing> {
    let roster = world.roster(namespace.clone())?;
    let is_main = *namespace == Namespace::default();
    Ok(route.with_people(|person| match roster.as_ref().and_then(|r| r.people.get(person)) {
        Some(member) => !member.removed,
        None => is_main || *person == PersonName::owner(),
    }))
}

/// The first use of a token that was made: from here on no replay mints another.
pub(super) fn use_token(world: &mut World, secret: SecretHash) -> Verdict {
    let token = world.token(secret)?;
    let done = Done { token: token.clone(), ..Done::default() };
    let Some(token) = token.filter(|token| !token.used && !token.void) else {
        return Ok((None, Ok(done)));
    };
    let revision = token.revision + 1;
    let used = Arc::new(Token { used: true, revision, ..(*token).clone() });
    let change = Change { writes: vec![Record::Token(used.clone())], ..Change::default() };
    Ok((Some(change), Ok(Done { token: Some(used), ..done })))
}

/// A replay of what made a token makes another in its place, while the first is unused.
pub(super) fn replay(world: &mut World, deed: &Deed, subject: Subject, mut done: Done) -> Verdict {
    let (Subject::Token(id), Deed::OnRoster(namespace, deed)) = (subject, deed) else {
        return Ok((None, Ok(done)));
    };
    let OnRoster::Issue(issuing) = &**deed else { return Ok((None, Ok(done))) };
    let roster = world.roster(namespace.clone())?.expect("a token's roster is kept");
    let Some(secret) = roster.tokens.get(&id) else { return Ok((None, Ok(done))) };
    let token = world.token(*secret)?.expect("a listed token is kept");
    done.token = Some(token.clone());
    if token.used || token.void {
        return Ok((None, Ok(done)));
    }
    let fresh = Arc::new(Token { secret: issuing.secret, revision: 1, ..(*token).clone() });
    let void = Token { void: true, revision: token.revision + 1, ..(*token).clone() };
    let mut next = Roster { revision: roster.revision + 1, ..(*roster).clone() };
    next.tokens.insert(id, fresh.secret);
    let mut change = Change::default();
    change.writes.push(Record::Token(Arc::new(void)));
    change.writes.push(Record::Token(fresh.clone()));
    change.writes.push(Record::Roster(Arc::new(next)));
    (done.token, done.minted) = (Some(fresh), true);
    Ok((Some(change), Ok(done)))
}
