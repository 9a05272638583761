//! What is let go first when there is too much at once: looking, then asking, and never what ends or
//! moves an ask. Counted here are all calls, before anybody knows who makes them; how many one
//! principal makes is counted in `service/rates.rs`.

use super::limits::{self, Limits};
use crate::error::Error;
use crate::service::InFlight;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// What a call is for, in the order in which calls are shed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Class {
    /// A session or a host looks: a watch or a list.
    Looking,
    /// Something new: an ask, work, a session.
    Asking,
    /// Everything that ends or moves what is there already, and whatever a person does.
    Settling,
    /// A person on the socket of the daemon's own user.
    AtHome,
}

impl Class {
    /// Of a call by its path, as its headers have it. `is_person` is what the token calls itself; it
    /// is looked at later, and a false one gets no further than that.
    pub(super) fn of(path: &str, is_person: bool, is_at_home: bool) -> Self {
        let call = path.rsplit('/').next().unwrap_or_default();
        match call {
            _ if is_person && is_at_home => Self::AtHome,
            _ if is_person => Self::Settling,
            "Ask" | "SendWork" | "Enroll" | "AcceptWork" => Self::Asking,
            "ServerReflectionInfo" => Self::Looking,
            // A hold is no look: who loses it is paused.
            _ if is_look(call) => Self::Looking,
            _ => Self::Settling,
        }
    }
}

fn is_look(call: &str) -> bool {
    ["Watch", "List", "Get"].iter().any(|verb| call.starts_with(verb))
}

/// Whether a call lasts until its caller has enough.
pub(super) fn is_stream(path: &str) -> bool {
    let call = path.rsplit('/').next().unwrap_or_default();
    call.starts_with("Watch") || ["HoldSession", "Export", "ServerReflectionInfo"].contains(&call)
}

/// The calls in flight, and what is owed to those who made them. Cheap to clone; the clones are one.
#[derive(Clone)]
pub(super) struct Crowd(Arc<Counted>);

struct Counted {
    most: usize,
    calls: AtomicUsize,
    owed: AtomicUsize,
}

/// The calls of one peer of which it is not known yet who makes them. Cheap to clone; the clones are
/// one.
#[derive(Clone, Default)]
pub(super) struct Unproven(Arc<AtomicUsize>);

/// One of them, until this is dropped.
pub(super) struct Unknown(Unproven);

impl Unproven {
    /// A place among them.
    ///
    /// # Errors
    ///
    /// Busy, where there are `most`.
    pub(super) fn enter(&self, most: usize) -> Result<Unknown, Error> {
        // Counted first: however many come at once, no more get in.
        if self.0.fetch_add(1, Relaxed) >= most {
            self.0.fetch_sub(1, Relaxed);
            tracing::debug!("a call was shed: its peer has as many that nobody is known to make");
            return Err(Error::Busy(limits::SHED_RETRY));
        }
        Ok(Unknown(self.clone()))
    }
}

impl Drop for Unknown {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Relaxed);
    }
}

/// A call that is in flight, until this is dropped.
pub(super) struct Slot {
    crowd: Crowd,
    /// While it is not known who makes it.
    unknown: Mutex<Option<Unknown>>,
    /// Whether it lasts.
    pub is_stream: bool,
    /// The principal's own count of it, once it is known who that is.
    principal: OnceLock<InFlight>,
}

impl Crowd {
    pub(super) fn new(limits: Limits) -> Self {
        let (calls, owed) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Self(Arc::new(Counted { most: limits.calls, calls, owed }))
    }

    /// A place for a call.
    ///
    /// # Errors
    ///
    /// Busy, where calls of its class are shed now.
    pub(super) fn enter(&self, class: Class, is_stream: bool) -> Result<Slot, Error> {
        let (calls, owed) = (self.0.calls.load(Relaxed), self.0.owed.load(Relaxed));
        let most = self.0.most;
        let (calls_most, owed_most) = match class {
            Class::Looking => (most * limits::SHED_WATCHES_AT / 100, limits::OWED_BYTES),
            Class::Asking => (most * limits::SHED_ASKS_AT / 100, limits::OWED_BYTES_SHED_ASKS),
            Class::Settling => (most, usize::MAX),
            Class::AtHome => (usize::MAX, usize::MAX),
        };
        if calls >= calls_most || owed >= owed_most {
            tracing::debug!(?class, calls, owed, "a call was shed");
            return Err(Error::Busy(limits::SHED_RETRY));
        }
        // Two that come at the same instant may both take the last place: a bound, not a ration.
        self.0.calls.fetch_add(1, Relaxed);
        let unknown = Mutex::default();
        Ok(Slot { crowd: self.clone(), unknown, is_stream, principal: OnceLock::new() })
    }
}

impl Slot {
    /// The same, counted as one of these until it is known who makes it.
    pub(super) fn of_unknown(mut self, unknown: Unknown) -> Self {
        self.unknown = Mutex::new(Some(unknown));
        self
    }

    /// Keeps the principal's count of this call for as long as it lasts.
    pub(super) fn keep(&self, in_flight: InFlight) {
        drop(self.unknown.lock().unwrap_or_else(PoisonError::into_inner).take());
        // A handler establishes its caller once; a second count would be of the same call.
        let _ = self.principal.set(in_flight);
    }

    /// So many bytes wait for the reader, where `before` did.
    pub(super) fn owes(&self, before: usize, now: usize) {
        let owed = &self.crowd.0.owed;
        owed.fetch_add(now, Relaxed);
        owed.fetch_sub(before, Relaxed);
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.crowd.0.calls.fetch_sub(1, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn crowd(calls: usize) -> Crowd {
        Crowd::new(Limits { calls, ..Limits::default() })
    }

    #[test]
    fn a_call_is_of_the_class_of_what_it_does() {
        let of = |call: &str| Class::of(&format!("/askway.v1.AskService/{call}"), false, false);
        for call in ["WatchAsk", "WatchInbox", "ListAsks", "ListSessions", "GetAsk", "GetStatus"] {
            assert_eq!(of(call), Class::Looking, "{call}");
        }
        for call in ["Ask", "SendWork", "Enroll"] {
            assert_eq!(of(call), Class::Asking, "{call}");
        }
        let settling =
            ["AnswerAgent", "Escalate", "Withdraw", "HoldSession", "AcknowledgeDelivery", "Say"];
        for call in settling {
            assert_eq!(of(call), Class::Settling, "{call}");
        }
        let path = "/askway.v1.AskService/WatchInbox";
        assert_eq!(Class::of(path, true, false), Class::Settling);
        assert_eq!(Class::of(path, true, true), Class::AtHome);
        assert_eq!(Class::of(path, false, true), Class::Looking);
    }

    #[test]
    fn looking_is_shed_before_asking_and_asking_before_answering_and_a_person_here_never() {
        let crowd = crowd(100);
        let mut held = Vec::new();
        let mut admit = |class, until: usize| {
            while let Ok(slot) = crowd.enter(class, false) {
                held.push(slot);
            }
            assert_eq!(held.len(), until, "{class:?}");
        };
        admit(Class::Looking, limits::SHED_WATCHES_AT);
        admit(Class::Asking, limits::SHED_ASKS_AT);
        admit(Class::Settling, 100);
        held.push(crowd.enter(Class::AtHome, true).expect("a person on the socket"));
        assert!(matches!(crowd.enter(Class::Settling, false), Err(Error::Busy(_))));
        held.clear();
        assert!(crowd.enter(Class::Looking, false).is_ok(), "all of it is free again");
    }

    #[test]
    fn a_peer_has_so_many_calls_that_nobody_is_known_to_make_and_others_theirs() {
        let (one, other, crowd) = (Unproven::default(), Unproven::default(), crowd(100));
        let held = [one.enter(2), one.enter(2)].map(|unknown| unknown.expect("room"));
        assert!(matches!(one.clone().enter(2), Err(Error::Busy(_))));
        assert!(other.enter(2).is_ok());
        let [first, second] = held;
        let slot = crowd.enter(Class::Looking, false).expect("room").of_unknown(first);
        assert!(one.enter(2).is_err(), "it is in flight");
        drop((slot, second));
        assert!(one.enter(2).is_ok());
        assert_eq!(one.0.load(Relaxed), 0);
    }

    #[test]
    fn what_is_owed_sheds_too_and_is_forgotten_when_it_was_taken() {
        let crowd = crowd(100);
        let slot = crowd.enter(Class::Looking, true).expect("nothing is owed");
        slot.owes(0, limits::OWED_BYTES);
        assert!(crowd.enter(Class::Looking, false).is_err());
        assert!(crowd.enter(Class::Asking, false).is_ok());
        slot.owes(limits::OWED_BYTES, limits::OWED_BYTES_SHED_ASKS);
        assert!(crowd.enter(Class::Asking, false).is_err());
        assert!(crowd.enter(Class::Settling, false).is_ok());
        slot.owes(limits::OWED_BYTES_SHED_ASKS, 0);
        assert!(crowd.enter(Class::Looking, false).is_ok());
    }
}
