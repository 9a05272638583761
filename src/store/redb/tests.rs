//! The file keeps the laws, is opened again, and is looked over.

use super::*;
use crate::store::suite::{self, World};

#[tokio::test]
async fn the_file_keeps_every_law() {
    let folder = tempfile::tempdir().unwrap();
    let count = std::sync::atomic::AtomicU32::new(0);
    suite::all(|| async {
        let number = count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let store = Redb::open(folder.path().join(number.to_string())).unwrap();
        Arc::new(store) as Arc<dyn Store>
    })
    .await;
}

#[tokio::test]
async fn opened_again_it_says_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    let mut world = World::new(11);
    let mut incarnation = None;
    for _ in 0..6 {
        let store = Redb::open(&path).unwrap();
        world.check(&store).await;
        let before = incarnation.replace(store.incarnation());
        assert!(before.is_none_or(|before| before == store.incarnation()));
        for _ in 0..40 {
            let batch = world.steps();
            let mark = batch.mark.clone().map(Record::Clock);
            store.commit(batch).await.unwrap();
            assert_eq!(store.load(&[Key::Clock]).await, Ok(vec![mark]));
        }
    }
}

/// What is written to it from here on an older program cannot read: so it has to refuse the file.
#[test]
fn a_file_of_the_first_format_says_the_next_once_it_is_opened() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/format-1.redb");
    std::fs::write(&path, std::fs::read(golden).unwrap()).unwrap();
    let marker = || -> Marker {
        let database = Database::open(&path).unwrap();
        let meta = database.begin_read().unwrap().open_table(tables::META).unwrap();
        serde_json::from_slice(meta.get("marker").unwrap().unwrap().value()).unwrap()
    };
    let before = marker();
    assert_eq!((before.format, before.least_reader), (1, 1));
    drop(Redb::open(&path).unwrap());
    let after = marker();
    assert_eq!((after.format, after.least_reader), (FORMAT, FORMAT));
    assert_eq!(after.incarnation, before.incarnation, "it is the same store");
}

#[test]
fn a_file_is_its_owners_alone() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    let _store = Redb::open(&path).unwrap();
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let Err(Fault::Unavailable(why)) = Redb::open(&path) else { panic!("it opened twice") };
    assert!(why.contains("another process has it open"), "{why}");
}

async fn filled(folder: &std::path::Path, seed: u64) -> (std::path::PathBuf, World) {
    let path = folder.join(format!("store-{seed}"));
    let store = Redb::open(&path).unwrap();
    let mut world = World::new(seed);
    for _ in 0..60 {
        store.commit(world.steps()).await.unwrap();
    }
    (path, world)
}

#[tokio::test]
async fn a_file_is_looked_over_and_not_written_to() {
    let folder = tempfile::tempdir().unwrap();
    for seed in 0..3 {
        let (path, _) = filled(folder.path(), seed).await;
        let before = std::fs::read(&path).unwrap();
        let checked = Checked::open(&path).await.unwrap();
        assert!(checked.counts.asks > 5 && checked.counts.events > checked.counts.asks);
        drop(checked);
        assert!(std::fs::read(&path).unwrap() == before, "a byte was written");
    }
}

#[tokio::test]
async fn what_is_derived_and_says_something_else_is_found() {
    let folder = tempfile::tempdir().unwrap();
    type Break = fn(&mut Tables<tables::Writing<'_>>);
    let breaks: [(&str, Break); 7] = [
        ("live", |t| drop(t.live.pop_first().unwrap().unwrap())),
        ("retire", |t| drop(t.retire.pop_first().unwrap().unwrap())),
        ("a foreign removal", |t| drop(t.retire.insert(&[7; 20], ()).unwrap())),
        ("events", |t| drop(t.events.pop_last().unwrap().unwrap())),
        ("filed", |t| drop(t.filed.pop_first().unwrap().unwrap())),
        ("session_lists", |t| drop(t.session_lists.pop_first().unwrap().unwrap())),
        ("session_due", |t| drop(t.session_due.insert(&[7; 20], ()).unwrap())),
    ];
    for (seed, (what, breaks)) in breaks.into_iter().enumerate() {
        let (path, _) = filled(folder.path(), seed as u64).await;
        let database = Database::open(&path).unwrap();
        let txn = database.begin_write().unwrap();
        breaks(&mut Tables::write(&txn).unwrap());
        txn.commit().unwrap();
        drop(database);
        let Err(found) = Checked::open(&path).await else { panic!("{what} was not seen") };
        assert!(matches!(found, Fault::Unreadable(_)), "{what}: {found}");
    }
}

#[tokio::test]
async fn a_copy_has_the_incarnation_it_is_given_and_another_has_its_own() {
    let copy = Redb::fresh(tempfile::tempfile().unwrap(), Some("ab".into())).unwrap();
    assert_eq!(copy.incarnation(), "ab");
    let one = Redb::fresh(tempfile::tempfile().unwrap(), None).unwrap();
    let other = Redb::fresh(tempfile::tempfile().unwrap(), None).unwrap();
    assert!(one.incarnation() != other.incarnation() && one.incarnation().len() == 32);
}
