//! How work that any of several processes could do is shared out: everything has a bucket, every bucket an
//! owner among those who are present, and who is gone owns nothing after a while. Nothing rests on it:
//! what two take for theirs is done once all the same, by the revisions it expects.

use super::Due;
use super::record::fnv;
use crate::ask::{HostName, Namespace, SessionId};
use sha2::{Digest, Sha256};

/// How many buckets there are: enough that ten processes differ by little.
pub const BUCKETS: u8 = 64;

/// What is attached to one process, and counts at all of them while that one is there.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Attached {
    /// A session that is held.
    Session(SessionId),
    /// A host that watches its inbox.
    Host(Namespace, HostName),
    /// A session that watches an ask of its own, or what is delivered to it.
    Asker(SessionId),
}

/// What was heard of others who share a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Heard {
    /// Something may have changed at these: their numbers are the engine's.
    Hints(Vec<u64>),
    /// Anything may have changed, and was perhaps not told.
    Everything,
}

/// What a process says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Here {
    /// Whether it carries notices.
    pub carries: bool,
    /// What was attached to it since it said so last.
    pub came: Vec<Attached>,
    /// What is not any more.
    pub left: Vec<Attached>,
    /// Whether `came` is all there is, and what was written down before is not.
    pub whole: bool,
}

/// Who shares a store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Present {
    /// The hosts that watch at any of them.
    pub hosts: Vec<(Namespace, HostName)>,
    /// How much is written down as attached to this one.
    pub written: usize,
    /// The name of this one.
    pub me: String,
    /// The names of all that were seen lately, and whether each carries notices. This one is among them.
    pub all: Vec<(String, bool)>,
}

/// What is one process's to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Share {
    /// Its buckets.
    buckets: Vec<u8>,
}

impl Share {
    /// Everything.
    pub fn whole() -> Self {
        Self { buckets: (0..BUCKETS).collect() }
    }

    /// That of `me` among `all`: each bucket is whose name and it make the highest number, so that who comes
    /// or goes moves no bucket between the others.
    pub fn of(me: &str, all: &[&str]) -> Self {
        let owned = |bucket: &u8| {
            let owner = all.iter().max_by_key(|name| (weight(name, *bucket), **name));
            owner.is_some_and(|owner| *owner == me)
        };
        Self { buckets: (0..BUCKETS).filter(owned).collect() }
    }

    /// Whether it is everything.
    pub fn is_whole(&self) -> bool {
        self.buckets.len() == usize::from(BUCKETS)
    }

    /// Whether this bucket is in it.
    pub fn has(&self, bucket: u8) -> bool {
        self.buckets.binary_search(&bucket).is_ok()
    }

    /// Its buckets, in order.
    pub fn buckets(&self) -> &[u8] {
        &self.buckets
    }
}

fn weight(name: &str, bucket: u8) -> [u8; 32] {
    Sha256::new().chain_update([bucket]).chain_update(name).finalize().into()
}

/// The bucket of an ask's or a session's id: its last byte is chance.
pub fn bucket_of(id: [u8; 12]) -> u8 {
    id[11] % BUCKETS
}

/// The bucket of what has a name and no id.
pub fn bucket_of_name(name: &str) -> u8 {
    // Less than the number of buckets, which is less than 256.
    (fnv(name.bytes()) % u64::from(BUCKETS)) as u8
}

impl Due {
    /// The bucket it is in.
    pub fn bucket(self) -> u8 {
        match self {
            Due::Ask(id) => bucket_of(id.to_bytes()),
            Due::Session(id) => bucket_of(id.to_bytes()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_bucket_has_one_owner_and_who_leaves_moves_only_their_own() {
        let names: Vec<String> = (0..5).map(|number| format!("replica {number}")).collect();
        let all: Vec<&str> = names.iter().map(String::as_str).collect();
        let owners = |all: &[&str]| -> Vec<String> {
            let owner = |bucket| {
                let mut of = all.iter().filter(|me| Share::of(me, all).has(bucket));
                let owner = of.next().expect("everything is somebody's").to_string();
                assert_eq!(of.next(), None, "bucket {bucket} has one owner");
                owner
            };
            (0..BUCKETS).map(owner).collect()
        };
        let before = owners(&all);
        for me in &all {
            let own = before.iter().filter(|owner| owner == me).count();
            assert!((4..=24).contains(&own), "{me} has {own} of {BUCKETS}");
        }
        let after = owners(&all[1..]);
        for (before, after) in before.iter().zip(after) {
            assert!(
                *before == after || before == all[0],
                "a bucket moved from {before} to {after}"
            );
        }
        assert_eq!(Share::of("me", &["me"]), Share::whole());
        assert_eq!(Share::of("stranger", &all).buckets(), &[] as &[u8]);
    }
}
