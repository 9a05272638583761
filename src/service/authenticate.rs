//! Whom a credential stands for. A bad one never falls back to another identity.

use super::{Bearer, Caller, Credential, Service};
use crate::ask::{HostName, Namespace};
use crate::engine::request::{Deed, Request};
use crate::error::{Error, Reason};
use crate::session::{Command, Kind, LOCAL_HOST, Principal, Secret, SecretHash, Token};
use crate::store::{Key, Record};
use std::sync::Arc;

impl Service {
    /// Establishes who calls: the principal of the token, or, without one on the socket, the
    /// daemon's own user as a host.
    ///
    /// # Errors
    ///
    /// Unauthenticated, where there is no credential or a bad one; unavailable.
    pub async fn authenticate(&self, credential: &Credential) -> Result<Caller, Error> {
        let Some(token) = &credential.token else {
            if !credential.local_user {
                let message = "a token is needed: `authorization: Bearer TOKEN`".into();
                return Err(Error::Unauthenticated(Reason::NoCredential, message));
            }
            let host: HostName = LOCAL_HOST.parse().expect("it is a name");
            return Ok(Caller {
                principal: Principal::Host(host),
                namespace: Namespace::default(),
                token: None,
                in_agent: credential.in_agent,
            });
        };
        let secret = Secret::read(token).ok_or_else(|| {
            bad("this is no token, or a part of it is missing or mistyped; copy it whole")
        })?;
        if matches!(secret.kind(), Kind::Ticket | Kind::Hold) {
            return Err(bad("a ticket or a holder's secret is not a token"));
        }
        let token = self.good_token(secret.hash()).await?;
        if let Principal::Session(session) = &token.principal {
            self.current(session.session, token.secret).await?;
        } else if token.issue.is_some() && !token.used {
            self.first_use(token.secret).await?;
        }
        let (principal, namespace) = (token.principal.clone(), token.namespace.clone());
        let in_agent = credential.in_agent;
        let bearer = Bearer {
            secret: token.secret,
            assurance: token.assurance(),
            expire_time: token.expire_time,
        };
        Ok(Caller { principal, namespace, token: Some(bearer), in_agent })
    }

    /// The token of this hash, where it is good now.
    ///
    /// # Errors
    ///
    /// Unauthenticated, with why it is not; unavailable.
    pub(super) async fn good_token(&self, secret: SecretHash) -> Result<Arc<Token>, Error> {
        let Some(Record::Token(token)) = self.load(Key::Token(secret)).await? else {
            return Err(bad("no such token"));
        };
        token.fit(self.engine.now())?;
        Ok(token)
    }

    async fn first_use(&self, secret: SecretHash) -> Result<(), Error> {
        let deed = Deed::UseToken(secret);
        let done = self.engine.submit(Request::own(deed)).await?;
        // A replay may have voided it in between.
        let token = done.token.ok_or_else(|| bad("no such token"))?;
        Ok(token.fit(self.engine.now())?)
    }

    /// A session's token is good while it is the session's current one and the session has not
    /// ended. Its first use is on disk before anything is done with it.
    async fn current(&self, id: crate::ask::SessionId, token: SecretHash) -> Result<(), Error> {
        let session = self.session(id).await?.ok_or_else(|| bad("no such token"))?;
        if session.is_ended() {
            return Err(Error::session_ended());
        }
        if session.token != token {
            return Err(bad("no such token"));
        }
        if session.is_renewed_at(self.engine.now()) {
            let deed = Deed::OnSession(id, Command::Renew);
            self.engine.submit(Request::own(deed)).await?;
        }
        if !session.token_used {
            let deed = Deed::OnSession(id, Command::UseToken { token });
            let done = self.engine.submit(Request::own(deed)).await?;
            // A replay may have voided it in between.
            if done.session.is_none_or(|session| session.token != token) {
                return Err(bad("no such token"));
            }
        }
        Ok(())
    }
}

fn bad(message: &str) -> Error {
    Error::Unauthenticated(Reason::BadCredential, message.to_owned())
}
