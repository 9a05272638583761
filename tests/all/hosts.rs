//! Sessions that nobody holds, that sleep, that answer nothing; and the hosts that wake them.

use crate::bench::*;
use askway::ask::{Actor, AskId, Cause, Delivery, Ending, Idle, Policy, Span, limits};
use askway::error::{Error, Reason};
use askway::service::{AskScope, InboxMessage, Watch};
use askway::session::{Manner, Session, Standing, WorkManner};
use askway::store::mem::Mem;
use std::sync::Arc;
use tokio_stream::StreamExt;

const WAKEABLE: Manner = Manner { answers_asks: true, wakeable: true };

async fn session(bench: &Bench, agent: &Agent) -> Arc<Session> {
    let (sessions, _) = bench.service.sessions(&bench.host, true, None, 500).await.unwrap();
    sessions.into_iter().find(|session| session.id == agent.id()).unwrap()
}

/// A lead that its host wakes, paused while a `worker` of its has asked it.
async fn asleep(bench: &Bench) -> (Agent, Agent) {
    let lead = bench.enroll("lead", Some(&bench.host), WAKEABLE, None).await;
    let worker = bench.child("worker", &lead, false).await;
    bench.service.pause(&lead.caller, fresh(), None).await.unwrap();
    (lead, worker)
}

async fn watch(bench: &Bench) -> (Watch<InboxMessage>, Vec<AskId>) {
    let mut watch =
        bench.service.watch_inbox(&bench.host, AskScope::WaitingOnMe, None).await.unwrap();
    let Some(Ok(InboxMessage::Snapshot { asks, .. })) = watch.next().await else { panic!() };
    (watch, asks.iter().map(|ask| ask.id).collect())
}

#[tokio::test]
async fn a_session_that_nobody_holds_lives_a_day_after_its_last_call() {
    let bench = Bench::new().await;
    let (silent, calling, held) =
        (bench.root("silent").await, bench.root("calling").await, bench.root("held").await);
    let _hold = bench.hold(&held).await;
    for _ in 0..3 {
        bench.advance(Span::from_hours(12));
        bench.log_in(&calling.token).await.unwrap();
    }
    eventually(async || !session(&bench, &silent).await.is_active()).await;
    assert!(session(&bench, &calling).await.is_active(), "each call renews it");
    assert!(session(&bench, &held).await.is_active());
    bench.advance(limits::SESSION_TTL);
    eventually(async || !session(&bench, &calling).await.is_active()).await;
    assert!(session(&bench, &held).await.is_active(), "a held one never");
}

#[tokio::test]
async fn a_session_that_fell_silent_and_is_held_then_is_not_taken_for_gone() {
    let bench = Bench::new().await;
    let worker = bench.root("worker").await;
    bench.advance(limits::SESSION_TTL);
    eventually(async || !session(&bench, &worker).await.is_active()).await;
    let _hold = bench.hold(&worker).await;
    let witness = bench.root("witness").await;
    bench.advance(limits::SESSION_TTL);
    eventually(async || !session(&bench, &witness).await.is_active()).await;
    assert!(session(&bench, &worker).await.is_active());
}

#[tokio::test]
async fn a_hold_that_was_lost_before_a_resume_pauses_nothing_after_it() {
    let bench = Bench::new().await;
    let (worker, witness) = (bench.root("worker").await, bench.root("witness").await);
    let holds = (bench.hold(&worker).await, bench.hold(&witness).await);
    drop(holds);
    bench.service.pause(&worker.caller, fresh(), None).await.unwrap();
    bench.service.resume(&bench.host, fresh(), worker.id()).await.unwrap();
    bench.advance(limits::HOLD_GRACE);
    eventually(async || !session(&bench, &witness).await.is_active()).await;
    let late = bench.root("late").await;
    drop(bench.hold(&late).await);
    bench.advance(limits::HOLD_GRACE);
    eventually(async || !session(&bench, &late).await.is_active()).await;
    assert!(session(&bench, &worker).await.is_active(), "nobody has held it since");
}

#[tokio::test]
async fn what_waits_on_a_session_that_fell_silent_moves_on() {
    let bench = Bench::new().await;
    let (_, worker) = bench.pair().await;
    let _hold = bench.hold(&worker).await;
    bench.advance(Span::from_millis(limits::SESSION_TTL.as_millis() - 1));
    let ask = bench.ask(&worker, "which store?").await;
    assert_eq!(ask.hop.index, 0);
    bench.advance(Span::from_millis(1));
    let moved = bench.until(ask.id, |ask| ask.hop.index == 1).await;
    assert_eq!(moved.hop.cause, Cause::SenderGone);
}

#[tokio::test]
async fn c116_a_session_paused_for_a_month_is_ended_and_its_asks_are_nobodys() {
    let bench = Bench::new().await;
    let worker = bench.root("worker").await;
    let (open, done) = (bench.ask(&worker, "open?").await, bench.ask(&worker, "done?").await);
    accepted(bench.answer(&done).await);
    bench.service.pause(&worker.caller, fresh(), None).await.unwrap();
    bench.advance(Span::from_millis(limits::PAUSED_MAX.as_millis() - 1));
    assert!(bench.get(open.id).await.is_open(), "no earlier than its time");
    bench.advance(Span::from_millis(1));
    let open = bench.until(open.id, |ask| !ask.is_open()).await;
    let outcome = open.outcome().unwrap();
    assert_eq!((&outcome.ending, &outcome.by), (&Ending::Abandoned, &Actor::Timer));
    let is_lost = async || {
        matches!(bench.get(done.id).await.delivery(), Some(Delivery::Undeliverable { .. }))
    };
    eventually(is_lost).await;
    assert!(matches!(session(&bench, &worker).await.standing, Standing::Ended { .. }));
}

#[tokio::test]
async fn an_end_on_the_heels_of_a_pause_is_swept_too() {
    let bench = Bench::new().await;
    for round in 0..50 {
        let worker = bench.root("worker").await;
        let ask = bench.ask(&worker, &format!("round {round}?")).await;
        bench.service.pause(&worker.caller, fresh(), None).await.unwrap();
        bench.service.end(&bench.host, fresh(), Some(worker.id())).await.unwrap();
        let ended = bench.until(ask.id, |ask| !ask.is_open()).await;
        assert_eq!(ended.outcome().unwrap().ending, Ending::Abandoned);
    }
}

#[tokio::test]
async fn c79_a_session_that_answers_none_is_passed_over_at_once() {
    let bench = Bench::new().await;
    let manner = Manner { answers_asks: false, wakeable: false };
    let lead = bench.enroll("lead", Some(&bench.host), manner, None).await;
    let worker = bench.child("worker", &lead, false).await;
    let ask = bench.ask(&worker, "which store?").await;
    assert_eq!((ask.hop.index, ask.hop.skipped[0].why), (1, Idle::AnswersNone));
    assert_eq!(ask.hop.reason.as_deref(), Some("lead does not answer asks"));
}

#[tokio::test]
async fn a_sleeping_session_is_asked_while_its_host_watches() {
    let bench = Bench::new().await;
    let (lead, worker) = asleep(&bench).await;
    let early = bench.ask(&worker, "before it watches?").await;
    assert_eq!((early.hop.index, early.hop.skipped[0].why), (1, Idle::Paused));
    let (mut inbox, shown) = watch(&bench).await;
    assert!(shown.is_empty());
    let ask = bench.ask(&worker, "which store?").await;
    assert_eq!(ask.hop.index, 0);
    let Some(Ok(InboxMessage::Change { came, .. })) = inbox.next().await else { panic!() };
    assert_eq!(came[0].id, ask.id, "it lists what it would wake a session for");
    let lead = bench.resumed(&lead).await;
    let Some(Ok(InboxMessage::Change { left, .. })) = inbox.next().await else { panic!() };
    assert_eq!(left, [ask.id], "awake it is asked like any other");
    accepted(bench.answer_agent(&lead, &ask).await);
}

#[tokio::test]
async fn what_waits_on_a_sleeping_session_moves_on_when_its_host_is_gone() {
    let bench = Bench::new().await;
    let (_, worker) = asleep(&bench).await;
    let (inbox, _) = watch(&bench).await;
    let ask = bench.ask(&worker, "which store?").await;
    drop(inbox);
    bench.advance(Span::from_millis(limits::HOLD_GRACE.as_millis() - 1));
    assert_eq!(bench.get(ask.id).await.hop.index, 0, "the grace is not over");
    let (again, shown) = watch(&bench).await;
    assert_eq!(shown, [ask.id]);
    bench.advance(Span::from_mins(5));
    assert_eq!(bench.get(ask.id).await.hop.index, 0, "it watches again");
    drop(again);
    bench.advance(limits::HOLD_GRACE);
    let moved = bench.until(ask.id, |ask| ask.hop.index == 1).await;
    assert_eq!(moved.hop.cause, Cause::SenderGone);
}

#[tokio::test]
async fn a_restart_gives_a_host_the_grace_anew() {
    let store = Arc::new(Mem::default());
    let bench = Bench::over(store.clone()).await;
    let (_, worker) = asleep(&bench).await;
    let (inbox, _) = watch(&bench).await;
    let ask = bench.ask(&worker, "which store?").await;
    let clock = bench.clock.clone();
    bench.stop().await;
    drop(inbox);
    clock.advance(Span::from_mins(5));
    let bench = Bench::on(store, clock).await;
    // Whatever is done to it first: nobody takes the host for gone yet.
    bench.show(&ask).await;
    assert_eq!(bench.get(ask.id).await.hop.index, 0);
    bench.advance(limits::HOLD_GRACE);
    bench.until(ask.id, |ask| ask.hop.index == 1).await;
}

#[tokio::test]
async fn a_session_that_falls_asleep_keeps_what_waits_on_it_however_much_that_is() {
    let bench = Bench::with(Policy { waiting_on_session: 2, ..Policy::default() }).await;
    let lead = bench.enroll("lead", Some(&bench.host), WAKEABLE, None).await;
    let worker = bench.child("worker", &lead, false).await;
    let (one, two) = (bench.ask(&worker, "one?").await, bench.ask(&worker, "two?").await);
    let (_inbox, _) = watch(&bench).await;
    bench.service.pause(&lead.caller, fresh(), None).await.unwrap();
    eventually(async || !session(&bench, &lead).await.sweep).await;
    for ask in [one, two] {
        assert_eq!(bench.get(ask.id).await.hop.index, 0, "its host wakes it");
    }
}

#[tokio::test]
async fn a_work_whose_sender_wants_no_asks_has_none() {
    let bench = Bench::new().await;
    let lead = bench.root("lead").await;
    let manner = WorkManner { may_ask: false, ..WorkManner::default() };
    let sent = bench.service.send_work(&lead.caller, fresh(), None, manner).await.unwrap();
    let worker = bench.enroll("worker", None, Manner::default(), sent.ticket).await;
    assert_eq!(refused(bench.file(&worker, draft("which store?")).await), Reason::MayNotAsk);
    let below = bench.child("below", &worker, false).await;
    let sent_on = bench.file(&below, draft("from further down?")).await;
    assert_eq!(refused(sent_on), Reason::MayNotAsk, "to send it on is no way around it");
    bench.send(&lead, &worker).await;
    bench.ask(&worker, "for another work?").await;
    let first = session(&bench, &worker).await.works[0];
    let named = bench.service.ask(&worker.caller, fresh(), Some(first), draft("first?")).await;
    assert_eq!(refused(named), Reason::MayNotAsk);
    let foreign = session(&bench, &lead).await.works[0];
    let named = bench.service.ask(&worker.caller, fresh(), Some(foreign), draft("whose?")).await;
    assert!(!matches!(named, Err(Error::Internal(_))), "{named:?}");
    assert!(bench.inbox(&bench.owner).await.is_empty());
}

#[tokio::test]
async fn several_works_from_different_senders_each_ask_their_own() {
    let bench = Bench::new().await;
    let (one, two) = (bench.root("one").await, bench.root("two").await);
    let worker = bench.child("worker", &one, false).await;
    let second = bench.send(&two, &worker).await;
    let third = bench.send(&one, &worker).await;
    for (work, sender) in [(Some(second), &two), (Some(third), &one), (None, &one)] {
        let question = draft(&format!("for {work:?}?"));
        let ask = bench.service.ask(&worker.caller, fresh(), work, question).await;
        assert_eq!(accepted(ask).chain[0], sender.reference());
    }
    assert_eq!(bench.inbox(&two.caller).await.len(), 1);
    assert_eq!(bench.inbox(&one.caller).await.len(), 2);
}
