//! Looking a file over without a byte written to it: every page of redb's, every record, and whether
//! all that is derived says what the records say.

use super::open::{self, Marker};
use super::recent::Recent;
use super::snapshot::Whole;
use super::tables::{Access, Reading, Tables, content_key, deadline_key, lists_of, receipt_key};
use super::{Opened, Trouble, without_panic};
use crate::ask::{AskId, StandingNo, Twin};
use crate::session::{Roster, Session, Ticket, Token, Work};
use crate::store::export::Export;
use crate::store::index::{Index, Row};
use crate::store::record::{damaged, decode};
use crate::store::snapshot::Counts;
use crate::store::{Fault, Key, StoredReceipt};
use ::redb::{
    ReadOnlyTable, ReadableDatabase, ReadableTable, ReadableTableMetadata, StorageBackend,
};
use serde::de::DeserializeOwned;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, Mutex, RwLock};

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
            recent: Recent::default(),
            writing: Mutex::new(()),
        };
        let mut checked = Self { opened: Arc::new(opened), counts: Counts::default() };
        let counts = without_panic(|| checked.tables()?.counted());
        checked.counts = counts.map_err(|trouble| trouble.fault)?;
        Ok(checked)
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
        Ok(Tables::read(self.opened.database.begin_read()?))
    }

    fn snapshot(&self) -> Result<Whole, Fault> {
        without_panic(|| Whole::of(&self.opened)).map_err(|trouble| trouble.fault)
    }
}

impl Tables<Reading> {
    /// What is in them, where each record has its own key, and what is derived is all there and nothing
    /// else.
    fn counted(&self) -> Result<Counts, Trouble> {
        let mut counts = Counts::default();
        self.asks_are_listed(&mut counts)?;
        self.sessions_are_listed(&mut counts)?;
        let mark = self.get(&Key::Clock)?;
        counts.others = u64::from(mark.is_some())
            + own(self.access.of(&self.works)?, "a work", |work: &Work| {
                work.id.to_bytes().to_vec()
            })?
            + own(self.access.of(&self.tickets)?, "a ticket", |one: &Ticket| {
                one.secret.to_bytes().to_vec()
            })?
            + own(self.access.of(&self.tokens)?, "a token", |one: &Token| {
                one.secret.to_bytes().to_vec()
            })?
            + own(self.access.of(&self.receipts)?, "a receipt", |one: &StoredReceipt| {
                receipt_key(&one.key)
            })?
            + own(self.access.of(&self.twins)?, "which ask a work filed", |twin: &Twin| {
                content_key(&(twin.work, twin.digest)).to_vec()
            })?
            + own(self.access.of(&self.standing)?, "a decline", |no: &StandingNo| {
                content_key(&(no.tree, no.digest)).to_vec()
            })?
            + own(self.access.of(&self.rosters)?, "a roster", |one: &Roster| {
                one.namespace.as_str().into()
            })?;
        Ok(counts)
    }

    fn asks_are_listed(&self, counts: &mut Counts) -> Result<(), Trouble> {
        let (mut live, mut retire) = (0, 0);
        for entry in self.access.of(&self.filed)?.iter()? {
            let id = AskId::from_bytes(*entry?.0.value());
            let wrong = |why: &str| Trouble::from(damaged(&format!("the ask {id}"), why));
            let ask = self.ask(id)?.ok_or_else(|| wrong("it has no history"))?;
            counts.asks += 1;
            counts.open += u64::from(ask.is_open());
            counts.events += ask.revision;
            let listed = self.access.of(&self.live)?.get(&id.to_bytes())?;
            let listed: Option<Row> =
                listed.map(|bytes| decode("an index row", bytes.value())).transpose()?;
            let row = Row::of(&ask);
            if listed != row {
                return Err(wrong("it is listed as what it is not"));
            }
            live += u64::from(row.is_some());
            if let Some(time) = ask.deadline().filter(|_| row.is_none()) {
                retire += 1;
                if self.access.of(&self.retire)?.get(&deadline_key(time, id.to_bytes()))?.is_none()
                {
                    return Err(wrong("it would never be removed"));
                }
            }
        }
        let counts = [
            // The first event of each is kept with its filing.
            ("events", self.access.of(&self.events)?.len()?, counts.events - counts.asks),
            ("lists", self.access.of(&self.live)?.len()?, live),
            ("removals", self.access.of(&self.retire)?.len()?, retire),
        ];
        for (what, found, due) in counts {
            if found != due {
                let why = format!("there are {found} of asks, and should be {due}");
                return Err(damaged(&format!("the table of {what}"), why).into());
            }
        }
        Ok(())
    }

    fn sessions_are_listed(&self, counts: &mut Counts) -> Result<(), Trouble> {
        let (mut places, mut due) = (BTreeSet::new(), 0);
        for entry in self.access.of(&self.sessions)?.iter()? {
            let (key, bytes) = entry?;
            let session: Session = decode("a session", bytes.value())?;
            let wrong = |why| Trouble::from(damaged(&format!("the session {}", session.id), why));
            if session.id.to_bytes() != *key.value() {
                return Err(wrong("it stands under another's key"));
            }
            counts.sessions += 1;
            places.extend(lists_of(&session));
            if let Some(time) = session.deadline() {
                due += 1;
                let key = deadline_key(time, session.id.to_bytes());
                if self.access.of(&self.session_due)?.get(&key)?.is_none() {
                    return Err(wrong("nothing would come of its time"));
                }
            }
        }
        let mut listed = BTreeSet::new();
        for entry in self.access.of(&self.session_lists)?.iter()? {
            listed.insert(*entry?.0.value());
        }
        if listed != places || self.access.of(&self.session_due)?.len()? != due {
            return Err(damaged("the lists of sessions", "they say what sessions do not").into());
        }
        Ok(())
    }
}

/// How many records there are in a table, where each stands under its own key.
fn own<K: ::redb::Key + 'static, T: DeserializeOwned>(
    table: &ReadOnlyTable<K, &'static [u8]>,
    what: &str,
    key_of: impl Fn(&T) -> Vec<u8>,
) -> Result<u64, Trouble> {
    let mut count = 0;
    for entry in table.iter()? {
        let (key, bytes) = entry?;
        let record: T = decode(what, bytes.value())?;
        if K::as_bytes(&key.value()).as_ref() != key_of(&record) {
            return Err(damaged(what, "it stands under another's key").into());
        }
        count += 1;
    }
    Ok(count)
}
