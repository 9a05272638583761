//! `askway show`: one ask, whole. A person who was shown it has seen it, and the daemon is told so.

use super::render::human;
use super::{Context, Exit, Failure, Out};
use crate::grpc::v1;

const HELP: &str = "\
Examples:
  askway show ask_k3f9
  askway show k3f9 --json";

/// Which ask.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    /// The ask's id, or its first characters
    id: String,
}

/// Prints it.
pub(super) async fn run(args: Args, context: &Context, out: &mut Out) -> Result<Exit, Failure> {
    let ask = context.read(&args.id).await?;
    out.ask(&ask, |ask| human::ask(ask, human::now()))?;
    let arrived = out.flush()?;
    let open = ask.outcome.is_none();
    // A program that reads JSON has shown it to nobody yet.
    if arrived && open && !context.is_session && !out.json {
        let request = v1::MarkSeenRequest {
            request_id: String::new(),
            ask_id: ask.id.clone(),
            content_digest: ask.content_digest.clone(),
        };
        // It was shown; that the daemon does not know is no failure of showing.
        let _ = context.client.mark_seen(request).await;
    }
    if open {
        out.note(&format!("next: askway answer {} LABEL", ask.id));
    }
    Ok(Exit::Done)
}
