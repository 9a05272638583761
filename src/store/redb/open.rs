//! Opening the file: is it ours, can this program read it, may it write to it. The marker is read
//! first, and nothing is written before it has been found good.

use super::gate::Gate;
use super::recent::Recent;
use super::tables::{META, Tables};
use super::{Opened, Trouble};
use crate::files;
use crate::store::Fault;
use crate::store::chance::random_name;
use ::redb::{Database, ReadableDatabase, StorageBackend, TableError, backends::FileBackend};
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;
use std::sync::{Mutex, RwLock};

/// The layout this program writes. The second has packed records; a file of the first becomes one of the
/// second when it is opened, and its records as they are written.
pub const FORMAT: u32 = 2;

/// Bytes of the file redb may keep in memory. Enough for the inner pages of a million asks; redb's
/// own default is a gibibyte, which is more than a daemon beside other work should take.
const CACHE_BYTES: usize = 64 * 1024 * 1024;

/// Bytes of a file whose every page is checked when it is opened: what is read in a tenth of a
/// second. In a larger one damage is seen where it is read: in a record always, in redb's own pages
/// where they make no sense any more.
const CHECKED_BYTES: u64 = 64 * 1024 * 1024;

/// A file redb began to make and did not finish is no longer than this.
const UNBORN_BYTES: u64 = 2 * 1024 * 1024;

/// Bytes of redb's header: its magic number, written last, and what it says of the layout.
const HEADER_BYTES: usize = 512;

/// The magic number.
const MAGIC: [u8; 9] = *b"redb\x1a\x0a\xa9\x0d\x0a";

const MARKER: &str = "marker";

/// This program, in a marker.
const PROGRAM: &str = concat!("askway ", env!("CARGO_PKG_VERSION"));

/// What the file says of itself. Plain JSON without a schema number: every askway there will be
/// must be able to read it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Marker {
    /// The layout it was written in.
    pub format: u32,
    /// The oldest layout whose programs may open it.
    pub least_reader: u32,
    /// The program that made it, or brought it forward last.
    pub written_by: String,
    /// Tells this store from every other.
    pub incarnation: String,
}

impl Marker {
    /// What the file says of itself once this program has written to it.
    fn brought_forward(self) -> Self {
        if self.format >= FORMAT {
            return self;
        }
        Self { format: FORMAT, least_reader: FORMAT, written_by: PROGRAM.into(), ..self }
    }
}

/// The backend of a file. With `create` one that is not there is made, for its owner's eyes only;
/// without, it is not: what was there is then gone, and an empty store must not take its place.
pub(super) fn file(path: &Path, create: bool) -> Result<FileBackend, Fault> {
    let cannot = |why: &dyn std::fmt::Display| {
        Fault::Unavailable(format!("{} cannot be opened: {why}", path.display()))
    };
    let mut options = OpenOptions::new();
    let options = options.read(true).write(true).create(create).truncate(false);
    let file = files::open_as(path, files::Kind::Kept, options).map_err(|unfit| match &unfit {
        files::Unfit::Io(why) => cannot(why),
        unfit => cannot(&format!("it {unfit}")),
    })?;
    if create {
        files::sync_name(path).map_err(|why| cannot(&why))?;
    }
    FileBackend::new(file).map_err(|why| cannot(&why))
}

/// The backend of a file that is there, and is only read.
pub(super) fn file_to_read(path: &Path) -> Result<FileBackend, Fault> {
    let cannot = |why: &dyn std::fmt::Display| {
        Fault::Unavailable(format!("{} cannot be read: {why}", path.display()))
    };
    let file = File::open(path).map_err(|why| cannot(&why))?;
    FileBackend::new(file).map_err(|why| cannot(&why))
}

/// Opens what a backend holds to look at it: no byte of it is written, whatever redb would mend.
pub(super) fn look(backend: impl StorageBackend) -> Result<(Database, Marker), Trouble> {
    let gate = Gate::to_look(backend)?;
    let empty = || Fault::Unreadable("the file is empty; name another".into());
    if gate.len()? == 0 || is_unborn(&gate)? {
        return Err(empty().into());
    }
    let database = Database::builder().set_cache_size(CACHE_BYTES).create_with_backend(gate);
    let database = database.map_err(unopened)?;
    let marker = marker(&database)?.ok_or_else(empty)?;
    readable(&marker)?;
    Ok((database, marker))
}

/// Opens what a backend holds, or makes it when it is empty and no store is `expected` in it: of this
/// incarnation, or of one of its own.
pub(super) fn open(
    backend: impl StorageBackend,
    expected: Option<&Marker>,
    incarnation: Option<String>,
) -> Result<Opened, Trouble> {
    let gate = Gate::new(backend)?;
    if is_unborn(&gate)? {
        gate.set_len(0)?;
    }
    if gate.len()? == 0 && expected.is_some() {
        return Err(replaced().into());
    }
    let database = Database::builder()
        .set_cache_size(CACHE_BYTES)
        .set_check_integrity_on_open(gate.len()? <= CHECKED_BYTES)
        .create_with_backend(gate.clone())
        .map_err(unopened)?;
    let found = marker(&database)?;
    if let Some(marker) = &found {
        readable(marker)?;
    }
    if expected.is_some() && found.as_ref() != expected {
        return Err(replaced().into());
    }
    gate.open()?;
    let marker = found.map_or_else(|| begin(incarnation), |found| Ok(found.brought_forward()))?;
    // Also where it is there already. After a kill or a failed sync the system may show writes that
    // are not on disk, and what is served from here on must be: one commit makes sure of it.
    write_marker(&database, &marker)?;
    let index = Tables::read(database.begin_read()?).index()?;
    Ok(Opened {
        database,
        marker,
        index: RwLock::new(index),
        recent: Recent::default(),
        writing: Mutex::new(()),
    })
}

/// Whether the backend holds what redb leaves when it is stopped while it makes a file: a header
/// without the magic number, or with a part of it, and nothing else. Nothing was ever acknowledged from
/// it.
fn is_unborn(gate: &Gate<impl StorageBackend>) -> io::Result<bool> {
    let length = gate.len()?;
    if length == 0 || length > UNBORN_BYTES {
        return Ok(false);
    }
    let mut bytes = vec![0; length as usize];
    gate.read(0, &mut bytes)?;
    let is_zero = |bytes: &[u8]| bytes.iter().all(|byte| *byte == 0);
    let header = bytes.len().min(HEADER_BYTES);
    let magic = &bytes[..header.min(MAGIC.len())];
    // redb makes the file as long as its header before it writes that: what is shorter was cut.
    let in_part = magic.len() == MAGIC.len()
        && magic.iter().zip(MAGIC).all(|(byte, whole)| *byte == 0 || *byte == whole)
        && magic != MAGIC;
    Ok((in_part || is_zero(magic)) && is_zero(&bytes[header..]))
}

/// The marker; none in a file that holds no table at all yet.
fn marker(database: &Database) -> Result<Option<Marker>, Trouble> {
    let txn = database.begin_read()?;
    let foreign = || Fault::Unreadable("the file is not an askway store; name another".into());
    let meta = match txn.open_table(META) {
        Ok(meta) => meta,
        Err(TableError::TableDoesNotExist(_)) if txn.list_tables()?.next().is_none() => {
            return Ok(None);
        }
        Err(TableError::Storage(why)) => return Err(why.into()),
        Err(_) => return Err(foreign().into()),
    };
    let bytes = meta.get(MARKER)?.ok_or_else(foreign)?;
    let marker = serde_json::from_slice(bytes.value());
    let damaged = |why| crate::store::record::damaged("the store's marker", why);
    Ok(Some(marker.map_err(damaged)?))
}

fn readable(marker: &Marker) -> Result<(), Fault> {
    if marker.least_reader > FORMAT {
        return Err(Fault::Unreadable(format!(
            "the file has format {}, made by {}, and this askway reads up to {FORMAT}; \
             start that version again, or name another folder",
            marker.format, marker.written_by
        )));
    }
    Ok(())
}

/// What a new file says of itself.
fn begin(incarnation: Option<String>) -> Result<Marker, Trouble> {
    let incarnation = incarnation.map_or_else(random_name, Ok)?;
    Ok(Marker { format: FORMAT, least_reader: FORMAT, written_by: PROGRAM.into(), incarnation })
}

/// Writes the marker, and makes the tables that are not there.
fn write_marker(database: &Database, marker: &Marker) -> Result<(), Trouble> {
    let bytes = serde_json::to_vec(marker).map_err(io::Error::from)?;
    let mut txn = database.begin_write()?;
    txn.set_quick_repair(true);
    Tables::write(&txn)?.meta.insert(MARKER, bytes.as_slice())?;
    Ok(txn.commit()?)
}

fn replaced() -> Fault {
    Fault::Unreadable("another store is in the place of this one; stop, and put it back".into())
}

fn unopened(why: ::redb::DatabaseError) -> Trouble {
    use ::redb::{DatabaseError as E, StorageError};
    match why {
        E::DatabaseAlreadyOpen => {
            Fault::Unavailable("another process has it open; stop that one first".into()).into()
        }
        E::Storage(StorageError::Io(why)) if why.kind() == io::ErrorKind::InvalidData => {
            Fault::Unreadable("the file is not an askway store; name another".into()).into()
        }
        E::UpgradeRequired(version) => {
            let found = format!("the file is of redb's format {version}, which askway never wrote");
            Fault::Unreadable(format!("{found}; name another")).into()
        }
        why => why.into(),
    }
}
