//! Namespaces: what is in one tells nothing of another.

use super::*;
use askway::ask::{AskId, SessionId, Span, TokenId};
use askway::client::ClientError;
use std::collections::HashMap;
use std::fmt::Debug;
use v1::create_token_request::Principal as Named;

/// Asks and sessions of the namespace `busy`, of labels and names that the other has too.
struct Busy {
    ask: String,
    session: String,
    token: String,
}

impl Busy {
    /// Ids that were never made, where there is no such namespace.
    fn none() -> Self {
        let time = Timestamp::from_millis(1_700_000_000_000);
        Self {
            ask: AskId::new(time, [1; 6]).to_string(),
            session: SessionId::new(time, [2; 6]).to_string(),
            token: TokenId::new(time, [3; 6]).to_string(),
        }
    }

    async fn begin(daemon: &Daemon) -> Self {
        let theirs = twins::busy(daemon).await;
        Self { ask: theirs.ask.id, session: theirs.session_id, token: theirs.token_id }
    }
}

/// Ids and secrets by the order in which they come: they alone are made by chance.
#[derive(Default)]
struct Masks(HashMap<String, String>);

impl Masks {
    fn mask(&mut self, text: &str) -> String {
        let mut masked = String::new();
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let mut rest = text;
        while let Some(start) = rest.find(is_part) {
            let length = rest[start..].find(|c| !is_part(c)).unwrap_or(rest.len() - start);
            let word = &rest[start..start + length];
            masked.push_str(&rest[..start]);
            let kinds = ["ask", "ses", "wrk", "tok", "lse"];
            let id = word
                .split_once('_')
                .is_some_and(|(kind, id)| kinds.contains(&kind) && matches!(id.len(), 16 | 20));
            if id {
                let next = format!("<{}>", self.0.len());
                masked.push_str(self.0.entry(word.to_owned()).or_insert(next));
            } else {
                masked.push_str(word);
            }
            rest = &rest[start + length..];
        }
        masked + rest
    }
}

/// What a client was told, word for word.
struct Told {
    masks: Masks,
    lines: Vec<String>,
}

impl Told {
    fn note<T: Debug>(&mut self, call: &str, result: Result<T, ClientError>) -> Option<T> {
        let line = match &result {
            Ok(response) => format!("{response:?}"),
            Err(error) => format!("{:?} {:?} {}", error.code, error.reason, error.message),
        };
        self.lines.push(format!("{call}: {}", self.masks.mask(&line)));
        result.ok()
    }
}

/// Everything that can be called, in `default`, with ids of its own and of the other's.
async fn script(daemon: &Daemon, other: &Busy) -> Vec<String> {
    // Lists are in the order of time, and time stands still here: each has an instant of its own.
    let lead = daemon.root(daemon.tcp()).await;
    daemon.bench.advance(Span::from_millis(1));
    let worker = lead.send_work(daemon.tcp()).await;
    daemon.bench.advance(Span::from_millis(1));
    let mut told = Told { masks: Masks::default(), lines: Vec::new() };
    let (owner, host) = (daemon.owner(), Client::new(daemon.tcp(), Some(daemon.host.clone())));
    let ask = worker.ask("which?").await;
    for (who, client) in
        [("lead", &lead.client), ("worker", &worker.client), ("owner", &owner), ("host", &host)]
    {
        // Where a daemon listens is left to chance here.
        let status = client.status().await;
        let listen_addresses = Vec::new();
        told.note(who, status.map(|all| v1::GetStatusResponse { listen_addresses, ..all }));
        told.note(who, client.list_sessions(true).await);
        for scope in [v1::AskScope::WaitingOnMe, v1::AskScope::Mine, v1::AskScope::Visible] {
            told.note(who, client.list_asks(scope).await);
            let filter = v1::AskFilter { settled: true, ..Default::default() };
            told.note(who, client.find_asks(scope, filter).await);
        }
        for id in [&ask.id, &other.ask, &other.ask[..20].to_owned()] {
            told.note(who, client.get_ask(id).await);
            told.note(who, client.list_events(id).await);
        }
        for session_id in [&other.session] {
            let session_id = session_id.clone();
            let pause = v1::PauseSessionRequest { session_id, ..Default::default() };
            told.note(who, client.pause_session(pause).await);
            let session_id = other.session.clone();
            let revoke = v1::RevokeSessionRequest { session_id, ..Default::default() };
            told.note(who, client.revoke_session(revoke).await);
        }
        let foreign = v1::Ask { id: other.ask.clone(), ..ask.clone() };
        told.note(who, client.answer(answer(&foreign)).await);
        told.note(who, client.answer_agent(answer_agent(&foreign)).await);
        let (ask_id, text) = (other.ask.clone(), "hm".to_owned());
        told.note(who, client.say(v1::SayRequest { ask_id, text, ..Default::default() }).await);
        let ask_id = other.ask.clone();
        told.note(who, client.withdraw(v1::WithdrawRequest { ask_id, ..Default::default() }).await);
        told.note(who, client.list_people("").await);
        told.note(who, client.list_people("busy").await);
        told.note(who, client.list_tokens("busy").await);
        let token_id = other.token.clone();
        let revoke = v1::RevokeTokenRequest { token_id, ..Default::default() };
        told.note(who, client.revoke_token(revoke).await);
        let add = v1::AddPersonRequest { name: "ann".into(), ..Default::default() };
        told.note(who, client.add_person(add).await);
    }
    let first = told.note("answer", owner.answer(answer(&ask)).await);
    assert!(first.is_some_and(|receipt| receipt.result() == v1::Result::Accepted));
    told.lines
}

#[tokio::test]
async fn c134_a_namespace_is_told_the_same_beside_an_empty_one_and_a_busy_one() {
    let clock = wall_clock();
    let alone = Daemon::at(clock).await;
    let with_nobody = script(&alone, &Busy::none()).await;
    alone.stop().await;
    let beside = Daemon::at(clock).await;
    let busy = Busy::begin(&beside).await;
    let with_somebody = script(&beside, &busy).await;
    for (alone, beside) in with_nobody.iter().zip(&with_somebody) {
        assert_eq!(alone, beside);
    }
    assert_eq!(with_nobody.len(), with_somebody.len());
    // And there was something to be told of.
    let owner = beside.token("busy", Named::Person("owner".into()), None).await.0;
    let owner = Client::new(beside.tcp(), Some(owner));
    assert_eq!(owner.status().await.unwrap().waiting_on_sessions, 1);
    assert_eq!(owner.list_sessions(true).await.unwrap().len(), 2);
    let people = owner.list_people("").await.unwrap();
    assert_eq!(people.len(), 3, "its owner, made with the first token, ann and bob");
    beside.stop().await;
}

#[tokio::test]
async fn only_the_daemons_user_reaches_into_another_namespace() {
    let daemon = Daemon::start().await;
    let busy = Busy::begin(&daemon).await;
    let session_id = busy.session.clone();
    let revoke = v1::RevokeSessionRequest { session_id, ..Default::default() };
    let error = daemon.owner().revoke_session(revoke.clone()).await.unwrap_err();
    assert_eq!(error.reason.as_deref(), Some("NOT_FOUND"));
    let error = daemon.owner().list_people("busy").await.unwrap_err();
    assert_eq!(error.reason.as_deref(), Some("WRONG_PRINCIPAL"));
    // A host that calls itself `local` there is not the daemon's user.
    let local = Some(Named::Host("local".into()));
    let named = v1::CreateTokenRequest { principal: local, ..Default::default() };
    let named = v1::CreateTokenRequest { namespace: "busy".into(), ..named };
    let error = daemon.local().create_token(named).await.unwrap_err();
    assert_eq!(error.reason.as_deref(), Some("INVALID_ARGUMENT"));
    let revoked = daemon.local().revoke_session(revoke).await.unwrap();
    assert_eq!(revoked.session.unwrap().state(), v1::SessionState::Paused);
    daemon.stop().await;
}

#[tokio::test]
async fn who_is_asked_in_a_namespace_is_who_is_there() {
    let daemon = Daemon::start().await;
    let host = daemon.token("acme", Named::Host("ci".into()), None).await.0;
    let client = Client::new(daemon.tcp(), Some(host));
    let lead = enroll(&client, daemon.tcp(), "lead", String::new()).await;
    let ask = lead.ask("which?").await;
    let owner = daemon.token("acme", Named::Person("owner".into()), None).await.0;
    let owner = Client::new(daemon.tcp(), Some(owner));
    let inbox = owner.list_asks(v1::AskScope::WaitingOnMe).await.unwrap();
    assert_eq!(inbox.iter().map(|ask| &ask.id).collect::<Vec<_>>(), [&ask.id]);
    assert!(daemon.owner().list_asks(v1::AskScope::Visible).await.unwrap().is_empty());
    let late = daemon.owner().answer(answer(&ask)).await.unwrap_err();
    assert_eq!(late.reason.as_deref(), Some("NOT_FOUND"), "the other owner is another person");
    accepted(owner.answer(answer(&ask)).await.unwrap());
    daemon.stop().await;
}

/// A name that is mistyped is no namespace, and makes none.
#[tokio::test]
async fn a_namespace_is_made_on_purpose_and_listed_for_the_daemons_user_alone() {
    let daemon = Daemon::start().await;
    let local = daemon.local();
    let gone = |error: ClientError| {
        assert_eq!(error.reason.as_deref(), Some("NOT_FOUND"));
        assert!(error.message.contains("--new-namespace"), "{error}");
    };
    let host = Some(Named::Host("ci".into()));
    let namespace = "amce".to_owned();
    let create = v1::CreateTokenRequest { principal: host, namespace, ..Default::default() };
    gone(local.create_token(create.clone()).await.unwrap_err());
    let (name, namespace) = ("ann".to_owned(), "amce".to_owned());
    let add = v1::AddPersonRequest { name, namespace, ..Default::default() };
    gone(local.add_person(add).await.unwrap_err());
    gone(local.list_people("amce").await.unwrap_err());
    gone(local.list_tokens("amce").await.unwrap_err());
    assert!(local.status().await.unwrap().namespaces.is_empty(), "nothing was made");

    let host = daemon.token("acme", Named::Host("ci".into()), None).await.0;
    assert_eq!(local.status().await.unwrap().namespaces, ["acme"]);
    let namespace = "acme".to_owned();
    local.create_token(v1::CreateTokenRequest { namespace, ..create }).await.expect("it is there");
    // A tenant is told of no namespaces, nor where the daemon listens and has its data.
    let tenant = Client::new(daemon.tcp(), Some(host)).status().await.unwrap();
    assert!(tenant.namespaces.is_empty() && tenant.listen_addresses.is_empty(), "{tenant:?}");
    let owner = daemon.owner().status().await.unwrap();
    assert_eq!(
        (owner.namespaces.len(), owner.listen_addresses.len()),
        (0, 1),
        "over TCP: {owner:?}"
    );
    daemon.stop().await;
}
