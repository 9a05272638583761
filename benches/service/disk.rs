//! The limit of anything durable: one append and one sync of the disk, in the folder the store is in.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::time::Instant;

/// Bytes of one append.
const APPEND: usize = 2_048;

/// Seconds of each of `steps` appends that are synced one by one.
pub fn syncs(folder: &Path, steps: usize) -> io::Result<Vec<f64>> {
    let path = folder.join("sync");
    let mut file = File::create(&path)?;
    let bytes = [b'x'; APPEND];
    let step = |_| {
        let began = Instant::now();
        file.write_all(&bytes)?;
        file.sync_data()?;
        Ok(began.elapsed().as_secs_f64())
    };
    let took = (0..steps).map(step).collect();
    std::fs::remove_file(&path)?;
    took
}
