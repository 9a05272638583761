//! `askway log`: what happened to an ask, oldest first, through a pager on a terminal.

use super::pager::{self, Paging};
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
    #[command(flatten)]
    paging: Paging,
}

/// Prints its history.
pub(super) async fn run(args: Args, context: &Context, out: &mut Out) -> Result<Exit, Failure> {
    let ask = context.read(&args.id).await?;
    let events = context.client.list_events(&ask.id).await?;
    if out.json {
        events.iter().try_for_each(|event| out.line(&json::event(&ask.id, event)))?;
        out.flush()?;
    } else {
        pager::show(&args.paging, &human::history(&events, human::now(), out.look), 0, out)?;
    }
    Ok(Exit::Done)
}
