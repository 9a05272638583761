//! The agents: a lead that sends work, answers, escalates or stays silent; workers that ask and take what
//! is delivered; and a stranger, whom nothing concerns.

use super::calls::{Caller, answers, questions, seconds};
use super::network::client;
use super::people::accepted;
use super::watchers::Watches;
use super::world::{Phase, World, insist, pass, pass_up_to, token};
use askway::client::{Client, ClientError};
use askway::error::Reason;
use askway::grpc::v1;
use askway::session::{Kind, Secret};
use askway::store::suite::Dice;
use std::sync::Arc;
use std::time::Duration;
use tokio_stream::StreamExt;
use tonic::Code;

/// Workers of the lead.
const WORKERS: u64 = 3;
/// Asks of a worker before its session ends and another takes its place.
const ASKS_A_SESSION: u64 = 12;

/// All agents, until all is over.
pub async fn live(world: Arc<World>, watches: Watches) -> turmoil::Result {
    let host = client(Some(token(Kind::Host, 100)));
    let (lead, hold) = enrolled(&world, &host, "lead", "lead", String::new()).await?;
    let (stranger, _) = enrolled(&world, &host, "stranger", "stranger", String::new()).await?;
    tokio::spawn(held(lead.client.clone(), hold));
    let mut own = tokio::task::JoinSet::new();
    own.spawn(sender(lead.clone(), world.dice(1)));
    own.spawn(meddler(stranger, world.dice(2)));
    for number in 0..WORKERS {
        let dice = world.dice(10 + number);
        own.spawn(worker(lead.clone(), host.clone(), number, dice, watches.clone()));
    }
    while let Some(ended) = own.join_next().await {
        ended?;
    }
    while world.phase() != Phase::Over {
        pass(Duration::from_secs(1)).await;
    }
    Ok(())
}

/// A new session, by a ticket where there is one.
async fn enrolled(
    world: &Arc<World>,
    host: &Client,
    agent: &str,
    request: &str,
    ticket: String,
) -> Result<(Caller, Secret), ClientError> {
    let request = v1::EnrollRequest {
        request_id: format!("enroll {request}"),
        agent: agent.into(),
        ticket,
        ..Default::default()
    };
    let enrolled = insist(|| host.enroll(request.clone())).await?;
    let token = Secret::read(&enrolled.token).expect("a token");
    let name = enrolled.session.expect("a session").id;
    world.note(&format!("enrolled {agent} {name}"));
    let hold = Secret::read(&enrolled.hold_secret).expect("a hold's secret");
    Ok((Caller { world: world.clone(), client: client(Some(token)), name }, hold))
}

/// Holds a session for ever. Where a partition lasts long it is paused, and taken up again.
async fn held(client: Client, secret: Secret) {
    let mut hold = client.hold(secret);
    while let Some(Ok(_)) = hold.next().await {}
}

/// The lead: looks at what waits on it, and answers, refuses, speaks, or says nothing.
async fn sender(me: Caller, mut dice: Dice) {
    let mut deed = 0;
    while me.world.phase() == Phase::Storm {
        pass_up_to(&mut dice, 20_000).await;
        let Ok(asks) = me.client.list_asks(v1::AskScope::WaitingOnMe).await else { continue };
        for ask in asks.into_iter().filter(|ask| ask.state() == v1::AskState::Open) {
            deed += 1;
            let (request_id, ask_id) = (format!("lead {deed}"), ask.id.clone());
            match dice.roll(12) {
                0 => {
                    let content_digest = ask.content_digest.clone();
                    let answers = answers(&ask, "No");
                    let request =
                        v1::AnswerAgentRequest { request_id, ask_id, content_digest, answers };
                    if let Ok(receipt) = me.answer_agent(request.clone()).await {
                        accepted(&me, &ask, &receipt);
                        let _ = me.answer_agent(request).await;
                    }
                }
                1 => {
                    let hop = ask.hop.as_ref().map_or(0, |hop| hop.index);
                    let reason = Some("not mine".into());
                    let request = v1::EscalateRequest { request_id, ask_id, hop, reason };
                    let _ = me.escalate(request).await;
                }
                2 => {
                    let text = format!("{} says {request_id}", me.name);
                    let _ = me.say(v1::SayRequest { request_id, ask_id, text }).await;
                }
                _ => {}
            }
        }
    }
}

/// A worker: one session after another.
async fn worker(lead: Caller, host: Client, number: u64, mut dice: Dice, watches: Watches) {
    let world = lead.world.clone();
    for life in 0.. {
        if world.phase() != Phase::Storm {
            return;
        }
        let name = format!("w{number}-{life}");
        let request =
            v1::SendWorkRequest { request_id: format!("work {name}"), ..Default::default() };
        let Ok(sent) = insist(|| lead.client.send_work(request.clone())).await else { return };
        if sent.ticket.is_empty() {
            // The lead is paused: it is taken up again when its hold is.
            pass(Duration::from_secs(5)).await;
            continue;
        }
        let Ok((me, _)) = enrolled(&world, &host, "worker", &name, sent.ticket).await else {
            continue;
        };
        let deliveries = tokio::spawn(deliveries(me.clone(), world.dice(100 + number + life * 10)));
        for round in 0..ASKS_A_SESSION {
            if world.phase() != Phase::Storm {
                break;
            }
            pass_up_to(&mut dice, 60_000).await;
            ask(&me, &mut dice, format!("{name}-{round}"), &watches).await;
        }
        if world.phase() == Phase::Storm {
            let request_id = format!("end {name}");
            let request = v1::EndSessionRequest { request_id, session_id: me.name.clone() };
            let _ = insist(|| me.client.end_session(request.clone())).await;
        } else {
            let _ = deliveries.await;
        }
    }
}

/// Files one ask, and does what askers do beside.
async fn ask(me: &Caller, dice: &mut Dice, request_id: String, watches: &Watches) {
    let count = 1 + dice.roll(3);
    let mut request = v1::AskRequest {
        questions: questions(&request_id, count),
        request_id: request_id.clone(),
        route: (*dice.pick(&["", "round"])).into(),
        ..Default::default()
    };
    if dice.one_in(2) {
        request.expire = Some(seconds(60 + dice.roll(400)));
        request.on_expire = v1::ExpiryAction::Stop.into();
        if dice.one_in(2) {
            request.on_expire = v1::ExpiryAction::Default.into();
            let answer = || v1::Answer { selected: vec!["Yes".into()], ..Default::default() };
            request.defaults = (1..=count).map(|number| (format!("q{number}"), answer())).collect();
        }
    }
    let Ok(receipt) = me.ask(request.clone()).await else { return };
    let Some(ask) = receipt.ask.filter(|_| receipt.result == i32::from(v1::Result::Accepted))
    else {
        return;
    };
    watches.add(&ask, dice.one_in(3));
    match dice.roll(8) {
        0 => drop(me.ask(request).await),
        1 => other_payload(me, request).await,
        2 => the_same_again(me, request, &ask).await,
        3 => {
            pass_up_to(dice, 60_000).await;
            let note = None;
            let request_id = format!("{request_id} withdrawn");
            let _ = me.withdraw(v1::WithdrawRequest { request_id, ask_id: ask.id, note }).await;
        }
        4 => not_mine(me, &ask, request_id).await,
        _ => {}
    }
}

/// Rule 7: one request id is one payload.
async fn other_payload(me: &Caller, mut request: v1::AskRequest) {
    request.context = "something else".into();
    let known = insist(|| me.client.ask(request.clone())).await;
    let fine = known.as_ref().is_err_and(|error| error.is(Reason::RequestIdReused));
    me.world.book().check("rule_07_idempotent_by_request_id", fine, || {
        format!("{} was taken with another payload: {known:?}", request.request_id)
    });
}

/// Rule 13: the same content in the same work is the same ask.
async fn the_same_again(me: &Caller, mut request: v1::AskRequest, ask: &v1::Ask) {
    request.request_id.push_str(" again");
    let Ok(receipt) = me.ask(request).await else { return };
    let mut book = me.world.book();
    // It matches until the asker has the outcome, and not where the asker took it back.
    if !book.asks.get(&ask.id).is_some_and(|noted| noted.is_settled()) {
        let same = receipt.ask.as_ref().is_some_and(|again| again.id == ask.id);
        book.check("rule_13_same_question_same_ask", same && receipt.replayed, || {
            format!("{} was filed twice: {receipt:?}", ask.id)
        });
    }
}

/// Rule 5: an asker may see its ask, and not answer it.
async fn not_mine(me: &Caller, ask: &v1::Ask, request_id: String) {
    let request = v1::AnswerAgentRequest {
        request_id: format!("{request_id} mine"),
        ask_id: ask.id.clone(),
        content_digest: ask.content_digest.clone(),
        answers: answers(ask, "Yes"),
    };
    let Ok(receipt) = me.answer_agent(request).await else { return };
    let fine = receipt.result() != v1::Result::Accepted;
    me.world.book().check("rule_05_only_whom_it_waits_on", fine, || {
        format!("{} was answered by its asker", ask.id)
    });
}

/// Takes what is delivered, in its order, and acknowledges it, sooner or later.
async fn deliveries(me: Caller, mut dice: Dice) {
    let mut watch = me.client.watch_deliveries();
    loop {
        let next = tokio::time::timeout(Duration::from_secs(20), watch.next()).await;
        let delivery = match next {
            Ok(Some(Ok(delivery))) => delivery,
            Ok(Some(Err(_)) | None) => return,
            Err(_) if me.world.phase() == Phase::Over => return,
            Err(_) => continue,
        };
        given(&me, &delivery);
        if dice.one_in(6) {
            // It forgets what it was given: it must be offered again.
            watch = me.client.watch_deliveries();
            pass_up_to(&mut dice, 3_000).await;
            continue;
        }
        pass_up_to(&mut dice, 3_000).await;
        let delivery_id = delivery.id.clone();
        if delivery.turn.is_some() && dice.one_in(2) {
            let (ask_id, text) =
                (delivery.ask.map(|ask| ask.id).unwrap_or_default(), "well".into());
            let request_id = format!("reply {delivery_id}");
            let replaced = if dice.one_in(2) { other_words(&delivery_id) } else { Vec::new() };
            let _ = me.reply(v1::ReplyRequest { request_id, ask_id, text, replaced }).await;
        }
        let request_id = format!("ack {delivery_id}");
        let lease_token = String::new();
        let request = v1::AcknowledgeDeliveryRequest { request_id, delivery_id, lease_token };
        let _ = me.acknowledge_delivery(request).await;
    }
}

/// The first question's options, and one more that is new: other words, so another digest.
fn other_words(label: &str) -> Vec<v1::ReplacedOptions> {
    let labels = ["Yes", "No", label];
    let option = |label: &str| v1::Option { label: label.into(), ..Default::default() };
    let options = labels.into_iter().map(option).collect();
    vec![v1::ReplacedOptions { question_id: "q1".into(), options }]
}

/// Rule 11: the same id each time, and turns before the outcome.
fn given(me: &Caller, delivery: &v1::Delivery) {
    let Some(ask) = &delivery.ask else { return };
    let mut book = me.world.book();
    book.trace(&format!("given {} {}", me.name, delivery.id));
    book.shown(ask);
    let noted = book.asks.entry(ask.id.clone()).or_default();
    let before = noted.delivered.insert(delivery.revision, delivery.id.clone());
    let same = before.as_ref().is_none_or(|before| *before == delivery.id);
    let given = &noted.delivered;
    let turns = ask.turns.iter().filter(|turn| turn.unread && turn.revision < delivery.revision);
    let missed = turns.map(|turn| turn.revision).find(|revision| !given.contains_key(revision));
    book.counts.delivered += u64::from(before.is_none());
    book.check("rule_11_delivered_means_acknowledged", same, || format!("{before:?} is another"));
    book.check("rule_11_delivered_means_acknowledged", missed.is_none(), || {
        format!("{} came before turn {missed:?}", delivery.id)
    });
}

/// Rule 15: what is foreign is answered as what is not there.
async fn meddler(me: Caller, mut dice: Dice) {
    while me.world.phase() == Phase::Storm {
        pass_up_to(&mut dice, 40_000).await;
        let ids: Vec<String> = me.world.book().asks.keys().cloned().collect();
        if ids.is_empty() {
            continue;
        }
        let id = dice.pick(&ids).clone();
        let nobodys = format!("{}00000000", &id[..id.len() - 8]);
        let say = |ask_id: &str| v1::EscalateRequest {
            request_id: format!("meddle {}", ask_id),
            ask_id: ask_id.into(),
            ..Default::default()
        };
        let read = [
            insist(|| me.client.get_ask(&id)).await.err(),
            insist(|| me.client.get_ask(&nobodys)).await.err(),
        ];
        let write = [
            insist(|| me.client.escalate(say(&id))).await.err(),
            insist(|| me.client.escalate(say(&nobodys))).await.err(),
        ];
        let mut book = me.world.book();
        book.counts.refused += 2;
        for [foreign, none] in [read, write] {
            let words = |error: Option<ClientError>| {
                error.map(|e| {
                    (e.code, e.reason, e.message.replace(&id, "ID").replace(&nobodys, "ID"))
                })
            };
            let (foreign, none) = (words(foreign), words(none));
            let fine = foreign == none && foreign.as_ref().is_some_and(|e| e.0 == Code::NotFound);
            book.check("rule_15_foreign_is_unknown", fine, || format!("{foreign:?}, {none:?}"));
        }
    }
}
