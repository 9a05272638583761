//! What people read, of asks in every state and of hostile text.

use super::*;
use crate::cli::render::fixture;

const YOU: Option<&str> = Some("owner");

fn plain(text: &str) -> String {
    anstream::adapter::strip_str(text).to_string()
}

fn whole(given: &v1::Ask, you: Option<&str>, now: i64) -> String {
    ask(given, &[], you, now, Look::PLAIN).0
}

fn after(wait: i64) -> i64 {
    millis(fixture::time(wait))
}

#[test]
fn an_open_ask_reads_as_people_speak() {
    let text = plain(&whole(&fixture::open(), YOU, after(180_000)));
    for words in [
        "ask_k3f9ab1200000000000g  open, high priority",
        "asked by worker (ses_w0000000000000000000) 3m ago",
        "waiting on lead for 3m; comes to you in 12m unless lead answers",
        "sent by lead (ses_00000000000000000000)",
        "work wrk_00000000000000000000",
        "route default",
        "  →  1  lead  asked 3m ago, moves on in 12m",
        "     2  you  in 12m",
        "its deadline comes in 57m; then it comes to people, without a deadline, and nothing is chosen",
        "  | It holds a million rows.",
        "  - SQLite (recommended)",
        "  | one file",
    ] {
        assert!(text.lines().any(|line| line == words), "{words:?} in\n{text}");
    }
    let text = plain(&whole(&fixture::with_people(), YOU, after(2_000)));
    assert!(text.contains("waiting on owner for 1s: it was moved on"), "{text}");
    assert!(text.contains("\nexpires in 59m 58s; then it ends, and nothing is chosen\n"), "{text}");
    assert!(text.contains("\n  | not mine to decide\n"), "{text}");
}

#[test]
fn a_default_says_what_it_is_and_that_nobody_chose_it() {
    let people = fixture::with_people();
    let waiting_on = people.waiting_on;
    let mut given = v1::Ask { waiting_on, hop: people.hop, ..fixture::with_default() };
    let text = plain(&whole(&given, YOU, after(0)));
    let lines = "expires in 1h; then, if a person was shown it and nobody has chosen, the asker's default \
         stands:\n    q1 = SQLite\n";
    assert!(text.contains(lines), "{text}");
    let expiry = given.expiry.as_mut().expect("a deadline");
    expiry.left = Some(prost_types::Duration { seconds: 300, nanos: 0 });
    expiry.waits_reason = "nobody was shown it".into();
    given.seen = vec![v1::SeenMark { person: "ann".into(), seen_time: fixture::time(0) }];
    let text = plain(&whole(&given, YOU, after(60_000)));
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
    let text = plain(&outcome(&expired, after(10_000), Look::PLAIN));
    assert!(text.starts_with("expired: its time was up, nobody chose, and its default stands"));
    assert!(text.ends_with("= SQLite (the default that was named)"), "{text}");
}

#[test]
fn what_was_asked_before_and_whose_word_is_next_is_said() {
    let again = v1::Ask { asked_again: 2, awaiting_reply: true, ..fixture::spoken() };
    let line = "awaits the asker's reply, asked again, 2 times, after a person's no";
    assert!(plain(&whole(&again, YOU, 0)).lines().any(|l| l == line));
    assert!(plain(&listed(&again, YOU, 0, false)).contains(line));
    let mut standing = fixture::settled(v1::OutcomeKind::Declined);
    standing.outcome.as_mut().expect("settled").stands_from_ask_id = "ask_before".into();
    let text = plain(&outcome(&standing, after(10_000), Look::PLAIN));
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
    let text = sessions(&[paused], after(60_000), Look::PLAIN);
    let told = "\ta\tpaused\t1m ago\t\tpaused 1m ago, ends in 1m, answers no asks, can be woken";
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
    let text = plain(&delivery(&given, fixture::time(60_000), after(0), Look::PLAIN));
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
        assert_eq!(plain(&outcome(&settled, after(10_000), Look::PLAIN)), expected);
        let all = plain(&whole(&settled, YOU, after(10_000)));
        let told = format!("\n\n{expected}\nthe asker has yet to see it\n\ncontext");
        assert!(all.contains(&told), "{all}");
    }
}

#[test]
fn a_telling_gives_each_ask_one_line() {
    let mut long = fixture::open();
    long.questions[0].question = "why?\n".repeat(40);
    long.questions.push(v1::Question::default());
    let text = plain(&listed(&long, YOU, after(60_000), true));
    assert_eq!(text.lines().count(), 1, "{text}");
    assert!(text.starts_with("ask_k3f9ab1200000000000g  (1 of 2) Cache: why?\\nwhy?"), "{text}");
    let end = "(worker for lead, 1m ago, high priority, waiting on lead (hop 1 of 2), comes to you in \
               14m unless lead answers)";
    assert!(text.ends_with(end), "{text}");
}

#[test]
fn an_inbox_for_programs_is_a_line_with_tabs_each_and_nothing_is_cut() {
    let mut long = fixture::with_people();
    long.questions[0].question = "a\tb".repeat(200);
    let asks = [long, fixture::open()];
    let inbox = Inbox { asks: &asks, you: YOU, all: false, now: after(60_000), look: Look::PLAIN };
    let text = inbox.text();
    let lines: Vec<_> = text.lines().collect();
    assert!(lines.len() == 2 && !text.contains('\u{1b}'), "{text}");
    for line in &lines {
        let cells: Vec<_> = line.split('\t').collect();
        assert_eq!(cells.len(), 7, "{line}");
        assert_eq!((cells[0], cells[1], cells[4]), (fixture::ID, "high", "open"));
        assert_eq!((cells[2], cells[3]), ("2026-01-02T03:04:05.678Z", "worker for lead"));
    }
    assert!(lines[0].ends_with(&"a\\tb".repeat(200)), "{text}");
    let why = "passed on from lead: not mine to decide, it ends in 59m";
    assert!(lines[0].contains(why), "{text}");
}

#[test]
fn who_waits_is_told_on_whom_for_how_long_and_what_comes_next() {
    let told = progress(&fixture::open(), YOU, after(60_000));
    assert_eq!(told, "waiting on lead for 1m; comes to you in 14m unless lead answers");
    let told = progress(&fixture::with_people(), YOU, after(61_000));
    assert_eq!(told, "waiting on you for 1m; it ends in 58m 59s");
}

#[test]
fn what_waits_on_others_is_a_line_with_when_it_comes() {
    let (open, held) = (fixture::open(), v1::Ask { escalate_time: None, ..fixture::open() });
    assert_eq!(elsewhere(&[], YOU, after(0)), None);
    let line = elsewhere(&[&held, &open], YOU, after(0));
    let told = "2 more wait on others; the next comes to you in 15m: askway inbox --all";
    assert_eq!(line.as_deref(), Some(told));
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
    let answer = v1::Answer {
        selected: vec![evil.into()],
        text: Some(evil.into()),
        ..v1::Answer::default()
    };
    let answers = [("q1".to_owned(), answer)].into();
    let outcome_of = v1::Outcome { answers, ..v1::Outcome::default() };
    let happened = v1::Event {
        text: evil.into(),
        kind: v1::EventKind::Answered.into(),
        ask: Some(v1::Ask { outcome: Some(outcome_of.clone()), ..v1::Ask::default() }),
        ..v1::Event::default()
    };
    let shown = [
        whole(&hostile, None, 0),
        whole(&waiting, None, 0),
        listed(&hostile, None, 0, true),
        outcome(&hostile, 0, Look::PLAIN),
        history(std::slice::from_ref(&happened), 0, Look { terminal: true, ..Look::PLAIN }),
        history(&[happened], 0, Look::PLAIN).replace('\t', " "),
        chosen(&outcome_of),
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
