//! Who is known in a namespace: its people, and which tokens were made for them and for hosts. One
//! record for each namespace, so that whatever looks at one of them is guarded against a change of
//! any: a token is never made for a person who is being removed.

use super::{Kind, LOCAL_HOST, Principal, SecretHash, Token};
use crate::ask::{
    Actor, HostName, Namespace, PersonName, Span, Timestamp, TokenId, Violation, limits, text,
};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The people and tokens of a namespace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Roster {
    /// Whose it is.
    pub namespace: Namespace,
    /// How often it was written.
    pub revision: u64,
    /// The people there are, and those who were removed: a configuration that names one of these does
    /// not bring them back.
    pub people: BTreeMap<PersonName, Member>,
    /// The tokens that have an id and are not revoked.
    pub tokens: BTreeMap<TokenId, SecretHash>,
    /// In the roster of `default`: the other namespaces that have one.
    #[serde(default)]
    pub namespaces: BTreeSet<Namespace>,
    /// The hosts' tokens that were revoked, and whose sessions have yet to be revoked with them.
    #[serde(default)]
    pub revoked_hosts: BTreeMap<TokenId, HostName>,
}

/// A person of a namespace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    /// Who added them, or removed them.
    pub by: Actor,
    /// When.
    pub time: Timestamp,
    /// Whether they were removed.
    pub removed: bool,
    /// Whether the asks that would reach them have yet to be told.
    pub sweep: bool,
}

/// Why nothing may be done to a roster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RosterDenied {
    /// `owner` is the last resort of every route.
    OwnerStays,
    /// There is no such person.
    NoPerson(PersonName),
    /// There is no such token.
    NoToken(TokenId),
    /// As many people as there may be.
    TooManyPeople,
    /// As many tokens as there may be.
    TooManyTokens,
    /// As many namespaces as there may be.
    TooManyNamespaces,
}

impl Roster {
    /// The roster of a namespace in which nothing was done yet: its owner is there.
    pub fn new(namespace: Namespace, by: &Actor, time: Timestamp) -> Self {
        let owner = Member { by: by.clone(), time, removed: false, sweep: false };
        Self {
            namespace,
            revision: 0,
            people: BTreeMap::from([(PersonName::owner(), owner)]),
            tokens: BTreeMap::new(),
            namespaces: BTreeSet::new(),
            revoked_hosts: BTreeMap::new(),
        }
    }

    /// Whether there is such a person now.
    pub fn has(&self, person: &PersonName) -> bool {
        self.people.get(person).is_some_and(|member| !member.removed)
    }

    /// Those there are.
    pub fn members(&self) -> impl Iterator<Item = (&PersonName, &Member)> {
        self.people.iter().filter(|(_, member)| !member.removed)
    }

    /// With a person; none where they are there.
    ///
    /// # Errors
    ///
    /// When there are as many as may be.
    pub fn add(
        &self,
        person: &PersonName,
        by: &Actor,
        time: Timestamp,
    ) -> Result<Option<Self>, RosterDenied> {
        if self.has(person) {
            return Ok(None);
        }
        if self.members().count() >= limits::PEOPLE {
            return Err(RosterDenied::TooManyPeople);
        }
        let mut next = self.next();
        let member = Member { by: by.clone(), time, removed: false, sweep: false };
        next.people.insert(person.clone(), member);
        Ok(Some(next))
    }

    /// Without a person. Their tokens are the caller's to void.
    ///
    /// # Errors
    ///
    /// When there is none, or it is the owner.
    pub fn remove(
        &self,
        person: &PersonName,
        by: &Actor,
        time: Timestamp,
    ) -> Result<Self, RosterDenied> {
        if *person == PersonName::owner() {
            return Err(RosterDenied::OwnerStays);
        }
        if !self.has(person) {
            return Err(RosterDenied::NoPerson(person.clone()));
        }
        let mut next = self.next();
        let member = Member { by: by.clone(), time, removed: true, sweep: true };
        next.people.insert(person.clone(), member);
        // Who was removed long ago is forgotten before the list has no end.
        while next.people.len() > limits::PEOPLE + limits::PEOPLE_REMOVED {
            let gone = next.people.iter().filter(|(_, member)| member.removed && !member.sweep);
            let Some(oldest) = gone.min_by_key(|(_, member)| member.time) else { break };
            let oldest = oldest.0.clone();
            next.people.remove(&oldest);
        }
        Ok(next)
    }

    /// The asks that would have reached a removed person have been told; none where they were.
    pub fn swept(&self, person: &PersonName) -> Option<Self> {
        let mut next = self.next();
        let member = next.people.get_mut(person).filter(|member| member.removed && member.sweep)?;
        member.sweep = false;
        Some(next)
    }

    /// Those whose asks have yet to be told that they were removed.
    pub fn to_sweep(&self) -> impl Iterator<Item = &PersonName> {
        self.people.iter().filter(|(_, member)| member.sweep).map(|(person, _)| person)
    }

    /// With a token that has an id.
    ///
    /// # Errors
    ///
    /// When it is of a person who is not there, or there are as many as may be.
    pub fn with_token(&self, id: TokenId, token: &Token) -> Result<Self, RosterDenied> {
        if let Principal::Person(person) = &token.principal
            && !self.has(person)
        {
            return Err(RosterDenied::NoPerson(person.clone()));
        }
        let mut next = self.next();
        next.tokens.insert(id, token.secret);
        match next.tokens.len() > limits::TOKENS {
            true => Err(RosterDenied::TooManyTokens),
            false => Ok(next),
        }
    }

    /// Without these tokens.
    pub fn without_tokens(&self, ids: &[TokenId]) -> Self {
        let mut next = self.next();
        next.tokens.retain(|id, _| !ids.contains(id));
        next
    }

    /// Without these tokens, which are revoked; what hosts made by theirs is to be revoked, too.
    pub fn revoking<'a>(&self, tokens: impl IntoIterator<Item = (TokenId, &'a Principal)>) -> Self {
        let mut next = self.next();
        for (id, principal) in tokens {
            next.tokens.remove(&id);
            if let Principal::Host(host) = principal {
                next.revoked_hosts.insert(id, host.clone());
            }
        }
        next
    }

    /// The sessions of a host's revoked token have been revoked with it; none where they were.
    pub fn sessions_revoked(&self, id: TokenId) -> Option<Self> {
        let mut next = self.next();
        next.revoked_hosts.remove(&id).map(|_| next)
    }

    /// With one more namespace beside `default`; none where it is known.
    ///
    /// # Errors
    ///
    /// When there are as many as may be.
    pub fn with_namespace(&self, namespace: &Namespace) -> Result<Option<Self>, RosterDenied> {
        if self.namespaces.contains(namespace) {
            return Ok(None);
        }
        if self.namespaces.len() >= limits::NAMESPACES {
            return Err(RosterDenied::TooManyNamespaces);
        }
        let mut next = self.next();
        next.namespaces.insert(namespace.clone());
        Ok(Some(next))
    }

    fn next(&self) -> Self {
        Self { revision: self.revision + 1, ..self.clone() }
    }
}

/// The kind of token that may be made for a principal, good for `ttl`, with this note.
///
/// # Errors
///
/// All that is wrong, at once.
pub fn issuable(
    principal: &Principal,
    ttl: Option<Span>,
    note: &str,
) -> Result<Kind, Vec<Violation>> {
    let mut found = Vec::new();
    let kind = match principal {
        Principal::Person(_) => Kind::Person,
        Principal::Host(host) => {
            if host.as_str() == LOCAL_HOST {
                let why = "must not be `local`, which is the daemon's own user; name another";
                found.push(Violation::new("host", why));
            }
            Kind::Host
        }
        Principal::Session(_) => unreachable!("a session's token is made by Enroll"),
    };
    if ttl.is_some_and(|ttl| !(limits::TOKEN_TTL_MIN..=limits::TOKEN_TTL_MAX).contains(&ttl)) {
        let bounds = format!("must be from {} to {}", limits::TOKEN_TTL_MIN, limits::TOKEN_TTL_MAX);
        found.push(Violation::new("ttl", bounds));
    }
    if note.len() > limits::TOKEN_NOTE_BYTES || !text::is_one_safe_line(note) {
        let most = limits::TOKEN_NOTE_BYTES;
        let why = format!("must be one visible line of at most {most} bytes");
        found.push(Violation::new("note", why));
    }
    if found.is_empty() { Ok(kind) } else { Err(found) }
}

#[cfg(test)]
mod tests;
