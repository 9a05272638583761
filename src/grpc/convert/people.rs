//! People and tokens, as they travel.

use super::{actor, timestamp};
use crate::ask::{Assurance, Claim};
use crate::grpc::v1;
use crate::service::Person;
use crate::session::{Principal, Token};

/// What a person's word is worth; unspecified where it is no person's.
pub(super) fn worth(assurance: Option<Assurance>) -> v1::Assurance {
    match assurance {
        None => v1::Assurance::Unspecified,
        Some(Assurance::Local) => v1::Assurance::Local,
        Some(Assurance::Token) => v1::Assurance::Token,
    }
}

/// A person.
pub fn person(person: &Person) -> v1::Person {
    v1::Person {
        name: person.name.to_string(),
        by: Some(actor(&person.by)),
        create_time: Some(timestamp(person.time)),
    }
}

/// What is kept of a token; a session's has no id, and is not shown.
pub fn token(token: &Token) -> v1::Token {
    use v1::token::Principal as Named;
    let (principal, worth) = match &token.principal {
        Principal::Person(person) => {
            (Some(Named::Person(person.to_string())), worth(Some(token.assurance())))
        }
        Principal::Host(host) => (Some(Named::Host(host.to_string())), v1::Assurance::Unspecified),
        Principal::Session(_) => (None, v1::Assurance::Unspecified),
    };
    let from = token.issue.as_ref().and_then(|issue| issue.from);
    v1::Token {
        id: token.id.map(|id| id.to_string()).unwrap_or_default(),
        principal,
        note: token.issue.as_ref().map(|issue| issue.note.clone()).unwrap_or_default(),
        by: token.issue.as_ref().map(|issue| actor(&issue.by)),
        create_time: token.issue.as_ref().map(|issue| timestamp(issue.time)),
        expire_time: token.expire_time.map(timestamp),
        assurance: worth.into(),
        from_token_id: from.map(|id| id.to_string()).unwrap_or_default(),
        in_agent: token.issue.as_ref().is_some_and(|issue| issue.in_agent),
    }
}

/// Who is on it.
pub(super) fn claim(claim: &Claim) -> v1::Claim {
    v1::Claim {
        person: claim.by.to_string(),
        since_time: Some(timestamp(claim.since)),
        lapse_time: Some(timestamp(claim.lapse)),
        in_agent: claim.in_agent,
    }
}
