//! What people read, of asks in every state and of hostile text.

use super::*;
use crate::cli::render::fixture;

fn plain(text: &str) -> String {
    anstream::adapter::strip_str(text).to_string()
}

fn after(wait: i64) -> i64 {
    millis(fixture::time(wait))
}

#[test]
fn an_open_ask_reads_as_people_speak() {
    let text = plain(&ask(&fixture::open(), after(180_000)));
    for words in [
        "ask_k3f9ab1200000000000g  open, high priority",
        "asked by worker (ses_w0000000000000000000) 3m ago",
        "waiting on lead since 3m ago; moves on in 12m",
        "expires in 57m",
        "  | It holds a million rows.",
        "  - SQLite (recommended)",
        "  | one file",
    ] {
        assert!(text.lines().any(|line| line == words), "{words:?} in\n{text}");
    }
    let text = plain(&ask(&fixture::with_people(), after(2_000)));
    assert!(text.contains("waiting on owner since 1s ago: it was moved on"), "{text}");
    assert!(text.contains("\n  | not mine to decide\n"), "{text}");
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
        let whole = plain(&ask(&settled, after(10_000)));
        assert!(whole.ends_with(&format!("{expected}\nthe asker has yet to see it")), "{whole}");
    }
}

#[test]
fn a_list_gives_each_ask_two_lines() {
    let mut long = fixture::open();
    long.questions[0].question = "why?\n".repeat(40);
    long.questions.push(v1::Question::default());
    let text = plain(&listed(&long, after(60_000), true));
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 2, "{text}");
    assert!(lines[0].ends_with("worker, 1m ago, high priority, waiting on lead, moves on in 14m"));
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
        ask(&hostile, 0),
        ask(&waiting, 0),
        listed(&hostile, 0, true),
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
