//! How surely a person's word is that person's.

use serde::{Deserialize, Serialize};
use std::fmt;

/// How a person proved who they are, the weaker first. There may be stronger ones; a demand is met by
/// what it names and by every one after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Assurance {
    /// By a token that the daemon keeps in its folder: whoever can read that folder has it, and an
    /// agent of the same user can.
    Local,
    /// By a token that was made for that person alone.
    Token,
}

impl Assurance {
    /// Whether what was proved is enough where this is demanded. Nothing proved is the least.
    pub fn is_met_by(self, proved: Option<Assurance>) -> bool {
        proved.unwrap_or(Assurance::Local) >= self
    }
}

impl fmt::Display for Assurance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Assurance::Local => "local",
            Assurance::Token => "token",
        })
    }
}
