//! Watches.
use super::*;
use crate::ask::*;
use crate::error::Error;
use std::pin::Pin;
use tokio_stream::Stream;

/// One message of WatchAsk.
#[derive(Clone, Debug)]
pub enum WatchMessage {
    /// First: the whole ask as after the revision asked for.
    Ask(Arc<Ask>),
    /// Each event, with the ask as after it.
    Event(Event, Arc<Ask>),
    /// Half a minute of nothing.
    Idle(u64),
    /// Settled, all sent.
    End(u64),
}
/// One message of WatchInbox.
#[derive(Clone, Debug)]
pub enum InboxMessage {
    /// First.
    Snapshot {
        /// Asks.
        asks: Vec<Arc<Ask>>,
        /// In all.
        total: usize,
    },
    /// Then.
    Change {
        /// Came.
        came: Vec<Arc<Ask>>,
        /// Changed.
        changed: Vec<Arc<Ask>>,
        /// Left.
        left: Vec<AskId>,
        /// In all.
        total: usize,
    },
    /// Half a minute of nothing.
    Idle,
}
/// One message of WatchDeliveries.
#[derive(Clone, Debug)]
pub enum DeliveryMessage {
    /// The ask as it is, and the revision of the turn or the outcome.
    Delivery(Arc<Ask>, u64),
    /// Half a minute of nothing.
    Idle,
}
/// A stream of a watch; its error ends it.
pub type Watch<T> = Pin<Box<dyn Stream<Item = Result<T, Error>> + Send>>;

impl Service {
    /// WatchAsk. Errors in the stream carry on: Unavailable with Stopping when the server stops.
    pub async fn watch_ask(
        &self,
        _caller: &Caller,
        _ask: AskId,
        _after: Option<u64>,
    ) -> Result<Watch<WatchMessage>, Error> {
        todo!()
    }
    /// WatchInbox.
    pub async fn watch_inbox(
        &self,
        _caller: &Caller,
        _scope: AskScope,
    ) -> Result<Watch<InboxMessage>, Error> {
        todo!()
    }
    /// WatchDeliveries.
    pub async fn watch_deliveries(
        &self,
        _caller: &Caller,
    ) -> Result<Watch<DeliveryMessage>, Error> {
        todo!()
    }
}
