//! `askway claim`: a person is on it.

use super::{Context, Exit, Failure};
use crate::grpc::v1;

/// Be on it: its timers stand still for a while.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  askway claim ask_8f3k --for 10m")]
pub struct Args {
    /// The ask: its id or the first characters of it.
    id: String,
    /// For how long, 15 minutes at most.
    #[arg(long = "for", value_name = "LENGTH", value_parser = super::time::parse)]
    length: Option<std::time::Duration>,
    /// Take it over from somebody else who is on it.
    #[arg(long)]
    take_over: bool,
    /// Your id for this intent: the same again is the same.
    #[arg(long, value_name = "ID")]
    request_id: Option<String>,
}

pub(super) async fn run(args: Args, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let ask = context.ask(&args.id).await?;
    let request_id = args.request_id.unwrap_or_default();
    let length = args.length.map(super::files::length).transpose()?;
    let (ask_id, take_over) = (ask.id, args.take_over);
    let request = v1::ClaimRequest { request_id, ask_id, length, take_over };
    let receipt = context.client.claim(request).await?;
    context.out.receipt(&receipt, "you are on it; its timers stand still")?;
    Ok(Exit::of_receipt(&receipt))
}
