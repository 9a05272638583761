//! The names of things: ids that the server makes, names that people and agents give, and who acted.
//!
//! Every name is checked where it is made, so a value of one of these types is always well formed.

use super::limits;
use super::text;
use super::time::Timestamp;
use serde::{Deserialize, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// Crockford's base 32: no `i`, `l`, `o` or `u`, so that an id survives being read aloud.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// Characters of an id after its prefix: 96 bits and four zero bits, five bits each.
pub const ID_CHARS: usize = 20;

/// Characters before them, which say what it is the id of.
const PREFIX_CHARS: usize = 4;

/// Room in which an id is spelled: some dozens are for each call, and none is worth an allocation.
type Spelled = [u8; PREFIX_CHARS + ID_CHARS];

/// Why a name or an id was not accepted; a sentence for the one who sent it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadName(pub String);

impl fmt::Display for BadName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BadName {}

/// 48 bits of time and 48 random bits. Ordered and stored by time; spelled with the random half
/// first, so that a short prefix is unique.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id96([u8; 12]);

impl Id96 {
    /// An id made at `time` with 48 `random` bits.
    pub fn new(time: Timestamp, random: [u8; 6]) -> Self {
        let mut bytes = [0; 12];
        bytes[..6].copy_from_slice(&time.as_millis().to_be_bytes()[2..]);
        bytes[6..].copy_from_slice(&random);
        Self(bytes)
    }

    /// The stored form: time first.
    pub const fn to_bytes(self) -> [u8; 12] {
        self.0
    }

    /// From the stored form.
    pub const fn from_bytes(bytes: [u8; 12]) -> Self {
        Self(bytes)
    }

    /// When it was made.
    pub fn time(self) -> Timestamp {
        let mut millis = [0; 8];
        millis[2..].copy_from_slice(&self.0[..6]);
        Timestamp::from_millis(u64::from_be_bytes(millis))
    }

    fn spell<'a>(self, prefix: &str, room: &'a mut Spelled) -> &'a str {
        let mut swapped = [0; 16];
        swapped[4..10].copy_from_slice(&self.0[6..]);
        swapped[10..].copy_from_slice(&self.0[..6]);
        let bits = u128::from_be_bytes(swapped) << 4;
        room[..PREFIX_CHARS].copy_from_slice(prefix.as_bytes());
        for (place, char) in room[PREFIX_CHARS..].iter_mut().enumerate() {
            *char = ALPHABET[(bits >> (95 - 5 * place as u32)) as usize & 31];
        }
        str::from_utf8(room).expect("ids are ASCII")
    }

    fn read(text: &str) -> Option<Self> {
        if text.len() != ID_CHARS {
            return None;
        }
        let mut bits: u128 = 0;
        for byte in text.bytes() {
            let value = ALPHABET.iter().position(|known| *known == byte)?;
            bits = bits << 5 | value as u128;
        }
        if bits & 15 != 0 {
            return None;
        }
        let swapped = (bits >> 4).to_be_bytes();
        let mut bytes = [0; 12];
        bytes[..6].copy_from_slice(&swapped[10..]);
        bytes[6..].copy_from_slice(&swapped[4..10]);
        Some(Self(bytes))
    }
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
        #[serde(try_from = "String")]
        pub struct $name(Id96);

        impl $name {
            /// What every one of these ids begins with.
            pub const PREFIX: &'static str = $prefix;

            /// An id made at `time` with 48 `random` bits.
            pub fn new(time: Timestamp, random: [u8; 6]) -> Self {
                Self(Id96::new(time, random))
            }

            /// The stored form: twelve bytes, time first.
            pub const fn to_bytes(self) -> [u8; 12] {
                self.0.to_bytes()
            }

            /// From the stored form.
            pub const fn from_bytes(bytes: [u8; 12]) -> Self {
                Self(Id96::from_bytes(bytes))
            }

            /// When it was made.
            pub fn time(self) -> Timestamp {
                self.0.time()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.0.spell($prefix, &mut [0; PREFIX_CHARS + ID_CHARS]))
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let room = &mut [0; PREFIX_CHARS + ID_CHARS];
                serializer.serialize_str(self.0.spell($prefix, room))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl FromStr for $name {
            type Err = BadName;

            fn from_str(text: &str) -> Result<Self, BadName> {
                text.strip_prefix($prefix).and_then(Id96::read).map(Self).ok_or_else(|| {
                    BadName(format!(
                        "must be `{}` and {ID_CHARS} characters of 0-9 and a-z (without i, l, o, u)",
                        $prefix
                    ))
                })
            }
        }

        impl TryFrom<String> for $name {
            type Error = BadName;

            fn try_from(text: String) -> Result<Self, BadName> {
                text.parse()
            }
        }
    };
}

id!(
    /// Names a lease; whoever holds it gives it with an acknowledgement.
    LeaseId,
    "lse_"
);
id!(
    /// An ask.
    AskId,
    "ask_"
);
id!(
    /// One run of an agent.
    SessionId,
    "ses_"
);
id!(
    /// A token, to speak of it without saying it.
    TokenId,
    "tok_"
);
id!(
    /// One piece of work a session was sent.
    WorkId,
    "wrk_"
);

// A name is shared and not copied: an ask has a dozen, and is cloned for each event.
macro_rules! name {
    ($(#[$doc:meta])* $name:ident, $max:expr, $check:path) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
        #[serde(try_from = "String")]
        pub struct $name(Arc<str>);

        impl $name {
            /// The text itself.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.0, f)
            }
        }

        impl FromStr for $name {
            type Err = BadName;

            fn from_str(text: &str) -> Result<Self, BadName> {
                $check(text, $max).map(|()| Self(text.into()))
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl From<$name> for String {
            fn from(name: $name) -> String {
                name.as_str().to_owned()
            }
        }

        impl TryFrom<String> for $name {
            type Error = BadName;

            fn try_from(text: String) -> Result<Self, BadName> {
                $check(&text, $max).map(|()| Self(text.into()))
            }
        }
    };
}

name!(
    /// What an agent is called: `lead`, `worker`, `ci/review`.
    AgentName,
    limits::NAME_BYTES,
    plain
);
name!(
    /// What a person is called.
    PersonName,
    limits::NAME_BYTES,
    plain
);
name!(
    /// What a set of people is called.
    GroupName,
    limits::NAME_BYTES,
    plain
);
name!(
    /// What a configured route is called.
    RouteName,
    limits::NAME_BYTES,
    plain
);
name!(
    /// What a host is called: the principal whose credential enrolled a session.
    HostName,
    limits::NAME_BYTES,
    plain
);
name!(
    /// The namespace a key lives in.
    Namespace,
    limits::NAME_BYTES,
    plain
);
name!(
    /// The caller's own id for one intent; the same id again is the same intent (rule 7).
    RequestId,
    limits::REQUEST_ID_BYTES,
    line
);

impl Default for Namespace {
    fn default() -> Self {
        Self("default".into())
    }
}

impl Default for RouteName {
    /// The route of an ask that names none.
    fn default() -> Self {
        Self("default".into())
    }
}

impl PersonName {
    /// The person every installation has, and the last resort of every route.
    pub fn owner() -> Self {
        Self("owner".into())
    }
}

/// A name of letters, digits and `-_./@`, so that it can stand in a file, a shell and a table.
fn plain(text: &str, max: usize) -> Result<(), BadName> {
    let fits = |c: char| c.is_ascii_alphanumeric() || "-_./@".contains(c);
    if text.is_empty() || text.len() > max || !text.chars().all(fits) || text.starts_with('-') {
        return Err(BadName(format!(
            "must be 1 to {max} letters, digits or any of - _ . / @ and not begin with -"
        )));
    }
    Ok(())
}

/// One line of any visible text.
fn line(text: &str, max: usize) -> Result<(), BadName> {
    if text.is_empty() || text.len() > max || !text::is_one_safe_line(text) {
        return Err(BadName(format!("must be 1 to {max} bytes of one visible line of text")));
    }
    Ok(())
}

/// An agent and one run of it: exactly whom an ask waits on.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SessionRef {
    /// The agent.
    pub agent: AgentName,
    /// The run.
    pub session: SessionId,
}

impl fmt::Display for SessionRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.agent.as_str())
    }
}

/// Who acted. Always the server's word, taken from a credential (rule 16).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Actor {
    /// A session, by its token.
    Session(SessionRef),
    /// A person, by their token.
    Person(PersonName),
    /// A host, by its token or as the daemon's own user on the socket.
    Host(HostName),
    /// Nobody: a deadline passed.
    Timer,
}

impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Actor::Session(session) => session.fmt(f),
            Actor::Person(person) => person.fmt(f),
            Actor::Host(host) => host.fmt(f),
            Actor::Timer => f.write_str("the timer"),
        }
    }
}

mod request;
#[cfg(test)]
mod tests;
