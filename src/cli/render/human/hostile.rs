//! Hostile texts in every place that holds text, on every screen, as a terminal takes them.

use super::tests_support::{OnTerminal, widths};
use super::*;
use crate::cli::render::{corpus, fixture};

/// An ask with this text wherever it can stand; more than a daemon would let in.
fn hostile(text: &str) -> v1::Ask {
    let one_line = || text.to_owned();
    let mut ask = fixture::with_default();
    ask.id = one_line();
    ask.context = text.to_owned();
    ask.route_name = one_line();
    let asked = &mut ask.questions[0];
    (asked.header, asked.question) = (one_line(), one_line());
    (asked.options[0].label, asked.options[0].description) = (one_line(), one_line());
    let who = v1::SessionRef { agent: one_line(), session: one_line() };
    (ask.asker, ask.chain) = (Some(who.clone()), vec![who.clone()]);
    let to = v1::WaitingOn { who: Some(v1::waiting_on::Who::Session(who)) };
    ask.waiting_on = Some(to.clone());
    ask.route[0].to = Some(to);
    let hop = ask.hop.as_mut().expect("a hop");
    hop.reason = one_line();
    hop.skipped = vec![v1::SkippedHop { index: 1, reason: one_line() }];
    ask.claim = Some(v1::Claim { person: one_line(), ..v1::Claim::default() });
    ask.turns = fixture::spoken().turns;
    ask.turns[0].text = one_line();
    ask.turns[0].by = Some(v1::Actor { who: Some(v1::actor::Who::Person(one_line())) });
    ask
}

fn settled(text: &str) -> v1::Ask {
    let mut ask = v1::Ask { waiting_on: None, ..hostile(text) };
    let end = fixture::settled(v1::OutcomeKind::Declined);
    (ask.outcome, ask.delivery) = (end.outcome, end.delivery);
    let outcome = ask.outcome.as_mut().expect("settled");
    outcome.note = Some(text.to_owned());
    let answer =
        v1::Answer { selected: vec![text.into()], text: Some(text.into()), default: false };
    outcome.answers.insert("q1".into(), answer);
    ask
}

fn screens(text: &str, look: Look) -> Vec<String> {
    let (open, ended) = (hostile(text), settled(text));
    let events = [v1::Event {
        text: text.into(),
        kind: v1::EventKind::Escalated.into(),
        ask: Some(open.clone()),
        ..v1::Event::default()
    }];
    let asks = [open.clone(), ended.clone()];
    let inbox = Inbox { asks: &asks, you: Some("owner"), all: true, now: 0, look };
    let session = v1::Session {
        id: text.into(),
        agent: text.into(),
        parent: Some(v1::SessionRef { agent: text.into(), session: text.into() }),
        ..v1::Session::default()
    };
    let unread = v1::Delivery {
        id: text.into(),
        ask: Some(ended.clone()),
        follow_up: text.into(),
        ..v1::Delivery::default()
    };
    vec![
        ask(&open, &events, None, 0, look).0,
        ask(&ended, &[], None, 0, look).0,
        history(&events, 0, look),
        inbox.text(),
        sessions(&[session], 0, look),
        deliveries(std::slice::from_ref(&unread), 0, look),
        delivery(&unread, None, 0, look),
        status(
            &v1::GetStatusResponse { caller: text.into(), ..Default::default() },
            text,
            text,
            0,
            look,
        ),
    ]
}

/// Rule 21: neither cursor, title, clipboard, modes nor layout of a terminal are a text's to change.
#[test]
fn rule_21_hostile_texts_leave_a_terminal_as_it_is() {
    let texts = corpus::texts();
    assert!(texts.len() >= 200, "{} texts", texts.len());
    // Each at one width: wrappings and harms are of numbers that meet every width in turn.
    for (text, look) in texts.iter().zip(widths().into_iter().cycle()) {
        for (number, screen) in screens(text, look).iter().enumerate() {
            OnTerminal::of(screen, look.width).is_undisturbed(&format!("{number}: {text:?}"));
        }
    }
}

/// No words of theirs begin where lines of ours do.
#[test]
fn rule_21_what_is_theirs_stands_behind_a_bar() {
    for (text, look) in corpus::texts().iter().zip(widths().into_iter().cycle()) {
        let (shown, _) = ask(&settled(text), &[], None, 0, look);
        let shown = anstream::adapter::strip_str(&shown).to_string();
        let forged = shown.lines().filter(|line| line.starts_with("answered by owner"));
        assert_eq!(forged.count(), 0, "{shown}");
    }
}
