//! Where it is kept: in the data folder, or in a database that several daemons share.

use super::Faults;
use std::fmt;

/// Where it is kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum KeptIn {
    /// In a file in the data folder.
    #[default]
    Folder,
    /// In a PostgreSQL database.
    Postgres(Url),
}

/// Where a database is, with the password there may be in it: it is printed without.
#[derive(Clone, PartialEq, Eq)]
pub struct Url(String);

impl Url {
    /// All of it.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Whether there is a password in it.
    fn has_password(&self) -> bool {
        let authority = self.0.split_once("://").map_or("", |(_, rest)| rest);
        let user = authority.split(['/', '?']).next().and_then(|of| of.rsplit_once('@'));
        user.is_some_and(|(user, _)| user.contains(':')) || self.0.contains("password=")
    }
}

impl fmt::Display for Url {
    /// The host and the database: what stands behind the user, and before any setting.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rest = self.0.split_once("://").map_or("", |(_, rest)| rest);
        let place = rest.rsplit_once('@').map_or(rest, |(_, place)| place);
        write!(f, "postgres://{}", place.split('?').next().unwrap_or_default())
    }
}

impl fmt::Debug for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Url({self})")
    }
}

/// Reads it; no fault repeats what was given.
pub(super) fn read(text: &str) -> Result<KeptIn, String> {
    if text == "folder" {
        return Ok(KeptIn::Folder);
    }
    let is_one = ["postgres://", "postgresql://"].iter().any(|scheme| text.starts_with(scheme));
    match is_one {
        true => Ok(KeptIn::Postgres(Url(text.to_owned()))),
        false => Err("must be folder, or postgres://USER@HOST/DATABASE".into()),
    }
}

/// What was typed: everybody on the machine can read it.
pub(super) fn typed(store: Option<&KeptIn>, faults: &mut Faults) {
    if let Some(KeptIn::Postgres(url)) = store
        && url.has_password()
    {
        let message = "has a password in it, which others on this machine can read there: say it in \
                       ASKWAY_STORE, or as store in askway.toml";
        faults.add("--store", message);
    }
}
