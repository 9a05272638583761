//! A store of every format there ever was, as the askway of its time wrote it: each still opens, and says
//! what it said then. `ASKWAY_WRITE=1 cargo test --test all golden` makes the one of a new format; those
//! that are there are never written again.

use askway::store::export::Export;
use askway::store::redb::{Checked, FORMAT, Redb};
use askway::store::snapshot::Saved;
use askway::store::suite::{self, World};
use askway::store::{Batch, Change, Record, Store};
use std::fs;
use std::path::{Path, PathBuf};

fn place(format: u32, ending: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    root.join(format!("tests/golden/format-{format}.{ending}"))
}

/// A life of some hundred steps, and one record of each other kind.
async fn live(store: &dyn Store) {
    let mut world = World::new(u64::from(FORMAT));
    for _ in 0..80 {
        store.commit(world.steps()).await.unwrap();
    }
    let writes = vec![
        Record::Work(suite::work(1).into()),
        Record::Ticket(suite::ticket(1).into()),
        Record::Token(suite::token(1).into()),
        Record::Twin(suite::twin(1).into()),
        Record::StandingNo(suite::standing_no(1).into()),
        Record::Roster(suite::roster(1).into()),
    ];
    let changes = vec![Change { writes, ..Change::default() }];
    store.commit(Batch { changes, mark: Some(suite::mark(7)) }).await.unwrap();
}

async fn lines(mut export: Export) -> Vec<String> {
    let mut text = String::new();
    while let Some(lines) = export.next().await.unwrap() {
        text.push_str(std::str::from_utf8(&lines).unwrap());
    }
    text.lines().map(str::to_owned).collect()
}

/// The records alone, as this askway reads them.
fn records(lines: &[String]) -> Vec<Saved> {
    let inner = &lines[1..lines.len() - 1];
    inner.iter().map(|line| serde_json::from_str(line).expect(line)).collect()
}

async fn write(format: u32) {
    let store = Redb::open(place(format, "redb")).unwrap();
    live(&store).await;
    let text = lines(Export::of(&store).await.unwrap()).await.join("\n");
    fs::write(place(format, "jsonl"), text + "\n").unwrap();
}

#[tokio::test]
async fn a_store_of_every_format_still_opens_and_says_what_it_said() {
    for format in 1..=FORMAT {
        if std::env::var_os("ASKWAY_WRITE").is_some() && !place(format, "redb").exists() {
            write(format).await;
        }
        let then = fs::read_to_string(place(format, "jsonl")).expect("ASKWAY_WRITE=1 makes it");
        let then: Vec<_> = then.lines().map(str::to_owned).collect();
        assert!(then.len() > 100, "{format}: too little to tell");
        // A copy: opening one writes to it.
        let folder = tempfile::tempdir().unwrap();
        let copy = folder.path().join("store");
        fs::copy(place(format, "redb"), &copy).unwrap();
        let checked = Checked::open(&copy).await.unwrap();
        assert!(checked.counts.open > 0 && checked.counts.sessions > 0);
        assert_eq!(records(&lines(checked.export().unwrap()).await), records(&then), "{format}");
        drop(checked);
        let store = Redb::open(&copy).unwrap();
        assert_eq!(records(&lines(Export::of(&store).await.unwrap()).await), records(&then));
        let mut world = World::new(99);
        store.commit(world.steps()).await.expect("it goes on");
    }
}
