//! Everything as of one reading transaction, on a connection of its own. The database keeps what is
//! removed meanwhile until it ends.

use super::connect::{Prepared, Thread};
use super::layout::number;
use super::place::Place;
use super::read::{ALL, column, saved};
use crate::store::Fault;
use crate::store::snapshot::{Saved, Snapshot};
use async_trait::async_trait;
use std::sync::Arc;

/// A snapshot, and how far it was read.
pub(super) struct Whole {
    prepared: Arc<Prepared>,
    after: (i16, Vec<u8>),
}

impl Whole {
    /// Of the database as it is now. Dropped, it closes its connection, and so ends its transaction.
    pub async fn begin(place: &Place, thread: &Thread) -> Result<Self, Fault> {
        let prepared = Prepared::open(place, thread).await?;
        // Its moment is that of the first statement after `begin`.
        let begin = "begin isolation level repeatable read read only; select 1 from askway.marker";
        prepared.run(begin).await?;
        Ok(Self { prepared, after: (0, Vec::new()) })
    }
}

#[async_trait]
impl Snapshot for Whole {
    async fn next(&mut self, limit: usize) -> Result<Vec<Saved>, Fault> {
        let (kind, key) = &self.after;
        let rows = self.prepared.rows(ALL, &[kind, key, &number(limit)]).await?;
        if let Some(last) = rows.last() {
            self.after = (column(last, 0)?, column(last, 1)?);
        }
        rows.iter().map(saved).collect()
    }
}
