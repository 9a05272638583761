//! Looking a file over without a byte written to it: every page of redb's, every record, and whether
//! all that is derived says what the records say.

use super::open::{self, Marker};
use super::snapshot::Whole;
use super::tables::{Reading, Tables, deadline_key, lists_of};
use super::{Opened, Trouble, without_panic};
use crate::ask::AskId;
use crate::session::Session;
use crate::store::Fault;
use crate::store::export::Export;
use crate::store::index::{Index, Row};
use crate::store::record::{damaged, decode};
use crate::store::snapshot::{Counts, Snapshot};
use ::redb::{ReadableDatabase, ReadableTable, ReadableTableMetadata, StorageBackend};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, Mutex, RwLock};

/// Records read at once.
const AT_ONCE: usize = 128;

/// A file that was looked over and found good. It stays open, and unwritten, while this lives.
pub struct Checked {
    opened: Arc<Opened>,
    /// What is in it.
    pub counts: Counts,
}

impl Checked {
    /// Looks over the store in the file at `path`, which nobody may have open.
    ///
    /// # Errors
    ///
    /// [`Fault::Unavailable`] when it cannot be read; [`Fault::Unreadable`], with what is wrong, when
    /// it is newer than this program, damaged, or something else.
    pub async fn open(path: &Path) -> Result<Self, Fault> {
        Self::look(open::file_to_read(path)?).await
    }

    pub(in crate::store) async fn look(backend: impl StorageBackend) -> Result<Self, Fault> {
        let opened = without_panic(|| {
            let (mut database, marker) = open::look(backend)?;
            if !database.check_integrity()? {
                return Err(damaged("the file", "its pages were not whole").into());
            }
            Ok((database, marker))
        });
        let (database, marker) = opened.map_err(|trouble| trouble.fault)?;
        let opened = Opened {
            database,
            marker,
            index: RwLock::new(Index::default()),
            writing: Mutex::new(()),
        };
        let mut checked = Self { opened: Arc::new(opened), counts: Counts::default() };
        without_panic(|| checked.tables()?.derived()).map_err(|trouble| trouble.fault)?;
        let mut whole = checked.snapshot()?;
        loop {
            let records = whole.next(AT_ONCE).await?;
            if records.is_empty() {
                return Ok(checked);
            }
            for saved in &records {
                checked.counts.add(saved)?;
            }
        }
    }

    /// Its lines.
    ///
    /// # Errors
    ///
    /// When it cannot be read.
    pub fn export(&self) -> Result<Export, Fault> {
        Ok(Export::begin(Box::new(self.snapshot()?), self.incarnation().to_owned()))
    }

    /// Tells the store from every other.
    pub fn incarnation(&self) -> &str {
        &self.marker().incarnation
    }

    fn marker(&self) -> &Marker {
        &self.opened.marker
    }

    fn tables(&self) -> Result<Tables<Reading>, Trouble> {
        Tables::read(&self.opened.database.begin_read()?)
    }

    fn snapshot(&self) -> Result<Whole, Fault> {
        let tables = without_panic(|| self.tables()).map_err(|trouble| trouble.fault)?;
        Ok(Whole::new(self.opened.clone(), tables))
    }
}

impl Tables<Reading> {
    /// Whether each record has its own key, and what is derived is all there and nothing else.
    fn derived(&self) -> Result<(), Trouble> {
        self.asks_are_listed()?;
        self.sessions_are_listed()?;
        let whole = |table: &str, is_its: bool| match is_its {
            true => Ok(()),
            false => Err(damaged(table, "a record stands under another's key")),
        };
        for entry in self.works.iter()? {
            let (key, bytes) = entry?;
            let work: crate::session::Work = decode("a work", bytes.value())?;
            whole("the works", work.id.to_bytes() == *key.value())?;
        }
        for entry in self.tickets.iter()? {
            let (key, bytes) = entry?;
            let ticket: crate::session::Ticket = decode("a ticket", bytes.value())?;
            whole("the tickets", ticket.secret.to_bytes() == *key.value())?;
        }
        for entry in self.tokens.iter()? {
            let (key, bytes) = entry?;
            let token: crate::session::Token = decode("a token", bytes.value())?;
            whole("the tokens", token.secret.to_bytes() == *key.value())?;
        }
        for entry in self.receipts.iter()? {
            let (key, bytes) = entry?;
            let receipt: crate::store::StoredReceipt = decode("a receipt", bytes.value())?;
            whole("the receipts", super::tables::receipt_key(&receipt.key) == key.value())?;
        }
        Ok(())
    }

    fn asks_are_listed(&self) -> Result<(), Trouble> {
        let (mut live, mut retire, mut events) = (0, 0, 0);
        for entry in self.filed.iter()? {
            let id = AskId::from_bytes(*entry?.0.value());
            let wrong = |why: &str| Trouble::from(damaged(&format!("the ask {id}"), why));
            let ask = self.ask(id)?.ok_or_else(|| wrong("it has no history"))?;
            events += ask.revision - 1;
            let listed = self.live.get(&id.to_bytes())?;
            let listed: Option<Row> =
                listed.map(|bytes| decode("an index row", bytes.value())).transpose()?;
            let row = Row::of(&ask);
            if listed != row {
                return Err(wrong("it is listed as what it is not"));
            }
            live += u64::from(row.is_some());
            if let Some(time) = ask.deadline().filter(|_| row.is_none()) {
                retire += 1;
                if self.retire.get(&deadline_key(time, id.to_bytes()))?.is_none() {
                    return Err(wrong("it would never be removed"));
                }
            }
        }
        let counts = [
            ("events", self.events.len()?, events),
            ("lists", self.live.len()?, live),
            ("removals", self.retire.len()?, retire),
        ];
        for (what, found, due) in counts {
            if found != due {
                let why = format!("there are {found} of asks, and should be {due}");
                return Err(damaged(&format!("the table of {what}"), why).into());
            }
        }
        Ok(())
    }

    fn sessions_are_listed(&self) -> Result<(), Trouble> {
        let (mut places, mut due) = (BTreeSet::new(), 0);
        for entry in self.sessions.iter()? {
            let (key, bytes) = entry?;
            let session: Session = decode("a session", bytes.value())?;
            let wrong = |why| Trouble::from(damaged(&format!("the session {}", session.id), why));
            if session.id.to_bytes() != *key.value() {
                return Err(wrong("it stands under another's key"));
            }
            places.extend(lists_of(&session));
            if let Some(time) = session.deadline() {
                due += 1;
                let key = deadline_key(time, session.id.to_bytes());
                if self.session_due.get(&key)?.is_none() {
                    return Err(wrong("nothing would come of its time"));
                }
            }
        }
        let mut listed = BTreeSet::new();
        for entry in self.session_lists.iter()? {
            listed.insert(*entry?.0.value());
        }
        if listed != places || self.session_due.len()? != due {
            return Err(damaged("the lists of sessions", "they say what sessions do not").into());
        }
        Ok(())
    }
}
