//! `askway withdraw`: the asker takes its ask back.

use super::typed::Why;
use super::{Context, Exit, Failure, Out, receipt};
use crate::grpc::v1;

const HELP: &str = "\
Examples:
  askway withdraw ask_k3f9 -m \"found it in the manual\"";

/// Which ask, and why.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    #[command(flatten)]
    why: Why,
}

/// Takes it back; once taken back it stays so, and that is no error.
pub(super) async fn run(
    Args { why }: Args,
    context: &Context,
    out: &mut Out,
) -> Result<Exit, Failure> {
    let ask = context.read(&why.id).await?;
    let is_own = context.is_asker(&ask).await?;
    let request =
        v1::WithdrawRequest { request_id: why.intent.into_id(), ask_id: ask.id, note: why.message };
    let receipt = context.client.withdraw(request).await?;
    if !is_own || !is_withdrawn_already(&receipt) {
        return receipt::finish(&receipt, out, |ask| format!("withdrawn {}", ask.id));
    }
    out.receipt(&receipt, |_| String::new())?;
    out.flush()?;
    out.note("it was withdrawn before");
    Ok(Exit::Done)
}

/// Only its asker withdraws an ask: for the asker it is what was wanted.
fn is_withdrawn_already(receipt: &v1::Receipt) -> bool {
    let outcome = receipt.ask.as_ref().and_then(|ask| ask.outcome.as_ref());
    receipt.result() == v1::Result::Closed
        && outcome.is_some_and(|outcome| outcome.kind() == v1::OutcomeKind::Withdrawn)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::render::fixture;

    #[test]
    fn only_a_withdrawal_makes_another_one_no_error() {
        use v1::OutcomeKind as K;
        for kind in [K::Answered, K::Declined, K::Expired, K::Withdrawn, K::Abandoned] {
            let mut closed = fixture::receipt(v1::Result::Closed, "");
            closed.ask = Some(fixture::settled(kind));
            assert_eq!(is_withdrawn_already(&closed), kind == K::Withdrawn, "{kind:?}");
        }
        assert!(!is_withdrawn_already(&fixture::receipt(v1::Result::Refused, "NOT_ASKER")));
    }
}
