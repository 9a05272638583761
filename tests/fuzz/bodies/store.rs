//! A store's file, damaged: it is refused by name, or says what is right. Never something else.
//!
//! The bytes are damage: three for where, one for which kind, one for with what; and on.

use askway::ask::{AskId, Event};
use askway::store::redb::Redb;
use askway::store::suite::{World, mark, receipt, session, ticket, token, twin, work};
use askway::store::{Batch, Change, Fault, Key, Record, Store};
use std::fs;
use std::future::Future;
use std::path::PathBuf;
use std::pin::pin;
use std::sync::{LazyLock, Mutex};
use std::task::{Context, Poll, Waker};
use tempfile::TempDir;

/// A store with something of each kind in it, and what it must say.
struct Good {
    folder: TempDir,
    bytes: Vec<u8>,
    records: Vec<(Key, Record)>,
    histories: Vec<(AskId, Vec<Event>)>,
}

static GOOD: LazyLock<Mutex<Good>> = LazyLock::new(|| Mutex::new(Good::new()));

pub fn run(bytes: &[u8]) -> bool {
    let good = GOOD.lock().expect("nobody panicked with it");
    let mut damaged = good.bytes.clone();
    for damage in bytes.as_chunks::<5>().0 {
        spoil(&mut damaged, *damage);
    }
    let path = good.path();
    fs::write(&path, &damaged).expect("a file can be written");
    let read = match Redb::open(&path) {
        // Nothing can be told apart from what a kill leaves while a file is made: a new store.
        Ok(store) if is_unborn(&damaged, &good.bytes) => {
            assert_eq!(now(store.asks(None, 1)), Ok(Vec::new()));
            false
        }
        Ok(store) => good.ask(&store),
        Err(fault) => named(&fault),
    };
    if damaged == good.bytes {
        assert!(read, "what is not damaged is read");
    }
    bytes.len() >= 5
}

/// Whether a file is empty, or has a header without its magic number, or with a part of it, and nothing
/// after it.
fn is_unborn(bytes: &[u8], good: &[u8]) -> bool {
    let is_zero = |bytes: &[u8]| bytes.iter().all(|byte| *byte == 0);
    let header = bytes.len().min(512);
    let (magic, whole) = (&bytes[..header.min(9)], &good[..9]);
    let part = |(byte, whole): (&u8, &u8)| *byte == 0 || byte == whole;
    let in_part = magic.len() == 9 && magic.iter().zip(whole).all(part) && magic != whole;
    (in_part || is_zero(magic)) && is_zero(&bytes[header..])
}

/// One piece of damage.
fn spoil(bytes: &mut Vec<u8>, [high, middle, low, kind, with]: [u8; 5]) {
    let place = u32::from_be_bytes([0, high, middle, low]) as usize;
    // Half of it in the first pages: there is the header, and most of what is kept.
    let within = if kind & 0x80 == 0 { bytes.len() } else { bytes.len().min(65_536) };
    let at = place % within.max(1);
    let end = bytes.len().min(at + 1 + usize::from(with));
    match kind & 7 {
        _ if bytes.is_empty() => {}
        0 | 1 => bytes[at] ^= with,
        2 => bytes[at] = with,
        3 => bytes.truncate(at),
        4 => bytes[at..end].fill(0),
        5 => bytes[at..end].fill(0xff),
        6 => bytes.copy_within(at..end, 0),
        _ => bytes.extend(std::iter::repeat_n(with, place % 8_192)),
    }
}

fn named(fault: &Fault) -> bool {
    let (Fault::Unavailable(why) | Fault::Unreadable(why)) = fault;
    assert!(!why.is_empty());
    false
}

impl Good {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let path = folder.path().join("store.redb");
        let mut world = World::new(7);
        let mut others: Vec<Record> = Vec::new();
        {
            let store = Redb::open(&path).expect("a new store opens");
            for _ in 0..12 {
                let batch = world.steps();
                now(store.commit(batch)).expect("it is kept");
            }
            others.extend([Record::Ticket(ticket(1).into()), Record::Token(token(1).into())]);
            others.extend([Record::Work(work(9).into()), Record::Twin(twin(1).into())]);
            others.push(Record::Session(session(99).into()));
            others.push(Record::Receipt(receipt(7, "a caller").into()));
            let change = Change { writes: others.clone(), ..Change::default() };
            let batch = Batch { changes: vec![change], mark: Some(mark(9)) };
            now(store.commit(batch)).expect("it is kept");
        }
        others.push(Record::Clock(mark(9)));
        let asks = world.asks.values().map(|(ask, _)| Record::Ask(ask.clone().into()));
        let sessions = world.sessions.values().map(|one| Record::Session(one.clone().into()));
        let all = others.into_iter().chain(asks).chain(sessions);
        let records: Vec<_> = all.map(|record| (record.key(), record)).collect();
        assert!(records.len() > 12 && !world.asks.is_empty(), "it is a store with something in it");
        let histories = world.asks.iter().map(|(id, (_, events))| (*id, events.clone())).collect();
        let bytes = fs::read(&path).expect("it is there");
        Self { folder, bytes, records, histories }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("store.redb")
    }

    /// Everything it can be asked: right, or refused. Whether all of it was right.
    fn ask(&self, store: &Redb) -> bool {
        let mut whole = true;
        for (key, record) in &self.records {
            match now(store.load(std::slice::from_ref(key))) {
                Ok(found) => assert_eq!(found, [Some(record.clone())], "{key:?}"),
                Err(fault) => whole = named(&fault),
            }
        }
        for (id, events) in &self.histories {
            match now(store.history(*id, 0, usize::MAX)) {
                Ok(found) => assert_eq!(found, *events, "{id}"),
                Err(fault) => whole = named(&fault),
            }
        }
        match now(store.asks(None, usize::MAX)) {
            Ok(found) => assert_eq!(found.len(), self.histories.len()),
            Err(fault) => whole = named(&fault),
        }
        whole
    }
}

/// What this store's calls give: they never wait.
fn now<T>(call: impl Future<Output = T>) -> T {
    match pin!(call).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(given) => given,
        Poll::Pending => panic!("this store is ready at once"),
    }
}
