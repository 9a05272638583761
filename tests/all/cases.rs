//! What went wrong in systems of this kind, tried here. docs/cases.md lists the numbers.

use crate::bench::*;
use askway::ask::{
    Actor, Answer, Answers, Ask, AskId, Cause, Delivery, Draft, Ending, ExpiryAction, PersonName,
    Span, limits,
};
use askway::error::{Error, Reason};
use askway::service::{AskScope, Caller, InboxMessage, Presence, Verdict, WatchMessage, Way};
use askway::session::Principal;
use askway::store::mem::Mem;
use std::collections::HashMap;
use std::sync::Arc;
use tokio_stream::StreamExt;

/// What a person chose, or wrote, for the one question.
fn chosen(labels: &[&str], text: Option<&str>) -> Answers {
    let selected = labels.iter().map(|label| (*label).to_owned()).collect();
    [("q1".to_owned(), Answer { selected, text: text.map(str::to_owned), default: false })].into()
}

async fn answer(bench: &Bench, ask: &Ask, answers: Answers) -> Result<Verdict, Error> {
    let said = bench.service.answer(&bench.owner, fresh(), ask.id, ask.digest, answers).await?;
    Ok(said.verdict)
}

fn person(bench: &Bench, name: &str) -> Caller {
    let principal = Principal::Person(name.parse().unwrap());
    Caller { principal, ..bench.owner.clone() }
}

#[tokio::test]
async fn c03_c93_silence_leaves_it_open_and_on_whom_and_since_when() {
    let bench = Bench::new().await;
    let (_, worker) = bench.pair().await;
    let ask = bench.ask(&worker, "keep the files?").await;
    bench.pass(limits::ROUTE_TIMEOUT + Span::from_hours(12)).await;
    let silent = bench.until(ask.id, |ask| ask.hop.index == 1).await;
    assert!(silent.is_open() && silent.content == ask.content);
    assert!(silent.hop.since >= ask.hop.since + limits::ROUTE_TIMEOUT);
    assert!(silent.waits_on_person(&PersonName::owner()));
    let mut watch = bench.service.watch_ask(&worker.caller, ask.id, None).await.unwrap();
    let Some(Ok(WatchMessage::Ask(still))) = watch.next().await else { panic!() };
    assert!(still.outcome().is_none(), "a waiter is told nothing but that it is open");
}

#[tokio::test]
async fn c04_six_ends_are_told_apart_by_type_with_who_and_when() {
    let bench = Bench::new().await;
    let lead = bench.root("lead").await;
    let expiring = |action| Draft { expire: Some((Span::from_mins(5), action)), ..draft("x?") };
    let mut ends: HashMap<String, Ask> = HashMap::new();

    let ask = bench.ask(&lead, "answered?").await;
    accepted(bench.answer(&ask).await);
    ends.insert("answered".into(), (*bench.get(ask.id).await).clone());
    let ask = bench.ask(&lead, "declined?").await;
    accepted(bench.decline(&ask, "no").await);
    ends.insert("declined".into(), (*bench.get(ask.id).await).clone());
    let ask = bench.ask(&lead, "withdrawn?").await;
    accepted(bench.service.withdraw(&lead.caller, fresh(), ask.id, None).await);
    ends.insert("withdrawn".into(), (*bench.get(ask.id).await).clone());
    let stop = accepted(bench.file(&lead, expiring(ExpiryAction::Stop)).await);
    let mut default = expiring(ExpiryAction::Default);
    what(&mut default).questions[0].options[0].recommended = true;
    let default = accepted(bench.file(&lead, default).await);
    bench.show(&default).await;
    bench.pass(Span::from_mins(5)).await;
    for (name, id) in [("stopped", stop.id), ("default", default.id)] {
        ends.insert(name.into(), (*bench.until(id, |ask| !ask.is_open()).await).clone());
    }
    let open = bench.ask(&lead, "open?").await;
    assert!(open.outcome().is_none(), "a wait that ran out is none of them");

    let owner = Actor::Person(PersonName::owner());
    let by = [
        ("answered", Way::Answered, &owner),
        ("declined", Way::Declined, &owner),
        ("withdrawn", Way::Withdrawn, &Actor::Session(lead.reference())),
        ("stopped", Way::Expired, &Actor::Timer),
        ("default", Way::Expired, &Actor::Timer),
    ];
    for (name, way, who) in by {
        let outcome = ends[name].outcome().unwrap();
        assert_eq!((Way::from(&outcome.ending), &outcome.by), (way, who), "{name}");
        assert!(outcome.time >= ends[name].create_time);
    }
    assert_ne!(
        ends["stopped"].outcome().unwrap().ending,
        ends["default"].outcome().unwrap().ending
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn c14_receipt_and_outcome_agree_when_an_answer_meets_the_deadline() {
    let bench = Arc::new(Bench::new().await);
    let lead = bench.root("lead").await;
    let _hold = bench.hold(&lead).await;
    for round in 0..500 {
        let expire = Some((Span::from_mins(1), ExpiryAction::Stop));
        let draft = Draft { expire, ..draft(&format!("round {round}?")) };
        let ask = accepted(bench.file(&lead, draft).await);
        let (clock, answering) = (bench.clone(), bench.clone());
        let on_time = tokio::spawn(async move { clock.advance(Span::from_mins(1)) });
        let asked = ask.clone();
        let answered = tokio::spawn(async move { answering.answer(&asked).await.unwrap() });
        on_time.await.unwrap();
        let said = answered.await.unwrap();
        let settled = bench.until(ask.id, |ask| !ask.is_open()).await;
        match (said.verdict, &settled.outcome().unwrap().ending) {
            (Verdict::Accepted, Ending::Answered(_)) => {}
            (Verdict::Closed, Ending::Expired(None)) => assert_eq!(said.ask.unwrap(), settled),
            mixed => panic!("{mixed:?}"),
        }
        bench.acknowledge(&lead, ask.id).await;
    }
}

#[tokio::test]
async fn c15_who_answers_too_late_for_an_ended_asker_is_told() {
    let bench = Bench::new().await;
    let (_, worker) = bench.pair().await;
    let long = Draft { expire: Some((Span::from_mins(30), ExpiryAction::Stop)), ..draft("x?") };
    let ask = accepted(bench.file(&worker, long).await);
    bench.pass(Span::from_mins(2)).await;
    bench.service.end(&worker.caller, fresh(), None).await.unwrap();
    bench.pass(Span::from_mins(1)).await;
    let late = bench.answer(&ask).await.unwrap();
    assert_eq!((late.verdict, late.asker), (Verdict::Closed, Some(Presence::Gone)));
    assert_eq!(late.message, "the asker's session has ended; nothing changed");
}

#[tokio::test]
async fn c18_c62_an_id_alone_is_enough_for_whoever_comes_later() {
    let store = Arc::new(Mem::default());
    let bench = Bench::over(store.clone()).await;
    let worker = bench.root("worker").await;
    let id = bench.ask(&worker, "which store?").await.id;
    let clock = bench.clock.clone();
    bench.stop().await;
    let bench = Bench::on(store, clock).await;
    let caller = bench.log_in(&worker.token).await.unwrap();
    let ask = bench.get(id).await;
    accepted(bench.answer(&ask).await);
    bench.pass(Span::from_mins(10)).await;
    let watch = bench.service.watch_ask(&caller, id, None).await.unwrap();
    let seen: Vec<_> = watch.collect().await;
    let Some(Ok(WatchMessage::Ask(stored))) = seen.first() else { panic!("{seen:?}") };
    assert!(answered_by(stored).is_some());
    assert!(matches!(seen.last(), Some(Ok(WatchMessage::End(2)))));
}

#[tokio::test(flavor = "multi_thread")]
async fn c20_c21_waiters_that_join_while_it_is_answered_all_end() {
    let bench = Arc::new(Bench::new().await);
    let worker = bench.root("worker").await;
    for round in 0..20 {
        let ask = bench.ask(&worker, &format!("round {round}?")).await;
        let mut waiters = tokio::task::JoinSet::new();
        for _ in 0..50 {
            let (bench, id) = (bench.clone(), ask.id);
            waiters.spawn(async move { bench.until(id, |ask| !ask.is_open()).await });
        }
        accepted(bench.answer(&ask).await);
        let all = async { while waiters.join_next().await.is_some_and(|one| one.is_ok()) {} };
        tokio::time::timeout(PATIENCE, all).await.expect("no waiter sleeps on");
        assert!(waiters.is_empty());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn c23_an_id_that_was_returned_is_always_known() {
    let bench = Arc::new(Bench::new().await);
    let worker = bench.root("worker").await;
    for round in 0..1_000 {
        let ask = bench.ask(&worker, &format!("round {round}?")).await;
        let (other, id) = (bench.clone(), ask.id);
        let verdict = tokio::spawn(async move {
            let read = other.get(id).await;
            other.answer(&read).await.unwrap().verdict
        });
        assert_eq!(verdict.await.unwrap(), Verdict::Accepted);
        bench.acknowledge(&worker, ask.id).await;
    }
}

#[tokio::test]
async fn c26_route_time_and_expiry_are_two_times() {
    let bench = Bench::new().await;
    let (_, worker) = bench.pair().await;
    let hour = Draft { expire: Some((Span::from_hours(1), ExpiryAction::Stop)), ..draft("x?") };
    let ask = accepted(bench.file(&worker, hour).await);
    bench.pass(limits::ROUTE_TIMEOUT).await;
    let moved = bench.until(ask.id, |ask| ask.hop.index == 1).await;
    assert_eq!(moved.expiry, ask.expiry, "the route's timer leaves the asker's alone");
    bench.pass(Span::from_mins(44)).await;
    assert!(bench.get(ask.id).await.is_open());
    bench.pass(Span::from_mins(1)).await;
    bench.until(ask.id, |ask| !ask.is_open()).await;
}

#[tokio::test]
async fn c28_c36_each_end_says_what_happened_and_the_unknown_look_alike() {
    let bench = Bench::new().await;
    let lead = bench.root("lead").await;
    let _hold = bench.hold(&lead).await;
    let expire = Some((Span::from_mins(1), ExpiryAction::Stop));
    let expired = accepted(bench.file(&lead, Draft { expire, ..draft("expired?") }).await);
    let answered = bench.ask(&lead, "answered?").await;
    let withdrawn = bench.ask(&lead, "withdrawn?").await;
    accepted(bench.answer(&answered).await);
    accepted(bench.service.withdraw(&lead.caller, fresh(), withdrawn.id, None).await);
    bench.pass(Span::from_mins(1)).await;
    bench.until(expired.id, |ask| !ask.is_open()).await;
    let said = [
        (&expired, "it has expired; nothing changed".to_owned()),
        (&answered, "owner had answered it already; nothing changed".to_owned()),
        (&withdrawn, format!("{} had withdrawn it already; nothing changed", lead.reference())),
    ];
    for (ask, message) in said {
        let late = bench.answer(ask).await.unwrap();
        assert_eq!((late.verdict, &late.message), (Verdict::Closed, &message));
        assert!(late.ask.unwrap().outcome().is_some());
    }
    let never = Ask { id: AskId::new(answered.create_time, [7; 6]), ..(*answered).clone() };
    let foreign = bench.root("stranger").await;
    for (ask, by) in [(&never, &lead), (&*answered, &foreign)] {
        let said = bench.service.get(&by.caller, &ask.id.to_string()).await.unwrap_err();
        assert_eq!(said.to_string(), format!("no ask {}", ask.id));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn c31_two_clicks_are_one_decision() {
    let bench = Bench::new().await;
    let lead = bench.root("lead").await;
    let ask = bench.ask(&lead, "go?").await;
    let request = fresh();
    let click = || bench.service.answer(&bench.owner, request.clone(), ask.id, ask.digest, yes());
    let (one, two) = tokio::join!(click(), click());
    let (one, two) = (one.unwrap(), two.unwrap());
    assert_eq!((one.verdict, two.verdict), (Verdict::Accepted, Verdict::Accepted));
    assert_eq!([one.replayed, two.replayed].iter().filter(|replayed| **replayed).count(), 1);
    let other = bench.answer(&ask).await.unwrap();
    assert_eq!(other.message, "owner had answered it already; nothing changed");
    let events = bench.service.events(&bench.owner, ask.id, 0, 100).await.unwrap();
    assert_eq!(events.iter().filter(|(event, _)| event.kind.settles()).count(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn c41_a_hundred_alike_at_once_each_get_their_own_answer() {
    let bench = Arc::new(Bench::new().await);
    let mut calls = tokio::task::JoinSet::new();
    for n in 0..100 {
        let bench = bench.clone();
        calls.spawn(async move {
            let asker = bench.root(&format!("asker-{n}")).await;
            (bench.ask(&asker, "which number?").await, asker)
        });
    }
    let mut asked = calls.join_all().await;
    // The order in which they came is as random as any.
    asked.reverse();
    let mut answers = tokio::task::JoinSet::new();
    for (n, (ask, _)) in asked.iter().enumerate() {
        let (bench, ask) = (bench.clone(), ask.clone());
        answers.spawn(async move {
            answer(&bench, &ask, chosen(&[], Some(&n.to_string()))).await.unwrap()
        });
    }
    assert!(answers.join_all().await.iter().all(|verdict| *verdict == Verdict::Accepted));
    for (n, (ask, asker)) in asked.iter().enumerate() {
        let (seen, _) = bench.service.get(&asker.caller, &ask.id.to_string()).await.unwrap();
        let Ending::Answered(answers) = &seen.outcome().unwrap().ending else { panic!() };
        assert_eq!(answers["q1"].text.as_deref(), Some(n.to_string().as_str()));
    }
}

#[tokio::test]
async fn c43_c46_an_old_answer_opens_no_later_gate() {
    let bench = Bench::new().await;
    let lead = bench.root("lead").await;
    let first = bench.ask(&lead, "step?").await;
    accepted(bench.answer(&first).await);
    let replay = bench.file(&lead, draft("step?")).await.unwrap();
    assert!(replay.replayed, "a replay is seen to be one");
    bench.acknowledge(&lead, first.id).await;
    let second = bench.ask(&lead, "step?").await;
    assert_ne!(second.id, first.id);
    let late = bench.answer(&first).await.unwrap();
    assert_eq!(late.verdict, Verdict::Closed);
    assert!(bench.get(second.id).await.is_open(), "the late copy decides nothing here");
}

#[tokio::test]
async fn c44_c49_c57_what_is_settled_never_comes_back_and_the_rest_is_by_age() {
    let store = Arc::new(Mem::default());
    let bench = Bench::over(store.clone()).await;
    let mut asks = Vec::new();
    for n in 0..5 {
        let asker = bench.root(&format!("asker-{n}")).await;
        asks.push(bench.ask(&asker, "which store?").await);
        bench.pass(Span::from_secs(1)).await;
    }
    for ask in [&asks[1], &asks[3]] {
        accepted(bench.answer(ask).await);
    }
    let clock = bench.clock.clone();
    bench.stop().await;
    let bench = Bench::on(store, clock).await;
    let open = [asks[0].id, asks[2].id, asks[4].id];
    for _ in 0..2 {
        let mut inbox =
            bench.service.watch_inbox(&bench.owner, AskScope::WaitingOnMe, None).await.unwrap();
        let Some(Ok(InboxMessage::Snapshot { asks, total, .. })) = inbox.next().await else {
            panic!()
        };
        assert_eq!(asks.iter().map(|ask| ask.id).collect::<Vec<_>>(), open);
        assert_eq!(total, 3);
    }
}

#[tokio::test]
async fn c55_c94_what_came_due_while_the_daemon_was_down_is_done_once_at_its_start() {
    let store = Arc::new(Mem::default());
    let bench = Bench::over(store.clone()).await;
    let (_, worker) = bench.pair().await;
    let expire = Some((Span::from_mins(5), ExpiryAction::Stop));
    let lead = bench.root("alone").await;
    let stops = accepted(bench.file(&lead, Draft { expire, ..draft("stops?") }).await);
    let moves = bench.ask(&worker, "moves?").await;
    let week = Some((limits::EXPIRE_MAX, ExpiryAction::Stop));
    let far = accepted(bench.file(&lead, Draft { expire: week, ..draft("far?") }).await);
    let clock = bench.clock.clone();
    bench.stop().await;
    clock.advance(Span::from_hours(3));
    let bench = Bench::on(store.clone(), clock.clone()).await;
    bench.until(stops.id, |ask| !ask.is_open()).await;
    let moved = bench.until(moves.id, |ask| ask.hop.index == 1).await;
    assert_eq!((moved.hop.cause, moved.revision), (Cause::Timeout, 2));
    assert_eq!(moved.hop.since, moves.create_time + Span::from_hours(3), "when it was done");
    assert_eq!(moves.hop.deadline, Some(moves.create_time + limits::ROUTE_TIMEOUT), "when due");
    for _ in 0..3 {
        assert_eq!(bench.get(far.id).await.revision, 1);
        assert_eq!(bench.get(moves.id).await.revision, 2, "once, however often it starts");
    }
}

#[tokio::test]
async fn c58_a_restart_changes_neither_who_is_asked_nor_until_when() {
    let store = Arc::new(Mem::default());
    let bench = Bench::over(store.clone()).await;
    let (lead, worker) = bench.pair().await;
    let ask = bench.ask(&worker, "which store?").await;
    let clock = bench.clock.clone();
    bench.stop().await;
    clock.advance(Span::from_mins(5));
    let bench = Bench::on(store, clock).await;
    assert_eq!(bench.get(ask.id).await, ask);
    assert_eq!(bench.inbox(&lead.caller).await, [ask.id]);
    assert!(bench.inbox(&bench.owner).await.is_empty());
}

#[tokio::test]
async fn c76_one_waiter_that_leaves_takes_nothing_from_the_others() {
    let bench = Bench::new().await;
    let (lead, worker) = bench.pair().await;
    let ask = bench.ask(&worker, "which store?").await;
    let gone = bench.service.watch_ask(&worker.caller, ask.id, None).await.unwrap();
    let mut two = bench.service.watch_ask(&worker.caller, ask.id, None).await.unwrap();
    let mut tree =
        bench.service.watch_inbox(&lead.caller, AskScope::Visible, Some(ask.tree)).await.unwrap();
    assert!(matches!(tree.next().await, Some(Ok(InboxMessage::Snapshot { total: 1, .. }))));
    drop(gone);
    assert!(bench.get(ask.id).await.is_open(), "the end of a waiter settles nothing");
    accepted(bench.answer_agent(&lead, &ask).await);
    assert!(matches!(two.next().await, Some(Ok(WatchMessage::Ask(_)))));
    assert!(matches!(two.next().await, Some(Ok(WatchMessage::Event(..)))));
    assert!(matches!(two.next().await, Some(Ok(WatchMessage::End(2)))));
    assert!(matches!(tree.next().await, Some(Ok(InboxMessage::Change { total: 0, .. }))));
}

#[tokio::test]
async fn c80_c86_a_sender_that_waits_for_the_work_is_passed_over_and_nobody_need_be_in_front() {
    let bench = Bench::new().await;
    let lead = bench.root("lead").await;
    let free = bench.child("free", &lead, false).await;
    let awaited = bench.child("awaited", &lead, true).await;
    assert_eq!(bench.ask(&free, "x?").await.hop.index, 0);
    let ask = bench.ask(&awaited, "x?").await;
    assert_eq!((ask.hop.index, ask.hop.cause), (1, Cause::SenderBlocked));
    assert_eq!(ask.hop.reason.as_deref(), Some("lead is blocked until this work is done"));
}

#[tokio::test]
async fn c119_c123_only_the_asker_withdraws_and_says_why() {
    let bench = Bench::new().await;
    let (lead, worker) = bench.pair().await;
    let sibling = bench.child("sibling", &lead, false).await;
    let ask = bench.ask(&worker, "which store?").await;
    let withdraw = |by: &Caller| {
        let (id, by, note) = (ask.id, by.clone(), Some("the record is gone".to_owned()));
        let service = bench.service.clone();
        async move { service.withdraw(&by, fresh(), id, note).await }
    };
    assert_eq!(refused(withdraw(&lead.caller).await), Reason::NotAsker, "its sender");
    let unknown = withdraw(&sibling.caller).await;
    assert!(matches!(unknown, Err(Error::NotFound(_))), "a sibling: {unknown:?}");
    let person = withdraw(&bench.owner).await;
    assert!(matches!(person, Err(Error::Denied(Reason::WrongPrincipal, _))), "people decline");
    let first = accepted(withdraw(&worker.caller).await);
    assert_eq!(first.outcome().unwrap().note.as_deref(), Some("the record is gone"));
    let again = withdraw(&worker.caller).await.unwrap();
    assert_eq!(again.ask.unwrap().outcome(), first.outcome());
    assert!(bench.inbox(&lead.caller).await.is_empty(), "it leaves the counts");
    assert!(!bench.get(ask.id).await.is_open(), "and stays readable");
}

#[tokio::test(flavor = "multi_thread")]
async fn c122_calls_in_flight_at_a_stop_end_in_a_result_that_can_be_retried() {
    let store = Arc::new(Mem::default());
    let bench = Arc::new(Bench::over(store.clone()).await);
    let mut asks = Vec::new();
    for n in 0..20 {
        let asker = bench.root(&format!("asker-{n}")).await;
        asks.push(bench.ask(&asker, "go?").await);
    }
    let mut calls = tokio::task::JoinSet::new();
    for ask in &asks {
        let (bench, ask, request) = (bench.clone(), ask.clone(), fresh());
        calls.spawn(async move {
            let call =
                bench.service.answer(&bench.owner, request.clone(), ask.id, ask.digest, yes());
            (call.await, ask, request)
        });
    }
    bench.service.shutdown();
    let said = calls.join_all().await;
    bench.service.stopped().await;
    let again = Bench::on(store, bench.clock.clone()).await;
    for (first, ask, request) in said {
        let retried =
            again.service.answer(&again.owner, request, ask.id, ask.digest, yes()).await.unwrap();
        assert_eq!(retried.verdict, Verdict::Accepted);
        match first {
            Ok(receipt) => assert!(receipt.verdict == Verdict::Accepted && retried.replayed),
            Err(why) => assert!(matches!(why, Error::Unavailable(Reason::Stopping, ..)), "{why}"),
        }
    }
}

#[tokio::test]
async fn c126_c180_whoever_answers_is_who_is_named_also_after_anothers_claim() {
    let bench = Bench::new().await;
    let (lead, worker) = bench.pair().await;
    let ask = bench.ask(&worker, "which store?").await;
    accepted(bench.escalate(&lead, &ask).await);
    let (ada, grace) = (person(&bench, "ada"), person(&bench, "grace"));
    accepted(bench.service.claim(&ada, fresh(), ask.id, limits::CLAIM, false).await);
    let taken = bench.service.claim(&grace, fresh(), ask.id, limits::CLAIM, false).await;
    assert_eq!(refused(taken), Reason::Claimed);
    accepted(bench.service.claim(&grace, fresh(), ask.id, limits::CLAIM, true).await);
    // Any person may answer (rule 6), and the record names the one who did.
    accepted(bench.service.answer(&ada, fresh(), ask.id, ask.digest, yes()).await);
    let settled = bench.get(ask.id).await;
    assert_eq!(answered_by(&settled), Some(&Actor::Person("ada".parse().unwrap())));
    let events = bench.service.events(&bench.owner, ask.id, 0, 100).await.unwrap();
    let told = format!("{events:?}");
    for name in ["lead", "ada", "grace"] {
        assert!(told.contains(name), "{name} stands in the history");
    }
}

#[tokio::test]
async fn c143_c151_options_are_exact_and_words_are_told_apart_from_them() {
    let bench = Bench::new().await;
    let lead = bench.root("lead").await;
    let ask = bench.ask(&lead, "go?").await;
    for label in ["Yes", "yes ", "q1", "", "maybe"] {
        let Err(Error::Invalid(violations)) = answer(&bench, &ask, chosen(&[label], None)).await
        else {
            panic!("`{label}` is not offered")
        };
        assert_eq!(violations[0].field, "answers[q1].selected");
        assert!(violations[0].description.contains("yes"), "{}", violations[0].description);
    }
    for (answers, words) in [
        (chosen(&["no"], None), None),
        (chosen(&["no"], Some("because")), Some("because")),
        (chosen(&[], Some("neither")), Some("neither")),
    ] {
        let ask = bench.ask(&lead, &format!("with {answers:?}?")).await;
        assert_eq!(answer(&bench, &ask, answers.clone()).await.unwrap(), Verdict::Accepted);
        let settled = bench.get(ask.id).await;
        let Ending::Answered(kept) = &settled.outcome().unwrap().ending else { panic!() };
        assert_eq!((kept, kept["q1"].text.as_deref()), (&answers, words));
        bench.acknowledge(&lead, ask.id).await;
    }
}

#[tokio::test]
async fn c144_choices_are_a_set_and_several_only_where_several_may_be() {
    let bench = Bench::new().await;
    let lead = bench.root("lead").await;
    let one = bench.ask(&lead, "one?").await;
    let mut many = draft("many?");
    what(&mut many).questions[0].multiple = true;
    let many = accepted(bench.file(&lead, many).await);
    let both = chosen(&["yes", "no"], None);
    let twice = chosen(&["yes", "yes"], None);
    for (ask, answers) in
        [(&one, &both), (&one, &twice), (&many, &twice), (&many, &chosen(&[], None))]
    {
        let said = answer(&bench, ask, answers.clone()).await;
        assert!(matches!(said, Err(Error::Invalid(_))), "{answers:?}: {said:?}");
        assert!(bench.get(ask.id).await.is_open());
    }
    assert_eq!(answer(&bench, &many, both).await.unwrap(), Verdict::Accepted);
}

#[tokio::test]
async fn c149_words_that_look_like_nothing_arrive_as_they_are() {
    let bench = Bench::new().await;
    let lead = bench.root("lead").await;
    for words in ["false", "0", "null", "[]", "\"\"", "-"] {
        let ask = bench.ask(&lead, &format!("with {words}?")).await;
        assert_eq!(
            answer(&bench, &ask, chosen(&[], Some(words))).await.unwrap(),
            Verdict::Accepted
        );
        let settled = bench.acknowledge(&lead, ask.id).await;
        let Ending::Answered(kept) = &settled.outcome().unwrap().ending else { panic!() };
        assert_eq!(kept["q1"].text.as_deref(), Some(words));
        assert!(kept["q1"].selected.is_empty());
    }
}

#[tokio::test]
async fn c163_three_late_answers_are_closed_alike_and_revive_nothing() {
    let bench = Bench::new().await;
    let lead = bench.root("lead").await;
    let shown = bench.ask(&lead, "go?").await;
    accepted(bench.decline(&shown, "no").await);
    let settled = bench.get(shown.id).await;
    for _ in 0..3 {
        let late = bench.answer(&shown).await.unwrap();
        assert_eq!((late.verdict, late.ask.unwrap()), (Verdict::Closed, settled.clone()));
    }
    assert!(bench.inbox(&bench.owner).await.is_empty());
}

#[tokio::test]
async fn c173_a_note_in_three_scripts_arrives_whole_and_by_whom() {
    let bench = Bench::new().await;
    let lead = bench.root("lead").await;
    let ask = bench.ask(&lead, "go?").await;
    let note = "なぜ今? 왜 지금? Почему? ".repeat(105);
    assert!(note.chars().count() > 1_900 && note.len() < limits::NOTE_BYTES);
    accepted(bench.decline(&ask, &note).await);
    let settled = bench.get(ask.id).await;
    assert_eq!(settled.outcome().unwrap().note.as_ref(), Some(&note));
    let told = settled.follow_up(2);
    assert!(told.starts_with("The person owner said no"), "{told}");
    assert!(told.contains(note.trim_end()), "{told}");
    let events = bench.service.events(&lead.caller, ask.id, 1, 9).await.unwrap();
    assert!(format!("{:?}", events[0].0).contains(note.chars().next().unwrap()));
}

#[tokio::test]
async fn c179_parked_is_a_result_and_no_fault() {
    let bench = Bench::new().await;
    for n in 0..100 {
        let asker = bench.root(&format!("asker-{n}")).await;
        let receipt = bench.file(&asker, draft("go?")).await.unwrap();
        assert_eq!((receipt.verdict, receipt.asker), (Verdict::Accepted, Some(Presence::Parked)));
    }
    assert_eq!(bench.service.status(&bench.owner).await.unwrap().waiting_on_people, 100);
}

#[tokio::test]
async fn c63_c177_an_answer_that_cannot_be_handed_over_stays_and_is_found() {
    let bench = Bench::new().await;
    let worker = bench.root("worker").await;
    let ask = bench.ask(&worker, "go?").await;
    accepted(bench.answer(&ask).await);
    bench.service.pause(&worker.caller, fresh(), None).await.unwrap();
    let filter = askway::service::AskFilter { outcome: Some(Way::Answered), ..Default::default() };
    let page = bench.service.list(&bench.owner, AskScope::Visible, &filter, None, 9).await.unwrap();
    assert_eq!(page.asks[0].delivery(), Some(&Delivery::Unread), "kept for when it comes back");
    let resumed = bench.service.resume(&bench.host, fresh(), worker.id()).await.unwrap();
    let caller = bench.log_in(&resumed.secrets.unwrap().0).await.unwrap();
    let mut watch = bench.service.watch_deliveries(&caller).await.unwrap();
    let Some(Ok(askway::service::DeliveryMessage::Delivery(back, 2))) = watch.next().await else {
        panic!()
    };
    assert_eq!(back.id, ask.id);
}
