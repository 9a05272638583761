//! One store's records in another.

use super::{World, mark};
use crate::store::export::{Export, Import};
use crate::store::{Batch, Fault, Store};
use std::sync::Arc;

/// Steps of a world's life before it is exported.
const STEPS: u64 = 25;

/// An export is of one moment, whatever is written while it is read; a store filled from it, in pieces
/// of any length, says what the first one said; and what is cut short or changed is never taken.
///
/// # Panics
///
/// When it is not so.
pub async fn what_is_exported_fills_another_store(
    store: &dyn Store,
    other: Arc<dyn Store>,
    seed: u64,
) {
    let mut world = World::new(seed);
    for number in 1..=STEPS {
        let batch = Batch { mark: Some(mark(number)), ..world.steps() };
        store.commit(batch).await.expect("the store is there");
    }
    let then = world.clone();
    let mut export = Export::of(store).await.expect("the store is there");
    let mut lines = Vec::new();
    while let Some(some) = export.next().await.expect("the store is there") {
        lines.extend(some);
        store.commit(world.steps()).await.expect("the store is there");
    }
    refuses_what_is_not_whole(&lines).await;
    let filled = other.clone();
    let mut import = Import::into(|_: &_| Ok(filled));
    for piece in lines.chunks(1 + seed as usize * 61) {
        import.feed(piece).await.expect("it is whole");
    }
    let imported = import.end().await.expect("it is whole");
    assert_eq!(imported.header.incarnation, store.incarnation());
    then.check_whole(&*other).await;
    let mut again = all_lines(&*other).await;
    let mut before: Vec<_> = lines.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    before.retain(|line| !line.is_empty());
    assert_eq!(imported.end.records as usize + 2, before.len());
    // The first and the last line say whose they are.
    for lines in [&mut before, &mut again] {
        lines.pop();
        lines.remove(0);
        lines.sort_unstable();
    }
    assert!(before == again, "it is exported as it was imported");
}

async fn all_lines(store: &dyn Store) -> Vec<Vec<u8>> {
    let mut export = Export::of(store).await.expect("the store is there");
    let mut lines = Vec::new();
    while let Some(some) = export.next().await.expect("the store is there") {
        lines.extend(some.split(|byte| *byte == b'\n').map(<[u8]>::to_vec));
    }
    lines.retain(|line| !line.is_empty());
    lines
}

async fn import(lines: &[u8]) -> Result<(), Fault> {
    let store = crate::store::mem::Mem::new();
    let mut import = Import::into(|_: &_| Ok(Arc::new(store) as Arc<dyn Store>));
    import.feed(lines).await?;
    import.end().await.map(|_| ())
}

async fn refuses_what_is_not_whole(lines: &[u8]) {
    let ends: Vec<_> = lines.iter().enumerate().filter(|(_, byte)| **byte == b'\n').collect();
    let starts: Vec<usize> = ends.iter().map(|(at, _)| at + 1).collect();
    let refused = async |lines: &[u8], what: &str| {
        let came = import(lines).await;
        assert!(matches!(came, Err(Fault::Unreadable(_))), "{what}: {came:?}");
    };
    assert_eq!(import(lines).await, Ok(()));
    refused(b"", "nothing").await;
    refused(b"{}\n", "something else").await;
    refused(&lines[starts[0]..], "no first line").await;
    refused(&lines[..lines.len() - 1], "half a last line").await;
    refused(&lines[..starts[starts.len() - 2]], "no last line").await;
    let (first, second) = (&lines[..starts[0]], &lines[starts[1]..]);
    refused(&[first, second].concat(), "a record that is missing").await;
    refused(&[lines, b"{}\n"].concat(), "something after the end").await;
    let twice = [&lines[..starts[1]], &lines[starts[0]..]].concat();
    refused(&twice, "a record twice").await;
    let newer = String::from_utf8_lossy(lines).replacen("\"schema\":1", "\"schema\":99", 1);
    refused(newer.as_bytes(), "a newer one").await;
}
