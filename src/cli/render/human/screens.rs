//! Every screen as a file, at 40, 80 and 120 columns, and as programs get it: to be looked at when it
//! changes. Written anew with `INSTA_UPDATE=always cargo test --lib screens`.

use super::tests_support::{OnTerminal, widths};
use super::*;
use crate::cli::Failure;
use crate::cli::render::{failure_for_people, fixture};

/// A few minutes after the fixtures were filed.
fn now() -> i64 {
    millis(fixture::time(180_000))
}

/// What `screen` looks like at each width, and off a terminal; on one it must disturb nothing.
fn look_at(name: &str, screen: impl Fn(Look) -> String) {
    let mut all = String::new();
    for look in widths() {
        let shown = screen(look);
        OnTerminal::of(&shown, look.width).is_undisturbed(name);
        let plain = anstream::adapter::strip_str(&shown).to_string();
        all.push_str(&format!("== {} columns ==\n{plain}\n\n", look.width));
    }
    let ascii = Look { width: 80, ascii: true, terminal: true, ..Look::PLAIN };
    let plain = anstream::adapter::strip_str(&screen(ascii)).to_string();
    assert!(plain.is_ascii(), "{name}: {plain}");
    let off = screen(Look::PLAIN);
    let off = anstream::adapter::strip_str(&off).to_string();
    all.push_str(&format!("== no terminal ==\n{off}\n"));
    insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!(name, all);
    });
}

fn shown(name: &str, given: &v1::Ask, events: &[v1::Event]) {
    look_at(name, |look| ask(given, events, Some("owner"), now(), look).0);
}

/// Asks of all kinds: what waits on the person, on others, what is settled.
fn mixed() -> Vec<v1::Ask> {
    let with_id = |id: &str, ask: v1::Ask| v1::Ask { id: id.into(), ..ask };
    let mut late = with_id("ask_p2p2p2p2p2p2p2p2p2p2", fixture::with_people());
    late.priority = v1::Priority::Normal.into();
    late.questions[0].question = "Should the old index go before the new one is built, or after, \
                                  when nobody is using it any more?"
        .into();
    let hop = late.hop.as_mut().expect("a hop");
    (hop.cause, hop.since_time) = (v1::HopCause::Timeout.into(), fixture::time(900_000));
    hop.reason = "lead (ses_00000000000000000000) did not answer in 15m".into();
    late.expiry = fixture::with_default().expiry;
    let mut chained = with_id("ask_q3q3q3q3q3q3q3q3q3q3", fixture::open());
    chained.chain.push(v1::SessionRef { agent: "chief".into(), session: "ses_1".into() });
    chained.priority = v1::Priority::Low.into();
    let claim = v1::Claim {
        person: "ann".into(),
        since_time: fixture::time(0),
        lapse_time: fixture::time(900_000),
        in_agent: false,
    };
    let claimed = v1::Ask { claim: Some(claim), ..fixture::with_people() };
    let ended = fixture::settled(v1::OutcomeKind::Answered);
    vec![
        fixture::with_people(),
        late,
        chained,
        with_id("ask_r4r4r4r4r4r4r4r4r4r4", claimed),
        with_id("ask_s5s5s5s5s5s5s5s5s5s5", ended),
    ]
}

#[test]
fn the_inbox_of_a_person() {
    let asks = mixed();
    let inbox = |asks: &[v1::Ask], all, look| {
        Inbox { asks, you: Some("owner"), all, now: now(), look }.text()
    };
    look_at("inbox", |look| inbox(&asks[..2], false, look));
    look_at("inbox_all", |look| inbox(&asks, true, look));
    look_at("inbox_settled", |look| inbox(&asks[4..], true, look));
    look_at("inbox_empty", |look| inbox(&[], false, look));
}

#[test]
fn an_ask_in_each_state() {
    let mut open = fixture::open();
    open.context = "# The cache\n\nIt holds **a million rows**, see [the plan](http://plan/x) and \
                    `cache.rs`:\n\n- small\n- *durable*, as a line that goes on and on until it is \
                    broken somewhere\n\n```rust\nlet cache = Cache::new(1_000_000);\n```\n\n> We said \
                    so &#27;[2J.\n"
        .into();
    shown("show_open", &open, &[]);
    shown("show_with_people", &fixture::with_people(), &fixture::history());
    shown("show_with_default", &fixture::with_default(), &[]);
    shown("show_spoken", &fixture::spoken(), &[]);
    shown("show_claimed", &mixed()[3], &[]);
    for (name, kind) in [
        ("show_answered", v1::OutcomeKind::Answered),
        ("show_declined", v1::OutcomeKind::Declined),
        ("show_expired", v1::OutcomeKind::Expired),
        ("show_withdrawn", v1::OutcomeKind::Withdrawn),
        ("show_abandoned", v1::OutcomeKind::Abandoned),
    ] {
        shown(name, &fixture::settled(kind), &[]);
    }
}

#[test]
fn a_history() {
    let mut events = fixture::history();
    let said = fixture::spoken().turns;
    events.push(v1::Event {
        revision: 3,
        event_time: said[0].say_time,
        kind: v1::EventKind::Said.into(),
        by: said[0].by.clone(),
        text: "How many rows?\nAnd for how long?".into(),
        ask: None,
        in_agent: false,
    });
    let answered = fixture::settled(v1::OutcomeKind::Answered);
    events.push(v1::Event {
        revision: 4,
        event_time: fixture::time(5_000),
        kind: v1::EventKind::Answered.into(),
        by: fixture::by_sender(),
        text: String::new(),
        ask: Some(answered),
        in_agent: false,
    });
    look_at("log", |look| history(&events, now(), look));
}

#[test]
fn sessions_deliveries_and_the_daemon() {
    let session = |agent: &str, state: v1::SessionState| v1::Session {
        id: fixture::ASKER.into(),
        agent: agent.into(),
        host: "local".into(),
        state: state.into(),
        create_time: fixture::time(0),
        deadline_time: fixture::time(86_400_000),
        ..v1::Session::default()
    };
    let lead = v1::SessionRef { agent: "lead".into(), session: fixture::SENDER.into() };
    let worker = v1::Session {
        parent: Some(lead),
        state_time: fixture::time(60_000),
        open_ask_ids: vec![fixture::ID.into()],
        answers_none: true,
        wakeable: true,
        ..session("worker", v1::SessionState::Paused)
    };
    let all = [session("lead", v1::SessionState::Active), worker];
    look_at("sessions", |look| sessions(&all, now(), look));
    let delivery = |id: &str, turn: Option<v1::Turn>| v1::Delivery {
        id: id.into(),
        ask: Some(fixture::settled(v1::OutcomeKind::Answered)),
        turn,
        ..v1::Delivery::default()
    };
    let turn = fixture::spoken().turns.pop();
    let all = [
        delivery("dlv_k3f9ab1200000000000g_2", turn),
        delivery("dlv_k3f9ab1200000000000g_3", None),
    ];
    look_at("deliveries", |look| deliveries(&all, now(), look));
    let told = v1::GetStatusResponse {
        version: "0.1.0".into(),
        caller: "person owner".into(),
        start_time: fixture::time(0),
        waiting_on_people: 2,
        waiting_on_sessions: 1,
        oldest_open_time: fixture::time(0),
        listen_addresses: vec!["unix:/run/askway.sock".into(), "http://127.0.0.1:7777".into()],
        namespaces: Vec::new(),
        ..v1::GetStatusResponse::default()
    };
    look_at("status", |look| {
        status(&told, "unix:/run/askway.sock", "/var/lib/askway", now(), look)
    });
}

#[test]
fn an_error() {
    let mut failure = Failure::usage("the answer is not whole").then("askway show ask_k3f9");
    failure.fields.push(("answers.q1".into(), "must name one of `SQLite`, `Postgres`".into()));
    insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
        let text = anstream::adapter::strip_str(&failure_for_people(&failure)).to_string();
        insta::assert_snapshot!("error", text);
    });
}
