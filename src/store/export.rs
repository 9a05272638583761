//! All that a store keeps as lines of JSON: the first says what it is, one follows for each record, and
//! the last says how many there were, with a digest, so that what was cut short is never taken for
//! whole. Any store gives them, and any store takes them.

use super::record::PLAIN;
use super::snapshot::{Counts, Saved, Snapshot};
use super::{Batch, Committed, Fault, Store};
use data_encoding::HEXLOWER;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::sync::Arc;

/// The form of the lines themselves.
const FORM: u32 = 1;

/// Records read at once, and committed at once: some hundred kilobytes, a few milliseconds.
const AT_ONCE: usize = 128;

/// Bytes of a line of an export: more than an ask of the most questions takes with the longest talk; a
/// file without an end of a line is no export, and is not read into memory whole.
pub const LINE_BYTES: usize = 64 * 1024 * 1024;

/// The first line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// [`FORM`].
    askway_export: u32,
    /// The number of the records' form.
    schema: u8,
    /// The program that wrote it.
    written_by: String,
    /// Tells the store it is of from every other.
    pub incarnation: String,
}

/// The last line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct End {
    /// How many records there are.
    pub records: u64,
    /// SHA-256 of every line of a record, with its end, in hexadecimal.
    pub sha256: String,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Last {
    End(End),
}

/// Whatever was read or written so far.
#[derive(Default)]
struct Tally {
    records: u64,
    digest: Sha256,
}

impl Tally {
    fn add(&mut self, line: &[u8]) {
        self.records += 1;
        self.digest.update(line);
        self.digest.update(b"\n");
    }

    fn end(self) -> End {
        End { records: self.records, sha256: HEXLOWER.encode(&self.digest.finalize()) }
    }
}

/// Gives the lines of a store, some at a time.
pub struct Export {
    snapshot: Box<dyn Snapshot>,
    first: Option<Header>,
    // None once the last line was given.
    tally: Option<Tally>,
    end: Option<End>,
}

impl Export {
    /// All of `store`, as it is now.
    ///
    /// # Errors
    ///
    /// When it cannot be read.
    pub async fn of(store: &dyn Store) -> Result<Self, Fault> {
        Ok(Self::begin(store.snapshot().await?, store.incarnation()))
    }

    /// All of a snapshot of the store of this incarnation.
    pub fn begin(snapshot: Box<dyn Snapshot>, incarnation: String) -> Self {
        let written_by = concat!("askway ", env!("CARGO_PKG_VERSION")).into();
        let header = Header { askway_export: FORM, schema: PLAIN, written_by, incarnation };
        Self { snapshot, first: Some(header), tally: Some(Tally::default()), end: None }
    }

    /// Its last line, once that was given.
    pub fn end(&self) -> Option<&End> {
        self.end.as_ref()
    }

    /// The next lines, whole; none after the last.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    pub async fn next(&mut self) -> Result<Option<Vec<u8>>, Fault> {
        let Some(mut tally) = self.tally.take() else { return Ok(None) };
        let mut lines = Vec::new();
        if let Some(first) = self.first.take() {
            line(&mut lines, &first)?;
        }
        let records = self.snapshot.next(AT_ONCE).await?;
        if records.is_empty() {
            let end = tally.end();
            line(&mut lines, &Last::End(end.clone()))?;
            self.end = Some(end);
            return Ok(Some(lines));
        }
        for record in &records {
            let from = lines.len();
            line(&mut lines, record)?;
            tally.add(&lines[from..lines.len() - 1]);
        }
        self.tally = Some(tally);
        Ok(Some(lines))
    }
}

fn line(lines: &mut Vec<u8>, value: &impl Serialize) -> Result<(), Fault> {
    serde_json::to_writer(&mut *lines, value).map_err(|why| {
        Fault::Unreadable(format!("a record could not be written ({why}); report this"))
    })?;
    lines.push(b'\n');
    Ok(())
}

/// What an import came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imported {
    /// What the lines say of themselves.
    pub header: Header,
    /// What was in them.
    pub counts: Counts,
    /// Their last line.
    pub end: End,
}

/// Fills a store that holds nothing from lines, in whatever pieces they come.
pub struct Import<M> {
    // Makes the store, when it is known what it is to hold.
    make: Option<M>,
    store: Option<(Header, Arc<dyn Store>)>,
    buffer: Vec<u8>,
    batch: Batch,
    number: u64,
    counts: Counts,
    tally: Tally,
    end: Option<End>,
}

impl<M: FnOnce(&Header) -> Result<Arc<dyn Store>, Fault>> Import<M> {
    /// Into the store that `make` makes of the first line.
    pub fn into(make: M) -> Self {
        Self {
            make: Some(make),
            store: None,
            buffer: Vec::new(),
            batch: Batch::default(),
            number: 0,
            counts: Counts::default(),
            tally: Tally::default(),
            end: None,
        }
    }

    /// The next bytes.
    ///
    /// # Errors
    ///
    /// [`Fault::Unreadable`], with the line's number, for what is no such export; otherwise what the
    /// store fails with.
    pub async fn feed(&mut self, mut bytes: &[u8]) -> Result<(), Fault> {
        while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
            self.has_room(end)?;
            self.buffer.extend_from_slice(&bytes[..end]);
            bytes = &bytes[end + 1..];
            let line = std::mem::take(&mut self.buffer);
            self.number += 1;
            self.line(&line).await?;
        }
        self.has_room(bytes.len())?;
        self.buffer.extend_from_slice(bytes);
        Ok(())
    }

    /// Whether the line under way may have so many bytes more.
    fn has_room(&mut self, more: usize) -> Result<(), Fault> {
        if self.buffer.len() + more <= LINE_BYTES {
            return Ok(());
        }
        self.number += 1;
        Err(self.wrong(format!("it is longer than {LINE_BYTES} bytes")))
    }

    async fn line(&mut self, line: &[u8]) -> Result<(), Fault> {
        let Some((_, store)) = &self.store else { return self.begin(line) };
        if self.end.is_some() {
            return Err(self.wrong("something stands after the end"));
        }
        if let Ok(Last::End(end)) = serde_json::from_slice(line) {
            self.end = Some(end);
            return Ok(());
        }
        let saved: Saved = serde_json::from_slice(line)
            .map_err(|why| self.wrong(format!("it is no record ({why})")))?;
        self.counts.add(&saved).map_err(|fault| self.wrong(fault))?;
        self.tally.add(line);
        self.batch.changes.push(saved.into_change().map_err(|fault| self.wrong(fault))?);
        if self.batch.changes.len() >= AT_ONCE {
            let store = store.clone();
            self.commit(&*store).await?;
        }
        Ok(())
    }

    fn begin(&mut self, line: &[u8]) -> Result<(), Fault> {
        let header: Header = serde_json::from_slice(line)
            .map_err(|_| Fault::Unreadable("this is no export of askway's; name another".into()))?;
        if header.askway_export > FORM || header.schema > PLAIN {
            return Err(Fault::Unreadable(format!(
                "this export was made by {}, and is newer than this askway reads; take that version",
                header.written_by
            )));
        }
        let make = self.make.take().expect("there is one first line");
        let store = make(&header)?;
        self.store = Some((header, store));
        Ok(())
    }

    async fn commit(&mut self, store: &dyn Store) -> Result<(), Fault> {
        let committed = store.commit(std::mem::take(&mut self.batch)).await?;
        match committed.iter().all(|became| *became == Committed::Done) {
            true => Ok(()),
            false => Err(self.wrong("a record stands in it twice")),
        }
    }

    /// That was all: everything is on disk, and it was whole.
    ///
    /// # Errors
    ///
    /// [`Fault::Unreadable`] when it ends too early, or is not what was exported; otherwise what the
    /// store fails with.
    pub async fn end(mut self) -> Result<Imported, Fault> {
        let cut = || Fault::Unreadable("the export was cut short: its last line is missing".into());
        let (header, store) = self.store.take().ok_or_else(cut)?;
        let end = self.end.take().filter(|_| self.buffer.is_empty()).ok_or_else(cut)?;
        self.commit(&*store).await?;
        if self.tally.end() != end {
            let why = "the export is not what was written: its digest does not match";
            return Err(Fault::Unreadable(why.into()));
        }
        Ok(Imported { header, counts: self.counts, end })
    }

    fn wrong(&self, why: impl std::fmt::Display) -> Fault {
        Fault::Unreadable(format!("line {} of the export: {why}", self.number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What an import says of one line of so many bytes, which comes in pieces.
    async fn fed(bytes: usize, ended: bool) -> Fault {
        let make = |_: &Header| -> Result<Arc<dyn Store>, Fault> {
            unreachable!("nothing of it is a header")
        };
        let mut import = Import::into(make);
        let piece = vec![b'x'; 1 << 20];
        let mut left = bytes;
        while left > 0 {
            let length = left.min(piece.len());
            if let Err(fault) = import.feed(&piece[..length]).await {
                return fault;
            }
            left -= length;
        }
        let last = if ended { import.feed(b"\n").await } else { import.end().await.map(|_| ()) };
        last.expect_err("it is no export")
    }

    #[tokio::test]
    async fn a_line_is_read_to_its_bound_and_not_further() {
        for ended in [true, false] {
            let fits = fed(LINE_BYTES, ended).await.to_string();
            assert!(!fits.contains("longer than"), "{fits}");
            let over = fed(LINE_BYTES + 1, ended).await.to_string();
            assert!(over.contains("line 1 of the export: it is longer than"), "{over}");
        }
    }
}
