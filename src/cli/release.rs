//! `askway release`: a person is not on it any more.

use super::{Context, Exit, Failure};
use crate::grpc::v1;

/// Be on it no more: its timers run on.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  askway release ask_8f3k")]
pub struct Args {
    /// The ask: its id or the first characters of it.
    id: String,
    /// Your id for this intent: the same again is the same.
    #[arg(long, value_name = "ID")]
    request_id: Option<String>,
}

pub(super) async fn run(args: Args, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let ask = context.ask(&args.id).await?;
    let request_id = args.request_id.unwrap_or_default();
    let request = v1::ReleaseRequest { request_id, ask_id: ask.id };
    let receipt = context.client.release(request).await?;
    context.out.receipt(&receipt, "released; its timers run on")?;
    Ok(Exit::of_receipt(&receipt))
}
