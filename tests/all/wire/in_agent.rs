//! A header says that a person types where a coding agent runs its commands: it is recorded.

use super::*;

#[tokio::test]
async fn what_a_person_types_in_an_agents_environment_is_recorded_as_that() {
    let daemon = Daemon::start().await;
    let (_, worker) = daemon.pair(daemon.tcp()).await;
    let (plain, marked) = (daemon.owner(), daemon.owner().typed_in_agent(true));
    let ask = worker.ask("which?").await;
    let ask_id = ask.id.clone();
    let say =
        v1::SayRequest { request_id: "s".into(), ask_id: ask_id.clone(), text: "how many?".into() };
    accepted(marked.say(say.clone()).await.unwrap());
    let again = plain.say(say).await.unwrap();
    assert!(again.replayed, "where it was typed is no part of what was asked for");
    let claim = v1::ClaimRequest { ask_id: ask_id.clone(), ..Default::default() };
    accepted(marked.claim(claim).await.unwrap());
    let release = v1::ReleaseRequest { ask_id: ask_id.clone(), ..Default::default() };
    accepted(plain.release(release).await.unwrap());
    let hop = ask.hop.as_ref().unwrap().index;
    let escalate = v1::EscalateRequest { ask_id: ask_id.clone(), hop, ..Default::default() };
    accepted(marked.escalate(escalate).await.unwrap());
    let settled = accepted(marked.answer(answer(&ask)).await.unwrap());
    let outcome = settled.outcome.as_ref().unwrap();
    assert!(outcome.in_agent && outcome.assurance() == v1::Assurance::Local);
    let events = worker.client.list_events(&ask_id).await.unwrap();
    let found: Vec<_> = events.iter().map(|event| (event.kind(), event.in_agent)).collect();
    let expected = [
        (v1::EventKind::Filed, false),
        (v1::EventKind::Said, true),
        (v1::EventKind::Claimed, true),
        (v1::EventKind::Released, false),
        (v1::EventKind::Escalated, true),
        (v1::EventKind::Answered, true),
    ];
    assert_eq!(found, expected);
    assert!(settled.turns[0].in_agent);
    daemon.stop().await;
}

#[tokio::test]
async fn a_session_is_an_agent_wherever_it_is_and_nothing_is_added() {
    let daemon = Daemon::start().await;
    let (lead, worker) = daemon.pair(daemon.unix()).await;
    let ask = worker.ask("which?").await;
    let lead = lead.client.typed_in_agent(true);
    let settled = accepted(lead.answer_agent(answer_agent(&ask)).await.unwrap());
    assert!(!settled.outcome.unwrap().in_agent);
    let status = lead.status().await.unwrap();
    let expected = [daemon.unix(), daemon.tcp()].map(|address| address.to_string());
    assert_eq!(status.listen_addresses, expected);
    daemon.stop().await;
}
