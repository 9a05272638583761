//! `askway claim`: a person is on it, and its timers stand still for a while.

use super::render::human;
use super::typed::{self, Intent};
use super::{Context, Exit, Failure, Out, receipt};
use crate::grpc::v1;
use std::time::Duration;

const HELP: &str = "\
Examples:
  askway claim ask_k3f9 --for 10m";

/// Which ask, and for how long.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    /// The ask's id, or its first characters
    id: String,
    /// For how long, one second to 15 minutes; 15 minutes where nothing is said
    #[arg(long = "for", value_name = "TIME", value_parser = typed::duration)]
    length: Option<Duration>,
    /// Take it over from whoever is on it
    #[arg(long)]
    take_over: bool,
    #[command(flatten)]
    intent: Intent,
}

/// Says so.
pub(super) async fn run(args: Args, context: &Context, out: &mut Out) -> Result<Exit, Failure> {
    let ask = context.read(&args.id).await?;
    let request = v1::ClaimRequest {
        request_id: args.intent.into_id(),
        ask_id: ask.id,
        length: args.length.map(typed::to_wire),
        take_over: args.take_over,
    };
    let receipt = context.client.claim(request).await?;
    receipt::finish(&receipt, out, |ask| {
        let lapse = ask.claim.as_ref().and_then(|claim| claim.lapse_time);
        format!("you are on {}; that lapses {}", ask.id, human::future(lapse, human::now()))
    })
}
