//! What a token made goes with it: other tokens, and the sessions of a host.

use super::*;
use askway::ask::Span;
use askway::client::ClientError;
use std::future::Future;
use v1::create_token_request::Principal as Named;

/// What `by` makes for `principal`, good for so many seconds.
async fn made(by: &Client, principal: Named, seconds: Option<i64>) -> (Secret, v1::Token) {
    let ttl = seconds.map(|seconds| prost_types::Duration { seconds, nanos: 0 });
    let request = v1::CreateTokenRequest { principal: Some(principal), ttl, ..Default::default() };
    let made = by.create_token(request).await.unwrap();
    assert_eq!(made.receipt.unwrap().result(), v1::Result::Accepted);
    (Secret::read(&made.secret).expect("a whole token"), made.token.unwrap())
}

async fn refused_for<T>(call: impl Future<Output = Result<T, ClientError>>, why: &str) {
    let Err(error) = call.await else { panic!("it is served") };
    assert_eq!(error.reason.as_deref(), Some(why));
}

async fn revoke(daemon: &Daemon, token: &v1::Token) -> Vec<String> {
    let request = v1::RevokeTokenRequest { token_id: token.id.clone(), ..Default::default() };
    let revoked = daemon.local().revoke_token(request).await.unwrap();
    assert_eq!(revoked.receipt.unwrap().result(), v1::Result::Accepted);
    let mut also = revoked.also_revoked_token_ids;
    also.sort();
    also
}

#[tokio::test]
async fn a_thief_keeps_no_token_that_it_made_by_a_stolen_one() {
    let daemon = Daemon::start().await;
    let owner = || Named::Person("owner".into());
    let with = |secret: &Secret| Client::new(daemon.tcp(), Some(secret.clone()));
    let (stolen, first) = daemon.token("", owner(), None).await;
    assert_eq!(first.from_token_id, "", "the daemon's user made it, on the socket");
    let (second_secret, second) = made(&with(&stolen), owner(), None).await;
    assert_eq!(second.from_token_id, first.id);
    let (third_secret, third) = made(&with(&second_secret), owner(), None).await;
    let (host_secret, host) = made(&with(&third_secret), Named::Host("thief".into()), None).await;
    let (beside_secret, _) = daemon.token("", owner(), None).await;
    let agent = enroll(&with(&host_secret), daemon.tcp(), "thief", String::new()).await;
    agent.client.status().await.expect("it is served");

    let mut expected = vec![second.id, third.id, host.id];
    expected.sort();
    assert_eq!(revoke(&daemon, &first).await, expected);
    for secret in [&stolen, &second_secret, &third_secret, &host_secret, &agent.token] {
        refused_for(with(secret).status(), "CREDENTIAL_REVOKED").await;
    }
    with(&beside_secret).status().await.expect("what the stolen one did not make is good");
    let listed = daemon.local().list_tokens("").await.unwrap();
    assert!(listed.iter().all(|token| !expected.contains(&token.id)), "{listed:?}");
    daemon.stop().await;
}

#[tokio::test]
async fn a_token_that_another_made_ends_with_it_at_the_latest() {
    let daemon = Daemon::start().await;
    let owner = || Named::Person("owner".into());
    let (client, minute) = daemon.token_for_owner(Some(60)).await;
    let (_, longer) = made(&client, owner(), Some(3600)).await;
    let (_, endless) = made(&client, owner(), None).await;
    let (_, shorter) = made(&client, owner(), Some(30)).await;
    assert_eq!(longer.expire_time, minute.expire_time);
    assert_eq!(endless.expire_time, minute.expire_time);
    assert!(shorter.expire_time.unwrap().seconds < minute.expire_time.unwrap().seconds);

    // And so do a host's sessions, and those that they send work to.
    let (secret, _) = daemon
        .token(
            "",
            Named::Host("night".into()),
            Some(prost_types::Duration { seconds: 60, nanos: 0 }),
        )
        .await;
    let host = Client::new(daemon.tcp(), Some(secret));
    let lead = enroll(&host, daemon.tcp(), "lead", String::new()).await;
    let worker = lead.send_work(daemon.tcp()).await;
    let ask = worker.ask("which?").await;
    daemon.bench.advance(Span::from_secs(60));
    refused_for(lead.client.status(), "CREDENTIAL_EXPIRED").await;
    refused_for(worker.client.status(), "CREDENTIAL_EXPIRED").await;
    let ask = daemon.owner().get_ask(&ask.id).await.unwrap().ask.unwrap();
    assert_eq!(ask.state(), v1::AskState::Open, "what they asked is still asked");
    daemon.stop().await;
}

#[tokio::test]
async fn the_sessions_of_a_hosts_token_are_revoked_with_it_and_the_operator_has_them() {
    let daemon = Daemon::start().await;
    let night = || Named::Host("night".into());
    let (secret, token) = daemon.token("", night(), None).await;
    let host = Client::new(daemon.tcp(), Some(secret));
    let lead = enroll(&host, daemon.tcp(), "lead", String::new()).await;
    let worker = lead.send_work(daemon.tcp()).await;
    let other = Client::new(daemon.tcp(), Some(daemon.token("", night(), None).await.0));
    let beside = enroll(&other, daemon.tcp(), "beside", String::new()).await;
    let ask = worker.ask("which?").await;
    revoke(&daemon, &token).await;
    for gone in [&lead, &worker] {
        refused_for(gone.client.status(), "CREDENTIAL_REVOKED").await;
    }
    beside.client.status().await.expect("another token of that host made it");
    let ask = daemon.owner().get_ask(&ask.id).await.unwrap().ask.unwrap();
    assert_eq!(ask.state(), v1::AskState::Open);

    // The host has another token; but were there none, the daemon's user goes on or makes an end.
    let session_id = worker.session.id.clone();
    let resume = v1::ResumeSessionRequest { session_id, ..Default::default() };
    let resumed = daemon.local().resume_session(resume).await.unwrap();
    let worker = Client::new(daemon.tcp(), Some(Secret::read(&resumed.token).unwrap()));
    worker.status().await.expect("it goes on by a new token");
    for session in [&lead.session, &beside.session] {
        let session_id = session.id.clone();
        let end = v1::EndSessionRequest { session_id, ..Default::default() };
        let ended = daemon.local().end_session(end).await.unwrap().session.unwrap();
        assert_eq!(ended.state(), v1::SessionState::Ended);
    }
    refused_for(beside.client.status(), "SESSION_ENDED").await;
    daemon.stop().await;
}

#[tokio::test]
async fn a_token_made_in_an_agents_environment_is_listed_as_that() {
    let daemon = Daemon::start().await;
    let marked = daemon.local().typed_in_agent(true);
    let (_, token) = made(&marked, Named::Person("owner".into()), None).await;
    assert!(token.in_agent);
    let listed = daemon.local().list_tokens("").await.unwrap();
    let found: Vec<_> = listed.iter().filter(|token| token.in_agent).collect();
    assert_eq!(found.iter().map(|found| &found.id).collect::<Vec<_>>(), [&token.id]);
    daemon.stop().await;
}
