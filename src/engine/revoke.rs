//! What follows from a revocation beyond its own commit: the sessions below a revoked one are revoked,
//! and those that a host enrolled by a token that is revoked, the asks that would have reached a removed person are told. Both are done before the caller has
//! its reply; the records say that they are under way, so the sweep finishes them after a crash.

use super::Engine;
use super::request::{Deed, OnRoster};
use crate::ask::{Command, HostName, Namespace, PersonName, SessionId, TokenId};
use crate::error::Error;
use crate::session::{self, Roster, Session};
use crate::store::share::bucket_of_name;
use crate::store::{Key, Record, Scope, SessionScope};
use futures_util::future::join_all;
use std::sync::Arc;

/// Sessions or asks read at once.
const AT_ONCE: usize = 256;

impl Engine {
    /// Revokes every session below `head`, which is revoked: from the top down, so that nothing can be
    /// enrolled by a ticket of one that has been passed. Nothing where that was done.
    ///
    /// # Errors
    ///
    /// As every request.
    pub async fn revoke_below(&self, head: SessionId) -> Result<(), Error> {
        let _step = self.shared.revoking.lock().await;
        let mut left = vec![head];
        while let Some(id) = left.pop() {
            let session = match self.store().load(&[Key::Session(id)]).await?.pop().flatten() {
                Some(Record::Session(session)) => session,
                _ => continue,
            };
            if !session.revokes {
                continue;
            }
            let mut after = None;
            loop {
                let family = SessionScope::Family(id);
                let some = self.store().sessions(&family, after, AT_ONCE).await?;
                let Some(last) = some.last() else { break };
                after = Some(last.id);
                for below in some.iter().filter(|below| below.id != id) {
                    let revoke = session::Command::Revoke;
                    self.submit_own(Deed::OnSession(below.id, revoke)).await?;
                    left.push(below.id);
                }
            }
            let done = session::Command::RevokedBelow;
            self.submit_own(Deed::OnSession(id, done)).await?;
        }
        Ok(())
    }

    /// Tells every open ask that would reach a removed person of `namespace` that they are gone: those
    /// that wait on them alone move on.
    ///
    /// # Errors
    ///
    /// As every request.
    pub async fn move_from_removed(&self, namespace: &Namespace) -> Result<(), Error> {
        let _step = self.shared.revoking.lock().await;
        let Some(roster) = self.roster(namespace).await? else { return Ok(()) };
        for person in roster.to_sweep() {
            self.tell_asks(namespace, person).await?;
            let swept = OnRoster::Swept(person.clone());
            self.submit_own(Deed::OnRoster(namespace.clone(), Box::new(swept))).await?;
        }
        Ok(())
    }

    async fn tell_asks(&self, namespace: &Namespace, person: &PersonName) -> Result<(), Error> {
        let (scope, mut after) = (Scope::Open(namespace.clone()), None);
        loop {
            let asks = self.store().list(&scope, after, AT_ONCE).await?.asks;
            let Some((last, _)) = asks.last() else { return Ok(()) };
            after = Some(*last);
            let told = asks.iter().map(|(ask, _)| {
                let gone = Command::PersonGone { person: person.clone(), idle: Vec::new() };
                self.submit_own(Deed::OnAsk(*ask, Box::new(gone)))
            });
            for reply in join_all(told).await {
                // What was purged since it was listed waits on nobody.
                if !matches!(reply, Err(Error::NotFound(_))) {
                    reply?;
                }
            }
        }
    }

    /// Revokes every session whose credentials came to be by a host's token that is revoked, in
    /// `namespace`, and in all where that is `default`: the daemon's own user makes tokens in any.
    ///
    /// # Errors
    ///
    /// As every request.
    pub async fn revoke_sessions(&self, namespace: &Namespace) -> Result<(), Error> {
        for namespace in self.reached_from(namespace).await? {
            self.revoke_sessions_of(&namespace).await?;
        }
        Ok(())
    }

    /// The same in this namespace alone.
    async fn revoke_sessions_of(&self, namespace: &Namespace) -> Result<(), Error> {
        let Some(roster) = self.roster(namespace).await? else { return Ok(()) };
        for (token, host) in &roster.revoked_hosts {
            self.revoke_made_by(namespace, *token, host).await?;
            let done = OnRoster::SessionsRevoked(*token);
            self.submit_own(Deed::OnRoster(namespace.clone(), Box::new(done))).await?;
        }
        Ok(())
    }

    async fn revoke_made_by(
        &self,
        namespace: &Namespace,
        token: TokenId,
        host: &HostName,
    ) -> Result<(), Error> {
        let (scope, mut after) = (SessionScope::Namespace(namespace.clone()), None);
        loop {
            let some = self.store().sessions(&scope, after, AT_ONCE).await?;
            let Some(last) = some.last() else { return Ok(()) };
            after = Some(last.id);
            let made = |s: &&Arc<Session>| s.host == *host && s.maker == Some(token);
            for session in some.iter().filter(made) {
                // One that has ended has no credential left, and its children are listed, too.
                if !session.is_ended() {
                    let revoke = session::Command::Revoke;
                    self.submit_own(Deed::OnSession(session.id, revoke)).await?;
                }
                self.revoke_below(session.id).await?;
            }
        }
    }

    async fn roster(&self, namespace: &Namespace) -> Result<Option<Arc<Roster>>, Error> {
        let key = Key::Roster(namespace.clone());
        match self.store().load(&[key]).await?.pop().flatten() {
            Some(Record::Roster(roster)) => Ok(Some(roster)),
            _ => Ok(None),
        }
    }

    /// The namespaces in which something may follow from what is done in this one.
    async fn reached_from(&self, namespace: &Namespace) -> Result<Vec<Namespace>, Error> {
        let mut all = vec![namespace.clone()];
        if *namespace == Namespace::default()
            && let Some(roster) = self.roster(namespace).await?
        {
            all.extend(roster.namespaces.iter().cloned());
        }
        Ok(all)
    }

    /// Finishes what an earlier run of the daemon began, or another who shares the store: in the namespaces
    /// that are this one's to look after.
    pub(super) async fn finish_removals(&self) -> Result<(), Error> {
        let share = self.shared.shares.due();
        let mut all = self.reached_from(&Namespace::default()).await?;
        all.retain(|namespace| share.has(bucket_of_name(namespace.as_str())));
        for namespace in all {
            self.move_from_removed(&namespace).await?;
            self.revoke_sessions_of(&namespace).await?;
        }
        Ok(())
    }
}
