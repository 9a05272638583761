//! Faults as gRPC statuses, each with an ErrorInfo whose reason is of the closed list.

use crate::error::{Error, Reason};
use std::collections::HashMap;
use std::time::Duration;
use tonic::{Code, Status};
use tonic_types::{ErrorDetails, StatusExt};

/// The domain of every ErrorInfo.
pub const DOMAIN: &str = "askway";
/// In an ErrorInfo: the ids an ambiguous prefix fits, with commas between.
pub const MATCHES: &str = "matches";
/// In an ErrorInfo: the revision to resume at, or the one the ask is at.
pub const REVISION: &str = "revision";

/// The status of `error`. A refusal is a receipt wherever there is one; where there is none, as on a
/// stream, it is a failed precondition.
pub fn status(error: Error) -> Status {
    let message = error.to_string();
    let (code, reason, details) = match error {
        Error::Refused(refusal) => (Code::FailedPrecondition, refusal.reason, info(&[])),
        Error::Invalid(violations) => {
            let mut details = info(&[]);
            for violation in violations {
                details.add_bad_request_violation(violation.field, violation.description);
            }
            (Code::InvalidArgument, Reason::InvalidArgument, details)
        }
        Error::Ambiguous(ids) => {
            let ids: Vec<_> = ids.iter().map(ToString::to_string).collect();
            let details = info(&[(MATCHES, ids.join(","))]);
            (Code::InvalidArgument, Reason::AmbiguousId, details)
        }
        Error::NotFound(_) => (Code::NotFound, Reason::NotFound, info(&[])),
        Error::RevisionAhead(at) => {
            let details = info(&[(REVISION, at.to_string())]);
            (Code::OutOfRange, Reason::RevisionAhead, details)
        }
        Error::OtherHistory => (Code::OutOfRange, Reason::RevisionAhead, info(&[])),
        Error::Unauthenticated(reason, _) => (Code::Unauthenticated, reason, info(&[])),
        Error::Denied(reason, _) => (Code::PermissionDenied, reason, info(&[])),
        Error::Precondition(reason, _) => (Code::FailedPrecondition, reason, info(&[])),
        Error::RequestIdReused => (Code::AlreadyExists, Reason::RequestIdReused, info(&[])),
        Error::RequestIdTooOld => (Code::FailedPrecondition, Reason::RequestIdTooOld, info(&[])),
        Error::TooSlow(_) => (Code::DeadlineExceeded, Reason::TooSlow, info(&[])),
        Error::Busy(after) => (Code::ResourceExhausted, Reason::Busy, retry(after)),
        Error::Unavailable(reason, _, after) => (Code::Unavailable, reason, retry(after)),
        Error::Internal(what) => {
            tracing::error!(%what, "a fault of our own");
            (Code::Internal, Reason::Internal, info(&[]))
        }
    };
    with_reason(code, reason, message, details)
}

/// The status with which a stream of an ask is cut: it carries the revision to resume at, once
/// anything was sent.
pub fn cut(error: Error, last: Option<u64>) -> Status {
    match (error, last) {
        (Error::Unavailable(reason, message, after), Some(revision)) => {
            let mut details = info(&[(REVISION, revision.to_string())]);
            details.set_retry_info(Some(after));
            with_reason(Code::Unavailable, reason, message, details)
        }
        (error, _) => status(error),
    }
}

pub(super) fn with_reason(
    code: Code,
    reason: Reason,
    message: String,
    mut details: ErrorDetails,
) -> Status {
    let metadata = details.error_info().map(|info| info.metadata.clone()).unwrap_or_default();
    details.set_error_info(reason.as_str(), DOMAIN, metadata);
    Status::with_error_details(code, message, details)
}

pub(super) fn info(metadata: &[(&str, String)]) -> ErrorDetails {
    let metadata: HashMap<String, String> =
        metadata.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect();
    let mut details = ErrorDetails::new();
    details.set_error_info("", DOMAIN, metadata);
    details
}

fn retry(after: Duration) -> ErrorDetails {
    let mut details = info(&[]);
    details.set_retry_info(Some(after));
    details
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::Violation;

    #[test]
    fn every_fault_has_its_code_its_reason_and_its_details() {
        let text = || "words".to_owned();
        let second = Duration::from_secs(1);
        let violation = vec![Violation::new("one", "must"), Violation::new("two", "must")];
        let cases = [
            (Error::refused(Reason::Stale, "words"), Code::FailedPrecondition, Reason::Stale),
            (Error::Invalid(violation), Code::InvalidArgument, Reason::InvalidArgument),
            (Error::Ambiguous(vec![]), Code::InvalidArgument, Reason::AmbiguousId),
            (Error::NotFound(text()), Code::NotFound, Reason::NotFound),
            (Error::RevisionAhead(3), Code::OutOfRange, Reason::RevisionAhead),
            (Error::OtherHistory, Code::OutOfRange, Reason::RevisionAhead),
            (
                Error::Unauthenticated(Reason::NoCredential, text()),
                Code::Unauthenticated,
                Reason::NoCredential,
            ),
            (
                Error::Denied(Reason::WrongPrincipal, text()),
                Code::PermissionDenied,
                Reason::WrongPrincipal,
            ),
            (
                Error::Precondition(Reason::SessionPaused, text()),
                Code::FailedPrecondition,
                Reason::SessionPaused,
            ),
            (Error::RequestIdReused, Code::AlreadyExists, Reason::RequestIdReused),
            (Error::TooSlow(text()), Code::DeadlineExceeded, Reason::TooSlow),
            (Error::Busy(second), Code::ResourceExhausted, Reason::Busy),
            (Error::stopping(), Code::Unavailable, Reason::Stopping),
            (Error::Internal(text()), Code::Internal, Reason::Internal),
        ];
        for (error, code, reason) in cases {
            let retries = matches!(error, Error::Busy(_) | Error::Unavailable(..));
            let fields = if let Error::Invalid(fields) = &error { fields.len() } else { 0 };
            let status = status(error);
            let details = status.get_error_details();
            let info = details.error_info().expect("every status has an ErrorInfo");
            assert_eq!((status.code(), info.reason.as_str()), (code, reason.as_str()));
            assert_eq!(info.domain, DOMAIN);
            assert_eq!(details.retry_info().is_some(), retries);
            assert_eq!(details.bad_request().map_or(0, |bad| bad.field_violations.len()), fields);
        }
    }

    #[test]
    fn every_reason_travels_as_it_is_spelled_and_none_twice() {
        let mut seen = std::collections::HashSet::new();
        for reason in Reason::ALL {
            let refused = status(Error::refused(*reason, "words"));
            let details = refused.get_error_details();
            assert_eq!(refused.code(), Code::FailedPrecondition);
            assert_eq!(details.error_info().unwrap().reason, reason.as_str());
            assert!(seen.insert(reason.as_str()), "{reason} stands for two");
            let plain = |c: char| c.is_ascii_uppercase() || c == '_';
            assert!(reason.as_str().chars().all(plain), "{reason}");
        }
    }

    #[test]
    fn what_is_ours_is_for_the_log_and_what_helps_is_for_the_caller() {
        let ours = status(Error::Internal("the password is 1234".into()));
        assert!(!ours.message().contains("1234"), "{}", ours.message());
        let time = crate::ask::Timestamp::from_millis(7);
        let ids = [[1; 6], [2; 6]].map(|random| crate::ask::AskId::new(time, random));
        let details = status(Error::Ambiguous(ids.to_vec())).get_error_details();
        let matches = &details.error_info().unwrap().metadata[MATCHES];
        assert_eq!(*matches, format!("{},{}", ids[0], ids[1]));
        let details = status(Error::RevisionAhead(9)).get_error_details();
        assert_eq!(details.error_info().unwrap().metadata[REVISION], "9");
    }

    #[test]
    fn a_cut_stream_says_where_to_resume_once_anything_was_sent() {
        let revision = |last| {
            let details = cut(Error::stopping(), last).get_error_details();
            assert!(details.retry_info().is_some());
            details.error_info().unwrap().metadata.get(REVISION).cloned()
        };
        assert_eq!(revision(Some(7)).as_deref(), Some("7"));
        assert_eq!(revision(None), None);
        assert_eq!(cut(Error::no_such_ask("x"), Some(7)).code(), Code::NotFound);
    }
}
