//! `askway decline`: a person says no.

use super::typed::Why;
use super::{Context, Exit, Failure, Out, receipt, shell};
use crate::ask::text::brief;
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
    /// The content that was decided on; what you were shown here last where nothing is said
    #[arg(long, alias = "content-digest", value_name = "DIGEST")]
    digest: Option<String>,
}

/// Sends the no, bound to the content that was shown.
pub(super) async fn run(args: Args, context: &Context, out: &mut Out) -> Result<Exit, Failure> {
    if context.is_session {
        let message = "only a person declines; a session moves the ask on to one";
        let typed_id = shell::word_or(&args.why.id, "ID");
        return Err(Failure::new(Exit::Refused, "WRONG_PRINCIPAL", message)
            .then(format!("askway escalate {typed_id} -m TEXT")));
    }
    let ask = context.read(&args.why.id).await?;
    let (content_digest, is_known) = context.bound_to(args.digest, &ask);
    let asked = ask.questions.first().map(|asked| brief(&asked.question)).unwrap_or_default();
    let request = v1::DeclineRequest {
        request_id: args.why.intent.into_id(),
        ask_id: ask.id,
        content_digest,
        note: args.why.message,
    };
    let receipt = context.client.decline(request).await?;
    let ended = receipt::finish(&receipt, out, |ask| {
        format!("declined {}{}", ask.id, receipt::asker(&receipt, ask))
    })?;
    if !is_known {
        out.note(&format!("you had not been shown it here; what you said no to: {asked}"));
    }
    Ok(ended)
}
