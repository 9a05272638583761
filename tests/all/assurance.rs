//! How surely a person's word is theirs: recorded, shown to the asker, and demanded.

use crate::bench::*;
use askway::ask::{
    Assurance, Cause, Draft, ExpiryAction, Idle, Plan, PlanHop, PlanTo, Plans, Span,
};
use askway::engine::clock::Manual;
use askway::error::{Error, Reason};
use askway::service::{Caller, Settings};
use askway::session::Principal;
use askway::store::mem::Mem;
use std::sync::Arc;

/// The owner, by a token that was made for them.
async fn sure_owner(bench: &Bench) -> Caller {
    let owner = Principal::Person(askway::ask::PersonName::owner());
    let service = &bench.service;
    let made = service.create_token(&bench.host, fresh(), None, owner, None, String::new()).await;
    bench.log_in(&made.unwrap().secret.unwrap()).await.unwrap()
}

fn demanding(question: &str, assurance: Assurance) -> Draft {
    Draft { assurance: Some(assurance), ..draft(question) }
}

#[tokio::test]
async fn a_too_unsure_word_settles_nothing_and_spends_nothing() {
    let bench = Bench::new().await;
    let (_, worker) = bench.pair().await;
    let ask = accepted(bench.file(&worker, demanding("sure?", Assurance::Token)).await);
    let request = fresh();
    let answer = async |by: &Caller| {
        bench.service.answer(by, request.clone(), ask.id, ask.digest, yes()).await
    };
    assert_eq!(refused(answer(&bench.owner).await), Reason::AssuranceTooLow);
    assert_eq!(refused(bench.decline(&ask, "no").await), Reason::AssuranceTooLow);
    let still = bench.get(ask.id).await;
    assert_eq!((still.is_open(), still.revision), (true, ask.revision), "nothing was recorded");
    let sure = sure_owner(&bench).await;
    let other = bench.service.answer(&sure, request.clone(), ask.id, ask.digest, yes()).await;
    let settled = accepted(other);
    let outcome = settled.outcome().unwrap();
    assert_eq!(outcome.assurance, Some(Assurance::Token));
    assert!(settled.follow_up(outcome.revision).contains("Assurance: token"));
}

/// A claim holds every timer, and a turn the expiry: who may not answer could keep an ask from whoever may.
#[tokio::test]
async fn a_too_unsure_word_holds_no_timer_and_a_turn_says_what_it_is_worth() {
    let bench = Bench::new().await;
    let (lead, worker) = bench.pair().await;
    let ask = accepted(bench.file(&worker, demanding("sure?", Assurance::Token)).await);
    let length = askway::ask::limits::CLAIM;
    let say = async |by: &Caller, ask| bench.service.say(by, fresh(), ask, "wait".into()).await;
    let claim = async |by: &Caller| bench.service.claim(by, fresh(), ask.id, length, false).await;
    assert_eq!(refused(say(&bench.owner, ask.id).await), Reason::AssuranceTooLow);
    assert_eq!(refused(claim(&bench.owner).await), Reason::AssuranceTooLow);
    let still = bench.get(ask.id).await;
    assert_eq!((still.is_open(), still.revision), (true, ask.revision), "nothing was recorded");
    let sure = sure_owner(&bench).await;
    accepted(claim(&sure).await);
    let said = accepted(say(&sure, ask.id).await);
    let turn = said.turns.last().unwrap();
    assert_eq!(turn.assurance, Some(Assurance::Token));
    assert!(said.follow_up(turn.revision).contains("Assurance: token"));

    let any = bench.ask(&worker, "any?").await;
    accepted(say(&lead.caller, any.id).await);
    let said = accepted(say(&bench.owner, any.id).await);
    let worth: Vec<_> = said.turns.iter().map(|turn| turn.assurance).collect();
    assert_eq!(worth, [None, Some(Assurance::Local)], "a session's is worth none");
}

/// It would take the ask from those who are asked in turn before any of them had their time.
#[tokio::test]
async fn a_too_unsure_word_moves_no_ask_on() {
    let person = |name: &str| PlanTo::Person(name.parse().unwrap());
    let hop = |name, timeout| PlanHop { to: person(name), timeout };
    let hour = Span::from_hours(1);
    let hops = vec![hop("ann", Some(hour)), hop("owner", None)];
    let plan = Plan::new("in-turn".parse().unwrap(), hops, 1, hour).unwrap();
    let clock = Manual::at(askway::ask::Timestamp::from_millis(1_800_000_000_000));
    let settings = Settings { routes: Plans::new([plan], hour), ..Settings::default() };
    let bench = Bench::set(Arc::new(Mem::default()), clock, settings).await;
    let add = bench.service.add_person(&bench.host, fresh(), None, "ann".parse().unwrap());
    add.await.unwrap();
    let lead = bench.root("lead").await;
    let route = Some("in-turn".parse().unwrap());
    let sure = Draft { route: route.clone(), ..demanding("sure?", Assurance::Token) };
    let sure = accepted(bench.file(&lead, sure).await);
    let move_on = async |by: &Caller, ask: &askway::ask::Ask| {
        bench.service.escalate(by, fresh(), ask.id, ask.hop.index, None).await
    };
    assert_eq!(refused(move_on(&bench.owner, &sure).await), Reason::AssuranceTooLow);
    let still = bench.get(sure.id).await;
    assert_eq!((still.hop.index, still.revision), (0, sure.revision), "nothing was recorded");
    let by_token = sure_owner(&bench).await;
    assert_eq!(accepted(move_on(&by_token, &sure).await).hop.index, 1);
    // Where nothing is demanded anybody's word does.
    let any = accepted(bench.file(&lead, Draft { route, ..draft("any?") }).await);
    assert_eq!(accepted(move_on(&bench.owner, &any).await).hop.index, 1);
}

#[tokio::test]
async fn what_a_word_was_worth_is_recorded_and_a_sessions_is_worth_none() {
    let bench = Bench::new().await;
    let (lead, worker) = bench.pair().await;
    let by_lead = bench.ask(&worker, "lead?").await;
    let by_owner = bench.ask(&worker, "owner?").await;
    let declined = bench.ask(&worker, "no?").await;
    let worth = |ask: &askway::ask::Ask| ask.outcome().unwrap().assurance;
    assert_eq!(worth(&accepted(bench.answer_agent(&lead, &by_lead).await)), None);
    let local = accepted(bench.answer(&by_owner).await);
    assert_eq!(worth(&local), Some(Assurance::Local));
    let revision = local.outcome().unwrap().revision;
    assert!(local.follow_up(revision).contains("Assurance: local"));
    assert_eq!(worth(&accepted(bench.decline(&declined, "").await)), Some(Assurance::Local));
}

#[tokio::test]
async fn sessions_are_passed_over_with_the_reason_where_a_persons_word_is_demanded() {
    let bench = Bench::new().await;
    let (lead, worker) = bench.pair().await;
    for assurance in [Assurance::Local, Assurance::Token] {
        let question = format!("{assurance}?");
        let ask = accepted(bench.file(&worker, demanding(&question, assurance)).await);
        assert_eq!((ask.hop.index, ask.hop.cause), (1, Cause::NeedsPerson));
        assert_eq!(ask.hop.skipped[0].why, Idle::NotPerson);
        assert_eq!(refused(bench.answer_agent(&lead, &ask).await), Reason::NotSender);
    }
    let any = accepted(bench.file(&worker, demanding("any?", Assurance::Local)).await);
    accepted(bench.answer(&any).await);
}

#[tokio::test]
async fn a_route_demands_it_too_and_silence_stands_for_nobody() {
    let owner = PlanHop { to: PlanTo::Person(askway::ask::PersonName::owner()), timeout: None };
    let hour = Span::from_hours(1);
    let plan = Plan::new("sure".parse().unwrap(), vec![owner], 1, hour).unwrap();
    let routes = Plans::new([plan.demanding(Some(Assurance::Token))], hour);
    let clock = Manual::at(askway::ask::Timestamp::from_millis(1_800_000_000_000));
    let settings = Settings { routes, ..Settings::default() };
    let bench = Bench::set(Arc::new(Mem::default()), clock, settings).await;
    let lead = bench.root("lead").await;
    let on_route = |draft: Draft| Draft { route: Some("sure".parse().unwrap()), ..draft };
    let ask = accepted(bench.file(&lead, on_route(draft("go?"))).await);
    assert_eq!(ask.assurance, Some(Assurance::Token));
    assert_eq!(refused(bench.answer(&ask).await), Reason::AssuranceTooLow);
    // A lower demand of the asker's own does not lower the route's.
    let lower = on_route(demanding("lower?", Assurance::Local));
    let lower = accepted(bench.file(&lead, lower).await);
    assert_eq!(lower.assurance, Some(Assurance::Token));
    for draft in [on_route(draft("by default?")), demanding("by default?", Assurance::Token)] {
        let expire = Some((Span::from_mins(5), ExpiryAction::Default));
        let refused = bench.file(&lead, Draft { expire, defaults: yes(), ..draft }).await;
        let Err(Error::Invalid(violations)) = refused else { panic!("{refused:?}") };
        assert_eq!(violations[0].field, "on_expire");
    }
}

#[tokio::test]
async fn the_same_question_with_a_higher_demand_is_another_ask() {
    let bench = Bench::new().await;
    let lead = bench.root("lead").await;
    let plain = bench.ask(&lead, "go?").await;
    let sure = accepted(bench.file(&lead, demanding("go?", Assurance::Token)).await);
    assert_ne!(plain.id, sure.id, "the first may be answered by whom the second is not to be");
    let receipt = bench.file(&lead, draft("go?")).await.unwrap();
    assert_eq!(receipt.differs, ["assurance"]);
    assert_eq!(accepted(Ok(receipt)).id, sure.id, "what is surer is sure enough");
    // A no that was less sure than is demanded does not stand for the one that is.
    accepted(bench.decline(&plain, "no").await);
    let worker = bench.child("worker", &lead, false).await;
    let bound = accepted(bench.file(&worker, draft("go?")).await);
    assert!(!bound.is_open(), "it stands for whoever asks no more");
    let other = accepted(bench.file(&worker, demanding("go?", Assurance::Token)).await);
    assert!(other.is_open());
}
