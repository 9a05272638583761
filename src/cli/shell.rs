//! Words of a command line that somebody is shown to type, or that a shell puts there: what an agent or
//! a person wrote may stand in one, and must be nothing but a word to whoever runs it.

use crate::ask::text;
use std::borrow::Cow;
use std::path::Path;

/// Whether a POSIX shell takes `text` for itself wherever it stands, in quotes or not. What begins with
/// `~` or `=`, holds a brace or is no ASCII means something to some shell or in some locale.
pub fn is_plain(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:,+@".contains(c);
    !text.is_empty() && text.chars().all(plain)
}

/// `text` as one word for a POSIX shell, in single quotes where it needs any: within them nothing is
/// expanded, not even an interactive shell's history. None where it cannot be typed as it is shown,
/// since something in it is hidden or ends the line.
pub fn word(text: &str) -> Option<Cow<'_, str>> {
    if is_plain(text) {
        return Some(Cow::Borrowed(text));
    }
    let is_as_shown = text::is_one_safe_line(text) && text::visible_line(text) == text;
    is_as_shown.then(|| Cow::Owned(format!("'{}'", text.replace('\'', r"'\''"))))
}

/// The same, and where there is no such word, what stands for one.
pub fn word_or(text: &str, placeholder: &str) -> String {
    word(text).map_or_else(|| placeholder.to_owned(), Cow::into_owned)
}

/// The same for the place of a file.
pub fn path_or(path: &Path, placeholder: &str) -> String {
    path.to_str().map_or_else(|| placeholder.to_owned(), |path| word_or(path, placeholder))
}

/// The same for what follows a verb: what begins with `-` is no flag.
pub fn argument_or(text: &str, placeholder: &str) -> String {
    let word = word_or(text, placeholder);
    if text.starts_with('-') { format!("-- {word}") } else { word }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::process::Command;

    const HOSTILE: [&str; 12] = [
        "z$(touch X)",
        "y; touch X",
        "`touch X`",
        "it's; touch X; '",
        "\"; touch X; \"",
        "a\\",
        "* ? [a] {a,b}",
        "~root",
        "!! !x ^a^b",
        "a  b",
        "größe & co",
        "-rf",
    ];

    #[test]
    fn what_others_wrote_is_one_word_to_a_shell_and_runs_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        for text in HOSTILE {
            let word = word(text).expect("it can be typed");
            let mut shell = Command::new("sh");
            shell.current_dir(&folder).args(["-c", &format!("printf '<%s>' {word}")]);
            let said = shell.output().expect("a shell");
            assert_eq!(String::from_utf8_lossy(&said.stdout), format!("<{text}>"), "{word}");
            assert_eq!(shlex::split(&word), Some(vec![text.to_owned()]));
        }
        assert_eq!(fs::read_dir(&folder).expect("a folder").count(), 0, "something was run");
        assert_eq!(word("ask_k3f9").as_deref(), Some("ask_k3f9"));
        assert_eq!(word("").as_deref(), Some("''"));
    }

    #[test]
    fn what_cannot_be_typed_as_it_is_shown_is_only_named() {
        for text in ["a\nb", "a\u{1b}[2J", "a\u{202e}b", "a\tb"] {
            assert_eq!(word_or(text, "LABEL"), "LABEL", "{text:?}");
        }
        assert_eq!(argument_or("-1", "LABEL"), "-- -1");
        assert_eq!(path_or(Path::new("/a b/c"), "FILE"), "'/a b/c'");
        assert_eq!(path_or(Path::new("/a\u{1b}"), "FILE"), "FILE");
    }

    /// Names that may stand in braces in a line to be typed: ids the daemon made, words of ours, and what
    /// went through this module, which is called `typed_…`.
    const OURS: [&str; 9] =
        ["id", "open", "how", "with", "verb", "variable", "cert", "key", "command"];

    /// The names in braces of the text of a source line.
    fn names(line: &str) -> Vec<&str> {
        let parts = line.split('{').skip(1).filter_map(|part| part.split_once('}'));
        parts.map(|(name, _)| name).filter(|name| !name.contains([' ', '"', '('])).collect()
    }

    /// The part of a source line that begins a line to type.
    fn typed_part(line: &str) -> Option<&str> {
        let is_verb = |at: &usize| line[at + 7..].starts_with(|c: char| c.is_ascii_lowercase());
        let verb = line.match_indices("askway ").map(|(at, _)| at).find(is_verb);
        let others = ["next: ", "\"export ", "then(format!("].map(|begin| line.find(begin));
        let first = others.into_iter().chain([verb]).flatten().min();
        first.map(|at| &line[at..])
    }

    fn sources(folder: &Path, all: &mut Vec<(String, String)>) {
        for entry in fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry")) {
            let path = entry.path();
            if path.is_dir() {
                sources(&path, all);
            } else if path.extension().is_some_and(|kind| kind == "rs") {
                let text = fs::read_to_string(&path).expect("a source");
                all.push((path.display().to_string(), text));
            }
        }
    }

    #[test]
    fn every_line_to_type_holds_only_words_of_ours_or_quoted_ones() {
        let mut all = Vec::new();
        sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/cli"), &mut all);
        // Not tests; nor the addresses that are served on.
        let is_other = |path: &str| path.contains("test") || path.ends_with("cli/serve.rs");
        all.retain(|(path, _)| !is_other(path));
        let mut seen = 0;
        for (path, text) in &all {
            let code = text.split("#[cfg(test)]").next().unwrap_or_default();
            for line in code.lines().filter(|line| !line.trim_start().starts_with("//")) {
                for name in typed_part(line).map(names).unwrap_or_default() {
                    let is_good = OURS.contains(&name) || name.starts_with("typed_");
                    assert!(is_good, "{path}: {{{name}}} stands in: {}", line.trim());
                    seen += 1;
                }
            }
        }
        assert!(seen > 15, "only {seen} were looked at");
    }
}
