//! A store of one's own: it keeps everything in memory, tells each commit, and is held to the laws
//! that every store must keep.
//!
//! `cargo run --example own_store`

use askway::ask::{Ask, AskId, Event, SessionId, Timestamp};
use askway::session::Session;
use askway::store::mem::Mem;
use askway::store::snapshot::Snapshot;
use askway::store::{
    Batch, Committed, Due, Fault, Key, Listed, Listing, ReceiptKey, Record, Scope,
};
use askway::store::{SessionScope, Store, StoredReceipt, suite};
use async_trait::async_trait;
use std::sync::Arc;

#[derive(Default)]
struct Telling(Mem);

#[async_trait]
impl Store for Telling {
    async fn load(&self, keys: &[Key]) -> Result<Vec<Option<Record>>, Fault> {
        self.0.load(keys).await
    }
    async fn commit(&self, batch: Batch) -> Result<Vec<Committed>, Fault> {
        let events = batch.changes.iter().map(|change| change.events.len()).sum::<usize>();
        let committed = self.0.commit(batch).await?;
        println!("{events} events: {committed:?}");
        Ok(committed)
    }
    async fn history(&self, ask: AskId, after: u64, max: usize) -> Result<Vec<Event>, Fault> {
        self.0.history(ask, after, max).await
    }
    async fn list(&self, of: &Scope, after: Option<AskId>, max: usize) -> Result<Listing, Fault> {
        self.0.list(of, after, max).await
    }
    async fn sessions(
        &self,
        of: &SessionScope,
        at: Option<SessionId>,
        n: usize,
    ) -> Listed<Session> {
        self.0.sessions(of, at, n).await
    }
    async fn asks(&self, after: Option<AskId>, max: usize) -> Listed<Ask> {
        self.0.asks(after, max).await
    }
    async fn receipts(&self, after: Option<&ReceiptKey>, max: usize) -> Listed<StoredReceipt> {
        self.0.receipts(after, max).await
    }
    async fn deadlines(&self, t: Timestamp, max: usize) -> Result<Vec<(Timestamp, Due)>, Fault> {
        self.0.deadlines(t, max).await
    }
    async fn notices(
        &self,
        until: Timestamp,
        limit: usize,
    ) -> Result<Vec<(Timestamp, AskId)>, Fault> {
        self.0.notices(until, limit).await
    }

    async fn snapshot(&self) -> Result<Box<dyn Snapshot>, Fault> {
        self.0.snapshot().await
    }

    fn incarnation(&self) -> String {
        self.0.incarnation()
    }

    async fn resolve(&self, prefix: &str, max: usize) -> Result<Vec<AskId>, Fault> {
        self.0.resolve(prefix, max).await
    }
}

#[tokio::main]
async fn main() {
    suite::all(|| async { Arc::new(Telling::default()) as Arc<dyn Store> }).await;
    println!("It keeps every law.");
}
