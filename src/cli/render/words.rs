//! The words for what the wire numbers: one for each thing, the same in JSON and for people. What a
//! newer daemon sends and this program does not know is `unknown`, never something else.

use crate::ask::text::visible_line;
use crate::grpc::v1;
use std::borrow::Cow;

/// What this program does not know.
pub const UNKNOWN: &str = "unknown";

/// An agent's name, fit to be shown.
pub fn agent(session: Option<&v1::SessionRef>) -> Cow<'_, str> {
    session.map_or(Cow::Borrowed(UNKNOWN), |session| visible_line(&session.agent))
}

/// Open or settled.
pub fn state(state: v1::AskState) -> &'static str {
    match state {
        v1::AskState::Open => "open",
        v1::AskState::Settled => "settled",
        v1::AskState::Unspecified => UNKNOWN,
    }
}

/// How much an ask matters.
pub fn priority(priority: v1::Priority) -> &'static str {
    match priority {
        v1::Priority::Low => "low",
        v1::Priority::Normal | v1::Priority::Unspecified => "normal",
        v1::Priority::High => "high",
    }
}

/// Why an ask is at its hop.
pub fn cause(cause: v1::HopCause) -> &'static str {
    match cause {
        v1::HopCause::Filed => "filed",
        v1::HopCause::Timeout => "timeout",
        v1::HopCause::Refused => "refused",
        v1::HopCause::SenderGone => "sender_gone",
        v1::HopCause::SenderBlocked => "sender_blocked",
        v1::HopCause::AskersExpiry => "askers_expiry",
        v1::HopCause::NeedsPerson => "needs_person",
        v1::HopCause::Unspecified => UNKNOWN,
    }
}

/// How an ask ended.
pub fn outcome(kind: v1::OutcomeKind) -> &'static str {
    match kind {
        v1::OutcomeKind::Answered => "answered",
        v1::OutcomeKind::Declined => "declined",
        v1::OutcomeKind::Expired => "expired",
        v1::OutcomeKind::Withdrawn => "withdrawn",
        v1::OutcomeKind::Abandoned => "abandoned",
        v1::OutcomeKind::Unspecified => UNKNOWN,
    }
}

/// How far an outcome is on its way to the asker.
pub fn delivery(state: v1::DeliveryState) -> &'static str {
    match state {
        v1::DeliveryState::Unread => "unread",
        v1::DeliveryState::Acknowledged => "acknowledged",
        v1::DeliveryState::Undeliverable => "undeliverable",
        v1::DeliveryState::Unspecified => UNKNOWN,
    }
}

/// What became of a mutating call.
pub fn result(result: v1::Result) -> &'static str {
    match result {
        v1::Result::Accepted => "accepted",
        v1::Result::Closed => "closed",
        v1::Result::Refused => "refused",
        v1::Result::Unspecified => UNKNOWN,
    }
}

/// Whether the asker is there; none where the daemon does not say.
pub fn presence(presence: v1::AskerPresence) -> Option<&'static str> {
    match presence {
        v1::AskerPresence::Live => Some("live"),
        v1::AskerPresence::Parked => Some("parked"),
        v1::AskerPresence::Gone => Some("gone"),
        v1::AskerPresence::Unspecified => None,
    }
}

/// How surely a person's word is theirs; none where it is no person's.
pub fn assurance(assurance: v1::Assurance) -> Option<&'static str> {
    match assurance {
        v1::Assurance::Local => Some("local"),
        v1::Assurance::Token => Some("token"),
        v1::Assurance::Unspecified => None,
    }
}

/// What stands beside a person's name where their word was typed in an agent's environment.
pub const IN_AGENT: &str = "typed in an agent's environment";

/// The same in parentheses behind a name; nothing where it was not.
pub fn in_agent(in_agent: bool) -> &'static str {
    if in_agent { " (typed in an agent's environment)" } else { "" }
}

/// What happened.
pub fn event(kind: v1::EventKind) -> &'static str {
    match kind {
        v1::EventKind::Filed => "filed",
        v1::EventKind::Escalated => "escalated",
        v1::EventKind::Answered => "answered",
        v1::EventKind::Declined => "declined",
        v1::EventKind::Withdrawn => "withdrawn",
        v1::EventKind::Expired => "expired",
        v1::EventKind::Abandoned => "abandoned",
        v1::EventKind::Said => "said",
        v1::EventKind::Replied => "replied",
        v1::EventKind::Seen => "seen",
        v1::EventKind::Claimed => "claimed",
        v1::EventKind::Released => "released",
        v1::EventKind::ClaimLapsed => "claim_lapsed",
        v1::EventKind::Acknowledged => "acknowledged",
        v1::EventKind::Undeliverable => "undeliverable",
        v1::EventKind::DefaultHeld => "default_held",
        v1::EventKind::TurnHoldLapsed => "turn_hold_lapsed",
        v1::EventKind::Leased => "leased",
        v1::EventKind::SenderTold => "sender_told",
        v1::EventKind::Noticed => "noticed",
        v1::EventKind::NoticeFailed => "notice_failed",
        v1::EventKind::PersonGone => "person_gone",
        v1::EventKind::Unspecified => UNKNOWN,
    }
}

/// Whether a session runs.
pub fn session(state: v1::SessionState) -> &'static str {
    match state {
        v1::SessionState::Active => "active",
        v1::SessionState::Paused => "paused",
        v1::SessionState::Ended => "ended",
        v1::SessionState::Unspecified => UNKNOWN,
    }
}
