//! People and tokens: who is known in a namespace, and what they show for it. A token in the clear is
//! in the reply that made it, and nowhere else.

use super::authorize::{Call, authorize, authorize_on_session};
use super::{Caller, Service, new_secret};
use crate::ask::{Actor, Namespace, PersonName, RequestId, SessionId, Span, Timestamp, TokenId};
use crate::engine::request::{Deed, Done, Issuing, OnRoster, Request};
use crate::error::{Error, Reason};
use crate::session::{Command, Principal, Roster, Secret, Session, Token, issuable};
use crate::store::{Key, Record};
use serde::Serialize;
use std::sync::Arc;

/// What a call about people comes to, or about what was revoked.
#[derive(Debug, Default)]
pub struct Rostered {
    /// Whether this repeats an earlier call.
    pub replayed: bool,
    /// The tokens that were revoked with the one that was named, since it had made them. None in a
    /// repeat.
    pub revoked: Vec<TokenId>,
}

impl From<Done> for Rostered {
    fn from(done: Done) -> Self {
        Self { replayed: done.replayed, revoked: done.revoked }
    }
}

/// What CreateToken gives.
#[derive(Debug)]
pub struct Made {
    /// What is kept of it.
    pub token: Arc<Token>,
    /// The token itself; none in a repeat after its first use.
    pub secret: Option<Secret>,
    /// Whether this repeats an earlier call.
    pub replayed: bool,
}

/// A person of a namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Person {
    /// Their name.
    pub name: PersonName,
    /// Who added them; the timer, where it was the daemon by its configuration.
    pub by: Actor,
    /// When.
    pub time: Timestamp,
}

impl Service {
    /// Makes `secret`, which the daemon keeps in its folder, a credential of `principal` in the
    /// namespace `default`, and a person one of its people; nothing when that was done before.
    /// Whether it is good: one that was revoked, or whose person was removed, is not.
    ///
    /// # Errors
    ///
    /// When the store cannot be written, or there are as many as may be.
    pub async fn install(&self, principal: Principal, secret: &Secret) -> Result<bool, Error> {
        let namespace = Namespace::default();
        let id = Some(self.fresh(TokenId::new));
        let token = Token { id, ..Token::new(secret.hash(), namespace.clone(), principal) };
        let deed = Deed::OnRoster(namespace, Box::new(OnRoster::Install(token)));
        let done = self.engine.submit(Request::own(deed)).await?;
        Ok(done.token.is_some_and(|token| token.fit(self.engine.now()).is_ok()))
    }

    /// Whether there is such a person in `default`, or was none ever: not one who was removed.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    pub async fn is_welcome(&self, person: &PersonName) -> Result<bool, Error> {
        let roster = self.roster(&Namespace::default()).await?;
        let member = roster.as_ref().and_then(|roster| roster.people.get(person));
        Ok(member.is_none_or(|member| !member.removed))
    }

    /// Adds a person; nothing when they are there.
    ///
    /// # Errors
    ///
    /// As every call.
    pub async fn add_person(
        &self,
        caller: &Caller,
        request: RequestId,
        namespace: Option<Namespace>,
        name: PersonName,
    ) -> Result<Rostered, Error> {
        let namespace = whose(caller, Call::AddPerson, namespace)?;
        let deed = OnRoster::Add(name.clone(), caller.principal.clone().into());
        let payload = (&namespace, &name);
        let done = self.on_roster(caller, Call::AddPerson, request, payload, deed).await?;
        Ok(done.into())
    }

    /// Removes a person: their tokens are void, their streams are cut, and what waits on them alone
    /// has moved on when this returns.
    ///
    /// # Errors
    ///
    /// Not found, for whoever is not there; invalid for the owner; otherwise as every call.
    pub async fn remove_person(
        &self,
        caller: &Caller,
        request: RequestId,
        namespace: Option<Namespace>,
        name: PersonName,
    ) -> Result<Rostered, Error> {
        let namespace = whose(caller, Call::RemovePerson, namespace)?;
        let deed = OnRoster::Remove(name.clone(), caller.principal.clone().into());
        let payload = (&namespace, &name);
        let done = self.on_roster(caller, Call::RemovePerson, request, payload, deed).await?;
        self.engine.move_from_removed(&namespace).await?;
        Ok(done.into())
    }

    /// Lists the people of a namespace, by their names.
    ///
    /// # Errors
    ///
    /// As every call.
    pub async fn people(
        &self,
        caller: &Caller,
        namespace: Option<Namespace>,
    ) -> Result<Vec<Person>, Error> {
        let namespace = whose(caller, Call::ListPeople, namespace)?;
        let roster = self.roster(&namespace).await?;
        let members = roster.iter().flat_map(|roster| roster.members());
        let person = |(name, member): (&PersonName, &crate::session::Member)| Person {
            name: name.clone(),
            by: member.by.clone(),
            time: member.time,
        };
        Ok(members.map(person).collect())
    }

    /// Makes a token for a person who is there, or for a host, good for `ttl` or until it is revoked.
    ///
    /// # Errors
    ///
    /// Not found, for a person who is not there; otherwise as every call.
    pub async fn create_token(
        &self,
        caller: &Caller,
        request: RequestId,
        namespace: Option<Namespace>,
        principal: Principal,
        ttl: Option<Span>,
        note: String,
    ) -> Result<Made, Error> {
        let namespace = whose(caller, Call::CreateToken, namespace)?;
        let kind = issuable(&principal, ttl, &note).map_err(Error::Invalid)?;
        let secret = new_secret(kind);
        let payload = (&namespace, &(&principal, ttl, &note));
        let issuing = Issuing {
            id: self.fresh(TokenId::new),
            secret: secret.hash(),
            principal: principal.clone(),
            ttl,
            note: note.clone(),
            by: caller.principal.clone().into(),
            in_agent: caller.in_agent,
        };
        let deed = OnRoster::Issue(issuing);
        let done = self.on_roster(caller, Call::CreateToken, request, payload, deed).await?;
        if let (Some(token), false) = (&done.token, done.replayed) {
            let (id, in_agent) = (token.id.map(tracing::field::display), caller.in_agent);
            let whose =
                Caller { principal, namespace: namespace.clone(), ..caller.clone() }.spelled();
            let by = caller.spelled();
            tracing::info!(id, whose, by, in_agent, "a token was made");
        }
        let token = done.token.ok_or_else(|| {
            Error::NotFound("the token of this request was revoked since".to_owned())
        })?;
        let secret = done.minted.then_some(secret);
        Ok(Made { token, secret, replayed: done.replayed })
    }

    /// Lists the tokens of a namespace that have an id and were not revoked, oldest first; those of
    /// sessions are not among them.
    ///
    /// # Errors
    ///
    /// As every call.
    pub async fn tokens(
        &self,
        caller: &Caller,
        namespace: Option<Namespace>,
    ) -> Result<Vec<Arc<Token>>, Error> {
        let namespace = whose(caller, Call::ListTokens, namespace)?;
        let Some(roster) = self.roster(&namespace).await? else { return Ok(Vec::new()) };
        let keys: Vec<Key> = roster.tokens.values().copied().map(Key::Token).collect();
        let records = self.engine.store().load(&keys).await?;
        let tokens = records.into_iter().flatten().filter_map(|record| match record {
            Record::Token(token) => Some(token),
            _ => None,
        });
        Ok(tokens.collect())
    }

    /// Revokes a token, those that it made, and the sessions that a host enrolled by any of them: no
    /// call by these is served from here on, and their streams are cut.
    ///
    /// # Errors
    ///
    /// Not found, where there is none of this id; otherwise as every call.
    pub async fn revoke_token(
        &self,
        caller: &Caller,
        request: RequestId,
        namespace: Option<Namespace>,
        id: TokenId,
    ) -> Result<Rostered, Error> {
        let namespace = whose(caller, Call::RevokeToken, namespace)?;
        let deed = OnRoster::Revoke(id);
        let payload = (&namespace, &id);
        let done = self.on_roster(caller, Call::RevokeToken, request, payload, deed).await?;
        self.engine.revoke_sessions(&namespace).await?;
        let (by, in_agent) = (caller.spelled(), caller.in_agent);
        tracing::info!(%id, by, in_agent, "a token was revoked");
        Ok(done.into())
    }

    /// Takes away a session's credentials and its tickets, and those of every session below it: they
    /// are paused, their asks stay open, and their host may resume them with new ones, or end them.
    ///
    /// # Errors
    ///
    /// As every call.
    pub async fn revoke_session(
        &self,
        caller: &Caller,
        request: RequestId,
        id: SessionId,
    ) -> Result<(Arc<Session>, Rostered), Error> {
        authorize(caller, Call::RevokeSession, None)?;
        let session = self.session(id).await?.ok_or_else(|| Error::no_such_session(id))?;
        authorize_on_session(caller, Call::RevokeSession, &session)?;
        let intent = caller.intent(request, Call::RevokeSession, &id);
        let deed = Deed::OnSession(id, Command::Revoke);
        let done = self.engine.submit(Request::of(intent, deed)).await?;
        self.engine.revoke_below(id).await?;
        let session = self.session(id).await?.unwrap_or(session);
        let (by, in_agent) = (caller.spelled(), caller.in_agent);
        tracing::info!(%id, by, in_agent, "a session was revoked, and all below it");
        Ok((session, done.into()))
    }

    /// Whether there is the namespace that `caller` names. Who may name none but their own is told of
    /// none by the call itself.
    ///
    /// # Errors
    ///
    /// Not found; unavailable.
    pub async fn knows(&self, caller: &Caller, named: Option<&Namespace>) -> Result<(), Error> {
        let Some(named) = named.filter(|named| **named != caller.namespace) else { return Ok(()) };
        if !caller.is_operator() || self.roster(named).await?.is_some() {
            return Ok(());
        }
        let how = "whoever means to make it says so: --new-namespace";
        Err(Error::NotFound(format!("no namespace {named}; {how}")))
    }

    /// The namespaces beside `default`, for the daemon's own user; nobody else is told of any.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    pub async fn namespaces(&self, caller: &Caller) -> Result<Vec<Namespace>, Error> {
        if !caller.is_operator() {
            return Ok(Vec::new());
        }
        let roster = self.roster(&Namespace::default()).await?;
        Ok(roster.map(|roster| roster.namespaces.iter().cloned().collect()).unwrap_or_default())
    }

    async fn on_roster(
        &self,
        caller: &Caller,
        call: Call,
        request: RequestId,
        (namespace, what): (&Namespace, &impl Serialize),
        deed: OnRoster,
    ) -> Result<Done, Error> {
        let intent = caller.intent(request, call, &(namespace, what));
        let deed = Deed::OnRoster(namespace.clone(), Box::new(deed));
        self.engine.submit(Request::of(intent, deed)).await
    }

    async fn roster(&self, namespace: &Namespace) -> Result<Option<Arc<Roster>>, Error> {
        match self.load(Key::Roster(namespace.clone())).await? {
            Some(Record::Roster(roster)) => Ok(Some(roster)),
            _ => Ok(None),
        }
    }
}

/// Which namespace a call is about: the caller's own, or for the daemon's user any. Nobody else learns
/// whether there is another.
fn whose(caller: &Caller, call: Call, named: Option<Namespace>) -> Result<Namespace, Error> {
    authorize(caller, call, None)?;
    match named {
        Some(named) if named != caller.namespace && !caller.is_operator() => {
            let message = "only the daemon's own user, on its socket, may name another namespace";
            Err(Error::Denied(Reason::WrongPrincipal, message.into()))
        }
        Some(named) => Ok(named),
        None => Ok(caller.namespace.clone()),
    }
}
