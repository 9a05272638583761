//! A disk that fails when it is told to, for tests: it can refuse a write or a sync, be full, or lose
//! its power, and then it forgets, or keeps half of, whatever was not synced.
//!
//! After a failed sync it is as nasty as real ones are: what was to be synced is shown as if it were
//! there, is never written again by itself, and may be gone at the next crash.

mod crash;
mod image;
mod recorder;
mod tests;

use self::image::{SECTOR, Step, apply};
use super::suite::Dice;
use ::redb::StorageBackend;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard};

/// A disk. Clones are the same disk.
#[derive(Clone, Debug)]
struct Disk(Arc<Mutex<Platter>>);

#[derive(Debug)]
struct Platter {
    // What is read; what is there after a crash; and what makes one into the other.
    shown: Vec<u8>,
    synced: Vec<u8>,
    unsynced: Vec<Step>,
    // Writes, changes of length and syncs so far, and those of them that failed as planned.
    steps: u64,
    failed: u64,
    plan: Plan,
    dice: Dice,
}

#[derive(Clone, Copy, Debug)]
enum Plan {
    Serve,
    /// These steps fail with this error of the system's.
    Fail(Steps, i32),
    /// Every step fails; reads do not.
    Full,
    /// From this step on nothing is done any more.
    LosePower(u64),
}

/// The first and the last of some steps.
#[derive(Clone, Copy, Debug)]
struct Steps {
    first: u64,
    last: u64,
}

impl Steps {
    fn only(step: u64) -> Self {
        Self { first: step, last: step }
    }

    fn has(self, step: u64) -> bool {
        self.first <= step && step <= self.last
    }
}

const EIO: i32 = 5;
const ENOSPC: i32 = 28;

impl Disk {
    fn new(seed: u64) -> Self {
        Self(Arc::new(Mutex::new(Platter {
            shown: Vec::new(),
            synced: Vec::new(),
            unsynced: Vec::new(),
            steps: 0,
            failed: 0,
            plan: Plan::Serve,
            dice: Dice::new(seed),
        })))
    }

    fn platter(&self) -> MutexGuard<'_, Platter> {
        self.0.lock().unwrap()
    }

    fn plan(&self, plan: Plan) {
        self.platter().plan = plan;
    }

    /// The power comes back: each step that was not synced is there, is not, or is in part.
    fn power_up(&self) {
        let mut platter = self.platter();
        platter.settle(false);
        platter.shown = platter.synced.clone();
        platter.plan = Plan::Serve;
    }
}

impl Platter {
    fn step(&mut self) -> io::Result<()> {
        self.steps += 1;
        let error = match self.plan {
            Plan::Full => ENOSPC,
            Plan::Fail(steps, error) if steps.has(self.steps) => error,
            Plan::LosePower(step) if step <= self.steps => EIO,
            Plan::Serve | Plan::Fail(..) | Plan::LosePower(_) => return Ok(()),
        };
        self.failed += 1;
        Err(io::Error::from_raw_os_error(error))
    }

    /// A file system keeps a journal of lengths, so a failed sync does not take them back.
    fn settle(&mut self, keeps_lengths: bool) {
        for step in std::mem::take(&mut self.unsynced) {
            match (self.dice.roll(3), step) {
                (_, step @ Step::SetLen(_)) if keeps_lengths => apply(&mut self.synced, &step),
                (0, _) => {}
                (1, Step::Write(at, mut data)) => {
                    // Torn where a sector ends.
                    let sectors = self.dice.roll((data.len() / SECTOR) as u64 + 1) as usize;
                    data.truncate((sectors * SECTOR).saturating_sub(at % SECTOR));
                    apply(&mut self.synced, &Step::Write(at, data));
                }
                (_, step) => apply(&mut self.synced, &step),
            }
        }
    }

    fn record(&mut self, step: Step) {
        apply(&mut self.shown, &step);
        self.unsynced.push(step);
    }
}

impl StorageBackend for Disk {
    fn len(&self) -> io::Result<u64> {
        Ok(self.platter().shown.len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let platter = self.platter();
        let source = platter.shown.get(offset as usize..offset as usize + out.len());
        out.copy_from_slice(source.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        let mut platter = self.platter();
        platter.step()?;
        platter.record(Step::SetLen(length as usize));
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        let mut platter = self.platter();
        if let Err(error) = platter.step() {
            platter.settle(true);
            return Err(error);
        }
        let Platter { synced, unsynced, .. } = &mut *platter;
        unsynced.drain(..).for_each(|step| apply(synced, &step));
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let mut platter = self.platter();
        let stepped = platter.step();
        let mut data = data.to_vec();
        if stepped.is_err() {
            if !matches!(platter.plan, Plan::Fail(..)) {
                return stepped;
            }
            // A write that fails may have got anywhere.
            data.truncate(platter.dice.roll(data.len() as u64 + 1) as usize);
        }
        platter.record(Step::Write(offset as usize, data));
        stepped
    }
}
