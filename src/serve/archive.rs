//! Copies of all that is kept: made, looked over, put in the place of what was lost. A copy is a store's
//! file like the daemon's own, or lines of JSON; either is made beside its place, synced, looked over,
//! and renamed, so that what stands under its name is whole.
//!
//! A daemon that runs gives its lines itself (`AdminService.Export`); what is done here to a data folder
//! needs its lock.

use super::folder::{self, Lock};
use super::{CannotServe, kept, lock_file};
use crate::cli::shell;
use crate::config::Url;
use crate::files;
use crate::store::export::{Export, Header, Import, Imported};
use crate::store::redb::{Checked, Redb};
use crate::store::snapshot::Counts;
use crate::store::{Fault, Store};
use futures_util::stream;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tempfile::NamedTempFile;
use tokio_stream::{Stream, StreamExt};

/// Lines, in pieces of any length.
pub type Lines = Pin<Box<dyn Stream<Item = Result<Vec<u8>, String>> + Send>>;

/// What a copy holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// What is in it.
    pub counts: Counts,
    /// Bytes of its file.
    pub bytes: u64,
    /// Tells the store from every other.
    pub incarnation: String,
}

/// The lines of the store in a data folder that no daemon has now.
///
/// # Errors
///
/// When a daemon has it, there is no store in it, or it cannot be opened.
pub async fn lines_of_folder(data: &Path) -> Result<Lines, CannotServe> {
    let lock = lock(data)?;
    if !kept::is_there(data) {
        let message = format!("there is no store in {}", data.display());
        return Err(CannotServe::new(message).next("export ASKWAY_DATA=FOLDER, with another one"));
    }
    let store = Arc::new(kept::open(data)?);
    let export = Export::of(&*store).await.map_err(|fault| of_fault(data, &fault))?;
    Ok(in_pieces(export, (store, lock)))
}

/// The lines of an export, which lives as long as they do, and with it what `keeps` it.
fn in_pieces(export: Export, keeps: impl Send + 'static) -> Lines {
    Box::pin(stream::unfold((export, keeps), |(mut export, keeps)| async move {
        let piece = export.next().await.map_err(|fault| fault.to_string()).transpose()?;
        Some((piece, (export, keeps)))
    }))
}

/// Makes a copy of a store, of the same incarnation, in the new file `to`; with `replace`, also where
/// there is one.
///
/// # Errors
///
/// When there is such a file, it cannot be made, or the lines are not whole.
pub async fn backup(lines: Lines, to: &Path, replace: bool) -> Result<Summary, CannotServe> {
    if !replace && fs::symlink_metadata(to).is_ok() {
        let message = format!("{} is there already", to.display());
        return Err(CannotServe::new(message).next("the same with another file, or with --replace"));
    }
    let (file, summary) = make(lines, to, |header| Some(header.incarnation.clone())).await?;
    let put = match replace {
        true => file.persist(to).map_err(|error| error.error),
        false => file.persist_noclobber(to).map_err(|error| error.error),
    };
    let synced = put.and_then(|_| files::sync_name(to));
    synced.map_err(|error| failed(to, "cannot be made", &error))?;
    Ok(summary)
}

/// Looks over the store in a file, and changes nothing.
///
/// # Errors
///
/// When it cannot be read, or something in it is wrong: what.
pub async fn verify(file: &Path) -> Result<Summary, CannotServe> {
    Ok(look(file).await?.1)
}

/// The same with the store of a data folder, which no daemon may have.
///
/// # Errors
///
/// As [`verify`]; and when a daemon has it.
pub async fn check(data: &Path) -> Result<Summary, CannotServe> {
    let _lock = lock(data)?;
    verify(&data.join(kept::STORE)).await
}

/// The lines of what a backup holds, which is looked over before.
///
/// # Errors
///
/// When it cannot be read, or is not whole.
pub async fn lines_of_copy(backup: &Path) -> Result<Lines, CannotServe> {
    let (checked, _) = look(backup).await?;
    let export = checked.export().map_err(|fault| of_fault(backup, &fault))?;
    Ok(in_pieces(export, checked))
}

/// Puts what a copy holds into a data folder, as a store of its own: whoever has seen more of the one
/// that was there is told so. With `replace` also where there is one, which is kept beside it: where, is
/// the second thing given.
///
/// # Errors
///
/// When a daemon has the folder, there is a store in it, or the lines are not whole: nothing is changed
/// then.
pub async fn import(
    data: &Path,
    lines: Lines,
    replace: bool,
) -> Result<(Summary, Option<PathBuf>), CannotServe> {
    folder::private(data)?;
    let _lock = lock(data)?;
    if kept::is_there(data) && !replace {
        let message = format!("there is a store in {}", data.display());
        return Err(CannotServe::new(message)
            .next("the same with --replace: what is there is kept beside it"));
    }
    let (file, summary) = make(lines, &data.join(kept::STORE), |_| None).await?;
    let before = kept::put(data, file, &summary.incarnation)?;
    Ok((summary, before))
}

/// The same into the database at `url`, which holds nothing yet and becomes the folder's store. The bytes
/// told are those of the lines.
///
/// # Errors
///
/// When a daemon has the folder, the database cannot be reached or holds something, or the lines are not
/// whole: what was read of them before that is there then.
pub async fn import_shared(data: &Path, url: &Url, lines: Lines) -> Result<Summary, CannotServe> {
    folder::private(data)?;
    let _lock = lock(data)?;
    let place = kept::Place::Database(url.clone());
    let empty = "psql DATABASE -c 'drop schema askway cascade'";
    let store: Arc<dyn Store> = Arc::new(kept::open_shared(data, url).await?);
    let first = async { store.snapshot().await?.next(1).await };
    if !first.await.map_err(|fault| place.failed(&fault))?.is_empty() {
        let message = format!("{place} holds something already");
        return Err(CannotServe::new(message).next("export ASKWAY_STORE=URL, of another database"));
    }
    let (bytes, filled) = (Arc::new(AtomicU64::new(0)), store.clone());
    let read = bytes.clone();
    let lines = lines.map(move |piece| {
        let length = piece.as_ref().map_or(0, Vec::len);
        read.fetch_add(length as u64, Ordering::Relaxed);
        piece
    });
    let imported = fill(|_| Ok(filled), Box::pin(lines)).await;
    let imported =
        imported.map_err(|cannot| cannot.next(format!("{empty}, then the same again")))?;
    let bytes = bytes.load(Ordering::Relaxed);
    Ok(Summary { counts: imported.counts, bytes, incarnation: store.incarnation() })
}

/// Fills a new file beside `place`, of the incarnation given or of a new one, and looks it over.
async fn make(
    lines: Lines,
    place: &Path,
    incarnation: impl FnOnce(&Header) -> Option<String> + Send,
) -> Result<(NamedTempFile, Summary), CannotServe> {
    let beside = beside(place)?;
    let file = beside.as_file().try_clone();
    let file = file.map_err(|error| failed(place, "cannot be made", &error))?;
    let make = |header: &Header| {
        let store = Redb::fresh(file, incarnation(header))?;
        Ok(Arc::new(store) as Arc<dyn Store>)
    };
    let imported = fill(make, lines).await?;
    let checked = Checked::open(beside.path()).await.map_err(|fault| of_fault(place, &fault))?;
    same(&checked, &imported).await.map_err(|fault| of_fault(place, &fault))?;
    let (counts, incarnation) = (checked.counts, checked.incarnation().to_owned());
    drop(checked);
    let synced = beside.as_file().sync_all().and_then(|()| beside.as_file().metadata());
    let bytes = synced.map_err(|error| failed(place, "cannot be synced", &error))?.len();
    Ok((beside, Summary { counts, bytes, incarnation }))
}

async fn fill(
    make: impl FnOnce(&Header) -> Result<Arc<dyn Store>, Fault>,
    lines: Lines,
) -> Result<Imported, CannotServe> {
    let wrong = |fault: Fault| {
        CannotServe::new(fault.to_string())
            .because("STORE_UNAVAILABLE")
            .next("askway admin export --out FILE, for another copy; nothing was changed")
    };
    let (mut import, mut lines) = (Import::into(make), pin!(lines));
    while let Some(piece) = lines.next().await {
        let piece = piece.map_err(|why| {
            CannotServe::new(format!("it was cut short: {why}"))
                .next("the same again; nothing was changed")
        })?;
        import.feed(&piece).await.map_err(wrong)?;
    }
    import.end().await.map_err(wrong)
}

/// Whether a copy, read back, gives the lines it was made of: as many, of the same digest.
async fn same(checked: &Checked, imported: &Imported) -> Result<(), Fault> {
    let mut again = checked.export()?;
    while again.next().await?.is_some() {}
    match again.end() == Some(&imported.end) {
        true => Ok(()),
        false => Err(Fault::Unreadable("the copy is not what was copied; look at the disk".into())),
    }
}

async fn look(file: &Path) -> Result<(Checked, Summary), CannotServe> {
    let checked = Checked::open(file).await.map_err(|fault| of_fault(file, &fault))?;
    let bytes = fs::metadata(file).map_err(|error| failed(file, "cannot be read", &error))?.len();
    let incarnation = checked.incarnation().to_owned();
    let summary = Summary { counts: checked.counts, bytes, incarnation };
    Ok((checked, summary))
}

fn lock(data: &Path) -> Result<Lock, CannotServe> {
    Lock::take(lock_file(data))
}

/// A new file beside `place`, for its owner alone, gone where it is not put there.
fn beside(place: &Path) -> Result<NamedTempFile, CannotServe> {
    let mut named = tempfile::Builder::new();
    let made = named.prefix(".askway-").suffix(".partial").tempfile_in(files::folder_of(place));
    made.map_err(|error| failed(place, "cannot be made", &error))
}

fn of_fault(place: &Path, fault: &Fault) -> CannotServe {
    CannotServe::new(format!("{}: {fault}", place.display()))
        .because("STORE_UNAVAILABLE")
        .next("askway admin verify FILE, of another copy; or look at the disk")
}

fn failed(place: &Path, what: &str, error: &dyn fmt::Display) -> CannotServe {
    let typed = shell::path_or(files::folder_of(place), "FOLDER");
    CannotServe::new(format!("{} {what}: {error}", place.display())).next(format!("ls -ld {typed}"))
}
