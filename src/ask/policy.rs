//! What whoever runs the daemon may set, of what the rules of an ask need.

use super::limits;
use super::time::Span;
use serde::{Deserialize, Serialize};

/// The lengths of time an ask lives by, as configured when it was filed: a changed configuration
/// touches only new asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Terms {
    /// How long a person must have been shown it before a default may stand (rule 4).
    pub person_window: Span,
    /// How long a person's decline binds; zero for not at all.
    pub decline_stands: Span,
    /// How long it is kept after it was settled and its delivery ended.
    pub keep: Span,
}

impl Default for Terms {
    fn default() -> Self {
        Self {
            person_window: limits::PERSON_WINDOW,
            decline_stands: limits::DECLINE_STANDS,
            keep: limits::KEEP,
        }
    }
}

/// What is configured for all asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// What each new ask gets.
    pub terms: Terms,
    /// Open asks in one tree of works.
    pub open_in_tree: usize,
    /// Open asks that wait on one session; further ones go past it.
    pub waiting_on_session: usize,
    /// Open asks in one namespace.
    pub open_in_namespace: usize,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            terms: Terms::default(),
            open_in_tree: limits::OPEN_IN_TREE,
            waiting_on_session: limits::WAITING_ON_SESSION,
            open_in_namespace: limits::OPEN_IN_NAMESPACE,
        }
    }
}
