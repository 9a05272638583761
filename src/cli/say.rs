//! `askway say`: whoever is asked, or a person, speaks to the asker without answering.

use super::typed::{Intent, Words};
use super::{Context, Exit, Failure, Out, receipt};
use crate::grpc::v1;

const HELP: &str = "\
Examples:
  askway say ask_k3f9 \"How many rows will it hold?\"";

/// To which ask's asker, and what.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    /// The ask's id, or its first characters
    id: String,
    #[command(flatten)]
    words: Words,
    #[command(flatten)]
    intent: Intent,
}

/// Says it; the asker's wait ends with it.
pub(super) async fn run(args: Args, context: &Context, out: &mut Out) -> Result<Exit, Failure> {
    let ask = context.read(&args.id).await?;
    let request = v1::SayRequest {
        request_id: args.intent.into_id(),
        ask_id: ask.id,
        text: args.words.into_text(),
    };
    let receipt = context.client.say(request).await?;
    receipt::finish(&receipt, out, |ask| {
        format!("said on {}{}", ask.id, receipt::asker(&receipt, ask))
    })
}
