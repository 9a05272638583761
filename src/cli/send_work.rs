//! `askway send-work`: a ticket for work, for those who enroll sessions by other means than `run`.

use super::{Context, Exit, Failure, render};
use crate::grpc::v1;
use serde_json::json;

/// Mint a ticket for work, as the session this runs in. Whoever redeems it gets this session as the
/// sender of the work.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  askway send-work
  askway send-work --blocking --json")]
pub struct Args {
    /// This session is blocked until the work is done: asks of it go past this session.
    #[arg(long)]
    blocking: bool,
    /// The work it is sent from; the latest where nothing is said.
    #[arg(long, value_name = "WORK")]
    from: Option<String>,
    /// Your id for this intent: the same again is the same.
    #[arg(long, value_name = "ID")]
    request_id: Option<String>,
}

pub(super) async fn run(args: Args, context: &mut Context<'_>) -> Result<Exit, Failure> {
    if !context.is_session {
        return Err(Failure::new(
            Exit::Refused,
            "WRONG_PRINCIPAL",
            "a person sends no work; run the agent's command in a session",
        )
        .then("askway run --as NAME -- COMMAND"));
    }
    let request = v1::SendWorkRequest {
        request_id: args.request_id.unwrap_or_default(),
        from_work_id: args.from.unwrap_or_default(),
        blocking: args.blocking,
    };
    let sent = context.client.send_work(request).await?;
    let receipt = sent.receipt.unwrap_or_default();
    let accepted = receipt.result() == v1::Result::Accepted;
    if context.out.json {
        let beside = json!({
            "work": sent.work_id,
            "ticket": sent.ticket,
            "expire_time": sent.expire_time.as_ref().map(super::time::exact),
        });
        context.out.object(&render::session_receipt(&receipt, beside))?;
    } else if accepted {
        context.out.line(&sent.ticket)?;
    } else {
        context.out.note(&format!("askway: {}", receipt.message));
    }
    Ok(if accepted { Exit::Done } else { Exit::Refused })
}
