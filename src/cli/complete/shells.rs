//! The shells that can be told what could stand there: how each is asked to ask, how it hands over what
//! was begun, and how a word must be spelled that it puts on the line.

use crate::ask::text;
use crate::cli::shell;
use clap::Command;
use clap_complete::engine;
use clap_complete::env::{self, EnvCompleter, Shells};
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::Path;

/// The shells there is a script for.
pub(in crate::cli) fn shells() -> Shells<'static> {
    Shells(&[
        &Bash,
        &Quoting { shell: &env::Fish, escapes: true },
        &Quoting { shell: &env::Zsh, escapes: false },
    ])
}

/// A shell that quotes what it puts on the line, and hands over what was begun as it stands there: so that
/// is read as the shell would.
struct Quoting {
    shell: &'static dyn EnvCompleter,
    /// Whether a backslash means something in its single quotes.
    escapes: bool,
}

impl EnvCompleter for Quoting {
    fn name(&self) -> &'static str {
        self.shell.name()
    }

    fn is(&self, name: &str) -> bool {
        self.shell.is(name)
    }

    fn write_registration(
        &self,
        var: &str,
        name: &str,
        bin: &str,
        completer: &str,
        buf: &mut dyn Write,
    ) -> io::Result<()> {
        self.shell.write_registration(var, name, bin, completer, buf)
    }

    fn write_complete(
        &self,
        cmd: &mut Command,
        mut args: Vec<OsString>,
        current_dir: Option<&Path>,
        buf: &mut dyn Write,
    ) -> io::Result<()> {
        // zsh says which word it is; for fish it is the last.
        let last = args.len().saturating_sub(1);
        let index = std::env::var("_CLAP_COMPLETE_INDEX").ok().and_then(|index| index.parse().ok());
        if let Some(begun) = args.get_mut(index.unwrap_or(last))
            && let Some(text) = begun.to_str()
        {
            *begun = as_read(text, self.escapes).into();
        }
        self.shell.write_complete(cmd, args, current_dir, buf)
    }
}

/// bash, which puts what it is given on the line as it is: so it is given words that are quoted, by a
/// script that expands nothing in them. The other shells quote what they are given by themselves. It shows nothing beside a candidate: where it lists several and
/// inserts none, what they mean stands behind each.
struct Bash;

impl EnvCompleter for Bash {
    fn name(&self) -> &'static str {
        env::Bash.name()
    }

    fn is(&self, name: &str) -> bool {
        env::Bash.is(name)
    }

    fn write_registration(
        &self,
        var: &str,
        name: &str,
        bin: &str,
        completer: &str,
        buf: &mut dyn Write,
    ) -> io::Result<()> {
        let completer = shell::word(completer);
        let completer = completer.ok_or_else(|| io::Error::other("its path cannot be typed"))?;
        // The path last: it may hold any of the other words.
        let script = SCRIPT.replace("VAR", var).replace("NAME", name).replace("BIN", bin);
        write!(buf, "{}", script.replace("PROGRAM", &completer))
    }

    fn write_complete(
        &self,
        cmd: &mut Command,
        mut args: Vec<OsString>,
        current_dir: Option<&Path>,
        buf: &mut dyn Write,
    ) -> io::Result<()> {
        let variable = |name: &str| std::env::var(name).ok();
        // What bash calls `?`: it lists after a second tab.
        let lists = variable("_CLAP_COMPLETE_COMP_TYPE").is_some_and(|code| code == "63");
        let index = variable("_CLAP_COMPLETE_INDEX").and_then(|index| index.parse().ok());
        let index: usize = index.unwrap_or_default();
        let mut stands = Stands::Anywhere;
        if let Some(begun) = args.get_mut(index) {
            let text = begun.to_str().unwrap_or_default();
            stands = Stands::of(variable(LINE_VAR).as_deref().unwrap_or_default(), text);
            if stands == Stands::Alone {
                *begun = as_read(text, false).into();
            }
        }
        let mut all: Vec<(String, String)> = Vec::new();
        for candidate in engine::complete(cmd, args, index, current_dir)? {
            let value = candidate.get_value().to_str().and_then(|value| stands.typed(value));
            let help = candidate.get_help().map(ToString::to_string).unwrap_or_default();
            // The same twice would look like one alone, which is inserted with what stands beside it.
            if let Some(value) = value.filter(|value| all.iter().all(|(known, _)| known != value)) {
                all.push((value, help));
            }
        }
        let several = all.len() > 1;
        let line = |(value, help): &(String, String)| match lists && several && !help.is_empty() {
            true => format!("{value}  ({})", text::visible_line(help)),
            false => value.clone(),
        };
        let lines: Vec<_> = all.iter().map(line).collect();
        let parted = variable("_CLAP_IFS").unwrap_or_else(|| "\n".to_owned());
        write!(buf, "{}", lines.join(&parted))
    }
}

/// The variable in which our script hands over the line up to the cursor.
const LINE_VAR: &str = "_ASKWAY_LINE";

/// What bash evaluates. The words are read, not expanded: to a pattern in one, a file may answer.
const SCRIPT: &str = r#"_NAME_complete() {
    local all parted=$'\013'
    local words=("${COMP_WORDS[@]}")
    words[COMP_CWORD]=$2
    COMPREPLY=()
    all=$(
        export VAR=bash _ASKWAY_LINE="${COMP_LINE:0:COMP_POINT}" _CLAP_IFS="$parted"
        export _CLAP_COMPLETE_INDEX="$COMP_CWORD" _CLAP_COMPLETE_COMP_TYPE="$COMP_TYPE"
        PROGRAM -- "${words[@]}"
    ) || return
    [[ -n $all ]] || return 0
    IFS=$parted read -r -d '' -a COMPREPLY < <(printf '%s' "$all")
    [[ ${COMPREPLY[0]-} != *[=/:] ]] || compopt -o nospace 2> /dev/null
    return 0
}
complete -o bashdefault -o nosort -F _NAME_complete BIN 2> /dev/null ||
    complete -o bashdefault -F _NAME_complete BIN
"#;

/// Where the word stands that is completed: what was typed before it says how a word may be put there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stands {
    /// A word of its own, in no quotes.
    Alone,
    /// Behind a single quote that begins the word; bash closes it.
    Quoted,
    /// In quotes of another kind, amid a word, or it is not known.
    Anywhere,
}

impl Stands {
    fn of(line: &str, begun: &str) -> Self {
        let before = line.strip_suffix(begun).unwrap_or_default();
        let is_blank = |text: &str| text.ends_with([' ', '\t']);
        match before.strip_suffix('\'') {
            _ if is_blank(before) => Stands::Alone,
            Some(rest) if is_blank(rest) && !rest.contains(['\'', '"', '\\']) => Stands::Quoted,
            _ => Stands::Anywhere,
        }
    }

    /// How `value` is typed there; none where that cannot be done soundly.
    fn typed(self, value: &str) -> Option<String> {
        if shell::is_plain(value) {
            return Some(value.to_owned());
        }
        // What cannot be typed as it is shown is not put there either.
        let word = shell::word(value)?;
        match self {
            Stands::Alone if value.contains(BY_NUMBER) => Some(by_number(value)),
            Stands::Alone => Some(word.into_owned()),
            Stands::Quoted => Some(within_quotes(value)),
            Stands::Anywhere => None,
        }
    }
}

/// What means something even in single quotes where these are in backquotes, which the line does not
/// show: so it is spelled by its number there.
const BY_NUMBER: [char; 2] = ['`', '\\'];

/// `value` as one word of bash in which a quote, a backquote and a backslash stand by their numbers; and
/// `!`, of which bash before 4.4 makes an event of its history there.
fn by_number(value: &str) -> String {
    let spelled = |c: char| match c {
        '`' | '\\' | '\'' | '!' => format!("\\x{:02x}", u32::from(c)),
        c => c.to_string(),
    };
    format!("$'{}'", value.chars().map(spelled).collect::<String>())
}

/// The same behind a single quote that begins the word, and before one that ends it.
fn within_quotes(value: &str) -> String {
    let spelled = |c: char| match c {
        '`' | '\\' => format!("'$'\\x{:02x}''", u32::from(c)),
        '\'' => r"'\''".to_owned(),
        c => c.to_string(),
    };
    value.chars().map(spelled).collect()
}

/// A word that was begun, in quotes that may not have ended yet, as a shell would read it; in single
/// quotes a backslash may be one that `escapes`.
fn as_read(begun: &str, escapes: bool) -> String {
    let (mut text, mut quote) = (String::new(), None);
    let mut characters = begun.chars().peekable();
    while let Some(c) = characters.next() {
        match (c, quote) {
            ('\\', None) => text.extend(characters.next()),
            ('\\', Some('"')) if characters.peek().is_some_and(|c| "\"\\$`".contains(*c)) => {
                text.extend(characters.next());
            }
            ('\\', Some('\''))
                if escapes && characters.peek().is_some_and(|c| "'\\".contains(*c)) =>
            {
                text.extend(characters.next());
            }
            ('\'' | '"', None) => quote = Some(c),
            (c, Some(end)) if c == end => quote = None,
            (c, _) => text.push(c),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::VAR;
    use super::*;

    #[test]
    fn a_word_is_put_on_the_line_only_as_it_can_stand_there() {
        for (line, begun, stands) in [
            ("askway answer ask_1 z", "z", Stands::Alone),
            ("askway answer ask_1 ", "", Stands::Alone),
            (r"askway answer ask_1 Pg\ 1", r"Pg\ 1", Stands::Alone),
            ("askway answer ask_1 'z", "z", Stands::Quoted),
            ("askway answer ask_1 ''z", "z", Stands::Anywhere),
            ("askway answer ask_1 --text 'a' 'z", "z", Stands::Anywhere),
            ("askway answer ask_1 \"z", "z", Stands::Anywhere),
            ("askway answer ask_1 x'z", "z", Stands::Anywhere),
            ("askway answer ask_1 a:z", "z", Stands::Anywhere),
            ("askway answer ask_1 z", "y", Stands::Anywhere),
            ("", "z", Stands::Anywhere),
        ] {
            assert_eq!(Stands::of(line, begun), stands, "{line}");
        }
        let typed =
            |value| [Stands::Alone, Stands::Quoted, Stands::Anywhere].map(|s| s.typed(value));
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(typed("Postgres"), [some("Postgres"), some("Postgres"), some("Postgres")]);
        assert_eq!(typed("z$(x)"), [some("'z$(x)'"), some("z$(x)"), None]);
        assert_eq!(typed("it's"), [some(r"'it'\''s'"), some(r"it'\''s"), None]);
        assert_eq!(typed("a`x`"), [some(r"$'a\x60x\x60'"), some(r"a'$'\x60''x'$'\x60''"), None]);
        assert_eq!(
            typed(r"it's\!"),
            [some(r"$'it\x27s\x5c\x21'"), some(r"it'\''s'$'\x5c''!"), None]
        );
        for unsound in ["a\nb", "p\u{430}y pal"] {
            assert_eq!(typed(unsound), [None, None, None], "{unsound}");
        }
    }

    #[test]
    fn a_word_is_the_same_to_bash_in_backquotes_and_outside_of_them() {
        for label in ["b`touch X`", "a\\`touch X\\`\\", "it's `x` \\'!!", "\\\\x60$(x)"] {
            for word in [by_number(label), format!("'{}'", within_quotes(label))] {
                let script = format!("printf '<%s>' {word}; printf '<%s>' \"`printf %s {word}`\"");
                let said = std::process::Command::new("bash").args(["-c", &script]).output();
                let said = String::from_utf8(said.expect("bash runs").stdout).expect("text");
                assert_eq!(said, format!("<{label}><{label}>"), "{word}");
            }
        }
    }

    #[test]
    fn a_path_of_the_program_stands_in_the_script_as_it_is() {
        let path = "/opt/BIN/VAR/NAME/askway";
        let mut script = Vec::new();
        Bash.write_registration(VAR, "askway", "askway", path, &mut script).expect("written");
        let script = String::from_utf8(script).expect("text");
        assert!(script.contains(path), "{script}");
    }

    #[test]
    fn what_was_begun_is_read_as_the_shell_would() {
        for (begun, read) in [
            (r"Pg\ 1\\\", r"Pg 1\"),
            ("'Pg 1", "Pg 1"),
            ("'Pg'\\ \"1", "Pg 1"),
            (r#""a\"b\c\$d"#, r#"a"b\c$d"#),
            ("ask_k3", "ask_k3"),
        ] {
            assert_eq!([as_read(begun, false), as_read(begun, true)], [read, read], "{begun}");
        }
        assert_eq!(as_read(r"'it\'s \x", true), r"it's \x", "as fish has it");
        assert_eq!(as_read(r"'it\'\''s", false), r"it\'s", "as others have it");
    }

    #[test]
    fn other_shells_are_asked_by_a_path_that_is_one_word() {
        for name in ["zsh", "fish"] {
            let shells = shells();
            let shell = shells.completer(name).expect("it is known");
            let mut script = Vec::new();
            let written =
                shell.write_registration(VAR, "askway", "askway", "/a b/askway", &mut script);
            written.expect("it is text");
            let script = String::from_utf8(script).expect("text");
            assert!(script.contains("'/a b/askway'") && script.contains(VAR), "{script}");
        }
    }
}
