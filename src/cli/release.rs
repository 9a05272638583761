//! `askway release`: a person is not on it any more, and its timers run on.

use super::typed::Intent;
use super::{Context, Exit, Failure, Out, receipt};
use crate::grpc::v1;

const HELP: &str = "\
Examples:
  askway release ask_k3f9";

/// Which ask.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    /// The ask's id, or its first characters
    id: String,
    #[command(flatten)]
    intent: Intent,
}

/// Says so.
pub(super) async fn run(args: Args, context: &Context, out: &mut Out) -> Result<Exit, Failure> {
    let ask = context.read(&args.id).await?;
    let request = v1::ReleaseRequest { request_id: args.intent.into_id(), ask_id: ask.id };
    let receipt = context.client.release(request).await?;
    receipt::finish(&receipt, out, |ask| format!("released {}; its timers run on", ask.id))
}
