//! The schema: made at the first start, brought forward at a later one, refused when it is newer. One
//! process at a time does it, whatever number starts at once.

use super::random_name;
use super::trouble::fault;
use crate::store::Fault;
use tokio_postgres::{Client, Transaction};

/// The layout this program writes: how many of [`STEPS`] there are.
pub const FORMAT: i32 = 2;

/// The earliest layout whose programs may use it: before, records were not packed, and could not be read.
const LEAST_READER: i32 = 2;

/// Each takes the layout one further.
const STEPS: [&str; FORMAT as usize] = [include_str!("sql/0001.sql"), include_str!("sql/0002.sql")];

/// The write is code, and no layout: it is made anew with each step.
const WRITE: &str = include_str!("sql/commit_batch.sql");

/// Who migrates has this lock: the letters `askway`.
const LOCK: i64 = 0x6173_6b77_6179;

/// Makes the schema this program's; gives the store's incarnation.
pub(super) async fn migrate(client: &mut Client) -> Result<String, Fault> {
    let failed = |error: tokio_postgres::Error| fault(&error);
    let txn = client.transaction().await.map_err(failed)?;
    txn.execute("select pg_advisory_xact_lock($1)", &[&LOCK]).await.map_err(failed)?;
    let (format, incarnation) = match marker(&txn).await? {
        Some(found) => found,
        None => (0, random_name()?),
    };
    if format < FORMAT {
        if format == 0 {
            txn.batch_execute("create schema if not exists askway").await.map_err(failed)?;
        }
        for step in &STEPS[format as usize..] {
            txn.batch_execute(step).await.map_err(failed)?;
        }
        txn.batch_execute(WRITE).await.map_err(failed)?;
        let written_by = concat!("askway ", env!("CARGO_PKG_VERSION"));
        let sql = "insert into askway.marker (format, least_reader, written_by, incarnation) \
                   values ($1, $2, $3, $4) on conflict (one) do update \
                   set format = excluded.format, least_reader = excluded.least_reader, \
                   written_by = excluded.written_by";
        txn.execute(sql, &[&FORMAT, &LEAST_READER, &written_by, &incarnation])
            .await
            .map_err(failed)?;
    }
    txn.commit().await.map_err(failed)?;
    Ok(incarnation)
}

/// The layout that is there, and whose; none where there is none.
async fn marker(txn: &Transaction<'_>) -> Result<Option<(i32, String)>, Fault> {
    let failed = |error: tokio_postgres::Error| fault(&error);
    let there = "select to_regclass('askway.marker') is not null";
    let there: bool = txn.query_one(there, &[]).await.map_err(failed)?.get(0);
    if !there {
        return Ok(None);
    }
    let sql = "select format, least_reader, written_by, incarnation from askway.marker";
    let Some(row) = txn.query_opt(sql, &[]).await.map_err(failed)? else { return Ok(None) };
    let (format, least_reader): (i32, i32) = (row.get(0), row.get(1));
    if least_reader > FORMAT {
        let written_by: String = row.get(2);
        return Err(Fault::Unreadable(format!(
            "the database has format {format}, made by {written_by}, and this askway reads up to \
             {FORMAT}; start that version again, or name another database"
        )));
    }
    Ok(Some((format, row.get(3))))
}
