//! How long things are kept, and what is said of what is gone.

use crate::bench::*;
use askway::ask::{AskId, RequestId, Span, Timestamp, limits};
use askway::error::Error;
use askway::service::Verdict;
use askway::session::WorkManner;
use askway::store::mem::Mem;
use askway::store::{Key, Store};
use std::sync::Arc;

/// A UUID of version 7 made at that time.
fn made_at(time: Timestamp) -> RequestId {
    let hex = format!("{:012x}", time.as_millis());
    format!("{}-{}-7000-8000-000000000001", &hex[..8], &hex[8..]).parse().unwrap()
}

async fn now(bench: &Bench) -> Timestamp {
    bench.service.status(&bench.owner).await.unwrap().service_time
}

async fn is_gone(bench: &Bench, id: AskId) -> bool {
    let said = bench.service.get(&bench.owner, &id.to_string()).await;
    matches!(said, Err(Error::NotFound(why)) if why == format!("no ask {id}"))
}

#[tokio::test]
async fn a_settled_ask_is_purged_thirty_days_after_its_delivery_as_if_it_had_never_been() {
    let store = Arc::new(Mem::default());
    let bench = Bench::over(store.clone()).await;
    let (lead, worker) = bench.pair().await;
    let _holds = (bench.hold(&lead).await, bench.hold(&worker).await);
    let ask = bench.ask(&worker, "which store?").await;
    accepted(bench.decline(&ask, "no").await);
    let no = Key::StandingNo((ask.tree, ask.what_is_asked().gist));
    let kept = store.load(std::slice::from_ref(&no)).await.unwrap();
    assert!(kept[0].is_some(), "the no is kept of it");
    bench.advance(Span::from_hours(48));
    bench.acknowledge(&worker, ask.id).await;
    bench.advance(Span::from_millis(limits::KEEP.as_millis() - 1));
    assert!(!is_gone(&bench, ask.id).await, "no earlier than its time");
    bench.advance(Span::from_millis(1));
    eventually(async || is_gone(&bench, ask.id).await).await;
    let twin = Key::Twin((ask.work, ask.digest));
    assert_eq!(store.load(&[twin, no]).await, Ok(vec![None, None]), "and all that is kept of it");
    let as_spelled = Key::StandingNo((ask.tree, ask.digest));
    assert_eq!(store.load(&[as_spelled]).await, Ok(vec![None]));
    assert_eq!(store.history(ask.id, 0, 9).await, Ok(vec![]));
    let said = bench.answer(&ask).await.unwrap_err();
    assert_eq!(said.to_string(), format!("no ask {}", ask.id));
    assert!(!bench.file(&worker, draft("which store?")).await.unwrap().replayed);
}

#[tokio::test]
async fn an_unread_outcome_is_kept_ninety_days_and_no_longer() {
    let bench = Bench::new().await;
    let worker = bench.root("worker").await;
    let _hold = bench.hold(&worker).await;
    let ask = bench.ask(&worker, "which store?").await;
    accepted(bench.answer(&ask).await);
    bench.advance(Span::from_millis(limits::KEEP_MAX.as_millis() - 1));
    assert!(!is_gone(&bench, ask.id).await);
    bench.advance(Span::from_millis(1));
    eventually(async || is_gone(&bench, ask.id).await).await;
}

#[tokio::test]
async fn a_changed_content_leaves_nothing_behind() {
    let store = Arc::new(Mem::default());
    let bench = Bench::over(store.clone()).await;
    let (lead, worker) = bench.pair().await;
    let ask = bench.ask(&worker, "which store?").await;
    accepted(bench.service.say(&lead.caller, fresh(), ask.id, "hm".into()).await);
    let mut options = ask.content.questions[0].options.clone();
    options[1].label = "perhaps".into();
    let replaced = [("q1".to_owned(), options)].into();
    let reply = bench.service.reply(&worker.caller, fresh(), ask.id, "so".into(), replaced).await;
    let digest = accepted(reply).digest;
    let keys = [Key::Twin((ask.work, ask.digest)), Key::Twin((ask.work, digest))];
    let found = store.load(&keys).await.unwrap();
    assert!(found[0].is_none() && found[1].is_some(), "{found:?}");
}

#[tokio::test]
async fn a_receipt_goes_after_a_week_and_not_before_its_ask() {
    let store = Arc::new(Mem::default());
    let bench = Bench::over(store.clone()).await;
    let lead = bench.root("lead").await;
    let _hold = bench.hold(&lead).await;
    let ask = bench.ask(&lead, "which store?").await;
    accepted(bench.answer(&ask).await);
    let sent = bench.service.send_work(&lead.caller, fresh(), None, WorkManner::default()).await;
    sent.unwrap();
    let kept = async || store.receipts(None, 100).await.unwrap().len();
    assert_eq!(kept().await, 4, "enrolled, filed, answered, sent");
    bench.advance(limits::RECEIPT_KEEP);
    eventually(async || kept().await == 2).await;
    bench.acknowledge(&lead, ask.id).await;
    bench.advance(Span::from_hours(8 * 24));
    // A walk through all receipts has begun since, and another is over.
    bench.advance(Span::from_hours(2));
    assert_eq!(kept().await, 3, "those of an ask stay with it");
    bench.advance(limits::KEEP);
    eventually(async || is_gone(&bench, ask.id).await).await;
    let walked = async || {
        bench.advance(Span::from_hours(1));
        kept().await == 0
    };
    eventually(walked).await;
}

#[test]
fn a_request_of_a_clock_that_is_ahead_is_remembered_while_it_is_good() {
    let now = Timestamp::from_millis(1_800_000_000_000);
    let ahead = now + Span::from_hours(48);
    let week = limits::RECEIPT_KEEP;
    assert_eq!(fresh().remembered_until(now), now + week);
    assert_eq!(made_at(now).remembered_until(now), now + week);
    let early = made_at(ahead);
    let until = early.remembered_until(now);
    assert!(until == ahead + week && early.is_too_old(until), "then it is too old to be tried");
    let absurd = made_at(now + Span::from_hours(24 * 365 * 100));
    let bounded = now + limits::KEEP_MAX + week;
    assert_eq!(absurd.remembered_until(now), bounded, "nothing is kept for ever");
}

#[tokio::test]
async fn rule_07_a_request_too_old_for_its_receipt_is_refused_rather_than_done_again() {
    let bench = Bench::new().await;
    let lead = bench.root("lead").await;
    let _hold = bench.hold(&lead).await;
    let start = now(&bench).await;
    let old = made_at(start);
    let file = |request: RequestId, question: &'static str| {
        bench.service.ask(&lead.caller, request, None, draft(question))
    };
    let first = file(old.clone(), "kept?").await.unwrap().ask.unwrap();
    bench.advance(Span::from_millis(limits::RECEIPT_KEEP.as_millis() - 1));
    let late = made_at(start + Span::from_millis(1));
    accepted(file(late, "just in time?").await);
    bench.advance(Span::from_hours(24));
    let again = file(old, "kept?").await.unwrap();
    assert!(again.replayed && again.verdict == Verdict::Accepted, "its receipt is there");
    assert_eq!(again.ask.unwrap().id, first.id);
    let unknown = made_at(start + Span::from_secs(1));
    let said = file(unknown, "asked anew?").await.unwrap_err();
    assert!(matches!(said, Error::RequestIdTooOld), "{said:?}");
    assert!(said.to_string().contains("clock"), "{said}");
    let open = bench.inbox(&bench.owner).await;
    assert_eq!(open.len(), 2, "nothing was asked");
    accepted(file("any text will do".parse().unwrap(), "without a time?").await);
}

#[tokio::test]
async fn rule_07_a_receipt_outlives_a_week_while_its_ask_is_kept() {
    let bench = Bench::new().await;
    let lead = bench.root("lead").await;
    let _hold = bench.hold(&lead).await;
    let ask = bench.ask(&lead, "which store?").await;
    let request = made_at(now(&bench).await);
    let answer = || bench.service.answer(&bench.owner, request.clone(), ask.id, ask.digest, yes());
    accepted(answer().await);
    bench.advance(Span::from_hours(20 * 24));
    let again = answer().await.unwrap();
    assert!(again.replayed && again.verdict == Verdict::Accepted);
}
