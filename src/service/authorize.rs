//! Who may do what: one function for calls on asks and in general, one for calls on a session.
//! Whose turn it is on an ask is not said here but by [`ask::decide`](crate::ask::decide()).

use super::Caller;
use crate::ask::Ask;
use crate::error::{Error, Reason};
use crate::session::{Principal, Session};

macro_rules! calls {
    ($($call:ident: $about:ident by $($who:ident)+;)*) => {
        /// Every call there is, by its name on the wire.
        #[expect(missing_docs, reason = "the proto files say what each does")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Call { $($call,)* }

        impl Call {
            /// Every one.
            pub const ALL: &'static [Call] = &[$(Call::$call,)*];

            /// Who may make it.
            pub const fn callers(self) -> &'static [Who] {
                match self { $(Call::$call => &[$(Who::$who,)+],)* }
            }

            /// What it is about, and so which of those it is refused to all the same.
            pub const fn about(self) -> About {
                match self { $(Call::$call => About::$about,)* }
            }
        }
    };
}

calls! {
    Ask: Itself by Session;
    GetAsk: Ask by Session Person Host;
    ListAsks: Itself by Session Person Host;
    ListEvents: Ask by Session Person Host;
    WatchAsk: Ask by Session Person Host;
    WatchInbox: Itself by Session Person Host;
    Answer: Ask by Person;
    AnswerAgent: Ask by Session;
    Decline: Ask by Person;
    Escalate: Ask by Session Person;
    Withdraw: Ask by Session;
    Say: Ask by Session Person;
    Reply: Ask by Session;
    MarkSeen: Ask by Person;
    Claim: Ask by Person;
    Release: Ask by Person;
    WatchDeliveries: Itself by Session Host;
    AcknowledgeDelivery: Ask by Session Host;
    TakeDeliveries: Itself by Session Host;
    SendWork: Itself by Session;
    Enroll: Itself by Host Ticket;
    AcceptWork: Itself by Session;
    HoldSession: Itself by Session;
    PauseSession: Session by Session Host;
    ResumeSession: Session by Session Host;
    EndSession: Session by Session Host;
    ListSessions: Itself by Session Person Host;
    GetStatus: Itself by Session Person Host;
    AddPerson: Namespace by Owner Operator;
    RemovePerson: Namespace by Owner Operator;
    ListPeople: Namespace by Owner Operator;
    CreateToken: Namespace by Owner Operator;
    ListTokens: Namespace by Owner Operator;
    RevokeToken: Namespace by Owner Operator;
    RevokeSession: Session by Host Owner Operator;
    Export: All by Operator;
}

/// Who may make a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Who {
    /// A session, by its token.
    Session,
    /// A person, by a token of theirs.
    Person,
    /// A host, by its token, or the daemon's own user.
    Host,
    /// The person `owner` of the namespace.
    Owner,
    /// The daemon's own user: on its socket without a token, or by the host's token of its folder.
    Operator,
    /// Whoever has a ticket, which then speaks for the call.
    Ticket,
}

/// What a call is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum About {
    /// The caller, or what is its own.
    Itself,
    /// An ask; of one that the caller may not know of it is told what it would be of none.
    Ask,
    /// A session; the same.
    Session,
    /// The people and tokens of a namespace: the caller's own, and for the daemon's user any.
    Namespace,
    /// All that the daemon keeps.
    All,
}

impl Who {
    /// Every one.
    pub const ALL: [Who; 6] =
        [Who::Session, Who::Person, Who::Host, Who::Owner, Who::Operator, Who::Ticket];

    fn is(self, caller: &Caller) -> bool {
        match self {
            Who::Session => matches!(caller.principal, Principal::Session(_)),
            Who::Person => matches!(caller.principal, Principal::Person(_)),
            Who::Host => matches!(caller.principal, Principal::Host(_)),
            Who::Owner => caller.is_owner(),
            Who::Operator => caller.is_operator(),
            // It is no caller: it stands in the request.
            Who::Ticket => false,
        }
    }
}

/// Whether `caller` may make this call at all, and, where it is about an ask, may know of that ask.
///
/// # Errors
///
/// Denied, for a principal of the wrong kind; not found, exactly as for an id that never existed,
/// for an ask the caller may not know of (rule 15).
pub(super) fn authorize(caller: &Caller, call: Call, ask: Option<&Ask>) -> Result<(), Error> {
    if !call.callers().iter().any(|who| who.is(caller)) {
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

/// Whether a list for `caller` has `session`, which is of its namespace or its family: a host knows of
/// those it enrolled, and of no other's (rule 15).
pub(super) fn lists(caller: &Caller, session: &Session) -> bool {
    match &caller.principal {
        Principal::Host(host) => caller.is_operator() || session.host == *host,
        Principal::Person(_) | Principal::Session(_) => true,
    }
}

/// Whether `caller` may make this call on `session`. To pause, resume and end: itself (but not resume),
/// its host, or the sender that enrolled it. To revoke: its host or the owner of its namespace. The
/// daemon's own user may do all of it, in every namespace: nobody else is left where a host lost its
/// token.
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
    let near = caller.namespace == session.namespace;
    let may = match &caller.principal {
        Principal::Session(by) => {
            let is_parent = session.parent.as_ref() == Some(by);
            near && (is_parent || (session.reference() == *by && call != Call::ResumeSession))
        }
        Principal::Host(by) => caller.is_operator() || (near && session.host == *by),
        Principal::Person(_) => near && call == Call::RevokeSession,
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
