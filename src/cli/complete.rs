//! What a shell is told while somebody types: the verbs and flags clap knows, and the ids and labels
//! of asks that are open now. It only looks: no daemon is started, nothing is marked as shown, and a
//! daemon that does not answer in time costs no more than an empty list.
//!
//! The script that makes a shell ask: [`completions`](super::completions).

use super::Context;
use super::help::command;
use super::look::Look;
use super::render::lay::cut;
use super::shell;
use crate::ask::{AskId, text};
use crate::grpc::v1;
use clap::Command;
use clap::builder::StyledStr;
use clap_complete::CompleteEnv;
use clap_complete::engine::{self, ArgValueCompleter, CompletionCandidate};
use clap_complete::env::{self, EnvCompleter, Shells};
use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;
use tokio::time::timeout;

/// The variable by which a shell says that it asks, and which shell it is.
pub(super) const VAR: &str = "ASKWAY_COMPLETE";
/// How long the daemon may take: longer, and a key press feels stuck.
const BUDGET: Duration = Duration::from_millis(150);
/// Columns of the words beside a candidate: a shell shows them on one line.
const HELP_COLUMNS: usize = 61;

/// Tells the shell what could stand there, where it is a shell that asks; gives whether it was.
///
/// # Errors
///
/// When the shell is none we know.
pub(super) fn told(arguments: &[OsString]) -> Result<bool, clap::Error> {
    let here = std::env::current_dir().ok();
    let typed = typed_id(arguments);
    let complete = CompleteEnv::with_factory(|| live(command(), "", typed.as_deref()));
    let complete = complete.shells(shells());
    complete.var(VAR).bin("askway").try_complete(arguments.iter().cloned(), here.as_deref())
}

/// The shells there is a script for.
pub(super) fn shells() -> Shells<'static> {
    Shells(&[&Bash, &env::Fish, &env::Zsh])
}

/// bash, which puts what it is given on the line as it is: so it is given words that are quoted, by a
/// script that expands nothing in them. It shows nothing beside a candidate: where it lists several and
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
        let script = SCRIPT.replace("PROGRAM", &completer).replace("VAR", var);
        write!(buf, "{}", script.replace("NAME", name).replace("BIN", bin))
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
                *begun = unescaped(text).into();
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

    /// How `value` is typed there; none where that cannot be done soundly. In backquotes, which the line
    /// does not show, a backquote or backslash means something even in single quotes.
    fn typed(self, value: &str) -> Option<String> {
        if shell::is_plain(value) {
            return Some(value.to_owned());
        }
        let value = Some(value).filter(|value| !value.contains(['`', '\\']))?;
        let word = shell::word(value)?;
        match self {
            Stands::Alone => Some(word.into_owned()),
            Stands::Quoted => Some(value.to_owned()).filter(|value| !value.contains('\'')),
            Stands::Anywhere => None,
        }
    }
}

/// A word that was begun without quotes, as the shell would read it.
fn unescaped(begun: &str) -> String {
    let mut text = String::new();
    let mut characters = begun.chars();
    while let Some(c) = characters.next() {
        text.extend(if c == '\\' { characters.next() } else { Some(c) });
    }
    text
}

/// `command` with what is open for its ids and labels, and the same for the verbs below it.
fn live(command: Command, verb: &str, typed: Option<&str>) -> Command {
    let names: Vec<_> = command.get_subcommands().map(|sub| sub.get_name().to_owned()).collect();
    let command = names
        .iter()
        .fold(command, |command, name| command.mut_subcommand(name, |sub| live(sub, name, typed)));
    let scope = scope(verb);
    command.mut_args(|argument| match (argument.get_id().as_str(), typed.map(str::to_owned)) {
        ("id", _) => argument.add(ArgValueCompleter::new(move |begun: &OsStr| ids(begun, scope))),
        ("labels", Some(typed)) => {
            let offered = move |begun: &OsStr| labels_of(&typed, begun);
            argument.add(ArgValueCompleter::new(offered))
        }
        _ => argument,
    })
}

/// Which asks a verb is about: a few words before one is typed spare a search in a long list.
fn scope(verb: &str) -> v1::AskScope {
    match verb {
        "reply" | "withdraw" => v1::AskScope::Mine,
        _ => v1::AskScope::Visible,
    }
}

/// The ids of open asks that begin like `begun`, each with its question. As an id may be typed without
/// its `ask_`, so it is completed.
fn ids(begun: &OsStr, scope: v1::AskScope) -> Vec<CompletionCandidate> {
    let Some(begun) = begun.to_str() else { return Vec::new() };
    let asks = look(async |context| context.client.list_asks(scope).await.ok());
    let fitting = |ask: v1::Ask| {
        let id = fitting(&ask.id, begun)?;
        Some(CompletionCandidate::new(id).help(Some(beside(&of_ask(&ask)))))
    };
    asks.unwrap_or_default().into_iter().filter_map(fitting).collect()
}

/// As much of an id as completes `begun`.
fn fitting<'a>(id: &'a str, begun: &str) -> Option<&'a str> {
    let short = id.strip_prefix(AskId::PREFIX).unwrap_or(id);
    if id.starts_with(begun) { Some(id) } else { short.starts_with(begun).then_some(short) }
}

/// The labels that the ask of `id` offers and that begin like `begun`, each with what it would mean.
fn labels_of(id: &str, begun: &OsStr) -> Vec<CompletionCandidate> {
    let Some(begun) = begun.to_str() else { return Vec::new() };
    let ask = look(async |context| context.read(id).await.ok());
    let questions = ask.map(|ask| ask.questions).unwrap_or_default();
    let options = questions.into_iter().flat_map(|question| question.options);
    let fits = |option: &v1::Option| {
        // A label that looks like a flag would be read as one.
        let is_flag = option.label.starts_with('-');
        !is_flag && option.label.starts_with(begun) && text::is_one_safe_line(&option.label)
    };
    options
        .filter(fits)
        .map(|option| {
            CompletionCandidate::new(&option.label).help(Some(beside(&option.description)))
        })
        .collect()
}

/// What `read` sees of the daemon within the budget; nothing where there is none.
fn look<T>(read: impl AsyncFnOnce(Context) -> Option<T>) -> Option<T> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().ok()?;
    let seen = runtime.block_on(async {
        let context = Context::of_environment(None).ok()?;
        timeout(BUDGET, read(context)).await.ok().flatten()
    });
    runtime.shutdown_background();
    seen
}

/// The ask that was typed before what is completed now: whole, or as what follows the verb.
fn typed_id(arguments: &[OsString]) -> Option<String> {
    let typed: Vec<_> = arguments.iter().filter_map(|argument| argument.to_str()).collect();
    let after_verb = typed.iter().skip_while(|word| **word != "answer").skip(1);
    let mut after_verb = after_verb.filter(|word| !word.starts_with('-'));
    let whole = typed.iter().find(|word| word.starts_with(AskId::PREFIX));
    whole.or_else(|| after_verb.next()).filter(|word| !word.is_empty()).map(ToString::to_string)
}

fn of_ask(ask: &v1::Ask) -> String {
    let first = ask.questions.first();
    first
        .map(|question| match question.header.is_empty() {
            true => question.question.clone(),
            false => format!("{}: {}", question.header, question.question),
        })
        .unwrap_or_default()
}

/// `words` as one short line: agents wrote them, and shells print them.
fn beside(words: &str) -> StyledStr {
    let ellipsis = Look::of_stdout().ellipsis();
    StyledStr::from(cut(&text::visible_line(words), HELP_COLUMNS, ellipsis).into_owned())
}

#[cfg(test)]
mod tests {
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
        assert_eq!(typed("it's"), [some(r"'it'\''s'"), None, None]);
        for unsound in ["a`x`", "a\\;x", "a\nb"] {
            assert_eq!(typed(unsound), [None, None, None], "{unsound}");
        }
        assert_eq!(unescaped(r"Pg\ 1\\\"), r"Pg 1\");
    }

    #[test]
    fn words_beside_a_candidate_are_one_short_clean_line() {
        let shown = beside(&format!("a\u{1b}[31mb\nc{}", "d".repeat(99))).to_string();
        assert!(shown.starts_with("a\\u{1b}[31mb\\nc") && shown.ends_with("d…"), "{shown}");
        assert_eq!(shown.chars().count(), HELP_COLUMNS);
    }

    #[test]
    fn the_ask_that_was_typed_is_found_wherever_it_stands() {
        let line = |words: &[&str]| words.iter().map(OsString::from).collect::<Vec<_>>();
        let of = |words: &[&str]| typed_id(&line(words));
        assert_eq!(
            of(&["askway", "--", "askway", "answer", "ask_8f3k", "S"]),
            Some("ask_8f3k".into())
        );
        assert_eq!(of(&["askway", "--", "askway", "answer", ""]), None);
        assert_eq!(of(&["askway", "--", "askway", "answer", "8f3k", ""]), Some("8f3k".into()));
    }

    #[test]
    fn an_id_is_completed_as_it_was_begun() {
        let id = "ask_k3f9ab1200000000000g";
        assert_eq!(fitting(id, ""), Some(id));
        assert_eq!(fitting(id, "ask_k3"), Some(id));
        assert_eq!(fitting(id, "k3"), Some(&id[4..]));
        assert_eq!(fitting(id, "x"), None);
    }
}
