//! `askway show`: an ask, whole.

use super::{Context, Exit, Failure};
use crate::grpc::v1;

/// Show an ask.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  askway show ask_8f3k
  askway show 8f3k --json")]
pub struct Args {
    /// The ask: its id or the first characters of it.
    id: String,
}

pub(super) async fn run(args: Args, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let ask = context.ask(&args.id).await?;
    context.out.ask(&ask)?;
    // A person who was shown the whole of an open ask has seen it; that is worth keeping, and
    // nothing is lost where it cannot be kept.
    if !context.is_session && ask.outcome.is_none() {
        let (ask_id, content_digest) = (ask.id, ask.content_digest);
        let seen = v1::MarkSeenRequest { ask_id, content_digest, ..Default::default() };
        let _ = context.client.mark_seen(seen).await;
    }
    Ok(Exit::Done)
}
