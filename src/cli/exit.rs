//! How a verb ends: the exit codes that others script against, and failures with what to type next.

use super::help::verbs_there_are;
use super::place;
use super::render::human;
use crate::client::ClientError;
use crate::grpc::v1;
use clap::error::{ContextKind, ErrorKind};
use std::fmt;
use std::process::ExitCode;
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
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit as u8)
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

    /// Something nobody expected.
    pub fn unexpected(message: impl Into<String>) -> Self {
        Self::new(Exit::Unexpected, "UNEXPECTED", message)
    }

    /// What clap says of arguments that it cannot read, in one paragraph.
    pub fn of_clap(error: &clap::Error) -> Self {
        let text = error.render().to_string();
        let first = text.split("\n\n").next().unwrap_or_default();
        let message = first.trim_start_matches("error:").split_whitespace().collect::<Vec<_>>();
        let verb = verb_typed(error);
        let next = help_of(verb.as_deref());
        let message = match message.is_empty() || first.contains("Usage:") {
            true => "a verb is missing".to_owned(),
            false => message.join(" "),
        };
        let message = match error.kind() {
            ErrorKind::InvalidSubcommand => {
                format!("{message}; {}", verbs_there_are(verb.as_deref()))
            }
            _ => message,
        };
        Self::usage(message).then(next)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

impl From<ClientError> for Failure {
    fn from(error: ClientError) -> Self {
        let (exit, name) = of_code(error.code);
        // Nobody answered who could say why: what this side of TLS says is all there is.
        let is_untrusted = error.reason.is_none() && error.message.contains("peer certificate");
        let name = if is_untrusted { "BAD_CERTIFICATE" } else { name };
        let reason = error.reason.unwrap_or_else(|| name.to_owned());
        let matches = error.metadata.get("matches");
        let first = matches.and_then(|all| all.split(',').map(str::trim).find(|id| !id.is_empty()));
        let next = match reason.as_str() {
            "BAD_CERTIFICATE" => {
                let variable = place::CA_VAR;
                Some(format!(
                    "export {variable}=FILE, with the authority of the daemon's certificate"
                ))
            }
            // A daemon that takes only who has a certificate closes without a word.
            "NO_DAEMON" if place::is_with_tls() => Some(format!(
                "export {cert}=FILE {key}=FILE, if the daemon asks for a certificate; or askway serve, \
                 if none runs",
                cert = place::CLIENT_CERT_VAR,
                key = place::CLIENT_KEY_VAR
            )),
            "NO_DAEMON" => Some("askway serve, if no daemon runs; else the same again".into()),
            "AMBIGUOUS_ID" => first.map(|id| {
                let id = apart(id, matches.map(String::as_str).unwrap_or_default());
                format!("askway show {id}")
            }),
            "REQUEST_ID_REUSED" => Some("the same with another --request-id, or without".into()),
            "BAD_CREDENTIAL" | "NO_CREDENTIAL" => Some(place::against_a_bad_token().into()),
            "SESSION_ENDED" => Some("askway run --as NAME -- COMMAND".into()),
            "SESSION_PAUSED" => Some("askway run --resume SESSION -- COMMAND".into()),
            _ => match exit {
                Exit::NotFound => Some(where_to_look(&error.message).to_owned()),
                Exit::Unavailable => Some("the same again, with the same --request-id".to_owned()),
                Exit::Refused => Some("askway status".to_owned()),
                Exit::Usage => Some("the same again with that put right".to_owned()),
                _ => None,
            },
        };
        let mut message = match reason.as_str() {
            "WRONG_PRINCIPAL" => by_verb(error.message),
            _ => error.message,
        };
        // The daemon's sentence for programs that read only that strings the fields together.
        if reason == "INVALID_ARGUMENT" && !error.fields.is_empty() {
            message = "what was typed is not as it must be".to_owned();
        }
        if let Some(all) = matches.filter(|all| !message.contains(all.as_str()))
            && first.is_some_and(|id| !message.contains(id))
        {
            message = format!("{message}: it could be any of {all}");
        }
        Self { exit, reason, message, fields: error.fields, next }
    }
}

/// The verb that was typed before what cannot be read; none where that was none.
pub(super) fn verb_typed(error: &clap::Error) -> Option<String> {
    let usage = error.get(ContextKind::Usage).map(ToString::to_string).unwrap_or_default();
    let verb = usage.split_whitespace().skip_while(|word| *word != "askway").nth(1)?;
    let is_verb = |word: &str| {
        !word.starts_with('-') && word.chars().all(|c| c.is_ascii_lowercase() || c == '-')
    };
    is_verb(verb).then(|| verb.to_owned())
}

/// What to type to read of a verb, or of all.
pub(super) fn help_of(verb: Option<&str>) -> String {
    verb.map_or_else(|| "askway --help".to_owned(), |verb| format!("askway {verb} --help"))
}

/// As much of an id as tells it from those that it could have been.
fn apart<'a>(id: &'a str, all: &str) -> &'a str {
    let all = all.split(',').map(|id| v1::Ask { id: id.trim().into(), ..v1::Ask::default() });
    human::short_id(id, &all.collect::<Vec<_>>())
}

/// Which list has what the daemon says is not there: it names the kind first.
fn where_to_look(message: &str) -> &'static str {
    let kind = message.strip_prefix("no ").and_then(|rest| rest.split(' ').next());
    match kind.unwrap_or_default() {
        "person" => "askway person ls",
        "session" => "askway session ls --all",
        "token" => "askway token ls",
        "namespace" => "askway namespace ls; or the same with --new-namespace",
        _ => "askway inbox --all",
    }
}

/// The verb that makes a call of this name; none for what no verb does by itself.
fn verb_of(call: &str) -> Option<&'static str> {
    Some(match call {
        "Ask" => "ask",
        "GetAsk" | "MarkSeen" => "show",
        "ListAsks" => "inbox",
        "ListEvents" => "log",
        "WatchInbox" => "inbox --watch",
        "WatchAsk" => "wait",
        "Answer" | "AnswerAgent" => "answer",
        "Decline" => "decline",
        "Escalate" => "escalate",
        "Withdraw" => "withdraw",
        "Say" => "say",
        "Reply" => "reply",
        "Claim" => "claim",
        "Release" => "release",
        "WatchDeliveries" | "TakeDeliveries" => "deliveries take",
        "AcknowledgeDelivery" => "deliveries ack",
        "SendWork" => "send-work",
        "Enroll" | "AcceptWork" | "HoldSession" | "PauseSession" => "run",
        "ResumeSession" => "run --resume",
        "EndSession" => "session end",
        "ListSessions" => "session ls",
        "AddPerson" => "person add",
        "ListPeople" => "person ls",
        "RemovePerson" => "person rm",
        "CreateToken" => "token create",
        "ListTokens" => "token ls",
        "RevokeToken" => "token revoke",
        "RevokeSession" => "token revoke --session",
        "GetStatus" => "status",
        _ => return None,
    })
}

/// A refusal in the words of the command line: the daemon names the call, which nobody has typed.
fn by_verb(message: String) -> String {
    const MAY_NOT: &str = " may not call ";
    let verb = message.split_once(MAY_NOT).and_then(|(who, call)| Some((who, verb_of(call)?)));
    match verb {
        Some((who, verb)) => format!("{who} may not do this: askway {verb}"),
        None => message,
    }
}

/// How a status ends a verb, and the reason where the server gave none.
fn of_code(code: Code) -> (Exit, &'static str) {
    match code {
        Code::Unavailable | Code::ResourceExhausted | Code::DeadlineExceeded | Code::Cancelled => {
            (Exit::Unavailable, "NO_DAEMON")
        }
        Code::NotFound => (Exit::NotFound, "NOT_FOUND"),
        Code::PermissionDenied => (Exit::Refused, "WRONG_PRINCIPAL"),
        Code::Unauthenticated => (Exit::Refused, "BAD_CREDENTIAL"),
        Code::FailedPrecondition => (Exit::Refused, "REFUSED"),
        Code::InvalidArgument | Code::OutOfRange => (Exit::Usage, "INVALID_ARGUMENT"),
        Code::AlreadyExists => (Exit::Usage, "REQUEST_ID_REUSED"),
        Code::Ok
        | Code::Unknown
        | Code::Aborted
        | Code::Unimplemented
        | Code::Internal
        | Code::DataLoss => (Exit::Unexpected, "INTERNAL"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(code: Code, reason: Option<&str>, matches: Option<&str>) -> Failure {
        let metadata = matches.map(|all| ("matches".to_owned(), all.to_owned()));
        Failure::from(ClientError {
            code,
            reason: reason.map(str::to_owned),
            message: "words".into(),
            fields: vec![("ask_id".into(), "must be an id".into())],
            metadata: metadata.into_iter().collect(),
            retry_after: None,
        })
    }

    #[test]
    fn each_status_ends_a_verb_as_documented() {
        let table = [
            (Code::Unavailable, None, Exit::Unavailable, "NO_DAEMON"),
            (Code::Unavailable, Some("STORE_UNAVAILABLE"), Exit::Unavailable, "STORE_UNAVAILABLE"),
            (Code::ResourceExhausted, Some("BUSY"), Exit::Unavailable, "BUSY"),
            (Code::NotFound, Some("NOT_FOUND"), Exit::NotFound, "NOT_FOUND"),
            (Code::PermissionDenied, Some("NOT_HOLDER"), Exit::Refused, "NOT_HOLDER"),
            (Code::Unauthenticated, None, Exit::Refused, "BAD_CREDENTIAL"),
            (Code::FailedPrecondition, Some("SESSION_PAUSED"), Exit::Refused, "SESSION_PAUSED"),
            (Code::InvalidArgument, None, Exit::Usage, "INVALID_ARGUMENT"),
            (Code::AlreadyExists, Some("REQUEST_ID_REUSED"), Exit::Usage, "REQUEST_ID_REUSED"),
            (Code::Internal, None, Exit::Unexpected, "INTERNAL"),
        ];
        for (code, given, exit, reason) in table {
            let failure = failure(code, given, None);
            assert_eq!((failure.exit, failure.reason.as_str()), (exit, reason), "{code:?}");
            assert_eq!(failure.fields.len(), 1);
            assert_eq!(failure.next.is_some(), exit != Exit::Unexpected, "{code:?}");
        }
    }

    #[test]
    fn a_refusal_names_the_verb_and_not_the_call() {
        let of = |message: &str| by_verb(message.to_owned());
        assert_eq!(
            of("a person may not call SendWork"),
            "a person may not do this: askway send-work"
        );
        assert_eq!(of("a person may not call Fly"), "a person may not call Fly");
        assert_eq!(of("words"), "words");
    }

    #[test]
    fn what_is_not_there_is_looked_for_in_its_own_list() {
        for (message, next) in [
            ("no person bob", "askway person ls"),
            ("no session ses_0", "askway session ls --all"),
            ("no token tok_0", "askway token ls"),
            ("no ask ask_0", "askway inbox --all"),
            ("gone", "askway inbox --all"),
        ] {
            assert_eq!(where_to_look(message), next);
        }
        assert!(where_to_look("no namespace n2; how").ends_with("--new-namespace"));
    }

    #[test]
    fn an_ambiguous_id_lists_what_it_could_be() {
        let all = "ask_k0000000000000000000, ask_k1000000000000000000";
        let failure = failure(Code::InvalidArgument, Some("AMBIGUOUS_ID"), Some(all));
        assert_eq!(failure.exit, Exit::Usage);
        assert!(failure.message.contains(all));
        assert_eq!(failure.next.as_deref(), Some("askway show ask_k00000"));
    }
}
