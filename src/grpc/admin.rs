//! AdminService.

use super::convert;
use super::door::Origin;
use super::read::Fields;
use super::sent::{Elsewhere, streamed};
use super::server::{Api, Reply, reply};
use super::status::status;
use super::v1::{self, admin_service_server::AdminService};
use crate::ask::{Namespace, RequestId};
use crate::error::Error;
use crate::service::Rostered;
use crate::session::Principal;
use std::fmt::Display;
use std::str::FromStr;
use tokio_stream::StreamExt;
use tonic::{Request, Status, async_trait};

#[async_trait]
impl AdminService for Api {
    async fn get_status(
        &self,
        request: Request<v1::GetStatusRequest>,
    ) -> Reply<v1::GetStatusResponse> {
        let by_socket = matches!(request.extensions().get::<Origin>(), Some(Origin::Socket { .. }));
        let (caller, _) = self.enter(request).await?;
        let found = self.service.status(&caller).await.map_err(status)?;
        let namespaces = self.service.namespaces(&caller).await.map_err(status)?;
        // Where the socket lies says where the data does.
        let is_told = |address: &&String| {
            found.caller.namespace == Namespace::default()
                && (by_socket || !address.starts_with("unix:"))
        };
        let listen_addresses = self.listening.iter().filter(is_told).cloned().collect();
        let session = match &found.caller.principal {
            Principal::Session(by) => Some(convert::session_ref(by)),
            Principal::Host(_) | Principal::Person(_) => None,
        };
        let caller = match &found.caller.principal {
            Principal::Session(by) => format!("session {} ({})", by.agent, by.session),
            Principal::Host(host) => format!("host {host}"),
            Principal::Person(person) => format!("person {person}"),
        };
        let failure = found.notice_failure;
        reply(v1::GetStatusResponse {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            caller,
            session,
            start_time: Some(convert::timestamp(found.start_time)),
            service_time: Some(convert::timestamp(found.service_time)),
            waiting_on_people: found.waiting_on_people as u64,
            waiting_on_sessions: found.waiting_on_sessions as u64,
            oldest_open_time: found.oldest_open_time.map(convert::timestamp),
            untold: found.untold as u64,
            notice_failure_time: failure.as_ref().map(|failure| convert::timestamp(failure.time)),
            notice_failure: failure.map(|failure| failure.why).unwrap_or_default(),
            listen_addresses,
            namespaces: namespaces.iter().map(ToString::to_string).collect(),
        })
    }

    async fn add_person(
        &self,
        request: Request<v1::AddPersonRequest>,
    ) -> Reply<v1::AddPersonResponse> {
        let (caller, request) = self.enter(request).await?;
        let named = ("name", request.name.clone());
        let (id, namespace, name) = about(&request.request_id, &request.namespace, named)?;
        if !request.new_namespace {
            self.service.knows(&caller, namespace.as_ref()).await.map_err(status)?;
        }
        let done = self.service.add_person(&caller, id, namespace, name).await;
        reply(v1::AddPersonResponse { receipt: receipt(done)? })
    }

    async fn remove_person(
        &self,
        request: Request<v1::RemovePersonRequest>,
    ) -> Reply<v1::RemovePersonResponse> {
        let (caller, request) = self.enter(request).await?;
        let named = ("name", request.name);
        let (id, namespace, name) = about(&request.request_id, &request.namespace, named)?;
        self.service.knows(&caller, namespace.as_ref()).await.map_err(status)?;
        let done = self.service.remove_person(&caller, id, namespace, name).await;
        reply(v1::RemovePersonResponse { receipt: receipt(done)? })
    }

    async fn list_people(
        &self,
        request: Request<v1::ListPeopleRequest>,
    ) -> Reply<v1::ListPeopleResponse> {
        let (caller, request) = self.enter(request).await?;
        let namespace = within(&request.namespace)?;
        self.service.knows(&caller, namespace.as_ref()).await.map_err(status)?;
        let people = self.service.people(&caller, namespace).await.map_err(status)?;
        reply(v1::ListPeopleResponse { people: people.iter().map(convert::person).collect() })
    }

    async fn create_token(
        &self,
        request: Request<v1::CreateTokenRequest>,
    ) -> Reply<v1::CreateTokenResponse> {
        use v1::create_token_request::Principal as Named;
        let (caller, request) = self.enter(request).await?;
        let mut fields = Fields::default();
        let id = fields.request_id(&request.request_id);
        let principal = match &request.principal {
            Some(Named::Person(name)) => fields.text("person", name).map(Principal::Person),
            Some(Named::Host(name)) => fields.text("host", name).map(Principal::Host),
            None => fields.wrong("principal", "must be a person or a host"),
        };
        let ttl = match request.ttl {
            Some(ttl) => fields.span("ttl", ttl).map(Some),
            None => Some(None),
        };
        let namespace = fields.optional("namespace", &request.namespace);
        let read = id.zip(principal).zip(ttl.zip(namespace));
        let ((id, principal), (ttl, namespace)) = fields.done(read)?;
        if !request.new_namespace {
            self.service.knows(&caller, namespace.as_ref()).await.map_err(status)?;
        }
        let note = request.note;
        let made = self.service.create_token(&caller, id, namespace, principal, ttl, note).await;
        match made {
            Ok(made) => reply(v1::CreateTokenResponse {
                receipt: convert::accepted(made.replayed),
                token: Some(convert::token(&made.token)),
                secret: made.secret.map(|s| s.expose().to_owned()).unwrap_or_default(),
            }),
            Err(error) => {
                let receipt = convert::refused(error).map_err(status)?;
                reply(v1::CreateTokenResponse { receipt, ..Default::default() })
            }
        }
    }

    async fn list_tokens(
        &self,
        request: Request<v1::ListTokensRequest>,
    ) -> Reply<v1::ListTokensResponse> {
        let (caller, request) = self.enter(request).await?;
        let namespace = within(&request.namespace)?;
        self.service.knows(&caller, namespace.as_ref()).await.map_err(status)?;
        let tokens = self.service.tokens(&caller, namespace).await.map_err(status)?;
        let tokens = tokens.iter().map(|token| convert::token(token)).collect();
        reply(v1::ListTokensResponse { tokens })
    }

    async fn revoke_token(
        &self,
        request: Request<v1::RevokeTokenRequest>,
    ) -> Reply<v1::RevokeTokenResponse> {
        let (caller, request) = self.enter(request).await?;
        let named = ("token_id", request.token_id);
        let (id, namespace, token) = about(&request.request_id, &request.namespace, named)?;
        self.service.knows(&caller, namespace.as_ref()).await.map_err(status)?;
        let done = self.service.revoke_token(&caller, id, namespace, token).await;
        let also = done.iter().flat_map(|done| &done.revoked).map(ToString::to_string).collect();
        reply(v1::RevokeTokenResponse { receipt: receipt(done)?, also_revoked_token_ids: also })
    }

    async fn revoke_session(
        &self,
        request: Request<v1::RevokeSessionRequest>,
    ) -> Reply<v1::RevokeSessionResponse> {
        let (caller, request) = self.enter(request).await?;
        let mut fields = Fields::default();
        let id = fields.request_id(&request.request_id);
        let session = fields.text("session_id", &request.session_id);
        let (id, session) = fields.done(id.zip(session))?;
        let (session, done) = match self.service.revoke_session(&caller, id, session).await {
            Ok((session, done)) => (Some(convert::session(&session)), Ok(done)),
            Err(error) => (None, Err(error)),
        };
        reply(v1::RevokeSessionResponse { receipt: receipt(done)?, session })
    }

    type ExportStream = Elsewhere<v1::ExportResponse>;

    async fn export(&self, request: Request<v1::ExportRequest>) -> Reply<Self::ExportStream> {
        let (caller, _) = self.enter(request).await?;
        let pieces = self.service.export(&caller).await.map_err(status)?;
        let pieces = pieces.map(|piece| match piece {
            Ok(lines) => Ok(v1::ExportResponse { lines }),
            Err(error) => Err(status(error)),
        });
        streamed(pieces)
    }
}

/// The namespace that a call is about; none where it is the caller's own.
fn within(namespace: &str) -> Result<Option<Namespace>, Status> {
    let mut fields = Fields::default();
    let namespace = fields.optional("namespace", namespace);
    fields.done(namespace)
}

/// What a call about one thing of a namespace names: its request id, the namespace, and that thing.
fn about<T: FromStr<Err: Display>>(
    request_id: &str,
    namespace: &str,
    (field, value): (&str, String),
) -> Result<(RequestId, Option<Namespace>, T), Status> {
    let mut fields = Fields::default();
    let id = fields.request_id(request_id);
    let thing = fields.text(field, &value);
    let namespace = fields.optional("namespace", namespace);
    let ((id, thing), namespace) = fields.done(id.zip(thing).zip(namespace))?;
    Ok((id, namespace, thing))
}

fn receipt(done: Result<Rostered, Error>) -> Result<Option<v1::SessionReceipt>, Status> {
    match done {
        Ok(done) => Ok(convert::accepted(done.replayed)),
        Err(error) => convert::refused(error).map_err(status),
    }
}
