//! Tokens and tickets as text, and what is kept of them: 32 random bytes behind a typed prefix, with
//! a check at the end, stored only as a SHA-256.
//!
//! The check is there so that a scanner of leaked secrets knows one from other hexadecimal text, and
//! so that a mistyped one is told from one that is not good any more, without a look at the store. A
//! secret of askway 0.1, which has none, is still taken: agents that run go on over an update.

use data_encoding::HEXLOWER;
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fmt;
use subtle::ConstantTimeEq;

/// Hexadecimal digits of the random bytes, and of a hash.
const DIGITS: usize = 64;
/// Hexadecimal digits of the check: one mistyped secret in four billion passes it.
const CHECK_DIGITS: usize = 8;

/// Digits of a secret of askway 0.1.
const EARLIER: usize = DIGITS;
/// Digits of one as it is made now.
const WHOLE: usize = DIGITS + CHECK_DIGITS;

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
        let text = format!("{}{}", kind.prefix(), HEXLOWER.encode(&random));
        let check = check(&text);
        Self { kind, text: format!("{text}{check}").into() }
    }

    /// Reads a secret back; none when it is not spelled like one, or its check says that a part of
    /// it is wrong.
    pub fn read(text: &str) -> Option<Self> {
        let kind = *Kind::ALL.iter().find(|kind| text.starts_with(kind.prefix()))?;
        let digits = &text[kind.prefix().len()..];
        if !digits.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')) {
            return None;
        }
        let fits = match digits.len() {
            EARLIER => true,
            WHOLE => {
                let (secret, said) = text.split_at(text.len() - CHECK_DIGITS);
                check(secret) == said
            }
            _ => false,
        };
        fits.then(|| Self { kind, text: text.to_owned().into() })
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
        HEXLOWER.encode(&hash.0)
    }
}

impl TryFrom<String> for SecretHash {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let wrong = "a hash is 64 hexadecimal digits";
        if text.len() != DIGITS {
            return Err(wrong);
        }
        let mut bytes = [0; 32];
        HEXLOWER.decode_mut(text.as_bytes(), &mut bytes).map_err(|_| wrong)?;
        Ok(Self(bytes))
    }
}

/// The check of a secret without one: the beginning of its SHA-256 under a name of its own, so that it
/// says nothing of the hash that is kept.
fn check(text: &str) -> String {
    let hash = Sha256::new().chain_update("askway check\n").chain_update(text).finalize();
    HEXLOWER.encode(&hash[..CHECK_DIGITS / 2])
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

    #[test]
    fn what_is_kept_of_a_secret_reads_back_and_tells_nothing() {
        let secret = Secret::new(Kind::Person, [7; 32]);
        let hash = secret.hash();
        let bytes: [u8; 32] = Sha256::digest(secret.expose()).into();
        assert_eq!(hash.to_bytes(), bytes);
        let text = String::from(hash);
        assert_eq!((text.len(), SecretHash::try_from(text.clone())), (DIGITS, Ok(hash)));
        let other = Secret::new(Kind::Person, [8; 32]).hash();
        let hashed = |hash: &SecretHash| std::hash::BuildHasher::hash_one(&keys(), hash);
        assert_ne!(hashed(&hash), hashed(&other), "each has a place of its own among keys");
        assert_eq!(format!("{hash:?}"), "SecretHash(…)");
        for bad in
            [&text[1..], &format!("{text}0"), &text.replace(&text[..1], "x"), &"é".repeat(32)]
        {
            assert!(SecretHash::try_from((*bad).to_owned()).is_err(), "{bad}");
        }
    }

    fn keys() -> std::hash::BuildHasherDefault<std::hash::DefaultHasher> {
        Default::default()
    }

    #[test]
    fn a_secret_that_a_panic_is_about_is_not_told() {
        let secret = Secret::new(Kind::Person, [7; 32]);
        let failed = || Err::<(), _>((&secret, secret.hash()));
        let panics: [&dyn Fn(); 2] =
            [&|| failed().expect("it fails"), &|| panic!("it is about {secret:?}")];
        for panics in panics {
            let panics = std::panic::AssertUnwindSafe(panics);
            let said = std::panic::catch_unwind(panics).expect_err("it panics");
            let said = said.downcast_ref::<String>().expect("it is said in words");
            assert!(said.starts_with("it ") && !said.contains("0707"), "{said}");
        }
    }

    #[test]
    fn a_secret_with_any_one_digit_wrong_or_missing_is_none() {
        let secret = Secret::new(Kind::Host, [0x5a; 32]);
        let text = secret.expose();
        for place in Kind::Host.prefix().len()..text.len() {
            let other = if text.as_bytes()[place] == b'0' { "1" } else { "0" };
            let wrong = format!("{}{other}{}", &text[..place], &text[place + 1..]);
            assert!(Secret::read(&wrong).is_none(), "{place}");
            let cut = format!("{}{}", &text[..place], &text[place + 1..]);
            assert!(Secret::read(&cut).is_none(), "{place}");
        }
        let as_another = text.replace(Kind::Host.prefix(), Kind::Person.prefix());
        assert!(Secret::read(&as_another).is_none(), "the check is over the prefix too");
        assert!(Secret::read(&format!("{text}0")).is_none());
    }

    #[test]
    fn a_secret_of_the_earlier_form_is_still_taken() {
        let text = format!("askp_{}", "07".repeat(32));
        let secret = Secret::read(&text).expect("it is taken");
        assert_eq!((secret.kind(), secret.expose()), (Kind::Person, text.as_str()));
    }
}
