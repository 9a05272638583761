//! A person's no binds in the whole tree of works, for a while, and against every session.

use crate::bench::*;
use askway::ask::{
    Actor, Ask, Draft, Ending, ExpiryAction, ExpiryClock, PersonName, Policy, Span, StandingNo,
    WhyNoDefault, limits,
};
use askway::error::Reason;
use askway::service::Verdict;
use askway::store::mem::Mem;
use askway::store::{Batch, Change, Key, Record, Store};
use std::sync::Arc;

const NOTE: &str = "not on a Friday";

/// What stands is the person's decline of `first`.
fn declined_by_it(ask: &Ask, first: &Ask) {
    let outcome = ask.outcome().expect("it is filed and settled in one commit");
    assert_eq!(outcome.ending, Ending::Declined);
    assert_eq!(outcome.by, Actor::Person(PersonName::owner()));
    assert_eq!(outcome.note.as_deref(), Some(NOTE));
    assert_eq!(outcome.stands_from, Some(first.id));
    assert_eq!(ask.revision, 2);
}

#[tokio::test]
async fn c38_a_persons_no_binds_the_session_its_child_and_the_other_branches() {
    let bench = Bench::new().await;
    let (lead, worker) = bench.pair().await;
    let child = bench.child("child", &worker, false).await;
    let other = bench.child("other", &lead, false).await;
    let first = bench.ask(&worker, "drop the table?").await;
    accepted(bench.decline(&first, NOTE).await);
    let same = bench.file(&worker, draft("drop the table?")).await.unwrap();
    assert!(same.replayed, "until it is acknowledged it is the same ask");
    bench.acknowledge(&worker, first.id).await;
    for asker in [&worker, &child, &other, &lead] {
        let again = bench.ask(asker, "drop the table?").await;
        declined_by_it(&again, &first);
        assert_ne!(again.id, first.id);
        assert!(again.follow_up(2).contains("that still stands"), "{}", again.follow_up(2));
    }
    assert!(bench.inbox(&bench.owner).await.is_empty(), "no person is asked");
    for n in 0..limits::OPEN_ASKS {
        bench.ask(&worker, &format!("another {n}?")).await;
    }
}

#[tokio::test]
async fn c38_another_tree_and_another_day_are_free() {
    let bench = Bench::new().await;
    let worker = bench.root("worker").await;
    let _held = bench.hold(&worker).await;
    let first = bench.ask(&worker, "drop the table?").await;
    accepted(bench.decline(&first, NOTE).await);
    bench.acknowledge(&worker, first.id).await;
    let stranger = bench.root("stranger").await;
    assert!(bench.ask(&stranger, "drop the table?").await.is_open());
    bench.advance(Span::from_millis(limits::DECLINE_STANDS.as_millis() - 1));
    let again = bench.ask(&worker, "drop the table?").await;
    declined_by_it(&again, &first);
    bench.acknowledge(&worker, again.id).await;
    bench.advance(Span::from_millis(1));
    let anew = bench.ask(&worker, "drop the table?").await;
    assert!(anew.is_open(), "a repeated decline prolongs nothing");
}

#[tokio::test]
async fn a_no_that_the_first_version_wrote_is_found_by_how_it_was_spelled() {
    let store = Arc::new(Mem::default());
    let bench = Bench::over(store.clone()).await;
    let worker = bench.root("worker").await;
    let first = bench.ask(&worker, "drop the table?").await;
    accepted(bench.decline(&first, NOTE).await);
    bench.acknowledge(&worker, first.id).await;
    let asked = first.what_is_asked();
    let key = Key::StandingNo((first.tree, asked.gist));
    let Some(Record::StandingNo(no)) =
        store.load(std::slice::from_ref(&key)).await.unwrap().remove(0)
    else {
        panic!("a no is kept")
    };
    let before = StandingNo { digest: asked.digest, revision: 1, ..(*no).clone() };
    let writes = vec![Record::StandingNo(before.into())];
    let change = Change { writes, removes: vec![key], ..Change::default() };
    store.commit(Batch { changes: vec![change], mark: None }).await.unwrap();
    let again = bench.ask(&worker, "drop the table?").await;
    declined_by_it(&again, &first);
    assert!(bench.ask(&worker, "Drop the TABLE").await.is_open(), "it bound no other spelling");
}

#[tokio::test]
async fn c87_no_session_may_say_yes_to_what_a_person_declined() {
    let bench = Bench::new().await;
    let (lead, one) = bench.pair().await;
    let two = bench.child("two", &lead, false).await;
    let (first, twin) = (bench.ask(&one, "drop?").await, bench.ask(&two, "drop?").await);
    accepted(bench.decline(&first, NOTE).await);
    let said = bench.answer_agent(&lead, &twin).await.unwrap();
    assert_eq!(said.verdict, Verdict::Refused(Reason::StandingDecline));
    assert!(said.message.contains("owner") && said.message.contains(NOTE), "{}", said.message);
    assert_eq!(bench.get(twin.id).await.revision, twin.revision, "it changes nothing");
    let moved = accepted(bench.escalate(&lead, &twin).await);
    assert_eq!(moved.hop.index, 1);
    accepted(bench.answer(&moved).await);
    // A person has lifted it: sessions answer again.
    bench.acknowledge(&one, first.id).await;
    let again = bench.ask(&one, "drop?").await;
    assert!(again.is_open());
    accepted(bench.answer_agent(&lead, &again).await);
}

#[tokio::test]
async fn asked_again_on_purpose_it_goes_straight_to_people_and_is_counted() {
    let bench = Bench::new().await;
    let (_, worker) = bench.pair().await;
    let first = bench.ask(&worker, "drop?").await;
    accepted(bench.decline(&first, NOTE).await);
    for times in 1..=2 {
        let again = Draft { again: true, ..draft("drop?") };
        let again = accepted(bench.file(&worker, again).await);
        assert!(again.is_open() && again.again == times, "{} of {times}", again.again);
        assert!(bench.inbox(&bench.owner).await.contains(&again.id), "no session is asked");
        accepted(bench.service.withdraw(&worker.caller, fresh(), again.id, None).await);
    }
}

/// An agent that spells its question otherwise has asked nothing else.
#[tokio::test]
async fn a_no_binds_however_the_question_is_spelled() {
    let bench = Bench::new().await;
    let (lead, worker) = bench.pair().await;
    let other = bench.child("other", &lead, false).await;
    let first = bench.ask(&worker, "Drop the table?").await;
    accepted(bench.decline(&first, NOTE).await);
    bench.acknowledge(&worker, first.id).await;
    let spelled = [
        "drop the TABLE",
        "  Drop\n\nthe   table ?!",
        "**Drop** the `table`…",
        "Ｄｒｏｐ the table?",
        "Dr\u{43e}p the t\u{430}ble?",
        "Drop\u{200b} the table?",
    ];
    for question in spelled {
        let again = bench.ask(&other, question).await;
        declined_by_it(&again, &first);
        bench.acknowledge(&other, again.id).await;
    }
    assert!(bench.inbox(&bench.owner).await.is_empty(), "no person is asked");
    assert!(bench.ask(&other, "Drop the tables?").await.is_open(), "that is another one");
}

#[tokio::test]
async fn no_session_says_yes_to_what_was_declined_in_another_spelling() {
    let bench = Bench::new().await;
    let (lead, one) = bench.pair().await;
    let two = bench.child("two", &lead, false).await;
    let (first, twin) = (bench.ask(&one, "drop it?").await, bench.ask(&two, "Drop it!").await);
    accepted(bench.decline(&first, NOTE).await);
    let said = bench.answer_agent(&lead, &twin).await.unwrap();
    assert_eq!(said.verdict, Verdict::Refused(Reason::StandingDecline));
    // A person who answers the other spelling lifts it from both.
    let moved = accepted(bench.escalate(&lead, &twin).await);
    accepted(bench.answer(&moved).await);
    bench.acknowledge(&one, first.id).await;
    assert!(bench.ask(&one, "drop it?").await.is_open());
}

#[tokio::test]
async fn a_no_binds_not_at_all_where_it_is_configured_so() {
    let mut policy = Policy::default();
    policy.terms.decline_stands = Span::default();
    let bench = Bench::with(policy).await;
    let worker = bench.root("worker").await;
    let first = bench.ask(&worker, "drop?").await;
    accepted(bench.decline(&first, NOTE).await);
    bench.acknowledge(&worker, first.id).await;
    assert!(bench.ask(&worker, "drop?").await.is_open());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_no_and_a_sessions_yes_at_once_agree_with_what_stands() {
    let bench = Bench::new().await;
    let lead = bench.root("lead").await;
    for round in 0..200 {
        let one = bench.child("one", &lead, false).await;
        let two = bench.child("two", &lead, false).await;
        let question = format!("round {round}?");
        let (first, twin) = (bench.ask(&one, &question).await, bench.ask(&two, &question).await);
        let (no, yes) = tokio::join!(bench.decline(&first, NOTE), bench.answer_agent(&lead, &twin));
        accepted(no);
        let (twin, yes) = (bench.get(twin.id).await, yes.unwrap());
        match yes.verdict {
            Verdict::Accepted => {
                let no = bench.get(first.id).await.outcome().unwrap().time;
                assert!(twin.outcome().unwrap().time <= no);
            }
            said => {
                assert_eq!(said, Verdict::Refused(Reason::StandingDecline));
                assert!(twin.is_open());
                accepted(bench.service.withdraw(&two.caller, fresh(), twin.id, None).await);
            }
        }
    }
}

#[tokio::test]
async fn rule_04_no_silence_overrules_a_persons_no() {
    let bench = Bench::new().await;
    let (lead, worker) = bench.pair().await;
    let other = bench.child("other", &lead, false).await;
    let mut wanted = draft("drop the table?");
    what(&mut wanted).questions[0].options[0].recommended = true;
    wanted.expire = Some((Span::from_mins(10), ExpiryAction::Default));
    let mine = accepted(bench.file(&worker, wanted.clone()).await);
    let twin = accepted(bench.file(&other, wanted).await);
    accepted(bench.escalate(&lead, &mine).await);
    bench.show(&mine).await;
    accepted(bench.decline(&twin, NOTE).await);
    bench.advance(Span::from_mins(10));
    let held = bench
        .until(mine.id, |ask| {
            let clock = ask.expiry.map(|expiry| expiry.clock);
            clock == Some(ExpiryClock::Waits(WhyNoDefault::Declined))
        })
        .await;
    assert!(held.is_open(), "a person decides it");
    accepted(bench.answer(&held).await);
}

#[tokio::test]
async fn a_reply_leads_to_no_content_that_a_person_declined() {
    let bench = Bench::new().await;
    let (_, worker) = bench.pair().await;
    let declined = bench.ask(&worker, "drop the table?").await;
    accepted(bench.decline(&declined, NOTE).await);
    bench.acknowledge(&worker, declined.id).await;
    let mut other = draft("drop the table?");
    let offered = other.content.questions[0].options.clone();
    what(&mut other).questions[0].options[1].label = "nope".into();
    let ask = accepted(bench.file(&worker, other).await);
    let options = [("q1".to_owned(), offered)].into();
    let said =
        bench.service.reply(&worker.caller, fresh(), ask.id, "I meant these".into(), options);
    assert_eq!(refused(said.await), Reason::StandingDecline);
    assert_eq!(bench.get(ask.id).await.digest, ask.digest, "nothing changed");
}
