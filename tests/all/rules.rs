//! The rules of the design that a service over any store shows, each a test by its name.

use crate::bench::*;
use askway::ask::{Actor, Cause, Delivery, Ending, Idle, Span, State, limits};
use askway::error::{Error, Reason};
use askway::service::{Presence, Verdict};
use askway::session::Secret;

#[tokio::test]
async fn the_sender_answers_and_the_asker_learns_by_whom() {
    let bench = Bench::new().await;
    let (lead, worker) = bench.pair().await;
    let ask = bench.ask(&worker, "which store?").await;
    assert_eq!(bench.inbox(&lead.caller).await, [ask.id]);
    assert!(bench.inbox(&bench.owner).await.is_empty());
    accepted(bench.answer_agent(&lead, &ask).await);
    let settled = bench.get(ask.id).await;
    assert_eq!(answered_by(&settled), Some(&Actor::Session(lead.reference())));
    assert!(bench.inbox(&lead.caller).await.is_empty());
}

#[tokio::test]
async fn rule_03_reaches_a_person_when_the_route_timer_fires() {
    let bench = Bench::new().await;
    let (_, worker) = bench.pair().await;
    let ask = bench.ask(&worker, "which store?").await;
    bench.advance(Span::from_millis(limits::ROUTE_TIMEOUT.as_millis() - 1));
    assert_eq!(bench.get(ask.id).await.hop.cause, Cause::Filed, "no earlier than its time");
    bench.advance(Span::from_millis(1));
    let moved = bench.until(ask.id, |ask| ask.hop.index == 1).await;
    assert_eq!(moved.hop.cause, Cause::Timeout);
    assert_eq!(moved.hop.reason.as_deref(), Some("lead did not answer in 15m"));
    assert_eq!(bench.inbox(&bench.owner).await, [ask.id]);
}

#[tokio::test]
async fn rule_03_reaches_a_person_after_the_daemon_was_down_at_that_instant() {
    let store = std::sync::Arc::new(askway::store::mem::Mem::default());
    let bench = Bench::over(store.clone()).await;
    let (_, worker) = bench.pair().await;
    let ask = bench.ask(&worker, "which store?").await;
    let clock = bench.clock.clone();
    bench.stop().await;
    clock.advance(limits::ROUTE_TIMEOUT + Span::from_hours(8));
    let bench = Bench::on(store, clock).await;
    let moved = bench.until(ask.id, |ask| ask.hop.index == 1).await;
    assert_eq!(moved.hop.cause, Cause::Timeout);
}

#[tokio::test]
async fn rule_05_only_whom_it_waits_on() {
    let bench = Bench::new().await;
    let root = bench.root("lead").await;
    let middle = bench.child("middle", &root, false).await;
    let worker = bench.child("worker", &middle, false).await;
    let stranger = bench.root("middle").await;
    let ask = bench.ask(&worker, "which store?").await;

    assert_eq!(refused(bench.answer_agent(&root, &ask).await), Reason::NotSender, "an ancestor");
    assert_eq!(refused(bench.answer_agent(&worker, &ask).await), Reason::NotSender, "the asker");
    let unknown = bench.answer_agent(&stranger, &ask).await;
    assert!(matches!(unknown, Err(Error::NotFound(_))), "one of the same agent id: {unknown:?}");

    accepted(bench.escalate(&middle, &ask).await);
    let moved = bench.get(ask.id).await;
    assert_eq!(
        refused(bench.answer_agent(&middle, &moved).await),
        Reason::NotSender,
        "a former hop"
    );
    assert_eq!(bench.get(ask.id).await.revision, moved.revision, "nothing is recorded");
}

#[tokio::test]
async fn rule_05_a_refused_request_id_is_still_good() {
    let bench = Bench::new().await;
    let (lead, worker) = bench.pair().await;
    let ask = bench.ask(&worker, "which store?").await;
    let request = fresh();
    let answer = async |lead: &Agent| {
        let (lead, request) = (&lead.caller, request.clone());
        bench.service.answer_agent(lead, request, ask.id, ask.digest, yes()).await
    };
    bench.service.pause(&lead.caller, fresh(), None).await.unwrap();
    assert_eq!(refused(answer(&lead).await), Reason::SessionPaused);
    let again = bench.resumed(&lead).await;
    let moved = "it moved on while nobody was there";
    assert_eq!(refused(answer(&again).await), Reason::NotSender, "{moved}");
    assert!(answer(&lead).await.is_err(), "the token it had is void");
}

#[tokio::test]
async fn rule_06_a_person_may_always_answer() {
    let bench = Bench::new().await;
    let (lead, worker) = bench.pair().await;
    let ask = bench.ask(&worker, "which store?").await;
    let receipt = bench.answer(&ask).await.unwrap();
    assert_eq!(receipt.verdict, Verdict::Accepted);
    let late = bench.answer_agent(&lead, &ask).await.unwrap();
    assert_eq!(late.verdict, Verdict::Closed);
    assert_eq!(late.message, "owner had answered it already; nothing changed");
}

#[tokio::test]
async fn rule_07_idempotent_by_request_id() {
    let bench = Bench::new().await;
    let (lead, worker) = bench.pair().await;
    let request = fresh();
    let file = |question: &'static str| {
        bench.service.ask(&worker.caller, request.clone(), None, draft(question))
    };
    let first = file("which store?").await.unwrap();
    let again = file("which store?").await.unwrap();
    assert!(!first.replayed && again.replayed);
    let id = first.ask.unwrap().id;
    assert_eq!(again.ask.unwrap().id, id);
    assert!(matches!(file("another?").await, Err(Error::RequestIdReused)));

    // After it has settled: the first result, and the ask as it is now.
    let ask = bench.get(id).await;
    accepted(bench.answer_agent(&lead, &ask).await);
    let again = file("which store?").await.unwrap();
    assert!(again.replayed && again.verdict == Verdict::Accepted);
    assert!(!again.ask.unwrap().is_open());

    // Another caller's same id is its own.
    let other = bench.service.ask(&lead.caller, request.clone(), None, draft("mine?")).await;
    assert!(!other.unwrap().replayed);
}

#[tokio::test]
async fn c33_an_answer_repeated_with_another_payload_or_for_another_ask_is_refused() {
    let bench = Bench::new().await;
    let (_, worker) = bench.pair().await;
    let (one, two) = (bench.ask(&worker, "one?").await, bench.ask(&worker, "two?").await);
    let request = fresh();
    let answer = |ask: &askway::ask::Ask, answers| {
        bench.service.answer(&bench.owner, request.clone(), ask.id, ask.digest, answers)
    };
    let no = || {
        let mut answers = yes();
        answers.get_mut("q1").unwrap().selected = vec!["no".into()];
        answers
    };
    assert!(!answer(&one, yes()).await.unwrap().replayed);
    assert!(answer(&one, yes()).await.unwrap().replayed);
    assert!(matches!(answer(&one, no()).await, Err(Error::RequestIdReused)));
    assert!(matches!(answer(&two, yes()).await, Err(Error::RequestIdReused)));
    assert!(bench.get(two.id).await.is_open());
}

#[tokio::test]
async fn rule_07_closed_is_recorded() {
    let bench = Bench::new().await;
    let (_, worker) = bench.pair().await;
    let ask = bench.ask(&worker, "which store?").await;
    accepted(bench.answer(&ask).await);
    let request = fresh();
    let decline = || bench.service.decline(&bench.owner, request.clone(), ask.id, ask.digest, None);
    assert_eq!(decline().await.unwrap().verdict, Verdict::Closed);
    let again = decline().await.unwrap();
    assert!(again.replayed && again.verdict == Verdict::Closed);
}

#[tokio::test]
async fn rule_09_a_sender_that_is_blocked_is_passed_over_at_once() {
    let bench = Bench::new().await;
    let lead = bench.root("lead").await;
    let worker = bench.child("worker", &lead, true).await;
    let ask = bench.ask(&worker, "which store?").await;
    assert_eq!((ask.hop.index, ask.hop.cause), (1, Cause::SenderBlocked));
    assert_eq!(ask.hop.skipped[0].why, Idle::Blocked);

    // A pause and a resume of the worker end the run that the sender was blocked on.
    bench.service.pause(&worker.caller, fresh(), None).await.unwrap();
    let worker = bench.resumed(&worker).await;
    let ask = bench.ask(&worker, "and now?").await;
    assert_eq!((ask.hop.index, ask.hop.cause), (0, Cause::Filed));
}

#[tokio::test]
async fn rule_09_a_root_session_asks_the_owner() {
    let bench = Bench::new().await;
    let lead = bench.root("lead").await;
    let ask = bench.ask(&lead, "which store?").await;
    assert_eq!((ask.hop.index, ask.route.hops.len()), (0, 1));
    assert_eq!(bench.inbox(&bench.owner).await, [ask.id]);
}

#[tokio::test]
async fn rule_10_an_ask_is_answered_whole() {
    let bench = Bench::new().await;
    let (lead, worker) = bench.pair().await;
    let ask = bench.ask(&worker, "which store?").await;
    let answers = askway::ask::Answers::default();
    let empty = bench.service.answer_agent(&lead.caller, fresh(), ask.id, ask.digest, answers);
    let Err(Error::Invalid(violations)) = empty.await else { panic!("an empty answer is invalid") };
    assert_eq!(violations[0].field, "answers[q1]");
    assert!(bench.get(ask.id).await.is_open());
}

#[tokio::test]
async fn rule_11_delivered_means_acknowledged() {
    let bench = Bench::new().await;
    let (lead, worker) = bench.pair().await;
    let ask = bench.ask(&worker, "which store?").await;
    accepted(bench.answer_agent(&lead, &ask).await);
    let unread = bench.get(ask.id).await;
    assert_eq!(unread.delivery(), Some(&Delivery::Unread));
    let revision = unread.outcome().unwrap().revision;
    for _ in 0..2 {
        let read = bench.service.acknowledge(&worker.caller, fresh(), ask.id, revision, None).await;
        assert!(matches!(accepted(read).delivery(), Some(Delivery::Acknowledged(_))));
    }
    let other = bench.service.acknowledge(&lead.caller, fresh(), ask.id, revision, None).await;
    assert_eq!(refused(other), Reason::NotAsker);
    let wrong =
        bench.service.acknowledge(&worker.caller, fresh(), ask.id, revision + 1, None).await;
    assert!(matches!(wrong, Err(Error::NotFound(_))));
}

#[tokio::test]
async fn rule_12_the_answerer_knows() {
    let bench = Bench::new().await;
    let (_, worker) = bench.pair().await;
    let (one, two) = (bench.ask(&worker, "one?").await, bench.ask(&worker, "two?").await);
    let watch = bench.service.watch_ask(&worker.caller, one.id, None).await.unwrap();
    // The answer ends the watch that it finds, before its receipt is made.
    let ended = tokio::spawn(tokio_stream::StreamExt::collect::<Vec<_>>(watch));
    assert_eq!(bench.answer(&one).await.unwrap().asker, Some(Presence::Live));
    ended.await.unwrap();
    assert_eq!(bench.answer(&two).await.unwrap().asker, Some(Presence::Parked));
    bench.service.end(&worker.caller, fresh(), None).await.unwrap();
    assert_eq!(bench.answer(&two).await.unwrap().asker, Some(Presence::Gone));
}

#[tokio::test]
async fn rule_14_four_open_asks_a_session() {
    let bench = Bench::new().await;
    let (_, worker) = bench.pair().await;
    let mut open = Vec::new();
    for n in 0..limits::OPEN_ASKS {
        open.push(bench.ask(&worker, &format!("question {n}?")).await.id);
    }
    let fifth = bench.service.ask(&worker.caller, fresh(), None, draft("a fifth?")).await.unwrap();
    assert_eq!(fifth.verdict, Verdict::Refused(Reason::TooManyOpen));
    assert_eq!(fifth.open, open);
    let withdrawn = bench.service.withdraw(&worker.caller, fresh(), open[0], None).await;
    assert!(matches!(accepted(withdrawn).outcome().unwrap().ending, Ending::Withdrawn));
    bench.ask(&worker, "a fifth?").await;
}

#[tokio::test]
async fn rule_15_foreign_is_unknown() {
    let bench = Bench::new().await;
    let (_, worker) = bench.pair().await;
    let stranger = bench.root("stranger").await;
    let ask = bench.ask(&worker, "which store?").await;
    let never = askway::ask::AskId::new(ask.create_time, [0; 6]);
    for id in [ask.id, never] {
        let said = bench.service.get(&stranger.caller, &id.to_string()).await.unwrap_err();
        assert_eq!(said.to_string(), format!("no ask {id}"));
        let said = bench.service.watch_ask(&stranger.caller, id, None).await.err().unwrap();
        assert_eq!(said.to_string(), format!("no ask {id}"));
        let request = fresh();
        let said = bench.service.escalate(&stranger.caller, request, id, 0, None).await;
        assert_eq!(said.unwrap_err().to_string(), format!("no ask {id}"));
    }
    let prefix = &ask.id.to_string()[..10];
    assert!(bench.service.get(&stranger.caller, prefix).await.is_err());
    assert_eq!(bench.service.get(&worker.caller, prefix).await.unwrap().0.id, ask.id);
}

#[tokio::test]
async fn rule_16_a_token_of_another_kind_is_not_taken_for_one() {
    let bench = Bench::new().await;
    let (_, worker) = bench.pair().await;
    let ask = bench.ask(&worker, "which store?").await;
    let owner = bench.service.answer_agent(&bench.owner, fresh(), ask.id, ask.digest, yes()).await;
    assert!(matches!(owner, Err(Error::Denied(Reason::WrongPrincipal, _))));
    let agent = bench.service.answer(&worker.caller, fresh(), ask.id, ask.digest, yes()).await;
    assert!(matches!(agent, Err(Error::Denied(Reason::WrongPrincipal, _))));
    for bad in [worker.hold.expose().to_owned(), "asks_".to_owned() + &"0".repeat(64)] {
        let secret = Secret::read(&bad).unwrap();
        let said = bench.log_in(&secret).await;
        assert!(matches!(said, Err(Error::Unauthenticated(Reason::BadCredential, _))));
    }
}

#[tokio::test]
async fn rule_20_bound_to_what_was_shown() {
    let bench = Bench::new().await;
    let (lead, worker) = bench.pair().await;
    let ask = bench.ask(&worker, "which store?").await;
    let said = bench.service.say(&lead.caller, fresh(), ask.id, "which ones?".into()).await;
    accepted(said);
    let mut options = ask.content.questions[0].options.clone();
    options[1].label = "perhaps".into();
    let replaced = [("q1".to_owned(), options)].into();
    let reply = bench.service.reply(&worker.caller, fresh(), ask.id, "these".into(), replaced);
    let now = accepted(reply.await);
    assert_ne!(now.digest, ask.digest);
    let stale = bench.answer_agent(&lead, &ask).await;
    assert_eq!(refused(stale), Reason::Stale);
    accepted(bench.answer_agent(&lead, &now).await);
}

#[tokio::test]
async fn a_refusal_by_the_sender_brings_it_to_a_person_with_the_reason() {
    let bench = Bench::new().await;
    let (lead, worker) = bench.pair().await;
    let ask = bench.ask(&worker, "which store?").await;
    let request = fresh();
    let escalate = || {
        let reason = Some("not mine to say".to_owned());
        bench.service.escalate(&lead.caller, request.clone(), ask.id, 0, reason)
    };
    let moved = accepted(escalate().await);
    assert_eq!((moved.hop.index, moved.hop.cause), (1, Cause::Refused));
    assert_eq!(moved.hop.reason.as_deref(), Some("not mine to say"));
    assert!(escalate().await.unwrap().replayed);
    let stale = bench.escalate(&lead, &ask).await.unwrap();
    assert_eq!(stale.verdict, Verdict::Accepted, "it is with a person already");
    assert_eq!(stale.ask.unwrap().revision, moved.revision);
    let further = bench.service.escalate(&bench.owner, fresh(), ask.id, 1, None).await;
    assert_eq!(refused(further), Reason::LastHop);
}

#[tokio::test]
async fn c10_an_expired_ask_says_expired_and_nobody_decided() {
    let bench = Bench::new().await;
    let lead = bench.root("lead").await;
    let expire = Some((Span::from_mins(5), askway::ask::ExpiryAction::Stop));
    let draft = askway::ask::Draft { expire, ..draft("which store?") };
    let ask = accepted(bench.service.ask(&lead.caller, fresh(), None, draft).await);
    bench.advance(Span::from_mins(5));
    let expired = bench.until(ask.id, |ask| !ask.is_open()).await;
    let State::Settled { outcome, .. } = &expired.state else { panic!("it is settled") };
    assert_eq!((&outcome.ending, &outcome.by), (&Ending::Expired(None), &Actor::Timer));
}
