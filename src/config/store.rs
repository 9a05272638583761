//! Where it is kept: in the data folder, or in a database that several daemons share.

use super::{Faults, Told};
use std::ffi::OsString;
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
pub struct Url {
    text: String,
    listens: bool,
}

impl Url {
    /// All of it.
    pub fn expose(&self) -> &str {
        &self.text
    }

    /// Whether the database tells what others did; else it is looked for.
    pub fn listens(&self) -> bool {
        self.listens
    }

    /// Whether there is a password in it.
    fn has_password(&self) -> bool {
        let authority = self.text.split_once("://").map_or("", |(_, rest)| rest);
        let user = authority.split(['/', '?']).next().and_then(|of| of.rsplit_once('@'));
        user.is_some_and(|(user, _)| user.contains(':')) || self.text.contains("password=")
    }
}

impl fmt::Display for Url {
    /// The host and the database: what stands behind the user, and before any setting.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rest = self.text.split_once("://").map_or("", |(_, rest)| rest);
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
        true => Ok(KeptIn::Postgres(Url { text: text.to_owned(), listens: true })),
        false => Err("must be folder, or postgres://USER@HOST/DATABASE".into()),
    }
}

/// What was typed, or else found.
pub(super) fn found<V: Fn(&str) -> Option<OsString>>(
    store: Option<KeptIn>,
    no_listen: bool,
    told: &mut Told<'_, V>,
) -> KeptIn {
    typed(store.as_ref(), &mut told.faults);
    let store = store.or_else(|| told.secret("ASKWAY_STORE", "store", read)).unwrap_or_default();
    let said = told.say("ASKWAY_NO_LISTEN", "no_listen", yes_or_no);
    let (place, no_listen) = match (no_listen, said) {
        (true, _) => ("--no-listen".to_owned(), true),
        (false, said) => said.unwrap_or_default(),
    };
    match store {
        KeptIn::Postgres(url) => KeptIn::Postgres(Url { listens: !no_listen, ..url }),
        KeptIn::Folder if no_listen => {
            told.faults.add(place, "does nothing where nobody shares the store: it is a file");
            KeptIn::Folder
        }
        KeptIn::Folder => KeptIn::Folder,
    }
}

fn yes_or_no(text: &str) -> Result<bool, String> {
    match text {
        "yes" => Ok(true),
        "no" => Ok(false),
        _ => Err("must be yes or no".into()),
    }
}

/// What was typed: everybody on the machine can read it.
fn typed(store: Option<&KeptIn>, faults: &mut Faults) {
    if let Some(KeptIn::Postgres(url)) = store
        && url.has_password()
    {
        let message = "has a password in it, which others on this machine can read there: say it in \
                       ASKWAY_STORE, or as store in askway.toml";
        faults.add("--store", message);
    }
}
