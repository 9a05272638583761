//! How much may be open, and what a refusal says (rule 14).

use crate::bench::*;
use askway::ask::{Cause, Idle, Policy, Span, limits};
use askway::error::Reason;
use askway::service::Verdict;

#[tokio::test]
async fn rule_14_a_tree_has_a_limit_and_the_refusal_lists_what_may_be_known() {
    let bench = Bench::with(Policy { open_in_tree: 5, ..Policy::default() }).await;
    let lead = bench.root("lead").await;
    let (one, two) =
        (bench.child("one", &lead, false).await, bench.child("two", &lead, false).await);
    let mut open = Vec::new();
    for n in 0..4 {
        open.push(bench.ask(&one, &format!("one {n}?")).await.id);
        bench.advance(Span::from_millis(1));
    }
    open.push(bench.ask(&two, "two?").await.id);
    let more = bench.file(&two, draft("more?")).await.unwrap();
    assert_eq!(more.verdict, Verdict::Refused(Reason::TreeFull));
    assert_eq!(more.open, open[4..], "the other branch is foreign to it");
    assert!(more.message.contains("wait for some, or withdraw some"), "{}", more.message);
    let more = bench.file(&lead, draft("more?")).await.unwrap();
    assert_eq!((more.verdict, more.open), (Verdict::Refused(Reason::TreeFull), open.clone()));
    let elsewhere = bench.root("elsewhere").await;
    bench.ask(&elsewhere, "another tree?").await;
    accepted(bench.service.withdraw(&one.caller, fresh(), open[0], None).await);
    bench.ask(&two, "more?").await;
}

#[tokio::test]
async fn rule_14_sixty_four_in_a_tree() {
    let bench = Bench::new().await;
    let lead = bench.root("lead").await;
    for n in 0..16 {
        let worker = bench.child(&format!("worker-{n}"), &lead, false).await;
        for m in 0..4 {
            bench.ask(&worker, &format!("question {m}?")).await;
        }
    }
    let more = bench.file(&lead, draft("more?")).await.unwrap();
    assert_eq!(more.verdict, Verdict::Refused(Reason::TreeFull));
    assert_eq!(more.open.len(), limits::OPEN_LISTED, "it lists the oldest, and no more than these");
}

#[tokio::test]
async fn c88_beyond_fifty_on_one_sender_further_asks_go_to_a_person_and_say_why() {
    let bench = Bench::new().await;
    let lead = bench.root("lead").await;
    for n in 0..13 {
        let worker = bench.child(&format!("worker-{n}"), &lead, false).await;
        for m in 0..4 {
            let ask = bench.ask(&worker, &format!("question {m}?")).await;
            let place = n * 4 + m;
            assert_eq!(ask.hop.index, usize::from(place >= limits::WAITING_ON_SESSION), "{place}");
            if ask.hop.index == 1 {
                assert_eq!(ask.hop.cause, Cause::SenderBlocked);
                assert_eq!(ask.hop.skipped[0].why, Idle::Full);
                let reason = ask.hop.reason.as_deref();
                assert_eq!(reason, Some("lead is asked as much as it may be already"));
            }
        }
    }
    assert_eq!(bench.inbox(&lead.caller).await.len(), limits::WAITING_ON_SESSION);
    assert_eq!(bench.inbox(&bench.owner).await.len(), 2);
}

#[tokio::test]
async fn rule_14_a_namespace_has_a_limit() {
    let bench = Bench::with(Policy { open_in_namespace: 3, ..Policy::default() }).await;
    let (one, two) = (bench.root("one").await, bench.root("two").await);
    let mut open = Vec::new();
    for n in 0..2 {
        open.push(bench.ask(&one, &format!("question {n}?")).await);
    }
    let own = bench.ask(&two, "mine?").await;
    let more = bench.file(&two, draft("more?")).await.unwrap();
    assert_eq!(more.verdict, Verdict::Refused(Reason::NamespaceFull));
    assert_eq!(more.open, [own.id], "what others have open is foreign");
    accepted(bench.answer(&open[0]).await);
    bench.ask(&two, "more?").await;
}

#[tokio::test]
async fn rule_14_a_refused_filing_spends_nothing() {
    let bench = Bench::with(Policy { open_in_tree: 1, ..Policy::default() }).await;
    let lead = bench.root("lead").await;
    let first = bench.ask(&lead, "first?").await;
    let request = fresh();
    let file = || bench.service.ask(&lead.caller, request.clone(), None, draft("second?"));
    assert_eq!(refused(file().await), Reason::TreeFull);
    accepted(bench.answer(&first).await);
    let filed = file().await.unwrap();
    assert!(filed.verdict == Verdict::Accepted && !filed.replayed);
}
