//! What a machine whose power failed may find on its disk: what was synced, and of what was not, some.
//!
//! The whole-service simulation (`tests/sim`) has this file, too; so it asks for `Dice` where it is.

use super::Dice;
use std::collections::BTreeSet;

/// Bytes a disk writes whole or not at all.
pub(crate) const SECTOR: usize = 512;

/// What was done to a disk.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// These bytes were written there.
    Write(usize, Vec<u8>),
    /// The file got this length.
    SetLen(usize),
}

/// What becomes of what was not synced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
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

/// What is found when the power is back.
pub(crate) fn image(synced: &[u8], unsynced: &[&Step], kind: Kind, dice: &mut Dice) -> Vec<u8> {
    let mut image = synced.to_vec();
    let whole = match kind {
        Kind::Nothing => 0,
        Kind::Torn => dice.roll(unsynced.len() as u64 + 1) as usize,
        _ => unsynced.len(),
    };
    for (number, step) in unsynced[..whole].iter().enumerate() {
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
        let lengths: Vec<_> = lengths(synced, unsynced).into_iter().collect();
        image.resize(*dice.pick(&lengths), 0);
    }
    image
}

/// The lengths the file has had since it was synced.
fn lengths(synced: &[u8], unsynced: &[&Step]) -> BTreeSet<usize> {
    let mut length = synced.len();
    let mut lengths = BTreeSet::from([length]);
    for step in unsynced {
        length = match step {
            Step::SetLen(length) => *length,
            Step::Write(at, data) => length.max(at + data.len()),
        };
        lengths.insert(length);
    }
    lengths
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

/// Does a step.
pub(crate) fn apply(bytes: &mut Vec<u8>, step: &Step) {
    match step {
        Step::SetLen(length) => bytes.resize(*length, 0),
        Step::Write(at, data) => {
            let end = at + data.len();
            if !data.is_empty() && bytes.len() < end {
                bytes.resize(end, 0);
            }
            if !data.is_empty() {
                bytes[*at..end].copy_from_slice(data);
            }
        }
    }
}
