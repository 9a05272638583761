//! What a shell is told while somebody types: the verbs and flags clap knows, and the ids and labels
//! of asks that are open now. It only looks: no daemon is started, nothing is marked as shown, and a
//! daemon that does not answer in time costs no more than an empty list.
//!
//! The script that makes a shell ask: [`completions`](super::completions). How a word is put on the line
//! of each shell: `shells`.

mod shells;

use super::Context;
use super::help::command;
use super::look::Look;
use super::render::lay::cut;
use crate::ask::{AskId, text};
use crate::grpc::v1;
use clap::Command;
use clap::builder::StyledStr;
use clap_complete::CompleteEnv;
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate};
pub(super) use shells::shells;
use std::ffi::{OsStr, OsString};
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
