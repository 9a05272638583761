//! The end of a run: everything is settled, delivered and read once more.

use super::calls::Caller;
use super::world::{Phase, insist, pass};
use askway::grpc::v1;
use std::time::Duration;

/// How often it is looked whether everything has reached everybody, a second apart.
const LOOKS: u32 = 900;

/// Waits until nothing fails any more, then settles what is open, and reads all.
pub async fn audit(owner: Caller) {
    let world = owner.world.clone();
    while world.phase() == Phase::Storm {
        pass(Duration::from_secs(1)).await;
    }
    for look in 0..LOOKS {
        settle(&owner, look).await;
        if look > 60 && is_quiet(&owner).await {
            break;
        }
        pass(Duration::from_secs(1)).await;
    }
    world.enter(Phase::Audit);
    let ids: Vec<String> = world.book().asks.keys().cloned().collect();
    for id in ids {
        let ask = insist(|| owner.client.get_ask(&id)).await.ok().and_then(|found| found.ask);
        let events = insist(|| owner.client.list_events(&id)).await.ok();
        let noted = &mut world.book().asks;
        noted.entry(id).or_default().last = ask.zip(events);
    }
    for _ in 0..LOOKS {
        if world.book().watching == 0 {
            break;
        }
        pass(Duration::from_secs(1)).await;
    }
    world.enter(Phase::Over);
}

/// Declines whatever is open.
async fn settle(owner: &Caller, look: u32) {
    let asks = insist(|| owner.client.list_asks(v1::AskScope::Visible)).await.unwrap_or_default();
    for ask in asks.into_iter().filter(|ask| ask.state() == v1::AskState::Open) {
        let request = v1::DeclineRequest {
            request_id: format!("settle {} {look}", ask.id),
            ask_id: ask.id,
            content_digest: ask.content_digest,
            note: None,
        };
        let _ = owner.decline(request).await;
    }
}

/// Whether every ask is settled, and every outcome has reached its asker, or cannot.
async fn is_quiet(owner: &Caller) -> bool {
    let ids: Vec<String> = owner.world.book().asks.keys().cloned().collect();
    for id in ids.iter().rev() {
        let found = insist(|| owner.client.get_ask(id)).await;
        let Some(ask) = found.ok().and_then(|found| found.ask) else { return true };
        let delivery = ask.delivery.as_ref().map(v1::DeliveryStatus::state);
        if delivery.is_none_or(|state| state == v1::DeliveryState::Unread) {
            return false;
        }
    }
    true
}
