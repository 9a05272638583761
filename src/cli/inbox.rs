//! `askway inbox`: what waits on the caller.

use super::{Context, Exit, Failure, render, time};
use crate::grpc::v1::{self, watch_inbox_response::Message};
use std::time::Duration;
use tokio_stream::StreamExt;

/// List what waits on you.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  askway inbox
  askway inbox --all
  askway inbox --wait 10m && askway inbox --json")]
pub struct Args {
    /// Also what still waits on sessions.
    #[arg(long)]
    all: bool,
    /// Block until something waits on you, at most so long: code 0 when it does, 5 when not.
    #[arg(long, value_name = "LENGTH", value_parser = time::parse)]
    wait: Option<Duration>,
}

pub(super) async fn run(args: Args, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let scope = if args.all { v1::AskScope::Visible } else { v1::AskScope::WaitingOnMe };
    if let Some(limit) = args.wait {
        match tokio::time::timeout(limit, something(context, scope)).await {
            Ok(found) => found?,
            Err(_) => return Ok(Exit::Open),
        }
    }
    let asks = context.client.list_asks(scope).await?;
    for ask in &asks {
        match context.out.json {
            true => context.out.object(&render::ask_json(ask))?,
            false => context.out.line(&render::ask_line(ask))?,
        }
    }
    if asks.is_empty() {
        context.out.note("nothing waits on you");
    }
    Ok(Exit::Done)
}

/// Returns once the inbox has something in it.
async fn something(context: &Context<'_>, scope: v1::AskScope) -> Result<(), Failure> {
    let mut watch = context.client.watch_inbox(scope);
    while let Some(message) = watch.next().await {
        let total = match message? {
            Message::Snapshot(snapshot) => snapshot.total,
            Message::Change(change) => change.total,
            Message::Idle(_) => 0,
        };
        if total > 0 {
            break;
        }
    }
    Ok(())
}
