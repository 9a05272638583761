//! The table `[limits]` of `askway.toml`: how many open asks, how fast, and how many connections. Each
//! is a whole number within bounds; what it is where nothing is said, and why, stands with its name in
//! [`ask::limits`](crate::ask::limits), [`grpc::limits`] and
//! [`service`](crate::service).

use super::Faults;
use super::file::{Node, Source};
use crate::ask::limits::{
    OPEN_IN_NAMESPACE, OPEN_IN_NAMESPACE_MAX, OPEN_IN_TREE, OPEN_IN_TREE_MAX, WAITING_ON_SESSION,
    WAITING_ON_SESSION_MAX,
};
use crate::grpc::{self, limits as wire};
use crate::service::{ASKS_A_MINUTE_MAX, ASKS_A_MINUTE_MIN, Rates};
use toml::de::DeTable;

/// What the table says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Open asks in one tree of works.
    pub tree: usize,
    /// Open asks in one namespace.
    pub namespace: usize,
    /// Open asks that wait on one session.
    pub waiting_on_session: usize,
    /// How much of one principal's at once, and how fast.
    pub rates: Rates,
    /// How much of the wire.
    pub wire: grpc::Limits,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            tree: OPEN_IN_TREE,
            namespace: OPEN_IN_NAMESPACE,
            waiting_on_session: WAITING_ON_SESSION,
            rates: Rates::default(),
            wire: grpc::Limits::default(),
        }
    }
}

/// A key of the table, its bounds, and what it sets.
type Key = (&'static str, usize, usize, fn(&mut Limits, usize));

/// All of them.
pub(super) const KEYS: [Key; 10] = [
    ("tree", 1, OPEN_IN_TREE_MAX, |limits, number| limits.tree = number),
    ("namespace", 1, OPEN_IN_NAMESPACE_MAX, |limits, number| limits.namespace = number),
    ("waiting_on_session", 1, WAITING_ON_SESSION_MAX, |limits, number| {
        limits.waiting_on_session = number;
    }),
    ("asks_a_minute", ASKS_A_MINUTE_MIN as usize, ASKS_A_MINUTE_MAX as usize, |limits, number| {
        limits.rates.asks_a_minute = u32::try_from(number).unwrap_or(ASKS_A_MINUTE_MAX);
    }),
    ("calls_a_principal", 1, wire::CALLS_MAX, |limits, number| limits.rates.calls = number),
    ("streams_a_principal", 1, wire::CALLS_MAX, |limits, number| limits.rates.streams = number),
    ("calls", 16, wire::CALLS_MAX, |limits, number| limits.wire.calls = number),
    ("connections", 1, wire::CONNECTIONS_MAX, |limits, number| limits.wire.connections = number),
    ("connections_a_peer", 1, wire::CONNECTIONS_MAX, |limits, number| {
        limits.wire.connections_a_peer = number;
    }),
    ("socket_connections", 1, wire::CONNECTIONS_MAX, |limits, number| {
        limits.wire.socket_connections = number;
    }),
];

/// The table of the file; what is wrong with it goes to `faults`.
pub(super) fn read(root: &DeTable<'_>, source: Source<'_>, faults: &mut Faults) -> Limits {
    let mut limits = Limits::default();
    let Some(table) = Node::of(root, "limits") else { return limits };
    let Some(entries) = table.entries() else {
        faults.add(table.place(source), "must be a table: [limits]");
        return limits;
    };
    for (name, node) in entries {
        let Some((_, min, max, set)) = KEYS.iter().find(|(key, ..)| *key == name) else {
            let keys = KEYS.map(|(key, ..)| key).join(", ");
            faults.add(node.place(source), format!("is no limit to be set; those are {keys}"));
            continue;
        };
        match node.number().map(|number| number as usize) {
            Some(number) if (*min..=*max).contains(&number) => set(&mut limits, number),
            _ => faults.add(node.place(source), format!("must be a number from {min} to {max}")),
        }
    }
    limits
}
