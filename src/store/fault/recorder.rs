//! A disk that notes all that is done to it, and how many commits had been acknowledged by then: from
//! that, what a machine whose power failed at any moment may find on it.

use super::{SECTOR, Step, apply};
use crate::store::suite::Dice;
use ::redb::StorageBackend;
use std::collections::BTreeSet;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard};

/// A disk. Clones are the same disk.
#[derive(Clone, Debug)]
pub(super) struct Recorder(Arc<Mutex<Recording>>);

/// What was done to a disk, from what was on it.
#[derive(Clone, Debug)]
pub(super) struct Recording {
    begun: Vec<u8>,
    shown: Vec<u8>,
    log: Vec<Noted>,
    acknowledged: u64,
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
    synced: Vec<u8>,
    unsynced: Vec<&'a Step>,
}

/// What becomes of what was not synced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// None of it is there.
    Nothing,
    /// All of it is.
    All,
    /// The first steps are, the last of them in part, cut at any byte.
    Torn,
    /// Whole steps, any of them.
    Steps,
    /// Any sectors of any step.
    Sectors,
    /// Any runs of bytes of any step.
    Runs,
    /// Any sectors, and the file has any length that it had.
    Length,
}

impl Kind {
    pub const ALL: [Kind; 7] = [
        Kind::Nothing,
        Kind::All,
        Kind::Torn,
        Kind::Steps,
        Kind::Sectors,
        Kind::Runs,
        Kind::Length,
    ];
}

impl Recorder {
    /// A disk that holds this.
    pub fn new(begun: Vec<u8>) -> Self {
        let (shown, log) = (begun.clone(), Vec::new());
        Self(Arc::new(Mutex::new(Recording { begun, shown, log, acknowledged: 0 })))
    }

    /// One more commit is acknowledged.
    pub fn acknowledge(&self) {
        self.recording().acknowledged += 1;
    }

    /// What was done to it so far.
    pub fn taken(&self) -> Recording {
        self.recording().clone()
    }

    fn recording(&self) -> MutexGuard<'_, Recording> {
        self.0.lock().unwrap()
    }

    fn note(&self, step: Option<Step>) {
        let mut recording = self.recording();
        if let Some(step) = &step {
            apply(&mut recording.shown, step);
        }
        let acknowledged = recording.acknowledged;
        recording.log.push(Noted { step, acknowledged });
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
                Some(None) => unsynced.drain(..).for_each(|step| apply(&mut synced, step)),
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
    /// Whether all was synced: then each kind finds the same.
    pub fn is_quiet(&self) -> bool {
        self.unsynced.is_empty()
    }

    /// What is found when the power is back.
    pub fn image(&self, kind: Kind, dice: &mut Dice) -> Vec<u8> {
        let mut image = self.synced.clone();
        let whole = match kind {
            Kind::Nothing => 0,
            Kind::Torn => dice.roll(self.unsynced.len() as u64 + 1) as usize,
            _ => self.unsynced.len(),
        };
        for (number, step) in self.unsynced[..whole].iter().enumerate() {
            match (kind, step) {
                (Kind::Torn, Step::Write(at, data)) if number + 1 == whole => {
                    keep(&mut image, *at, &data[..dice.roll(data.len() as u64 + 1) as usize]);
                }
                (Kind::All | Kind::Torn, step) => apply(&mut image, step),
                (Kind::Sectors | Kind::Length, Step::Write(at, data)) => {
                    let to_boundary = |from: usize| SECTOR - (at + from) % SECTOR;
                    pieces(&mut image, *at, data, dice, |from, _| to_boundary(from));
                }
                (Kind::Runs, Step::Write(at, data)) => {
                    pieces(&mut image, *at, data, dice, |_, dice| 1 + dice.roll(400) as usize);
                }
                (_, step) if dice.one_in(2) => apply(&mut image, step),
                _ => {}
            }
        }
        if kind == Kind::Length {
            let lengths: Vec<_> = self.lengths().into_iter().collect();
            image.resize(*dice.pick(&lengths), 0);
        }
        image
    }

    /// The lengths the file has had since it was synced.
    fn lengths(&self) -> BTreeSet<usize> {
        let mut length = self.synced.len();
        let mut lengths = BTreeSet::from([length]);
        for step in &self.unsynced {
            length = match step {
                Step::SetLen(length) => *length,
                Step::Write(at, data) => length.max(at + data.len()),
            };
            lengths.insert(length);
        }
        lengths
    }
}

/// Cuts a write in pieces of such lengths, and does any of them.
fn pieces(
    image: &mut Vec<u8>,
    at: usize,
    data: &[u8],
    dice: &mut Dice,
    length: impl Fn(usize, &mut Dice) -> usize,
) {
    let mut from = 0;
    while from < data.len() {
        let to = (from + length(from, dice)).min(data.len());
        if dice.one_in(2) {
            keep(image, at + from, &data[from..to]);
        }
        from = to;
    }
}

fn keep(image: &mut Vec<u8>, at: usize, data: &[u8]) {
    if data.is_empty() {
        return;
    }
    let end = at + data.len();
    if image.len() < end {
        image.resize(end, 0);
    }
    image[at..end].copy_from_slice(data);
}

impl StorageBackend for Recorder {
    fn len(&self) -> io::Result<u64> {
        Ok(self.recording().shown.len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let recording = self.recording();
        let source = recording.shown.get(offset as usize..offset as usize + out.len());
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
    assert_eq!(last.image(Kind::All, &mut dice), disk.recording().shown);
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
