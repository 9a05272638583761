//! What people read, of asks in every state and of hostile text.

use super::*;
use crate::cli::render::fixture;

const YOU: Option<&str> = Some("owner");

fn plain(text: &str) -> String {
    anstream::adapter::strip_str(text).to_string()
}

fn after(wait: i64) -> i64 {
    millis(fixture::time(wait))
}

#[test]
fn an_open_ask_reads_as_people_speak() {
    let text = plain(&ask(&fixture::open(), YOU, after(180_000)));
    for words in [
        "ask_k3f9ab1200000000000g  open, high priority",
        "asked by worker (ses_w0000000000000000000) 3m ago",
        "waiting on lead since 3m ago; comes to you in 12m unless lead answers",
        "hop 1 of 2 of the route default",
        "its deadline comes in 57m; then it comes to people, without a deadline, and nothing is chosen",
        "  | It holds a million rows.",
        "  - SQLite (recommended)",
        "  | one file",
    ] {
        assert!(text.lines().any(|line| line == words), "{words:?} in\n{text}");
    }
    let text = plain(&ask(&fixture::with_people(), YOU, after(2_000)));
    assert!(text.contains("waiting on owner since 1s ago: it was moved on"), "{text}");
    assert!(text.contains("\nexpires in 59m 58s; then it ends, and nothing is chosen\n"), "{text}");
    assert!(text.contains("\n  | not mine to decide\n"), "{text}");
}

#[test]
fn a_default_says_what_it_is_and_that_nobody_chose_it() {
    let people = fixture::with_people();
    let waiting_on = people.waiting_on;
    let mut given = v1::Ask { waiting_on, hop: people.hop, ..fixture::with_default() };
    let text = plain(&ask(&given, YOU, after(0)));
    let lines = "expires in 1h; then, if a person was shown it and nobody has chosen, the asker's default \
         stands:\n    q1 = SQLite\n";
    assert!(text.contains(lines), "{text}");
    let expiry = given.expiry.as_mut().expect("a deadline");
    expiry.left = Some(prost_types::Duration { seconds: 300, nanos: 0 });
    expiry.waits_reason = "nobody was shown it".into();
    given.seen = vec![v1::SeenMark { person: "ann".into(), seen_time: fixture::time(0) }];
    let text = plain(&ask(&given, YOU, after(60_000)));
    for line in [
        "its deadline stands still, with 5m left; then, if a person was shown it and nobody has chosen, \
         the asker's default stands:",
        "the default waits: nobody was shown it",
        "shown to ann 1m ago",
    ] {
        assert!(text.lines().any(|l| l == line), "{line:?} in\n{text}");
    }
    let mut expired = fixture::settled(v1::OutcomeKind::Expired);
    let answer = v1::Answer { selected: vec!["SQLite".into()], text: None, default: true };
    expired.outcome.as_mut().expect("settled").answers.insert("q1".into(), answer);
    let text = plain(&outcome(&expired, after(10_000)));
    assert!(text.starts_with("expired: its time was up, nobody chose, and its default stands"));
    assert!(text.ends_with("= SQLite (the default that was named)"), "{text}");
}

#[test]
fn what_was_asked_before_and_whose_word_is_next_is_said() {
    let again = v1::Ask { asked_again: 2, awaiting_reply: true, ..fixture::spoken() };
    let line = "awaits the asker's reply, asked again, 2 times, after a person's no";
    assert!(plain(&ask(&again, YOU, 0)).lines().any(|l| l == line));
    assert!(plain(&listed(&again, YOU, 0, false)).contains(line));
    let mut standing = fixture::settled(v1::OutcomeKind::Declined);
    standing.outcome.as_mut().expect("settled").stands_from_ask_id = "ask_before".into();
    let text = plain(&outcome(&standing, after(10_000)));
    assert!(text.starts_with("declined by owner (who said no before, to ask_before) 5s ago"));
}

#[test]
fn a_session_says_until_when_it_is_what_it_is() {
    let paused = v1::Session {
        agent: "a".into(),
        state: v1::SessionState::Paused.into(),
        state_time: fixture::time(0),
        create_time: fixture::time(0),
        deadline_time: fixture::time(120_000),
        answers_none: true,
        wakeable: true,
        ..v1::Session::default()
    };
    let text = plain(&session_line(&paused, after(60_000)));
    let told = "a, paused 1m ago, ends in 1m, enrolled 1m ago, answers no asks, can be woken";
    assert!(text.ends_with(told), "{text}");
}

#[test]
fn a_delivery_says_whose_it_is_and_what_came() {
    let given = v1::Delivery {
        id: "d".into(),
        ask: Some(fixture::settled(v1::OutcomeKind::Answered)),
        follow_up: "owner decided:\n\u{1b}[2J".into(),
        lease_token: "t".into(),
        ..v1::Delivery::default()
    };
    let text = plain(&delivery(&given, fixture::time(60_000), after(0)));
    let expected = "d  the outcome, for worker, yours with t until that is over in 1m\n  \
                    | owner decided:\n  | \\u{1b}[2J";
    assert_eq!(text, expected);
}

#[test]
fn each_outcome_says_by_whom_and_what() {
    use v1::OutcomeKind as K;
    let table = [
        (
            K::Answered,
            "answered by lead 5s ago\n  Which store for the cache?\n    = SQLite\n  | it fits",
        ),
        (K::Declined, "declined by owner 5s ago\n  | not this year"),
        (K::Expired, "expired: its time was up 5s ago"),
        (K::Withdrawn, "withdrawn by worker 5s ago"),
        (K::Abandoned, "abandoned by local 5s ago"),
    ];
    for (kind, expected) in table {
        let settled = fixture::settled(kind);
        assert_eq!(plain(&outcome(&settled, after(10_000))), expected);
        let whole = plain(&ask(&settled, YOU, after(10_000)));
        assert!(whole.ends_with(&format!("{expected}\nthe asker has yet to see it")), "{whole}");
    }
}

#[test]
fn a_list_gives_each_ask_two_lines() {
    let mut long = fixture::open();
    long.questions[0].question = "why?\n".repeat(40);
    long.questions.push(v1::Question::default());
    let text = plain(&listed(&long, YOU, after(60_000), true));
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 2, "{text}");
    assert!(
        lines[0].ends_with("waiting on lead (hop 1 of 2), comes to you in 14m unless lead answers")
    );
    assert!(lines[1].ends_with("… (and 1 more)"), "{text}");
}

/// Rule 21: hostile text in every field moves no cursor and fakes no line of ours.
#[test]
fn rule_21_hostile_text_stays_what_it_is() {
    let evil = "x\u{1b}[2J\u{202e}\r\nanswered by owner";
    let mut hostile = fixture::settled(v1::OutcomeKind::Declined);
    let question = &mut hostile.questions[0];
    question.header = evil.into();
    question.question = evil.into();
    question.options[0].label = evil.into();
    question.options[0].description = evil.into();
    hostile.context = evil.into();
    hostile.id = evil.into();
    hostile.asker = Some(v1::SessionRef { agent: evil.into(), session: evil.into() });
    hostile.turns = fixture::spoken().turns;
    hostile.turns[0].text = evil.into();
    hostile.outcome.as_mut().expect("settled").note = Some(evil.into());
    let mut waiting = v1::Ask { questions: hostile.questions.clone(), ..fixture::with_people() };
    waiting.hop.as_mut().expect("a hop").reason = evil.into();
    let happened = v1::Event { text: evil.into(), ..v1::Event::default() };
    let shown = [
        ask(&hostile, None, 0),
        ask(&waiting, None, 0),
        listed(&hostile, None, 0, true),
        outcome(&hostile, 0),
        event(&happened, 0),
    ];
    for text in shown {
        let text = text.replace(BOLD, "").replace(FAINT, "").replace(PLAIN, "");
        assert!(text.contains("x\\u{1b}[2J\\u{202e}\\r"), "{text}");
        for line in text.lines() {
            assert!(crate::ask::text::is_one_safe_line(line), "{line:?}");
            assert!(!line.starts_with("answered by owner"), "{text}");
        }
    }
}
