//! `askway log`: what happened to an ask, one event a line.

use super::{Context, Exit, Failure, render};

/// Show what happened to an ask.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  askway log ask_8f3k
  askway log ask_8f3k --json")]
pub struct Args {
    /// The ask: its id or the first characters of it.
    id: String,
}

pub(super) async fn run(args: Args, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let ask = context.ask(&args.id).await?;
    for event in context.client.list_events(&ask.id).await? {
        match context.out.json {
            true => context.out.object(&render::event_json(&event))?,
            false => context.out.line(&render::event_text(&event))?,
        }
    }
    Ok(Exit::Done)
}
