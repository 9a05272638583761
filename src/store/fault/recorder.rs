//! A disk that notes all that is done to it, and how many commits had been acknowledged by then: from
//! that, what a machine whose power failed at any moment may find on it.

use super::SECTOR;
use super::image::{self, Kind, Step, apply};
use crate::store::suite::Dice;
use ::redb::StorageBackend;
use std::collections::BTreeSet;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard};

/// A disk. Clones are the same disk.
#[derive(Clone, Debug)]
pub(super) struct Recorder(Arc<Mutex<Written>>);

/// What was done to a disk, from what was on it.
#[derive(Debug)]
pub(super) struct Recording {
    begun: Arc<Vec<u8>>,
    log: Vec<Noted>,
    acknowledged: u64,
}

/// The disk as it stands, and what was noted of it.
#[derive(Debug)]
struct Written {
    shown: Vec<u8>,
    recording: Recording,
}

/// A step, or none where it was a sync; and how many commits had been acknowledged before it.
#[derive(Clone, Debug)]
struct Noted {
    step: Option<Step>,
    acknowledged: u64,
}

/// The moment the power fails.
#[derive(Clone, Debug)]
pub(super) struct Moment<'a> {
    /// How many commits had been acknowledged.
    pub acknowledged: u64,
    /// Copied where it changes while a moment is looked at; so each moment costs nothing by itself.
    synced: Arc<Vec<u8>>,
    unsynced: Vec<&'a Step>,
}

impl Recorder {
    /// A disk that holds this.
    pub fn new(begun: Vec<u8>) -> Self {
        let (shown, log) = (begun.clone(), Vec::new());
        let recording = Recording { begun: Arc::new(begun), log, acknowledged: 0 };
        Self(Arc::new(Mutex::new(Written { shown, recording })))
    }

    /// One more commit is acknowledged.
    pub fn acknowledge(&self) {
        self.written().recording.acknowledged += 1;
    }

    /// What was done to it so far. What is done from now on is noted for nobody.
    pub fn taken(&self) -> Recording {
        let recording = &mut self.written().recording;
        let (begun, log) = (recording.begun.clone(), std::mem::take(&mut recording.log));
        Recording { begun, log, acknowledged: recording.acknowledged }
    }

    fn written(&self) -> MutexGuard<'_, Written> {
        self.0.lock().unwrap()
    }

    fn note(&self, step: Option<Step>) {
        let mut written = self.written();
        if let Some(step) = &step {
            apply(&mut written.shown, step);
        }
        let acknowledged = written.recording.acknowledged;
        written.recording.log.push(Noted { step, acknowledged });
    }
}

impl Recording {
    /// How many steps and syncs there were.
    pub fn len(&self) -> usize {
        self.log.len()
    }

    /// The moment after so many of them.
    pub fn moment(&self, point: usize) -> Moment<'_> {
        let moment = self.moments().nth(point);
        moment.expect("there is a moment after each step, and one before the first")
    }

    /// Every moment, from before the first step to after the last.
    pub fn moments(&self) -> impl Iterator<Item = Moment<'_>> {
        let (mut synced, mut unsynced) = (self.begun.clone(), Vec::new());
        (0..=self.log.len()).map(move |point| {
            match point.checked_sub(1).map(|before| &self.log[before].step) {
                None => {}
                Some(Some(step)) => unsynced.push(step),
                Some(None) => {
                    let synced = Arc::make_mut(&mut synced);
                    unsynced.drain(..).for_each(|step| apply(synced, step));
                }
            }
            let next = self.log.get(point).map(|noted| noted.acknowledged);
            Moment {
                acknowledged: next.unwrap_or(self.acknowledged),
                synced: synced.clone(),
                unsynced: unsynced.clone(),
            }
        })
    }
}

impl Moment<'_> {
    /// What is found when the power is back.
    pub fn image(&self, kind: Kind, dice: &mut Dice) -> Vec<u8> {
        image::image(&self.synced, &self.unsynced, kind, dice)
    }

    /// Whether all was synced: then each kind finds the same.
    pub fn is_quiet(&self) -> bool {
        self.unsynced.is_empty()
    }
}

impl StorageBackend for Recorder {
    fn len(&self) -> io::Result<u64> {
        Ok(self.written().shown.len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let written = self.written();
        let source = written.shown.get(offset as usize..offset as usize + out.len());
        out.copy_from_slice(source.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        self.note(Some(Step::SetLen(length as usize)));
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        self.note(None);
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.note(Some(Step::Write(offset as usize, data.to_vec())));
        Ok(())
    }
}

#[test]
fn each_kind_finds_what_may_be_found() {
    let disk = Recorder::new(vec![1; 2048]);
    disk.write(0, &[2; 1024]).unwrap();
    disk.sync_data().unwrap();
    disk.acknowledge();
    disk.set_len(4096).unwrap();
    disk.write(512, &[3; 2048]).unwrap();
    let shown = disk.written().shown.clone();
    let recording = disk.taken();
    assert_eq!(recording.len(), 4);
    let of = |point: usize| recording.moment(point).acknowledged;
    assert_eq!([of(0), of(1), of(2), of(4)], [0, 0, 1, 1], "counted before the next step");
    let (synced, last) = (recording.moment(2), recording.moment(4));
    assert!(synced.is_quiet() && !last.is_quiet());
    let mut dice = Dice::new(1);
    let old = synced.image(Kind::All, &mut dice);
    assert_eq!(old, [[2; 1024], [1; 1024]].concat());
    assert_eq!(last.image(Kind::Nothing, &mut dice), old);
    assert_eq!(last.image(Kind::All, &mut dice), shown);
    let mut seen = BTreeSet::new();
    for kind in Kind::ALL.into_iter().cycle().take(700) {
        let image = last.image(kind, &mut dice);
        assert_eq!(image[..512], old[..512], "{kind:?}: what was synced stays");
        let kept = image.iter().filter(|byte| **byte == 3).count();
        let is_whole = kept == 0 || kept == 2048;
        let by_sectors = kept % SECTOR == 0;
        match kind {
            Kind::Steps => assert!(is_whole, "{kept}"),
            Kind::Sectors | Kind::Length => assert!(by_sectors, "{kept}"),
            _ => {}
        }
        seen.insert((kind as u8, is_whole, by_sectors, image.len()));
    }
    let saw = |kind, whole, sectors| {
        seen.iter().any(|found| (found.0, found.1, found.2) == (kind as u8, whole, sectors))
    };
    assert!(saw(Kind::Torn, false, false) && saw(Kind::Runs, false, false), "{seen:?}");
    assert!(saw(Kind::Sectors, false, true) && saw(Kind::Length, false, true), "{seen:?}");
    let shortest = seen.iter().any(|found| found.0 == Kind::Length as u8 && found.3 == 2048);
    assert!(shortest, "{seen:?}");
}
