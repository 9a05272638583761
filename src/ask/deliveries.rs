//! Who hands over what is unread: the asker, its host, and of competing workers one at a time.

use super::command::Rejection;
use super::content::{Violation, check_length};
use super::event::EventKind;
use super::names::{Actor, LeaseId};
use super::time::{Now, Span};
use super::{Ask, Delivery, Outcome, limits, text};

/// Whether `by` may acknowledge, and holds the lease where there is one.
pub(super) fn receives(
    ask: &Ask,
    by: &Actor,
    lease: Option<LeaseId>,
    now: Now,
) -> Result<(), Rejection> {
    if !ask.is_delivered_to(by) {
        return Err(Rejection::NotAsker);
    }
    let in_force = ask.lease.as_ref().filter(|held| held.is_in_force(now.time));
    // What is read already is no worker's: its acknowledgement, repeated, changes nothing.
    if ask.is_unread() && in_force.map(|held| held.id) != lease {
        return Err(Rejection::Leased(in_force.cloned()));
    }
    Ok(())
}

/// What a sender's acknowledgement of an outcome that found nobody comes to; none where it is
/// something else.
pub(super) fn told(
    ask: &Ask,
    outcome: &Outcome,
    by: &Actor,
    revision: u64,
) -> Option<Option<EventKind>> {
    let Actor::Session(by) = by else { return None };
    let undeliverable = matches!(ask.delivery(), Some(Delivery::Undeliverable { .. }));
    if !undeliverable || ask.chain.first() != Some(by) || outcome.revision != revision {
        return None;
    }
    Some(ask.orphan_of().map(|_| EventKind::SenderTold { by: by.clone() }))
}

/// Whether `by` may take what is unread for `length`, which is given back.
pub(super) fn lease(
    ask: &Ask,
    by: &Actor,
    holder: &str,
    length: Span,
    extend: Option<LeaseId>,
    now: Now,
) -> Result<Span, Rejection> {
    if !ask.is_delivered_to(by) {
        return Err(Rejection::NotAsker);
    }
    let mut found = Vec::new();
    if !(limits::LEASE_MIN..=limits::LEASE_MAX).contains(&length) {
        let bounds = format!("must be from {} to {}", limits::LEASE_MIN, limits::LEASE_MAX);
        found.push(Violation::new("lease", bounds));
    }
    check_length(&mut found, "holder", holder, limits::HOLDER_BYTES);
    if !text::is_one_safe_line(holder) {
        found.push(Violation::new("holder", "must be one line without hidden characters"));
    }
    if !found.is_empty() {
        return Err(Rejection::Invalid(found));
    }
    let in_force = ask.lease.as_ref().filter(|held| held.is_in_force(now.time));
    if in_force.map(|held| held.id) != extend {
        return Err(Rejection::Leased(in_force.cloned()));
    }
    Ok(length)
}
