//! The people: they look, answer, decline, say, claim, and sometimes get it wrong.

use super::calls::{Caller, answers, seconds};
use super::world::{Phase, insist, pass_up_to};
use askway::error::Reason;
use askway::grpc::v1;
use askway::store::suite::Dice;
use tonic::Code;

/// A person lives, until it is calm.
pub async fn live(me: Caller, mut dice: Dice) {
    let mut deed = 0;
    while me.world.phase() == Phase::Storm {
        pass_up_to(&mut dice, 25_000).await;
        let Some(asks) = look(&me).await else { continue };
        if asks.is_empty() {
            continue;
        }
        let ask = dice.pick(&asks).clone();
        deed += 1;
        let request_id = format!("{} {deed}", me.name);
        if dice.one_in(6) {
            too_late(&me, &mut dice, &request_id).await;
            continue;
        }
        act(&me, &mut dice, ask, request_id, &asks).await;
    }
}

/// Lists what is open. Rule 17: what is open is listed, or nothing is said.
async fn look(me: &Caller) -> Option<Vec<v1::Ask>> {
    let open = || {
        let book = me.world.book();
        let open = book.asks.iter().filter(|(_, noted)| !noted.is_settled());
        open.map(|(id, _)| id.clone()).collect::<Vec<_>>()
    };
    let before = open();
    let asks = me.client.list_asks(v1::AskScope::Visible).await.ok()?;
    let after = open();
    let listed = |id: &String| asks.iter().any(|ask| ask.id == *id);
    let lost: Vec<_> = before.iter().filter(|id| after.contains(id) && !listed(id)).collect();
    let mut book = me.world.book();
    book.check("rule_17_unknown_is_not_empty", lost.is_empty(), || {
        format!("{} is shown a list without {lost:?}", me.name)
    });
    asks.iter().for_each(|ask| book.shown(ask));
    let open = |ask: &v1::Ask| ask.state() == v1::AskState::Open;
    drop(book);
    Some(asks.into_iter().filter(open).collect())
}

async fn act(me: &Caller, dice: &mut Dice, ask: v1::Ask, request_id: String, all: &[v1::Ask]) {
    let (ask_id, content_digest) = (ask.id.clone(), ask.content_digest.clone());
    match dice.roll(12) {
        0..=2 => {
            let request = v1::MarkSeenRequest { request_id, ask_id, content_digest };
            let _ = me.mark_seen(request).await;
        }
        3 | 4 => answer(me, dice, &ask, request_id).await,
        5 => {
            let note = Some("no".into());
            let request = v1::DeclineRequest { request_id, ask_id, content_digest, note };
            let _ = me.decline(request).await;
        }
        6 | 7 => {
            let text = format!("{} says {request_id}", me.name);
            let _ = me.say(v1::SayRequest { request_id, ask_id, text }).await;
        }
        8 => {
            let length = Some(seconds(5 + dice.roll(90)));
            let request = v1::ClaimRequest { request_id, ask_id, length, take_over: false };
            let _ = me.claim(request).await;
        }
        9 => drop(me.release(v1::ReleaseRequest { request_id, ask_id }).await),
        10 => {
            let hop = ask.hop.as_ref().map_or(0, |hop| hop.index);
            let reason = Some("not mine".into());
            let _ = me.escalate(v1::EscalateRequest { request_id, ask_id, hop, reason }).await;
        }
        _ => wrongly(me, dice, &ask, request_id, all).await,
    }
}

/// Declines what is settled, of an asker that is gone where there is one.
async fn too_late(me: &Caller, dice: &mut Dice, request_id: &str) {
    let mut settled: Vec<(bool, String, String)> = Vec::new();
    {
        let book = me.world.book();
        for (id, noted) in book.asks.iter().filter(|(_, noted)| noted.is_settled()) {
            let Some(filed) = noted.filed() else { continue };
            let gone = book.ended.contains_key(&filed.asker.session.to_string());
            settled.push((gone, id.clone(), filed.content.digest().to_string()));
        }
    }
    let any_gone = settled.iter().any(|(gone, ..)| *gone);
    settled.retain(|(gone, ..)| *gone == any_gone);
    if settled.is_empty() {
        return;
    }
    let (_, ask_id, content_digest) = dice.pick(&settled).clone();
    let request_id = request_id.to_owned();
    let request = v1::DeclineRequest { request_id, ask_id, content_digest, note: None };
    let _ = me.decline(request).await;
}

/// Answers, and sometimes sends the same again.
async fn answer(me: &Caller, dice: &mut Dice, ask: &v1::Ask, request_id: String) {
    let (ask_id, content_digest) = (ask.id.clone(), ask.content_digest.clone());
    let label = *dice.pick(&["Yes", "No"]);
    let answers = answers(ask, label);
    let request = v1::AnswerRequest { request_id, ask_id, content_digest, answers };
    let Ok(receipt) = me.answer(request.clone()).await else { return };
    accepted(me, ask, &receipt);
    // Rule 6: a person is not refused, but where the words have changed.
    let fine = receipt.result() != v1::Result::Refused || receipt.reason == Reason::Stale.as_str();
    let reason = receipt.reason.clone();
    me.world.book().check("rule_06_a_person_may_always_answer", fine, || {
        format!("{} answers {}: {reason}", me.name, ask.id)
    });
    if dice.one_in(3) {
        let _ = me.answer(request).await;
    }
}

/// Writes down what an accepted answer was for, and whose it is by its receipt (rule 16).
pub fn accepted(me: &Caller, ask: &v1::Ask, receipt: &v1::Receipt) {
    if receipt.result() != v1::Result::Accepted {
        return;
    }
    let mut book = me.world.book();
    let noted = book.asks.entry(ask.id.clone()).or_default();
    noted.answered_for.push(ask.content_digest.clone());
    let by = receipt.ask.as_ref().and_then(|ask| ask.outcome.as_ref()?.by.clone());
    let by = by.map(|by| spelled(&by)).unwrap_or_default();
    book.check("rule_16_who_acted_is_the_servers_word", by == me.name, || {
        format!("{} answered {}, and it says {by}", me.name, ask.id)
    });
}

/// Who acted, in one word.
pub fn spelled(actor: &v1::Actor) -> String {
    use v1::actor::Who;
    match &actor.who {
        Some(Who::Session(session)) => session.session.clone(),
        Some(Who::Person(name) | Who::Host(name)) => name.clone(),
        Some(Who::Timer(_)) | None => "timer".into(),
    }
}

/// Answers for other words than those that stand (rule 20), in part (rule 10), or reads what is not there.
async fn wrongly(me: &Caller, dice: &mut Dice, ask: &v1::Ask, request_id: String, all: &[v1::Ask]) {
    let mut request = v1::AnswerRequest {
        request_id,
        ask_id: ask.id.clone(),
        content_digest: ask.content_digest.clone(),
        answers: answers(ask, "Yes"),
    };
    if dice.one_in(2) {
        let other = all.iter().find(|other| other.content_digest != ask.content_digest);
        let Some(other) = other else { return };
        request.content_digest = other.content_digest.clone();
        let Ok(receipt) = me.answer(request).await else { return };
        let accepted = receipt.result() == v1::Result::Accepted;
        me.world.book().check("rule_20_bound_to_what_was_shown", !accepted, || {
            format!("{} was answered for other words", ask.id)
        });
        return;
    }
    let some = request.answers.keys().min().cloned();
    some.and_then(|some| request.answers.remove(&some));
    let known = insist(|| me.client.answer(request.clone())).await;
    let fine = match &known {
        Err(error) => error.code == Code::InvalidArgument,
        Ok(receipt) => receipt.result() != v1::Result::Accepted,
    };
    me.world.book().check("rule_10_an_ask_is_answered_whole", fine, || {
        format!("{} was answered in part: {known:?}", ask.id)
    });
}
