//! `askway reply`: the asker speaks back.

use super::{Context, Exit, Failure};
use crate::grpc::v1;

/// Reply to what was said about an ask of this session's.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  askway reply ask_8f3k \"the one in the north\"")]
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
    let (ask_id, text) = (ask.id, args.text);
    let request = v1::ReplyRequest { request_id, ask_id, text, replaced: Vec::new() };
    let receipt = context.client.reply(request).await?;
    context.out.receipt(&receipt, "replied")?;
    Ok(Exit::of_receipt(&receipt))
}
