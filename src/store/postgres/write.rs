//! A batch as one call of `askway.commit_batch`: one round trip, in autocommit. What it does with it
//! stands in `sql/`.

use super::layout::{lists_of_ask, lists_of_session, lock_of, millis, name_of, number};
use crate::ask::AskId;
use crate::store::index::Row;
use crate::store::record::encode;
use crate::store::{Batch, Change, Fault, Key, Record};
use std::collections::{BTreeMap, BTreeSet};
use tokio_postgres::types::ToSql;

/// The call.
pub(super) const COMMIT: &str = "select askway.commit_batch($1::int4, $2::int2[], $3::bytea[], \
     $4::int8[], $5::bool[], $6::int4[], $7::int2[], $8::int4[], $9::int8[], $10::int8[], \
     $11::int8[], $12::bytea[], $13::text[], $14::bytea, $15::int8)";

/// What stands in the first place of the answer for a change that is done, and for one that others are
/// in the way of now.
pub(super) const DONE: i16 = 0;
pub(super) const HELD: i16 = 2;

const CHECK: i16 = 1;
const EVENT: i16 = 2;
const PUT: i16 = 3;
const REMOVE: i16 = 4;

/// The arguments of the call, by column.
#[derive(Default)]
pub(super) struct Call {
    changes: i32,
    lock_kinds: Vec<i16>,
    lock_keys: Vec<Vec<u8>>,
    lock_names: Vec<i64>,
    lock_writes: Vec<bool>,
    op_changes: Vec<i32>,
    ops: Vec<i16>,
    op_locks: Vec<i32>,
    revisions: Vec<Option<i64>>,
    times: Vec<Option<i64>>,
    notices: Vec<Option<i64>>,
    bodies: Vec<Option<Vec<u8>>>,
    lists: Vec<Option<String>>,
    mark: Option<Vec<u8>>,
    mark_time: Option<i64>,
}

/// One operation, but for its lock.
#[derive(Default)]
struct Op {
    op: i16,
    revision: Option<i64>,
    time: Option<i64>,
    notice: Option<i64>,
    body: Option<Vec<u8>>,
    lists: Option<String>,
}

type Name = (i16, Vec<u8>);

impl Call {
    /// The call for a batch.
    pub fn of(batch: &Batch) -> Result<Self, Fault> {
        let mut call = Self { changes: batch.changes.len() as i32, ..Self::default() };
        if let Some(mark) = &batch.mark {
            call.mark = Some(encode(mark)?);
            call.mark_time = Some(millis(mark.service));
        }
        let touched: Vec<_> = batch.changes.iter().map(touched).collect();
        // Every lock, in the order of their names, which is the same for everybody.
        let mut locks: BTreeMap<&Name, bool> = BTreeMap::new();
        for (name, touch) in touched.iter().flatten() {
            *locks.entry(name).or_default() |= touch.writes;
        }
        let mut numbers: BTreeMap<&Name, i32> = BTreeMap::new();
        for (place, (name, writes)) in (1..).zip(locks) {
            call.lock_kinds.push(name.0);
            call.lock_keys.push(name.1.clone());
            call.lock_names.push(lock_of(name.0, &name.1));
            call.lock_writes.push(writes);
            numbers.insert(name, place);
        }
        for (place, (change, touched)) in (1..).zip(batch.changes.iter().zip(&touched)) {
            // Everything is checked before anything is written, so that nothing of it has to be taken back.
            for (name, touch) in touched {
                for op in touch.checks() {
                    call.push(place, numbers[name], op);
                }
            }
            for (key, op) in operations(change)? {
                call.push(place, numbers[&name_of(&key)], op);
            }
        }
        Ok(call)
    }

    /// The arguments in their order.
    pub fn values(&self) -> [&(dyn ToSql + Sync); 15] {
        [
            &self.changes,
            &self.lock_kinds,
            &self.lock_keys,
            &self.lock_names,
            &self.lock_writes,
            &self.op_changes,
            &self.ops,
            &self.op_locks,
            &self.revisions,
            &self.times,
            &self.notices,
            &self.bodies,
            &self.lists,
            &self.mark,
            &self.mark_time,
        ]
    }

    fn push(&mut self, change: i32, lock: i32, op: Op) {
        self.op_changes.push(change);
        self.op_locks.push(lock);
        self.ops.push(op.op);
        self.revisions.push(op.revision);
        self.times.push(op.time);
        self.notices.push(op.notice);
        self.bodies.push(op.body);
        self.lists.push(op.lists);
    }
}

/// What a change has to do with one record.
#[derive(Debug, Default, PartialEq, Eq)]
struct Touch {
    writes: bool,
    /// The revisions it must have; more than one where no record can have them.
    expected: BTreeSet<i64>,
}

impl Touch {
    /// Whatever is touched may be somebody else's now, also where no revision is expected.
    fn checks(&self) -> Vec<Op> {
        let check = |revision| Op { op: CHECK, revision, ..Op::default() };
        match self.expected.is_empty() {
            true => vec![check(None)],
            false => self.expected.iter().map(|revision| check(Some(*revision))).collect(),
        }
    }
}

/// The records that a change touches.
fn touched(change: &Change) -> BTreeMap<Name, Touch> {
    let mut all: BTreeMap<Name, Touch> = BTreeMap::new();
    for (key, expected) in &change.expects {
        all.entry(name_of(key)).or_default().expected.insert(number(*expected));
    }
    // Events go on where the history ends: the first says where, the others follow it.
    let mut ends: BTreeMap<AskId, u64> = BTreeMap::new();
    for (ask, event) in &change.events {
        let touch = all.entry(name_of(&Key::Ask(*ask))).or_default();
        touch.writes = true;
        match ends.insert(*ask, event.revision) {
            None => drop(touch.expected.insert(number(event.revision) - 1)),
            Some(end) if end + 1 == event.revision => {}
            // No record has this revision.
            Some(_) => drop(touch.expected.insert(-1)),
        }
    }
    let written = change.writes.iter().map(Record::key).chain(change.removes.iter().cloned());
    for key in written {
        all.entry(name_of(&key)).or_default().writes = true;
    }
    all
}

/// What is done for a change, once all it touches was checked.
fn operations(change: &Change) -> Result<Vec<(Key, Op)>, Fault> {
    let mut ops: Vec<(Key, Op)> = Vec::new();
    for (ask, event) in &change.events {
        let (revision, body) = (Some(number(event.revision)), Some(encode(event)?));
        ops.push((Key::Ask(*ask), Op { op: EVENT, revision, body, ..Op::default() }));
    }
    for record in &change.writes {
        ops.push((record.key(), put(record)?));
    }
    for key in &change.removes {
        ops.push((key.clone(), Op { op: REMOVE, ..Op::default() }));
    }
    Ok(ops)
}

fn put(record: &Record) -> Result<Op, Fault> {
    let op = Op { op: PUT, revision: Some(number(record.revision())), ..Op::default() };
    let body = match record {
        // The ask itself is its events; what is written of it is where it stands.
        Record::Ask(ask) => {
            let row = Row::of(ask);
            let notice = row.as_ref().and_then(|row| row.notice).map(millis);
            let lists = Some(lists_of_ask(row.as_ref()));
            return Ok(Op { time: ask.deadline().map(millis), notice, lists, ..op });
        }
        Record::Session(session) => {
            let (time, lists) = (session.deadline().map(millis), Some(lists_of_session(session)));
            return Ok(Op { time, lists, body: Some(encode(session)?), ..op });
        }
        Record::Clock(mark) => {
            let time = Some(millis(mark.service));
            return Ok(Op { time, body: Some(encode(mark)?), ..op });
        }
        Record::Work(work) => encode(work),
        Record::Ticket(ticket) => encode(ticket),
        Record::Token(token) => encode(token),
        Record::Receipt(receipt) => encode(receipt),
        Record::Twin(twin) => encode(twin),
        Record::StandingNo(no) => encode(no),
        Record::Roster(roster) => encode(roster),
    };
    Ok(Op { body: Some(body?), ..op })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::suite;

    #[test]
    fn each_record_of_a_change_is_checked_once() {
        let record = Record::Session(suite::session(1).into());
        let (read, key) = (Record::Twin(suite::twin(1).into()), record.key());
        let change = Change {
            expects: vec![(key.clone(), 3), (read.key(), 0)],
            writes: vec![record, Record::Token(suite::token(1).into())],
            ..Change::default()
        };
        let call = Call::of(&Batch { changes: vec![change], mark: None }).unwrap();
        assert_eq!(call.ops, [CHECK, CHECK, CHECK, PUT, PUT]);
        assert_eq!(call.revisions[..3], [Some(3), None, Some(0)], "in the order of their names");
        assert_eq!(call.op_locks[..3], [1, 2, 3]);
        assert_eq!(call.lock_writes, [true, true, false]);
    }
}
