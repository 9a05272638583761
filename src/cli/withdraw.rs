//! `askway withdraw`: the asker takes its ask back.

use super::{Context, Exit, Failure};
use crate::grpc::v1;

/// Take back an ask of this session's.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  askway withdraw ask_8f3k -m \"found it in the docs\"")]
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
    let receipt = context.client.withdraw(v1::WithdrawRequest {
        request_id,
        ask_id: ask.id,
        note: args.message,
    });
    let receipt = receipt.await?;
    context.out.receipt(&receipt, "withdrawn")?;
    // Withdrawn before is what was wanted; settled in another way is not.
    match receipt.ask.and_then(|ask| ask.outcome).map(|outcome| outcome.kind()) {
        Some(v1::OutcomeKind::Withdrawn) => Ok(Exit::Done),
        Some(_) => Ok(Exit::Closed),
        None => Ok(Exit::Refused),
    }
}
