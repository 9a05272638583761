//! `askway status`: who the caller is to the daemon, and how it does.

use super::render::{human, json};
use super::{Context, Exit, Failure, Out};

const HELP: &str = "\
Examples:
  askway status
  askway status --json";

/// Nothing to choose.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub struct Args {}

/// Prints it.
pub(super) async fn run(_args: Args, context: &Context, out: &mut Out) -> Result<Exit, Failure> {
    let mut status = context.client.status().await?;
    // The daemon's user alone is told of other namespaces; whoever is at its folder is that, too.
    if !context.is_session
        && let Ok(host) = context.as_host()
        && let Ok(told) = host.status().await
    {
        status.namespaces = told.namespaces;
    }
    out.line(&match out.json {
        true => json::status(&status, context.client.address(), &context.data),
        false => {
            let (address, data) = (context.client.address().to_string(), context.data.display());
            human::status(&status, &address, &data.to_string(), human::now(), out.look)
        }
    })?;
    out.flush()?;
    Ok(Exit::Done)
}
