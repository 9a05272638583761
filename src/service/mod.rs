//! Use cases, one method for each call, whatever surface it comes by: who may do what, ids, pages.
//! Surfaces turn their words into these arguments and these answers into theirs, and know no more.

mod asks;
mod authorize;
mod receipt;
mod sessions;
mod watch;

pub use receipt::{Presence, Receipt, Verdict};
pub use sessions::{Accepted, Enrolled, HoldGuard, Resumed, Sent};
pub use watch::{DeliveryMessage, InboxMessage, WatchMessage};

use crate::ask::{Ask, AskId, Namespace, Timestamp};
use crate::session::Principal;
use std::sync::Arc;

/// Who calls, by their credential.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// Whom the credential stands for.
    pub principal: Principal,
    /// Where they live.
    pub namespace: Namespace,
}

/// What a call carries of its caller, before anybody has looked at it.
#[derive(Clone, Debug, Default)]
pub struct Credential {
    /// The bearer token, as it was sent.
    pub token: Option<String>,
    /// Whether it came by the socket from the daemon's own user.
    pub local_user: bool,
}

/// Which asks a caller wants listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AskScope {
    /// Open, waiting on the caller.
    WaitingOnMe,
    /// Filed by the calling session, open or unread.
    Mine,
    /// Open, visible to the caller.
    Visible,
}

/// A page of asks.
#[derive(Clone, Debug)]
pub struct AskPage {
    /// Oldest first.
    pub asks: Vec<Arc<Ask>>,
    /// Where the next page begins.
    pub next: Option<AskId>,
}

/// How the daemon does.
#[derive(Clone, Debug)]
pub struct Status {
    /// Who asks.
    pub caller: Caller,
    /// Since when it serves.
    pub start_time: Timestamp,
    /// Service time now.
    pub service_time: Timestamp,
    /// Open asks that wait on people.
    pub waiting_on_people: usize,
    /// Open asks that wait on sessions.
    pub waiting_on_sessions: usize,
    /// When the oldest open ask was filed.
    pub oldest_open_time: Option<Timestamp>,
}

/// The use cases. Cheap to clone.
#[derive(Clone)]
pub struct Service {}

/// What a daemon may be told.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How long a session is asked.
    pub route_timeout: crate::ask::Span,
}

impl Service {
    /// Starts the engine over `store`.
    pub async fn start(
        _store: Arc<dyn crate::store::Store>,
        _settings: Settings,
    ) -> Result<Self, crate::error::Error> {
        todo!()
    }

    /// Makes `secret` a credential of `principal`; nothing when it is one already.
    pub async fn install(
        &self,
        _principal: Principal,
        _secret: &crate::session::Secret,
    ) -> Result<(), crate::error::Error> {
        todo!()
    }

    /// Begins to stop: every stream ends with `Error::stopping()`, every new call is answered so.
    pub fn shutdown(&self) {
        todo!()
    }

    /// Waits until everything taken up is on disk and answered, after [`shutdown`](Self::shutdown).
    pub async fn stopped(&self) {
        todo!()
    }
}

/// Pages: asks or sessions in one, where nothing is said.
pub const PAGE: usize = 100;
/// Pages: the most in one. A page of whole asks stays under the size of a message.
pub const PAGE_MAX: usize = 500;
