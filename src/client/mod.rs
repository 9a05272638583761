//! The typed client: a request id for each intent, retries with jitter, watches that resume.
//! The command line and the examples stand on it; programs in Rust may too.
//!
//! A call is tried again while the daemon is unavailable, under the request id it was first sent
//! with, so that it is done once whatever was lost on the way. [`watch`] holds the streams.

mod address;
mod error;
mod retry;
mod watch;

pub use address::{Address, Secure};
pub use error::ClientError;
pub use watch::{Watch, Watched};

use crate::grpc::{IN_AGENT, v1};
use crate::session::Secret;
use secrecy::{ExposeSecret, SecretString};
use std::time::Duration;
use tonic::metadata::MetadataValue;
use tonic::transport::{Channel, Uri};
use tonic::{Request, Status};
use v1::admin_service_client::AdminServiceClient;
use v1::ask_service_client::AskServiceClient;
use v1::session_service_client::SessionServiceClient;

/// The most bytes of one message a client takes: a page of asks at all their limits, with room.
const MESSAGE_BYTES: usize = 16 << 20;

/// A connection to a daemon, made when first used and again when lost. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Client {
    address: Address,
    channel: Channel,
    token: Option<SecretString>,
    patience: Duration,
    in_agent: bool,
}

/// A unary call: builds its stub, sends the request as often as it takes, gives the reply.
macro_rules! call {
    ($self:ident, $stub:ident, $method:ident, $request:expr) => {{
        let request = $request;
        $self
            .retry(|| async {
                let mut stub =
                    $stub::new($self.channel.clone()).max_decoding_message_size(MESSAGE_BYTES);
                stub.$method($self.signed(request.clone())?).await.map(|r| r.into_inner())
            })
            .await
    }};
}

/// A mutating call on an ask: its request id is made here where there is none; its receipt comes back.
macro_rules! act {
    ($($(#[$doc:meta])* $method:ident($request:ident);)*) => {
        $(
            $(#[$doc])*
            ///
            /// # Errors
            ///
            /// A fault that no retry mends; a refusal is a receipt.
            pub async fn $method(&self, mut request: v1::$request) -> Result<v1::Receipt, ClientError> {
                fill(&mut request.request_id);
                let response = call!(self, AskServiceClient, $method, request)?;
                response.receipt.ok_or_else(|| ClientError::broken("a reply without a receipt"))
            }
        )*
    };
}

/// A mutating call about sessions, people or tokens: its request id is made here where there is none.
macro_rules! change {
    ($stub:ident $($(#[$doc:meta])* $method:ident($request:ident) -> $response:ident;)*) => {
        $(
            $(#[$doc])*
            ///
            /// # Errors
            ///
            /// A fault that no retry mends; a refusal is in the response's receipt.
            pub async fn $method(
                &self,
                mut request: v1::$request,
            ) -> Result<v1::$response, ClientError> {
                fill(&mut request.request_id);
                call!(self, $stub, $method, request)
            }
        )*
    };
}

impl Client {
    /// A client of the daemon at `address`. Without a token, on the socket, the caller is the
    /// daemon's own user as a host. Must be made within a tokio runtime.
    pub fn new(address: Address, token: Option<Secret>) -> Self {
        let channel = address.channel();
        let token = token.map(|token| token.expose().to_owned().into());
        Self { address, channel, token, patience: retry::PATIENCE, in_agent: false }
    }

    /// A client that gets to the daemon at `address` by `connector`: over a network that is not the
    /// system's. Must be made within a tokio runtime.
    pub fn by<C>(address: Address, connector: C, token: Option<Secret>) -> Self
    where
        C: tower::Service<Uri> + Send + 'static,
        C::Response: hyper::rt::Read + hyper::rt::Write + Send + Unpin,
        C::Future: Send,
        C::Error: Send,
        Box<dyn std::error::Error + Send + Sync>: From<C::Error>,
    {
        let channel = address::channel_by(&address, connector);
        Self { channel, ..Self::new(address, token) }
    }

    /// The same connection for somebody else: whoever this token stands for.
    pub fn with_token(self, token: Secret) -> Self {
        Self { token: Some(token.expose().to_owned().into()), ..self }
    }

    /// For how long a call is tried again while the daemon is unavailable; 30 s where nothing is
    /// said, zero for not at all.
    pub fn with_patience(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// The same, saying with each call whether it was typed in an agent's environment: what a person
    /// does so is recorded as that.
    pub fn typed_in_agent(self, in_agent: bool) -> Self {
        Self { in_agent, ..self }
    }

    /// Where the daemon listens.
    pub fn address(&self) -> &Address {
        &self.address
    }

    act! {
        /// Files an ask.
        ask(AskRequest);
        /// A person answers.
        answer(AnswerRequest);
        /// The session waited on answers.
        answer_agent(AnswerAgentRequest);
        /// A person says no.
        decline(DeclineRequest);
        /// Moves an ask to the next hop.
        escalate(EscalateRequest);
        /// The asker takes its ask back.
        withdraw(WithdrawRequest);
        /// Speaks to the asker.
        say(SayRequest);
        /// The asker speaks back.
        reply(ReplyRequest);
        /// A person was shown the content.
        mark_seen(MarkSeenRequest);
        /// A person is on it.
        claim(ClaimRequest);
        /// A person is not on it any more.
        release(ReleaseRequest);
        /// The asker has a turn or an outcome.
        acknowledge_delivery(AcknowledgeDeliveryRequest);
    }

    change! {
        SessionServiceClient
        /// A session sends work.
        send_work(SendWorkRequest) -> SendWorkResponse;
        /// A host or a ticket makes a session.
        enroll(EnrollRequest) -> EnrollResponse;
        /// A session takes up the work of a ticket.
        accept_work(AcceptWorkRequest) -> AcceptWorkResponse;
        /// Stops a session for now.
        pause_session(PauseSessionRequest) -> PauseSessionResponse;
        /// Starts a paused session again.
        resume_session(ResumeSessionRequest) -> ResumeSessionResponse;
        /// Ends a session for good.
        end_session(EndSessionRequest) -> EndSessionResponse;
    }

    change! {
        AdminServiceClient
        /// Adds a person.
        add_person(AddPersonRequest) -> AddPersonResponse;
        /// Removes a person.
        remove_person(RemovePersonRequest) -> RemovePersonResponse;
        /// Makes a token.
        create_token(CreateTokenRequest) -> CreateTokenResponse;
        /// Revokes a token.
        revoke_token(RevokeTokenRequest) -> RevokeTokenResponse;
        /// Takes away a session's credentials, and those of every session below it.
        revoke_session(RevokeSessionRequest) -> RevokeSessionResponse;
    }

    /// Lists the people of a namespace; the caller's own where it is empty.
    ///
    /// # Errors
    ///
    /// A fault that no retry mends.
    pub async fn list_people(&self, namespace: &str) -> Result<Vec<v1::Person>, ClientError> {
        let request = v1::ListPeopleRequest { namespace: namespace.to_owned() };
        Ok(call!(self, AdminServiceClient, list_people, request)?.people)
    }

    /// Lists the tokens of a namespace; the caller's own where it is empty.
    ///
    /// # Errors
    ///
    /// A fault that no retry mends.
    pub async fn list_tokens(&self, namespace: &str) -> Result<Vec<v1::Token>, ClientError> {
        let request = v1::ListTokensRequest { namespace: namespace.to_owned() };
        Ok(call!(self, AdminServiceClient, list_tokens, request)?.tokens)
    }

    /// Gives all that the daemon keeps, in pieces of lines. One that is cut is not taken up again: begin
    /// anew.
    ///
    /// # Errors
    ///
    /// A fault that no retry mends; in the stream, whatever cut it.
    pub async fn export(&self) -> Result<Watch<Vec<u8>>, ClientError> {
        let request = v1::ExportRequest {};
        let pieces = call!(self, AdminServiceClient, export, request)?;
        let lines = |piece: Result<v1::ExportResponse, Status>| Ok(piece?.lines);
        Ok(Box::pin(tokio_stream::StreamExt::map(pieces, lines)))
    }

    /// Reads an ask, by its id or a unique prefix of it, and whether its asker is there.
    ///
    /// # Errors
    ///
    /// A fault that no retry mends; the metadata of an ambiguous prefix lists the matches.
    pub async fn get_ask(&self, typed: &str) -> Result<v1::GetAskResponse, ClientError> {
        call!(self, AskServiceClient, get_ask, v1::GetAskRequest { ask_id: typed.to_owned() })
    }

    /// Lists the asks of a scope, oldest first, all pages of it.
    ///
    /// # Errors
    ///
    /// A fault that no retry mends.
    pub async fn list_asks(&self, scope: v1::AskScope) -> Result<Vec<v1::Ask>, ClientError> {
        self.find_asks(scope, v1::AskFilter::default()).await
    }

    /// The same, of those that a filter lets through.
    ///
    /// # Errors
    ///
    /// A fault that no retry mends.
    pub async fn find_asks(
        &self,
        scope: v1::AskScope,
        filter: v1::AskFilter,
    ) -> Result<Vec<v1::Ask>, ClientError> {
        let mut asks = Vec::new();
        let mut page_token = String::new();
        loop {
            let (scope, page_size, filter) = (scope.into(), 0, Some(filter.clone()));
            let request = v1::ListAsksRequest { scope, page_size, page_token, filter };
            let page = call!(self, AskServiceClient, list_asks, request)?;
            asks.extend(page.asks);
            page_token = page.next_page_token;
            if page_token.is_empty() {
                return Ok(asks);
            }
        }
    }

    /// Takes what is unread and in nobody's hand, or has what was taken for longer.
    ///
    /// # Errors
    ///
    /// A fault that no retry mends; what could not be extended is in the response.
    pub async fn take_deliveries(
        &self,
        mut request: v1::TakeDeliveriesRequest,
    ) -> Result<v1::TakeDeliveriesResponse, ClientError> {
        fill(&mut request.request_id);
        call!(self, AskServiceClient, take_deliveries, request)
    }

    /// Lists what happened to an ask, in order, all of it.
    ///
    /// # Errors
    ///
    /// A fault that no retry mends.
    pub async fn list_events(&self, ask_id: &str) -> Result<Vec<v1::Event>, ClientError> {
        const PAGE: u32 = 100;
        let mut events: Vec<v1::Event> = Vec::new();
        loop {
            let after_revision = events.last().map_or(0, |event| event.revision);
            let ask_id = ask_id.to_owned();
            let request = v1::ListEventsRequest { ask_id, after_revision, page_size: PAGE };
            let page = call!(self, AskServiceClient, list_events, request)?.events;
            let last = page.len() < PAGE as usize;
            events.extend(page);
            if last {
                return Ok(events);
            }
        }
    }

    /// Lists sessions, oldest first, all pages.
    ///
    /// # Errors
    ///
    /// A fault that no retry mends.
    pub async fn list_sessions(&self, ended: bool) -> Result<Vec<v1::Session>, ClientError> {
        let mut sessions = Vec::new();
        let mut page_token = String::new();
        loop {
            let (page_size, include_ended) = (0, ended);
            let request = v1::ListSessionsRequest { page_size, page_token, include_ended };
            let page = call!(self, SessionServiceClient, list_sessions, request)?;
            sessions.extend(page.sessions);
            page_token = page.next_page_token;
            if page_token.is_empty() {
                return Ok(sessions);
            }
        }
    }

    /// Says who the caller is and how the daemon does.
    ///
    /// # Errors
    ///
    /// A fault that no retry mends.
    pub async fn status(&self) -> Result<v1::GetStatusResponse, ClientError> {
        call!(self, AdminServiceClient, get_status, v1::GetStatusRequest {})
    }

    fn signed<T>(&self, message: T) -> Result<Request<T>, Status> {
        let mut request = Request::new(message);
        if let Some(token) = &self.token {
            let bearer = format!("Bearer {}", token.expose_secret());
            let mut value: MetadataValue<_> = bearer
                .parse()
                .map_err(|_| Status::unauthenticated("the token does not fit a header"))?;
            value.set_sensitive(true);
            request.metadata_mut().insert("authorization", value);
        }
        if self.in_agent {
            request.metadata_mut().insert(IN_AGENT, MetadataValue::from_static("1"));
        }
        Ok(request)
    }
}

/// A request id for an intent that has none: a UUIDv7, so that receipts stay in time order.
fn fill(request_id: &mut String) {
    if request_id.is_empty() {
        *request_id = uuid::Uuid::now_v7().to_string();
    }
}
