//! Whoever waits for an ask: at any replica, at another whenever that one is gone or the dice say so, from the
//! revision they have seen.

use super::callers::Fleet;
use super::world::millis;
use askway::ask::AskId;
use askway::error::Error;
use askway::service::{Caller, WatchMessage};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;
use tokio_stream::StreamExt;

const CHECK: &str = "rule_08_watchers_miss_nothing";
/// A stream says something every 25 seconds; after so many more, which a look may take that stalls and fails,
/// nobody is at its other end.
const SAYS_WITHIN: Duration = Duration::from_secs(40);

/// The last revision that was seen by who watches from `after` to the end.
pub async fn watch(fleet: Arc<Fleet>, caller: Caller, id: AskId, after: u64) -> u64 {
    fleet.world.state().waits(1);
    let seen = until_the_end(&fleet, &caller, id, after).await;
    fleet.world.state().waits(-1);
    seen
}

async fn until_the_end(fleet: &Fleet, caller: &Caller, id: AskId, mut after: u64) -> u64 {
    let world = &fleet.world;
    loop {
        let service = fleet.any();
        let opened = timeout(SAYS_WITHIN, service.watch_ask(caller, id, Some(after))).await;
        let mut watch = match opened {
            Ok(Ok(watch)) => watch,
            Ok(Err(Error::Unavailable(..) | Error::Busy(_))) | Err(_) => {
                millis(50 + world.roll(1_000)).await;
                continue;
            }
            Ok(Err(error)) => {
                world.broken(CHECK, &format!("{id}: {error:?}"));
                return after;
            }
        };
        loop {
            match timeout(SAYS_WITHIN, watch.next()).await {
                Ok(Some(Ok(WatchMessage::Ask(ask)))) if ask.revision == after => {}
                Ok(Some(Ok(WatchMessage::Event(event, ask)))) => {
                    if event.revision != after + 1 || ask.revision != event.revision {
                        world.broken(CHECK, &format!("{id}: {} after {after}", event.revision));
                    }
                    after = event.revision;
                    world.state().count("seen");
                }
                Ok(Some(Ok(WatchMessage::Idle { stale, revision }))) => {
                    if stale {
                        world.state().count("stale");
                    }
                    if revision != after {
                        world.broken(CHECK, &format!("{id}: idle at {revision}, not {after}"));
                    }
                }
                Ok(Some(Ok(WatchMessage::End(revision)))) => {
                    if revision != after {
                        world.broken(CHECK, &format!("{id}: the end at {revision}, not {after}"));
                    }
                    return after;
                }
                Ok(Some(Err(Error::Unavailable(..)))) => break,
                said => {
                    world.broken(CHECK, &format!("{id}: {said:?} after {after}"));
                    return after;
                }
            }
            if world.roll(16) == 0 {
                break;
            }
        }
        world.state().count("resumed");
        drop(watch);
        millis(1 + world.roll(2_000)).await;
    }
}
