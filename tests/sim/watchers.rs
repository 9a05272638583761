//! Those who watch an ask from its filing to its end, drop, and resume at the revision they know.

use super::people::spelled;
use super::world::{Phase, World, pass, pass_up_to};
use askway::client::{Client, Watched};
use askway::grpc::v1;
use askway::store::suite::Dice;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_stream::StreamExt;

/// What is to be watched, and after which revision.
#[derive(Clone, Default)]
pub struct Watches(Arc<Mutex<Vec<Wanted>>>);

struct Wanted {
    id: String,
    after: Option<u64>,
}

impl Watches {
    /// Another ask is watched; from its beginning, or as it is by then.
    pub fn add(&self, ask: &v1::Ask, late: bool) {
        let after = (!late).then_some(ask.revision);
        let wanted = Wanted { id: ask.id.clone(), after };
        self.0.lock().expect("nobody panics with the watches in hand").push(wanted);
    }

    fn take(&self) -> Vec<Wanted> {
        std::mem::take(&mut *self.0.lock().expect("nobody panics with the watches in hand"))
    }
}

/// All watchers, until all is over.
pub async fn live(world: Arc<World>, watches: Watches, owner: Client) -> turmoil::Result {
    let (mut all, mut number) = (JoinSet::new(), 0);
    while world.phase() < Phase::Audit || !all.is_empty() {
        for wanted in watches.take() {
            number += 1;
            let dice = world.dice(1_000 + number);
            all.spawn(watch(world.clone(), owner.clone(), wanted.id, wanted.after, dice));
        }
        while let Some(ended) = all.try_join_next() {
            ended?;
        }
        world.book().watching = all.len();
        if world.phase() == Phase::Over {
            world.book().broken("rule_08_watchers_miss_nothing", "a watch does not end");
            break;
        }
        pass(Duration::from_millis(500)).await;
    }
    while world.phase() != Phase::Over {
        pass(Duration::from_millis(500)).await;
    }
    Ok(())
}

const CHECK: &str = "rule_08_watchers_miss_nothing";

/// Rule 8: every event once, in order, over whatever is cut; then the end, and not before it is settled.
async fn watch(world: Arc<World>, client: Client, id: String, from: Option<u64>, mut dice: Dice) {
    let mut after = from;
    loop {
        let mut watch = client.watch_ask(&id, after);
        let patience = Duration::from_millis(2_000 + dice.roll(120_000));
        let read = async {
            while let Some(item) = watch.next().await {
                match item {
                    Ok(Watched::Ask(ask)) => {
                        let wanted = after.is_none();
                        after = Some(ask.revision);
                        let mut book = world.book();
                        book.shown(&ask);
                        book.check(CHECK, wanted, || format!("{id} began anew"));
                    }
                    Ok(Watched::Event(event)) => {
                        saw(&world, &id, after, &event);
                        after = Some(event.revision);
                    }
                    Ok(Watched::Reconnecting) => world.book().counts.resumed += 1,
                    Ok(Watched::Stale | Watched::Current) => {}
                    Ok(Watched::End) => return true,
                    Err(error) => {
                        world.book().broken(CHECK, &format!("{id}: {error:?}"));
                        return true;
                    }
                }
            }
            false
        };
        match timeout(patience, read).await {
            Ok(true) => break,
            Ok(false) => world.book().broken(CHECK, &format!("{id}: a watch without its end")),
            Err(_) => world.book().counts.resumed += 1,
        }
        drop(watch);
        pass_up_to(&mut dice, 10_000).await;
    }
    let mut book = world.book();
    let settled = book.asks.get(&id).is_some_and(|noted| {
        let at = noted.events.iter().find(|(event, _)| event.kind.settles());
        at.is_some_and(|(event, _)| after >= Some(event.revision))
    });
    book.check(CHECK, settled, || format!("the watch of {id} ended at {after:?}"));
}

fn saw(world: &World, id: &str, after: Option<u64>, event: &v1::Event) {
    let mut book = world.book();
    book.counts.events += 1;
    let (revision, kind) = (event.revision, event.kind().as_str_name());
    let by = event.by.as_ref().map(spelled).unwrap_or_default();
    book.trace(&format!("saw {id} {revision} {kind} {by}"));
    let next = after.is_some_and(|after| revision == after + 1);
    book.check(CHECK, next, || format!("{id}: {revision} after {after:?}"));
    let durable = book.asks.get(id).is_some_and(|noted| noted.events.len() as u64 >= revision);
    book.check("rule_01_durable_first", durable, || format!("{id}: {revision} is not on disk"));
}
