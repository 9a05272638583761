//! Silence is not consent: when a default applies, and when it must wait (rule 4).

use crate::bench::*;
use askway::ask::{
    Actor, Ask, AskId, Cause, Draft, Ending, ExpiryAction, ExpiryClock, Policy, Span, WhyNoDefault,
};
use askway::error::Error;
use askway::store::mem::Mem;
use std::sync::Arc;

const EXPIRE: Span = Span::from_mins(5);
const WINDOW: Span = Span::from_secs(60);

/// An ask whose asker recommends `yes`, and takes it when nobody says anything.
fn with_default(question: &str) -> Draft {
    let mut draft = draft(question);
    what(&mut draft).questions[0].options[0].recommended = true;
    draft.expire = Some((EXPIRE, ExpiryAction::Default));
    draft
}

async fn waits_for(bench: &Bench, id: AskId, why: WhyNoDefault) -> Arc<Ask> {
    bench.until(id, |ask| ask.expiry.is_some_and(|e| e.clock == ExpiryClock::Waits(why))).await
}

async fn applied(bench: &Bench, id: AskId) {
    let ask = bench.until(id, |ask| !ask.is_open()).await;
    let outcome = ask.outcome().unwrap();
    assert_eq!(outcome.by, Actor::Timer, "nobody decided");
    let Ending::Expired(Some(answers)) = &outcome.ending else { panic!("{outcome:?}") };
    assert_eq!(
        (answers["q1"].selected.as_slice(), answers["q1"].default),
        (&["yes".into()][..], true)
    );
}

#[tokio::test]
async fn rule_04_a_default_applies_once_a_person_was_shown_it_for_the_window() {
    let bench = Bench::new().await;
    let lead = bench.root("lead").await;
    let ask = accepted(bench.file(&lead, with_default("go?")).await);
    bench.show(&ask).await;
    bench.pass(Span::from_millis(EXPIRE.as_millis() - 1)).await;
    assert!(bench.get(ask.id).await.is_open(), "no earlier than its time");
    bench.pass(Span::from_millis(1)).await;
    applied(&bench, ask.id).await;
}

#[tokio::test]
async fn rule_04_a_default_nobody_was_shown_waits_and_says_so() {
    let bench = Bench::new().await;
    let lead = bench.root("lead").await;
    let ask = accepted(bench.file(&lead, with_default("go?")).await);
    bench.pass(EXPIRE).await;
    let held = waits_for(&bench, ask.id, WhyNoDefault::NotShown).await;
    assert_eq!(held.deadline(), None, "time alone does not change that");
    bench.pass(Span::from_hours(1)).await;
    bench.show(&held).await;
    bench.pass(Span::from_secs(59)).await;
    assert!(bench.get(ask.id).await.is_open());
    bench.pass(Span::from_secs(1)).await;
    applied(&bench, ask.id).await;
}

#[tokio::test]
async fn rule_04_a_default_waits_while_a_person_may_still_be_reading() {
    let bench = Bench::new().await;
    let lead = bench.root("lead").await;
    let ask = accepted(bench.file(&lead, with_default("go?")).await);
    bench.pass(Span::from_secs(290)).await;
    let shown = bench.show(&ask).await.seen[0].time;
    bench.pass(Span::from_secs(10)).await;
    let until = ExpiryClock::Runs(shown + WINDOW);
    bench.until(ask.id, |ask| ask.expiry.unwrap().clock == until).await;
    bench.pass(Span::from_secs(50)).await;
    applied(&bench, ask.id).await;
}

#[tokio::test]
async fn rule_04_the_window_is_as_long_as_configured() {
    let mut policy = Policy::default();
    policy.terms.person_window = Span::from_mins(10);
    let bench = Bench::with(policy).await;
    let lead = bench.root("lead").await;
    let ask = accepted(bench.file(&lead, with_default("go?")).await);
    bench.show(&ask).await;
    bench.pass(Span::from_secs(599)).await;
    assert!(bench.get(ask.id).await.is_open());
    bench.pass(Span::from_secs(1)).await;
    applied(&bench, ask.id).await;
}

#[tokio::test]
async fn rule_04_rule_19_after_a_gap_the_window_starts_anew() {
    let store = Arc::new(Mem::default());
    let bench = Bench::over(store.clone()).await;
    let lead = bench.root("lead").await;
    let ask = accepted(bench.file(&lead, with_default("go?")).await);
    bench.show(&ask).await;
    bench.pass(Span::from_mins(2)).await;
    let clock = bench.clock.clone();
    bench.stop().await;
    clock.advance(Span::from_mins(4));
    let bench = Bench::on(store, clock).await;
    let now = bench.service.status(&bench.owner).await.unwrap().service_time;
    bench.until(ask.id, |ask| ask.expiry.unwrap().clock == ExpiryClock::Runs(now + WINDOW)).await;
    bench.pass(WINDOW).await;
    applied(&bench, ask.id).await;
}

#[tokio::test]
async fn rule_04_a_short_absence_is_no_gap() {
    let store = Arc::new(Mem::default());
    let bench = Bench::over(store.clone()).await;
    let lead = bench.root("lead").await;
    let ask = accepted(bench.file(&lead, with_default("go?")).await);
    bench.show(&ask).await;
    bench.pass(Span::from_secs(270)).await;
    let clock = bench.clock.clone();
    bench.stop().await;
    clock.advance(Span::from_secs(30));
    let bench = Bench::on(store, clock).await;
    applied(&bench, ask.id).await;
}

#[tokio::test]
async fn rule_04_a_persons_unread_turn_holds_and_no_default_follows_it() {
    let bench = Bench::new().await;
    let lead = bench.root("lead").await;
    let ask = accepted(bench.file(&lead, with_default("go?")).await);
    bench.show(&ask).await;
    bench.pass(Span::from_mins(2)).await;
    let said = bench.service.say(&bench.owner, fresh(), ask.id, "why now?".into()).await;
    let turn = accepted(said).turns[0].revision;
    bench.pass(Span::from_mins(20)).await;
    let held = bench.get(ask.id).await;
    assert_eq!(held.expiry.unwrap().clock, ExpiryClock::Stands(Span::from_mins(3)));
    accepted(bench.service.acknowledge(&lead.caller, fresh(), ask.id, turn, None).await);
    bench.pass(Span::from_mins(3)).await;
    waits_for(&bench, ask.id, WhyNoDefault::PersonSpoke).await;
    bench.pass(Span::from_hours(2)).await;
    assert!(bench.get(ask.id).await.is_open(), "whoever spoke was not silent");
    let reply = bench.service.reply(&lead.caller, fresh(), ask.id, "so".into(), [].into()).await;
    accepted(reply);
    bench.pass(EXPIRE).await;
    applied(&bench, ask.id).await;
}

#[tokio::test]
async fn rule_04_an_unread_turn_holds_at_most_an_hour() {
    let bench = Bench::new().await;
    let lead = bench.root("lead").await;
    let stop = Draft { expire: Some((EXPIRE, ExpiryAction::Stop)), ..draft("go?") };
    let ask = accepted(bench.file(&lead, stop).await);
    bench.pass(Span::from_secs(290)).await;
    accepted(bench.service.say(&bench.owner, fresh(), ask.id, "why?".into()).await);
    bench.pass(Span::from_hours(1)).await;
    bench.until(ask.id, |ask| ask.turn_hold.is_none()).await;
    bench.pass(Span::from_secs(59)).await;
    assert!(bench.get(ask.id).await.is_open(), "a minute is left at least");
    bench.pass(Span::from_secs(1)).await;
    let expired = bench.until(ask.id, |ask| !ask.is_open()).await;
    assert_eq!(expired.outcome().unwrap().ending, Ending::Expired(None));
}

#[tokio::test]
async fn rule_04_an_expiry_while_a_session_is_asked_moves_on_and_applies_nothing() {
    let bench = Bench::new().await;
    let (_, worker) = bench.pair().await;
    let ask = accepted(bench.file(&worker, with_default("go?")).await);
    bench.show(&ask).await;
    bench.pass(EXPIRE).await;
    let moved = bench.until(ask.id, |ask| ask.hop.index == 1).await;
    assert_eq!((moved.hop.cause, moved.expiry), (Cause::AskersExpiry, None));
    bench.pass(Span::from_hours(1)).await;
    assert!(bench.get(ask.id).await.is_open());
}

#[tokio::test]
async fn c09_a_claim_shortly_before_the_default_holds_it_and_is_seen() {
    let bench = Bench::new().await;
    let lead = bench.root("lead").await;
    let three =
        Draft { expire: Some((Span::from_mins(3), ExpiryAction::Default)), ..with_default("go?") };
    let ask = accepted(bench.file(&lead, three).await);
    bench.show(&ask).await;
    bench.pass(Span::from_secs(170)).await;
    let claim = Span::from_mins(15);
    accepted(bench.service.claim(&bench.owner, fresh(), ask.id, claim, false).await);
    bench.pass(Span::from_mins(5)).await;
    let (seen, _) = bench.service.get(&lead.caller, &ask.id.to_string()).await.unwrap();
    assert!(seen.claim.is_some(), "the asker sees who is on it");
    assert_eq!(seen.expiry.unwrap().clock, ExpiryClock::Stands(Span::from_secs(10)));
    accepted(bench.service.release(&bench.owner, fresh(), ask.id).await);
    bench.pass(Span::from_secs(59)).await;
    assert!(bench.get(ask.id).await.is_open(), "what was left runs on, a minute at least");
    bench.pass(Span::from_secs(1)).await;
    applied(&bench, ask.id).await;
}

#[tokio::test]
async fn c12_a_default_must_be_named_and_order_names_none() {
    let bench = Bench::new().await;
    let lead = bench.root("lead").await;
    let unnamed = Draft { expire: Some((EXPIRE, ExpiryAction::Default)), ..draft("go?") };
    let Err(Error::Invalid(violations)) = bench.file(&lead, unnamed).await else { panic!() };
    assert_eq!(violations[0].field, "defaults[q1]");
    assert!(bench.inbox(&bench.owner).await.is_empty());
}

#[tokio::test]
async fn c08_each_defaulted_question_is_marked_so() {
    let bench = Bench::new().await;
    let lead = bench.root("lead").await;
    let mut two = with_default("one?");
    let second = askway::ask::Question { id: "q2".into(), ..two.content.questions[0].clone() };
    what(&mut two).questions.push(second);
    let ask = accepted(bench.file(&lead, two).await);
    let half = bench.service.answer(&bench.owner, fresh(), ask.id, ask.digest, yes()).await;
    let Err(Error::Invalid(violations)) = half else { panic!("a half answer is none: {half:?}") };
    assert_eq!(violations[0].field, "answers[q2]");
    bench.show(&ask).await;
    bench.pass(EXPIRE).await;
    let settled = bench.until(ask.id, |ask| !ask.is_open()).await;
    let Ending::Expired(Some(answers)) = &settled.outcome().unwrap().ending else { panic!() };
    assert!(answers.len() == 2 && answers.values().all(|answer| answer.default));
}
