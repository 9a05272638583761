//! The names of things: ids that the server makes, names that people and agents give, and who acted.
//!
//! Every name is checked where it is made, so a value of one of these types is always well formed.

use super::limits;
use super::text;
use super::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Crockford's base 32: no `i`, `l`, `o` or `u`, so that an id survives being read aloud.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// Characters of an id after its prefix: 96 bits and four zero bits, five bits each.
pub const ID_CHARS: usize = 20;

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

    fn spell(self) -> String {
        let mut swapped = [0; 16];
        swapped[4..10].copy_from_slice(&self.0[6..]);
        swapped[10..].copy_from_slice(&self.0[..6]);
        let bits = u128::from_be_bytes(swapped) << 4;
        (0..ID_CHARS)
            .map(|place| ALPHABET[(bits >> (95 - 5 * place as u32)) as usize & 31] as char)
            .collect()
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
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(into = "String", try_from = "String")]
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
                write!(f, "{}{}", $prefix, self.0.spell())
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

        impl From<$name> for String {
            fn from(id: $name) -> String {
                id.to_string()
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

macro_rules! name {
    ($(#[$doc:meta])* $name:ident, $max:expr, $check:path) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(into = "String", try_from = "String")]
        pub struct $name(String);

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
                $check(text, $max).map(|()| Self(text.to_owned()))
            }
        }

        impl From<$name> for String {
            fn from(name: $name) -> String {
                name.0
            }
        }

        impl TryFrom<String> for $name {
            type Error = BadName;

            fn try_from(text: String) -> Result<Self, BadName> {
                $check(&text, $max).map(|()| Self(text))
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

impl RequestId {
    /// Until when what became of it is remembered at least, where that was committed at `time`. It is
    /// refused as too old by when it was made, so one from a clock that is ahead is remembered for as
    /// long as it is good, within reason.
    pub fn remembered_until(&self, time: Timestamp) -> Timestamp {
        let made = self.made_at().unwrap_or_default().min(time + limits::KEEP_MAX);
        time.max(made) + limits::RECEIPT_KEEP
    }

    /// Whether it was made too long ago to tell what became of it (rule 7).
    pub fn is_too_old(&self, now: Timestamp) -> bool {
        self.made_at().is_some_and(|made| made + limits::RECEIPT_KEEP <= now)
    }

    /// When it was made, by its maker's clock, where it is a UUID of version 7.
    pub fn made_at(&self) -> Option<Timestamp> {
        let text = self.as_str();
        let hyphens = [8, 13, 18, 23];
        let shaped = text.len() == 36
            && text.bytes().enumerate().all(|(place, byte)| match hyphens.contains(&place) {
                true => byte == b'-',
                false => byte.is_ascii_hexdigit(),
            });
        if !shaped || text.as_bytes()[14] != b'7' {
            return None;
        }
        let millis = u64::from_str_radix(&format!("{}{}", &text[..8], &text[9..13]), 16);
        millis.ok().map(Timestamp::from_millis)
    }
}

impl Default for Namespace {
    fn default() -> Self {
        Self("default".to_owned())
    }
}

impl Default for RouteName {
    /// The route of an ask that names none.
    fn default() -> Self {
        Self("default".to_owned())
    }
}

impl PersonName {
    /// The person every installation has, and the last resort of every route.
    pub fn owner() -> Self {
        Self("owner".to_owned())
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

#[cfg(test)]
mod tests;
