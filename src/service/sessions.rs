//! Sessions and the work they are sent.

use super::asks::session_of;
use super::authorize::{Call, authorize, authorize_on_session, lists};
use super::reads::PAGE_MAX;
use super::stream::{Found, Look, Watch};
use super::{Caller, Hold, Service, intent, new_secret};
use crate::ask::{AgentName, Namespace, RequestId, SessionId, Timestamp, WorkId};
use crate::engine::hub::Topic;
use crate::engine::request::{Deed, Done, Enroll, Enroller, Intent, Request, SendWork};
use crate::error::{Error, Reason};
use crate::session::may_be_called;
use crate::session::{self, Command, Denied, Kind, Manner, Principal, Secret, Session, WorkManner};
use crate::store::{SessionScope, Subject};
use std::sync::Arc;

/// A token and its holder's secret.
pub type Secrets = (Secret, Secret);

/// What SendWork gives.
#[derive(Debug)]
pub struct Sent {
    /// The id the work will have.
    pub work: WorkId,
    /// The ticket; none once it was redeemed.
    pub ticket: Option<Secret>,
    /// Until when it may be.
    pub expire_time: Timestamp,
    /// Whether this repeats an earlier call.
    pub replayed: bool,
}

/// What Enroll gives.
#[derive(Debug)]
pub struct Enrolled {
    /// The session.
    pub session: Arc<Session>,
    /// Its first work.
    pub work: WorkId,
    /// Its token and its holder's secret; none in a repeat after their first use.
    pub secrets: Option<Secrets>,
    /// Whether this repeats an earlier call.
    pub replayed: bool,
}

/// What AcceptWork gives.
#[derive(Debug)]
pub struct Accepted {
    /// The work.
    pub work: WorkId,
    /// Whether this repeats an earlier call.
    pub replayed: bool,
}

/// What ResumeSession gives.
#[derive(Debug)]
pub struct Resumed {
    /// The session.
    pub session: Arc<Session>,
    /// Its new token and its new holder's secret; none in a repeat after their first use.
    pub secrets: Option<Secrets>,
    /// Whether this repeats an earlier call.
    pub replayed: bool,
}

/// What PauseSession and EndSession give.
#[derive(Debug)]
pub struct Changed {
    /// The session.
    pub session: Arc<Session>,
    /// Whether this repeats an earlier call.
    pub replayed: bool,
}

impl Service {
    /// A session sends work from `from`, or its latest: mints the ticket that its new holder redeems.
    ///
    /// # Errors
    ///
    /// As every call.
    pub async fn send_work(
        &self,
        caller: &Caller,
        request: RequestId,
        from: Option<WorkId>,
        manner: WorkManner,
    ) -> Result<Sent, Error> {
        authorize(caller, Call::SendWork, None)?;
        let intent = caller.intent(request, Call::SendWork, &(from, manner));
        let (ticket, work) = (new_secret(Kind::Ticket), self.fresh(WorkId::new));
        let sender = session_of(caller);
        let send = SendWork { sender, from, manner, ticket: ticket.hash(), work };
        let done = self.submit(intent, Deed::SendWork(send)).await?;
        let Some(Subject::Ticket(_, work)) = done.subject else {
            return Err(Error::Internal("a ticket's receipt names something else".into()));
        };
        Ok(Sent {
            work,
            ticket: done.minted.then_some(ticket),
            expire_time: done.expire_time.unwrap_or_default(),
            replayed: done.replayed,
        })
    }

    /// Makes a session: a host a root session, a ticket a child of its sender. `caller` may be none
    /// where the ticket speaks for the call.
    ///
    /// # Errors
    ///
    /// As every call.
    pub async fn enroll(
        &self,
        caller: Option<&Caller>,
        request: RequestId,
        agent: AgentName,
        manner: Manner,
        ticket: Option<Secret>,
    ) -> Result<Enrolled, Error> {
        let (intent, by) = match (ticket, caller) {
            (Some(ticket), _) => {
                let hash = self.a_ticket(&ticket)?;
                let caller = format!("ticket {}", String::from(hash));
                let payload = (&agent, manner);
                (intent(caller, request, Call::Enroll, &payload), Enroller::Ticket(hash))
            }
            (None, Some(caller)) => {
                authorize(caller, Call::Enroll, None)?;
                let Principal::Host(host) = &caller.principal else {
                    unreachable!("only a host is authorized here");
                };
                let namespace: Namespace = caller.namespace.clone();
                let by = Enroller::Host(host.clone(), namespace, self.fresh(WorkId::new));
                (caller.intent(request, Call::Enroll, &(&agent, manner)), by)
            }
            (None, None) => {
                let message = "a host's token or a ticket is needed".into();
                return Err(Error::Unauthenticated(Reason::NoCredential, message));
            }
        };
        may_be_called(&agent).map_err(|violation| Error::Invalid(vec![violation]))?;
        let (token, hold) = (new_secret(Kind::Session), new_secret(Kind::Hold));
        let secrets = (token.hash(), hold.hash());
        let enroll = Enroll { id: self.fresh(SessionId::new), agent, by, manner, secrets };
        let done = self.submit(intent, Deed::Enroll(Box::new(enroll))).await?;
        let session = session_in(&done)?;
        let work = *session.works.first().ok_or_else(|| {
            Error::Internal(format!("session {} was enrolled without work", session.id))
        })?;
        let secrets = done.minted.then_some((token, hold));
        Ok(Enrolled { session, work, secrets, replayed: done.replayed })
    }

    /// The calling session takes up the work of a ticket.
    ///
    /// # Errors
    ///
    /// As every call.
    pub async fn accept_work(
        &self,
        caller: &Caller,
        request: RequestId,
        ticket: Secret,
    ) -> Result<Accepted, Error> {
        authorize(caller, Call::AcceptWork, None)?;
        let hash = self.a_ticket(&ticket)?;
        let intent = caller.intent(request, Call::AcceptWork, &hash);
        let deed = Deed::AcceptWork(session_of(caller).session, hash);
        let done = self.submit(intent, deed).await?;
        let Some(Subject::Work(work)) = done.subject else {
            return Err(Error::Internal("a work's receipt names something else".into()));
        };
        Ok(Accepted { work, replayed: done.replayed })
    }

    /// Holds the calling session while the guard lives.
    ///
    /// # Errors
    ///
    /// Denied, for another's secret; a precondition, where somebody paused or ended the session.
    pub async fn hold(
        &self,
        caller: &Caller,
        secret: Secret,
    ) -> Result<(Arc<Session>, Hold), Error> {
        let id = holding(caller)?;
        let held = self.engine.hold(id, secret.hash()).await;
        held.map_err(precondition)
    }

    /// The same as a stream: it ends when somebody pauses or ends the session.
    ///
    /// # Errors
    ///
    /// As [`hold`](Self::hold); in the stream also stopping and unavailable.
    pub async fn watch_hold(
        &self,
        caller: &Caller,
        secret: Secret,
    ) -> Result<Watch<HoldMessage>, Error> {
        let id = holding(caller)?;
        let subscription = self.subscribe(Topic::Session(id));
        let (session, hold) = self.hold(caller, secret).await?;
        Ok(self.watch(caller, subscription, HoldLook { id, first: Some(session), _hold: hold }))
    }

    /// Stops a session for now; none is the caller.
    ///
    /// # Errors
    ///
    /// As every call.
    pub async fn pause(
        &self,
        caller: &Caller,
        request: RequestId,
        session: Option<SessionId>,
    ) -> Result<Changed, Error> {
        let id = self.on_session(caller, Call::PauseSession, session).await?;
        let intent = caller.intent(request, Call::PauseSession, &id);
        let done = self.submit(intent, Deed::OnSession(id, Command::Pause)).await?;
        Ok(Changed { session: session_in(&done)?, replayed: done.replayed })
    }

    /// Starts a paused session again, with a new token and a new holder's secret.
    ///
    /// # Errors
    ///
    /// As every call.
    pub async fn resume(
        &self,
        caller: &Caller,
        request: RequestId,
        session: SessionId,
    ) -> Result<Resumed, Error> {
        let id = self.on_session(caller, Call::ResumeSession, Some(session)).await?;
        let intent = caller.intent(request, Call::ResumeSession, &id);
        let (token, hold) = (new_secret(Kind::Session), new_secret(Kind::Hold));
        let command = Command::Resume { token: token.hash(), hold: hold.hash() };
        let done = self.submit(intent, Deed::OnSession(id, command)).await?;
        let secrets = done.minted.then_some((token, hold));
        Ok(Resumed { session: session_in(&done)?, secrets, replayed: done.replayed })
    }

    /// Ends a session for good; none is the caller.
    ///
    /// # Errors
    ///
    /// As every call.
    pub async fn end(
        &self,
        caller: &Caller,
        request: RequestId,
        session: Option<SessionId>,
    ) -> Result<Changed, Error> {
        let id = self.on_session(caller, Call::EndSession, session).await?;
        let intent = caller.intent(request, Call::EndSession, &id);
        let command = Command::End { by: caller.principal.clone().into() };
        let done = self.submit(intent, Deed::OnSession(id, command)).await?;
        Ok(Changed { session: session_in(&done)?, replayed: done.replayed })
    }

    /// Lists sessions, oldest first, at most `page` of them, 1 to [`PAGE_MAX`]; and where the next
    /// page begins.
    ///
    /// # Errors
    ///
    /// As every call.
    pub async fn sessions(
        &self,
        caller: &Caller,
        include_ended: bool,
        after: Option<SessionId>,
        page: usize,
    ) -> Result<(Vec<Arc<Session>>, Option<SessionId>), Error> {
        authorize(caller, Call::ListSessions, None)?;
        let scope = match &caller.principal {
            Principal::Session(session) => SessionScope::Family(session.session),
            Principal::Host(_) | Principal::Person(_) => {
                SessionScope::Namespace(caller.namespace.clone())
            }
        };
        let page = page.min(PAGE_MAX);
        let mut sessions = self.engine.store().sessions(&scope, after, page).await?;
        let next = sessions.last().map(|last| last.id).filter(|_| sessions.len() == page);
        sessions.retain(|one| lists(caller, one) && (include_ended || !one.is_ended()));
        Ok((sessions, next))
    }

    /// The session a call is about, where the caller may make it.
    async fn on_session(
        &self,
        caller: &Caller,
        call: Call,
        session: Option<SessionId>,
    ) -> Result<SessionId, Error> {
        authorize(caller, call, None)?;
        let id = match (session, &caller.principal) {
            (Some(id), _) => id,
            (None, Principal::Session(session)) => session.session,
            (None, _) => return Err(Error::invalid("session_id", "must name a session")),
        };
        let session = self.session(id).await?.ok_or_else(|| Error::no_such_session(id))?;
        authorize_on_session(caller, call, &session)?;
        Ok(id)
    }

    fn a_ticket(&self, ticket: &Secret) -> Result<crate::session::SecretHash, Error> {
        if ticket.kind() == Kind::Ticket {
            Ok(ticket.hash())
        } else {
            Err(Denied::BadTicket.into())
        }
    }

    async fn submit(&self, intent: Intent, deed: Deed) -> Result<Done, Error> {
        self.engine.submit(Request::of(intent, deed)).await
    }
}

/// One message of HoldSession.
#[derive(Clone, Debug)]
pub enum HoldMessage {
    /// First: it is held.
    Held(Arc<Session>),
    /// Nothing has happened for a while, or it is not known.
    Idle {
        /// Whether the store is away.
        stale: bool,
    },
}

struct HoldLook {
    id: SessionId,
    first: Option<Arc<Session>>,
    /// When the stream goes, so does the hold.
    _hold: Hold,
}

impl Look for HoldLook {
    type Message = HoldMessage;

    async fn look(&mut self, service: &Service) -> Result<Found<HoldMessage>, Error> {
        if let Some(session) = self.first.take() {
            return Ok(Found::more([HoldMessage::Held(session)]));
        }
        let session = service.session(self.id).await?;
        let session = session.ok_or_else(|| Error::no_such_session(self.id))?;
        if session.is_ended() {
            // As every stream of its token says.
            return Err(Error::session_ended());
        }
        session.may(session::Deed::Act).map_err(|denied| precondition(denied.into()))?;
        Ok(Found::more([]))
    }

    fn idle(&self, stale: bool, _: Option<&HoldMessage>) -> HoldMessage {
        HoldMessage::Idle { stale }
    }
}

/// The session that holds itself.
fn holding(caller: &Caller) -> Result<SessionId, Error> {
    authorize(caller, Call::HoldSession, None)?;
    Ok(session_of(caller).session)
}

/// A stream has no receipt that could say it.
fn precondition(error: Error) -> Error {
    match error {
        Error::Refused(refusal) => Error::Precondition(refusal.reason, refusal.message),
        other => other,
    }
}

fn session_in(done: &Done) -> Result<Arc<Session>, Error> {
    done.session
        .clone()
        .ok_or_else(|| Error::Internal("a deed on a session came back without it".into()))
}
