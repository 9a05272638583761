//! Which store a data folder has: noted beside it once it was made. A file that was lost or emptied
//! looks like one that was never there, and nobody is to be told that nothing was ever asked (rule 17).

use super::CannotServe;
use super::folder::{read_line, write_line};
use crate::config::Url;
use crate::files;
use crate::store::Store;
use crate::store::postgres::{Hearing, Postgres};
use crate::store::redb::Redb;
use std::fmt;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// The store's file, in the data folder.
pub const STORE: &str = "askway.redb";
/// The file of the note, in the data folder.
const NOTE: &str = "store.id";

/// Where a store is.
#[derive(Clone, Debug)]
pub enum Place {
    /// A file.
    File(PathBuf),
    /// A database.
    Database(Url),
}

impl Place {
    /// It cannot be had, or does not do what it has to: with what to do about that.
    pub fn failed(&self, fault: &(impl fmt::Display + ?Sized)) -> CannotServe {
        let next = match self {
            Place::File(_) => {
                "look at the disk and at who made the file; or askway admin restore COPY --replace"
            }
            Place::Database(_) => "look at the database and at ASKWAY_STORE, then start again",
        };
        CannotServe::new(format!("{self}: {fault}")).because("STORE_UNAVAILABLE").next(next)
    }

    /// Whether the store here, of this incarnation, is the one that was `known` before by the `note`, which
    /// is made where there is none.
    fn noted(
        &self,
        incarnation: &str,
        known: Option<&str>,
        note: &Path,
    ) -> Result<(), CannotServe> {
        match known {
            Some(known) if known != incarnation => {
                Err(self.gone("is not the store that was here", note))
            }
            Some(_) => Ok(()),
            None => write_line(note, incarnation),
        }
    }

    fn gone(&self, what: &str, note: &Path) -> CannotServe {
        CannotServe::new(format!("{self} {what}")).because("STORE_UNAVAILABLE").next(format!(
            "put it back; or rm {}, and the next start takes what is there, or begins with nothing",
            note.display()
        ))
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::File(path) => write!(f, "{}", path.display()),
            // Without its password.
            Place::Database(url) => write!(f, "{url}"),
        }
    }
}

/// The store of the folder `data`; a new one only where there never was one. Needs the lock.
///
/// # Errors
///
/// When the one that was here is gone, another is in its place, or it cannot be opened.
pub fn open(data: &Path) -> Result<Redb, CannotServe> {
    let (path, note) = (data.join(STORE), data.join(NOTE));
    let (place, known) = (Place::File(path.clone()), read_line(&note)?);
    if known.is_some() && !is_there(data) {
        return Err(place.gone("is missing or empty, and a store was here", &note));
    }
    let store = Redb::open(&path).map_err(|fault| place.failed(&fault))?;
    place.noted(&store.incarnation(), known.as_deref(), &note).map(|()| store)
}

/// The store in the database at `url`; the folder `data` has the note of it, as of one of its own. Needs
/// the lock.
///
/// # Errors
///
/// When it cannot be reached, or is not the one that was there before.
pub async fn open_shared(data: &Path, url: &Url) -> Result<Postgres, CannotServe> {
    let note = data.join(NOTE);
    let (place, known) = (Place::Database(url.clone()), read_line(&note)?);
    let hearing = if url.listens() { Hearing::Listen } else { Hearing::Look };
    let opened = Postgres::open_with(url.expose(), hearing).await;
    let store = opened.map_err(|fault| place.failed(&fault))?;
    place.noted(&store.incarnation(), known.as_deref(), &note).map(|()| store)
}

/// Whether there is a store in the folder `data`; a file with nothing in it is none.
pub fn is_there(data: &Path) -> bool {
    fs::metadata(data.join(STORE)).is_ok_and(|found| found.len() > 0)
}

/// Puts a store, whole and synced, into the folder `data`, in one step: whatever stops this, there is the
/// one that was, or the new one, or no start at all. The one that was is kept beside it; where, is given.
/// Needs the lock.
///
/// # Errors
///
/// When it cannot be put there.
pub fn put(
    data: &Path,
    store: NamedTempFile,
    incarnation: &str,
) -> Result<Option<PathBuf>, CannotServe> {
    let path = data.join(STORE);
    let failed = |error: &io::Error| {
        CannotServe::new(format!("{} cannot be put in place: {error}", path.display()))
            .next("look at the folder, then again")
    };
    let before = is_there(data).then(|| keep_beside(&path)).transpose().map_err(|e| failed(&e))?;
    // First: a store that is not the one noted is refused, and never taken for what was here.
    write_line(&data.join(NOTE), incarnation)?;
    let put = store.persist(&path).map_err(|error| error.error);
    let synced = put.and_then(|_| files::sync_name(&path));
    synced.map_err(|error| failed(&error))?;
    Ok(before)
}

/// A second name for the store that is there.
fn keep_beside(path: &Path) -> io::Result<PathBuf> {
    for number in 1.. {
        let beside = path.with_extension(format!("redb.before-{number}"));
        match fs::hard_link(path, &beside) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
            Ok(()) => return Ok(beside),
        }
    }
    unreachable!("there is always another number")
}
