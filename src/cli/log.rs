//! `askway log`: what happened to an ask, oldest first.

use super::render::{human, json};
use super::{Context, Exit, Failure, Out};

const HELP: &str = "\
Examples:
  askway log ask_k3f9
  askway log k3f9 --json";

/// Which ask.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    /// The ask's id, or its first characters
    id: String,
}

/// Prints its history.
pub(super) async fn run(args: Args, context: &Context, out: &mut Out) -> Result<Exit, Failure> {
    let ask = context.read(&args.id).await?;
    let now = human::now();
    for event in context.client.list_events(&ask.id).await? {
        out.line(&match out.json {
            true => json::event(&ask.id, &event),
            false => human::event(&event, now),
        })?;
    }
    out.flush()?;
    Ok(Exit::Done)
}
