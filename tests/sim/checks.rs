//! What must hold of a whole run, looked at when all is said: a check for each rule, by its name.

use super::book::{Book, Noted};
use super::daemon::PERSON_WINDOW;
use super::people::spelled;
use askway::ask::{Actor, Cause, EventKind, ExpiryAction, SessionRef};
use askway::grpc::v1;

/// The most that a move by a route timer may be late, in milliseconds.
const LATE: u64 = 1_500;
/// Service time drifts by a tenth at most; and commits take their time.
const SLOW: u64 = 300;

/// Every check, of every ask.
pub fn all(book: &mut Book) {
    let asks = std::mem::take(&mut book.asks);
    for (id, noted) in &asks {
        let Some((ask, events)) = &noted.last else {
            book.broken("rule_01_durable_first", &format!("{id} cannot be read at the end"));
            continue;
        };
        rule_02_settled_once(book, id, noted, ask);
        rule_03_reaches_a_person(book, id, noted);
        rule_04_silence_is_not_consent(book, id, noted);
        rule_05_only_whom_it_waits_on(book, id, noted);
        rule_10_an_ask_is_answered_whole(book, id, ask, events);
        rule_11_delivered_means_acknowledged(book, id, ask);
        rule_16_who_acted(book, id, noted, events);
        rule_18_history_is_enough(book, id, noted, ask, events);
        rule_20_bound_to_what_was_shown(book, id, noted, events);
    }
    book.asks = asks;
}

fn rule_02_settled_once(book: &mut Book, id: &str, noted: &Noted, ask: &v1::Ask) {
    let count = noted.events.iter().filter(|(event, _)| event.kind.settles()).count();
    book.check("rule_02_settled_once", count == 1, || format!("{id}: {count} outcomes"));
    let told = noted.outcome.is_none() || noted.outcome == ask.outcome;
    book.check("rule_02_settled_once", told, || format!("{id}: another outcome was told"));
}

/// The session that is asked after the first so many events, where one is.
fn asked(noted: &Noted, count: usize) -> Option<&SessionRef> {
    let filed = noted.filed()?;
    let hop = noted.events[..count].iter().rev().find_map(|(event, _)| match &event.kind {
        EventKind::Filed(filed) => Some(filed.first.hop),
        EventKind::Escalated(moved) => Some(moved.hop),
        _ => None,
    })?;
    filed.route.hops[hop].to.session()
}

/// Rules 3, 19 and 22: a hop with a timer is left no earlier than its time, by any clock, and soon after
/// it; and its time begins when the move to it commits.
fn rule_03_reaches_a_person(book: &mut Book, id: &str, noted: &Noted) {
    let Some(filed) = noted.filed() else { return };
    let mut hop: Option<(u64, u64, u64, u64)> = None; // since, in truth; service time; due; timeout
    let mut claimed = false;
    for (event, passed) in &noted.events {
        claimed |= matches!(event.kind, EventKind::Claimed { .. });
        let moved = match &event.kind {
            EventKind::Filed(filed) => Some(&filed.first),
            EventKind::Escalated(moved) => Some(moved),
            kind if kind.settles() => None,
            _ => continue,
        };
        if let Some((since, begun, due, timeout)) = hop.take().filter(|_| !claimed) {
            let now = event.time.as_millis();
            let by_timer = moved.is_some_and(|moved| moved.cause == Cause::Timeout);
            let within = due == begun + timeout;
            book.check("rule_22_a_tick_makes_progress", within, || {
                format!("{id}: {begun} to {due}")
            });
            let late = book.up_within(since, *passed).saturating_sub(timeout);
            book.check("rule_03_reaches_a_person", late <= LATE, || {
                format!("{id}: {late} ms late")
            });
            if by_timer {
                book.counts.escalations += 1;
                book.check("rule_03_reaches_a_person", due <= now, || format!("{id} moved early"));
                let late = late.max(late_in_service(book, since, *passed, due, now));
                book.counts.worst_late = book.counts.worst_late.max(late);
                book.check("rule_03_reaches_a_person", late <= LATE, || {
                    format!("{id} moved {late} ms after its time")
                });
                let booted = book.reboots.iter().any(|boot| since <= *boot && boot <= passed);
                let early = !booted && (passed - since + SLOW) * 11 / 10 < timeout;
                book.check("rule_19_no_decision_from_a_broken_clock", !early, || {
                    format!("{id} moved after {} ms of {timeout}", passed - since)
                });
            }
        }
        hop = moved.and_then(|moved| {
            let timeout = filed.route.hops[moved.hop].timeout?.as_millis();
            Some((*passed, event.time.as_millis(), moved.deadline?.as_millis(), timeout))
        });
    }
}

/// How late a move was by service time: after its time, or after the start where that was later.
fn late_in_service(book: &Book, since: u64, passed: u64, due: u64, now: u64) -> u64 {
    let started = book.starts.iter().rev().find(|(at, _)| *at <= passed).copied();
    let (at, service) = started.unwrap_or_default();
    let from = at.max(since);
    let asleep = book.suspends.iter().filter(|(down, _)| from <= *down && *down <= passed);
    let asleep: u64 = asleep.map(|(down, up)| up - down).sum();
    // Service time may drift by a tenth of a sleep, too.
    now.saturating_sub(due.max(service)).saturating_sub(asleep * 11 / 10)
}

/// Rule 4: a default applies where it was named, a person was shown these words for long enough, and
/// nobody spoke.
fn rule_04_silence_is_not_consent(book: &mut Book, id: &str, noted: &Noted) {
    let Some(filed) = noted.filed() else { return };
    let (mut seen, mut spoke) = (None, false);
    for (number, (event, passed)) in noted.events.iter().enumerate() {
        match &event.kind {
            EventKind::Seen { .. } => seen = seen.or(Some((event.time, *passed))),
            EventKind::Said { by, .. } => spoke = matches!(by, Actor::Person(_)),
            EventKind::Replied { content, .. } => {
                spoke = false;
                seen = seen.filter(|_| content.is_none());
            }
            EventKind::Expired { answers: Some(_) } => {
                let named =
                    filed.expiry.as_ref().is_some_and(|e| e.action == ExpiryAction::Default);
                let window = |(at, _): &(_, u64)| event.time.since(*at) >= PERSON_WINDOW;
                let shown = seen.as_ref().is_some_and(window);
                let with_people = asked(noted, number).is_none();
                // A suspend is a gap, whose end the machine knows while it is not booted again: the
                // window starts anew.
                let window = PERSON_WINDOW.as_millis() * 9 / 10 - SLOW;
                let anew = book.suspends.iter().all(|(down, up)| {
                    let shown_before = seen.as_ref().is_some_and(|(_, at)| at < down);
                    let booted = book.reboots.iter().any(|boot| down <= boot && boot <= passed);
                    let is_gap = up - down > 61_000 && shown_before && up <= passed && !booted;
                    !is_gap || up + window <= *passed
                });
                let fine = named && shown && !spoke && with_people && anew;
                book.counts.defaults += 1;
                book.check("rule_04_silence_is_not_consent", fine, || {
                    format!("{id}: named {named}, shown {shown}, spoke {spoke}, people {with_people}, anew {anew}")
                });
            }
            _ => {}
        }
    }
}

fn rule_05_only_whom_it_waits_on(book: &mut Book, id: &str, noted: &Noted) {
    for (number, (event, _)) in noted.events.iter().enumerate() {
        let by = match &event.kind {
            EventKind::Answered { by: Actor::Session(by), .. } => by,
            EventKind::Escalated(moved) => match &moved.by {
                Actor::Session(by) if moved.cause == Cause::Refused => by,
                _ => continue,
            },
            _ => continue,
        };
        let fine = asked(noted, number) == Some(by);
        book.check("rule_05_only_whom_it_waits_on", fine, || format!("{id}: {by:?} acted"));
    }
}

fn rule_10_an_ask_is_answered_whole(
    book: &mut Book,
    id: &str,
    ask: &v1::Ask,
    events: &[v1::Event],
) {
    let Some(outcome) = ask.outcome.as_ref().filter(|o| o.kind() == v1::OutcomeKind::Answered)
    else {
        return;
    };
    let words = events.iter().rev().filter_map(|event| event.ask.as_ref());
    let questions = words.map(|ask| &ask.questions).find(|questions| !questions.is_empty());
    let whole = questions.into_iter().flatten().all(|question| {
        let offered = |label: &String| question.options.iter().any(|option| option.label == *label);
        let answer = outcome.answers.get(&question.id);
        answer.is_some_and(|answer| {
            !answer.selected.is_empty() && answer.selected.iter().all(offered)
        })
    });
    book.check("rule_10_an_ask_is_answered_whole", whole, || format!("{id}: {outcome:?}"));
}

fn rule_11_delivered_means_acknowledged(book: &mut Book, id: &str, ask: &v1::Ask) {
    use v1::{DeliveryState as D, OutcomeKind as K};
    let kind = ask.outcome.as_ref().map_or(K::Unspecified, v1::Outcome::kind);
    let state = ask.delivery.as_ref().map_or(D::Unspecified, v1::DeliveryStatus::state);
    let asker = ask.asker.as_ref().map(|asker| asker.session.clone()).unwrap_or_default();
    let fine = match kind {
        K::Withdrawn | K::Abandoned => true,
        _ if book.ended.contains_key(&asker) => state != D::Unread,
        _ => state == D::Acknowledged,
    };
    book.check("rule_11_delivered_means_acknowledged", fine, || format!("{id}: {state:?}"));
}

/// Rule 16: what was said carries who said it, and the history says the same.
fn rule_16_who_acted(book: &mut Book, id: &str, noted: &Noted, events: &[v1::Event]) {
    for event in events.iter().filter(|event| event.kind() == v1::EventKind::Said) {
        let by = event.by.as_ref().map(spelled).unwrap_or_default();
        let fine = event.text.starts_with(&format!("{by} says "));
        book.check("rule_16_who_acted_is_the_servers_word", fine, || {
            format!("{id}: {by} is to have said {:?}", event.text)
        });
    }
    let asker = noted.filed().map(|filed| filed.asker.session.to_string());
    let filer = events.first().and_then(|event| event.by.as_ref()).map(spelled);
    book.check("rule_16_who_acted_is_the_servers_word", asker == filer, || {
        format!("{id}: {filer:?}")
    });
}

fn rule_18_history_is_enough(
    book: &mut Book,
    id: &str,
    noted: &Noted,
    ask: &v1::Ask,
    events: &[v1::Event],
) {
    let dense = events.iter().map(|event| event.revision).eq(1..=noted.events.len() as u64);
    let last = events.last().and_then(|event| event.ask.as_ref());
    let same = last.is_some_and(|last| {
        (last.revision, last.state, &last.outcome, &last.content_digest)
            == (ask.revision, ask.state, &ask.outcome, &ask.content_digest)
    });
    book.check("rule_18_history_is_enough", dense && same, || format!("{id}: {dense}, {same}"));
}

fn rule_20_bound_to_what_was_shown(book: &mut Book, id: &str, noted: &Noted, events: &[v1::Event]) {
    let answered = events.iter().position(|event| event.kind() == v1::EventKind::Answered);
    let before = answered.and_then(|at| events.get(at.checked_sub(1)?)?.ask.as_ref());
    let Some(before) = before else { return };
    let fine = noted.answered_for.iter().all(|digest| *digest == before.content_digest);
    book.check("rule_20_bound_to_what_was_shown", fine, || format!("{id}: other words"));
}
