//! What is wrong with a request is said at once, by path, and nothing is done.

use super::*;
use askway::ask::limits;
use askway::grpc::MESSAGE_BYTES;
use askway::grpc::malformed::LIMIT;
use askway::grpc::status::DOMAIN;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Request, Status};
use tonic_types::StatusExt;
use v1::ask_service_client::AskServiceClient;
use v1::session_service_client::SessionServiceClient;

/// Puts a token before each request.
#[derive(Clone)]
struct Bearer(String);

impl tonic::service::Interceptor for Bearer {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        request.metadata_mut().insert("authorization", self.0.parse().unwrap());
        Ok(request)
    }
}

type Asks = AskServiceClient<InterceptedService<Channel, Bearer>>;
type Sessions = SessionServiceClient<InterceptedService<Channel, Bearer>>;

async fn raw(daemon: &Daemon) -> (Asks, Sessions) {
    let channel = Endpoint::from_shared(daemon.tcp().to_string()).unwrap().connect().await.unwrap();
    let bearer = Bearer(format!("Bearer {}", daemon.owner.expose()));
    let asks = AskServiceClient::with_interceptor(channel.clone(), bearer.clone());
    (asks, SessionServiceClient::with_interceptor(channel, bearer))
}

/// The fields a status names, in its order.
fn named(status: &Status) -> Vec<String> {
    assert_eq!(status.code(), Code::InvalidArgument, "{}", status.message());
    let details = status.get_error_details();
    assert_eq!(details.error_info().unwrap().reason, "INVALID_ARGUMENT");
    let violations = details.bad_request().expect("the fields").field_violations.clone();
    assert!(violations.iter().all(|violation| !violation.description.is_empty()));
    violations.into_iter().map(|violation| violation.field).collect()
}

macro_rules! wrong {
    ($client:ident.$method:ident($request:expr) names $($field:literal),+) => {
        let status = $client.$method($request).await.map(|_| ()).unwrap_err();
        assert_eq!(named(&status), [$($field),+], stringify!($method));
    };
}

fn length(seconds: i64, nanos: i32) -> Option<prost_types::Duration> {
    Some(prost_types::Duration { seconds, nanos })
}

#[tokio::test]
async fn every_malformed_field_of_every_call_on_asks_is_named_at_once() {
    let daemon = Daemon::start().await;
    let (mut asks, _) = raw(&daemon).await;
    let long = "x".repeat(limits::REQUEST_ID_BYTES + 1);
    let note = Some("n".repeat(limits::NOTE_BYTES + 1));
    let text = || "t".repeat(limits::TURN_BYTES + 1);
    let (request_id, ask_id, content_digest) =
        (|| long.clone(), || "ask_UPPER".to_owned(), || "0".repeat(63));

    let question =
        v1::Question { id: " ".into(), options: vec![v1::Option::default()], ..Default::default() };
    wrong!(asks.ask(v1::AskRequest {
        request_id: request_id(),
        work_id: "ses_00000000000000000000".into(),
        questions: vec![question],
        context: "c".repeat(limits::CONTEXT_BYTES + 1),
        priority: -1,
        expire: length(-1, 0),
        on_expire: 7,
        ..Default::default()
    }) names "request_id", "work_id", "priority", "on_expire", "expire", "context",
        "questions[0].id", "questions[0].question", "questions[0].options[0].label");
    wrong!(asks.get_ask(v1::GetAskRequest { ask_id: "ab".into() }) names "ask_id");
    wrong!(asks.list_asks(v1::ListAsksRequest {
        scope: 9, page_size: 501, page_token: "next".into(), filter: None,
    }) names "scope", "page_token", "page_size");
    wrong!(asks.list_events(v1::ListEventsRequest {
        ask_id: ask_id(), after_revision: 0, page_size: u32::MAX,
    }) names "ask_id", "page_size");
    wrong!(asks.watch_ask(v1::WatchAskRequest { ask_id: ask_id(), ..Default::default() })
        names "ask_id");
    wrong!(asks.watch_inbox(v1::WatchInboxRequest { scope: -3, ..Default::default() }) names "scope");

    let answers = || {
        let text = Some("a".repeat(limits::ANSWER_TEXT_BYTES + 1));
        let selected = vec!["yes".to_owned(); limits::OPTIONS + 1];
        [("q\u{1b}1".to_owned(), v1::Answer { selected, text, default: false })].into()
    };
    wrong!(asks.answer(v1::AnswerRequest {
        request_id: request_id(), ask_id: ask_id(), content_digest: content_digest(),
        answers: answers(),
    }) names "request_id", "ask_id", "content_digest", "answers[q\\u{1b}1].text",
        "answers[q\\u{1b}1].selected");
    let many = || (0..5).map(|n| (n.to_string(), v1::Answer::default())).collect();
    wrong!(asks.answer_agent(v1::AnswerAgentRequest {
        request_id: String::new(), ask_id: ask_id(), content_digest: content_digest(),
        answers: many(),
    }) names "request_id", "ask_id", "content_digest", "answers");
    wrong!(asks.decline(v1::DeclineRequest {
        request_id: request_id(), ask_id: ask_id(), content_digest: content_digest(),
        note: note.clone(),
    }) names "request_id", "ask_id", "content_digest", "note");
    wrong!(asks.escalate(v1::EscalateRequest {
        request_id: request_id(), ask_id: ask_id(), hop: 0, reason: note.clone(),
    }) names "request_id", "ask_id", "reason");
    wrong!(asks.withdraw(v1::WithdrawRequest {
        request_id: request_id(), ask_id: ask_id(), note: note.clone(),
    }) names "request_id", "ask_id", "note");
    wrong!(asks.say(v1::SayRequest {
        request_id: request_id(), ask_id: ask_id(), text: text(),
    }) names "request_id", "ask_id", "text");
    let replaced = |options| v1::ReplacedOptions {
        question_id: "q1".into(),
        options: vec![v1::Option::default(); options],
    };
    wrong!(asks.reply(v1::ReplyRequest {
        request_id: request_id(), ask_id: ask_id(), text: text(),
        replaced: vec![replaced(limits::OPTIONS + 1), replaced(1)],
    }) names "request_id", "ask_id", "text", "replaced[0].options", "replaced[1].question_id");
    wrong!(asks.reply(v1::ReplyRequest {
        request_id: "r".into(), ask_id: ask_id(), text: "t".into(), replaced: vec![replaced(1); 5],
    }) names "ask_id", "replaced");
    wrong!(asks.mark_seen(v1::MarkSeenRequest {
        request_id: request_id(), ask_id: ask_id(), content_digest: content_digest(),
    }) names "request_id", "ask_id", "content_digest");
    for length in [length(-5, 0), length(0, 0), length(i64::MAX, 0), length(901, 0), length(0, -1)]
    {
        wrong!(asks.claim(v1::ClaimRequest {
            request_id: request_id(), ask_id: ask_id(), length, take_over: false,
        }) names "request_id", "ask_id", "length");
    }
    wrong!(asks.release(v1::ReleaseRequest { request_id: request_id(), ask_id: ask_id() })
        names "request_id", "ask_id");
    for delivery_id in ["", "dlv_x_1", "ask_00000000000000000000", "dlv_00000000000000000000_-1"] {
        wrong!(asks.acknowledge_delivery(v1::AcknowledgeDeliveryRequest {
            request_id: request_id(), delivery_id: delivery_id.into(),
            lease_token: "x".into(),
        }) names "request_id", "delivery_id", "lease_token");
    }
    daemon.stop().await;
}

#[tokio::test]
async fn every_malformed_field_of_every_call_on_sessions_is_named_at_once() {
    let daemon = Daemon::start().await;
    let (_, mut sessions) = raw(&daemon).await;
    let request_id = || "two\nlines".to_owned();
    let session_id = || "wrk_00000000000000000000".to_owned();
    wrong!(sessions.send_work(v1::SendWorkRequest {
        request_id: request_id(), from_work_id: "wrk_".into(), blocking: true, no_asks: false,
    }) names "request_id", "from_work_id");
    wrong!(sessions.enroll(v1::EnrollRequest {
        request_id: request_id(), agent: "-rf".into(), ticket: daemon.owner.expose().into(),
        ..Default::default()
    }) names "request_id", "agent", "ticket");
    wrong!(sessions.accept_work(v1::AcceptWorkRequest {
        request_id: request_id(), ticket: String::new(),
    }) names "request_id", "ticket");
    wrong!(sessions.hold_session(v1::HoldSessionRequest { hold_secret: "askl_x".into() })
        names "hold_secret");
    wrong!(sessions.pause_session(v1::PauseSessionRequest {
        request_id: request_id(), session_id: session_id(),
    }) names "request_id", "session_id");
    wrong!(sessions.resume_session(v1::ResumeSessionRequest {
        request_id: request_id(), session_id: String::new(),
    }) names "request_id", "session_id");
    wrong!(sessions.end_session(v1::EndSessionRequest {
        request_id: request_id(), session_id: session_id(),
    }) names "request_id", "session_id");
    wrong!(sessions.list_sessions(v1::ListSessionsRequest {
        page_size: 501, page_token: "ask_00000000000000000000".into(), include_ended: false,
    }) names "page_token", "page_size");
    daemon.stop().await;
}

/// Requests as a client may send them that does not know text from bytes.
#[derive(Clone, PartialEq, prost::Message)]
struct RawSay {
    #[prost(bytes = "vec", tag = "3")]
    text: Vec<u8>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct RawAsk {
    #[prost(message, repeated, tag = "3")]
    questions: Vec<RawQuestion>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct RawQuestion {
    #[prost(bytes = "vec", tag = "3")]
    question: Vec<u8>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct RawList {
    #[prost(bytes = "vec", tag = "1")]
    scope: Vec<u8>,
}

/// What is said to `message` at a method of AskService.
async fn sent<M: prost::Message + 'static>(
    channel: &Channel,
    method: &'static str,
    message: M,
) -> Status {
    let mut grpc = tonic::client::Grpc::new(channel.clone());
    grpc.ready().await.unwrap();
    let codec = tonic_prost::ProstCodec::<M, v1::AskResponse>::default();
    let path = PathAndQuery::from_static(method);
    grpc.unary(Request::new(message), path, codec).await.unwrap_err()
}

#[tokio::test]
async fn a_message_that_cannot_be_read_is_refused_by_field_and_the_connection_goes_on() {
    let daemon = Daemon::start().await;
    let channel = Endpoint::from_shared(daemon.tcp().to_string()).unwrap().connect().await.unwrap();
    let not_text = || b"caf\xe9".to_vec();
    let say = RawSay { text: not_text() };
    let status = sent(&channel, "/askway.v1.AskService/Say", say).await;
    assert_eq!(named(&status), ["text"]);
    assert_eq!(status.message(), "text: must be text in UTF-8");
    let ask = RawAsk { questions: vec![RawQuestion { question: not_text() }] };
    let status = sent(&channel, "/askway.v1.AskService/Ask", ask).await;
    assert_eq!(named(&status), ["questions.question"]);
    let status = sent(&channel, "/askway.v1.AskService/ListAsks", RawList { scope: vec![1] }).await;
    assert_eq!(named(&status), ["scope"]);
    assert!(status.message().starts_with("scope: invalid wire type: "), "{}", status.message());
    daemon.stop().await;
}

#[tokio::test]
async fn a_message_too_large_is_refused_with_the_limit_and_the_connection_goes_on() {
    let daemon = Daemon::start().await;
    let (mut asks, _) = raw(&daemon).await;
    let huge = v1::AskRequest { context: "c".repeat(300 << 10), ..question("?") };
    let status = asks.ask(huge).await.unwrap_err();
    assert_eq!(status.code(), Code::InvalidArgument);
    assert_eq!(status.message(), "a message must be at most 262144 bytes");
    let details = status.get_error_details();
    let info = details.error_info().unwrap();
    assert_eq!((info.reason.as_str(), info.domain.as_str()), ("INVALID_ARGUMENT", DOMAIN));
    assert_eq!(info.metadata[LIMIT], MESSAGE_BYTES.to_string());
    let scope = v1::AskScope::Visible.into();
    let list = v1::ListAsksRequest { scope, ..Default::default() };
    assert!(asks.list_asks(list).await.unwrap().into_inner().asks.is_empty());
    daemon.stop().await;
}
