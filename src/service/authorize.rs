//! Who may do what: one function for calls on asks and in general, one for calls on a session.
//! Whose turn it is on an ask is not said here but by [`ask::decide`](crate::ask::decide()).

use super::Caller;
use crate::ask::Ask;
use crate::error::{Error, Reason};
use crate::session::{Principal, Session};

/// Every call there is, by its name on the wire.
#[expect(missing_docs, reason = "the proto files say what each does")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    Ask,
    GetAsk,
    ListAsks,
    ListEvents,
    WatchAsk,
    WatchInbox,
    Answer,
    AnswerAgent,
    Decline,
    Escalate,
    Withdraw,
    Say,
    Reply,
    MarkSeen,
    Claim,
    Release,
    WatchDeliveries,
    AcknowledgeDelivery,
    TakeDeliveries,
    SendWork,
    Enroll,
    AcceptWork,
    HoldSession,
    PauseSession,
    ResumeSession,
    EndSession,
    ListSessions,
    GetStatus,
}

/// Whether `caller` may make this call at all, and, where it is about an ask, may know of that ask.
///
/// # Errors
///
/// Denied, for a principal of the wrong kind; not found, exactly as for an id that never existed,
/// for an ask the caller may not know of (rule 15).
pub(super) fn authorize(caller: &Caller, call: Call, ask: Option<&Ask>) -> Result<(), Error> {
    use Principal::{Host, Person, Session};
    let may = match call {
        Call::Ask
        | Call::AnswerAgent
        | Call::Withdraw
        | Call::Reply
        | Call::SendWork
        | Call::AcceptWork
        | Call::HoldSession => matches!(caller.principal, Session(_)),
        Call::Answer | Call::Decline | Call::MarkSeen | Call::Claim | Call::Release => {
            matches!(caller.principal, Person(_))
        }
        Call::Escalate | Call::Say => matches!(caller.principal, Session(_) | Person(_)),
        Call::WatchDeliveries | Call::AcknowledgeDelivery | Call::TakeDeliveries => {
            matches!(caller.principal, Session(_) | Host(_))
        }
        Call::Enroll => matches!(caller.principal, Host(_)),
        Call::PauseSession | Call::ResumeSession | Call::EndSession => {
            matches!(caller.principal, Session(_) | Host(_))
        }
        Call::GetAsk
        | Call::ListAsks
        | Call::ListEvents
        | Call::WatchAsk
        | Call::WatchInbox
        | Call::ListSessions
        | Call::GetStatus => true,
    };
    if !may {
        return Err(wrong_principal(caller, call));
    }
    match ask {
        Some(ask) if !sees(caller, ask) => Err(Error::no_such_ask(ask.id)),
        _ => Ok(()),
    }
}

/// Whether `caller` may know of `ask`: sessions as the ask says, people within their namespace, a
/// host those of the sessions it enrolled.
pub(super) fn sees(caller: &Caller, ask: &Ask) -> bool {
    caller.namespace == ask.namespace
        && match &caller.principal {
            Principal::Session(session) => ask.is_visible_to(session),
            Principal::Person(_) => true,
            Principal::Host(host) => ask.host == *host,
        }
}

/// Whether `caller` may pause, resume or end `session`: itself (but not resume), its host, or the
/// sender that enrolled it.
///
/// # Errors
///
/// Not found, for everybody else.
pub(super) fn authorize_on_session(
    caller: &Caller,
    call: Call,
    session: &Session,
) -> Result<(), Error> {
    authorize(caller, call, None)?;
    let may = caller.namespace == session.namespace
        && match &caller.principal {
            Principal::Session(by) => {
                session.parent.as_ref() == Some(by)
                    || (session.reference() == *by && call != Call::ResumeSession)
            }
            Principal::Host(by) => session.host == *by,
            Principal::Person(_) => false,
        };
    if may { Ok(()) } else { Err(Error::no_such_session(session.id)) }
}

fn wrong_principal(caller: &Caller, call: Call) -> Error {
    let who = match caller.principal {
        Principal::Session(_) => "a session",
        Principal::Host(_) => "a host",
        Principal::Person(_) => "a person",
    };
    Error::Denied(Reason::WrongPrincipal, format!("{who} may not call {call:?}"))
}
