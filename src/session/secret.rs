//! Tokens and tickets as text, and what is kept of them: 32 random bytes behind a typed prefix,
//! stored only as a SHA-256.

use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fmt;
use subtle::ConstantTimeEq;

/// Hexadecimal digits after the prefix.
const DIGITS: usize = 64;

/// What a secret is for; its prefix says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A person's token.
    Person,
    /// A session's token.
    Session,
    /// A ticket for work.
    Ticket,
    /// A host's token.
    Host,
    /// The secret of a session's holder.
    Hold,
}

impl Kind {
    const ALL: [Kind; 5] = [Kind::Person, Kind::Session, Kind::Ticket, Kind::Host, Kind::Hold];

    /// What it begins with.
    pub const fn prefix(self) -> &'static str {
        match self {
            Kind::Person => "askp_",
            Kind::Session => "asks_",
            Kind::Ticket => "askt_",
            Kind::Host => "askh_",
            Kind::Hold => "askl_",
        }
    }
}

/// A secret in the clear. Printing it prints nothing of it.
#[derive(Clone, Debug)]
pub struct Secret {
    kind: Kind,
    text: SecretString,
}

impl Secret {
    /// A secret of `kind` from 32 `random` bytes.
    pub fn new(kind: Kind, random: [u8; 32]) -> Self {
        let digits: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
        Self { kind, text: format!("{}{digits}", kind.prefix()).into() }
    }

    /// Reads a secret back; none when it is not spelled like one.
    pub fn read(text: &str) -> Option<Self> {
        let kind = *Kind::ALL.iter().find(|kind| text.starts_with(kind.prefix()))?;
        let digits = &text[kind.prefix().len()..];
        let hex = |b: u8| matches!(b, b'0'..=b'9' | b'a'..=b'f');
        (digits.len() == DIGITS && digits.bytes().all(hex))
            .then(|| Self { kind, text: text.to_owned().into() })
    }

    /// What it is for.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The text, to hand to its owner.
    pub fn expose(&self) -> &str {
        self.text.expose_secret()
    }

    /// What is kept of it.
    pub fn hash(&self) -> SecretHash {
        SecretHash(Sha256::digest(self.expose().as_bytes()).into())
    }
}

/// The SHA-256 of a secret. Compared in constant time.
#[derive(Clone, Copy, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct SecretHash([u8; 32]);

impl SecretHash {
    /// The bytes, as a store's key.
    pub const fn to_bytes(self) -> [u8; 32] {
        self.0
    }
}

impl PartialEq for SecretHash {
    fn eq(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl std::hash::Hash for SecretHash {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

impl fmt::Debug for SecretHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretHash(…)")
    }
}

impl From<SecretHash> for String {
    fn from(hash: SecretHash) -> String {
        hash.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

impl TryFrom<String> for SecretHash {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let wrong = "a hash is 64 hexadecimal digits";
        if text.len() != DIGITS || !text.is_ascii() {
            return Err(wrong);
        }
        let mut bytes = [0; 32];
        for (place, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&text[2 * place..2 * place + 2], 16).map_err(|_| wrong)?;
        }
        Ok(Self(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_reads_back_and_never_prints() {
        for kind in Kind::ALL {
            let secret = Secret::new(kind, [7; 32]);
            let back = Secret::read(secret.expose()).unwrap();
            assert_eq!((back.kind(), back.hash()), (kind, secret.hash()));
            assert!(!format!("{secret:?}{:?}", secret.hash()).contains("0707"));
        }
        for bad in ["", "askp_", "askp_zz", "askx_00", "askp_é"] {
            assert!(Secret::read(bad).is_none(), "{bad}");
        }
    }
}
