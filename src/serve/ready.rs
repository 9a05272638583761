//! Whether the store answers: looked at every second, for whoever asks where calls may be sent
//! (`grpc.health.v1`). Streams that are open are none of its business.

use crate::store::{Key, Store};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

/// How often it is looked at.
const LOOK: Duration = Duration::from_secs(1);
/// A store that takes longer than this for one record is away: nobody waits longer for a call.
const WITHIN: Duration = Duration::from_secs(5);

/// Looks for ever, and says to `ready` what it finds.
pub async fn follow(store: &dyn Store, ready: &watch::Sender<bool>) {
    loop {
        let found = timeout(WITHIN, store.load(&[Key::Clock])).await;
        let why = match found {
            Ok(Ok(_)) => None,
            Ok(Err(fault)) => Some(fault.to_string()),
            Err(_) => Some("the store says nothing".to_owned()),
        };
        let is_ready = why.is_none();
        if ready.send_if_modified(|was| std::mem::replace(was, is_ready) != is_ready) {
            match why {
                Some(why) => tracing::warn!(%why, "not ready: calls are to be sent elsewhere"),
                None => tracing::info!("ready again"),
            }
        }
        sleep(LOOK).await;
    }
}
