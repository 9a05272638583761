//! What the file store does on such a disk.

use super::{Disk, EIO, ENOSPC, Plan, Steps};
use crate::store::redb::{FORMAT, Redb};
use crate::store::suite::{Dice, World, mark};
use crate::store::{Batch, Fault, Key, Record, Scope, Store};
use std::time::Duration;

const SOON: Duration = Duration::from_millis(1);
const NEVER: Duration = Duration::from_secs(1_000_000);

/// Commits of one run.
const RUN: u64 = 8;

fn open(disk: &Disk, every: Duration) -> Result<Redb, Fault> {
    let disk = disk.clone();
    Redb::with_backend(move || Ok(disk.clone()), every)
}

fn refusal(disk: &Disk) -> String {
    match open(disk, NEVER) {
        Err(Fault::Unreadable(why)) => why,
        Err(other) => panic!("{other:?}"),
        Ok(_) => panic!("it was opened"),
    }
}

/// The next batch, told from all others by its mark.
pub(super) fn next(world: &mut World, number: u64) -> Batch {
    Batch { mark: Some(mark(number)), ..world.steps() }
}

/// The number of the last batch that was kept.
pub(super) async fn kept(store: &Redb) -> u64 {
    match &store.load(&[Key::Clock]).await.unwrap()[0] {
        Some(Record::Clock(mark)) => mark.since_boot,
        _ => 0,
    }
}

#[tokio::test]
async fn a_failed_write_or_sync_loses_nothing_and_heals() {
    let mut failed = 0;
    for step in 1.. {
        let disk = Disk::new(step);
        let store = open(&disk, SOON).unwrap();
        let begun = disk.platter().steps;
        let error = if step % 2 == 0 { EIO } else { ENOSPC };
        disk.plan(Plan::Fail(Steps::only(begun + step), error));
        let mut world = World::new(step);
        let mut faults = 0;
        for number in 1..=RUN {
            let before = world.clone();
            let batch = next(&mut world, number);
            if let Err(fault) = store.commit(batch).await {
                assert!(matches!(fault, Fault::Unavailable(_)), "{fault}");
                faults += 1;
                store.wait_until_open();
                if kept(&store).await != number {
                    world = before;
                }
                world.check(&store).await;
            }
        }
        drop(store);
        disk.power_up();
        let store = open(&disk, NEVER).unwrap();
        world.check(&store).await;
        failed += faults;
        if faults == 0 {
            break;
        }
    }
    assert!(failed > 100, "only {failed} steps failed");
}

#[tokio::test]
async fn a_full_disk_is_unavailable_and_serves_again_when_it_has_room() {
    let disk = Disk::new(1);
    let store = open(&disk, SOON).unwrap();
    let mut world = World::new(1);
    for number in 1..=RUN {
        store.commit(next(&mut world, number)).await.unwrap();
    }
    let before = world.clone();
    disk.plan(Plan::Full);
    let refused = next(&mut world, RUN + 1);
    for _ in 0..3 {
        let fault = store.commit(refused.clone()).await.unwrap_err();
        assert!(matches!(fault, Fault::Unavailable(_)), "{fault}");
        let listed = store.list(&Scope::Open(Default::default()), None, 9).await;
        assert!(listed.is_err(), "unknown is not empty");
    }
    disk.plan(Plan::Serve);
    store.wait_until_open();
    before.check(&store).await;
    store.commit(refused).await.unwrap();
    world.check(&store).await;
}

#[tokio::test]
async fn a_crash_at_any_step_keeps_what_was_acknowledged() {
    for step in 1.. {
        let disk = Disk::new(step);
        disk.plan(Plan::LosePower(step));
        let mut world = World::new(step);
        let mut told = vec![world.clone()];
        let mut crashed = true;
        if let Ok(store) = open(&disk, NEVER) {
            crashed = false;
            for number in 1..=RUN {
                let batch = next(&mut world, number);
                told.push(world.clone());
                if store.commit(batch).await.is_err() {
                    crashed = true;
                    break;
                }
            }
        }
        disk.power_up();
        let store = open(&disk, NEVER).unwrap();
        let acknowledged = told.len() as u64 - 1 - u64::from(crashed && told.len() > 1);
        let found = kept(&store).await;
        assert!(found == acknowledged || found == acknowledged + 1, "step {step}: {found}");
        told[found as usize].check(&store).await;
        // And what is shown is on disk by then.
        drop(store);
        disk.power_up();
        told[found as usize].check(&open(&disk, NEVER).unwrap()).await;
        if !crashed {
            assert!(step > 100, "only {step} steps were tried");
            break;
        }
    }
}

#[tokio::test]
async fn what_is_shown_after_a_kill_is_made_durable_before_it_is_served() {
    for step in 1..200 {
        let disk = Disk::new(step);
        let mut world = World::new(step);
        let mut told = vec![world.clone()];
        let store = open(&disk, NEVER).unwrap();
        let begun = disk.platter().steps;
        disk.plan(Plan::LosePower(begun + step));
        for number in 1..=RUN {
            let batch = next(&mut world, number);
            told.push(world.clone());
            if store.commit(batch).await.is_err() {
                break;
            }
        }
        drop(store);
        // The process was killed, the machine was not: all it wrote is shown.
        disk.plan(Plan::Serve);
        let store = open(&disk, NEVER).unwrap();
        let served = kept(&store).await;
        // Before the file is closed, which would sync it.
        disk.plan(Plan::LosePower(0));
        drop(store);
        disk.power_up();
        let store = open(&disk, NEVER).unwrap();
        assert_eq!(kept(&store).await, served, "step {step}");
        told[served as usize].check(&store).await;
    }
}

async fn written(seed: u64) -> (Disk, World) {
    let (disk, mut world) = (Disk::new(seed), World::new(seed));
    let store = open(&disk, NEVER).unwrap();
    for number in 1..=40 {
        store.commit(next(&mut world, number)).await.unwrap();
    }
    drop(store);
    (disk, world)
}

#[tokio::test]
async fn a_damaged_file_is_refused_in_words_or_says_what_was_written() {
    let (disk, world) = written(1).await;
    let whole = disk.platter().shown.clone();
    let mut dice = Dice::new(1);
    let mut refused = 0;
    for _ in 0..300 {
        let mut bytes = whole.clone();
        for _ in 0..=dice.roll(20) {
            let place = dice.roll(bytes.len() as u64) as usize;
            bytes[place] ^= 1 << dice.roll(8);
        }
        if dice.one_in(10) {
            bytes.truncate(dice.roll(bytes.len() as u64) as usize);
        }
        let disk = Disk::new(2);
        disk.platter().shown = bytes;
        match open(&disk, NEVER) {
            Ok(store) => world.check(&store).await,
            Err(Fault::Unreadable(_)) => refused += 1,
            Err(fault) => panic!("{fault}"),
        }
    }
    assert!(refused > 100, "hardly any damage was done: {refused}");
}

#[tokio::test]
async fn what_is_not_ours_is_refused_by_name_and_left_alone() {
    let disk = Disk::new(1);
    disk.platter().shown = b"Dear diary, today nobody asked me anything.".to_vec();
    assert!(refusal(&disk).contains("not an askway store"), "{}", refusal(&disk));
    assert_eq!(disk.platter().steps, 0, "it was written to");

    let disk = Disk::new(1);
    let other = ::redb::Database::builder().create_with_backend(disk.clone()).unwrap();
    let txn = other.begin_write().unwrap();
    drop(txn.open_table(::redb::TableDefinition::<u64, u64>::new("numbers")).unwrap());
    txn.commit().unwrap();
    drop(other);
    let steps = disk.platter().steps;
    assert!(refusal(&disk).contains("not an askway store"), "{}", refusal(&disk));
    assert_eq!(disk.platter().steps, steps, "it was written to");
}

#[tokio::test]
async fn a_newer_format_is_refused_without_a_byte_written() {
    let (disk, world) = written(3).await;
    let set_marker = |format: u64, least_reader: u64| {
        let database = ::redb::Database::builder().create_with_backend(disk.clone()).unwrap();
        let mut txn = database.begin_write().unwrap();
        txn.set_quick_repair(true);
        let meta = ::redb::TableDefinition::<&str, &[u8]>::new("meta");
        let marker = serde_json::json!({
            "format": format, "least_reader": least_reader,
            "written_by": "askway 9", "incarnation": "ab", "a field of later times": true,
        });
        let bytes = serde_json::to_vec(&marker).unwrap();
        txn.open_table(meta).unwrap().insert("marker", bytes.as_slice()).unwrap();
        txn.commit().unwrap();
        // Left as a kill leaves it: to be repaired by whoever opens it.
        std::mem::forget(database);
    };
    let newer = u64::from(FORMAT) + 1;
    set_marker(newer, newer);
    let steps = disk.platter().steps;
    let shown = disk.platter().shown.clone();
    let why = refusal(&disk);
    assert!(why.contains(&format!("has format {newer}, made by askway 9")), "{why}");
    assert_eq!(disk.platter().steps, steps, "it was written to");
    assert!(disk.platter().shown == shown, "it was changed");

    set_marker(newer, 1);
    world.check(&open(&disk, NEVER).unwrap()).await;
}

#[tokio::test]
async fn another_store_in_its_place_is_not_taken_for_it() {
    let (disk, _) = written(4).await;
    let (another, _) = written(5).await;
    let another = another.platter().shown.clone();
    for other in [Vec::new(), another] {
        let store = open(&disk, SOON).unwrap();
        let whole = disk.platter().shown.clone();
        disk.plan(Plan::Full);
        store.commit(next(&mut World::new(1), 1)).await.unwrap_err();
        disk.platter().shown.clone_from(&other);
        disk.plan(Plan::Serve);
        store.wait_for("another store is in the place");
        assert!(disk.platter().shown == other, "it was written to");
        disk.platter().shown = whole;
        store.wait_until_open();
    }
}

#[tokio::test]
async fn a_lost_or_changed_event_is_never_an_answer() {
    let (disk, world) = written(6).await;
    let database = ::redb::Database::builder().create_with_backend(disk.clone()).unwrap();
    let lost = change_each(&database, &world, |_| None);
    let seen = seen_as_damaged(&disk, &world, database).await;
    assert!(lost > 0 && seen == lost, "{lost} were lost, {seen} seen");

    let (disk, world) = written(6).await;
    let database = ::redb::Database::builder().create_with_backend(disk.clone()).unwrap();
    let changed = change_each(&database, &world, |mut bytes| {
        let place = bytes.len() / 2;
        bytes[place] ^= 1;
        Some(bytes)
    });
    let seen = seen_as_damaged(&disk, &world, database).await;
    assert!(changed > 0 && seen == changed, "{changed} were changed, {seen} seen");
}

/// Changes the last event of each ask that has several and is open; how many those are.
fn change_each(
    database: &::redb::Database,
    world: &World,
    change: impl Fn(Vec<u8>) -> Option<Vec<u8>>,
) -> usize {
    let txn = database.begin_write().unwrap();
    let events = ::redb::TableDefinition::<&[u8; 20], &[u8]>::new("events");
    let mut changed = 0;
    for (ask, _) in world.asks.values().filter(|(ask, _)| ask.revision > 1 && ask.is_open()) {
        let mut key = [0; 20];
        key[..12].copy_from_slice(&ask.id.to_bytes());
        key[12..].copy_from_slice(&ask.revision.to_be_bytes());
        let mut table = txn.open_table(events).unwrap();
        let bytes = table.remove(&key).unwrap().unwrap().value().to_vec();
        if let Some(bytes) = change(bytes) {
            table.insert(&key, bytes.as_slice()).unwrap();
        }
        changed += 1;
    }
    txn.commit().unwrap();
    changed
}

/// How many asks are refused as damaged; all others are as they were.
async fn seen_as_damaged(disk: &Disk, world: &World, database: ::redb::Database) -> usize {
    drop(database);
    let store = open(disk, NEVER).unwrap();
    let mut seen = 0;
    for (id, (ask, _)) in &world.asks {
        match store.load(&[Key::Ask(*id)]).await.as_deref() {
            Ok([Some(Record::Ask(found))]) => assert_eq!(**found, *ask),
            Err(Fault::Unreadable(why)) if why.contains("is damaged") => seen += 1,
            other => panic!("{other:?}"),
        }
    }
    seen
}
