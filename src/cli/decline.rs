//! `askway decline`: a person says no.

use super::{Context, Exit, Failure};
use crate::grpc::v1;

/// Say no to an ask.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  askway decline ask_8f3k -m \"not this week\"")]
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
    let receipt = context.client.decline(v1::DeclineRequest {
        request_id,
        ask_id: ask.id,
        content_digest: ask.content_digest,
        note: args.message,
    });
    let receipt = receipt.await?;
    context.out.receipt(&receipt, "declined")?;
    Ok(Exit::of_receipt(&receipt))
}
