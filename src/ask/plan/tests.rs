//! What becomes of a plan for this and that chain of senders, and which plans are refused.

use super::*;
use crate::ask::{SessionId, Timestamp};
use proptest::prelude::*;

fn session(number: u8) -> SessionRef {
    let id = SessionId::new(Timestamp::from_millis(1_796_000_000_000), [number; 6]);
    SessionRef { agent: "agent".parse().unwrap(), session: id }
}

fn chain(numbers: &[u8]) -> Vec<SessionRef> {
    numbers.iter().map(|number| session(*number)).collect()
}

fn mins(minutes: u64) -> Span {
    Span::from_mins(minutes)
}

fn hop(to: PlanTo, minutes: impl Into<Option<u64>>) -> PlanHop {
    PlanHop { to, timeout: minutes.into().map(mins) }
}

fn senders() -> PlanTo {
    PlanTo::Senders { total: mins(30) }
}

fn person(name: &str) -> PlanTo {
    PlanTo::Person(name.parse().unwrap())
}

fn group(people: &[&str]) -> PlanTo {
    let people = people.iter().map(|name| name.parse().unwrap()).collect();
    PlanTo::Group("backup".parse().unwrap(), people)
}

fn plan(hops: Vec<PlanHop>, repeat: u32) -> Plan {
    Plan::new("climb".parse().unwrap(), hops, repeat, limits::ROUTE_TIMEOUT).expect("it is one")
}

/// Where it is wrong, in order.
fn wrong(hops: &[PlanHop], repeat: u32) -> Vec<String> {
    let faults = Plan::faults(&hops.iter().map(Some).collect::<Vec<_>>(), repeat);
    faults.iter().map(|fault| fault.part.to_string()).collect()
}

/// Whom a route asks, and for how many minutes: `owner 30`.
fn spelled(route: &Route) -> Vec<String> {
    let each = route.hops.iter().map(|hop| {
        let who = match &hop.to {
            Target::Session(who) => {
                (1..9).find(|number| session(*number) == *who).unwrap().to_string()
            }
            people => people.to_string(),
        };
        let time = hop.timeout.map(|timeout| format!(" {}", timeout.as_millis() / 60_000));
        who + &time.unwrap_or_default()
    });
    each.collect()
}

#[test]
fn the_built_in_plan_is_the_sender_and_then_the_owner() {
    let plans = Plans::built_in(mins(7));
    let built_in = plans.default_plan();
    assert_eq!(spelled(&built_in.route(&[])), ["owner"]);
    assert_eq!(spelled(&built_in.route(&chain(&[1, 2]))), ["1 7", "owner"]);
    assert_eq!(plans.get(&"default".parse().unwrap()), Some(built_in));
    assert_eq!(plans.get(&"climb".parse().unwrap()), None);

    let hops = vec![hop(PlanTo::Sender, None), hop(person("owner"), None)];
    let written = Plan::new(RouteName::default(), hops, 1, mins(7)).unwrap();
    assert_eq!(&written, built_in, "the same as one that is written");
}

#[test]
fn a_configured_default_takes_the_place_of_the_built_in_one() {
    let direct = Plan::new(RouteName::default(), vec![hop(person("ann"), None)], 1, mins(7));
    let direct = direct.unwrap();
    let plans = Plans::new([plan(vec![hop(person("bob"), None)], 1), direct.clone()], mins(7));
    assert_eq!(plans.default_plan(), &direct);
    let names: Vec<_> = plans.names().map(RouteName::as_str).collect();
    assert_eq!(names, ["climb", "default"]);
}

#[test]
fn senders_are_asked_nearest_first_each_once_and_within_the_total() {
    let climb = plan(vec![hop(senders(), 10), hop(person("owner"), None)], 1);
    let route = climb.route(&chain(&[1, 2, 1, 3, 2]));
    assert_eq!(spelled(&route), ["1 10", "2 10", "3 10", "owner"]);
    let within: Vec<_> = route.hops.iter().map(|hop| hop.within).collect();
    assert_eq!(within, [Some(mins(30)), Some(mins(30)), Some(mins(30)), None]);
    assert_eq!(spelled(&climb.route(&[])), ["owner"]);
}

#[test]
fn the_sender_is_not_asked_again_among_the_senders() {
    let hops = vec![hop(PlanTo::Sender, 5), hop(senders(), None), hop(person("owner"), None)];
    let route = plan(hops, 1).route(&chain(&[1, 2]));
    assert_eq!(spelled(&route), ["1 5", "2 15", "owner"]);
    assert_eq!((route.hops[0].within, route.hops[1].within), (None, Some(mins(30))));
}

#[test]
fn people_are_asked_in_turn_as_often_as_the_plan_repeats() {
    let hops =
        vec![hop(PlanTo::Sender, 5), hop(person("owner"), 30), hop(group(&["ann", "bob"]), 20)];
    let route = plan(hops, 3).route(&chain(&[1]));
    let rounds = ["1 5", "owner 30", "backup 20", "owner 30", "backup 20", "owner 30", "backup"];
    assert_eq!(spelled(&route), rounds);
    let people = vec!["ann".parse().unwrap(), "bob".parse().unwrap()];
    let group = Target::People { group: Some("backup".parse().unwrap()), people };
    assert_eq!(route.hops[2].to, group);
}

#[test]
fn timed_hops_without_a_time_have_the_route_timeout() {
    let hops = vec![hop(person("ann"), None), hop(person("bob"), None)];
    assert_eq!(spelled(&plan(hops.clone(), 1).route(&[])), ["ann 15", "bob"]);
    assert_eq!(spelled(&plan(hops, 2).route(&[])), ["ann 15", "bob 15", "ann 15", "bob"]);
}

#[test]
fn where_two_rounds_meet_nobody_is_asked_twice_in_a_row() {
    let hops = vec![hop(person("ann"), 1), hop(person("bob"), 2), hop(person("ann"), 3)];
    let route = plan(hops, 2).route(&[]);
    assert_eq!(spelled(&route), ["ann 1", "bob 2", "ann 3", "bob 2", "ann"]);
}

#[test]
fn a_plan_that_is_none_says_where_it_is_wrong() {
    let owner = || hop(person("owner"), None);
    let sender = || hop(PlanTo::Sender, None);
    let week = |minutes: u64| hop(person("ann"), 7 * 24 * 60 + minutes);
    let cases: [(&[PlanHop], u32, &[&str]); 17] = [
        (&[], 1, &["hops"]),
        (&[sender()], 1, &["hops[0].to"]),
        (&[owner(), sender()], 1, &["hops[1].to", "hops[1].to"]),
        (&[owner(), hop(senders(), None), owner()], 1, &["hops[1].to"]),
        (&[sender(), sender(), owner()], 1, &["hops[1].to"]),
        (&[hop(senders(), None), sender(), owner()], 1, &["hops[1].to"]),
        (&[hop(senders(), None), hop(senders(), None), owner()], 1, &["hops[1].to"]),
        (&[sender(), hop(senders(), None), owner()], 1, &[]),
        (&[hop(person("ann"), 5)], 1, &["hops[0].timeout"]),
        (&[hop(group(&[]), None)], 1, &["hops[0].to"]),
        (&[week(0), owner()], 1, &[]),
        (
            &[week(1), hop(PlanTo::Person(PersonName::owner()), 0)],
            2,
            &["hops[0].timeout", "hops[1].timeout"],
        ),
        (&[hop(PlanTo::Senders { total: mins(0) }, None), owner()], 1, &["hops[0].total"]),
        (&[hop(senders(), 30), owner()], 1, &[]),
        (&[hop(senders(), 31), owner()], 1, &["hops[0].timeout"]),
        (&[sender(), owner()], 2, &["repeat"]),
        (&[owner(), owner()], 0, &["repeat"]),
    ];
    for (hops, repeat, parts) in cases {
        assert_eq!(wrong(hops, repeat), parts, "{hops:?} {repeat}");
    }
}

#[test]
fn a_plan_is_bounded_as_written_and_as_asked() {
    let people = |count| vec![hop(person("ann"), None); count];
    assert_eq!(wrong(&people(limits::HOPS), 1), [""; 0]);
    assert_eq!(wrong(&people(limits::HOPS + 1), 1), ["hops"]);
    assert_eq!(wrong(&people(2), limits::REPEAT_MAX), [""; 0]);
    assert_eq!(wrong(&people(2), limits::REPEAT_MAX + 1), ["repeat"]);
    assert_eq!(wrong(&people(limits::ROUTE_HOPS / 8), 8), [""; 0]);
    let climbing = [vec![hop(senders(), None)], people(limits::ROUTE_HOPS / 8)].concat();
    assert_eq!(wrong(&climbing, 7), [""; 0]);
    assert_eq!(wrong(&climbing, 8), ["repeat"], "the senders are counted as deep as work is sent");
}

#[test]
fn what_could_not_be_read_hides_no_other_fault() {
    let (late, owner) = (hop(PlanTo::Sender, None), hop(person("owner"), None));
    let parts = |hops: &[Option<&PlanHop>]| {
        Plan::faults(hops, 2).iter().map(|fault| fault.part).collect::<Vec<_>>()
    };
    assert_eq!(parts(&[Some(&owner), None]), []);
    assert_eq!(parts(&[Some(&owner), Some(&late), None]), [PlanPart::To(1)]);
}

fn any_people() -> impl Strategy<Value = PlanHop> {
    let to = prop_oneof![
        "[a-c]".prop_map(|name| person(&name)),
        Just(group(&["ann"])),
        Just(group(&["ann", "bob"])),
    ];
    (to, proptest::option::of(1..100_u64)).prop_map(|(to, minutes)| hop(to, minutes))
}

fn any_plan() -> impl Strategy<Value = Plan> {
    let time = || proptest::option::of(1..30_u64);
    let sessions = (proptest::option::of(time()), proptest::option::of(time()));
    let people = proptest::collection::vec(any_people(), 1..6);
    (sessions, people, 1..=limits::REPEAT_MAX).prop_map(|((sender, all), mut people, repeat)| {
        let repeat = if people.len() == 1 { 1 } else { repeat };
        if let (1, Some(last)) = (repeat, people.last_mut()) {
            last.timeout = None;
        }
        let sender = sender.map(|minutes| hop(PlanTo::Sender, minutes));
        let all = all.map(|minutes| hop(senders(), minutes));
        plan(sender.into_iter().chain(all).chain(people).collect(), repeat)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_route_reaches_people_and_asks_no_session_twice(
        plan in any_plan(),
        numbers in proptest::collection::vec(1..6_u8, 0..=limits::DEPTH),
    ) {
        let hops = plan.route(&chain(&numbers)).hops;
        let (last, timed) = hops.split_last().expect("it is never empty");
        prop_assert!(last.to.session().is_none() && last.timeout.is_none());
        prop_assert!(timed.iter().all(|hop| hop.timeout.is_some()));
        prop_assert!(hops.len() <= limits::ROUTE_HOPS);
        let nobody =
            |hop: &Hop| matches!(&hop.to, Target::People { people, .. } if people.is_empty());
        prop_assert!(!hops.iter().any(nobody));

        let sessions: Vec<_> = hops.iter().filter_map(|hop| hop.to.session()).collect();
        let first = &hops[..sessions.len()];
        prop_assert!(first.iter().all(|hop| hop.to.session().is_some()), "before people");
        for (index, session) in sessions.iter().enumerate() {
            prop_assert!(!sessions[..index].contains(session));
        }
    }
}

#[test]
fn a_plan_says_its_name_whom_it_may_ask_and_how_surely() {
    let climb =
        plan(vec![hop(senders(), 5), hop(person("ann"), 5), hop(group(&["bob", "ann"]), None)], 1);
    assert_eq!(climb.name().as_str(), "climb");
    assert_eq!(climb.assurance(), None);
    let sure = climb.clone().demanding(Some(crate::ask::Assurance::Token));
    assert_eq!(sure.assurance(), Some(crate::ask::Assurance::Token));
    let plans = Plans::new([climb], mins(5));
    let people = plans.people();
    assert_eq!(people.iter().map(PersonName::as_str).collect::<Vec<_>>(), ["ann", "bob", "owner"]);
}

#[test]
fn that_there_are_too_many_hops_is_said_once() {
    let mut hops = vec![hop(person("ann"), 5); limits::ROUTE_HOPS];
    hops.push(hop(person("owner"), None));
    let found = wrong(&hops, 1);
    assert!(!found.iter().any(|part| *part == PlanPart::Repeat.to_string()), "{found:?}");
}
