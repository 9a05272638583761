//! Everything in the file, as of one reading transaction.

use super::tables::{Access, Reading, Tables};
use super::{Opened, Trouble, without_panic};
use crate::ask::AskId;
use crate::store::Fault;
use crate::store::record::decode;
use crate::store::snapshot::{Saved, Snapshot};
use ::redb::{Key, ReadOnlyTable, ReadableDatabase};
use async_trait::async_trait;
use serde::de::DeserializeOwned;
use std::ops::Bound;
use std::sync::Arc;

/// A snapshot, and how far it was read.
pub(super) struct Whole {
    tables: Tables<Reading>,
    table: usize,
    after: Option<Vec<u8>>,
    // The file stays open for it, and is closed after the tables are: last in order, dropped last.
    _opened: Arc<Opened>,
}

impl Whole {
    /// Of the file as it is now.
    pub fn of(opened: &Arc<Opened>) -> Result<Self, Trouble> {
        let tables = Tables::read(opened.database.begin_read()?);
        Ok(Self { tables, table: 0, after: None, _opened: opened.clone() })
    }

    fn page(&mut self, limit: usize) -> Result<Option<Vec<Saved>>, Trouble> {
        macro_rules! of {
            ($table:ident, $what:literal, $kind:path) => {
                records(self.tables.access.of(&self.tables.$table)?, &mut self.after, limit, $what)?
                    .into_iter()
                    .map($kind)
                    .collect()
            };
        }
        Ok(Some(match self.table {
            0 => self.asks(limit)?,
            1 => of!(sessions, "a session", Saved::Session),
            2 => of!(works, "a work", Saved::Work),
            3 => of!(tickets, "a ticket", Saved::Ticket),
            4 => of!(tokens, "a token", Saved::Token),
            5 => of!(receipts, "a receipt", Saved::Receipt),
            6 => of!(twins, "which ask a work filed", Saved::Twin),
            7 => of!(standing, "a decline", Saved::StandingNo),
            8 => of!(rosters, "a roster", Saved::Roster),
            9 if self.after.is_none() => {
                self.after = Some(Vec::new());
                let mark = self.tables.get(&crate::store::Key::Clock)?;
                match mark {
                    Some(crate::store::Record::Clock(mark)) => vec![Saved::Clock(mark)],
                    _ => Vec::new(),
                }
            }
            9 => Vec::new(),
            _ => return Ok(None),
        }))
    }

    fn asks(&mut self, limit: usize) -> Result<Vec<Saved>, Trouble> {
        let mut found = Vec::new();
        for key in keys(self.tables.access.of(&self.tables.filed)?, &mut self.after, limit)? {
            let id = AskId::from_bytes(key);
            found.push(Saved::Ask { id, events: self.tables.history(id, 0, usize::MAX)? });
        }
        Ok(found)
    }
}

#[async_trait]
impl Snapshot for Whole {
    async fn next(&mut self, limit: usize) -> Result<Vec<Saved>, Fault> {
        let found = without_panic(|| {
            while let Some(found) = self.page(limit)? {
                if !found.is_empty() {
                    return Ok(found);
                }
                (self.table, self.after) = (self.table + 1, None);
            }
            Ok(Vec::new())
        });
        found.map_err(|trouble| trouble.fault)
    }
}

type Kept<K> = ReadOnlyTable<K, &'static [u8]>;

/// The records of a table after a key, and the last key of them.
fn records<K: Key + 'static, T: DeserializeOwned>(
    table: &Kept<K>,
    after: &mut Option<Vec<u8>>,
    limit: usize,
    what: &str,
) -> Result<Vec<T>, Trouble> {
    let from = after.take();
    let mut found = Vec::new();
    let first = from.as_deref().map_or(Bound::Unbounded, |key| Bound::Excluded(K::from_bytes(key)));
    for entry in table.range::<K::SelfType<'_>>((first, Bound::Unbounded))?.take(limit) {
        let (key, bytes) = entry?;
        *after = Some(K::as_bytes(&key.value()).as_ref().to_vec());
        found.push(decode(what, bytes.value())?);
    }
    Ok(found)
}

/// The keys of a table after a key, and the last of them.
fn keys<const N: usize>(
    table: &Kept<&'static [u8; N]>,
    after: &mut Option<Vec<u8>>,
    limit: usize,
) -> Result<Vec<[u8; N]>, Trouble> {
    let from: Option<[u8; N]> = after.take().and_then(|key| key.try_into().ok());
    let first = from.as_ref().map_or(Bound::Unbounded, Bound::Excluded);
    let mut found = Vec::new();
    for entry in table.range::<&[u8; N]>((first, Bound::Unbounded))?.take(limit) {
        found.push(*entry?.0.value());
    }
    *after = found.last().map(|key| key.to_vec());
    Ok(found)
}
