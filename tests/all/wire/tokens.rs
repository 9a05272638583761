//! Tokens: made, listed, over, revoked; and what is cut with them.

use super::*;
use askway::ask::Span;
use askway::client::ClientError;
use std::future::Future;
use std::sync::atomic::Ordering;
use tonic::{Code, Request};
use v1::admin_service_client::AdminServiceClient;
use v1::ask_service_client::AskServiceClient;
use v1::create_token_request::Principal as Named;
use v1::session_service_client::SessionServiceClient;

fn reason(error: &ClientError) -> &str {
    error.reason.as_deref().expect("every fault has a reason")
}

fn bearer<T>(message: T, token: &Secret) -> Request<T> {
    let mut request = Request::new(message);
    let value = format!("Bearer {}", token.expose()).parse().unwrap();
    request.metadata_mut().insert("authorization", value);
    request
}

/// How a stream ends, whatever comes before.
async fn end<T>(mut stream: tonic::Streaming<T>) -> (Code, String) {
    use tonic_types::StatusExt;
    let ended = async {
        loop {
            match stream.message().await {
                Ok(Some(_)) => {}
                Ok(None) => return (Code::Ok, String::new()),
                Err(status) => {
                    let details = status.get_error_details();
                    let info = details.error_info().expect("every fault has one");
                    return (status.code(), info.reason.clone());
                }
            }
        }
    };
    tokio::time::timeout(PATIENCE, ended).await.expect("it ends")
}

async fn revoke_session(daemon: &Daemon, session: &v1::Session) -> v1::RevokeSessionResponse {
    let session_id = session.id.clone();
    let request = v1::RevokeSessionRequest { session_id, ..Default::default() };
    daemon.local().revoke_session(request).await.unwrap()
}

/// A call with the token of `agent` is refused, for this.
async fn refused_for<T>(call: impl Future<Output = Result<T, ClientError>>, why: &str) {
    let Err(error) = call.await else { panic!("it is served") };
    assert_eq!((error.code, reason(&error)), (Code::Unauthenticated, why));
}

#[tokio::test]
async fn a_token_is_shown_once_listed_without_itself_and_gone_when_revoked() {
    let daemon = Daemon::start().await;
    let host = Named::Host("ci".into());
    let request = v1::CreateTokenRequest {
        request_id: "one".into(),
        principal: Some(host),
        note: "the build machine".into(),
        ..Default::default()
    };
    let first = daemon.local().create_token(request.clone()).await.unwrap();
    // Until it is used a repeat makes another in its place: one of them was lost on the way.
    let second = daemon.local().create_token(request.clone()).await.unwrap();
    assert!(second.receipt.as_ref().unwrap().replayed);
    assert_eq!(first.token.as_ref().unwrap().id, second.token.as_ref().unwrap().id);
    let with = |text: &str| Client::new(daemon.tcp(), Some(Secret::read(text).unwrap()));
    refused_for(with(&first.secret).status(), "BAD_CREDENTIAL").await;
    let client = with(&second.secret);
    assert_eq!(client.status().await.unwrap().caller, "host ci");
    let third = daemon.local().create_token(request).await.unwrap();
    assert_eq!(third.secret, "", "it was used, and is not shown again");

    let listed = daemon.local().list_tokens("").await.unwrap();
    let made = listed.iter().find(|token| token.note == "the build machine").unwrap();
    assert_eq!(made.principal, Some(v1::token::Principal::Host("ci".into())));
    assert!(!format!("{listed:?}").contains(&second.secret));
    let token_id = made.id.clone();
    let revoke = v1::RevokeTokenRequest { token_id, ..Default::default() };
    daemon.local().revoke_token(revoke.clone()).await.unwrap();
    refused_for(client.status(), "CREDENTIAL_REVOKED").await;
    let again = daemon.local().revoke_token(revoke).await.unwrap_err();
    assert_eq!(reason(&again), "NOT_FOUND");
    let listed = daemon.local().list_tokens("").await.unwrap();
    assert!(listed.iter().all(|token| token.note.is_empty()));
    daemon.stop().await;
}

/// The scheme of an `authorization` is told in any case (RFC 9110, 11.1).
#[tokio::test]
async fn a_bearer_is_one_however_it_is_spelled() {
    let daemon = Daemon::start().await;
    let channel = tonic::transport::Endpoint::from_shared(daemon.tcp().to_string()).unwrap();
    let mut admin = AdminServiceClient::new(channel.connect().await.unwrap());
    for (scheme, is_taken) in [("bearer", true), ("BEARER", true), ("basic", false), ("", false)] {
        let mut request = Request::new(v1::GetStatusRequest {});
        let value = format!("{scheme} {}", daemon.owner.expose());
        request.metadata_mut().insert("authorization", value.trim().parse().unwrap());
        assert_eq!(admin.get_status(request).await.is_ok(), is_taken, "{scheme}");
    }
    daemon.stop().await;
}

#[tokio::test]
async fn every_stream_of_a_revoked_token_is_cut_and_no_other() {
    let daemon = Daemon::start().await;
    let (lead, worker) = daemon.pair(daemon.tcp()).await;
    let ask = worker.ask("which?").await;
    let person = Named::Person("owner".into());
    let (secret, token) = daemon.token("", person, None).await;
    let channel = tonic::transport::Endpoint::from_shared(daemon.tcp().to_string()).unwrap();
    let mut asks = AskServiceClient::new(channel.connect().await.unwrap());
    let watch = v1::WatchAskRequest { ask_id: ask.id.clone(), ..Default::default() };
    let inbox = v1::WatchInboxRequest::default();
    let watched = asks.watch_ask(bearer(watch.clone(), &secret)).await.unwrap().into_inner();
    let inbox = asks.watch_inbox(bearer(inbox, &secret)).await.unwrap().into_inner();
    let kept = asks.watch_ask(bearer(watch, &daemon.owner)).await.unwrap().into_inner();
    let revoke = v1::RevokeTokenRequest { token_id: token.id, ..Default::default() };
    daemon.local().revoke_token(revoke).await.unwrap();
    let revoked = (Code::Unauthenticated, "CREDENTIAL_REVOKED".to_owned());
    assert_eq!(end(watched).await, revoked);
    assert_eq!(end(inbox).await, revoked);
    accepted(lead.client.answer_agent(answer_agent(&ask)).await.unwrap());
    assert_eq!(end(kept).await.0, Code::Ok, "the other token's watch saw its end");
    daemon.stop().await;
}

#[tokio::test]
async fn a_stream_is_cut_when_the_time_of_its_token_is_over() {
    let daemon = Daemon::start().await;
    let person = Named::Person("owner".into());
    let ttl = Some(prost_types::Duration { seconds: 60, nanos: 0 });
    let (secret, _) = daemon.token("", person, ttl).await;
    let channel = tonic::transport::Endpoint::from_shared(daemon.tcp().to_string()).unwrap();
    let mut asks = AskServiceClient::new(channel.connect().await.unwrap());
    let inbox = v1::WatchInboxRequest::default();
    let mut inbox = asks.watch_inbox(bearer(inbox, &secret)).await.unwrap().into_inner();
    assert!(inbox.message().await.unwrap().is_some(), "it begins");
    daemon.bench.advance(Span::from_secs(60));
    assert_eq!(end(inbox).await, (Code::Unauthenticated, "CREDENTIAL_EXPIRED".to_owned()));
    daemon.stop().await;
}

#[tokio::test]
async fn a_revoked_session_takes_all_below_it_along_and_their_asks_stay_open() {
    let daemon = Daemon::start().await;
    let (lead, worker) = daemon.pair(daemon.tcp()).await;
    let helper = worker.send_work(daemon.tcp()).await;
    let sibling = lead.send_work(daemon.tcp()).await;
    let open = helper.ask("which?").await;
    let ticket = worker.client.send_work(v1::SendWorkRequest::default()).await.unwrap().ticket;
    let channel = tonic::transport::Endpoint::from_shared(daemon.tcp().to_string()).unwrap();
    let channel = channel.connect().await.unwrap();
    let mut sessions = SessionServiceClient::new(channel.clone());
    let hold = v1::HoldSessionRequest { hold_secret: helper.hold.expose().into() };
    let held = sessions.hold_session(bearer(hold.clone(), &helper.token)).await.unwrap();

    let revoked = revoke_session(&daemon, &worker.session).await;
    assert_eq!(revoked.session.unwrap().state(), v1::SessionState::Paused);
    refused_for(worker.client.status(), "CREDENTIAL_REVOKED").await;
    refused_for(helper.client.status(), "CREDENTIAL_REVOKED").await;
    let cut = end(held.into_inner()).await;
    assert_eq!(cut, (Code::Unauthenticated, "CREDENTIAL_REVOKED".to_owned()));
    let again = sessions.hold_session(bearer(hold, &helper.token)).await.unwrap_err();
    assert_eq!(again.code(), Code::Unauthenticated, "its holder cannot take it up again");
    let enroll = v1::EnrollRequest { agent: "thief".into(), ticket, ..Default::default() };
    let thief = Client::new(daemon.tcp(), None).enroll(enroll.clone()).await.unwrap();
    assert_eq!(thief.receipt.unwrap().reason, "BAD_TICKET");
    for near in [&lead, &sibling] {
        near.client.status().await.expect("neither above nor beside is touched");
    }
    let ask = daemon.owner().get_ask(&open.id).await.unwrap().ask.unwrap();
    assert_eq!(ask.state(), v1::AskState::Open);

    // The host goes on with it, by another token; what the old one made stays void.
    let resume = |session: &v1::Session| v1::ResumeSessionRequest {
        session_id: session.id.clone(),
        ..Default::default()
    };
    let host = Client::new(daemon.tcp(), Some(daemon.host.clone()));
    let resumed = host.resume_session(resume(&worker.session)).await.unwrap();
    let worker = Client::new(daemon.tcp(), Some(Secret::read(&resumed.token).unwrap()));
    worker.status().await.unwrap();
    let thief = Client::new(daemon.tcp(), None).enroll(enroll).await.unwrap();
    assert_eq!(thief.receipt.unwrap().reason, "BAD_TICKET");
    refused_for(helper.client.status(), "CREDENTIAL_REVOKED").await;
    let ticket = worker.send_work(v1::SendWorkRequest::default()).await.unwrap().ticket;
    let enroll = v1::EnrollRequest { agent: "new".into(), ticket, ..Default::default() };
    let new = Client::new(daemon.tcp(), None).enroll(enroll).await.unwrap();
    assert_eq!(new.receipt.unwrap().result(), v1::Result::Accepted);
    daemon.stop().await;
}

#[tokio::test]
async fn a_resume_cuts_the_streams_of_the_token_before() {
    let daemon = Daemon::start().await;
    let lead = daemon.root(daemon.tcp()).await;
    let channel = tonic::transport::Endpoint::from_shared(daemon.tcp().to_string()).unwrap();
    let mut asks = AskServiceClient::new(channel.connect().await.unwrap());
    let inbox = v1::WatchInboxRequest::default();
    let inbox = asks.watch_inbox(bearer(inbox, &lead.token)).await.unwrap().into_inner();
    lead.client.pause_session(v1::PauseSessionRequest::default()).await.unwrap();
    let host = Client::new(daemon.tcp(), Some(daemon.host.clone()));
    let session_id = lead.session.id.clone();
    let resume = v1::ResumeSessionRequest { session_id, ..Default::default() };
    host.resume_session(resume).await.unwrap();
    assert_eq!(end(inbox).await, (Code::Unauthenticated, "BAD_CREDENTIAL".to_owned()));
    daemon.stop().await;
}

#[tokio::test]
async fn every_stream_of_a_session_is_cut_when_it_ends_and_no_other() {
    let daemon = Daemon::start().await;
    let (lead, worker) = daemon.pair(daemon.tcp()).await;
    let ask = worker.ask("which?").await;
    let channel = tonic::transport::Endpoint::from_shared(daemon.tcp().to_string()).unwrap();
    let channel = channel.connect().await.unwrap();
    let mut asks = AskServiceClient::new(channel.clone());
    let mut sessions = SessionServiceClient::new(channel);
    let watch = v1::WatchAskRequest { ask_id: ask.id.clone(), ..Default::default() };
    let kept = asks.watch_ask(bearer(watch.clone(), &worker.token)).await.unwrap().into_inner();
    let watched = asks.watch_ask(bearer(watch, &lead.token)).await.unwrap().into_inner();
    let inbox = bearer(v1::WatchInboxRequest::default(), &lead.token);
    let inbox = asks.watch_inbox(inbox).await.unwrap().into_inner();
    let deliveries = bearer(v1::WatchDeliveriesRequest::default(), &lead.token);
    let deliveries = asks.watch_deliveries(deliveries).await.unwrap().into_inner();
    let hold = v1::HoldSessionRequest { hold_secret: lead.hold.expose().into() };
    let held = sessions.hold_session(bearer(hold, &lead.token)).await.unwrap().into_inner();
    let host = Client::new(daemon.tcp(), Some(daemon.host.clone()));
    let session_id = lead.session.id.clone();
    let over = v1::EndSessionRequest { session_id, ..Default::default() };
    host.end_session(over).await.unwrap();
    let ended = (Code::Unauthenticated, "SESSION_ENDED".to_owned());
    assert_eq!(end(watched).await, ended);
    assert_eq!(end(inbox).await, ended);
    assert_eq!(end(deliveries).await, ended);
    assert_eq!(end(held).await, ended);
    accepted(daemon.owner().answer(answer(&ask)).await.unwrap());
    assert_eq!(end(kept).await.0, Code::Ok, "the asker's watch saw its end");
    daemon.stop().await;
}

/// What a worker takes is kept by no request id, and is looked at all the same.
#[tokio::test]
async fn nothing_is_done_by_who_was_let_in_before_a_revocation_or_an_end() {
    use crate::bench::{draft, fresh};
    let daemon = Daemon::start().await;
    let service = &daemon.bench.service;
    let why = |error: askway::error::Error| match error {
        askway::error::Error::Unauthenticated(why, _) => why.as_str(),
        other => panic!("{other:?}"),
    };
    let asker = daemon.root(daemon.tcp()).await;
    let ask = asker.ask("which?").await;
    let settled = accepted(daemon.owner().answer(answer(&ask)).await.unwrap());
    let caller = daemon.bench.log_in(&asker.token).await.unwrap();
    revoke_session(&daemon, &asker.session).await;
    let worker = askway::service::Worker { length: Span::from_mins(1), holder: "late".into() };
    let taken = service.take_deliveries(&caller, &fresh(), 1, &worker).await;
    assert_eq!(why(taken.unwrap_err()), "CREDENTIAL_REVOKED");
    assert!(daemon.bench.get(settled.id.parse().unwrap()).await.lease.is_none());

    let asker = daemon.root(daemon.tcp()).await;
    let caller = daemon.bench.log_in(&asker.token).await.unwrap();
    asker.client.end_session(v1::EndSessionRequest::default()).await.unwrap();
    let late = service.ask(&caller, fresh(), None, draft("now?")).await;
    assert_eq!(why(late.unwrap_err()), "SESSION_ENDED");
    daemon.stop().await;
}

/// A call that was let in before a revocation and is decided after it does nothing.
#[tokio::test]
async fn what_was_let_in_before_a_revocation_is_not_done_after_it() {
    let daemon = Daemon::start().await;
    let lead = daemon.root(daemon.tcp()).await;
    let ask = lead.ask("which?").await;
    let (secret, token) = daemon.token("", Named::Person("owner".into()), None).await;
    let caller = daemon.bench.log_in(&secret).await.unwrap();
    let revoke = v1::RevokeTokenRequest { token_id: token.id, ..Default::default() };
    daemon.local().revoke_token(revoke).await.unwrap();
    let id = ask.id.parse().unwrap();
    let digest = ask.content_digest.parse().unwrap();
    let answers = crate::bench::yes();
    let service = &daemon.bench.service;
    let late = service.answer(&caller, crate::bench::fresh(), id, digest, answers).await;
    let askway::error::Error::Unauthenticated(why, _) = late.unwrap_err() else { panic!() };
    assert_eq!(why.as_str(), "CREDENTIAL_REVOKED");
    assert!(daemon.bench.get(id).await.is_open());
    daemon.stop().await;
}

#[tokio::test]
async fn a_part_of_a_token_is_refused_before_the_store_is_asked() {
    use crate::faults::Held;
    let held = Held::new();
    let daemon = Daemon::over(held.clone()).await;
    held.fails.store(true, Ordering::SeqCst);
    let text = daemon.owner.expose();
    let last = if text.ends_with('0') { '1' } else { '0' };
    let mistyped = format!("{}{last}", &text[..text.len() - 1]);
    let channel = tonic::transport::Endpoint::from_shared(daemon.tcp().to_string()).unwrap();
    let mut admin = AdminServiceClient::new(channel.connect().await.unwrap());
    let mut request = Request::new(v1::GetStatusRequest {});
    let header = format!("Bearer {mistyped}").parse().unwrap();
    request.metadata_mut().insert("authorization", header);
    let refused = admin.get_status(request).await.unwrap_err();
    assert_eq!(refused.code(), Code::Unauthenticated);
    assert!(refused.message().contains("mistyped"), "{}", refused.message());
    let whole = admin.get_status(bearer(v1::GetStatusRequest {}, &daemon.owner)).await;
    assert_eq!(whole.unwrap_err().code(), Code::Unavailable, "the store is asked for a whole one");
    held.fails.store(false, Ordering::SeqCst);
    daemon.stop().await;
}

#[tokio::test]
async fn a_token_of_no_end_of_a_wrong_name_or_of_nobody_is_not_made() {
    let daemon = Daemon::start().await;
    let make = async |principal: Named, seconds: i64, note: &str| {
        let ttl = (seconds != 0).then_some(prost_types::Duration { seconds, nanos: 0 });
        let (principal, note) = (Some(principal), note.to_owned());
        let request = v1::CreateTokenRequest { principal, ttl, note, ..Default::default() };
        let error = daemon.local().create_token(request).await.unwrap_err();
        let named: Vec<_> = error.fields.iter().map(|(field, _)| field.clone()).collect();
        (reason(&error).to_owned(), named)
    };
    let invalid = |field: &str| ("INVALID_ARGUMENT".to_owned(), vec![field.to_owned()]);
    let ci = || Named::Host("ci".into());
    assert_eq!(make(Named::Host("local".into()), 0, "").await, invalid("host"));
    assert_eq!(make(ci(), 11 * 365 * 24 * 3_600, "").await, invalid("ttl"));
    assert_eq!(make(ci(), 0, "two\nlines").await, invalid("note"));
    assert_eq!(make(ci(), 0, &"x".repeat(129)).await, invalid("note"));
    assert_eq!(make(Named::Person("nobody".into()), 0, "").await.0, "NOT_FOUND");
    assert_eq!(daemon.local().list_tokens("").await.unwrap().len(), 2, "the folder's alone");
    daemon.stop().await;
}
