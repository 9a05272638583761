//! Which store a data folder has: noted beside it once it was made. A file that was lost or emptied
//! looks like one that was never there, and nobody is to be told that nothing was ever asked (rule 17).

use super::folder::{read_line, write_line};
use super::{CannotServe, store_failed};
use crate::store::Store;
use crate::store::redb::Redb;
use std::fs;
use std::path::Path;

/// The store's file, in the data folder.
pub const STORE: &str = "askway.redb";
/// The file of the note, in the data folder.
const NOTE: &str = "store.id";

/// The store of the folder `data`; a new one only where there never was one. Needs the lock.
///
/// # Errors
///
/// When the one that was here is gone, another is in its place, or it cannot be opened.
pub fn open(data: &Path) -> Result<Redb, CannotServe> {
    let (path, note) = (data.join(STORE), data.join(NOTE));
    let known = read_line(&note)?;
    let is_there = fs::metadata(&path).is_ok_and(|found| found.len() > 0);
    if known.is_some() && !is_there {
        return Err(gone(&path, "is missing or empty, and a store was here", &note));
    }
    let store = Redb::open(&path).map_err(|fault| store_failed(&path, &fault))?;
    match known {
        Some(known) if known != store.incarnation() => {
            Err(gone(&path, "is not the store that was here", &note))
        }
        Some(_) => Ok(store),
        None => write_line(&note, &store.incarnation()).map(|()| store),
    }
}

fn gone(path: &Path, what: &str, note: &Path) -> CannotServe {
    CannotServe::new(format!("{} {what}", path.display())).because("STORE_UNAVAILABLE").next(
        format!(
            "put it back; or rm {}, and the next start takes what is there, or begins with nothing",
            note.display()
        ),
    )
}
