//! Every call over both ways in, and what each refusal and fault looks like to a client.

use super::*;
use askway::client::ClientError;
use askway::grpc::convert::delivery_id;
use tokio_stream::StreamExt;
use tonic::Code;
use v1::watch_inbox_response::Message;

#[tokio::test]
async fn the_whole_story_over_the_socket_and_over_loopback() {
    let daemon = Daemon::start().await;
    for address in [daemon.unix(), daemon.tcp()] {
        story(&daemon, address).await;
    }
    daemon.stop().await;
}

async fn story(daemon: &Daemon, address: Address) {
    let owner = daemon.owner();
    let (lead, worker) = daemon.pair(address).await;
    let mut inbox = lead.client.watch_inbox(v1::AskScope::WaitingOnMe);
    let Some(Ok(Message::Snapshot(empty))) = inbox.next().await else { panic!("no snapshot") };
    assert_eq!((empty.asks.len(), empty.total), (0, 0));

    // Asked, answered by the sender.
    let ask = worker.ask("which store?").await;
    let Some(Ok(Message::Change(change))) = inbox.next().await else { panic!("no change") };
    assert_eq!(change.came[0], ask);
    assert_eq!(
        lead.client.list_asks(v1::AskScope::WaitingOnMe).await.unwrap(),
        std::slice::from_ref(&ask)
    );
    let said = v1::SayRequest { ask_id: ask.id.clone(), text: "why?".into(), ..Default::default() };
    accepted(lead.client.say(said).await.unwrap());
    let text = "it is slow".to_owned();
    let replied = v1::ReplyRequest { ask_id: ask.id.clone(), text, ..Default::default() };
    accepted(worker.client.reply(replied).await.unwrap());
    let settled = accepted(lead.client.answer_agent(answer_agent(&ask)).await.unwrap());
    let outcome = settled.outcome.clone().unwrap();
    assert_eq!(outcome.kind(), v1::OutcomeKind::Answered);
    assert_eq!(outcome.answers, yes().into());
    let v1::actor::Who::Session(by) = outcome.by.unwrap().who.unwrap() else { panic!("who?") };
    assert_eq!(by.session, lead.session.id);
    let late = owner.answer(answer(&ask)).await.unwrap();
    assert_eq!(late.result(), v1::Result::Closed);
    assert_eq!(late.ask.unwrap(), settled);

    // The asker gets the turn, then the outcome, and says that it has them.
    let mut deliveries = worker.client.watch_deliveries();
    let turn = deliveries.next().await.unwrap().unwrap();
    assert_eq!(turn.turn.unwrap().text, "why?");
    let last = deliveries.next().await.unwrap().unwrap();
    assert_eq!((last.turn, &last.id), (None, &delivery_id(&ask.id, outcome.revision)));
    let got = v1::AcknowledgeDeliveryRequest { delivery_id: last.id, ..Default::default() };
    let read = accepted(worker.client.acknowledge_delivery(got).await.unwrap());
    assert_eq!(read.delivery.unwrap().state(), v1::DeliveryState::Acknowledged);
    let kinds: Vec<_> = owner.list_events(&ask.id).await.unwrap();
    let kinds: Vec<_> = kinds.iter().map(v1::Event::kind).collect();
    use v1::EventKind::{Acknowledged, Answered, Filed, Replied, Said};
    assert_eq!(kinds, [Filed, Said, Replied, Answered, Acknowledged]);

    refused_by_the_sender(&owner, &lead, &worker).await;
    paused_resumed_ended(daemon, &lead, &worker).await;
}

/// Escalated to the person, who looks, is on it for a while, and says no; and one taken back.
async fn refused_by_the_sender(owner: &Client, lead: &Agent, worker: &Agent) {
    let ask = worker.ask("delete it all?").await;
    let id = || ask.id.clone();
    let reason = Some("not mine to say".to_owned());
    let escalate = v1::EscalateRequest { ask_id: id(), reason, ..Default::default() };
    let moved = accepted(lead.client.escalate(escalate).await.unwrap());
    let hop = moved.hop.unwrap();
    assert_eq!((hop.index, hop.of, hop.cause()), (1, 2, v1::HopCause::Refused));
    assert_eq!(hop.reason, "not mine to say");
    let late = lead.client.answer_agent(answer_agent(&ask)).await.unwrap();
    assert_eq!(refused(late), "NOT_SENDER");

    let content_digest = ask.content_digest.clone();
    let digest = || content_digest.clone();
    let seen = v1::MarkSeenRequest { ask_id: id(), content_digest: digest(), ..Default::default() };
    accepted(owner.mark_seen(seen).await.unwrap());
    let claim = v1::ClaimRequest { ask_id: id(), ..Default::default() };
    let claimed = accepted(owner.claim(claim).await.unwrap());
    assert_eq!(claimed.claim.unwrap().person, "owner");
    let release = v1::ReleaseRequest { ask_id: id(), ..Default::default() };
    assert_eq!(accepted(owner.release(release.clone()).await.unwrap()).claim, None);
    assert_eq!(refused(owner.release(release).await.unwrap()), "NOT_CLAIMED");
    let last = v1::EscalateRequest { ask_id: id(), hop: 1, ..Default::default() };
    assert_eq!(refused(owner.escalate(last).await.unwrap()), "LAST_HOP");
    let note = Some("never".to_owned());
    let no =
        v1::DeclineRequest { ask_id: id(), content_digest: digest(), note, ..Default::default() };
    let stale = v1::DeclineRequest { content_digest: "0".repeat(64), ..no.clone() };
    assert_eq!(refused(owner.decline(stale).await.unwrap()), "STALE");
    let declined = accepted(owner.decline(no).await.unwrap()).outcome.unwrap();
    assert_eq!((declined.kind(), declined.note()), (v1::OutcomeKind::Declined, "never"));

    let ask = worker.ask("or this?").await;
    let withdraw = v1::WithdrawRequest { ask_id: ask.id.clone(), ..Default::default() };
    let withdrawn = accepted(worker.client.withdraw(withdraw).await.unwrap()).outcome.unwrap();
    assert_eq!(withdrawn.kind(), v1::OutcomeKind::Withdrawn);
    let replies = v1::ReplyRequest { ask_id: ask.id, text: "so?".into(), ..Default::default() };
    let closed = worker.client.reply(replies).await.unwrap();
    assert_eq!(closed.result(), v1::Result::Closed);
}

async fn paused_resumed_ended(daemon: &Daemon, lead: &Agent, worker: &Agent) {
    let held = lead.client.hold(lead.hold.clone()).next().await.unwrap().unwrap();
    assert_eq!(held.id, lead.session.id);
    let sent = lead.client.send_work(v1::SendWorkRequest::default()).await.unwrap();
    let accept = v1::AcceptWorkRequest { ticket: sent.ticket, ..Default::default() };
    let taken = worker.client.accept_work(accept.clone()).await.unwrap();
    assert_eq!(taken.work_id, sent.work_id);
    let again = worker.client.accept_work(accept).await.unwrap().receipt.unwrap();
    assert_eq!((again.result(), again.reason.as_str()), (v1::Result::Refused, "BAD_TICKET"));

    let paused = worker.client.pause_session(v1::PauseSessionRequest::default()).await.unwrap();
    assert_eq!(paused.session.unwrap().state(), v1::SessionState::Paused);
    assert_eq!(refused(worker.client.ask(question("?")).await.unwrap()), "SESSION_PAUSED");
    let session_id = worker.session.id.clone();
    let resume = v1::ResumeSessionRequest { session_id, ..Default::default() };
    let resumed = lead.client.resume_session(resume.clone()).await.unwrap();
    assert_ne!(resumed.token, "");
    let active = lead.client.resume_session(resume).await.unwrap().receipt.unwrap();
    assert_eq!(active.reason, "SESSION_ACTIVE");
    let void = worker.client.status().await.unwrap_err();
    assert_eq!(
        (void.code, void.reason.as_deref()),
        (Code::Unauthenticated, Some("BAD_CREDENTIAL"))
    );

    let session_id = worker.session.id.clone();
    let end = v1::EndSessionRequest { session_id, ..Default::default() };
    let ended = lead.client.end_session(end).await.unwrap();
    assert_eq!(ended.session.unwrap().state(), v1::SessionState::Ended);
    let family = lead.client.list_sessions(true).await.unwrap();
    // Both were enrolled in the same instant, so either may be first.
    let mut ids: Vec<_> = family.iter().map(|session| session.id.as_str()).collect();
    ids.sort_unstable();
    let mut both = [lead.session.id.as_str(), worker.session.id.as_str()];
    both.sort_unstable();
    assert_eq!(ids, both);
    assert!(
        daemon.owner().list_sessions(false).await.unwrap().iter().all(|s| s.state_time.is_none())
    );
    let status = lead.client.status().await.unwrap();
    assert!(status.caller.starts_with("session lead (ses_"), "{}", status.caller);
    assert_eq!(daemon.owner().status().await.unwrap().caller, "person owner");
}

#[tokio::test]
async fn every_fault_has_its_code_and_its_reason() {
    let daemon = Daemon::start().await;
    let owner = daemon.owner();
    let (lead, worker) = daemon.pair(daemon.tcp()).await;
    let ask = worker.ask("which?").await;
    let told = |error: ClientError| (error.code, error.reason.unwrap_or_default());
    let is = |code: Code, reason: &str| (code, reason.to_owned());

    let nobody = owner.get_ask("ask_00000000000000000000").await.unwrap_err();
    assert_eq!(told(nobody), is(Code::NotFound, "NOT_FOUND"));
    // An ask of others is exactly as one that never was (rule 15).
    let stranger = daemon.root(daemon.tcp()).await;
    let foreign = stranger.client.get_ask(&ask.id).await.unwrap_err();
    assert_eq!(foreign.message, format!("no ask {}", ask.id));
    assert_eq!(told(foreign), is(Code::NotFound, "NOT_FOUND"));
    let person = owner.answer_agent(answer_agent(&ask)).await.unwrap_err();
    assert_eq!(told(person), is(Code::PermissionDenied, "WRONG_PRINCIPAL"));
    let session = lead.client.answer(answer(&ask)).await.unwrap_err();
    assert_eq!(told(session), is(Code::PermissionDenied, "WRONG_PRINCIPAL"));
    let thief = worker.client.hold(lead.hold.clone()).next().await.unwrap().unwrap_err();
    assert_eq!(told(thief), is(Code::PermissionDenied, "NOT_HOLDER"));

    let once =
        v1::SayRequest { request_id: "one".into(), ask_id: ask.id.clone(), text: "a".into() };
    accepted(lead.client.say(once.clone()).await.unwrap());
    assert!(lead.client.say(once.clone()).await.unwrap().replayed);
    let other = v1::SayRequest { text: "b".into(), ..once };
    let reused = lead.client.say(other).await.unwrap_err();
    assert_eq!(told(reused), is(Code::AlreadyExists, "REQUEST_ID_REUSED"));

    let paused = lead.client.pause_session(v1::PauseSessionRequest::default()).await.unwrap();
    assert_eq!(paused.receipt.unwrap().result(), v1::Result::Accepted);
    let held = lead.client.hold(lead.hold.clone()).next().await.unwrap().unwrap_err();
    assert_eq!(told(held), is(Code::FailedPrecondition, "SESSION_PAUSED"));

    for n in 0..3 {
        worker.ask(&format!("and {n}?")).await;
    }
    let fifth = worker.client.ask(question("and this?")).await.unwrap();
    assert_eq!(fifth.open_ask_ids.len(), 4);
    assert_eq!(refused(fifth), "TOO_MANY_OPEN");
    let invalid = owner.answer(v1::AnswerRequest { answers: [].into(), ..answer(&ask) }).await;
    let invalid = invalid.unwrap_err();
    assert_eq!(invalid.fields[0].0, "answers[q1]");
    assert_eq!(told(invalid), is(Code::InvalidArgument, "INVALID_ARGUMENT"));
    daemon.stop().await;
}
