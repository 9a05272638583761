//! What people are told of an ask, and when: each line of the table in [`notice`](super::super::notice).

use super::*;

/// People were told of the ask as it is.
pub(super) fn told(ask: &Ask, why: NoticeWhy) -> Command {
    Command::Noticed { why, of: ask.revision, failure: None }
}

/// They could not be.
pub(super) fn failed(ask: &Ask, why: NoticeWhy) -> Command {
    Command::Noticed { why, of: ask.revision, failure: Some("ended with status 1".into()) }
}

/// What the ask must be once that is in its history; part of the table of all commands.
pub(super) fn follows(ask: &Ask, failure: Option<&str>, now: Now) {
    match failure {
        None => assert_eq!((ask.noticed, &ask.notice_failure), (Some(now.time), &None)),
        Some(why) => {
            let kept = ask.notice_failure.as_ref().map(|failure| (&*failure.why, failure.time));
            assert_eq!(kept, Some((why, now.time)));
        }
    }
}

fn at_people() -> Ask {
    filed(vec![to_people(&["owner"], None)], None)
}

/// Why they are to be told, and how long after filing.
fn due(ask: &Ask) -> Option<(NoticeWhy, Span)> {
    ask.notice.map(|notice| (notice.why, notice.due.since(FILED)))
}

fn secs(seconds: u64) -> Now {
    after(Span::from_secs(seconds))
}

fn quiet() -> u64 {
    limits::NOTICE_QUIET.as_millis() / 1_000
}

#[test]
fn people_are_told_at_once_when_it_comes_to_them_and_sessions_are_not() {
    assert_eq!(due(&at_people()), Some((NoticeWhy::Came, Span::default())));
    let ask = to_lead_then_owner();
    assert_eq!(due(&ask), None);
    let ask = then(&ask, &tick(&ask), after(mins(15)));
    assert_eq!(due(&ask), Some((NoticeWhy::Came, mins(15))));
    assert_eq!(ask.notice_due(), Some(FILED + mins(15)));
    assert_eq!(ask.deadline(), None, "it is no deadline of the ask");
}

#[test]
fn told_of_it_they_are_told_no_more_and_of_another_hop_anew() {
    let ask = filed(vec![to_people(&["ann"], Some(mins(10))), to_people(&["bob"], None)], None);
    let ask = then(&ask, &told(&ask, NoticeWhy::Came), secs(1));
    assert_eq!((due(&ask), ask.noticed), (None, Some(secs(1).time)));
    let ask = then(&ask, &escalate(&ask, Actor::Person(person("ann")), 0), secs(2));
    let at_once = Some((NoticeWhy::Came, Span::from_secs(2)));
    assert_eq!(due(&ask), at_once, "bob was told nothing yet");
}

#[test]
fn replies_are_one_notice_a_quiet_window() {
    let ask = at_people();
    let ask = then(&ask, &told(&ask, NoticeWhy::Came), secs(1));
    let ask = then(&ask, &reply("2 GB", &[]), secs(5));
    let once = Some((NoticeWhy::Replied, Span::from_secs(1 + quiet())));
    assert_eq!(due(&ask), once);
    let ask = then(&ask, &reply("no, 3 GB", &[]), secs(6));
    assert_eq!(due(&ask), once, "two replies are one notice");
    let ask = then(&ask, &told(&ask, NoticeWhy::Replied), secs(70));
    assert_eq!(due(&ask), None);
    let ask = then(&ask, &reply("well", &[]), secs(500));
    let late = Some((NoticeWhy::Replied, Span::from_secs(500)));
    assert_eq!(due(&ask), late, "after a quiet window it waits for nothing");
}

#[test]
fn a_reply_while_they_are_being_told_is_told_once_more() {
    let ask = at_people();
    let telling = told(&ask, NoticeWhy::Came);
    let ask = then(&ask, &reply("2 GB", &[]), secs(1));
    assert_eq!(due(&ask), Some((NoticeWhy::Came, Span::default())));
    let (before, after) =
        (then(&ask, &telling, secs(3)), then(&ask, &told(&ask, NoticeWhy::Came), secs(3)));
    let again = Some((NoticeWhy::Replied, Span::from_secs(3 + quiet())));
    assert_eq!(due(&before), again, "they were shown it without the reply");
    assert_eq!(due(&after), None, "they were shown the reply too");
}

#[test]
fn c97_a_claim_or_an_answer_drops_what_was_to_be_told() {
    let ask = at_people();
    for command in
        [claim("owner", 5, false), answer(&ask, "owner"), decline(&ask, "ann"), withdraw()]
    {
        let telling = told(&ask, NoticeWhy::Came);
        let ask = then(&ask, &command, secs(1));
        assert_eq!(due(&ask), None, "{command:?}");
        let ask = then(&ask, &telling, secs(2));
        assert_eq!(due(&ask), None, "nothing follows what was under way at {command:?}");
        let ask = then(&ask, &failed(&ask, NoticeWhy::Came), secs(3));
        assert_eq!(due(&ask), None, "nor is it tried again after {command:?}");
    }
    let claimed = then(&ask, &claim("owner", 5, false), secs(1));
    let replied = then(&claimed, &reply("2 GB", &[]), secs(2));
    assert_eq!(due(&replied), None, "whoever is on it looks at it");
}

#[test]
fn after_a_claim_whoever_else_is_asked_is_told_again() {
    let ask = at_people();
    let claimed = then(&ask, &claim("owner", 5, false), secs(1));
    let lapsed = then(&claimed, &tick(&claimed), secs(301));
    assert_eq!(due(&lapsed), Some((NoticeWhy::Unclaimed, Span::from_secs(301))));
    let released = then(&claimed, &Command::Release { by: owner() }, secs(9));
    assert_eq!(due(&released), None, "who gave it up knows");
    let ask = filed(vec![to_people(&["owner", "ann"], None)], None);
    let ask = then(&ask, &claim("owner", 5, false), secs(1));
    let ask = then(&ask, &Command::Release { by: owner() }, secs(9));
    assert_eq!(due(&ask), Some((NoticeWhy::Unclaimed, Span::from_secs(9))), "ann does not");
}

#[test]
fn c158_a_notice_that_fails_is_tried_again_later_and_later_and_then_given_up() {
    let mut ask = at_people();
    let mut now = FILED;
    for wait in limits::NOTICE_RETRIES {
        ask = then(&ask, &failed(&ask, NoticeWhy::Came), Now::at(now));
        assert_eq!(ask.notice_due(), Some(now + wait));
        assert_eq!(ask.notice_failure().map(|failure| failure.time), Some(now));
        now = now + wait;
    }
    assert_eq!(limits::NOTICE_RETRIES.map(Span::as_millis), [30_000, 120_000, 600_000, 1_800_000]);
    ask = then(&ask, &failed(&ask, NoticeWhy::Came), Now::at(now));
    assert_eq!(ask.notice, None, "five times are enough");
    assert!(ask.notice_failure().is_some(), "that it failed stays to be seen");
    let replied = then(&ask, &reply("2 GB", &[]), Now::at(now));
    assert_eq!(replied.notice_due(), Some(now), "what happens later is tried anew");
    let told = then(&replied, &told(&replied, NoticeWhy::Replied), Now::at(now));
    assert_eq!((told.notice, told.notice_failure()), (None, None));
    assert_eq!(then(&ask, &answer(&ask, "owner"), Now::at(now)).notice_failure(), None);
}

#[test]
fn a_failure_is_a_sentence_and_no_page() {
    let ask = at_people();
    let failure = Some("é".repeat(limits::NOTICE_FAILURE_BYTES));
    let command = Command::Noticed { why: NoticeWhy::Came, of: 1, failure };
    let ask = then(&ask, &command, secs(1));
    let kept = ask.notice_failure().map(|failure| failure.why.len());
    assert_eq!(kept, Some(limits::NOTICE_FAILURE_BYTES));
}

#[test]
fn what_comes_to_others_meanwhile_is_told_them_at_once() {
    let ask = filed(vec![to_people(&["ann"], Some(mins(10))), to_people(&["bob"], None)], None);
    for telling in [told(&ask, NoticeWhy::Came), failed(&ask, NoticeWhy::Came)] {
        let ask = then(&ask, &tick(&ask), after(mins(10)));
        let ask = then(&ask, &telling, after(mins(11)));
        assert_eq!(due(&ask), Some((NoticeWhy::Came, mins(10))), "that was ann's");
    }
}

#[test]
fn what_else_happens_while_they_are_told_waits_for_a_quiet_window_and_what_came_does_not() {
    let ask =
        filed(vec![to_people(&["ann"], Some(mins(10))), to_people(&["bob", "eve"], None)], None);
    let telling = told(&ask, NoticeWhy::Came);
    let moved = then(&ask, &escalate(&ask, Actor::Person(person("ann")), 0), secs(1));
    let came = Some((NoticeWhy::Came, Span::from_secs(1)));
    assert_eq!(
        due(&then(&moved, &telling, secs(2))),
        came,
        "bob does not wait for what ann was told"
    );
    let moved = then(&moved, &told(&moved, NoticeWhy::Came), secs(3));
    let claimed = then(&moved, &claim("bob", 5, false), secs(4));
    let telling = told(&moved, NoticeWhy::Came);
    let released = then(&claimed, &Command::Release { by: person("bob") }, secs(5));
    let unclaimed = |at: u64| Some((NoticeWhy::Unclaimed, Span::from_secs(at)));
    assert_eq!(due(&released), unclaimed(3 + quiet()));
    assert_eq!(due(&then(&released, &telling, secs(6))), unclaimed(6 + quiet()));
}

#[test]
fn each_reason_has_a_word_and_a_sentence_of_its_own() {
    let whys = [NoticeWhy::Came, NoticeWhy::Replied, NoticeWhy::Unclaimed, NoticeWhy::Settled];
    let words = whys.map(|why| (why.word(), why.sentence()));
    assert_eq!(words[0], ("came", "it came to people"));
    let apart = |of: fn(&(&'static str, &'static str)) -> &'static str| {
        words.iter().map(of).collect::<std::collections::HashSet<_>>().len()
    };
    assert_eq!((apart(|pair| pair.0), apart(|pair| pair.1)), (4, 4));
}
