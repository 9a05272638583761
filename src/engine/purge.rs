//! Receipts that have been kept long enough: a slow walk through all of them, again and again. Asks
//! have deadlines for that; a receipt is too small to have one. Of those who share a store one walks.

use super::Engine;
use super::request::Deed;
use crate::ask::Span;
use crate::error::Error;
use crate::store::share::bucket_of_name;
use futures_util::future::join_all;
use std::time::Duration;

/// How long after the end of one walk the next begins: what is forgotten an hour late costs nothing.
const EVERY: Span = Span::from_hours(1);
/// Receipts looked at in one step.
const AT_ONCE: usize = 256;
/// How long the disk is left alone between two steps: a million receipts take some minutes.
const BETWEEN: Duration = Duration::from_millis(50);

/// The name of the walk: whose bucket it is in, walks.
const WALK: &str = "receipts";

/// Runs for ever.
pub(super) async fn run(engine: &Engine) {
    loop {
        let is_own = engine.shared.shares.due().has(bucket_of_name(WALK));
        if is_own && let Err(error) = walk(engine).await {
            tracing::warn!(%error, "old receipts were not all removed");
        }
        engine.shared.clock.wait_until(engine.now() + EVERY).await;
    }
}

async fn walk(engine: &Engine) -> Result<(), Error> {
    let mut after = None;
    loop {
        let receipts = engine.store().receipts(after.as_ref(), AT_ONCE).await?;
        let Some(last) = receipts.last() else { return Ok(()) };
        after = Some(last.key.clone());
        let now = engine.now();
        let old = receipts
            .iter()
            .filter(|receipt| receipt.key.request.remembered_until(receipt.time) <= now);
        let forget = old.map(|receipt| engine.submit_own(Deed::Forget(receipt.key.clone())));
        for reply in join_all(forget).await {
            reply?;
        }
        if receipts.len() < AT_ONCE {
            return Ok(());
        }
        tokio::time::sleep(BETWEEN).await;
    }
}
