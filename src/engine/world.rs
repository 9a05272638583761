//! What a batch of decisions may look at: records loaded from the store, and over them what earlier
//! decisions of the same batch have made of them.
//!
//! A decision that looks at a record nobody has loaded fails with [`Missing`]; the writer loads all
//! that were missing at once and decides the whole batch again. So nothing has to foresee what a
//! decision will look at, though [`foresee`](super::foresee) spares most of the repeats; and everything it did
//! look at is guarded in its commit.

use super::hosts::Hosts;
use crate::ask::{
    Ask, AskId, ContentDigest, Namespace, Policy, SessionId, StandingNo, Twin, WorkId, limits,
};
use crate::session::{Roster, SecretHash, Session, Ticket, Token, Work};
use crate::store::{Change, Key, Listing, ReceiptKey, Record, Scope, StoredReceipt};
use foldhash::quality::RandomState;
use std::sync::Arc;

/// Filled and emptied for each batch: the time is in hashing.
type HashMap<K, V> = std::collections::HashMap<K, V, RandomState>;

/// A record has to be loaded first. Which one, the world has noted.
#[derive(Debug)]
pub(super) struct Missing;

/// Records as of one moment, what has been decided over them, and what is configured. Counts are
/// the store's of one moment too, with what this batch files, and not guarded: a limit that is counted
/// may be exceeded by what another writer of the same store has in flight (rule 14).
#[derive(Debug, Default)]
pub(super) struct World {
    /// What is configured.
    pub policy: Policy,
    /// Which hosts watch.
    pub hosts: Hosts,
    counted: HashMap<Scope, Listing>,
    uncounted: Vec<Scope>,
    loaded: HashMap<Key, Option<Record>>,
    decided: HashMap<Key, Option<Record>>,
    /// The asks that this batch files, which no count of the store's has.
    filed: Vec<Arc<Ask>>,
    missing: Vec<Key>,
    /// What the decision under way has looked at, with the revisions it saw.
    looked_at: Vec<(Key, u64)>,
}

macro_rules! getter {
    ($name:ident, $arg:ty, $variant:ident, $record:ty) => {
        pub(super) fn $name(&mut self, key: $arg) -> Result<Option<Arc<$record>>, Missing> {
            match self.get(Key::$variant(key))? {
                Some(Record::$variant(record)) => Ok(Some(record)),
                Some(other) => unreachable!("a store gave {:?} for another key", other.key()),
                None => Ok(None),
            }
        }
    };
}

impl World {
    getter!(ask, AskId, Ask, Ask);
    getter!(session, SessionId, Session, Session);
    getter!(work, WorkId, Work, Work);
    getter!(ticket, SecretHash, Ticket, Ticket);
    getter!(token, SecretHash, Token, Token);
    getter!(receipt, ReceiptKey, Receipt, StoredReceipt);
    getter!(twin, (WorkId, ContentDigest), Twin, Twin);
    getter!(roster, Namespace, Roster, Roster);
    getter!(standing, (WorkId, ContentDigest), StandingNo, StandingNo);

    /// A world without records.
    pub(super) fn new(policy: Policy, hosts: Hosts) -> Self {
        Self { policy, hosts, ..Self::default() }
    }

    /// How many asks a scope lists, and the oldest of them.
    pub(super) fn count(&mut self, scope: Scope) -> Result<(usize, Vec<AskId>), Missing> {
        match self.counted.get(&scope) {
            Some(listing) => {
                let filed = self.filed.iter().filter(|ask| match &scope {
                    Scope::Tree(tree) => ask.tree == *tree,
                    Scope::Open(namespace) => ask.namespace == *namespace,
                    _ => false,
                });
                let filed: Vec<AskId> = filed.map(|ask| ask.id).collect();
                let total = listing.total + filed.len();
                let ids = listing.asks.iter().map(|(id, _)| *id).chain(filed);
                Ok((total, ids.take(limits::OPEN_LISTED).collect()))
            }
            None => {
                self.uncounted.push(scope);
                Err(Missing)
            }
        }
    }

    fn get(&mut self, key: Key) -> Result<Option<Record>, Missing> {
        let Some(found) = self.decided.get(&key).or_else(|| self.loaded.get(&key)) else {
            self.missing.push(key);
            return Err(Missing);
        };
        let found = found.clone();
        let revision = found.as_ref().map_or(0, Record::revision);
        if !self.looked_at.iter().any(|(seen, _)| *seen == key) {
            self.looked_at.push((key, revision));
        }
        Ok(found)
    }

    /// The record of a key that will be looked at; noted as missing where it is not loaded.
    pub(super) fn want(&mut self, key: Key) -> Option<Record> {
        match self.loaded.get(&key) {
            Some(found) => found.clone(),
            None => {
                self.missing.push(key);
                None
            }
        }
    }

    /// A scope that will be counted.
    pub(super) fn want_count(&mut self, scope: Scope) {
        if !self.counted.contains_key(&scope) {
            self.uncounted.push(scope);
        }
    }

    /// Begins a decision: nothing looked at yet.
    pub(super) fn begin(&mut self) {
        self.looked_at.clear();
    }

    /// Ends a decision that changes something: guards what it looked at, and lets later decisions
    /// of the batch see what it made.
    pub(super) fn conclude(&mut self, change: &mut Change) {
        change.expects = std::mem::take(&mut self.looked_at);
        for record in &change.writes {
            let key = record.key();
            // A receipt is rewritten when a secret is minted anew, and keeps its revision; whatever
            // is written without a look must not have existed.
            if !change.expects.iter().any(|(seen, _)| *seen == key) {
                change.expects.push((key.clone(), 0));
                if let Record::Ask(ask) = record {
                    self.filed.push(ask.clone());
                }
            }
            self.decided.insert(key, Some(record.clone()));
        }
        for key in &change.removes {
            self.decided.insert(key.clone(), None);
        }
    }

    /// What has to be loaded before the batch can be decided; forgets what was decided so far.
    pub(super) fn take_missing(&mut self) -> Vec<Key> {
        self.decided.clear();
        self.filed.clear();
        let mut missing = std::mem::take(&mut self.missing);
        let mut seen = std::collections::HashSet::with_hasher(RandomState::default());
        missing.retain(|key| seen.insert(key.clone()));
        missing
    }

    /// What has to be counted first.
    pub(super) fn take_uncounted(&mut self) -> Vec<Scope> {
        let mut uncounted = std::mem::take(&mut self.uncounted);
        let mut seen = std::collections::HashSet::with_hasher(RandomState::default());
        uncounted.retain(|scope| seen.insert(scope.clone()));
        uncounted
    }

    /// Takes in what was counted.
    pub(super) fn add_count(&mut self, scope: Scope, listing: Listing) {
        self.counted.insert(scope, listing);
    }

    /// Takes in what was loaded.
    pub(super) fn add(&mut self, keys: Vec<Key>, records: Vec<Option<Record>>) {
        self.loaded.extend(keys.into_iter().zip(records));
    }
}
