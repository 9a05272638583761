//! Sessions: enrolling, tickets, holds, pauses, ends, and the sweep that follows them.

use crate::bench::*;
use askway::ask::{Cause, Delivery, Ending, Span, limits};
use askway::error::{Error, Reason};
use askway::service::Verdict;
use askway::session::{Manner, Standing, WorkManner};
use askway::store::mem::Mem;
use std::sync::Arc;
use tokio_stream::StreamExt;

#[tokio::test]
async fn a_replayed_enroll_mints_anew_until_the_first_token_is_used() {
    let bench = Bench::new().await;
    let request = fresh();
    let enroll = || {
        bench.service.enroll(
            Some(&bench.host),
            request.clone(),
            "lead".parse().unwrap(),
            Manner::default(),
            None,
        )
    };
    let first = enroll().await.unwrap();
    let second = enroll().await.unwrap();
    assert_eq!(first.session.id, second.session.id);
    assert!(second.replayed);
    let void = bench.log_in(&first.secrets.unwrap().0).await;
    assert!(matches!(void, Err(Error::Unauthenticated(Reason::BadCredential, _))));
    bench.log_in(&second.secrets.unwrap().0).await.unwrap();
    let third = enroll().await.unwrap();
    assert!(third.replayed && third.secrets.is_none(), "the token is in use");
}

#[tokio::test]
async fn a_ticket_is_minted_anew_until_it_is_redeemed_and_then_only_replays() {
    let bench = Bench::new().await;
    let lead = bench.root("lead").await;
    let request = fresh();
    let send =
        || bench.service.send_work(&lead.caller, request.clone(), None, WorkManner::default());
    let (first, second) = (send().await.unwrap(), send().await.unwrap());
    let third = send().await.unwrap();
    assert_eq!((first.work, second.work), (second.work, third.work));
    let enroll_id = fresh();
    let enroll = |ticket: &askway::session::Secret| {
        let agent = "worker".parse().unwrap();
        bench.service.enroll(
            None,
            enroll_id.clone(),
            agent,
            Manner::default(),
            Some(ticket.clone()),
        )
    };
    let void = enroll(&first.ticket.unwrap()).await.unwrap_err();
    assert!(matches!(void, Error::Refused(refusal) if refusal.reason == Reason::BadTicket));
    let ticket = third.ticket.unwrap();
    let worker = enroll(&ticket).await.unwrap();
    assert_eq!(worker.work, first.work);
    let again = enroll(&ticket).await.unwrap();
    assert!(again.replayed, "a spent ticket still authenticates the replay of its own Enroll");
    assert_eq!(again.session.id, worker.session.id);
    let other = bench
        .service
        .enroll(None, fresh(), "other".parse().unwrap(), Manner::default(), Some(ticket))
        .await;
    assert!(matches!(other, Err(Error::Refused(refusal)) if refusal.reason == Reason::BadTicket));
    assert!(send().await.unwrap().ticket.is_none(), "after its use the secret is not said again");
}

#[tokio::test]
async fn a_ticket_expires_and_dies_with_its_sender() {
    let bench = Bench::new().await;
    let lead = bench.root("lead").await;
    let ticket = || async {
        bench
            .service
            .send_work(&lead.caller, fresh(), None, WorkManner::default())
            .await
            .unwrap()
            .ticket
            .unwrap()
    };
    let (late, orphan) = (ticket().await, ticket().await);
    bench.advance(limits::TICKET_LIFE);
    let redeem = |ticket| {
        bench.service.enroll(
            None,
            fresh(),
            "worker".parse().unwrap(),
            Manner::default(),
            Some(ticket),
        )
    };
    let said = redeem(late).await.unwrap_err();
    assert!(matches!(said, Error::Refused(refusal) if refusal.reason == Reason::TicketExpired));
    bench.service.end(&lead.caller, fresh(), None).await.unwrap();
    let said = redeem(orphan).await.unwrap_err();
    assert!(matches!(said, Error::Refused(refusal) if refusal.reason == Reason::BadTicket));
}

#[tokio::test]
async fn work_goes_no_deeper_than_eight_and_never_up() {
    let bench = Bench::new().await;
    let root = bench.root("root").await;
    let mut deepest = root.clone();
    for depth in 1..=limits::DEPTH {
        deepest = bench.child(&format!("level-{depth}"), &deepest, false).await;
    }
    let said = bench
        .service
        .send_work(&deepest.caller, fresh(), None, WorkManner::default())
        .await
        .unwrap_err();
    assert!(matches!(said, Error::Refused(refusal) if refusal.reason == Reason::TooDeep));

    let child = bench.child("child", &root, false).await;
    let sent =
        bench.service.send_work(&child.caller, fresh(), None, WorkManner::default()).await.unwrap();
    let up = bench.service.accept_work(&root.caller, fresh(), sent.ticket.unwrap()).await;
    assert!(matches!(up, Err(Error::Refused(refusal)) if refusal.reason == Reason::WorkCycle));
}

#[tokio::test]
async fn a_session_with_two_works_asks_the_sender_of_each() {
    let bench = Bench::new().await;
    let (one, worker) = bench.pair().await;
    let two = bench.root("other-lead").await;
    let sent =
        bench.service.send_work(&two.caller, fresh(), None, WorkManner::default()).await.unwrap();
    let work = bench.service.accept_work(&worker.caller, fresh(), sent.ticket.unwrap()).await;
    let second = work.unwrap().work;
    let latest = bench.ask(&worker, "for the latest?").await;
    assert_eq!((latest.work, latest.chain.first()), (second, Some(&two.reference())));
    let (sessions, _) = bench.service.sessions(&worker.caller, false, None, 10).await.unwrap();
    let first = sessions[0].works[0];
    let receipt = bench.service.ask(&worker.caller, fresh(), Some(first), draft("first?")).await;
    assert_eq!(accepted(receipt).chain, [one.reference()]);
}

#[tokio::test]
async fn a_paused_sender_is_passed_over_and_a_paused_asker_keeps_its_asks() {
    let bench = Bench::new().await;
    let (lead, worker) = bench.pair().await;
    let ask = bench.ask(&worker, "which store?").await;
    bench.service.pause(&lead.caller, fresh(), None).await.unwrap();
    let moved = bench.until(ask.id, |ask| ask.hop.index == 1).await;
    assert_eq!(moved.hop.cause, Cause::SenderGone);
    assert_eq!(moved.hop.reason.as_deref(), Some("lead is paused"));

    bench.service.pause(&worker.caller, fresh(), None).await.unwrap();
    assert!(bench.get(ask.id).await.is_open());
    let said = bench.service.ask(&worker.caller, fresh(), None, draft("more?")).await;
    assert_eq!(refused(said), Reason::SessionPaused);
    let said = bench.service.withdraw(&worker.caller, fresh(), ask.id, None).await;
    assert_eq!(said.unwrap().verdict, Verdict::Accepted, "a paused session may withdraw");
}

#[tokio::test]
async fn an_ended_asker_abandons_its_asks_and_its_unread_outcomes_are_undeliverable() {
    let bench = Bench::new().await;
    let (lead, worker) = bench.pair().await;
    let (open, done) = (bench.ask(&worker, "open?").await, bench.ask(&worker, "done?").await);
    accepted(bench.answer_agent(&lead, &done).await);
    bench.service.end(&lead.caller, fresh(), Some(worker.id())).await.unwrap();
    let open = bench.until(open.id, |ask| !ask.is_open()).await;
    assert_eq!(open.outcome().unwrap().ending, Ending::Abandoned);
    assert_eq!(open.outcome().unwrap().by, askway::ask::Actor::Session(lead.reference()));
    let late = bench.answer(&open).await.unwrap();
    assert_eq!(late.verdict, Verdict::Closed);
    let is_lost =
        |ask: &askway::ask::Ask| matches!(ask.delivery(), Some(Delivery::Undeliverable { .. }));
    loop {
        let done = bench.get(done.id).await;
        if is_lost(&done) {
            assert!(answered_by(&done).is_some(), "the answer is kept");
            break;
        }
        tokio::task::yield_now().await;
    }
    let said = bench.log_in(&worker.token).await;
    assert!(matches!(said, Err(Error::Unauthenticated(Reason::SessionEnded, _))));
}

#[tokio::test]
async fn a_sweep_that_was_under_way_goes_on_after_a_restart() {
    let store = Arc::new(Mem::default());
    let bench = Bench::over(store.clone()).await;
    let (lead, worker) = bench.pair().await;
    let ask = bench.ask(&worker, "which store?").await;
    let clock = bench.clock.clone();
    // The pause is committed by a service whose sweep is cut off with it.
    bench.service.pause(&lead.caller, fresh(), None).await.unwrap();
    bench.stop().await;
    let bench = Bench::on(store, clock).await;
    let moved = bench.until(ask.id, |ask| ask.hop.index == 1).await;
    assert_eq!(moved.hop.cause, Cause::SenderGone);
}

#[tokio::test]
async fn a_session_whose_hold_is_gone_is_paused_and_its_holder_takes_it_up_again() {
    let bench = Bench::new().await;
    let (lead, worker) = bench.pair().await;
    let (_, hold) = bench.service.hold(&lead.caller, lead.hold.clone()).await.unwrap();
    let ask = bench.ask(&worker, "which store?").await;
    drop(hold);
    bench.advance(Span::from_millis(limits::HOLD_GRACE.as_millis() - 1));
    assert_eq!(bench.get(ask.id).await.hop.index, 0, "the grace is not over");
    bench.advance(Span::from_millis(1));
    bench.until(ask.id, |ask| ask.hop.index == 1).await;

    let wrong = bench.service.hold(&lead.caller, worker.hold.clone()).await;
    assert!(matches!(wrong, Err(Error::Denied(Reason::NotHolder, _))));
    let (session, _hold) = bench.service.hold(&lead.caller, lead.hold.clone()).await.unwrap();
    assert_eq!(session.standing, Standing::Active, "same session, same token");
    bench.log_in(&lead.token).await.unwrap();

    bench.service.pause(&lead.caller, fresh(), None).await.unwrap();
    let said = bench.service.hold(&lead.caller, lead.hold.clone()).await;
    assert!(matches!(said, Err(Error::Precondition(Reason::SessionPaused, _))));
}

#[tokio::test]
async fn a_restart_starts_the_grace_of_a_hold_anew() {
    let store = Arc::new(Mem::default());
    let bench = Bench::over(store.clone()).await;
    let (lead, worker) = bench.pair().await;
    let held = bench.service.hold(&lead.caller, lead.hold.clone()).await.unwrap();
    let ask = bench.ask(&worker, "which store?").await;
    let clock = bench.clock.clone();
    bench.stop().await;
    drop(held);
    clock.advance(Span::from_mins(5));
    let bench = Bench::on(store, clock).await;
    let (_, _hold) = bench.service.hold(&lead.caller, lead.hold.clone()).await.unwrap();
    bench.advance(limits::HOLD_GRACE);
    accepted(bench.answer_agent(&lead, &ask).await);
}

#[tokio::test]
async fn only_host_sender_or_itself_may_pause_and_end() {
    let bench = Bench::new().await;
    let (_, worker) = bench.pair().await;
    let stranger = bench.root("stranger").await;
    let said = bench.service.end(&stranger.caller, fresh(), Some(worker.id())).await.unwrap_err();
    assert_eq!(said.to_string(), format!("no session {}", worker.id()));
    let said = bench.service.resume(&worker.caller, fresh(), worker.id()).await.unwrap_err();
    assert!(matches!(said, Error::NotFound(_)), "a stray process with the token wakes nothing");
    let said = bench.service.resume(&bench.host, fresh(), worker.id()).await.unwrap_err();
    assert!(matches!(said, Error::Refused(refusal) if refusal.reason == Reason::SessionActive));
    bench.service.pause(&bench.host, fresh(), Some(worker.id())).await.unwrap();
}

#[tokio::test]
async fn turns_and_the_outcome_are_delivered_in_order_until_acknowledged() {
    use askway::service::DeliveryMessage;
    let bench = Bench::new().await;
    let (lead, worker) = bench.pair().await;
    let ask = bench.ask(&worker, "which store?").await;
    accepted(bench.service.say(&lead.caller, fresh(), ask.id, "a moment".into()).await);
    accepted(bench.answer_agent(&lead, &ask).await);
    for _ in 0..2 {
        let mut watch = bench.service.watch_deliveries(&worker.caller).await.unwrap();
        for revision in [2, 3] {
            let Some(Ok(DeliveryMessage::Delivery(_, got))) = watch.next().await else { panic!() };
            assert_eq!(got, revision, "the turn first");
        }
    }
    accepted(bench.service.acknowledge(&worker.caller, fresh(), ask.id, 3, None).await);
    let mut watch = bench.service.watch_deliveries(&worker.caller).await.unwrap();
    let other = bench.ask(&worker, "another?").await;
    accepted(bench.answer_agent(&lead, &other).await);
    let Some(Ok(DeliveryMessage::Delivery(next, 2))) = watch.next().await else { panic!() };
    assert_eq!(next.id, other.id, "what was acknowledged is not offered again");
}
