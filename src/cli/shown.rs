//! What a person was shown last at this terminal, ask by ask: an answer that is typed later is bound to
//! that and not to whatever the ask has become (rule 20). Small files in the data folder; where they
//! cannot be written, an answer is bound to the ask as it is read for it.

use super::place;
use crate::ask::PersonName;
use crate::grpc::v1;
use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// The folder, in the data folder.
const SHOWN: &str = "shown";

/// Where it stands; none for an id that is no plain name.
fn place_of(data: &Path, person: &PersonName, id: &str) -> Option<PathBuf> {
    let plain = id.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    plain.then(|| data.join(SHOWN).join(place::file_name(person.as_str())).join(id))
}

/// Notes what `person` was shown of an open ask; of a settled one there is nothing left to decide.
pub(super) fn note(data: &Path, person: &PersonName, ask: &v1::Ask) {
    let Some(path) = place_of(data, person, &ask.id) else { return };
    if ask.outcome.is_some() {
        let _ = fs::remove_file(path);
        return;
    }
    let folder = path.parent().unwrap_or(data);
    let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    let _ = made.and_then(|()| fs::write(&path, &ask.content_digest));
}

/// The content digest that `person` was shown last of the ask `id`, where it is known here.
pub(super) fn digest(data: &Path, person: &PersonName, id: &str) -> Option<String> {
    fs::read_to_string(place_of(data, person, id)?).ok().filter(|digest| !digest.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::render::fixture;

    #[test]
    fn what_was_shown_is_known_until_the_ask_is_settled() {
        let folder = tempfile::tempdir().expect("a folder");
        let (ann, bob) = ("ann".parse().expect("a name"), "../b".parse().expect("a name"));
        let (data, ask) = (folder.path(), fixture::open());
        assert_eq!(digest(data, &ann, &ask.id), None);
        note(data, &ann, &ask);
        assert_eq!(digest(data, &ann, &ask.id), Some(ask.content_digest.clone()));
        assert_eq!(digest(data, &bob, &ask.id), None, "another person has seen nothing");
        note(data, &bob, &ask);
        assert!(data.join("shown/%2e%2e%2fb").exists());
        note(data, &ann, &fixture::settled(v1::OutcomeKind::Answered));
        assert_eq!(digest(data, &ann, &ask.id), None);
        note(data, &ann, &v1::Ask { id: "../x".into(), ..ask });
        assert!(!data.join("x").exists());
    }
}
