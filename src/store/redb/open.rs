//! Opening the file: its format first, then its tables and the index over them.

use super::{Opened, keys};
use crate::store::index::{Index, Row};
use crate::store::{Fault, record};
use redb::{Builder, Database, ReadOnlyDatabase, ReadableDatabase, ReadableTable, StorageBackend};
use serde::{Deserialize, Serialize};
use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Arc;

/// The format this program writes. One more whenever tables change their meaning.
const FORMAT: u32 = 1;

/// Memory for pages of the file: enough for the asks of a busy hour, little on a laptop.
const CACHE_BYTES: usize = 32 << 20;

/// Asks settled and delivered lately whose prefixes resolve again after a restart.
const LATELY: usize = 10_000;

/// Who wrote the file, and who may read it. Looked at before anything else.
#[derive(Debug, Serialize, Deserialize)]
struct Marker {
    /// The format it is in.
    format: u32,
    /// The oldest program's format that understands it.
    least_reader: u32,
    /// The program that made it.
    written_by: String,
    /// Differs between a file and one restored in its place.
    incarnation: String,
}

pub(super) fn file(path: &Path) -> Result<Database, Fault> {
    if path.exists() {
        refuse_newer(path)?;
    }
    let mut options = OpenOptions::new();
    let file = options.read(true).write(true).create(true).truncate(false).mode(0o600).open(path);
    let file = file.map_err(|error| {
        Fault::Unavailable(format!("{} cannot be opened: {error}", path.display()))
    })?;
    let made = Builder::new().set_cache_size(CACHE_BYTES).create_file(file);
    prepare(made.map_err(fault)?)
}

pub(super) fn backend(backend: impl StorageBackend) -> Result<Database, Fault> {
    let made = Builder::new().set_cache_size(CACHE_BYTES).create_with_backend(backend);
    prepare(made.map_err(fault)?)
}

/// A newer format is refused before a byte is written. A file that was not closed cleanly cannot be
/// looked at so; then its format is looked at after the repair.
fn refuse_newer(path: &Path) -> Result<(), Fault> {
    let Ok(db) = ReadOnlyDatabase::open(path) else { return Ok(()) };
    match marker(&db) {
        Ok(Some(marker)) => understands(&marker),
        Ok(None) => Ok(()),
        Err(newer) => Err(newer),
    }
}

fn marker(db: &impl ReadableDatabase) -> Result<Option<Marker>, Fault> {
    let reading = db.begin_read().map_err(fault)?;
    let table = match reading.open_table(keys::META) {
        Ok(table) => table,
        Err(redb::TableError::TableDoesNotExist(_)) => return Ok(None),
        Err(error) => return Err(fault(error)),
    };
    let bytes = table.get(keys::MARKER).map_err(fault)?;
    bytes.map(|bytes| record::decode("the file's format", bytes.value())).transpose()
}

fn understands(marker: &Marker) -> Result<(), Fault> {
    if marker.least_reader <= FORMAT {
        return Ok(());
    }
    Err(Fault::Unreadable(format!(
        "it is of format {}, written by {}; this askway reads up to {FORMAT}: start that one",
        marker.format, marker.written_by
    )))
}

/// Makes sure of the format and the tables.
fn prepare(db: Database) -> Result<Database, Fault> {
    if let Some(marker) = marker(&db)? {
        understands(&marker)?;
        return Ok(db);
    }
    let mut incarnation = [0; 16];
    getrandom::fill(&mut incarnation).expect("the system gives random bytes");
    let marker = Marker {
        format: FORMAT,
        least_reader: FORMAT,
        written_by: concat!("askway ", env!("CARGO_PKG_VERSION")).to_owned(),
        incarnation: incarnation.iter().map(|byte| format!("{byte:02x}")).collect(),
    };
    let mut writing = db.begin_write().map_err(fault)?;
    writing.set_quick_repair(true);
    for table in keys::ALL {
        writing.open_table(table).map_err(fault)?;
    }
    let mut meta = writing.open_table(keys::META).map_err(fault)?;
    meta.insert(keys::MARKER, record::encode(&marker).as_slice()).map_err(fault)?;
    drop(meta);
    writing.commit().map_err(fault)?;
    Ok(db)
}

impl Opened {
    /// The open file with its index, built from the table of open and unread asks.
    pub(super) fn from(db: Database) -> Result<Self, Fault> {
        let mut index = Index::default();
        let reading = db.begin_read().map_err(fault)?;
        let retire = reading.open_table(keys::RETIRE).map_err(fault)?;
        let mut lately = Vec::new();
        for entry in retire.iter().map_err(fault)?.rev().take(LATELY) {
            lately.push(keys::read_retire(entry.map_err(fault)?.0.value())?.1);
        }
        lately.into_iter().rev().for_each(|ask| index.remember_lately(ask));
        let live = reading.open_table(keys::LIVE).map_err(fault)?;
        for entry in live.iter().map_err(fault)? {
            let (_, row) = entry.map_err(fault)?;
            let row: Row = record::decode("an open ask's row", row.value())?;
            index.replace(row.id, Some(row));
        }
        drop((retire, live, reading));
        Ok(Opened { db: Arc::new(db), index })
    }
}

/// What redb says, as a fault: damage and a wrong format stay, the rest may pass.
pub(super) fn fault(error: impl Into<redb::Error>) -> Fault {
    use redb::Error as E;
    match error.into() {
        E::Corrupted(what) => Fault::Unreadable(format!("the file is damaged: {what}")),
        E::ValueTooLarge(bytes) => {
            Fault::Unreadable(format!("a record of {bytes} bytes is too large for the file"))
        }
        E::UpgradeRequired(version) => Fault::Unreadable(format!(
            "the file is of redb format {version}, which this askway does not read"
        )),
        error @ (E::TableDoesNotExist(_) | E::TableTypeMismatch { .. }) => {
            Fault::Unreadable(error.to_string())
        }
        passing => Fault::Unavailable(passing.to_string()),
    }
}
