//! One replica's way to the store that all share. Anything may be slow on it, or fail; what becomes of a commit
//! may not be known; nothing gets through for a while, or for good.

use super::world::{Ear, Replica, World, millis, pass};
use askway::ask::{Ask, AskId, Event, SessionId, Timestamp};
use askway::engine::clock::{Reading, Source};
use askway::session::Session;
use askway::store::share::{Attached, Here, Present, Share, bucket_of};
use askway::store::snapshot::Snapshot;
use askway::store::{
    Batch, Committed, Due, Fault, Heard, Key, Listing, ReceiptKey, Record, Scope, SessionScope,
    Store, StoredReceipt,
};
use async_trait::async_trait;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::timeout;

/// After so long without a word a way is given up.
const SILENT_AFTER: Duration = Duration::from_secs(5);
/// A stall is shorter than this, in milliseconds.
pub const STALL: u64 = 4_000;

/// A way to the store.
pub struct Way {
    world: Arc<World>,
    name: String,
    ear: Arc<Ear>,
    /// Nothing gets through.
    parted: watch::Sender<bool>,
}

impl Way {
    pub fn new(world: &Arc<World>, name: String) -> Arc<Self> {
        let ear = Arc::new(Ear::default());
        ear.missed();
        let replica = Replica { ear: ear.clone(), ..Replica::default() };
        world.state().replicas.insert(name.clone(), replica);
        Arc::new(Self { world: world.clone(), name, ear, parted: watch::Sender::new(false) })
    }

    /// Nothing gets through from now on; what was under way comes to whatever it comes to.
    pub fn part(&self) {
        self.parted.send_replace(true);
    }

    pub fn heal(&self) {
        self.parted.send_replace(false);
        self.ear.missed();
    }

    /// Nobody is at its end any more.
    pub fn dies(&self) {
        self.part();
        if let Some(replica) = self.world.state().replicas.get_mut(&self.name) {
            replica.ear = Arc::default();
        }
    }

    fn is_parted(&self) -> bool {
        *self.parted.borrow()
    }

    /// To the store, or back.
    async fn reach(&self) -> Result<(), Fault> {
        let (wait, fails) = {
            let mut state = self.world.state();
            let wait = match state.fails(250) {
                true => {
                    state.count("stalls");
                    state.dice.roll(STALL)
                }
                false => state.dice.roll(3),
            };
            (wait, state.fails(200))
        };
        if wait > 0 {
            millis(wait).await;
        }
        if self.is_parted() {
            let mut parted = self.parted.subscribe();
            let healed = timeout(SILENT_AFTER, parted.wait_for(|parted| !parted)).await;
            healed.map_err(|_| self.away("the store is silent"))?.expect("it is in here");
        }
        if fails { Err(self.away("a connection ended")) } else { Ok(()) }
    }

    fn away(&self, why: &str) -> Fault {
        self.world.state().count("faults");
        Fault::Unavailable(why.to_owned())
    }
}

/// How a commit goes.
enum Fate {
    Well,
    /// Others are in its way.
    Conflict,
    /// It is not known; and it was not kept.
    Lost,
    /// It is not known; and it was kept, at once or so much later.
    Kept(u64),
}

#[async_trait]
impl Store for Way {
    async fn load(&self, keys: &[Key]) -> Result<Vec<Option<Record>>, Fault> {
        self.reach().await?;
        self.world.mem.load(keys).await
    }

    async fn commit(&self, batch: Batch) -> Result<Vec<Committed>, Fault> {
        self.reach().await?;
        let fate = {
            let mut state = self.world.state();
            state.count("commits");
            match () {
                () if state.fails(20) => {
                    state.count("unknown");
                    match state.dice.roll(3) {
                        0 => Fate::Lost,
                        1 => Fate::Kept(0),
                        _ => Fate::Kept(state.dice.roll(STALL)),
                    }
                }
                () if state.fails(10) => Fate::Conflict,
                () => Fate::Well,
            }
        };
        match fate {
            Fate::Well => {
                let became = self.world.apply(batch);
                self.reach().await?;
                Ok(became)
            }
            Fate::Conflict => {
                self.world.state().count("conflicts");
                Ok(vec![Committed::Conflict; batch.changes.len()])
            }
            Fate::Lost => Err(self.away("a connection ended in a commit")),
            Fate::Kept(later) => {
                let world = self.world.clone();
                tokio::spawn(async move {
                    millis(later).await;
                    world.apply(batch);
                });
                millis(1).await;
                Err(self.away("a connection ended in a commit"))
            }
        }
    }

    async fn history(&self, ask: AskId, after: u64, limit: usize) -> Result<Vec<Event>, Fault> {
        self.reach().await?;
        self.world.mem.history(ask, after, limit).await
    }

    async fn list(&self, of: &Scope, after: Option<AskId>, max: usize) -> Result<Listing, Fault> {
        self.reach().await?;
        self.world.mem.list(of, after, max).await
    }

    async fn sessions(
        &self,
        scope: &SessionScope,
        after: Option<SessionId>,
        limit: usize,
    ) -> Result<Vec<Arc<Session>>, Fault> {
        self.reach().await?;
        self.world.mem.sessions(scope, after, limit).await
    }

    async fn asks(&self, after: Option<AskId>, limit: usize) -> Result<Vec<Arc<Ask>>, Fault> {
        self.reach().await?;
        self.world.mem.asks(after, limit).await
    }

    async fn receipts(
        &self,
        after: Option<&ReceiptKey>,
        limit: usize,
    ) -> Result<Vec<Arc<StoredReceipt>>, Fault> {
        self.reach().await?;
        self.world.mem.receipts(after, limit).await
    }

    async fn deadlines(
        &self,
        until: Timestamp,
        limit: usize,
    ) -> Result<Vec<(Timestamp, Due)>, Fault> {
        self.reach().await?;
        self.world.mem.deadlines(until, limit).await
    }

    async fn shared_deadlines(
        &self,
        until: Timestamp,
        share: &Share,
        others_until: Timestamp,
        limit: usize,
    ) -> Result<Vec<(Timestamp, Due)>, Fault> {
        self.reach().await?;
        let mut looked = limit * 8;
        loop {
            let mut due = self.world.mem.deadlines(until, looked).await?;
            let is_all = due.len() < looked;
            due.retain(|(time, due)| *time <= others_until || share.has(due.bucket()));
            if is_all || due.len() >= limit {
                due.truncate(limit);
                return Ok(due);
            }
            looked *= 4;
        }
    }

    async fn notices(
        &self,
        until: Timestamp,
        limit: usize,
    ) -> Result<Vec<(Timestamp, AskId)>, Fault> {
        self.reach().await?;
        self.world.mem.notices(until, limit).await
    }

    async fn snapshot(&self) -> Result<Box<dyn Snapshot>, Fault> {
        self.reach().await?;
        self.world.mem.snapshot().await
    }

    fn incarnation(&self) -> String {
        self.world.mem.incarnation()
    }

    async fn resolve(&self, prefix: &str, limit: usize) -> Result<Vec<AskId>, Fault> {
        self.reach().await?;
        self.world.mem.resolve(prefix, limit).await
    }

    async fn time(&self) -> Result<Option<Timestamp>, Fault> {
        self.reach().await?;
        Ok(Some(self.world.now()))
    }

    async fn present(&self, here: &Here) -> Result<Option<Present>, Fault> {
        self.reach().await?;
        let (now, mut state) = (self.world.now(), self.world.state());
        let me = state.replicas.get_mut(&self.name).expect("it is known");
        (me.seen, me.carries) = (Some(now), here.carries);
        if here.whole {
            me.attached.clear();
        }
        me.attached.retain(|one| !here.left.contains(one));
        me.attached.extend(here.came.iter().cloned());
        let mut present =
            Present { me: self.name.clone(), written: me.attached.len(), ..Present::default() };
        present.all = state.present(now).map(|(name, of)| (name.clone(), of.carries)).collect();
        Ok(Some(present))
    }

    async fn unheld(&self, share: &Share) -> Result<Vec<SessionId>, Fault> {
        self.reach().await?;
        let held = self.world.mem.sessions(&SessionScope::Held, None, usize::MAX).await?;
        let (now, state) = (self.world.now(), self.world.state());
        let is_held = |id: SessionId| {
            state.present(now).any(|(_, of)| of.attached.contains(&Attached::Session(id)))
        };
        let ids = held.iter().map(|session| session.id);
        Ok(ids.filter(|id| share.has(bucket_of(id.to_bytes())) && !is_held(*id)).collect())
    }

    async fn is_attached(&self, one: &Attached) -> Result<bool, Fault> {
        self.reach().await?;
        let (now, state) = (self.world.now(), self.world.state());
        Ok(state.present(now).any(|(_, of)| of.attached.contains(one)))
    }

    async fn leave(&self) {
        if self.reach().await.is_ok() {
            self.world.state().replicas.remove(&self.name);
        }
    }

    fn tell(&self, hints: &mut dyn Iterator<Item = u64>) {
        let hints: Arc<[u64]> = hints.collect();
        if hints.is_empty() || self.is_parted() {
            return;
        }
        let mut state = self.world.state();
        let others = state.replicas.iter().filter(|(name, _)| **name != self.name);
        let ears: Vec<_> = others.map(|(_, replica)| replica.ear.clone()).collect();
        for ear in ears {
            if state.fails(10) {
                state.count("hints_lost");
                continue;
            }
            let mut wait = 10;
            if state.fails(10) {
                state.count("hints_late");
                wait += state.dice.roll(STALL);
            }
            let hints = hints.clone();
            tokio::spawn(async move {
                millis(wait).await;
                ear.tell(&hints);
            });
        }
    }

    async fn heard(&self) -> Heard {
        let heard = self.ear.hears().await;
        // What comes while nothing gets through is lost, and known to be when something does.
        let mut parted = self.parted.subscribe();
        if *parted.borrow_and_update() {
            let _ = parted.wait_for(|parted| !parted).await;
            return Heard::Everything;
        }
        heard
    }
}

/// The clocks of a replica's machine, which are off by some hours: the store's time is what counts.
pub struct Clocks {
    pub world: Arc<World>,
    pub hours: u64,
}

#[async_trait]
impl Source for Clocks {
    fn read(&self) -> Reading {
        let passed = self.world.passed();
        let wall = 1_000_000_000_000 + self.hours * 3_600_000 + passed;
        Reading {
            wall: Timestamp::from_millis(wall),
            boot: format!("boot {}", self.hours),
            since_boot: 1_000 + passed,
        }
    }

    async fn pause(&self, wait: Duration) {
        pass(wait).await;
    }
}
