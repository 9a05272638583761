//! `askway deliveries`: outcomes and turns on their way to askers, for workers that hand them over:
//! of the calling session, else of all sessions of this machine's host.

use super::render::{human, json};
use super::typed::{self, Intent};
use super::{Context, Exit, Failure, Out, receipt, shell};
use crate::client::Client;
use crate::grpc::convert::delivery_id;
use crate::grpc::v1;
use std::time::Duration;

const HELP: &str = "\
Examples:
  askway deliveries
  askway deliveries take --max 10 --lease 5m --as worker-1 --json
  askway deliveries ack dlv_k3f9ab1200000000000g_3 --lease TOKEN
  askway deliveries extend ask_k3f9 --lease TOKEN --for 10m

What is taken is nobody else's until its lease is over; what is not acknowledged by then is offered
again. Take ends with 5 when there is nothing.";

/// What to do with deliveries.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    #[command(subcommand)]
    deed: Option<Deed>,
}

#[derive(Debug, clap::Subcommand)]
enum Deed {
    /// List what is unread (the same as no word at all)
    Ls,
    /// Take what is unread and in nobody's hand, the oldest ask first
    Take {
        /// Deliveries of how many asks at most, 1 to 100
        #[arg(long, value_name = "N", default_value_t = 1)]
        max: u32,
        #[command(flatten)]
        worker: Worker,
        #[command(flatten)]
        intent: Intent,
    },
    /// Say that the asker has one, and every turn before it
    Ack {
        /// The delivery's id
        #[arg(value_name = "DELIVERY")]
        id: String,
        /// The lease it was taken with
        #[arg(long, value_name = "TOKEN")]
        lease: Option<String>,
        #[command(flatten)]
        intent: Intent,
    },
    /// Have what was taken for longer
    Extend {
        /// The ask's id, or its first characters
        #[arg(value_name = "ASK")]
        id: String,
        /// The lease it was taken with
        #[arg(long, value_name = "TOKEN")]
        lease: String,
        /// For how long from now, one second to an hour; five minutes where nothing is said
        #[arg(long = "for", value_name = "TIME", value_parser = typed::duration)]
        length: Option<Duration>,
        /// What you call yourself from now on
        #[arg(long = "as", value_name = "NAME")]
        holder: Option<String>,
        #[command(flatten)]
        intent: Intent,
    },
}

/// Who takes, and for how long.
#[derive(Debug, clap::Args)]
struct Worker {
    /// For how long, one second to an hour; five minutes where nothing is said
    #[arg(long, value_name = "TIME", value_parser = typed::duration)]
    lease: Option<Duration>,
    /// What you call yourself: others are told who come too late
    #[arg(long = "as", value_name = "NAME", default_value = "")]
    holder: String,
}

/// Does it.
pub(super) async fn run(args: Args, context: &Context, out: &mut Out) -> Result<Exit, Failure> {
    let client = context.as_host()?;
    match args.deed.unwrap_or(Deed::Ls) {
        Deed::Ls => list(&client, out).await,
        Deed::Take { max, worker, intent } => {
            let request = v1::TakeDeliveriesRequest {
                request_id: intent.into_id(),
                max: max.max(1),
                lease: worker.lease.map(typed::to_wire),
                holder: worker.holder,
                extend: Vec::new(),
            };
            let taken = client.take_deliveries(request).await?;
            tell(&taken, out)?;
            if taken.deliveries.is_empty() {
                out.note("Nothing is unread, or all of it is in somebody's hand.");
                return Ok(Exit::Open);
            }
            Ok(Exit::Done)
        }
        Deed::Ack { id, lease, intent } => {
            let request = v1::AcknowledgeDeliveryRequest {
                request_id: intent.into_id(),
                delivery_id: id,
                lease_token: lease.unwrap_or_default(),
            };
            let said = client.acknowledge_delivery(request).await?;
            receipt::finish(&said, out, |ask| {
                let lost = ask.delivery.as_ref().map(|delivery| delivery.state());
                match lost == Some(v1::DeliveryState::Undeliverable) {
                    true => format!("{} found nobody, and its sender knows", ask.id),
                    false => format!("the asker of {} has it", ask.id),
                }
            })
        }
        Deed::Extend { id, lease, length, holder, intent } => {
            let ask = super::context::read(&client, &id).await?;
            let held = ask.delivery.and_then(|delivery| delivery.lease).map(|lease| lease.holder);
            let request = v1::TakeDeliveriesRequest {
                request_id: intent.into_id(),
                max: 0,
                lease: length.map(typed::to_wire),
                holder: holder.or(held).unwrap_or_default(),
                extend: vec![v1::ExtendedLease { ask_id: ask.id, lease_token: lease }],
            };
            extend(&client, request, out).await
        }
    }
}

async fn extend(
    client: &Client,
    request: v1::TakeDeliveriesRequest,
    out: &mut Out,
) -> Result<Exit, Failure> {
    let taken = client.take_deliveries(request).await?;
    if let Some(refused) = taken.refused.first() {
        return receipt::finish(refused, out, |_| String::new());
    }
    tell(&taken, out)?;
    if taken.deliveries.is_empty() {
        out.note("Nothing of it is unread any more.");
        return Ok(Exit::Open);
    }
    Ok(Exit::Done)
}

/// What is unread, whoever has it in hand.
async fn list(client: &Client, out: &mut Out) -> Result<Exit, Failure> {
    let asks = client.list_asks(v1::AskScope::Mine).await?;
    let unread: Vec<_> = asks.iter().flat_map(unread).collect();
    match out.json {
        true => unread.iter().try_for_each(|each| out.line(&json::delivery(each, None)))?,
        false => out.lines(&human::deliveries(&unread, human::now(), out.look))?,
    }
    out.flush()?;
    match unread.is_empty() {
        true => out.note("Nothing is unread."),
        false => out.note("next: askway deliveries take"),
    }
    Ok(Exit::Done)
}

/// The unread deliveries of an ask: its turns, and after them its outcome (rule 11).
fn unread(ask: &v1::Ask) -> Vec<v1::Delivery> {
    let of = |revision, turn: Option<&v1::Turn>| v1::Delivery {
        id: delivery_id(&ask.id, revision),
        revision,
        ask: Some(ask.clone()),
        turn: turn.cloned(),
        ..v1::Delivery::default()
    };
    let turns = ask.turns.iter().filter(|turn| turn.unread);
    let is_unread = |delivery: &v1::DeliveryStatus| delivery.state() == v1::DeliveryState::Unread;
    let outcome = ask.outcome.as_ref().filter(|_| ask.delivery.as_ref().is_some_and(is_unread));
    let turns = turns.map(|turn| of(turn.revision, Some(turn)));
    turns.chain(outcome.map(|outcome| of(outcome.revision, None))).collect()
}

fn tell(taken: &v1::TakeDeliveriesResponse, out: &mut Out) -> Result<(), Failure> {
    let now = human::now();
    for delivery in &taken.deliveries {
        out.line(&match out.json {
            true => json::delivery(delivery, taken.expire_time),
            false => human::delivery(delivery, taken.expire_time, now, out.look),
        })?;
    }
    out.flush()?;
    if let Some(last) = taken.deliveries.last() {
        let typed_lease = shell::word_or(&last.lease_token, "LEASE");
        let id = &last.id;
        out.note(&format!("next: askway deliveries ack {id} --lease {typed_lease}"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::render::fixture;

    #[test]
    fn rule_11_unread_turns_come_before_the_outcome() {
        assert!(unread(&fixture::open()).is_empty());
        assert_eq!(unread(&fixture::spoken())[0].id, delivery_id(fixture::ID, 2));
        let mut settled = fixture::settled(v1::OutcomeKind::Answered);
        settled.turns = fixture::spoken().turns;
        let of = |ask: &v1::Ask| unread(ask).iter().map(|d| d.revision).collect::<Vec<_>>();
        assert_eq!(of(&settled), [2, 3]);
        settled.turns[0].unread = false;
        settled.delivery.as_mut().expect("settled").state = v1::DeliveryState::Acknowledged.into();
        assert!(unread(&settled).is_empty());
    }
}
