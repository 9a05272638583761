//! SessionService, as [`asks`](super::asks) is AskService.

use super::convert;
use super::read::Fields;
use super::sent::{Elsewhere, streamed};
use super::server::{AUTHORIZATION, Api, Reply, reply};
use super::status::status;
use super::v1::{self, session_service_server::SessionService};
use crate::error::Error;
use crate::service::{Changed, HoldMessage};
use crate::session::{Kind, Manner, WorkManner};
use tokio_stream::StreamExt;
use tonic::{Request, Status, async_trait};

#[async_trait]
impl SessionService for Api {
    async fn send_work(
        &self,
        request: Request<v1::SendWorkRequest>,
    ) -> Reply<v1::SendWorkResponse> {
        let (caller, request) = self.enter(request).await?;
        let mut fields = Fields::default();
        let id = fields.request_id(&request.request_id);
        let from = fields.optional("from_work_id", &request.from_work_id);
        let (id, from) = fields.done(id.zip(from))?;
        let manner = WorkManner { blocking: request.blocking, may_ask: !request.no_asks };
        match self.service.send_work(&caller, id, from, manner).await {
            Ok(sent) => reply(v1::SendWorkResponse {
                receipt: convert::accepted(sent.replayed),
                work_id: sent.work.to_string(),
                ticket: sent.ticket.map(|ticket| ticket.expose().to_owned()).unwrap_or_default(),
                expire_time: Some(convert::timestamp(sent.expire_time)),
            }),
            Err(error) => {
                reply(v1::SendWorkResponse { receipt: refused(error)?, ..Default::default() })
            }
        }
    }

    async fn enroll(&self, request: Request<v1::EnrollRequest>) -> Reply<v1::EnrollResponse> {
        // With a ticket the ticket speaks for the call, and no other credential is needed; one that
        // is sent all the same has to be good.
        let has_ticket = !request.get_ref().ticket.is_empty();
        let caller = match has_ticket && !request.metadata().contains_key(AUTHORIZATION) {
            true => None,
            false => Some(self.caller(&request).await?),
        };
        let request = request.into_inner();
        let mut fields = Fields::default();
        let id = fields.request_id(&request.request_id);
        let agent = fields.text("agent", &request.agent);
        let ticket = match request.ticket.as_str() {
            "" => Some(None),
            ticket => fields.secret("ticket", Kind::Ticket, ticket).map(Some),
        };
        let ((id, agent), ticket) = fields.done(id.zip(agent).zip(ticket))?;
        let manner = Manner { answers_asks: !request.answers_none, wakeable: request.wakeable };
        match self.service.enroll(caller.as_ref(), id, agent, manner, ticket).await {
            Ok(enrolled) => {
                let (token, hold_secret) = exposed(enrolled.secrets);
                reply(v1::EnrollResponse {
                    receipt: convert::accepted(enrolled.replayed),
                    session: Some(convert::session(&enrolled.session)),
                    work_id: enrolled.work.to_string(),
                    token,
                    hold_secret,
                })
            }
            Err(error) => {
                reply(v1::EnrollResponse { receipt: refused(error)?, ..Default::default() })
            }
        }
    }

    async fn accept_work(
        &self,
        request: Request<v1::AcceptWorkRequest>,
    ) -> Reply<v1::AcceptWorkResponse> {
        let (caller, request) = self.enter(request).await?;
        let mut fields = Fields::default();
        let id = fields.request_id(&request.request_id);
        let ticket = fields.secret("ticket", Kind::Ticket, &request.ticket);
        let (id, ticket) = fields.done(id.zip(ticket))?;
        match self.service.accept_work(&caller, id, ticket).await {
            Ok(accepted) => reply(v1::AcceptWorkResponse {
                receipt: convert::accepted(accepted.replayed),
                work_id: accepted.work.to_string(),
            }),
            Err(error) => {
                reply(v1::AcceptWorkResponse { receipt: refused(error)?, ..Default::default() })
            }
        }
    }

    type HoldSessionStream = Elsewhere<v1::HoldSessionResponse>;

    async fn hold_session(
        &self,
        request: Request<v1::HoldSessionRequest>,
    ) -> Reply<Self::HoldSessionStream> {
        use v1::hold_session_response::Message;
        let (caller, request) = self.enter(request).await?;
        let mut fields = Fields::default();
        let secret = fields.secret("hold_secret", Kind::Hold, &request.hold_secret);
        let secret = fields.done(secret)?;
        let hold = self.service.watch_hold(&caller, secret).await.map_err(status)?;
        let messages = hold.map(|message| match message {
            Ok(HoldMessage::Held(session)) => {
                Ok(Message::Held(v1::Held { session: Some(convert::session(&session)) }))
            }
            Ok(HoldMessage::Idle { stale }) => Ok(Message::Idle(v1::HoldIdle { stale })),
            Err(error) => Err(status(error)),
        });
        let wrap = |message| v1::HoldSessionResponse { message: Some(message) };
        streamed(messages.map(move |message| message.map(wrap)))
    }

    async fn pause_session(
        &self,
        request: Request<v1::PauseSessionRequest>,
    ) -> Reply<v1::PauseSessionResponse> {
        let (caller, request) = self.enter(request).await?;
        let mut fields = Fields::default();
        let id = fields.request_id(&request.request_id);
        let session = fields.optional("session_id", &request.session_id);
        let (id, session) = fields.done(id.zip(session))?;
        let (receipt, session) = changed(self.service.pause(&caller, id, session).await)?;
        reply(v1::PauseSessionResponse { receipt, session })
    }

    async fn resume_session(
        &self,
        request: Request<v1::ResumeSessionRequest>,
    ) -> Reply<v1::ResumeSessionResponse> {
        let (caller, request) = self.enter(request).await?;
        let mut fields = Fields::default();
        let id = fields.request_id(&request.request_id);
        let session = fields.text("session_id", &request.session_id);
        let (id, session) = fields.done(id.zip(session))?;
        match self.service.resume(&caller, id, session).await {
            Ok(resumed) => {
                let (token, hold_secret) = exposed(resumed.secrets);
                reply(v1::ResumeSessionResponse {
                    receipt: convert::accepted(resumed.replayed),
                    session: Some(convert::session(&resumed.session)),
                    token,
                    hold_secret,
                })
            }
            Err(error) => {
                reply(v1::ResumeSessionResponse { receipt: refused(error)?, ..Default::default() })
            }
        }
    }

    async fn end_session(
        &self,
        request: Request<v1::EndSessionRequest>,
    ) -> Reply<v1::EndSessionResponse> {
        let (caller, request) = self.enter(request).await?;
        let mut fields = Fields::default();
        let id = fields.request_id(&request.request_id);
        let session = fields.optional("session_id", &request.session_id);
        let (id, session) = fields.done(id.zip(session))?;
        let (receipt, session) = changed(self.service.end(&caller, id, session).await)?;
        reply(v1::EndSessionResponse { receipt, session })
    }

    async fn list_sessions(
        &self,
        request: Request<v1::ListSessionsRequest>,
    ) -> Reply<v1::ListSessionsResponse> {
        let (caller, request) = self.enter(request).await?;
        let mut fields = Fields::default();
        let after = fields.page_token(&request.page_token);
        let page = fields.page_size(request.page_size);
        let (after, page) = fields.done(after.zip(page))?;
        let ended = request.include_ended;
        let listed = self.service.sessions(&caller, ended, after, page).await;
        let (sessions, next) = listed.map_err(status)?;
        reply(v1::ListSessionsResponse {
            sessions: sessions.iter().map(|session| convert::session(session)).collect(),
            next_page_token: next.map(|id| id.to_string()).unwrap_or_default(),
        })
    }
}

fn exposed(secrets: Option<crate::service::Secrets>) -> (String, String) {
    let (token, hold) = secrets.unzip();
    let text = |secret: Option<crate::session::Secret>| {
        secret.map(|secret| secret.expose().to_owned()).unwrap_or_default()
    };
    (text(token), text(hold))
}

type Change = (Option<v1::SessionReceipt>, Option<v1::Session>);

fn changed(changed: Result<Changed, Error>) -> Result<Change, Status> {
    match changed {
        Ok(changed) => {
            let session = Some(convert::session(&changed.session));
            Ok((convert::accepted(changed.replayed), session))
        }
        Err(error) => Ok((refused(error)?, None)),
    }
}

fn refused(error: Error) -> Result<Option<v1::SessionReceipt>, Status> {
    convert::refused(error).map_err(status)
}
