//! `askway deliveries`: what workers take, hold and hand over, of a session and of a host.

use super::daemon::Daemon;

#[test]
fn a_worker_takes_what_is_unread_holds_it_and_hands_it_over() {
    let daemon = Daemon::start(&[]);
    let (lead, worker) = daemon.pair();
    let (lead, worker) = (Some(&*lead), Some(&*worker));
    daemon.verb(None, &["deliveries", "take"]).ends(5);
    let filed = daemon.verb(worker, &["ask", "Which?", "-o", "A", "-o", "B"]).ends(0).json();
    let id = filed["ask"]["id"].as_str().unwrap();
    daemon.verb(lead, &["answer", id, "A"]).ends(0);

    let unread = daemon.verb(worker, &["deliveries"]).ends(0).json();
    assert_eq!((&unread["kind"], &unread["lease"]), (&"outcome".into(), &Default::default()));
    let taken = daemon.verb(None, &["deliveries", "take", "--as", "one"]).ends(0).json();
    assert_eq!((&taken["id"], &taken["ask"]["id"]), (&unread["id"], &id.into()));
    let words = taken["follow_up"].as_str().unwrap();
    assert!(words.contains("lead") && words.contains("Which?"), "{words}");
    let delivery = taken["id"].as_str().unwrap();
    let lease = taken["lease"]["token"].as_str().unwrap();

    daemon.verb(None, &["deliveries", "take", "--as", "two"]).ends(5);
    let bad = "lse_00000000000000000000";
    let late = daemon.verb(None, &["deliveries", "ack", delivery, "--lease", bad]).ends(7).error();
    assert_eq!(late["reason"], "LEASED");
    assert!(late["message"].as_str().unwrap().contains("one"), "it says who has it: {late}");
    let late = daemon.verb(None, &["deliveries", "extend", id, "--lease", bad]).ends(7).error();
    assert_eq!(late["reason"], "LEASED");
    let line = ["deliveries", "extend", id, "--lease", lease, "--for", "10m"];
    let longer = daemon.verb(None, &line).ends(0).json();
    assert_eq!(longer["lease"]["token"], lease);
    assert_eq!(longer["ask"]["delivery"]["lease"]["holder"], "one");
    let ack = ["deliveries", "ack", delivery, "--lease", lease];
    assert_eq!(daemon.verb(None, &ack).ends(0).json()["result"], "accepted");
    let shown = daemon.verb(None, &["show", id]).ends(0).json();
    assert_eq!(shown["delivery"]["state"], "acknowledged");
    assert_eq!(daemon.verb(worker, &["deliveries"]).ends(0).out, "");
    daemon.verb(worker, &["deliveries", "take"]).ends(5);
}

#[test]
fn what_an_asker_sends_along_comes_back_with_the_outcome() {
    let daemon = Daemon::start(&[]);
    let (lead, worker) = daemon.pair();
    let state = daemon.data().join("state");
    std::fs::write(&state, "step 3").unwrap();
    let trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let state = state.to_str().unwrap();
    let mut ask = daemon.command(&["ask", "Which?", "-o", "A", "--state", state, "--json"]);
    ask.env("ASKWAY_TOKEN", &worker).env("TRACEPARENT", trace).env("TRACESTATE", "a=1");
    let filed = super::daemon::Said::of(ask.output().unwrap()).ends(0).json();
    let id = filed["ask"]["id"].as_str().unwrap();
    daemon.verb(Some(&lead), &["answer", id, "A"]).ends(0);
    let taken = daemon.verb(Some(&worker), &["deliveries", "take"]).ends(0).json();
    assert_eq!(taken["asker_state"], "step 3");
    assert_eq!((&taken["trace_parent"], &taken["trace_state"]), (&trace.into(), &"a=1".into()));
}
