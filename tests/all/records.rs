//! What stays on record, for whom, and what trouble leaves of it.

use crate::bench::*;
use askway::ask::{
    Actor, Ask, Cause, Ending, Idle, Plan, PlanHop, PlanTo, Plans, Policy, Span, Target, limits,
};
use askway::engine::clock::Manual;
use askway::error::Error;
use askway::service::{
    AskFilter, AskScope, Caller, InboxMessage, Settings, Verdict, WatchMessage, Worker,
};
use askway::session::Principal;
use askway::store::mem::Mem;
use std::sync::Arc;
use tokio_stream::StreamExt;

#[tokio::test]
async fn c154_a_week_later_each_end_is_found_with_who_when_and_for_what() {
    let bench = Bench::new().await;
    let (lead, worker) = bench.pair().await;
    let (yes, no) = (bench.ask(&worker, "yes?").await, bench.ask(&worker, "no?").await);
    accepted(bench.answer_agent(&lead, &yes).await);
    accepted(bench.decline(&no, "not now").await);
    let before = [bench.get(yes.id).await, bench.get(no.id).await];
    bench.advance(Span::from_hours(7 * 24));
    let filter = AskFilter { settled: true, ..AskFilter::default() };
    let page = bench.service.list(&bench.owner, AskScope::Visible, &filter, None, 9).await.unwrap();
    assert_eq!(page.asks.len(), 2);
    for ask in before {
        let later = page.asks.iter().find(|later| later.id == ask.id).unwrap();
        assert_eq!(later.outcome(), ask.outcome());
        assert_eq!((&later.asker, &later.chain), (&worker.reference(), &vec![lead.reference()]));
        assert_eq!((later.work, &later.content), (ask.work, &ask.content));
    }
}

#[tokio::test]
async fn c67_a_watch_of_what_waits_stays_until_it_is_settled() {
    let bench = Bench::new().await;
    let lead = bench.root("lead").await;
    let ask = bench.ask(&lead, "go?").await;
    let mut watch = bench.service.watch_ask(&lead.caller, ask.id, None).await.unwrap();
    assert!(matches!(watch.next().await, Some(Ok(WatchMessage::Ask(_)))));
    bench.pass(Span::from_hours(1)).await;
    accepted(bench.answer(&ask).await);
    let rest: Vec<_> = watch.map(Result::unwrap).collect().await;
    assert!(matches!(rest[..], [WatchMessage::Event(..), WatchMessage::End(2)]), "{rest:?}");
}

#[tokio::test]
async fn c75_a_reconnected_inbox_begins_with_what_is_and_revives_nothing() {
    let bench = Bench::new().await;
    let lead = bench.root("lead").await;
    let gone = bench.ask(&lead, "gone?").await;
    let inbox = || bench.service.watch_inbox(&bench.owner, AskScope::WaitingOnMe, None);
    let mut first = inbox().await.unwrap();
    assert!(matches!(first.next().await, Some(Ok(InboxMessage::Snapshot { total: 1, .. }))));
    drop(first);
    accepted(bench.answer(&gone).await);
    let stays = bench.ask(&lead, "stays?").await;
    let mut second = inbox().await.unwrap();
    let Some(Ok(InboxMessage::Snapshot { asks, total: 1, .. })) = second.next().await else {
        panic!()
    };
    assert_eq!(asks[0].id, stays.id);
    accepted(bench.answer(&stays).await);
    let Some(Ok(InboxMessage::Change { came, changed, left, total: 0, .. })) = second.next().await
    else {
        panic!()
    };
    assert!(came.is_empty() && changed.is_empty() && left == [stays.id]);
}

#[tokio::test]
async fn c109_a_group_of_nobody_is_passed_over_and_at_the_end_the_owner_is_asked() {
    // Such a route is refused where it is written.
    let group = PlanTo::Group("nobody".parse().unwrap(), Vec::new());
    let hops = vec![PlanHop { to: group, timeout: None }];
    let name = "empty".parse().unwrap();
    let faults = Plan::new(name, hops, 1, limits::ROUTE_TIMEOUT).unwrap_err();
    assert_eq!(faults[0].message, "is a group of nobody");
    let bench = Bench::new().await;
    let lead = bench.root("lead").await;
    let ask = bench.ask(&lead, "go?").await;
    assert_eq!(ask.waiting_on(), Some(Target::person(askway::ask::PersonName::owner())));
}

#[tokio::test]
async fn c142_names_of_requests_and_leases_are_good_for_their_own_caller_and_ask_alone() {
    let bench = Bench::new().await;
    let (lead, worker) = bench.pair().await;
    let (mine, other) = (bench.ask(&lead, "mine?").await, bench.ask(&worker, "other?").await);
    let request = fresh();
    let answer = async |by: &Caller, ask: &Ask| {
        bench.service.answer(by, request.clone(), ask.id, ask.digest, yes()).await
    };
    accepted(answer(&bench.owner, &mine).await);
    let reused = answer(&bench.owner, &other).await;
    assert!(matches!(reused, Err(Error::RequestIdReused)));
    let ada =
        Caller { principal: Principal::Person("ada".parse().unwrap()), ..bench.owner.clone() };
    let hers = answer(&ada, &other).await.unwrap();
    assert!(hers.verdict == Verdict::Accepted && !hers.replayed, "another person's is another's");
    let by = Worker { length: Span::from_mins(5), holder: "worker".into() };
    let taken = bench.service.take_deliveries(&lead.caller, &fresh(), 1, &by).await.unwrap();
    let lease = Some(taken.asks[0].1);
    let stray = bench.service.acknowledge(&worker.caller, fresh(), other.id, 2, lease).await;
    assert_eq!(refused(stray), askway::error::Reason::Leased, "it is of another ask");
    accepted(bench.service.acknowledge(&lead.caller, fresh(), mine.id, 2, lease).await);
}

#[tokio::test]
async fn c146_texts_at_their_limits_are_kept_and_cut_between_characters_only() {
    let bench = Bench::new().await;
    let lead = bench.root("lead").await;
    for unit in ["한", "界", "👩‍👩‍👧", "e\u{301}"] {
        let full = unit.repeat(limits::QUESTION_BYTES / unit.len());
        let ask = bench.ask(&lead, &full).await;
        assert_eq!(ask.content.questions[0].question, full, "it is kept whole");
        let Err(Error::Invalid(violations)) =
            bench.file(&lead, draft(&format!("{full}{unit}"))).await
        else {
            panic!("it is too long")
        };
        assert_eq!(violations[0].field, "questions[0].question");
        let words = unit.repeat(limits::ANSWER_TEXT_BYTES / unit.len());
        let mut answers = yes();
        answers.get_mut("q1").unwrap().text = Some(words);
        let said = bench.service.answer(&bench.owner, fresh(), ask.id, ask.digest, answers).await;
        let told = accepted(said).follow_up(2);
        assert!(told.len() <= limits::FOLLOW_UP_BYTES && told.contains("[cut: "), "{unit}");
        bench.acknowledge(&lead, ask.id).await;
    }
}

#[tokio::test]
async fn c133_what_was_not_offered_is_refused_and_not_passed_through() {
    let bench = Bench::new().await;
    let lead = bench.root("lead").await;
    let ask = bench.ask(&lead, "run rm?").await;
    let mut changed = yes();
    changed.get_mut("q1").unwrap().selected = vec!["yes, with -rf".into()];
    let mut foreign = yes();
    foreign.insert("arguments".into(), foreign["q1"].clone());
    for answers in [changed, foreign] {
        let said = bench.service.answer(&bench.owner, fresh(), ask.id, ask.digest, answers).await;
        assert!(matches!(said, Err(Error::Invalid(_))), "{said:?}");
    }
    assert!(bench.get(ask.id).await.is_open());
}

#[tokio::test]
async fn c117_an_answer_to_what_was_taken_back_meanwhile_is_closed() {
    let bench = Bench::new().await;
    let lead = bench.root("lead").await;
    let shown = bench.ask(&lead, "go?").await;
    accepted(bench.service.withdraw(&lead.caller, fresh(), shown.id, None).await);
    let late = bench.answer(&shown).await.unwrap();
    assert_eq!(late.verdict, Verdict::Closed);
    let outcome = late.ask.unwrap().outcome().cloned().unwrap();
    assert_eq!((outcome.ending, outcome.by), (Ending::Withdrawn, Actor::Session(lead.reference())));
}

#[tokio::test]
async fn c175_trouble_on_the_way_is_never_a_persons_no() {
    let clock = Manual::at(askway::ask::Timestamp::from_millis(1_800_000_000_000));
    let policy = Policy { waiting_on_session: 0, ..Policy::default() };
    let plan = Plan::built_in(Span::from_mins(1));
    let routes = Plans::new([plan], Span::from_mins(1));
    let bench = Bench::set(
        Arc::new(Mem::default()),
        clock,
        Settings { routes, policy, ..Settings::default() },
    )
    .await;
    let (lead, worker) = bench.pair().await;
    let ask = bench.ask(&worker, "go?").await;
    assert_eq!((ask.hop.cause, ask.hop.skipped[0].why), (Cause::SenderBlocked, Idle::Full));
    bench.service.end(&lead.caller, fresh(), None).await.unwrap();
    bench.pass(Span::from_hours(1)).await;
    let now = bench.get(ask.id).await;
    assert!(now.is_open() && now.turns.is_empty());
    let events = bench.service.events(&bench.owner, ask.id, 0, 100).await.unwrap();
    assert!(events.iter().all(|(event, _)| !event.kind.settles()));
}
