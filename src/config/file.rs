//! `askway.toml`: which keys it has, and where each stands. What their values must be is said in
//! [`config`](super), as for flags and the environment.

use super::Faults;
use std::collections::BTreeMap;
use std::path::Path;
use std::{fs, io};
use toml::de::{DeTable, DeValue};

/// The keys of the file: where each stands, and its text.
pub(super) struct File(BTreeMap<&'static str, (String, String)>);

impl File {
    const KEYS: [&'static str; 4] = ["socket", "listen", "route_timeout", "log"];

    /// Reads the file, where there is one; what is wrong with it goes to `faults`.
    pub(super) fn read(path: &Path, faults: &mut Faults) -> Self {
        let mut keys = BTreeMap::new();
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Self(keys),
            Err(error) => {
                faults.add(path.display().to_string(), format!("cannot be read: {error}"));
                return Self(keys);
            }
        };
        let line_at = |at: usize| text[..at].matches('\n').count() + 1;
        let place = |at: usize| format!("{}:{}", path.display(), line_at(at));
        let table = match DeTable::parse(&text) {
            Ok(table) => table,
            Err(error) => {
                let at = error.span().map_or(0, |span| span.start.min(text.len()));
                faults.add(place(at), format!("is not TOML: {}", error.message()));
                return Self(keys);
            }
        };
        for (name, value) in table.get_ref() {
            let place = format!("{}: {}", place(name.span().start), name.get_ref());
            match (Self::KEYS.iter().find(|key| *key == name.get_ref()), value.get_ref()) {
                (Some(key), DeValue::String(text)) => {
                    keys.insert(*key, (place, text.to_string()));
                }
                (Some(_), _) => faults.add(place, "must be a string, in quotes"),
                (None, _) if name.get_ref() == "data" => {
                    faults
                        .add(place, "the file lies in the data folder: use --data or ASKWAY_DATA");
                }
                (None, _) => {
                    faults.add(place, format!("is no key; keys are {}", Self::KEYS.join(", ")));
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
