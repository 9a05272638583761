//! Watches miss nothing and repeat nothing.

use crate::bench::*;
use askway::ask::{Ask, AskId, Span, Timestamp, fold, limits};
use askway::engine::clock::Manual;
use askway::error::{Error, Reason};
use askway::service::{AskScope, Caller, InboxMessage, Service, Settings, WatchMessage, WriterOn};
use askway::store::mem::Mem;
use std::sync::Arc;
use std::time::Duration;
use tokio_stream::StreamExt;

/// Every event from `after` on, over as many streams as `cut` leaves: each is dropped after so many
/// messages and taken up at the last revision seen.
async fn read_all(service: Service, caller: Caller, id: AskId, cut: usize) -> Vec<u64> {
    let (mut seen, mut after) = (Vec::new(), Some(1));
    loop {
        let mut watch = service.watch_ask(&caller, id, after).await.unwrap();
        for _ in 0..cut {
            match watch.next().await.expect("cut off is not the end").unwrap() {
                WatchMessage::Ask(ask) => assert_eq!(Some(ask.revision), after),
                WatchMessage::Event(event, ask) => {
                    assert_eq!(event.revision, ask.revision);
                    after = Some(event.revision);
                    seen.push(event.revision);
                }
                WatchMessage::Idle { .. } => {}
                WatchMessage::End(revision) => {
                    assert_eq!(Some(revision), after);
                    return seen;
                }
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn rule_08_a_thousand_watchers_miss_nothing() {
    let bench = Bench::new().await;
    let (lead, worker) = bench.pair().await;
    let ask = bench.ask(&worker, "which store?").await;
    let mut watchers = tokio::task::JoinSet::new();
    for n in 0..1_000 {
        let (service, caller) = (bench.service.clone(), bench.owner.clone());
        watchers.spawn(read_all(service, caller, ask.id, 2 + n % 7));
    }
    for turn in 0..20 {
        let by = if turn % 2 == 0 { &lead.caller } else { &bench.owner };
        accepted(bench.service.say(by, fresh(), ask.id, format!("turn {turn}")).await);
    }
    accepted(bench.answer_agent(&lead, &ask).await);
    let all: Vec<u64> = (2..=22).collect();
    let join = async {
        while let Some(seen) = watchers.join_next().await {
            assert_eq!(seen.unwrap(), all);
        }
    };
    tokio::time::timeout(PATIENCE, join).await.expect("no watcher is lost");
    let (service, caller) = (bench.service.clone(), worker.caller.clone());
    assert_eq!(read_all(service, caller, ask.id, 3).await, all, "one that comes after it, too");
}

#[tokio::test]
async fn rule_08_the_ask_at_a_revision_and_the_events_after_it_make_the_ask() {
    let bench = Bench::new().await;
    let (lead, worker) = bench.pair().await;
    let ask = bench.ask(&worker, "which store?").await;
    accepted(bench.service.say(&lead.caller, fresh(), ask.id, "hm".into()).await);
    accepted(bench.escalate(&lead, &ask).await);
    accepted(bench.answer(&ask).await);
    let now = bench.get(ask.id).await;
    let events = bench.service.events(&bench.owner, ask.id, 0, 500).await.unwrap();
    let folded = fold(events.iter().map(|(event, _)| event));
    assert_eq!(folded.as_ref(), Some(&*now));
    for after in 1..=now.revision {
        let watch = bench.service.watch_ask(&bench.owner, ask.id, Some(after)).await.unwrap();
        let messages: Vec<_> = watch.map(Result::unwrap).collect().await;
        let WatchMessage::Ask(first) = &messages[0] else { panic!("first the ask") };
        assert_eq!(first.revision, after);
        assert_eq!(messages.len() as u64, 2 + now.revision - after);
        let last: &Arc<Ask> = match &messages[messages.len() - 2] {
            WatchMessage::Ask(ask) | WatchMessage::Event(_, ask) => ask,
            other => panic!("{other:?}"),
        };
        assert_eq!(last, &now);
        assert!(matches!(messages.last(), Some(WatchMessage::End(at)) if *at == now.revision));
    }
    let ahead = bench.service.watch_ask(&bench.owner, ask.id, Some(now.revision + 1)).await;
    assert!(matches!(ahead.err(), Some(Error::RevisionAhead(at)) if at == now.revision));
}

#[tokio::test]
async fn a_stopping_server_ends_streams_as_cut_off_and_not_as_settled() {
    let bench = Bench::new().await;
    let (_, worker) = bench.pair().await;
    let ask = bench.ask(&worker, "which store?").await;
    let mut watch = bench.service.watch_ask(&worker.caller, ask.id, None).await.unwrap();
    assert!(matches!(watch.next().await, Some(Ok(WatchMessage::Ask(_)))));
    let service = bench.service.clone();
    bench.stop().await;
    let cut = watch.next().await;
    assert!(matches!(cut, Some(Err(Error::Unavailable(Reason::Stopping, ..)))));
    assert!(watch.next().await.is_none());
    let said = service.ask(&worker.caller, fresh(), None, draft("more?")).await;
    assert!(matches!(said, Err(Error::Unavailable(Reason::Stopping, ..))));
}

#[tokio::test]
async fn an_inbox_shows_what_came_changed_and_left() {
    let bench = Bench::new().await;
    let (lead, worker) = bench.pair().await;
    let first = bench.ask(&worker, "first?").await;
    let mut inbox =
        bench.service.watch_inbox(&lead.caller, AskScope::WaitingOnMe, None).await.unwrap();
    let Some(Ok(InboxMessage::Snapshot { asks, total: 1, .. })) = inbox.next().await else {
        panic!()
    };
    assert_eq!(asks[0].id, first.id);
    let second = bench.ask(&worker, "second?").await;
    let Some(Ok(InboxMessage::Change { came, total: 2, .. })) = inbox.next().await else {
        panic!()
    };
    assert_eq!(came[0].id, second.id);
    accepted(bench.service.say(&lead.caller, fresh(), second.id, "hm".into()).await);
    let Some(Ok(InboxMessage::Change { changed, .. })) = inbox.next().await else { panic!() };
    assert_eq!(changed[0].turns.len(), 1);
    bench.advance(limits::ROUTE_TIMEOUT + Span::from_secs(1));
    let mut left = 0;
    while left < 2 {
        let Some(Ok(InboxMessage::Change { left: gone, .. })) = inbox.next().await else {
            panic!()
        };
        left += gone.len();
    }
    let mut people =
        bench.service.watch_inbox(&bench.owner, AskScope::WaitingOnMe, None).await.unwrap();
    let Some(Ok(InboxMessage::Snapshot { total: 2, .. })) = people.next().await else { panic!() };
}

#[tokio::test]
async fn an_inbox_that_keeps_changing_sends_two_batches_a_second_at_most() {
    let bench = Bench::new().await;
    let (lead, worker) = bench.pair().await;
    let mut inbox =
        bench.service.watch_inbox(&lead.caller, AskScope::WaitingOnMe, None).await.unwrap();
    let begun = std::time::Instant::now();
    assert!(matches!(inbox.next().await, Some(Ok(InboxMessage::Snapshot { total: 0, .. }))));
    for batch in 1..=2 {
        // It changes before the stream is asked for more: nothing to wait for but the pace.
        bench.ask(&worker, &format!("question {batch}?")).await;
        assert!(matches!(inbox.next().await, Some(Ok(InboxMessage::Change { .. }))));
        let least = std::time::Duration::from_millis(500) * batch;
        assert!(begun.elapsed() >= least, "batch {batch} came after {:?}", begun.elapsed());
    }
}

/// Over a store that others share everybody is woken every few seconds. A proxy that closes what is idle for
/// half a minute would cut a stream that says nothing for it.
#[tokio::test(start_paused = true)]
async fn a_stream_that_is_woken_for_nothing_says_that_it_is_well_all_the_same() {
    let settings = Settings { writer: WriterOn::Runtime, ..Settings::default() };
    let clock = Manual::at(Timestamp::from_millis(1_800_000_000_000));
    let bench = Bench::set(Arc::new(Mem::default()), clock, settings).await;
    let (lead, worker) = bench.pair().await;
    let ask = bench.ask(&worker, "which store?").await;
    let mut inbox = bench.service.watch_inbox(&bench.owner, AskScope::WaitingOnMe, None).await;
    let inbox = inbox.as_mut().expect("it is watched");
    assert!(matches!(inbox.next().await, Some(Ok(InboxMessage::Snapshot { .. }))));
    // What the lead says changes nothing that waits on the owner, who is woken by it.
    let mut every = tokio::time::interval(Duration::from_secs(10));
    let woken = async {
        loop {
            every.tick().await;
            accepted(bench.service.say(&lead.caller, fresh(), ask.id, "hm".into()).await);
        }
    };
    tokio::select! {
        said = tokio::time::timeout(PATIENCE, inbox.next()) => {
            assert!(matches!(said, Ok(Some(Ok(InboxMessage::Idle { stale: false })))), "{said:?}");
        }
        () = woken => unreachable!("it goes on for ever"),
    }
}
