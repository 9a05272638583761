//! Each call of the wire as the descriptor set has it, with a sound request, in bytes: what every
//! test of *every* call goes by, so that a new one without a row fails all of them.

#![allow(dead_code, reason = "each of the binaries that share it uses a part")]

use askway::grpc::{DESCRIPTORS, v1};
use prost::Message as _;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic::transport::Channel;
use tonic::{Request, Status, Streaming};

/// Bytes in, bytes out.
#[derive(Clone, Default)]
struct Plain;

impl Codec for Plain {
    type Encode = Vec<u8>;
    type Decode = Vec<u8>;
    type Encoder = Self;
    type Decoder = Self;
    fn encoder(&mut self) -> Self {
        Self
    }
    fn decoder(&mut self) -> Self {
        Self
    }
}

impl Encoder for Plain {
    type Item = Vec<u8>;
    type Error = Status;
    fn encode(&mut self, item: Vec<u8>, to: &mut EncodeBuf<'_>) -> Result<(), Status> {
        prost::bytes::BufMut::put_slice(to, &item);
        Ok(())
    }
}

impl Decoder for Plain {
    type Item = Vec<u8>;
    type Error = Status;
    fn decode(&mut self, from: &mut DecodeBuf<'_>) -> Result<Option<Vec<u8>>, Status> {
        let length = prost::bytes::Buf::remaining(from);
        Ok(Some(prost::bytes::Buf::copy_to_bytes(from, length).to_vec()))
    }
}

/// One call.
#[derive(Clone, Debug)]
pub struct Row {
    pub path: String,
    pub name: String,
    /// Whether it answers with a stream.
    pub streams: bool,
}

impl Row {
    /// Whether it changes nothing.
    pub fn only_looks(&self) -> bool {
        self.streams || ["Get", "List"].iter().any(|verb| self.name.starts_with(verb))
    }
}

/// Every one.
pub fn calls() -> Vec<Row> {
    let set = prost_types::FileDescriptorSet::decode(DESCRIPTORS).unwrap();
    let ours = set.file.iter().filter(|file| file.package() == "askway.v1");
    let services = ours.flat_map(|file| &file.service);
    let each = services.flat_map(|service| {
        service.method.iter().map(move |method| Row {
            path: format!("/askway.v1.{}/{}", service.name(), method.name()),
            name: method.name().to_owned(),
            streams: method.server_streaming(),
        })
    });
    each.collect()
}

/// What requests are about.
#[derive(Clone, Debug, Default)]
pub struct About {
    pub ask: v1::Ask,
    pub session_id: String,
    pub hold_secret: String,
    pub ticket: String,
    pub token_id: String,
}

pub fn question(text: &str) -> v1::AskRequest {
    let option = |label: &str| v1::Option { label: label.into(), ..Default::default() };
    let question = v1::Question {
        question: text.into(),
        options: vec![option("yes"), option("no")],
        ..Default::default()
    };
    v1::AskRequest { questions: vec![question], ..Default::default() }
}

/// A request that is as it must be.
#[expect(clippy::needless_update, reason = "some requests have all their fields set")]
pub fn request(call: &str, about: &About, request_id: &str) -> Vec<u8> {
    let (ask_id, content_digest) = (about.ask.id.clone(), about.ask.content_digest.clone());
    let request_id = request_id.to_owned();
    let About { session_id, hold_secret, ticket, token_id, .. } = about.clone();
    let person = || Some(v1::create_token_request::Principal::Person("owner".into()));
    let yes = v1::Answer { selected: vec!["yes".into()], ..Default::default() };
    let answers: std::collections::HashMap<_, _> = [("q1".to_owned(), yes)].into();
    macro_rules! of {
        ($request:ident { $($field:ident $(: $value:expr)?),* }) => {
            v1::$request { $($field $(: $value)?,)* ..Default::default() }.encode_to_vec()
        };
    }
    match call {
        "Ask" => v1::AskRequest { request_id, ..question("more?") }.encode_to_vec(),
        "GetAsk" => of!(GetAskRequest { ask_id }),
        "ListAsks" => of!(ListAsksRequest { scope: v1::AskScope::Visible.into() }),
        "ListEvents" => of!(ListEventsRequest { ask_id }),
        "WatchAsk" => of!(WatchAskRequest { ask_id }),
        "WatchInbox" => of!(WatchInboxRequest {}),
        "Answer" => of!(AnswerRequest { request_id, ask_id, content_digest, answers }),
        "AnswerAgent" => of!(AnswerAgentRequest { request_id, ask_id, content_digest, answers }),
        "Decline" => of!(DeclineRequest { request_id, ask_id, content_digest }),
        "Escalate" => of!(EscalateRequest { request_id, ask_id }),
        "Withdraw" => of!(WithdrawRequest { request_id, ask_id }),
        "Say" => of!(SayRequest { request_id, ask_id, text: "hm".into() }),
        "Reply" => of!(ReplyRequest { request_id, ask_id, text: "so".into() }),
        "MarkSeen" => of!(MarkSeenRequest { request_id, ask_id, content_digest }),
        "Claim" => of!(ClaimRequest { request_id, ask_id }),
        "Release" => of!(ReleaseRequest { request_id, ask_id }),
        "WatchDeliveries" => of!(WatchDeliveriesRequest {}),
        "AcknowledgeDelivery" => {
            let revision = about.ask.revision.max(1);
            let delivery_id = askway::grpc::convert::delivery_id(&ask_id, revision);
            of!(AcknowledgeDeliveryRequest { request_id, delivery_id })
        }
        "TakeDeliveries" => of!(TakeDeliveriesRequest { request_id, holder: "me".into() }),
        "SendWork" => of!(SendWorkRequest { request_id }),
        "Enroll" => of!(EnrollRequest { request_id, agent: "new".into() }),
        // By a ticket alone; no call of the wire's.
        "Enroll by ticket" => of!(EnrollRequest { request_id, agent: "new".into(), ticket }),
        "AcceptWork" => of!(AcceptWorkRequest { request_id, ticket }),
        "HoldSession" => of!(HoldSessionRequest { hold_secret }),
        "PauseSession" => of!(PauseSessionRequest { request_id, session_id }),
        "ResumeSession" => of!(ResumeSessionRequest { request_id, session_id }),
        "EndSession" => of!(EndSessionRequest { request_id, session_id }),
        "ListSessions" => of!(ListSessionsRequest {}),
        "GetStatus" => of!(GetStatusRequest {}),
        "AddPerson" => of!(AddPersonRequest { request_id, name: "eve".into() }),
        "RemovePerson" => of!(RemovePersonRequest { request_id, name: "ann".into() }),
        "ListPeople" => of!(ListPeopleRequest {}),
        "CreateToken" => of!(CreateTokenRequest { request_id, principal: person() }),
        "ListTokens" => of!(ListTokensRequest {}),
        "RevokeToken" => of!(RevokeTokenRequest { request_id, token_id }),
        "Export" => of!(ExportRequest {}),
        "RevokeSession" => of!(RevokeSessionRequest { request_id, session_id }),
        other => panic!("{other} has no row; say here how it is called"),
    }
}

/// Makes a call; what it is answered with comes off the stream, of which an ordinary call has one
/// message.
pub async fn open(
    channel: &Channel,
    path: &str,
    token: Option<&str>,
    request: Vec<u8>,
) -> Result<Streaming<Vec<u8>>, Status> {
    let mut request = Request::new(request);
    if let Some(token) = token {
        let header = format!("Bearer {token}").parse().unwrap();
        request.metadata_mut().insert("authorization", header);
    }
    let mut grpc = tonic::client::Grpc::new(channel.clone());
    grpc.ready().await.unwrap();
    let path = path.parse().unwrap();
    Ok(grpc.server_streaming(request, path, Plain).await?.into_inner())
}

/// The first message of what a call is answered with.
pub async fn call(
    channel: &Channel,
    path: &str,
    token: Option<&str>,
    request: Vec<u8>,
) -> Result<Vec<u8>, Status> {
    let mut answered = open(channel, path, token, request).await?;
    Ok(answered.message().await?.unwrap_or_default())
}

/// The receipt of a response, where it has one: it is the first field then.
#[derive(Clone, PartialEq, prost::Message)]
struct Shell {
    #[prost(message, optional, tag = "1")]
    receipt: Option<Receipt>,
}

/// What every receipt has.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Receipt {
    #[prost(int32, tag = "1")]
    pub result: i32,
    #[prost(bool, tag = "2")]
    pub replayed: bool,
    #[prost(string, tag = "3")]
    pub reason: String,
}

/// What a response says of itself: that it was done, or the reason of its receipt.
pub fn receipt(response: &[u8]) -> Option<Receipt> {
    Shell::decode(response).ok()?.receipt
}
