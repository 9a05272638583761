//! The typed reply to a mutating call.

use crate::ask::{Ask, AskId};
use crate::error::Reason;
use std::sync::Arc;

/// What became of a call about an ask.
#[derive(Clone, Debug)]
pub struct Receipt {
    /// Accepted, closed or refused.
    pub verdict: Verdict,
    /// Whether it answers an earlier call with the same request id.
    pub replayed: bool,
    /// Why, when closed or refused, and what would help; empty when accepted.
    pub message: String,
    /// Whether the asker is there.
    pub asker: Option<Presence>,
    /// The ask as it is now, where the caller may see one.
    pub ask: Option<Arc<Ask>>,
    /// Over a limit: the open asks that fill it.
    pub open: Vec<AskId>,
    /// Where the ask that is there already differs from what was sent.
    pub differs: Vec<&'static str>,
}

/// What became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Done, and on disk.
    Accepted,
    /// The ask was settled before.
    Closed,
    /// The caller may not do this now.
    Refused(Reason),
}

/// Whether an asker is there: a hint, true when it was looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// Its watch is attached.
    Live,
    /// It is not.
    Parked,
    /// Its session has ended.
    Gone,
}
