//! `askway escalate`: moves an ask on to whoever is asked next.

use super::render::human;
use super::typed::Why;
use super::{Context, Exit, Failure, Out, receipt};
use crate::client::ClientError;
use crate::grpc::v1;

const HELP: &str = "\
Examples:
  askway escalate ask_k3f9 -m \"not mine to decide\"";

/// Which ask, and why.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    #[command(flatten)]
    why: Why,
}

/// Moves it on from the hop that is in force now.
pub(super) async fn run(
    Args { why }: Args,
    context: &Context,
    out: &mut Out,
) -> Result<Exit, Failure> {
    let ask = context.read(&why.id).await?;
    let hop = ask.hop.as_ref().map_or(0, |hop| hop.index);
    let repeatable = why.intent.is_typed();
    let request = v1::EscalateRequest {
        request_id: why.intent.into_id(),
        ask_id: ask.id,
        hop,
        reason: why.message,
    };
    let receipt = match context.client.escalate(request.clone()).await {
        Err(error) if repeatable && is_reused(&error) => repeat(context, request, error).await?,
        escalated => escalated?,
    };
    receipt::finish(&receipt, out, |ask| {
        format!("{} now waits on {}", ask.id, human::waited_on(ask))
    })
}

/// The repeat of a call that went through reads a later hop than the call did, so its payload is
/// another. The request id is spent: with an earlier hop it is that very call, or refused as before.
async fn repeat(
    context: &Context,
    mut request: v1::EscalateRequest,
    mut error: ClientError,
) -> Result<v1::Receipt, Failure> {
    while let Some(earlier) = request.hop.checked_sub(1) {
        request.hop = earlier;
        match context.client.escalate(request.clone()).await {
            Err(again) if is_reused(&again) => error = again,
            escalated => return Ok(escalated?),
        }
    }
    Err(error.into())
}

fn is_reused(error: &ClientError) -> bool {
    error.code == tonic::Code::AlreadyExists
}
