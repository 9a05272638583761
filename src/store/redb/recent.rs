//! Records at hand: those that were written or read last, as they are on disk.
//!
//! Each call looks at its token and its session, and a decision at both again: read from the file, each time
//! is a search and JSON. What is here is what the file holds, since only the one who commits changes it: it
//! says when a commit begins, and what it wrote when it has ended. Whoever reads in between, and then the file,
//! cannot know whether both are of one moment; such a read is of the file alone, and leaves nothing here.

use super::Trouble;
use crate::store::{Key, Record};
use foldhash::quality::RandomState;
use quick_cache::Weighter;
use quick_cache::unsync::Cache;
use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Bytes of memory for records at hand, by their estimate: the sessions and open asks of some thousand
/// agents.
const RECENT_BYTES: u64 = 16 << 20;

/// Keys that are remembered as absent: those of the largest batch, with room.
const ABSENT: usize = 4096;

/// Bytes that a record takes, but for what an ask's people and agents wrote.
const A_RECORD: u64 = 1024;

/// What is at hand.
pub(super) struct Recent(Mutex<Held>);

struct Held {
    records: Cache<Key, Record, Estimate, RandomState>,
    /// What was looked for since the last commit and is not in the file: whoever commits next need not look
    /// once more.
    absent: HashSet<Key, RandomState>,
    /// Odd while a commit is under way; another one after each.
    turn: u64,
}

#[derive(Clone)]
struct Estimate;

impl Weighter<Key, Record> for Estimate {
    fn weight(&self, _: &Key, record: &Record) -> u64 {
        let more = match record {
            Record::Ask(ask) => {
                let turns: usize = ask.turns.iter().map(|turn| turn.text.len()).sum();
                A_RECORD as usize + ask.content.context.len() + turns
            }
            Record::Roster(roster) => (roster.people.len() + roster.tokens.len()) * 128,
            _ => 0,
        };
        A_RECORD + more as u64
    }
}

/// Whether records of this kind are kept at hand. A receipt, a twin and a no are looked for where most often
/// there is none.
fn is_kept(key: &Key) -> bool {
    matches!(key, Key::Ask(_) | Key::Session(_) | Key::Work(_) | Key::Token(_) | Key::Roster(_))
}

impl Default for Recent {
    fn default() -> Self {
        let items = (RECENT_BYTES / A_RECORD) as usize;
        let hasher = RandomState::default();
        let records = Cache::with(items, RECENT_BYTES, Estimate, hasher, Default::default());
        Self(Mutex::new(Held { records, absent: HashSet::default(), turn: 0 }))
    }
}

impl Recent {
    fn held(&self) -> MutexGuard<'_, Held> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The records of these keys as of one moment, of which `read` gives those that are not at hand.
    pub fn load(
        &self,
        keys: &[Key],
        mut read: impl FnMut(&[&Key]) -> Result<Vec<Option<Record>>, Trouble>,
    ) -> Result<Vec<Option<Record>>, Trouble> {
        let (mut found, turn) = {
            let held = self.held();
            let found: Vec<_> = keys.iter().map(|key| held.records.get(key).cloned()).collect();
            (found, held.turn)
        };
        let missing: Vec<usize> = (0..keys.len()).filter(|at| found[*at].is_none()).collect();
        if missing.is_empty() {
            return Ok(found);
        }
        if turn.is_multiple_of(2) {
            let of_them: Vec<&Key> = missing.iter().map(|at| &keys[*at]).collect();
            let records = read(&of_them)?;
            let mut held = self.held();
            if held.turn == turn {
                for (at, record) in missing.into_iter().zip(records) {
                    if let Some(record) = record.as_ref().filter(|_| is_kept(&keys[at])) {
                        held.records.insert(keys[at].clone(), record.clone());
                    }
                    if record.is_none() && held.absent.len() < ABSENT {
                        held.absent.insert(keys[at].clone());
                    }
                    found[at] = record;
                }
                return Ok(found);
            }
        }
        read(&keys.iter().collect::<Vec<_>>())
    }

    /// A commit begins.
    pub fn begin(&self) -> Committing<'_> {
        let mut held = self.held();
        held.turn += 1;
        let absent = std::mem::take(&mut held.absent);
        Committing { recent: self, wrote: HashMap::default(), absent, is_done: false }
    }
}

/// What a commit under way has written so far. Dropped before it is done nobody knows what the file will
/// say, and nothing stays at hand.
pub(super) struct Committing<'a> {
    recent: &'a Recent,
    wrote: HashMap<Key, Option<Record>, RandomState>,
    absent: HashSet<Key, RandomState>,
    is_done: bool,
}

impl Committing<'_> {
    /// The record as it is by now, where that is at hand: `Some(None)` where it is not there.
    pub fn look(&self, key: &Key) -> Option<Option<Record>> {
        if self.absent.contains(key) {
            return Some(None);
        }
        let wrote = self.wrote.get(key).cloned();
        wrote.or_else(|| self.recent.held().records.get(key).cloned().map(Some))
    }

    /// A record was written.
    pub fn write(&mut self, record: &Record) {
        let key = record.key();
        self.absent.remove(&key);
        if is_kept(&key) {
            self.wrote.insert(key, Some(record.clone()));
        }
    }

    /// One was removed.
    pub fn remove(&mut self, key: &Key) {
        if is_kept(key) {
            self.wrote.insert(key.clone(), None);
        }
    }

    /// It is on disk, or nothing of it was to be written.
    pub fn done(mut self) {
        self.is_done = true;
    }
}

impl Drop for Committing<'_> {
    fn drop(&mut self) {
        let mut held = self.recent.held();
        held.turn += 1;
        if !self.is_done {
            held.records.clear();
            return;
        }
        for (key, record) in self.wrote.drain() {
            match record {
                Some(record) => held.records.insert(key, record),
                None => drop(held.records.remove(&key)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::{Timestamp, WorkId};
    use crate::session::Work;
    use crate::store::suite;

    fn record(number: u8) -> Record {
        Record::Work(suite::work(number).into())
    }

    /// Loads the records, and says which had to be read.
    fn load(recent: &Recent, numbers: &[u8], meanwhile: impl Fn()) -> Vec<usize> {
        let keys: Vec<Key> = numbers.iter().map(|number| record(*number).key()).collect();
        let mut read = Vec::new();
        let loaded = recent.load(&keys, |keys| {
            read.push(keys.len());
            meanwhile();
            Ok(keys
                .iter()
                .map(|key| numbers.iter().map(|n| record(*n)).find(|one| one.key() == **key))
                .collect())
        });
        let Ok(loaded) = loaded else { panic!("it can be read") };
        assert!(loaded.into_iter().flatten().map(|one| one.key()).eq(keys));
        read
    }

    #[test]
    fn what_was_read_is_at_hand() {
        let recent = Recent::default();
        assert_eq!(load(&recent, &[1, 2], || {}), [2]);
        assert_eq!(load(&recent, &[1, 2], || {}), [0; 0]);
        assert_eq!(load(&recent, &[1, 3], || {}), [1]);
    }

    #[test]
    fn what_is_read_beside_a_commit_is_of_one_moment_and_is_not_kept() {
        let recent = Recent::default();
        load(&recent, &[1], || {});
        let commit = recent.begin();
        assert_eq!(load(&recent, &[1, 2], || {}), [2], "all of it is read");
        assert_eq!(load(&recent, &[1], || {}), [0; 0], "one record is of one moment by itself");
        commit.done();
        // A commit begins and ends while the file is read: then all is read once more.
        assert_eq!(load(&recent, &[1, 2], || recent.begin().done()), [1, 2]);
        assert_eq!(load(&recent, &[2], || {}), [1], "and nothing of it was kept");
    }

    #[test]
    fn what_was_written_is_at_hand_once_it_is_on_disk_and_never_before() {
        let recent = Recent::default();
        let mut commit = recent.begin();
        commit.write(&record(1));
        assert!(commit.look(&record(1).key()).is_some(), "who commits sees it");
        assert_eq!(load(&recent, &[1], || {}), [1], "nobody else does");
        commit.done();
        assert_eq!(load(&recent, &[1], || {}), [0; 0]);
        let mut commit = recent.begin();
        commit.remove(&record(1).key());
        assert_eq!(commit.look(&record(1).key()), Some(None));
        drop(commit);
        assert_eq!(load(&recent, &[1], || {}), [1], "after a commit that failed nothing is known");
    }

    #[test]
    fn what_was_not_there_is_not_looked_for_again_until_somebody_has_committed() {
        let (recent, missing) = (Recent::default(), record(3));
        let look = |meanwhile: &dyn Fn()| {
            let keys = [missing.key()];
            let loaded = recent.load(&keys, |_| {
                meanwhile();
                Ok(vec![None])
            });
            assert!(matches!(loaded.as_deref(), Ok([None])));
        };
        look(&|| {});
        let mut commit = recent.begin();
        assert_eq!(commit.look(&missing.key()), Some(None));
        commit.write(&missing);
        assert!(matches!(commit.look(&missing.key()), Some(Some(_))), "now it is there");
        commit.done();
        recent.held().records.clear();
        assert_eq!(recent.begin().look(&missing.key()), None, "that was of before");
        look(&|| recent.begin().done());
        assert_eq!(recent.begin().look(&missing.key()), None, "nor is it of one moment");
        for number in 0..2 * ABSENT as u64 {
            let id = WorkId::new(Timestamp::from_millis(number), [0; 6]);
            let loaded = recent.load(&[Key::Work(id)], |_| Ok(vec![None]));
            assert!(loaded.is_ok());
        }
        assert_eq!(recent.held().absent.len(), ABSENT);
    }

    #[test]
    fn no_more_is_at_hand_than_may_be() {
        let recent = Recent::default();
        let mut commit = recent.begin();
        let Record::Work(work) = record(1) else { unreachable!() };
        for number in 0..2 * RECENT_BYTES / A_RECORD {
            let id = WorkId::new(Timestamp::from_millis(number), [0; 6]);
            commit.write(&Record::Work(Work { id, ..(*work).clone() }.into()));
        }
        commit.done();
        let held = recent.held();
        assert!(held.records.weight() <= RECENT_BYTES && held.records.len() > 1_000);
    }
}
