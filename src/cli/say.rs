//! `askway say`: speaks to the asker.

use super::{Context, Exit, Failure};
use crate::grpc::v1;

/// Say something to the asker of an ask. No timer moves.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  askway say ask_8f3k \"which region?\"")]
pub struct Args {
    /// The ask: its id or the first characters of it.
    id: String,
    /// What to say.
    text: String,
    /// Your id for this intent: the same again is the same.
    #[arg(long, value_name = "ID")]
    request_id: Option<String>,
}

pub(super) async fn run(args: Args, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let ask = context.ask(&args.id).await?;
    let request_id = args.request_id.unwrap_or_default();
    let request = v1::SayRequest { request_id, ask_id: ask.id, text: args.text };
    let receipt = context.client.say(request).await?;
    context.out.receipt(&receipt, "said")?;
    Ok(Exit::of_receipt(&receipt))
}
