//! How a verb ends: the exit codes that others script against, and failures with what to type next.

use crate::client::ClientError;
use crate::grpc::v1;
use tonic::Code;

/// The exit codes. They never change their meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// Done, answered, or expired with the default the asker named.
    Done = 0,
    /// Something nobody expected.
    Unexpected = 1,
    /// It was typed wrongly.
    Usage = 2,
    /// A person said no.
    Declined = 3,
    /// Expired with stop, withdrawn or abandoned: do not go on.
    Stopped = 4,
    /// Still open; not an error.
    Open = 5,
    /// Settled by somebody else before.
    Closed = 6,
    /// The caller may not.
    Refused = 7,
    /// No such thing.
    NotFound = 8,
    /// The daemon or its store is not there; try again.
    Unavailable = 9,
    /// Somebody spoke: reply, and wait again.
    Spoken = 10,
    /// `run` itself failed before its command began.
    RunFailed = 125,
    /// `run`'s command was found and could not be started.
    NotExecutable = 126,
    /// `run`'s command was not found.
    NoCommand = 127,
    /// The caller was interrupted.
    Interrupted = 130,
}

impl Exit {
    /// How a wait for this ask ends: by its outcome, or still open.
    pub fn of_ask(ask: &v1::Ask) -> Self {
        let Some(outcome) = &ask.outcome else { return Exit::Open };
        match outcome.kind() {
            v1::OutcomeKind::Answered => Exit::Done,
            v1::OutcomeKind::Declined => Exit::Declined,
            v1::OutcomeKind::Expired if outcome.answers.values().any(|a| a.default) => Exit::Done,
            v1::OutcomeKind::Expired | v1::OutcomeKind::Withdrawn | v1::OutcomeKind::Abandoned => {
                Exit::Stopped
            }
            v1::OutcomeKind::Unspecified => Exit::Unexpected,
        }
    }

    /// How a call that came to this receipt ends.
    pub fn of_receipt(receipt: &v1::Receipt) -> Self {
        match receipt.result() {
            v1::Result::Accepted => Exit::Done,
            v1::Result::Closed => Exit::Closed,
            v1::Result::Refused => Exit::Refused,
            v1::Result::Unspecified => Exit::Unexpected,
        }
    }
}

/// Why a verb failed, with what to type next.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The exit code.
    pub exit: Exit,
    /// A name of the closed list, or of the command line's own.
    pub reason: String,
    /// What went wrong.
    pub message: String,
    /// Every wrong field with what it must be.
    pub fields: Vec<(String, String)>,
    /// The next command to type.
    pub next: Option<String>,
}

impl Failure {
    /// A failure with nothing to type yet.
    pub fn new(exit: Exit, reason: &str, message: impl Into<String>) -> Self {
        let (reason, message) = (reason.to_owned(), message.into());
        Self { exit, reason, message, fields: Vec::new(), next: None }
    }

    /// It was typed wrongly.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(Exit::Usage, "USAGE", message)
    }

    /// With the next command to type.
    pub fn then(self, next: impl Into<String>) -> Self {
        Self { next: Some(next.into()), ..self }
    }

    /// A failure of reading or writing something here.
    pub fn io(what: impl std::fmt::Display, error: &std::io::Error) -> Self {
        Self::new(Exit::Unexpected, "IO", format!("{what}: {error}"))
    }
}

impl From<ClientError> for Failure {
    fn from(error: ClientError) -> Self {
        let exit = match error.code {
            Code::InvalidArgument | Code::OutOfRange | Code::AlreadyExists => Exit::Usage,
            Code::NotFound => Exit::NotFound,
            Code::Unauthenticated | Code::PermissionDenied | Code::FailedPrecondition => {
                Exit::Refused
            }
            Code::Unavailable | Code::ResourceExhausted | Code::DeadlineExceeded => {
                Exit::Unavailable
            }
            _ => Exit::Unexpected,
        };
        let reason = error.reason.unwrap_or_else(|| match exit {
            Exit::Unavailable => "NO_DAEMON".to_owned(),
            _ => format!("{:?}", error.code).to_uppercase(),
        });
        let next = match reason.as_str() {
            "NO_DAEMON" => Some("askway serve".to_owned()),
            "NOT_FOUND" => Some("askway inbox --all".to_owned()),
            "WRONG_PRINCIPAL" | "BAD_CREDENTIAL" => Some("askway status".to_owned()),
            "AMBIGUOUS_ID" => error
                .metadata
                .get("matches")
                .and_then(|ids| ids.split(',').next())
                .map(|id| format!("askway show {id}")),
            _ => None,
        };
        let (message, fields) = (error.message, error.fields);
        Self { exit, reason, message, fields, next }
    }
}
