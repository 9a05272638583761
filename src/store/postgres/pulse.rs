//! The pulse: a connection on which the database is asked every second whether it is there and may be
//! written to. Where it is silent, or has become one that is only read from, every connection is given up
//! at once: callers are told within five seconds, and the next that call look among the hosts anew.
//! Others are heard on it too, but for where nobody may listen.

use super::connect::Epoch;
use super::hints::{AGAIN, CHANNEL, Hints};
use super::place::{Link, Place};
use super::trouble::fault;
use crate::store::Fault;
use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;
use tokio_postgres::{AsyncMessage, Client, SimpleQueryMessage};

/// How often it is looked whether it is there.
const BEAT: Duration = Duration::from_secs(1);
/// How long it may take to say anything; with the second before it, five.
const SILENT_AFTER: Duration = Duration::from_secs(4);
/// How others are heard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Hearing {
    /// By `LISTEN`, told by `NOTIFY`.
    #[default]
    Listen,
    /// Not at all: what is watched is looked at every second. For poolers that hand a connection from one
    /// to the next, and for what is like PostgreSQL and has no `LISTEN`.
    Look,
}

/// Goes on for ever.
pub(super) async fn beat(place: Place, epoch: Epoch, hints: Arc<Hints>, hearing: Hearing) {
    loop {
        if let Err(why) = one(&place, &epoch, &hints, hearing).await {
            tracing::warn!(%why, "the database is away; what is watched is looked at when it is back");
        }
        tokio::time::sleep(AGAIN).await;
    }
}

/// One connection's.
async fn one(
    place: &Place,
    epoch: &Epoch,
    hints: &Arc<Hints>,
    hearing: Hearing,
) -> Result<(), Fault> {
    let of = epoch.now();
    let (client, connection) = place.open().await?;
    let driven = tokio::spawn(drive(connection, hints.clone()));
    let ended = tokio::select! {
        ended = driven => return ended.unwrap_or(Ok(())),
        ended = beats(&client, hints, hearing) => ended,
        () = epoch.ends(of) => return Ok(()),
    };
    match ended {
        Ok(()) => Ok(()),
        // This one alone: others may be well.
        Err(Ended::Closed(why)) => Err(why),
        Err(Ended::Unfit(why)) => {
            epoch.end(of);
            Err(Fault::Unavailable(why.into()))
        }
    }
}

async fn beats(client: &Client, hints: &Hints, hearing: Hearing) -> Result<(), Ended> {
    if hearing == Hearing::Listen {
        answered(client.batch_execute(&format!("listen {CHANNEL}"))).await?;
    }
    // Whatever was told while there was no connection was missed.
    hints.missed();
    loop {
        tokio::time::sleep(BEAT).await;
        may_be_written_to(client).await?;
    }
}

/// Why it goes on no more.
enum Ended {
    /// The connection has ended.
    Closed(Fault),
    /// The database is not fit for any.
    Unfit(&'static str),
}

async fn drive(mut connection: Link, hints: Arc<Hints>) -> Result<(), Fault> {
    loop {
        match poll_fn(|cx| connection.poll_message(cx)).await {
            Some(Ok(AsyncMessage::Notification(told))) => hints.take_in(told.payload()),
            Some(Ok(_)) => {}
            Some(Err(error)) => return Err(fault(&error)),
            None => return Ok(()),
        }
    }
}

async fn may_be_written_to(client: &Client) -> Result<(), Ended> {
    let said = answered(client.simple_query("show transaction_read_only")).await?;
    let is_read = said.iter().any(|message| match message {
        SimpleQueryMessage::Row(row) => row.get(0) == Some("on"),
        _ => false,
    });
    match is_read {
        true => Err(Ended::Unfit("the database is only read from now")),
        false => Ok(()),
    }
}

async fn answered<T>(
    answer: impl Future<Output = Result<T, tokio_postgres::Error>>,
) -> Result<T, Ended> {
    let answer = timeout(SILENT_AFTER, answer).await;
    let answer = answer.map_err(|_| Ended::Unfit("the database does not answer"))?;
    answer.map_err(|error| Ended::Closed(fault(&error)))
}
