//! Streams outlast a store that is away for a while: they say so, go on, and neither miss nor repeat what
//! another way to the same store was used for meanwhile.

use crate::bench::*;
use crate::faults::Held;
use askway::error::Error;
use askway::service::{AskScope, DeliveryMessage, HoldMessage, InboxMessage, Watch, WatchMessage};
use std::fmt::Debug;
use std::sync::atomic::Ordering;
use tokio_stream::StreamExt;

async fn next<M: Debug>(watch: &mut Watch<M>) -> Result<M, Error> {
    let next = tokio::time::timeout(PATIENCE, watch.next()).await.expect("it comes");
    next.expect("it is open")
}

macro_rules! says {
    ($watch:expr, $message:pat $(if $guard:expr)?) => {{
        let said = next(&mut $watch).await.expect("it is not cut");
        assert!(matches!(&said, $message $(if $guard)?), "{said:?}");
    }};
}

#[tokio::test]
async fn rule_08_every_stream_outlasts_a_store_that_is_away_and_misses_nothing() {
    let store = Held::new();
    let beside = store.beside();
    let bench = Bench::over(store.clone()).await;
    let (lead, worker) = bench.pair().await;
    let ask = bench.ask(&worker, "which store?").await;
    let other = Bench::on(beside, bench.clock.clone()).await;
    let service = &bench.service;
    // A stream of a token looks at that too, which cannot be read either.
    let mut watch = service.watch_ask(&worker.caller, ask.id, None).await.unwrap();
    let mut inbox = service.watch_inbox(&bench.owner, AskScope::Visible, None).await.unwrap();
    let mut deliveries = service.watch_deliveries(&worker.caller).await.unwrap();
    let mut hold = service.watch_hold(&worker.caller, worker.hold.clone()).await.unwrap();
    says!(watch, WatchMessage::Ask(_));
    says!(inbox, InboxMessage::Snapshot { asks, .. } if asks.len() == 1);
    says!(hold, HoldMessage::Held(_));
    for round in 0..2 {
        store.fails.store(true, Ordering::SeqCst);
        says!(watch, WatchMessage::Idle { revision: 1, stale: true });
        says!(inbox, InboxMessage::Idle { stale: true });
        says!(hold, HoldMessage::Idle { stale: true });
        if round == 0 {
            // Nothing happens meanwhile: that it is back is said all the same.
            store.fails.store(false, Ordering::SeqCst);
            says!(watch, WatchMessage::Idle { revision: 1, stale: false });
            says!(inbox, InboxMessage::Idle { stale: false });
            says!(hold, HoldMessage::Idle { stale: false });
        }
    }
    accepted(other.service.say(&lead.caller, fresh(), ask.id, "hm".into()).await);
    accepted(other.answer_agent(&lead, &ask).await);
    store.fails.store(false, Ordering::SeqCst);
    says!(watch, WatchMessage::Event(event, _) if event.revision == 2);
    says!(watch, WatchMessage::Event(event, _) if event.revision == 3);
    says!(watch, WatchMessage::End(3));
    assert!(watch.next().await.is_none());
    let told = async {
        let mut told = Vec::new();
        while told.len() < 2 {
            match next(&mut deliveries).await.expect("it is not cut") {
                DeliveryMessage::Delivery(_, revision) => told.push(revision),
                DeliveryMessage::Idle { .. } => assert!(told.is_empty(), "{told:?}"),
            }
        }
        told
    };
    assert_eq!(told.await, [2, 3], "each once, in order");
    says!(inbox, InboxMessage::Change { left, came, .. } if *left == [ask.id] && came.is_empty());
    says!(hold, HoldMessage::Idle { stale: false });
}

/// Who cannot be shown anything at all is told at once, and comes again.
#[tokio::test]
async fn a_stream_that_begins_while_the_store_is_away_ends_with_that() {
    let store = Held::new();
    let bench = Bench::over(store.clone()).await;
    let mut inbox = bench.service.watch_inbox(&bench.owner, AskScope::Visible, None).await.unwrap();
    store.fails.store(true, Ordering::SeqCst);
    let told = next(&mut inbox).await;
    assert!(matches!(told, Err(Error::Unavailable(..))), "{told:?}");
    assert!(inbox.next().await.is_none());
}

/// A token that was taken away while nobody could look is found out before anything more is shown.
#[tokio::test]
async fn what_was_revoked_meanwhile_is_shown_nothing_when_the_store_is_back() {
    let store = Held::new();
    let bench = Bench::over(store.clone()).await;
    let (_, worker) = bench.pair().await;
    let ask = bench.ask(&worker, "which store?").await;
    let other = Bench::on(store.beside(), bench.clock.clone()).await;
    let mut watch = bench.service.watch_ask(&worker.caller, ask.id, None).await.unwrap();
    says!(watch, WatchMessage::Ask(_));
    store.fails.store(true, Ordering::SeqCst);
    says!(watch, WatchMessage::Idle { stale: true, .. });
    other.service.revoke_session(&other.owner, fresh(), worker.id()).await.unwrap();
    store.fails.store(false, Ordering::SeqCst);
    let told = next(&mut watch).await;
    assert!(matches!(told, Err(Error::Unauthenticated(..) | Error::Refused(_))), "{told:?}");
}
