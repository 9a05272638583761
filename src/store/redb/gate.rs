//! A gate before the file: until it is opened, what redb writes stays in memory, and the file is as
//! it was. So a file can be opened, repaired even, and looked at, before it is known whether this
//! program may write to it. Opening the gate does what was held back, in its order.

use ::redb::{BackendError, StorageBackend};
use std::io;
use std::ops::Bound;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// One backend, behind its gate. Clones are the same gate.
#[derive(Debug)]
pub(super) struct Gate<B> {
    inner: Arc<B>,
    // None once it is open.
    held: Arc<Mutex<Option<Held>>>,
    /// Whether it is never opened: who only looks needs a lock that others who look may share, and a
    /// file that may only be read gives no other.
    looks: bool,
}

#[derive(Debug)]
struct Held {
    // How much of the inner backend can still be seen, and how long it would be.
    seen: u64,
    length: u64,
    steps: Vec<Step>,
}

#[derive(Debug)]
enum Step {
    Write(u64, Vec<u8>),
    SetLen(u64),
    Sync,
}

impl<B> Clone for Gate<B> {
    fn clone(&self) -> Self {
        Self { inner: self.inner.clone(), held: self.held.clone(), looks: self.looks }
    }
}

impl<B: StorageBackend> Gate<B> {
    /// A closed gate.
    pub fn new(inner: B) -> io::Result<Self> {
        let length = inner.len()?;
        let held = Held { seen: length, length, steps: Vec::new() };
        Ok(Self { inner: Arc::new(inner), held: Arc::new(Mutex::new(Some(held))), looks: false })
    }

    /// One that stays closed.
    pub fn to_look(inner: B) -> io::Result<Self> {
        Ok(Self { looks: true, ..Self::new(inner)? })
    }

    /// Does what was held back, and holds nothing back from now on. After an error the gate is
    /// closed for good: what comes through it would miss what did not.
    pub fn open(&self) -> io::Result<()> {
        let mut held = self.held();
        for step in held.iter().flat_map(|held| &held.steps) {
            match step {
                Step::Write(offset, data) => self.inner.write(*offset, data)?,
                Step::SetLen(length) => self.inner.set_len(*length)?,
                Step::Sync => self.inner.sync_data()?,
            }
        }
        *held = None;
        Ok(())
    }

    fn held(&self) -> MutexGuard<'_, Option<Held>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Held {
    fn read(&self, inner: &impl StorageBackend, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let end = offset + out.len() as u64;
        if end > self.length {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        out.fill(0);
        if offset < self.seen {
            let visible = (end.min(self.seen) - offset) as usize;
            inner.read(offset, &mut out[..visible])?;
        }
        for step in &self.steps {
            let Step::Write(at, data) = step else { continue };
            let (from, to) = (offset.max(*at), end.min(at + data.len() as u64));
            if from < to {
                let new = &data[(from - at) as usize..(to - at) as usize];
                out[(from - offset) as usize..(to - offset) as usize].copy_from_slice(new);
            }
        }
        Ok(())
    }

    fn set_len(&mut self, length: u64) {
        // What is cut off is gone, also from what was held: it reads as zeros when it grows again.
        self.seen = self.seen.min(length);
        for step in &mut self.steps {
            if let Step::Write(at, data) = step {
                data.truncate(usize::try_from(length.saturating_sub(*at)).unwrap_or(usize::MAX));
            }
        }
        self.length = length;
        self.steps.push(Step::SetLen(length));
    }
}

impl<B: StorageBackend> StorageBackend for Gate<B> {
    fn len(&self) -> io::Result<u64> {
        self.held().as_ref().map_or_else(|| self.inner.len(), |held| Ok(held.length))
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        if let Some(held) = &*self.held() {
            return held.read(&*self.inner, offset, out);
        }
        self.inner.read(offset, out)
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        if let Some(held) = &mut *self.held() {
            held.set_len(length);
            return Ok(());
        }
        self.inner.set_len(length)
    }

    fn sync_data(&self) -> io::Result<()> {
        if let Some(held) = &mut *self.held() {
            held.steps.push(Step::Sync);
            return Ok(());
        }
        self.inner.sync_data()
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        if let Some(held) = &mut *self.held() {
            held.steps.push(Step::Write(offset, data.to_vec()));
            return Ok(());
        }
        self.inner.write(offset, data)
    }

    fn close(&self) -> io::Result<()> {
        self.inner.close()
    }

    fn try_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        match self.looks {
            true => self.inner.try_lock_shared_range(start, end),
            false => self.inner.try_lock_range(start, end),
        }
    }

    fn try_lock_shared_range(
        &self,
        start: Bound<u64>,
        end: Bound<u64>,
    ) -> Result<bool, BackendError> {
        self.inner.try_lock_shared_range(start, end)
    }

    fn lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        match self.looks {
            true => self.inner.lock_shared_range(start, end),
            false => self.inner.lock_range(start, end),
        }
    }

    fn lock_shared_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.inner.lock_shared_range(start, end)
    }

    fn unlock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.inner.unlock_range(start, end)
    }

    fn query_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.inner.query_lock_range(start, end)
    }
}
