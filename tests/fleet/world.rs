//! What all replicas share: the records, the time, who is there, chance; and a book of what happened, kept
//! beside them by nobody's rules but these.

use askway::ask::{AskId, Timestamp};
use askway::store::mem::Mem;
use askway::store::share::Attached;
use askway::store::suite::Dice;
use askway::store::{Batch, Change, Committed, Heard, Key, Record, Store};
use futures_util::FutureExt;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

/// When a run begins, to the store.
const BEGUN: u64 = 1_800_000_000_000;
/// Who was seen in so many milliseconds is there.
const SEEN_WITHIN: u64 = 10_000;

/// Lets time pass.
pub async fn pass(length: Duration) {
    sleep_until(Instant::now() + length).await;
}

/// The same, by milliseconds.
pub async fn millis(length: u64) {
    pass(Duration::from_millis(length)).await;
}

/// What many replicas have in common.
pub struct World {
    pub mem: Mem,
    began: Instant,
    state: Mutex<State>,
}

/// Behind one lock, which nobody holds while they wait.
pub struct State {
    pub dice: Dice,
    /// Nothing fails any more.
    pub calm: bool,
    pub replicas: BTreeMap<String, Replica>,
    pub counts: BTreeMap<&'static str, u64>,
    pub violations: Vec<String>,
    waiting: i64,
    /// The revision of each ask, and how often it was settled.
    book: HashMap<AskId, (u64, u32)>,
    /// What happened, in its order, as one number.
    trace: u64,
}

/// What is known of one replica.
#[derive(Default)]
pub struct Replica {
    pub seen: Option<Timestamp>,
    pub carries: bool,
    pub attached: HashSet<Attached>,
    pub ear: Arc<Ear>,
}

/// What a replica has yet to hear.
#[derive(Default)]
pub struct Ear {
    told: Mutex<Vec<u64>>,
    everything: Mutex<bool>,
    more: Notify,
}

impl Ear {
    pub fn tell(&self, hints: &[u64]) {
        self.told.lock().unwrap().extend_from_slice(hints);
        self.more.notify_one();
    }

    /// Something may have been missed.
    pub fn missed(&self) {
        *self.everything.lock().unwrap() = true;
        self.more.notify_one();
    }

    pub async fn hears(&self) -> Heard {
        loop {
            if std::mem::take(&mut *self.everything.lock().unwrap()) {
                return Heard::Everything;
            }
            let told = std::mem::take(&mut *self.told.lock().unwrap());
            if !told.is_empty() {
                return Heard::Hints(told);
            }
            self.more.notified().await;
        }
    }
}

impl State {
    pub fn count(&mut self, name: &'static str) {
        *self.counts.entry(name).or_default() += 1;
    }

    /// So many more wait now.
    pub fn waits(&mut self, more: i64) {
        self.waiting += more;
        let now = self.waiting.unsigned_abs();
        let most = self.counts.entry("waiting_most").or_default();
        *most = now.max(*most);
    }

    /// Whether something goes wrong now that does once in so many times.
    pub fn fails(&mut self, sides: u64) -> bool {
        !self.calm && self.dice.one_in(sides)
    }

    /// Those that are there at `now`.
    pub fn present(&self, now: Timestamp) -> impl Iterator<Item = (&String, &Replica)> {
        let is_there = move |replica: &Replica| {
            replica.seen.is_some_and(|seen| seen.as_millis() + SEEN_WITHIN > now.as_millis())
        };
        self.replicas.iter().filter(move |(_, replica)| is_there(replica))
    }

    fn note(&mut self, number: u64) {
        self.trace = (self.trace ^ number).wrapping_mul(0x0100_0000_01b3);
    }
}

impl World {
    pub fn new(seed: u64) -> Arc<Self> {
        let state = State {
            dice: Dice::new(seed),
            calm: false,
            replicas: BTreeMap::new(),
            counts: BTreeMap::new(),
            violations: Vec::new(),
            waiting: 0,
            book: HashMap::new(),
            trace: 0xcbf2_9ce4_8422_2325,
        };
        Arc::new(Self { mem: Mem::new(), began: Instant::now(), state: Mutex::new(state) })
    }

    pub fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("nobody panics with the world in hand")
    }

    /// A number below `sides`.
    pub fn roll(&self, sides: u64) -> u64 {
        self.state().dice.roll(sides)
    }

    pub fn passed(&self) -> u64 {
        self.began.elapsed().as_millis() as u64
    }

    /// The store's time.
    pub fn now(&self) -> Timestamp {
        Timestamp::from_millis(BEGUN + self.passed())
    }

    /// A promise was broken.
    pub fn broken(&self, rule: &str, what: &str) {
        eprintln!("violation: {rule}: {what} (at {} ms)", self.passed());
        self.state().violations.push(format!("{rule}: {what}"));
    }

    pub fn trace(&self) -> u64 {
        self.state().trace >> 16
    }

    /// Applies a batch as the database does: each change whole or not at all, and not where it touches what
    /// an earlier one of the batch was to write and did not.
    pub fn apply(&self, batch: Batch) -> Vec<Committed> {
        let (mut written, mut unwritten) = (HashSet::new(), HashSet::new());
        let mut became = Vec::new();
        for change in batch.changes {
            let (touched, writes) = touched(&change);
            let events = change.events.clone();
            let rests_on_nothing = touched.iter().all(|key| !unwritten.contains(key));
            let one = match rests_on_nothing {
                true => {
                    let one = Batch { changes: vec![change], mark: None };
                    self.mem.commit(one).now_or_never().expect("memory is ready at once").unwrap()
                        [0]
                }
                false => Committed::Conflict,
            };
            match one {
                Committed::Done => {
                    written.extend(writes);
                    events.iter().for_each(|(ask, event)| self.happened(*ask, event));
                }
                Committed::Conflict => {
                    self.state().count("conflicts");
                    let lost = writes.into_iter().filter(|key| !written.contains(key));
                    unwritten.extend(lost);
                }
            }
            became.push(one);
        }
        self.mark(batch.mark);
        became
    }

    /// The clock's mark goes on only.
    fn mark(&self, mark: Option<askway::store::ClockMark>) {
        let Some(mark) = mark else { return };
        let known = self.mem.load(&[Key::Clock]).now_or_never().expect("at once").unwrap().pop();
        let is_later = match known.flatten() {
            Some(Record::Clock(known)) => mark.service >= known.service,
            _ => true,
        };
        if is_later {
            let batch = Batch { changes: Vec::new(), mark: Some(mark) };
            self.mem.commit(batch).now_or_never().expect("at once").unwrap();
        }
    }

    /// An event was kept: each once, in order, and one that settles.
    fn happened(&self, ask: AskId, event: &askway::ask::Event) {
        let mut state = self.state();
        let (revision, settled) = state.book.entry(ask).or_default();
        let is_next = event.revision == *revision + 1;
        *revision = event.revision;
        *settled += u32::from(event.kind.settles());
        let (revision, settled) = (*revision, *settled);
        state.note(revision);
        state.note(event.time.as_millis());
        ask.to_bytes().into_iter().for_each(|byte| state.note(byte.into()));
        state.count("events");
        drop(state);
        if !is_next {
            self.broken("rule_08", &format!("{ask} has a gap before {revision}"));
        }
        if settled > 1 {
            self.broken("rule_02", &format!("{ask} is settled again at {revision}"));
        }
    }
}

/// The records a change touches, and those of them that it writes.
fn touched(change: &Change) -> (Vec<Key>, Vec<Key>) {
    let told = change.events.iter().map(|(ask, _)| Key::Ask(*ask));
    let written = change.writes.iter().map(Record::key);
    let writes: Vec<Key> = told.chain(written).chain(change.removes.iter().cloned()).collect();
    let read = change.expects.iter().map(|(key, _)| key.clone());
    (read.chain(writes.iter().cloned()).collect(), writes)
}
