//! What an agent with good credentials of its own may try, and what somebody without any, each by its
//! name.

use super::*;
use askway::ask::{Policy, Span};
use askway::client::ClientError;
use askway::service::Rates;
use std::collections::HashSet;
use tonic::Code;

async fn reason_of<T>(call: impl Future<Output = Result<T, ClientError>>) -> (Code, String) {
    let Err(error) = call.await else { panic!("it is served") };
    (error.code, error.reason.expect("every fault has a reason"))
}

fn bad_credential() -> (Code, String) {
    (Code::Unauthenticated, "BAD_CREDENTIAL".to_owned())
}

fn with(daemon: &Daemon, token: &str) -> Client {
    Client::new(daemon.tcp(), Some(Secret::read(token).expect("it is whole")))
}

/// With the check that belongs there, of a kind that it is not, of a namespace that is not there: what
/// is not in the store is nobody's.
#[tokio::test]
async fn a_forged_token_is_nobodys_however_well_it_is_made() {
    let daemon = Daemon::start().await;
    let (lead, _) = daemon.pair(daemon.tcp()).await;
    for kind in [Kind::Person, Kind::Host, Kind::Session] {
        let forged = Secret::new(kind, [7; 32]);
        let client = Client::new(daemon.tcp(), Some(forged));
        assert_eq!(reason_of(client.status()).await, bad_credential(), "{kind:?}");
    }
    // A good session's random bytes, called a person's: with the old check, and with none.
    let random = &lead.token.expose()["asks_".len()..];
    for claimed in [format!("askp_{random}"), format!("askp_{}", &random[..64])] {
        let Some(secret) = Secret::read(&claimed) else { continue };
        let client = Client::new(daemon.tcp(), Some(secret));
        assert_eq!(reason_of(client.status()).await, bad_credential(), "{claimed}");
    }
    // Every bit of it counts.
    let text = lead.token.expose().to_owned();
    for at in ["asks_".len(), text.len() / 2, text.len() - 1] {
        let mut bytes = text.clone().into_bytes();
        bytes[at] = if bytes[at] == b'0' { b'1' } else { b'0' };
        let changed = String::from_utf8(bytes).unwrap();
        assert!(Secret::read(&changed).is_none(), "it is known for mistyped: {changed}");
    }
    lead.client.status().await.expect("the true one is good");
    daemon.stop().await;
}

/// A token from before a resume, of a session that has ended, and one whose ticket was spent.
#[tokio::test]
async fn a_token_played_again_after_its_time_opens_nothing() {
    let daemon = Daemon::start().await;
    let (lead, worker) = daemon.pair(daemon.tcp()).await;
    let ask = worker.ask("which?").await;
    let ticket = lead.client.send_work(v1::SendWorkRequest::default()).await.unwrap().ticket;
    let anybody = Client::new(daemon.tcp(), None);
    enroll(&anybody, daemon.tcp(), "new", ticket.clone()).await;
    let enroll = v1::EnrollRequest { agent: "again".into(), ticket, ..Default::default() };
    let again = anybody.enroll(enroll).await.unwrap();
    assert_eq!(again.receipt.unwrap().reason, "BAD_TICKET");
    assert!(again.token.is_empty() && again.hold_secret.is_empty());

    let host = Client::new(daemon.tcp(), Some(daemon.host.clone()));
    lead.client.pause_session(v1::PauseSessionRequest::default()).await.unwrap();
    let session_id = lead.session.id.clone();
    let resume = v1::ResumeSessionRequest { session_id, ..Default::default() };
    let resumed = host.resume_session(resume).await.unwrap();
    assert_eq!(reason_of(lead.client.status()).await, bad_credential());
    assert_eq!(reason_of(lead.client.answer_agent(answer_agent(&ask))).await, bad_credential());
    let lead = with(&daemon, &resumed.token);
    lead.end_session(v1::EndSessionRequest::default()).await.unwrap();
    let ended = (Code::Unauthenticated, "SESSION_ENDED".to_owned());
    assert_eq!(reason_of(lead.answer_agent(answer_agent(&ask))).await, ended);
    daemon.stop().await;
}

/// A thief of a session's token is that session, until the session is revoked; and no more than it.
#[tokio::test]
async fn a_stolen_token_is_worth_what_it_is_and_ends_with_its_revocation() {
    let daemon = Daemon::start().await;
    let (lead, worker) = daemon.pair(daemon.tcp()).await;
    let ask = worker.ask("which?").await;
    let thief = with(&daemon, worker.token.expose());
    thief.get_ask(&ask.id).await.expect("it is the session's");
    let wrong = (Code::PermissionDenied, "WRONG_PRINCIPAL".to_owned());
    assert_eq!(reason_of(thief.answer(answer(&ask))).await, wrong);
    assert_eq!(reason_of(thief.list_tokens("")).await, wrong);
    let person = v1::create_token_request::Principal::Person("owner".into());
    let make = v1::CreateTokenRequest { principal: Some(person), ..Default::default() };
    assert_eq!(reason_of(thief.create_token(make)).await, wrong);
    assert_eq!(refused(thief.answer_agent(answer_agent(&ask)).await.unwrap()), "NOT_SENDER");
    let hers = lead.ask("hers?").await;
    let unknown = (Code::NotFound, "NOT_FOUND".to_owned());
    assert_eq!(reason_of(thief.get_ask(&hers.id)).await, unknown);

    let session_id = worker.session.id.clone();
    let revoke = v1::RevokeSessionRequest { session_id, ..Default::default() };
    daemon.owner().revoke_session(revoke).await.unwrap();
    let revoked = (Code::Unauthenticated, "CREDENTIAL_REVOKED".to_owned());
    assert_eq!(reason_of(thief.get_ask(&ask.id)).await, revoked);
    let kept = daemon.owner().get_ask(&ask.id).await.unwrap().ask.unwrap();
    assert_eq!(kept.state(), v1::AskState::Open);
    daemon.stop().await;
}

#[tokio::test]
async fn a_session_answers_for_no_other_not_for_one_that_ended_and_not_for_another_run_of_its_agent()
 {
    let daemon = Daemon::start().await;
    let (lead, worker) = daemon.pair(daemon.tcp()).await;
    let ask = worker.ask("which?").await;
    let unknown = (Code::NotFound, "NOT_FOUND".to_owned());
    // Another of the same name, of the same host, and a sibling of the asker's.
    let twin = daemon.root(daemon.tcp()).await;
    assert_eq!(twin.session.agent, lead.session.agent);
    let sibling = lead.send_work(daemon.tcp()).await;
    for other in [&twin, &sibling] {
        let said = reason_of(other.client.answer_agent(answer_agent(&ask))).await;
        assert_eq!(said, unknown, "{}", other.session.agent);
    }
    // The asked one ends: who runs as it later does not answer in its place.
    lead.client.end_session(v1::EndSessionRequest::default()).await.unwrap();
    let ended = (Code::Unauthenticated, "SESSION_ENDED".to_owned());
    assert_eq!(reason_of(lead.client.answer_agent(answer_agent(&ask))).await, ended);
    let next = daemon.root(daemon.tcp()).await;
    assert_eq!(reason_of(next.client.answer_agent(answer_agent(&ask))).await, unknown);
    let ask = daemon.owner().get_ask(&ask.id).await.unwrap().ask.unwrap();
    assert_eq!(ask.state(), v1::AskState::Open);
    accepted(daemon.owner().answer(answer(&ask)).await.unwrap());
    daemon.stop().await;
}

#[tokio::test]
async fn nobody_answers_itself_neither_at_once_nor_by_way_of_its_own_children() {
    let daemon = Daemon::start().await;
    let (lead, worker) = daemon.pair(daemon.tcp()).await;
    let ask = worker.ask("which?").await;
    assert_eq!(
        refused(worker.client.answer_agent(answer_agent(&ask)).await.unwrap()),
        "NOT_SENDER"
    );
    // A child of the asker's is told of it by nobody.
    let child = worker.send_work(daemon.tcp()).await;
    let unknown = (Code::NotFound, "NOT_FOUND".to_owned());
    assert_eq!(reason_of(child.client.answer_agent(answer_agent(&ask))).await, unknown);
    // Work that comes back to who sent it, directly and around two corners.
    for from in [&worker, &child] {
        let ticket = from.client.send_work(v1::SendWorkRequest::default()).await.unwrap().ticket;
        let accept = v1::AcceptWorkRequest { ticket, ..Default::default() };
        let taken = lead.client.accept_work(accept).await.unwrap();
        assert_eq!(taken.receipt.unwrap().reason, "WORK_CYCLE");
    }
    let ticket = lead.client.send_work(v1::SendWorkRequest::default()).await.unwrap().ticket;
    let accept = v1::AcceptWorkRequest { ticket, ..Default::default() };
    let taken = lead.client.accept_work(accept).await.unwrap();
    assert_eq!(taken.receipt.unwrap().reason, "WORK_CYCLE", "its own");
    daemon.stop().await;
}

/// An agent that has the words changed while a person reads them.
#[tokio::test]
async fn an_answer_to_content_of_which_one_byte_changed_since_it_was_shown_is_refused() {
    let daemon = Daemon::start().await;
    let (lead, worker) = daemon.pair(daemon.tcp()).await;
    let shown = worker.ask("which?").await;
    let (ask_id, text) = (shown.id.clone(), "which ones?".to_owned());
    let say = v1::SayRequest { ask_id: ask_id.clone(), text, ..Default::default() };
    accepted(lead.client.say(say).await.unwrap());
    let option = |label: &str| v1::Option { label: label.into(), ..Default::default() };
    // The same option is there, and one byte of the other is another.
    let options = vec![option("yes"), option("nO")];
    let replaced = vec![v1::ReplacedOptions { question_id: "q1".into(), options }];
    let text = "so".to_owned();
    let reply = v1::ReplyRequest { ask_id, text, replaced, ..Default::default() };
    let changed = accepted(worker.client.reply(reply).await.unwrap());
    assert_ne!(changed.content_digest, shown.content_digest);
    assert_eq!(refused(daemon.owner().answer(answer(&shown)).await.unwrap()), "STALE");
    assert_eq!(refused(lead.client.answer_agent(answer_agent(&shown)).await.unwrap()), "STALE");
    // A digest of which one character is another is of nothing that was shown.
    let mut digest = changed.content_digest.clone().into_bytes();
    let last = digest.last_mut().unwrap();
    *last = if *last == b'0' { b'1' } else { b'0' };
    let content_digest = String::from_utf8(digest).unwrap();
    let forged = v1::Ask { content_digest, ..changed.clone() };
    assert_eq!(refused(daemon.owner().answer(answer(&forged)).await.unwrap()), "STALE");
    accepted(daemon.owner().answer(answer(&changed)).await.unwrap());
    daemon.stop().await;
}

/// As many as a tree may have stay open; each other is told which, and what would help.
#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_asks_of_fifty_sessions_of_one_tree_are_as_many_as_a_tree_may_have() {
    const LIMIT: usize = 10;
    let policy = Policy { open_in_tree: LIMIT, ..Policy::default() };
    let settings = Settings { policy, ..Settings::default() };
    let daemon = Daemon::with(Arc::new(Mem::default()), settings).await;
    let lead = daemon.root(daemon.tcp()).await;
    let mut sessions = Vec::new();
    for _ in 0..50 {
        sessions.push(lead.send_work(daemon.tcp()).await);
    }
    let attack = sessions.iter().map(|session| async {
        let mut opened = Vec::new();
        for number in 0..20 {
            let receipt = session.client.ask(question(&format!("{number}?"))).await.unwrap();
            if receipt.result() == v1::Result::Accepted {
                opened.push(receipt.ask.unwrap().id);
                continue;
            }
            let full = ["TREE_FULL", "TOO_MANY_OPEN"].contains(&receipt.reason.as_str());
            assert!(full, "{receipt:?}");
            let helps = receipt.message.contains("withdraw") && receipt.message.contains("wait");
            assert!(helps, "{}", receipt.message);
            // Of those that fill it, it is told its own: the others are foreign to it.
            let listed: HashSet<_> = receipt.open_ask_ids.iter().collect();
            assert_eq!(listed, opened.iter().collect());
        }
        opened
    });
    let other = daemon.root(daemon.tcp()).await;
    let attack = async { futures_util::future::join_all(attack).await.concat() };
    let meanwhile = async {
        for _ in 0..20 {
            assert_eq!(daemon.owner().status().await.unwrap().caller, "person owner");
        }
        accepted(other.client.ask(question("of another tree?")).await.unwrap()).id
    };
    let (opened, elsewhere) = tokio::join!(attack, meanwhile);
    assert_eq!(opened.len(), LIMIT);
    let open = daemon.owner().list_asks(v1::AskScope::Visible).await.unwrap();
    let open: HashSet<_> = open.into_iter().map(|ask| ask.id).collect();
    assert_eq!(open, opened.into_iter().chain([elsewhere]).collect());
    daemon.stop().await;
}

/// And where a tree may ask only so often, a thousand are no more than that either.
#[tokio::test]
async fn a_tree_that_asks_too_fast_is_told_when_to_try_again_and_another_is_not() {
    let rates = Rates { asks_a_minute: 6, ..Rates::default() };
    let settings = Settings { rates, ..Settings::default() };
    let daemon = Daemon::with(Arc::new(Mem::default()), settings).await;
    let lead = daemon.root(daemon.tcp()).await;
    let mut busy = 0;
    for number in 0..50 {
        let session = lead.send_work(daemon.tcp()).await;
        let client = session.client.with_patience(std::time::Duration::ZERO);
        match client.ask(question(&format!("{number}?"))).await {
            Ok(receipt) => drop(accepted(receipt)),
            Err(error) => {
                let told = (error.code, error.reason.as_deref());
                assert_eq!(told, (Code::ResourceExhausted, Some("BUSY")));
                busy += 1;
            }
        }
    }
    assert_eq!(busy, 44);
    daemon.root(daemon.tcp()).await.ask("another tree?").await;
    daemon.bench.advance(Span::from_secs(10));
    lead.ask("now?").await;
    daemon.stop().await;
}

/// What another host enrolled is not there, in lists too; the daemon's own user sees all.
#[tokio::test]
async fn a_host_lists_the_sessions_it_enrolled_and_no_others() {
    use v1::create_token_request::Principal as Named;
    let daemon = Daemon::start().await;
    let theirs = daemon.root(daemon.tcp()).await;
    let token = daemon.token("", Named::Host("other".into()), None).await.0;
    let other = Client::new(daemon.tcp(), Some(token));
    assert_eq!(other.list_sessions(true).await.unwrap(), []);
    let own = enroll(&other, daemon.tcp(), "lead", String::new()).await;
    let listed = other.list_sessions(true).await.unwrap();
    assert_eq!(listed.iter().map(|one| &one.id).collect::<Vec<_>>(), [&own.session.id]);
    let all = daemon.local().list_sessions(true).await.unwrap();
    assert!(all.iter().any(|one| one.id == theirs.session.id) && all.len() == 2, "{all:?}");
    let reason = reason_of(enrolled_as(&other, "Owner")).await;
    assert_eq!(reason, (Code::InvalidArgument, "INVALID_ARGUMENT".to_owned()));
    daemon.stop().await;
}

async fn enrolled_as(host: &Client, agent: &str) -> Result<v1::EnrollResponse, ClientError> {
    host.enroll(v1::EnrollRequest { agent: agent.into(), ..Default::default() }).await
}
