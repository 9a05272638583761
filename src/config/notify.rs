//! The table of `askway.toml` that says how people are told that an ask waits on them:
//!
//! ```toml
//! [notify]
//! command = ["notify-send", "--", "{header}", "{question}"]
//! ```
//!
//! A list of arguments, never a line for a shell. Placeholders are replaced in one pass, each within
//! its own argument: what is put in is never looked at again, and never becomes another argument.
//! What they stand for, and how the command is run: [`serve`](crate::serve).

use super::Faults;
use super::file::{Node, Source};
use std::fmt;
use std::path::Path;
use toml::de::DeTable;

/// Arguments of the command, itself included: as many as a person writes.
pub const ARGUMENTS: usize = 64;
/// What a program may take a text for that begins with it: an option, or a file whose content is
/// meant (`curl`).
const MEANS_MORE: [char; 3] = ['-', '+', '@'];
/// Programs that run what is given after one of their options.
const INTERPRETERS: [&str; 17] = [
    "sh",
    "bash",
    "dash",
    "ash",
    "zsh",
    "ksh",
    "fish",
    "busybox",
    "python",
    "perl",
    "ruby",
    "node",
    "env",
    "su",
    "php",
    "lua",
    "osascript",
];
/// Programs that run what they are given, or have a shell elsewhere run it.
const RUNNERS: [&str; 8] = ["ssh", "watch", "xargs", "eval", "parallel", "awk", "gawk", "mawk"];

/// What is run to tell people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hook {
    /// The program, and what it is given; never empty.
    pub command: Vec<Argument>,
}

/// One argument: text, and what is put in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument(Vec<Piece>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    Of(Placeholder),
}

/// What can be put in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placeholder {
    /// The ask's id, whole.
    Id,
    /// The header of its first question, and how many more there are.
    Header,
    /// Its first question.
    Question,
    /// Who asks: agent and session.
    Asker,
    /// Who asks: the agent alone.
    Agent,
    /// How much it matters to the asker: low, normal or high.
    Priority,
    /// Whom it waits on, by name.
    People,
    /// Why it waits on them, or why they are told again, in words.
    Reason,
    /// The same in one word: came, replied, unclaimed or settled.
    Notice,
}

impl Placeholder {
    /// All there are, with their names.
    pub const ALL: [(&'static str, Placeholder); 9] = [
        ("id", Placeholder::Id),
        ("header", Placeholder::Header),
        ("question", Placeholder::Question),
        ("asker", Placeholder::Asker),
        ("agent", Placeholder::Agent),
        ("priority", Placeholder::Priority),
        ("people", Placeholder::People),
        ("reason", Placeholder::Reason),
        ("notice", Placeholder::Notice),
    ];
}

impl Argument {
    /// What is written, read; `{{` and `}}` stand for braces.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub fn read(text: &str) -> Result<Self, String> {
        let mut pieces = Vec::new();
        let mut plain = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}', '\0']) {
            plain.push_str(&rest[..at]);
            let from = &rest[at..];
            if from.starts_with('\0') {
                return Err("must not hold a zero byte".to_owned());
            }
            if from.starts_with("{{") || from.starts_with("}}") {
                plain.push_str(&from[..1]);
                rest = &from[2..];
                continue;
            }
            let Some((name, end)) = from.strip_prefix('{').and_then(|name| name.split_once('}'))
            else {
                let brace = &from[..1];
                return Err(format!("has a stray {brace}; {brace}{brace} stands for one"));
            };
            let known = Placeholder::ALL.iter().find(|(known, _)| *known == name);
            let Some((_, placeholder)) = known else {
                let names: Vec<_> =
                    Placeholder::ALL.iter().map(|(name, _)| format!("{{{name}}}")).collect();
                let name = crate::ask::text::brief(name);
                return Err(format!("has no {{{name}}} to put in; there are {}", names.join(" ")));
            };
            if !plain.is_empty() {
                pieces.push(Piece::Text(std::mem::take(&mut plain)));
            }
            pieces.push(Piece::Of(*placeholder));
            rest = end;
        }
        plain.push_str(rest);
        if !plain.is_empty() || pieces.is_empty() {
            pieces.push(Piece::Text(plain));
        }
        Ok(Self(pieces))
    }

    /// The argument with `value` put in for each placeholder. What begins it and is put in is never
    /// taken for an option, nor for the name of a file to send: a space goes before it.
    pub fn fill(&self, value: impl Fn(Placeholder) -> String) -> String {
        let mut filled = String::new();
        for piece in &self.0 {
            match piece {
                Piece::Text(text) => filled.push_str(text),
                Piece::Of(placeholder) => {
                    let value = value(*placeholder);
                    if filled.is_empty() && value.starts_with(MEANS_MORE) {
                        filled.push(' ');
                    }
                    filled.push_str(&value);
                }
            }
        }
        filled
    }

    fn is_plain(&self) -> bool {
        self.0.iter().all(|piece| matches!(piece, Piece::Text(_)))
    }
}

/// As it was written.
impl fmt::Display for Argument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for piece in &self.0 {
            match piece {
                Piece::Text(text) => f.write_str(text)?,
                Piece::Of(wanted) => {
                    let name = Placeholder::ALL.iter().find(|(_, known)| known == wanted);
                    write!(f, "{{{}}}", name.map_or("", |(name, _)| name))?;
                }
            }
        }
        Ok(())
    }
}

/// The hook of the file; none where there is none. What is wrong with it goes to `faults`.
pub(super) fn read(root: &DeTable<'_>, source: Source<'_>, faults: &mut Faults) -> Option<Hook> {
    let table = Node::of(root, "notify")?;
    let mut fault = |node: &Node<'_>, message: String| faults.add(node.place(source), message);
    let Some(entries) = table.entries() else {
        fault(&table, "must be a table, [notify]; its key is command".to_owned());
        return None;
    };
    for (_, other) in entries.iter().filter(|(name, _)| *name != "command") {
        fault(other, "is no key; the key is command".to_owned());
    }
    let Some(node) = table.get("command") else {
        fault(&table, "needs command, a list: the program and its arguments".to_owned());
        return None;
    };
    let Some(items) = node.items().filter(|items| !items.is_empty()) else {
        let message = "must be a list in brackets, the program and its arguments: it is no line \
                       for a shell";
        fault(&node, message.to_owned());
        return None;
    };
    if items.len() > ARGUMENTS {
        fault(&node, format!("has {}, and at most {ARGUMENTS} may be", items.len()));
    }
    let mut command = Vec::new();
    for item in &items {
        match item.text().ok_or("must be a string, in quotes".to_owned()).and_then(Argument::read) {
            Ok(argument) => command.push(argument),
            Err(message) => fault(item, message),
        }
    }
    if command.len() < items.len() {
        return None;
    }
    if let Err(message) = is_program(&command[0]) {
        fault(&items[0], message);
    }
    if let Some(script) = script(&command) {
        let message = "would run what is put in: give it to the script as an argument of its own, \
                       after the script (\"$1\", sys.argv[1])";
        fault(&items[script], message.to_owned());
    }
    Some(Hook { command })
}

/// A program is named by its whole path, or looked for on PATH.
fn is_program(argument: &Argument) -> Result<(), String> {
    let name = argument.to_string();
    if !argument.is_plain() {
        return Err("is the program, and nobody else says which: no placeholder here".to_owned());
    }
    if name.is_empty() {
        return Err("must name a program".to_owned());
    }
    if name.contains('/') && !Path::new(&name).is_absolute() {
        let message = "must be a program on PATH, or its whole path from / on";
        return Err(format!("{message}; it is `{name}`"));
    }
    Ok(())
}

/// The argument that is a script for an interpreter, and has something put in.
fn script(command: &[Argument]) -> Option<usize> {
    let is_one_of = |argument: &Argument, programs: &[&str]| {
        let text = argument.to_string();
        let name = Path::new(&text).file_name().and_then(|name| name.to_str());
        // python3.13 is one too.
        let name = name.map(|name| name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.'));
        name.is_some_and(|name| programs.contains(&name))
    };
    let filled = |from: usize| (from..command.len()).find(|at| !command[*at].is_plain());
    if let Some(runner) = command.iter().position(|argument| is_one_of(argument, &RUNNERS)) {
        return filled(runner + 1);
    }
    let begun = command.iter().position(|argument| is_one_of(argument, &INTERPRETERS))?;
    let options = command.iter().map(ToString::to_string).enumerate().skip(begun + 1);
    let mut scripts = options.filter_map(|(at, option)| {
        // `-c SCRIPT`, and what has the script in the same word: `-Sscript`, `--split-string=script`.
        let is_option = option.starts_with('-');
        let next =
            option.starts_with("--") || (is_option && option.ends_with(['c', 'e', 'r', 'S']));
        let script = if is_option && !command[at].is_plain() { Some(at) } else { None };
        script.or((next && at + 1 < command.len()).then_some(at + 1))
    });
    scripts.find(|at| !command[*at].is_plain())
}
