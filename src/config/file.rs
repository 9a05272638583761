//! `askway.toml`: its keys and tables, and where each stands. What the values of keys must be is said
//! in [`config`](super), as for flags and the environment; what stands in tables, in `routes`.

use super::Faults;
use crate::cli::shell;
use crate::files;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The keys of the file, each with its place and its text.
pub(super) struct File(BTreeMap<&'static str, (String, String)>);

/// The tables of the file: each name of one stands below one of these.
pub(super) const TABLES: [&str; 4] = ["route", "group", "notify", "limits"];

/// Bytes of the file: several times what all its routes and groups may take. It is read before
/// anything is known of it, so one without end must have one.
pub(super) const FILE_BYTES: u64 = 1 << 20;

/// The text of the file at `path`, empty where there is none; that it cannot be read goes to
/// `faults`.
pub(super) fn text(path: &Path, faults: &mut Faults) -> String {
    files::read_text(path, files::Kind::Settings, FILE_BYTES).unwrap_or_else(|unfit| {
        if !unfit.is_missing() {
            let next = unfit
                .remedy(&shell::path_or(path, "FILE"))
                .map(|next| format!("; {next}"))
                .unwrap_or_default();
            faults.add(path.display().to_string(), format!("{unfit}{next}"));
        }
        String::new()
    })
}

/// The file's text as TOML: everything in it, in one table without a name. Nothing is in it where it
/// is not TOML, which goes to `faults`.
pub(super) fn parse<'t>(source: Source<'t>, faults: &mut Faults) -> DeTable<'t> {
    DeTable::parse(source.text).map(Spanned::into_inner).unwrap_or_else(|error| {
        let at = error.span().map_or(0, |span| span.start.min(source.text.len()));
        faults.add(source.line(at), format!("is not TOML: {}", error.message()));
        DeTable::new()
    })
}

impl File {
    /// Each is a flag and a variable too.
    pub(super) const KEYS: [&'static str; 13] = [
        "socket",
        "listen",
        "listen_names",
        "tls_cert",
        "tls_key",
        "tls_client_ca",
        "route_timeout",
        "person_window",
        "decline_stands",
        "keep",
        "store",
        "no_listen",
        "log",
    ];

    /// Reads the keys; what is wrong with them goes to `faults`.
    pub(super) fn read(root: &DeTable<'_>, source: Source<'_>, faults: &mut Faults) -> Self {
        let mut keys = BTreeMap::new();
        for (name, value) in root {
            let place = format!("{}: {}", source.line(name.span().start), name.get_ref());
            match (Self::KEYS.iter().find(|key| *key == name.get_ref()), value.get_ref()) {
                (Some(key), DeValue::String(text)) => {
                    keys.insert(*key, (place, text.to_string()));
                }
                (Some(_), _) => faults.add(place, "must be a string, in quotes"),
                (None, _) if TABLES.contains(&name.get_ref().as_ref()) => {}
                (None, _) if name.get_ref() == "data" => {
                    faults
                        .add(place, "the file lies in the data folder: use --data or ASKWAY_DATA");
                }
                (None, _) => {
                    let keys = Self::KEYS.join(", ");
                    let message = format!(
                        "is no key; keys are {keys}, tables [route.NAME], [group.NAME], [notify] and [limits]"
                    );
                    faults.add(place, message);
                }
            }
        }
        Self(keys)
    }

    /// The text of a key, and its place; none where the file does not say.
    pub(super) fn take(&mut self, key: &str) -> Option<(String, String)> {
        self.0.remove(key)
    }
}

/// The file as it lies there: what every place in it is told by.
#[derive(Clone, Copy)]
pub(super) struct Source<'t> {
    pub path: &'t Path,
    pub text: &'t str,
    /// Where its lines end: a place is looked up, or a file of nothing but faults would be read once
    /// for each of them.
    pub ends: &'t [usize],
}

/// Where the lines of `text` end.
pub(super) fn ends(text: &str) -> Vec<usize> {
    text.match_indices('\n').map(|(at, _)| at).collect()
}

impl Source<'_> {
    /// The file and the line of its byte `at`.
    fn line(self, at: usize) -> String {
        format!("{}:{}", self.path.display(), self.ends.partition_point(|end| *end < at) + 1)
    }
}

/// A value somewhere in the file, with the keys that lead to it.
#[derive(Clone)]
pub(super) struct Node<'a> {
    /// As a fault tells it: `route.climb.hops[1]`.
    pub key: String,
    at: usize,
    value: &'a DeValue<'a>,
}

impl<'a> Node<'a> {
    /// What `name` is in the table without a name.
    pub(super) fn of(root: &'a DeTable<'a>, name: &str) -> Option<Self> {
        let (key, value) = root.iter().find(|(key, _)| key.get_ref() == name)?;
        Some(Node { key: name.to_owned(), at: key.span().start, value: value.get_ref() })
    }

    /// What `name` is in this table; none where this is no table, or does not have it.
    pub(super) fn get(&self, name: &str) -> Option<Self> {
        self.entries()?.into_iter().find_map(|(key, node)| (key == name).then_some(node))
    }

    /// Every name in this table, and what it is; none where this is no table.
    pub(super) fn entries(&self) -> Option<Vec<(&'a str, Self)>> {
        let each = self.value.as_table()?.iter().map(|(name, value)| {
            let key = format!("{}.{}", self.key, name.get_ref());
            let node = Node { key, at: name.span().start, value: value.get_ref() };
            (name.get_ref().as_ref(), node)
        });
        Some(each.collect())
    }

    /// Every entry of this list, in order; none where this is no list.
    pub(super) fn items(&self) -> Option<Vec<Self>> {
        let each = self.value.as_array()?.iter().enumerate().map(|(index, value)| {
            let key = format!("{}[{index}]", self.key);
            Node { key, at: value.span().start, value: value.get_ref() }
        });
        Some(each.collect())
    }

    /// The string, where it is one.
    pub(super) fn text(&self) -> Option<&'a str> {
        self.value.as_str()
    }

    /// The whole number, where it is one that fits.
    pub(super) fn number(&self) -> Option<u32> {
        let number = self.value.as_integer()?;
        u32::from_str_radix(number.as_str(), number.radix()).ok()
    }

    /// Where it stands: file, line and keys.
    pub(super) fn place(&self, source: Source<'_>) -> String {
        format!("{}: {}", source.line(self.at), self.key)
    }
}

/// A folder by its whole path, without what ends it: `link/` is the folder behind a link, and `link` the
/// link. None where this process is in no folder.
pub(super) fn whole(folder: PathBuf) -> Option<PathBuf> {
    std::path::absolute(folder).ok().map(|folder| folder.components().collect())
}
