//! What must be true of an ask, and of all of them, when all is over.

use super::callers::LABELS;
use super::run::{Lived, Racer};
use super::world::World;
use askway::ask::{Delivery, Ending, EventKind, State, fold};
use askway::store::Store;

/// Everything that was acknowledged is there, was done once, and is told alike by the history and the record.
pub async fn all(world: &World, lives: &[Lived]) {
    let asks = world.mem.asks(None, usize::MAX).await.unwrap();
    if asks.len() != lives.len() {
        let (there, filed) = (asks.len(), lives.len());
        world.broken("rule_07", &format!("{there} asks of {filed} that were filed"));
    }
    for lived in lives {
        one(world, lived).await;
    }
}

async fn one(world: &World, lived: &Lived) {
    let id = lived.id;
    let events = world.mem.history(id, 0, usize::MAX).await.unwrap();
    let Some(ask) = fold(&events) else {
        return world.broken("rule_01", &format!("{id} is not there"));
    };
    let revisions: Vec<u64> = events.iter().map(|event| event.revision).collect();
    if !revisions.iter().copied().eq(1..=revisions.len() as u64) {
        world.broken("rule_08", &format!("{id}: {revisions:?}"));
    }
    let count = |is: fn(&EventKind) -> bool| events.iter().filter(|event| is(&event.kind)).count();
    let said = count(|kind| matches!(kind, EventKind::Said { .. }));
    if said != lived.said {
        world.broken("rule_07", &format!("{id}: {} turns are {said}", lived.said));
    }
    if count(EventKind::settles) != 1 {
        world.broken("rule_02", &format!("{id}: {events:?}"));
    }
    let State::Settled { .. } = &ask.state else {
        return world.broken("rule_02", &format!("{id} is open: {:?}", ask.state));
    };
    let ending = &ask.outcome().expect("it is settled").ending;
    let is_its = match (&lived.winner, ending) {
        (Racer::Owner(label) | Racer::Lead(label), Ending::Answered(answers)) => {
            answers["q1"].selected == [LABELS[*label]]
        }
        (Racer::Decline, Ending::Declined) | (Racer::Withdraw, Ending::Withdrawn) => true,
        _ => false,
    };
    if !is_its {
        world
            .broken("rule_02", &format!("{id}: {:?} was told, and it is {ending:?}", lived.winner));
    }
    let acknowledged = matches!(ask.delivery(), Some(Delivery::Acknowledged(_)));
    if lived.acknowledged && !acknowledged {
        world.broken("rule_11", &format!("{id}: {:?}", ask.delivery()));
    }
    // Whoever watched has seen all until it was settled.
    let settled = events.iter().find(|event| event.kind.settles()).map(|event| event.revision);
    if let Some(early) = lived.watched.iter().find(|seen| Some(**seen) < settled) {
        world.broken("rule_08", &format!("{id} ended for somebody at {early}"));
    }
}
