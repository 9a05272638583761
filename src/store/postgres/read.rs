//! Reading: the statements, each one moment's, and what their rows say.

use super::layout::{
    ASK, CLOCK, RECEIPT, ROSTER, SESSION, STANDING_NO, TICKET, TOKEN, TWIN, WORK, time_of,
};
use super::trouble::fault;
use crate::ask::{Ask, AskId, Event, SessionId, Timestamp};
use crate::store::record::{damaged, decode, fold_history};
use crate::store::snapshot::Saved;
use crate::store::{Due, Fault, Key, Record};
use serde::de::DeserializeOwned;
use std::sync::Arc;
use tokio_postgres::Row;
use tokio_postgres::types::FromSql;

/// Records by their names, in that order: number, revision, body, events.
pub(super) const LOAD: &str = "select k.n, r.revision, r.body, \
     case when k.kind = 1 then array(select e.body from askway.events e where e.ask = k.key \
     order by e.revision) end \
     from unnest($1::int2[], $2::bytea[]) with ordinality as k (kind, key, n) \
     join askway.records r on r.kind = k.kind and r.key = k.key";

/// Events of an ask after a revision.
pub(super) const HISTORY: &str = "select body from askway.events \
     where ask = $1::bytea and revision > $2::int8 order by revision limit $3::int8";

/// A list of asks: how many in all, then a page; its first row is there for an empty page too.
pub(super) const LIST: &str = "select count.total, page.key, page.revision \
     from (select count(*) as total from askway.places where list = $1::text and kind = 1) as count \
     left join lateral (select p.key, r.revision from askway.places p \
       join askway.records r on r.kind = 1 and r.key = p.key \
       where p.list = $1::text and p.kind = 1 and p.key > $2::bytea \
       order by p.key limit $3::int8) as page on true order by page.key";

/// A list of sessions.
pub(super) const SESSIONS: &str = "select r.body from askway.places p \
     join askway.records r on r.kind = 2 and r.key = p.key \
     where p.list = $1::text and p.kind = 2 and p.key > $2::bytea order by p.key limit $3::int8";

/// Records of a kind, in order: key, revision, body, events.
pub(super) const RECORDS: &str = "select r.key, r.revision, r.body, \
     case when r.kind = 1 then array(select e.body from askway.events e where e.ask = r.key \
     order by e.revision) end \
     from askway.records r where r.kind = $1::int2 and r.key > $2::bytea \
     order by r.key limit $3::int8";

/// What is due: time, kind, key.
pub(super) const DUE: &str = "select time, kind, key from askway.records \
     where time is not null and kind <= 2 and time <= $1::int8 order by time, kind, key limit $2::int8";

// What is spelled as a number below.
const _: () = assert!(crate::store::share::BUCKETS == 64);

/// What is due, of some buckets (`share.rs`), and of all others what has long been: time, kind, key.
pub(super) const SHARED_DUE: &str = "select time, kind, key from askway.records \
     where time is not null and kind <= 2 and time <= $1::int8 \
     and (time <= $4::int8 or get_byte(key, 11) % 64 = any ($3::int4[])) \
     order by time, kind, key limit $2::int8";

/// Says that one is here: who is.
pub(super) const PRESENT: &str = "select name, carries, written from askway.present($1::text, $2::bool, $3::int8, $4::bool, \
     $5::int2[], $6::bytea[], $7::int2[], $8::bytea[])";

/// The hosts that watch at anybody seen in so many milliseconds: name.
pub(super) const HOSTS: &str = "select distinct a.name from askway.attached a \
     join askway.replicas r on r.name = a.replica where a.kind = 2 \
     and r.seen > (extract(epoch from clock_timestamp()) * 1000)::int8 - $1::int8";

/// The sessions of a list, in some buckets, that are held at nobody seen in so many milliseconds: key.
pub(super) const UNHELD: &str = "select p.key from askway.places p where p.list = $1::text and p.kind = 2 \
     and get_byte(p.key, 11) % 64 = any ($2::int4[]) and not exists (select from askway.attached a \
     join askway.replicas r on r.name = a.replica where a.kind = 1 and a.name = p.key \
     and r.seen > (extract(epoch from clock_timestamp()) * 1000)::int8 - $3::int8)";

/// Whether something of a kind is attached to anybody seen in so many milliseconds.
pub(super) const ATTACHED: &str = "select exists (select from askway.attached a \
     join askway.replicas r on r.name = a.replica where a.kind = $1::int2 and a.name = $2::bytea \
     and r.seen > (extract(epoch from clock_timestamp()) * 1000)::int8 - $3::int8)";

/// Says that one is here no more, with all that was attached to it.
pub(super) const LEAVE: &str = "with gone as (delete from askway.attached where replica = $1::text) \
     delete from askway.replicas where name = $1::text";

/// Of what people are to be told: when, key.
pub(super) const NOTICES: &str = "select notice, key from askway.records \
     where notice is not null and notice <= $1::int8 order by notice, key limit $2::int8";

/// Of what people are to be told, of some buckets: when, key.
pub(super) const SHARED_NOTICES: &str = "select notice, key from askway.records \
     where notice is not null and notice <= $1::int8 and get_byte(key, 11) % 64 = any ($3::int4[]) \
     order by notice, key limit $2::int8";

/// Asks by how they are spelled: from one to another.
pub(super) const SPELLED: &str = "select key from askway.records where kind = 1 \
     and substring(key from 7) || substring(key from 1 for 6) between $1::bytea and $2::bytea \
     limit $3::int8";

/// Everything, in order, after a kind and a key: kind, key, revision, body, events.
pub(super) const ALL: &str = "select r.kind, r.key, r.revision, r.body, \
     case when r.kind = 1 then array(select e.body from askway.events e where e.ask = r.key \
     order by e.revision) end \
     from askway.records r where (r.kind, r.key) > ($1::int2, $2::bytea) \
     order by r.kind, r.key limit $3::int8";

/// The database's time, in milliseconds since the epoch.
pub(super) const TIME: &str = "select (extract(epoch from clock_timestamp()) * 1000)::int8";

/// A column of a row.
pub(super) fn column<'a, T: FromSql<'a>>(row: &'a Row, at: usize) -> Result<T, Fault> {
    row.try_get(at).map_err(|error| match fault(&error) {
        Fault::Unavailable(why) | Fault::Unreadable(why) => damaged("a row", why),
    })
}

/// The twelve bytes of an id.
pub(super) fn id(row: &Row, at: usize) -> Result<[u8; 12], Fault> {
    let bytes: &[u8] = column(row, at)?;
    bytes.try_into().map_err(|_| damaged("an id", "it is not twelve bytes"))
}

/// A row of [`DUE`] or [`SHARED_DUE`].
pub(super) fn due(row: &Row) -> Result<(Timestamp, Due), Fault> {
    let due = match column(row, 1)? {
        SESSION => Due::Session(SessionId::from_bytes(id(row, 2)?)),
        _ => Due::Ask(AskId::from_bytes(id(row, 2)?)),
    };
    Ok((time_of(column(row, 0)?), due))
}

/// A row of [`NOTICES`] or [`SHARED_NOTICES`].
pub(super) fn to_tell(row: &Row) -> Result<(Timestamp, AskId), Fault> {
    Ok((time_of(column(row, 0)?), AskId::from_bytes(id(row, 1)?)))
}

/// An ask's events, from the column at `at`.
fn events(row: &Row, at: usize, name: &str) -> Result<Vec<Event>, Fault> {
    let bodies: Vec<&[u8]> = column(row, at)?;
    bodies.into_iter().map(|body| decode(name, body)).collect()
}

/// An ask, folded from its whole history. Its row says at which revision it must be.
pub(super) fn ask(row: &Row, id: AskId, revision: usize) -> Result<Arc<Ask>, Fault> {
    history(row, id, revision).map(|(ask, _)| Arc::new(ask))
}

/// The same, and the history.
fn history(row: &Row, id: AskId, revision: usize) -> Result<(Ask, Vec<Event>), Fault> {
    let name = format!("the history of {id}");
    let events = events(row, revision + 2, &name)?;
    let kept: i64 = column(row, revision)?;
    let ask = fold_history(id, &events)?.filter(|ask| i64::try_from(ask.revision) == Ok(kept));
    Ok((ask.ok_or_else(|| damaged(&name, "it ends too early"))?, events))
}

/// The record of a key, from the columns revision, body and events.
pub(super) fn record(row: &Row, key: &Key, revision: usize) -> Result<Record, Fault> {
    let body = revision + 1;
    Ok(match key {
        Key::Ask(id) => Record::Ask(ask(row, *id, revision)?),
        Key::Session(id) => Record::Session(read(row, body, &format!("the session {id}"))?),
        Key::Work(id) => Record::Work(read(row, body, &format!("the work {id}"))?),
        Key::Ticket(_) => Record::Ticket(read(row, body, "a ticket")?),
        Key::Token(_) => Record::Token(read(row, body, "a token")?),
        Key::Receipt(key) => {
            let name = format!("the receipt of request {}", key.request);
            Record::Receipt(read(row, body, &name)?)
        }
        Key::Twin((work, _)) => Record::Twin(read(row, body, &format!("which ask {work} filed"))?),
        Key::StandingNo((work, _)) => {
            Record::StandingNo(read(row, body, &format!("a decline under {work}"))?)
        }
        Key::Roster(namespace) => {
            Record::Roster(read(row, body, &format!("the roster of {namespace}"))?)
        }
        Key::Clock => Record::Clock(read(row, body, "the clock's mark")?),
    })
}

/// A record of a body.
pub(super) fn read<T: DeserializeOwned>(row: &Row, at: usize, name: &str) -> Result<T, Fault> {
    let body: Option<&[u8]> = column(row, at)?;
    decode(name, body.ok_or_else(|| damaged(name, "it is empty"))?)
}

/// A row of [`ALL`].
pub(super) fn saved(row: &Row) -> Result<Saved, Fault> {
    let (body, kind): (usize, i16) = (3, column(row, 0)?);
    Ok(match kind {
        ASK => {
            let id = AskId::from_bytes(id(row, 1)?);
            // Folded, to see that it is whole.
            Saved::Ask { id, events: history(row, id, 2)?.1 }
        }
        SESSION => Saved::Session(read(row, body, "a session")?),
        WORK => Saved::Work(read(row, body, "a work")?),
        TICKET => Saved::Ticket(read(row, body, "a ticket")?),
        TOKEN => Saved::Token(read(row, body, "a token")?),
        RECEIPT => Saved::Receipt(read(row, body, "a receipt")?),
        TWIN => Saved::Twin(read(row, body, "which ask a work filed")?),
        STANDING_NO => Saved::StandingNo(read(row, body, "a decline")?),
        ROSTER => Saved::Roster(read(row, body, "a roster")?),
        CLOCK => Saved::Clock(read(row, body, "the clock's mark")?),
        other => return Err(damaged("a record", format!("its kind is {other}"))),
    })
}
