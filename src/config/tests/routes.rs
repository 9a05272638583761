//! The tables of the file: what they mean, and every fault in them with its place.

use super::*;
use crate::ask::{Plan, PlanHop, PlanTo, RouteName};

/// What the file says of routes, where it is sound.
fn routes(file: &str) -> Plans {
    let folder = folder(file);
    load(folder.path(), Args::default(), &[]).unwrap_or_else(|faults| panic!("{faults}")).routes
}

/// Every fault as `line: keys: message`, sorted.
fn faults(file: &str) -> Vec<String> {
    let folder = folder(file);
    let path = folder.path().join(FILE).display().to_string();
    let faults = load(folder.path(), Args::default(), &[]).unwrap_err().to_string();
    let prefix = format!("{path}:");
    let mut lines: Vec<_> = faults.lines().map(|line| line.replace(&prefix, "")).collect();
    lines.sort();
    lines
}

fn plan(name: &str, hops: Vec<PlanHop>, repeat: u32) -> Plan {
    Plan::new(name.parse().unwrap(), hops, repeat, limits::ROUTE_TIMEOUT).unwrap()
}

fn hop(to: PlanTo, minutes: Option<u64>) -> PlanHop {
    PlanHop { to, timeout: minutes.map(Span::from_mins) }
}

fn person(name: &str) -> PlanTo {
    PlanTo::Person(name.parse().unwrap())
}

fn backup() -> PlanTo {
    let people = ["ann", "bob"].map(|name| name.parse().unwrap());
    PlanTo::Group("backup".parse().unwrap(), people.into())
}

#[test]
fn a_file_names_routes_and_groups() {
    let plans = routes(
        r#"
        [route.default]
        hops = [ { to = "sender", timeout = "10m" }, { to = "person:ann" } ]
        [route.climb]
        hops = [
          { to = "senders", timeout = "10m", total = "1h" },
          { to = "person:owner", timeout = "30m" },
          { to = "group:backup", timeout = "20m" },
        ]
        repeat = 3
        [route.short]
        hops = [ { to = "senders" }, { to = "group:backup" }, { to = "person:owner" } ]
        [group.backup]
        people = ["ann", "bob"]
        "#,
    );
    let names: Vec<_> = plans.names().map(RouteName::as_str).collect();
    assert_eq!(names, ["climb", "default", "short"]);
    let get = |name: &str| plans.get(&name.parse().unwrap()).unwrap();

    let default = vec![hop(PlanTo::Sender, Some(10)), hop(person("ann"), None)];
    assert_eq!(plans.default_plan(), &plan("default", default, 1));
    let senders = |minutes| PlanTo::Senders { total: Span::from_mins(minutes) };
    let climb =
        vec![hop(senders(60), Some(10)), hop(person("owner"), Some(30)), hop(backup(), Some(20))];
    assert_eq!(get("climb"), &plan("climb", climb, 3));
    let short =
        vec![hop(senders(30), Some(15)), hop(backup(), Some(15)), hop(person("owner"), None)];
    assert_eq!(get("short"), &plan("short", short, 1));
}

#[test]
fn the_default_is_there_where_the_file_has_none_and_all_have_the_route_timeout() {
    let folder = folder("[route.two]\nhops = [{ to = \"sender\" }, { to = \"person:ann\" }]\n");
    let args = Args { route_timeout: Some(Span::from_mins(3)), ..Args::default() };
    let plans = load(folder.path(), args, &[]).unwrap().routes;
    assert_eq!(plans.default_plan(), &Plan::built_in(Span::from_mins(3)));
    let two = vec![hop(PlanTo::Sender, Some(3)), hop(person("ann"), None)];
    assert_eq!(plans.get(&"two".parse().unwrap()), Some(&plan("two", two, 1)));
}

#[test]
fn every_fault_of_every_table_is_told_at_once_with_its_place() {
    let found = faults(
        r#"keep = "1d"
[route.climb]
hops = [
  { to = "sender", timeout = "soon", when = "now" },
  { to = "person:owner", timeout = 30 },
  { to = "senders", timeout = "10m", total = "8d" },
  { to = "lead" },
  { timeout = "10m" },
  "person:owner",
  { to = "person:-x", total = "1h" },
  { to = "group:nobody", timeout = "0s" },
  { to = 7 },
]
repeat = "3"
again = 1
[route."a b"]
hops = [{ to = "sender" }]
[route.empty]
hops = []
[route.bare]
repeat = 2
[route.text]
hops = "person:owner"
[route.timed]
hops = [{ to = "person:owner", timeout = "1h" }]
[route.alone]
hops = [{ to = "sender" }, { to = "group:backup" }]
repeat = 2
[group.backup]
people = ["ann", "ann", 3, "é"]
names = []
[group."x y"]
people = []
[group.bare]
[group.text]
people = "ann"
[routes.climb]
hops = []
"#,
    );
    let name = "the name must be 1 to 64 letters, digits or any of - _ . / @ and not begin with -";
    let to = "sender, senders, person:NAME or group:NAME";
    let last = "is last, and the last hop must be people: person:NAME or group:NAME";
    let expected = [
        "1: keep: must be a length of time from 7d to 90d, such as 30d; it is `1d`",
        "4: route.climb.hops[0].when: is no key; keys are to, timeout, total",
        "4: route.climb.hops[0].timeout: must be a length of time, such as 15m or 2h; it is `soon`",
        "5: route.climb.hops[1].timeout: must be a string, in quotes",
        "6: route.climb.hops[2].to: stands after people: sessions are asked before them",
        "6: route.climb.hops[2].total: must be from 1ms to 7d",
        &format!("7: route.climb.hops[3].to: must be {to}; it is `lead`"),
        &format!("8: route.climb.hops[4]: needs to, which is {to}"),
        "9: route.climb.hops[5]: must be a table; its keys are to, timeout, total",
        &format!("10: route.climb.hops[6].to: {name}; it is `-x`"),
        "10: route.climb.hops[6].total: is for senders alone",
        "11: route.climb.hops[7].to: names no group of the file: `nobody`; groups are backup, bare, \
         text",
        "11: route.climb.hops[7].timeout: must be from 1ms to 7d",
        "12: route.climb.hops[8].to: must be a string, in quotes",
        "14: route.climb.repeat: must be a whole number from 1 to 10",
        "15: route.climb.again: is no key; keys are hops, repeat, assurance",
        &format!("16: route.a b: {name}; it is `a b`"),
        &format!("17: route.a b.hops[0].to: {last}"),
        "19: route.empty.hops: must name who is asked, people at the end",
        &format!("20: route.bare: needs hops, a list of {{ to = … }}: {to}"),
        "23: route.text.hops: must be a list, in brackets",
        "25: route.timed.hops[0].timeout: must not be there: the last hop is asked until somebody \
         answers, unless the route repeats",
        "28: route.alone.repeat: needs two hops of people: one alone is asked until somebody answers",
        "30: group.backup.people[1]: names ann again",
        "30: group.backup.people[2]: must be a string, in quotes",
        &format!("30: group.backup.people[3]: {name}; it is `é`"),
        "31: group.backup.names: is no key; keys are people",
        &format!("32: group.x y: {name}; it is `x y`"),
        "33: group.x y.people: must name somebody: an ask would reach nobody",
        "34: group.bare: needs people, a list of their names",
        "36: group.text.people: must be a list, in brackets",
        "37: routes: is no key; keys are socket, listen, listen_names, tls_cert, tls_key, \
         tls_client_ca, route_timeout, person_window, decline_stands, keep, store, no_listen, log, \
         tables [route.NAME], [group.NAME], [notify] and [limits]",
    ];
    let mut expected = expected.to_vec();
    expected.sort_unstable();
    assert_eq!(found, expected);
}

#[test]
fn tables_that_are_none_say_what_they_must_be() {
    assert_eq!(
        faults("group = 1\nroute = \"climb\"\n"),
        ["1: group: must be tables, [group.NAME]", "2: route: must be tables, [route.NAME]",]
    );
    assert_eq!(
        faults("[route]\nclimb = 1\n[group]\nbackup = []\n"),
        [
            "2: route.climb: must be a table; its keys are hops, repeat, assurance",
            "4: group.backup: must be a table; its keys are people",
        ]
    );
    let unknown = "[route.a]\nhops = [{ to = \"group:x\" }]\n";
    let message = "2: route.a.hops[0].to: names no group of the file: `x`; the file has none";
    assert_eq!(faults(unknown), [message]);
}

#[test]
fn routes_groups_and_their_people_are_bounded() {
    let sound = "{ hops = [{ to = \"person:owner\" }] }";
    let routes_of =
        |count: usize| (0..count).map(|n| format!("route.r{n} = {sound}\n")).collect::<String>();
    let groups = |count: usize| {
        (0..count).map(|n| format!("group.g{n}.people = [\"ann\"]\n")).collect::<String>()
    };
    let people = |count: usize| {
        let names: Vec<_> = (0..count).map(|n| format!("\"p{n}\"")).collect();
        format!("[group.g]\npeople = [{}]\n", names.join(", "))
    };
    assert_eq!(routes(&routes_of(limits::ROUTES)).names().count(), limits::ROUTES + 1);
    routes(&groups(limits::GROUPS));
    routes(&people(limits::GROUP_PEOPLE));
    let too_many = [
        (routes_of(limits::ROUTES + 1), "1: route: has 65, and at most 64 may be"),
        (groups(limits::GROUPS + 1), "1: group: has 65, and at most 64 may be"),
        (people(limits::GROUP_PEOPLE + 1), "2: group.g.people: has 65, and at most 64 may be"),
    ];
    for (file, message) in too_many {
        assert_eq!(faults(&file), [message]);
    }
}
