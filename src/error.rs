//! What can go wrong for a caller: one type, and the closed list of reasons.
//!
//! A *refusal* is an ordinary answer and travels in a receipt; everything else is a fault and
//! becomes a gRPC status. Both carry a [`Reason`].

use crate::ask::text::brief;
use crate::ask::{Ask, AskId, Lease, Rejection, StandingNo, Violation};
use crate::session::{Denied, RosterDenied, Unfit};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

macro_rules! reasons {
    ($($(#[$doc:meta])* $name:ident = $text:literal,)*) => {
        /// Why: the closed list. Programs may switch on it; a name never changes its meaning.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Reason { $($(#[$doc])* $name,)* }

        impl Reason {
            /// Every reason there is.
            pub const ALL: &'static [Reason] = &[$(Reason::$name,)*];

            /// As it stands in a receipt or an ErrorInfo.
            pub const fn as_str(self) -> &'static str {
                match self { $(Reason::$name => $text,)* }
            }
        }
    };
}

reasons! {
    // Refusals: the receipt says so, nothing changed, the request id is still good.
    /// The ask does not wait on this session.
    NotSender = "NOT_SENDER",
    /// Only the asker may.
    NotAsker = "NOT_ASKER",
    /// There is nobody further to ask.
    LastHop = "LAST_HOP",
    /// The content is not the one that was shown.
    Stale = "STALE",
    /// A person's word must be more surely theirs than this one is.
    AssuranceTooLow = "ASSURANCE_TOO_LOW",
    /// Another person is on it.
    Claimed = "CLAIMED",
    /// This person is not on it.
    NotClaimed = "NOT_CLAIMED",
    /// The talk is as long as talk may be.
    TooManyTurns = "TOO_MANY_TURNS",
    /// A person has said no to this, and no session may say otherwise.
    StandingDecline = "STANDING_DECLINE",
    /// Another worker is handing this over, or the lease given is over.
    Leased = "LEASED",
    /// As many asks are open in this tree of works as may be.
    TreeFull = "TREE_FULL",
    /// As many asks are open in this namespace as may be.
    NamespaceFull = "NAMESPACE_FULL",
    /// The session has as many open asks as it may have.
    TooManyOpen = "TOO_MANY_OPEN",
    /// The session holds as many works as it may hold.
    TooManyWorks = "TOO_MANY_WORKS",
    /// Whoever sent the work said that no asks are filed for it.
    MayNotAsk = "MAY_NOT_ASK",
    /// None of the session's works has this id.
    NoSuchWork = "NO_SUCH_WORK",
    /// The work would be sent deeper than work may be.
    TooDeep = "TOO_DEEP",
    /// The work comes from the session itself, or from its own descendant.
    WorkCycle = "WORK_CYCLE",
    /// The ticket is not good: unknown, used, void, or its sender has ended.
    BadTicket = "BAD_TICKET",
    /// The ticket's time is over.
    TicketExpired = "TICKET_EXPIRED",
    /// As many people, tokens or namespaces as there may be.
    RosterFull = "ROSTER_FULL",
    /// The session is paused.
    SessionPaused = "SESSION_PAUSED",
    /// The session is active.
    SessionActive = "SESSION_ACTIVE",
    /// The session has ended.
    SessionEnded = "SESSION_ENDED",

    // Faults: a status says so.
    /// A field is not as it must be.
    InvalidArgument = "INVALID_ARGUMENT",
    /// The prefix of an id fits several.
    AmbiguousId = "AMBIGUOUS_ID",
    /// There is no such thing, or none the caller may see.
    NotFound = "NOT_FOUND",
    /// The revision asked for has not happened here, or is of another store's history.
    RevisionAhead = "REVISION_AHEAD",
    /// No credential, where one is needed.
    NoCredential = "NO_CREDENTIAL",
    /// The credential is not good.
    BadCredential = "BAD_CREDENTIAL",
    /// The credential was revoked.
    CredentialRevoked = "CREDENTIAL_REVOKED",
    /// The credential's time is over.
    CredentialExpired = "CREDENTIAL_EXPIRED",
    /// A principal of this kind may not do this.
    WrongPrincipal = "WRONG_PRINCIPAL",
    /// The holder's secret is not this session's.
    NotHolder = "NOT_HOLDER",
    /// The call comes from a page in a browser, or by a name that is not the daemon's.
    ForeignOrigin = "FOREIGN_ORIGIN",
    /// The message did not come in time, or the call's own deadline is over.
    TooSlow = "TOO_SLOW",
    /// The request id was used for something else.
    RequestIdReused = "REQUEST_ID_REUSED",
    /// The request id was made before anything is remembered: what became of it cannot be told.
    RequestIdTooOld = "REQUEST_ID_TOO_OLD",
    /// A queue is full.
    Busy = "BUSY",
    /// The store cannot be read or written now.
    StoreUnavailable = "STORE_UNAVAILABLE",
    /// The server is stopping.
    Stopping = "STOPPING",
    /// The program is wrong.
    Internal = "INTERNAL",
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Why a call did not do what it asked for.
#[derive(Clone, Debug)]
pub enum Error {
    /// An ordinary no: goes into a receipt.
    Refused(Refusal),
    /// Fields are wrong: all of them.
    Invalid(Vec<Violation>),
    /// A prefix fits several asks.
    Ambiguous(Vec<AskId>),
    /// No such thing, or none the caller may see; the sentence names only what was sent.
    NotFound(String),
    /// The revision asked for is ahead of the ask's, which is this.
    RevisionAhead(u64),
    /// The revision asked for is of another store: this one was restored from a copy.
    OtherHistory,
    /// No credential, or a bad one.
    Unauthenticated(Reason, String),
    /// A good credential of the wrong kind.
    Denied(Reason, String),
    /// Needs the session to be in another standing.
    Precondition(Reason, String),
    /// The request id was used for something else.
    RequestIdReused,
    /// The request id is older than anything that is remembered.
    RequestIdTooOld,
    /// What had to come in time did not.
    TooSlow(String),
    /// Too much at once; good again after this long.
    Busy(Duration),
    /// Not now; good again after this long.
    Unavailable(Reason, String, Duration),
    /// Ours. The sentence is for the log.
    Internal(String),
}

/// An ordinary no.
#[derive(Clone, Debug)]
pub struct Refusal {
    /// Why.
    pub reason: Reason,
    /// Why, in words, with what would help.
    pub message: String,
    /// The ask as it is, where there is one that the caller may see.
    pub ask: Option<Arc<Ask>>,
    /// Over a limit: the open asks that fill it.
    pub open: Vec<AskId>,
}

/// How long a caller should wait before it tries a stopped or failing store again.
pub const RETRY_AFTER: Duration = Duration::from_millis(250);

impl Error {
    /// A refusal with a sentence.
    pub fn refused(reason: Reason, message: impl Into<String>) -> Self {
        let message = message.into();
        Error::Refused(Refusal { reason, message, ask: None, open: Vec::new() })
    }

    /// The store cannot be read or written now.
    pub fn store(message: impl Into<String>) -> Self {
        Error::Unavailable(Reason::StoreUnavailable, message.into(), RETRY_AFTER)
    }

    /// The server is stopping.
    pub fn stopping() -> Self {
        let message = "the daemon is stopping; the same request may be sent to it again".into();
        Error::Unavailable(Reason::Stopping, message, RETRY_AFTER)
    }

    /// No such ask, as far as the caller may know.
    pub fn no_such_ask(id: impl fmt::Display) -> Self {
        Error::NotFound(format!("no ask {id}"))
    }

    /// No such session, as far as the caller may know.
    pub fn no_such_session(id: impl fmt::Display) -> Self {
        Error::NotFound(format!("no session {id}"))
    }

    /// The session of the caller's token is over, and with it the token.
    pub fn session_ended() -> Self {
        let message = "the session of this token has ended".into();
        Error::Unauthenticated(Reason::SessionEnded, message)
    }

    /// One wrong field.
    pub fn invalid(field: impl Into<String>, description: impl Into<String>) -> Self {
        Error::Invalid(vec![Violation::new(field, description)])
    }

    /// What the domain said of an ask; a closed one is not an error, and is answered by its receipt.
    pub fn of_rejection(rejection: Rejection, id: AskId, ask: Option<&Arc<Ask>>) -> Self {
        let mut open = Vec::new();
        let (reason, message) = match rejection {
            Rejection::Unknown | Rejection::Closed => return Error::no_such_ask(id),
            Rejection::Invalid(violations) => return Error::Invalid(violations),
            Rejection::NotSender => (
                Reason::NotSender,
                match ask.and_then(|ask| ask.waiting_on()) {
                    Some(target) => {
                        format!("it does not wait on this session; it waits on {target}")
                    }
                    None => "it does not wait on this session".into(),
                },
            ),
            Rejection::NotAsker => (Reason::NotAsker, "only the session that asked may".into()),
            Rejection::LastHop => {
                (Reason::LastHop, "there is nobody further to ask; answer or decline it".into())
            }
            Rejection::Stale => {
                (Reason::Stale, "the content has changed since it was shown; look again".into())
            }
            Rejection::TooUnsure(demanded) => (
                Reason::AssuranceTooLow,
                format!(
                    "it demands a person's word of assurance `{demanded}`: give it by a token that \
                     was made for you (askway token create), not by the one in the data folder"
                ),
            ),
            Rejection::Claimed(by) => (Reason::Claimed, format!("{by} is on it; take it over?")),
            Rejection::NotClaimed => (Reason::NotClaimed, "nobody is on it".into()),
            Rejection::TooManyTurns => (
                Reason::TooManyTurns,
                "the talk on this ask is full; answer it, or ask anew".into(),
            ),
            Rejection::StandingDecline(no) => (Reason::StandingDecline, standing(&no)),
            Rejection::Leased(lease) => (Reason::Leased, leased(lease.as_ref())),
            Rejection::TreeFull(count, ids) => {
                open = ids;
                (Reason::TreeFull, full(count, "in this tree of works"))
            }
            Rejection::NamespaceFull(count, ids) => {
                open = ids;
                (Reason::NamespaceFull, full(count, "here"))
            }
        };
        Error::Refused(Refusal { reason, message, ask: ask.cloned(), open })
    }
}

fn standing(no: &StandingNo) -> String {
    // On one line: words of theirs must not look like words of ours.
    let note = no.note.as_deref().map(|note| format!(": {}", brief(note))).unwrap_or_default();
    let by = &no.by;
    format!("{by} has declined this already{note}; leave it to a person, or escalate it")
}

fn leased(lease: Option<&Lease>) -> String {
    match lease {
        Some(lease) => format!("`{}` has this in hand; leave it, or take it later", lease.holder),
        None => "the lease given is over; take it again".to_owned(),
    }
}

fn full(count: usize, place: &str) -> String {
    format!("{count} asks are open {place}, as many as may be; wait for some, or withdraw some")
}

impl From<Unfit> for Error {
    fn from(unfit: Unfit) -> Self {
        let (reason, message) = match unfit {
            Unfit::Void => (Reason::BadCredential, "no such token"),
            Unfit::Revoked => {
                (Reason::CredentialRevoked, "this token was revoked; ask who made it for another")
            }
            Unfit::Expired => (
                Reason::CredentialExpired,
                "the time of this token is over; ask who made it for another",
            ),
        };
        Error::Unauthenticated(reason, message.into())
    }
}

impl From<RosterDenied> for Error {
    fn from(denied: RosterDenied) -> Self {
        let full = |what: &str, how: &str| {
            let message = format!("there are as many {what} as may be; {how}");
            Error::refused(Reason::RosterFull, message)
        };
        match denied {
            RosterDenied::OwnerStays => {
                Error::invalid("name", "must not be owner, who is asked when nobody else is left")
            }
            RosterDenied::NoPerson(person) => Error::NotFound(format!("no person {person}")),
            RosterDenied::NoToken(id) => Error::NotFound(format!("no token {id}")),
            RosterDenied::TooManyPeople => full("people here", "remove one first"),
            RosterDenied::TooManyTokens => full("tokens here", "revoke one first"),
            RosterDenied::TooManyNamespaces => full("namespaces", "use one of them"),
        }
    }
}

impl From<Denied> for Error {
    fn from(denied: Denied) -> Self {
        let (reason, message) = match denied {
            Denied::TooManyOpen(open) => {
                let message =
                    format!("{} asks are open, as many as may be; wait or withdraw", open.len());
                let reason = Reason::TooManyOpen;
                return Error::Refused(Refusal { reason, message, ask: None, open });
            }
            Denied::NotHolder => {
                let message = "this is not the secret of the session's holder".into();
                return Error::Denied(Reason::NotHolder, message);
            }
            Denied::Ended => (Reason::SessionEnded, "the session has ended"),
            Denied::Paused => (Reason::SessionPaused, "the session is paused; resume it first"),
            Denied::Active => (Reason::SessionActive, "the session is active; pause it first"),
            Denied::TooManyWorks => {
                (Reason::TooManyWorks, "the session holds as many works as it may; use another")
            }
            Denied::NoSuchWork => (Reason::NoSuchWork, "the session has no such work"),
            Denied::MayNotAsk => {
                (Reason::MayNotAsk, "who sent this work wants no asks of it; report back instead")
            }
            Denied::TooDeep => (Reason::TooDeep, "work is not sent deeper than this"),
            Denied::BadTicket => (
                Reason::BadTicket,
                "the ticket is unknown, used or void, or its sender has ended; ask for another",
            ),
            Denied::TicketExpired => {
                (Reason::TicketExpired, "the ticket's time is over; ask for another")
            }
            Denied::Cycle => (Reason::WorkCycle, "the work comes from this session itself"),
        };
        Error::refused(reason, message)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Refused(refusal) => f.write_str(&refusal.message),
            Error::Invalid(violations) => {
                let each = violations.iter().map(|v| format!("{}: {}", v.field, v.description));
                f.write_str(&each.collect::<Vec<_>>().join("; "))
            }
            Error::Ambiguous(ids) => {
                let ids: Vec<_> = ids.iter().map(ToString::to_string).collect();
                write!(f, "it could be any of {}", ids.join(", "))
            }
            Error::RevisionAhead(at) => {
                write!(f, "that revision has not happened; the ask is at {at}: watch it afresh")
            }
            Error::OtherHistory => f.write_str(
                "that revision is of a store that is no more: this one was restored from a copy; \
                 watch it afresh",
            ),
            Error::RequestIdReused => {
                f.write_str("this request id was used for something else; use a new one")
            }
            Error::RequestIdTooOld => f.write_str(
                "this request id was made more than a week ago, and what became of it is not \
                 remembered; check this machine's clock, look at the ask, and use a new id",
            ),
            Error::Busy(_) => f.write_str("too much at once; try again shortly"),
            Error::Internal(_) => f.write_str("a fault of the daemon's own; its log says more"),
            Error::NotFound(message)
            | Error::Unauthenticated(_, message)
            | Error::Denied(_, message)
            | Error::Precondition(_, message)
            | Error::TooSlow(message)
            | Error::Unavailable(_, message, _) => f.write_str(message),
        }
    }
}

impl std::error::Error for Error {}
