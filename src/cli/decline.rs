//! `askway decline`: a person says no.

use super::typed::Why;
use super::{Context, Exit, Failure, Out, receipt};
use crate::grpc::v1;

const HELP: &str = "\
Examples:
  askway decline ask_k3f9 -m \"not this year\"";

/// Which ask, and why.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    #[command(flatten)]
    why: Why,
    /// The content that was decided on, where that was read before; what it is now otherwise
    #[arg(long, value_name = "DIGEST")]
    content_digest: Option<String>,
}

/// Sends the no, bound to the content that was shown.
pub(super) async fn run(args: Args, context: &Context, out: &mut Out) -> Result<Exit, Failure> {
    if context.is_session {
        let message = "only a person declines; a session moves the ask on to one";
        return Err(Failure::new(Exit::Refused, "WRONG_PRINCIPAL", message)
            .then(format!("askway escalate {} -m TEXT", args.why.id)));
    }
    let ask = context.read(&args.why.id).await?;
    let content_digest = context.bound_to(args.content_digest, &ask);
    let request = v1::DeclineRequest {
        request_id: args.why.intent.into_id(),
        ask_id: ask.id,
        content_digest,
        note: args.why.message,
    };
    let receipt = context.client.decline(request).await?;
    receipt::finish(&receipt, out, |ask| {
        format!("declined {}{}", ask.id, receipt::asker(&receipt, ask))
    })
}
