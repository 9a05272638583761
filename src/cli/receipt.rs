//! What a receipt means for the caller: how the verb ends, and what to type next.

use super::render::{Out, human, words};
use super::{Exit, Failure};
use crate::ask::text::brief;
use crate::grpc::v1;

/// Prints `receipt` and says how the verb ends. `said` is the sentence for people, where it was
/// accepted.
///
/// # Errors
///
/// When it was refused, or the ask was settled before.
pub(super) fn finish(
    receipt: &v1::Receipt,
    out: &mut Out,
    said: impl FnOnce(&v1::Ask) -> String,
) -> Result<Exit, Failure> {
    out.receipt(receipt, said)?;
    out.flush()?;
    verdict(receipt)
}

/// How a verb with this receipt ends.
///
/// # Errors
///
/// When it was refused, or the ask was settled before.
pub(super) fn verdict(receipt: &v1::Receipt) -> Result<Exit, Failure> {
    match receipt.result() {
        v1::Result::Accepted => Ok(Exit::Done),
        v1::Result::Closed => Err(closed(receipt)),
        v1::Result::Refused => Err(refused(&receipt.reason, &receipt.message, receipt)),
        v1::Result::Unspecified => {
            Err(Failure::unexpected("the daemon sent a result that this program does not know")
                .then("askway --version, and the same of the daemon: askway status"))
        }
    }
}

fn closed(receipt: &v1::Receipt) -> Failure {
    match &receipt.ask {
        Some(ask) => settled_before(ask),
        None => Failure::new(Exit::Closed, "CLOSED", "it was settled before"),
    }
}

/// Somebody else was faster: who, how long ago, and with what.
pub(super) fn settled_before(ask: &v1::Ask) -> Failure {
    let Some(outcome) = &ask.outcome else {
        return Failure::unexpected("the daemon calls it settled and says not how")
            .then(to_show(ask));
    };
    let when = human::past(outcome.settle_time, human::now());
    let mut how = format!("{} {when}", human::outcome_line(outcome));
    let chosen = human::chosen(outcome);
    if !chosen.is_empty() {
        how = format!("{how}, with {chosen}");
    }
    if let Some(note) = &outcome.note {
        how = format!("{how}: {}", brief(note));
    }
    let message = format!("it was settled before: {how}; nothing of yours was sent");
    Failure::new(Exit::Closed, "CLOSED", message).then(to_show(ask))
}

fn to_show(ask: &v1::Ask) -> String {
    let id = human::typed_id(ask);
    format!("askway show {id}")
}

fn refused(reason: &str, message: &str, receipt: &v1::Receipt) -> Failure {
    let mut message = message.to_owned();
    if !receipt.open_ask_ids.is_empty() {
        message = format!("{message}: {}", receipt.open_ask_ids.join(", "));
    }
    let failure = Failure::new(Exit::Refused, reason, message);
    match next(reason, receipt) {
        Some(next) => failure.then(next),
        None => failure,
    }
}

/// What helps against a refusal.
fn next(reason: &str, receipt: &v1::Receipt) -> Option<String> {
    let id = receipt.ask.as_ref().map(human::typed_id);
    let open = receipt.open_ask_ids.first().map(|open| human::short_id(open, &[]));
    Some(match (reason, id, open) {
        ("TOO_MANY_OPEN" | "TREE_FULL" | "NAMESPACE_FULL", _, Some(open)) => {
            format!("askway wait {open}")
        }
        ("STANDING_DECLINE", Some(id), _) => format!("askway escalate {id} -m TEXT"),
        ("ASSURANCE_TOO_LOW", ..) => {
            "askway token create --person NAME --out FILE; then ASKWAY_TOKEN_FILE=FILE and the same"
                .to_owned()
        }
        ("LEASED", ..) => "askway deliveries take".to_owned(),
        ("MAY_NOT_ASK", ..) => "askway ask --work WORK, with a work that may ask".to_owned(),
        ("LAST_HOP", Some(id), _) => format!("askway answer {id}"),
        ("TOO_MANY_TURNS", Some(id), _) => {
            format!("askway answer {id} LABEL; or, as the asker, askway withdraw {id}")
        }
        ("CLAIMED", Some(id), _) => format!("askway claim {id} --take-over"),
        ("NOT_CLAIMED", Some(id), _) => format!("askway claim {id}"),
        ("SESSION_PAUSED", ..) => "askway run --resume SESSION -- COMMAND".to_owned(),
        ("SESSION_ENDED", ..) => "askway run --as NAME -- COMMAND".to_owned(),
        ("NO_SUCH_WORK" | "SESSION_ACTIVE", ..) => "askway session ls".to_owned(),
        (_, Some(id), _) => format!("askway show {id}"),
        (_, None, _) => return None,
    })
}

/// The same for a call about sessions.
///
/// # Errors
///
/// When it was refused.
pub(super) fn session_verdict(receipt: Option<&v1::SessionReceipt>) -> Result<Exit, Failure> {
    let Some(receipt) = receipt else {
        return Err(Failure::unexpected("the daemon sent no receipt; see its log"));
    };
    verdict(&v1::Receipt {
        result: receipt.result,
        replayed: receipt.replayed,
        reason: receipt.reason.clone(),
        message: receipt.message.clone(),
        ..v1::Receipt::default()
    })
}

/// What an asker will notice, as a clause for people.
pub(super) fn asker(receipt: &v1::Receipt, ask: &v1::Ask) -> String {
    let agent = words::agent(ask.asker.as_ref());
    match receipt.asker() {
        v1::AskerPresence::Live => format!("; {agent} is waiting for it"),
        v1::AskerPresence::Parked => format!("; {agent} gets it when it next looks"),
        v1::AskerPresence::Gone => format!("; the session of {agent} has ended: nobody will look"),
        v1::AskerPresence::Unspecified => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::render::fixture;

    #[test]
    fn each_outcome_ends_a_wait_as_documented() {
        use v1::OutcomeKind as K;
        let table = [
            (K::Answered, Exit::Done),
            (K::Declined, Exit::Declined),
            (K::Expired, Exit::Stopped),
            (K::Withdrawn, Exit::Stopped),
            (K::Abandoned, Exit::Stopped),
            (K::Unspecified, Exit::Unexpected),
        ];
        for (kind, exit) in table {
            assert_eq!(Exit::of_ask(&fixture::settled(kind)), exit, "{kind:?}");
        }
        assert_eq!(Exit::of_ask(&fixture::open()), Exit::Open);
        let mut by_default = fixture::settled(K::Expired);
        let answer = v1::Answer { selected: vec!["SQLite".into()], text: None, default: true };
        let outcome = by_default.outcome.as_mut().expect("it is settled");
        outcome.answers.insert("q1".into(), answer);
        assert_eq!(Exit::of_ask(&by_default), Exit::Done);
    }

    #[test]
    fn each_receipt_ends_a_verb_as_documented() {
        let accepted = fixture::receipt(v1::Result::Accepted, "");
        assert_eq!(verdict(&accepted).ok(), Some(Exit::Done));
        let replayed = v1::Receipt { replayed: true, ..accepted };
        assert_eq!(verdict(&replayed).ok(), Some(Exit::Done));

        let mut closed = fixture::receipt(v1::Result::Closed, "");
        closed.ask = Some(fixture::settled(v1::OutcomeKind::Answered));
        let failure = verdict(&closed).expect_err("closed");
        assert_eq!((failure.exit, failure.reason.as_str()), (Exit::Closed, "CLOSED"));
        assert!(failure.message.contains("answered by lead"), "{failure}");

        let unknown = fixture::receipt(v1::Result::Unspecified, "");
        assert_eq!(verdict(&unknown).expect_err("unknown").exit, Exit::Unexpected);
    }

    #[test]
    fn every_refusal_of_an_ask_says_what_to_type_next() {
        let reasons = [
            "NOT_SENDER",
            "NOT_ASKER",
            "LAST_HOP",
            "STALE",
            "CLAIMED",
            "NOT_CLAIMED",
            "TOO_MANY_TURNS",
            "SESSION_PAUSED",
            "SESSION_ENDED",
            "NO_SUCH_WORK",
            "STANDING_DECLINE",
            "LEASED",
            "MAY_NOT_ASK",
        ];
        for reason in reasons {
            let failure = verdict(&fixture::receipt(v1::Result::Refused, reason));
            let failure = failure.expect_err("refused");
            assert_eq!((failure.exit, failure.reason.as_str()), (Exit::Refused, reason));
            assert!(failure.next.is_some_and(|next| next.starts_with("askway ")), "{reason}");
        }
        let mut over = fixture::receipt(v1::Result::Refused, "TOO_MANY_OPEN");
        over.ask = None;
        over.open_ask_ids = vec![fixture::ID.into()];
        let failure = verdict(&over).expect_err("refused");
        assert!(failure.message.contains(fixture::ID), "{failure}");
        assert_eq!(failure.next, Some(format!("askway wait {}", &fixture::ID[..10])));
    }
}
