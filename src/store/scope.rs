//! What may be listed: stretches of asks and of sessions, by whom they concern.

use crate::ask::{AskId, HostName, Namespace, PersonName, SessionId, SessionRef, WorkId};
use crate::session::Session;

/// Which asks to list. Only open ones and those with something unread are listed at all.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// Open, waiting on this session.
    WaitingOnSession(SessionId),
    /// Waiting on this session, or undeliverable and it, the sender, has yet to be told.
    InboxOf(SessionId),
    /// Open, waiting on this person.
    WaitingOnPerson(Namespace, PersonName),
    /// Filed by this session, open or with something unread.
    AskedBy(SessionId),
    /// Open, and known to this session: see [`Ask::is_visible_to`](crate::ask::Ask::is_visible_to).
    VisibleTo(SessionRef),
    /// Of this host's sessions, open or with something unread.
    OfHost(Namespace, HostName),
    /// Open, of works under this root.
    Tree(WorkId),
    /// Open, in this namespace.
    Open(Namespace),
    /// Open, in this namespace, waiting on people.
    OnPeople(Namespace),
    /// Open, in this namespace, and people could not be told of it when that was last tried.
    Untold(Namespace),
}

/// A stretch of a list of asks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// Each with its revision, oldest first.
    pub asks: Vec<(AskId, u64)>,
    /// How many the scope has in all.
    pub total: usize,
}

/// Which sessions to list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionScope {
    /// All of this namespace.
    Namespace(Namespace),
    /// This one and those it enrolled.
    Family(SessionId),
    /// Those that still have asks to be moved after a pause or an end.
    ToSweep,
    /// The active ones that were ever held.
    Held,
    /// The paused ones that their host would wake.
    Asleep,
}

impl SessionScope {
    /// Whether a session is of it.
    pub fn has(&self, session: &Session) -> bool {
        match self {
            SessionScope::Namespace(namespace) => session.namespace == *namespace,
            SessionScope::Family(head) => {
                let parent = session.parent.as_ref();
                session.id == *head || parent.is_some_and(|parent| parent.session == *head)
            }
            SessionScope::ToSweep => session.sweep,
            SessionScope::Held => session.held && session.is_active(),
            SessionScope::Asleep => session.is_asleep(),
        }
    }
}
