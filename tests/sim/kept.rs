//! The file store as the simulation sees it: slow, noting what it commits, and silent for ever once
//! the power has failed.

use super::world::{World, pass};
use askway::ask::{Ask, AskId, Event, SessionId, Timestamp};
use askway::session::Session;
use askway::store::redb::Redb;
use askway::store::snapshot::Snapshot;
use askway::store::suite::Dice;
use askway::store::{
    Batch, Committed, Due, Fault, Key, Listed, Listing, ReceiptKey, Record, Scope, SessionScope,
    Store, StoredReceipt,
};
use async_trait::async_trait;
use std::future::pending;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A failed file is not opened again beside the daemon: the power is gone, and with it the daemon.
const NEVER: Duration = Duration::from_secs(1_000_000);

/// The longest a sync takes, in milliseconds, before it is done and after.
const SYNC: u64 = 12;

/// The store of one start of the daemon.
pub struct Kept {
    inner: Redb,
    world: Arc<World>,
    life: u64,
    dice: Mutex<Dice>,
}

impl Kept {
    /// Opens what is on the disk. Where the power fails meanwhile it never returns.
    pub async fn open(world: Arc<World>) -> Arc<Self> {
        let (disk, life) = (world.disk.clone(), world.disk.life());
        let off = || Fault::Unavailable("the power failed".into());
        let opened = Redb::with_backend(move || disk.handle(life).ok_or_else(off), NEVER);
        let inner = match opened {
            Ok(inner) => inner,
            Err(_) if !world.disk.is_alive(life) => pending().await,
            Err(fault) => {
                world.book().broken("rule_01_durable_first", &format!("it does not open: {fault}"));
                pending().await
            }
        };
        let dice = Mutex::new(Dice::new(world.seed ^ life));
        let kept = Arc::new(Self { inner, world, life, dice });
        kept.look_back().await;
        kept
    }

    /// Whatever was committed is there after a cut; what was not acknowledged may be.
    async fn look_back(&self) {
        let mut after = None;
        loop {
            let asks = self.awake(self.inner.asks(after, 256).await).await;
            let asks = asks.expect("what was opened is read");
            let Some(last) = asks.last() else { break };
            after = Some(last.id);
            for ask in asks {
                let history = self.inner.history(ask.id, 0, usize::MAX).await;
                let history = self.awake(history).await.expect("what was opened is read");
                self.world.book().found(&ask, &history, self.world.clocks.passed());
            }
        }
        self.world.book().all_found();
    }

    /// The result, where there is still power; else nothing ever.
    async fn awake<T>(&self, result: T) -> T {
        match self.world.disk.is_alive(self.life) {
            true => result,
            false => pending().await,
        }
    }

    fn roll(&self, sides: u64) -> u64 {
        self.dice.lock().expect("nobody panics with the dice in hand").roll(sides)
    }
}

#[async_trait]
impl Store for Kept {
    async fn load(&self, keys: &[Key]) -> Result<Vec<Option<Record>>, Fault> {
        self.awake(self.inner.load(keys).await).await
    }

    async fn commit(&self, batch: Batch) -> Result<Vec<Committed>, Fault> {
        pass(Duration::from_millis(self.roll(SYNC))).await;
        let committed = self.inner.commit(batch.clone()).await;
        let committed = self.awake(committed).await;
        if let Ok(outcomes) = &committed {
            let passed = self.world.clocks.passed();
            self.world.book().committed(&batch, outcomes, passed);
        }
        pass(Duration::from_millis(self.roll(SYNC))).await;
        self.awake(committed).await
    }

    async fn history(&self, ask: AskId, after: u64, limit: usize) -> Result<Vec<Event>, Fault> {
        self.awake(self.inner.history(ask, after, limit).await).await
    }

    async fn list(
        &self,
        scope: &Scope,
        after: Option<AskId>,
        limit: usize,
    ) -> Result<Listing, Fault> {
        self.awake(self.inner.list(scope, after, limit).await).await
    }

    async fn sessions(
        &self,
        scope: &SessionScope,
        after: Option<SessionId>,
        limit: usize,
    ) -> Listed<Session> {
        self.awake(self.inner.sessions(scope, after, limit).await).await
    }

    async fn asks(&self, after: Option<AskId>, limit: usize) -> Listed<Ask> {
        self.awake(self.inner.asks(after, limit).await).await
    }

    async fn receipts(&self, after: Option<&ReceiptKey>, limit: usize) -> Listed<StoredReceipt> {
        self.awake(self.inner.receipts(after, limit).await).await
    }

    async fn deadlines(
        &self,
        until: Timestamp,
        limit: usize,
    ) -> Result<Vec<(Timestamp, Due)>, Fault> {
        self.awake(self.inner.deadlines(until, limit).await).await
    }

    async fn notices(
        &self,
        until: Timestamp,
        limit: usize,
    ) -> Result<Vec<(Timestamp, AskId)>, Fault> {
        self.awake(self.inner.notices(until, limit).await).await
    }

    async fn snapshot(&self) -> Result<Box<dyn Snapshot>, Fault> {
        self.awake(self.inner.snapshot().await).await
    }

    fn incarnation(&self) -> String {
        self.inner.incarnation()
    }

    async fn resolve(&self, prefix: &str, limit: usize) -> Result<Vec<AskId>, Fault> {
        self.awake(self.inner.resolve(prefix, limit).await).await
    }
}
