//! Routes as they are configured, and as they are asked.

use crate::bench::*;
use askway::ask::{
    AskId, Cause, Draft, PersonName, Plan, PlanHop, PlanTo, Plans, RouteName, Span, limits,
};
use askway::engine::clock::Manual;
use askway::error::Error;
use askway::service::{Caller, Settings};
use askway::session::Principal;
use askway::store::mem::Mem;
use std::sync::Arc;

fn hop(to: PlanTo, minutes: Option<u64>) -> PlanHop {
    PlanHop { to, timeout: minutes.map(Span::from_mins) }
}

fn person(name: &str) -> PlanTo {
    PlanTo::Person(name.parse().unwrap())
}

fn named(route: &str, question: &str) -> Draft {
    Draft { route: Some(route.parse().unwrap()), ..draft(question) }
}

fn settings(plans: Vec<(&str, Vec<PlanHop>, u32)>) -> Settings {
    let plans = plans.into_iter().map(|(name, hops, repeat)| {
        let name: RouteName = name.parse().unwrap();
        Plan::new(name, hops, repeat, limits::ROUTE_TIMEOUT).unwrap()
    });
    Settings { routes: Plans::new(plans, limits::ROUTE_TIMEOUT), ..Settings::default() }
}

async fn bench(plans: Vec<(&str, Vec<PlanHop>, u32)>) -> Bench {
    let clock = Manual::at(askway::ask::Timestamp::from_millis(1_800_000_000_000));
    Bench::set(Arc::new(Mem::default()), clock, settings(plans)).await
}

/// It is asked at this hop after so many minutes more, and not before.
async fn moves(bench: &Bench, id: AskId, minutes: u64, to: usize) {
    bench.pass(Span::from_millis(minutes * 60_000 - 1)).await;
    assert_eq!(bench.get(id).await.hop.index, to - 1, "no earlier than its time");
    bench.pass(Span::from_millis(1)).await;
    let moved = bench.until(id, |ask| ask.hop.index == to).await;
    assert_eq!(moved.hop.cause, Cause::Timeout);
}

#[tokio::test]
async fn c81_an_ask_climbs_over_its_senders_each_once_and_bounded_in_total() {
    let climb = vec![
        hop(PlanTo::Senders { total: Span::from_mins(25) }, Some(10)),
        hop(person("owner"), None),
    ];
    let bench = bench(vec![("climb", climb, 1)]).await;
    let root = bench.root("root").await;
    let mut above = vec![root.clone()];
    for depth in 1..=3 {
        above.push(bench.child(&format!("level-{depth}"), above.last().unwrap(), false).await);
    }
    let asker = above.pop().unwrap();
    let ask = accepted(bench.file(&asker, named("climb", "which store?")).await);
    assert!(bench.inbox(&above[2].caller).await.contains(&ask.id));
    moves(&bench, ask.id, 10, 1).await;
    assert!(bench.inbox(&above[1].caller).await.contains(&ask.id));
    moves(&bench, ask.id, 10, 2).await;
    assert!(bench.inbox(&above[0].caller).await.contains(&ask.id));
    moves(&bench, ask.id, 5, 3).await;
    let asked = bench.get(ask.id).await;
    assert_eq!(bench.inbox(&bench.owner).await, [ask.id]);
    assert_eq!((asked.visited.as_slice(), asked.deadline()), (&[0, 1, 2, 3][..], None));
    for session in &above {
        bench.service.get(&session.caller, &ask.id.to_string()).await.unwrap();
    }
}

#[tokio::test]
async fn c81_every_level_may_refuse() {
    let climb =
        vec![hop(PlanTo::Senders { total: Span::from_mins(30) }, None), hop(person("owner"), None)];
    let bench = bench(vec![("climb", climb, 1)]).await;
    let root = bench.root("root").await;
    let middle = bench.child("middle", &root, false).await;
    let asker = bench.child("asker", &middle, false).await;
    let ask = accepted(bench.file(&asker, named("climb", "which store?")).await);
    let ask = accepted(bench.escalate(&middle, &ask).await);
    let ask = accepted(bench.escalate(&root, &ask).await);
    assert_eq!((ask.hop.index, ask.hop.cause), (2, Cause::Refused));
    accepted(bench.answer(&ask).await);
}

#[tokio::test]
async fn people_are_asked_in_turn_as_often_as_the_route_repeats() {
    let people = vec![hop(person("ada"), Some(10)), hop(person("grace"), Some(20))];
    let bench = bench(vec![("people", people, 2)]).await;
    let lead = bench.root("lead").await;
    let ask = accepted(bench.file(&lead, named("people", "which store?")).await);
    for (minutes, to) in [(10, 1), (20, 2), (10, 3)] {
        moves(&bench, ask.id, minutes, to).await;
    }
    let last = bench.get(ask.id).await;
    let grace: PersonName = "grace".parse().unwrap();
    assert!(last.waits_on_person(&grace) && last.hop.deadline.is_none());
    bench.pass(Span::from_hours(3)).await;
    assert_eq!(bench.get(ask.id).await.hop.index, 3, "the last is asked until somebody answers");
}

#[tokio::test]
async fn c156_any_of_a_group_may_answer_and_each_sees_it_as_theirs() {
    let both = ["ada", "grace"].map(|name| name.parse::<PersonName>().unwrap());
    let group = hop(PlanTo::Group("backup".parse().unwrap(), both.to_vec()), None);
    let bench = bench(vec![("group", vec![group], 1)]).await;
    let lead = bench.root("lead").await;
    let ask = accepted(bench.file(&lead, named("group", "which store?")).await);
    let caller = |name: &PersonName| Caller {
        principal: Principal::Person(name.clone()),
        ..bench.owner.clone()
    };
    for member in &both {
        assert_eq!(bench.inbox(&caller(member)).await, [ask.id]);
    }
    assert!(bench.inbox(&bench.owner).await.is_empty());
    let grace = caller(&both[1]);
    accepted(bench.service.answer(&grace, fresh(), ask.id, ask.digest, yes()).await);
    assert!(bench.inbox(&caller(&both[0])).await.is_empty());
}

#[tokio::test]
async fn an_unknown_route_is_named_with_those_there_are() {
    let bench = bench(vec![("people", vec![hop(person("ada"), None)], 1)]).await;
    let lead = bench.root("lead").await;
    let Err(Error::Invalid(violations)) = bench.file(&lead, named("nowhere", "which?")).await
    else {
        panic!("it is invalid")
    };
    assert_eq!(violations[0].field, "route");
    assert!(violations[0].description.contains("default, people"), "{}", violations[0].description);
}

#[tokio::test]
async fn c102_an_ask_keeps_the_route_it_was_filed_with() {
    let store = Arc::new(Mem::default());
    let clock = Manual::at(askway::ask::Timestamp::from_millis(1_800_000_000_000));
    let before = settings(vec![(
        "people",
        vec![hop(person("ada"), Some(10)), hop(person("owner"), None)],
        1,
    )]);
    let bench = Bench::set(store.clone(), clock.clone(), before).await;
    let lead = bench.root("lead").await;
    let old = accepted(bench.file(&lead, named("people", "old?")).await);
    bench.stop().await;
    let after = settings(vec![("people", vec![hop(person("owner"), None)], 1)]);
    let bench = Bench::set(store, clock, after).await;
    let new = accepted(bench.file(&lead, named("people", "new?")).await);
    assert_eq!(bench.inbox(&bench.owner).await, [new.id]);
    assert_eq!(bench.get(old.id).await.route, old.route);
    moves(&bench, old.id, 10, 1).await;
}

#[tokio::test]
async fn c85_a_parent_sees_that_its_child_waits_on_whom_at_which_hop() {
    let bench = bench(vec![]).await;
    let root = bench.root("root").await;
    let middle = bench.child("middle", &root, false).await;
    let asker = bench.child("asker", &middle, false).await;
    let ask = bench.ask(&asker, "which store?").await;
    bench.escalate(&middle, &ask).await.unwrap();
    for above in [&root, &middle] {
        let (seen, _) = bench.service.get(&above.caller, &ask.id.to_string()).await.unwrap();
        assert_eq!((seen.hop.index, seen.route.hops.len()), (1, 2));
        assert!(seen.is_open() && seen.chain == [middle.reference(), root.reference()]);
    }
}
