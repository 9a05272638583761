//! `askway wait`: until an ask is settled, somebody speaks to its asker, or the time is up.

use super::{Context, Exit, Failure, time};
use crate::client::Watched;
use crate::grpc::convert::delivery_id;
use crate::grpc::v1;
use std::time::Duration;
use tokio_stream::StreamExt;

/// Wait for an ask's outcome. Ends with code 10 when somebody asked speaks to this session about it,
/// and with 5 when the time is up.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  askway wait ask_8f3k
  askway wait ask_8f3k --for 10m --json")]
pub struct Args {
    /// The ask: its id or the first characters of it.
    id: String,
    /// For how long at most; else until it is settled.
    #[arg(long = "for", value_name = "LENGTH", value_parser = time::parse)]
    limit: Option<Duration>,
}

/// For how long to wait; none is for ever.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limit(pub Option<Duration>);

pub(super) async fn run(args: Args, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let ask = context.ask(&args.id).await?;
    until_settled(context, &ask.id, Limit(args.limit)).await
}

/// Waits, and prints the ask as its last line. What is delivered by it is acknowledged once it has
/// been written, where the caller is the asker; anybody else's wait acknowledges nothing.
pub(super) async fn until_settled(
    context: &mut Context<'_>,
    id: &str,
    limit: Limit,
) -> Result<Exit, Failure> {
    let is_asker = is_asker(context, id).await?;
    let ended = match limit.0 {
        Some(limit) => {
            match tokio::time::timeout(limit, settled_or_spoken(context, id, is_asker)).await {
                Ok(ended) => ended?,
                Err(_) => None,
            }
        }
        None => settled_or_spoken(context, id, is_asker).await?,
    };
    let ask = match ended {
        Some(ask) => ask,
        // The time is up: as it is now, and it may have been settled in this very moment.
        None => context.ask(id).await?,
    };
    deliver(context, &ask, is_asker).await
}

/// Whether the caller is the session that asked.
async fn is_asker(context: &Context<'_>, id: &str) -> Result<bool, Failure> {
    if !context.is_session {
        return Ok(false);
    }
    let me = context.client.status().await?.session;
    Ok(me.is_some() && context.ask(id).await?.asker == me)
}

/// The ask, once it is settled or, for its asker, somebody has spoken to it.
async fn settled_or_spoken(
    context: &mut Context<'_>,
    id: &str,
    is_asker: bool,
) -> Result<Option<v1::Ask>, Failure> {
    let mut watch = context.client.watch_ask(id, None);
    while let Some(item) = watch.next().await {
        let changed = match item? {
            Watched::Ask(ask) => Some(ask),
            Watched::Event(event) => event.ask.map(Box::new),
            Watched::Reconnecting => {
                context.out.note("the connection to the daemon was lost; waiting for it");
                None
            }
            Watched::End => break,
        };
        let Some(changed) = changed else { continue };
        if is_asker && changed.outcome.is_none() && changed.turns.iter().any(|turn| turn.unread) {
            break;
        }
    }
    context.ask(id).await.map(Some)
}

/// Prints what the wait came to, and acknowledges it.
async fn deliver(
    context: &mut Context<'_>,
    ask: &v1::Ask,
    is_asker: bool,
) -> Result<Exit, Failure> {
    context.out.ask(ask)?;
    let spoken = ask.turns.iter().rfind(|turn| turn.unread);
    if !is_asker {
        return Ok(Exit::of_ask(ask));
    }
    match (&ask.outcome, spoken) {
        (Some(outcome), _) => {
            let unread = ask.delivery.as_ref().map(v1::DeliveryStatus::state);
            if unread == Some(v1::DeliveryState::Unread) {
                acknowledge(context, ask, outcome.revision).await?;
            }
            Ok(Exit::of_ask(ask))
        }
        (None, Some(turn)) => {
            acknowledge(context, ask, turn.revision).await?;
            let id = &ask.id;
            context.out.note(&format!("next: askway reply {id} TEXT && askway wait {id}"));
            Ok(Exit::Spoken)
        }
        (None, None) => Ok(Exit::Open),
    }
}

async fn acknowledge(
    context: &mut Context<'_>,
    ask: &v1::Ask,
    revision: u64,
) -> Result<(), Failure> {
    let delivery_id = delivery_id(&ask.id, revision);
    let request = v1::AcknowledgeDeliveryRequest { delivery_id, ..Default::default() };
    context.client.acknowledge_delivery(request).await?;
    Ok(())
}
