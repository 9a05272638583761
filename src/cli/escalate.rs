//! `askway escalate`: moves an ask on to whoever is asked next.

use super::{Context, Exit, Failure};
use crate::grpc::v1;

/// Move an ask on to whoever is asked next.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  askway escalate ask_8f3k -m \"not mine to decide\"")]
pub struct Args {
    /// The ask: its id or the first characters of it.
    id: String,
    /// Why, for whoever reads it next.
    #[arg(short, long = "message", value_name = "TEXT")]
    message: Option<String>,
    /// Your id for this intent: the same again is the same.
    #[arg(long, value_name = "ID")]
    request_id: Option<String>,
}

pub(super) async fn run(args: Args, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let ask = context.ask(&args.id).await?;
    let request_id = args.request_id.unwrap_or_default();
    let receipt = context.client.escalate(v1::EscalateRequest {
        request_id,
        ask_id: ask.id,
        hop: ask.hop.map_or(0, |hop| hop.index),
        reason: args.message,
    });
    let receipt = receipt.await?;
    let waits = receipt.ask.as_ref().map(super::render::waits).unwrap_or_default();
    context.out.receipt(&receipt, &format!("moved on: it {waits}"))?;
    Ok(Exit::of_receipt(&receipt))
}
