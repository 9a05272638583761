//! The machine's disk: it chooses when the power fails, at any of its operations, and what is left is
//! an image of what was synced and of some of what was not.

use super::image::{Kind, Step, apply, image};
use askway::store::redb::StorageBackend;
use askway::store::suite::Dice;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard};

/// The disk. Clones are the same disk.
#[derive(Clone, Debug)]
pub struct Disk(Arc<Mutex<Platter>>);

#[derive(Debug)]
struct Platter {
    shown: Vec<u8>,
    synced: Vec<u8>,
    unsynced: Vec<Step>,
    /// How often the power came. What was opened in an earlier life does nothing any more.
    life: u64,
    powered: bool,
    /// Operations until the power fails.
    fails_in: Option<u64>,
    dice: Dice,
}

/// The disk as one start of the daemon has it open.
#[derive(Debug)]
pub struct Handle {
    disk: Disk,
    life: u64,
}

impl Disk {
    /// An empty one.
    pub fn new(seed: u64) -> Self {
        Self(Arc::new(Mutex::new(Platter {
            shown: Vec::new(),
            synced: Vec::new(),
            unsynced: Vec::new(),
            life: 1,
            powered: true,
            fails_in: None,
            dice: Dice::new(seed),
        })))
    }

    fn platter(&self) -> MutexGuard<'_, Platter> {
        self.0.lock().expect("nobody panics with the disk in hand")
    }

    /// The life it is in.
    pub fn life(&self) -> u64 {
        self.platter().life
    }

    /// Whether what was opened in this life still works.
    pub fn is_alive(&self, life: u64) -> bool {
        let platter = self.platter();
        platter.powered && platter.life == life
    }

    /// Opens it in this life.
    pub fn handle(&self, life: u64) -> Option<Handle> {
        self.is_alive(life).then(|| Handle { disk: self.clone(), life })
    }

    /// The power fails after so many more operations.
    pub fn fail_in(&self, operations: u64) {
        self.platter().fails_in = Some(operations);
    }

    /// The power fails now.
    pub fn cut(&self) {
        self.platter().powered = false;
    }

    /// The power comes back. Says what became of what was not synced, and how many steps that was.
    pub fn power_up(&self) -> (Kind, usize) {
        let mut platter = self.platter();
        let Platter { synced, unsynced, dice, .. } = &mut *platter;
        let kind = *dice.pick(&Kind::ALL);
        let steps: Vec<&Step> = unsynced.iter().collect();
        let (found, count) = (image(synced, &steps, kind, dice), steps.len());
        platter.synced.clone_from(&found);
        platter.shown = found;
        platter.unsynced.clear();
        platter.fails_in = None;
        platter.life += 1;
        platter.powered = true;
        (kind, count)
    }
}

impl Handle {
    fn platter(&self) -> io::Result<MutexGuard<'_, Platter>> {
        let platter = self.disk.platter();
        match platter.powered && platter.life == self.life {
            true => Ok(platter),
            false => Err(gone()),
        }
    }

    /// One operation; the one at which the power fails may be done in part.
    fn step(&self, step: Option<Step>) -> io::Result<()> {
        let mut platter = self.platter()?;
        if let Some(left) = &mut platter.fails_in {
            *left = left.saturating_sub(1);
            if *left == 0 {
                platter.powered = false;
            }
        }
        let Platter { shown, synced, unsynced, powered, .. } = &mut *platter;
        match step {
            Some(step) => {
                apply(shown, &step);
                unsynced.push(step);
            }
            None if *powered => unsynced.drain(..).for_each(|step| apply(synced, &step)),
            None => {}
        }
        if *powered { Ok(()) } else { Err(gone()) }
    }
}

fn gone() -> io::Error {
    io::Error::other("the power failed")
}

impl StorageBackend for Handle {
    fn len(&self) -> io::Result<u64> {
        Ok(self.platter()?.shown.len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let platter = self.platter()?;
        let source = platter.shown.get(offset as usize..offset as usize + out.len());
        out.copy_from_slice(source.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        self.step(Some(Step::SetLen(length as usize)))
    }

    fn sync_data(&self) -> io::Result<()> {
        self.step(None)
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.step(Some(Step::Write(offset as usize, data.to_vec())))
    }
}
