//! `askway send-work`: makes the ticket with which another session takes up work of the caller's.

use super::look::Look;
use super::render::{human, json};
use super::typed::Intent;
use super::{Context, Exit, Failure, Out, receipt};
use crate::grpc::v1;

const HELP: &str = "\
Examples:
  askway send-work
  askway send-work --blocking --json

The ticket is a secret: whoever has it takes up the work, and you are recorded as its sender. It is
good once. To send work to a new session on this machine: askway run --as NAME -- COMMAND";

/// What to do with it, for whoever sees it.
const NEXT: &str = "\
Give it to the program that takes the work up: with it, Enroll (of askway.v1.SessionService) makes a new
session and AcceptWork takes the work up in one that runs. A command on this machine needs no ticket:
next: askway run --as NAME -- COMMAND";

/// From where, and how.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    /// The work of yours that it is sent from; your latest where nothing is said
    #[arg(long, value_name = "WORK")]
    from: Option<String>,
    /// You are blocked until it is done: asks of it go past you
    #[arg(long)]
    blocking: bool,
    /// No asks may be filed for it
    #[arg(long)]
    no_asks: bool,
    #[command(flatten)]
    intent: Intent,
}

/// Makes it; the ticket alone goes to stdout.
pub(super) async fn run(args: Args, context: &Context, out: &mut Out) -> Result<Exit, Failure> {
    let request = v1::SendWorkRequest {
        no_asks: args.no_asks,
        request_id: args.intent.into_id(),
        from_work_id: args.from.unwrap_or_default(),
        blocking: args.blocking,
    };
    let sent = context.client.send_work(request).await?;
    if out.json {
        out.line(&json::sent(&sent))?;
    }
    let exit = receipt::session_verdict(sent.receipt.as_ref())?;
    match (out.json, sent.ticket.is_empty()) {
        (true, _) => {}
        (false, true) => out.note("its ticket has been used, and is not shown again"),
        (false, false) => {
            out.line(&sent.ticket)?;
            let until = human::future(sent.expire_time, human::now());
            out.note(&format!("the ticket of {}; its time is over {until}", sent.work_id));
            if Look::of_stderr().terminal {
                out.note(NEXT);
            }
        }
    }
    out.flush()?;
    Ok(exit)
}
