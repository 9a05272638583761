//! The typed client: a request id for each intent, retries with jitter, watches that resume.
//! The command line and the examples stand on it; programs in Rust may too.

use crate::grpc::v1;
use crate::session::Secret;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::pin::Pin;
use std::time::Duration;
use tokio_stream::Stream;

/// Where a daemon listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// A Unix socket: `unix:PATH`.
    Unix(PathBuf),
    /// Loopback TCP: `http://127.0.0.1:PORT`.
    Http(String),
}

/// Why a call failed, after its retries.
#[derive(Clone, Debug)]
pub struct ClientError {
    /// The gRPC status code.
    pub code: tonic::Code,
    /// A name of the closed list, where the server gave one.
    pub reason: Option<String>,
    /// What went wrong, in words.
    pub message: String,
    /// Every wrong field with what it must be.
    pub fields: Vec<(String, String)>,
    /// What the ErrorInfo carried beside: `matches` of an ambiguous id, `revision` to resume at.
    pub metadata: BTreeMap<String, String>,
}

/// A connection to a daemon, made when first used and again when lost. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Client {}

/// An item of a resuming ask watch.
#[derive(Clone, Debug)]
pub enum Watched {
    /// The whole ask, on attaching.
    Ask(Box<v1::Ask>),
    /// One event; each once, in order, over reconnections too.
    Event(Box<v1::Event>),
    /// The connection was lost; it is being made again.
    Reconnecting,
    /// Settled, everything was delivered: the last item.
    End,
}

/// A stream that ends by itself, or with an error that no retry mends.
pub type Watch<T> = Pin<Box<dyn Stream<Item = Result<T, ClientError>> + Send>>;

impl Address {
    /// Reads `unix:PATH` or `http://HOST:PORT`.
    pub fn parse(_text: &str) -> Result<Self, String> {
        todo!()
    }
}

impl Client {
    /// A client of the daemon at `address`; without a token, on the socket, the caller is the
    /// daemon's own user as a host.
    pub fn new(_address: Address, _token: Option<Secret>) -> Self {
        todo!()
    }
    /// How long a call goes on trying while the daemon is unavailable; 30 s where nothing is said.
    pub fn with_patience(self, _patience: Duration) -> Self {
        todo!()
    }

    // Each mutating call: an empty request_id is filled with a UUIDv7 and kept over its retries.
    pub async fn ask(&self, _request: v1::AskRequest) -> Result<v1::Receipt, ClientError> {
        todo!()
    }
    pub async fn answer(&self, _request: v1::AnswerRequest) -> Result<v1::Receipt, ClientError> {
        todo!()
    }
    pub async fn answer_agent(
        &self,
        _request: v1::AnswerAgentRequest,
    ) -> Result<v1::Receipt, ClientError> {
        todo!()
    }
    pub async fn decline(&self, _request: v1::DeclineRequest) -> Result<v1::Receipt, ClientError> {
        todo!()
    }
    pub async fn escalate(
        &self,
        _request: v1::EscalateRequest,
    ) -> Result<v1::Receipt, ClientError> {
        todo!()
    }
    pub async fn withdraw(
        &self,
        _request: v1::WithdrawRequest,
    ) -> Result<v1::Receipt, ClientError> {
        todo!()
    }
    pub async fn say(&self, _request: v1::SayRequest) -> Result<v1::Receipt, ClientError> {
        todo!()
    }
    pub async fn reply(&self, _request: v1::ReplyRequest) -> Result<v1::Receipt, ClientError> {
        todo!()
    }
    pub async fn mark_seen(
        &self,
        _request: v1::MarkSeenRequest,
    ) -> Result<v1::Receipt, ClientError> {
        todo!()
    }
    pub async fn claim(&self, _request: v1::ClaimRequest) -> Result<v1::Receipt, ClientError> {
        todo!()
    }
    pub async fn release(&self, _request: v1::ReleaseRequest) -> Result<v1::Receipt, ClientError> {
        todo!()
    }
    pub async fn acknowledge(&self, _delivery_id: &str) -> Result<v1::Receipt, ClientError> {
        todo!()
    }
    pub async fn send_work(
        &self,
        _request: v1::SendWorkRequest,
    ) -> Result<v1::SendWorkResponse, ClientError> {
        todo!()
    }
    pub async fn enroll(
        &self,
        _request: v1::EnrollRequest,
    ) -> Result<v1::EnrollResponse, ClientError> {
        todo!()
    }
    pub async fn accept_work(
        &self,
        _request: v1::AcceptWorkRequest,
    ) -> Result<v1::AcceptWorkResponse, ClientError> {
        todo!()
    }
    pub async fn pause_session(
        &self,
        _request: v1::PauseSessionRequest,
    ) -> Result<v1::PauseSessionResponse, ClientError> {
        todo!()
    }
    pub async fn resume_session(
        &self,
        _request: v1::ResumeSessionRequest,
    ) -> Result<v1::ResumeSessionResponse, ClientError> {
        todo!()
    }
    pub async fn end_session(
        &self,
        _request: v1::EndSessionRequest,
    ) -> Result<v1::EndSessionResponse, ClientError> {
        todo!()
    }

    // Reads; lists follow their pages to the end.
    pub async fn get_ask(&self, _id_or_prefix: &str) -> Result<v1::GetAskResponse, ClientError> {
        todo!()
    }
    pub async fn list_asks(&self, _scope: v1::AskScope) -> Result<Vec<v1::Ask>, ClientError> {
        todo!()
    }
    pub async fn list_events(&self, _ask_id: &str) -> Result<Vec<v1::Event>, ClientError> {
        todo!()
    }
    pub async fn list_sessions(
        &self,
        _include_ended: bool,
    ) -> Result<Vec<v1::Session>, ClientError> {
        todo!()
    }
    pub async fn status(&self) -> Result<v1::GetStatusResponse, ClientError> {
        todo!()
    }

    // Streams that reconnect by themselves, with jitter, for as long as they are read.
    pub fn watch_ask(&self, _ask_id: &str, _after: Option<u64>) -> Watch<Watched> {
        todo!()
    }
    pub fn watch_inbox(&self, _scope: v1::AskScope) -> Watch<v1::watch_inbox_response::Message> {
        todo!()
    }
    pub fn watch_deliveries(&self) -> Watch<v1::Delivery> {
        todo!()
    }
    /// Holds the calling session while it is read: yields at each (re-)attaching, tries again at
    /// least every 5 s.
    pub fn hold(&self, _hold_secret: Secret) -> Watch<v1::Session> {
        todo!()
    }
}
