//! Everything as of one reading transaction, on a connection of its own. The database keeps what is
//! removed meanwhile until it ends.

use super::connect::{Place, Session, Thread};
use super::layout::number;
use super::read::{ALL, column, saved};
use super::trouble::fault;
use crate::store::Fault;
use crate::store::snapshot::{Saved, Snapshot};
use async_trait::async_trait;
use std::sync::Arc;
use tokio_postgres::Statement;

/// A snapshot, and how far it was read.
pub(super) struct Whole {
    session: Arc<Session>,
    all: Statement,
    after: (i16, Vec<u8>),
}

impl Whole {
    /// Of the database as it is now. Dropped, it closes its connection, and so ends its transaction.
    pub async fn begin(place: &Place, thread: &Thread) -> Result<Self, Fault> {
        let session = Session::open(place, thread).await?;
        // Its moment is that of the first statement after `begin`.
        let begin = "begin isolation level repeatable read read only; select 1 from askway.marker";
        session.client.batch_execute(begin).await.map_err(|error| fault(&error))?;
        let all = session.client.prepare(ALL).await.map_err(|error| fault(&error))?;
        Ok(Self { session, all, after: (0, Vec::new()) })
    }
}

#[async_trait]
impl Snapshot for Whole {
    async fn next(&mut self, limit: usize) -> Result<Vec<Saved>, Fault> {
        let (kind, key) = &self.after;
        let rows = self.session.client.query(&self.all, &[kind, key, &number(limit)]).await;
        let rows = rows.map_err(|error| fault(&error))?;
        if let Some(last) = rows.last() {
            self.after = (column(last, 0)?, column(last, 1)?);
        }
        rows.iter().map(saved).collect()
    }
}
