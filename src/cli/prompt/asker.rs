//! The hidden verb that asks one thing at the terminal, for [`super::Prompter`]: what to ask comes on
//! stdin, what was answered goes to stdout, and the person sees stderr.

use super::{Prompt, Reply};
use crate::cli::{Failure, file, terminal};
use inquire::error::InquireResult;
use inquire::list_option::ListOption;
use inquire::{InquireError, MultiSelect, Select, Text};
use std::io::{self, Read, Write};
use std::process::ExitCode;

/// Entries on screen at once; more are scrolled to.
const PAGE: usize = 12;

/// Nothing is typed after it.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Asks, and says what was answered.
pub(in crate::cli) fn run(_: Args) -> Result<ExitCode, Failure> {
    let mut text = String::new();
    io::stdin().read_to_string(&mut text).map_err(|error| Failure::io("stdin", &error))?;
    let prompt: Prompt = file::from_json(&text)?;
    // Keys come from the terminal that stderr is.
    let taken = rustix::stdio::dup2_stdin(rustix::stdio::stderr());
    taken.map_err(|error| Failure::io("the terminal", &error.into()))?;
    // Without whom nobody would hear the answer, nor give the terminal back.
    #[cfg(target_os = "linux")]
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))
        .map_err(|error| Failure::io("a prompt", &error.into()))?;
    // What was typed before it is on screen was not typed for it.
    terminal::forget_keys();
    let reply = match ask(&prompt) {
        Ok(reply) => reply,
        Err(InquireError::OperationCanceled) => Reply::Back,
        Err(InquireError::OperationInterrupted) => Reply::Interrupted,
        Err(error) => Reply::Failed(error.to_string()),
    };
    say(&reply);
    Ok(ExitCode::SUCCESS)
}

fn ask(prompt: &Prompt) -> InquireResult<Reply> {
    match prompt {
        Prompt::Choose { message, entries } => Select::new(message, entries.clone())
            .with_page_size(PAGE)
            .with_help_message("up and down, enter chooses, esc leaves")
            .without_filtering()
            .raw_prompt()
            .map(|chosen| Reply::Chosen(chosen.index)),
        Prompt::Mark { message, entries, marked } => MultiSelect::new(message, entries.clone())
            .with_page_size(PAGE)
            .with_default(marked)
            .with_help_message("space marks, enter goes on; with nothing marked: other ways")
            .with_formatter(&|marked: &[ListOption<&String>]| match marked.len() {
                0 => "none of them".to_owned(),
                _ => marked.iter().map(|one| one.value.as_str()).collect::<Vec<_>>().join("; "),
            })
            .without_filtering()
            .raw_prompt()
            .map(|marked| Reply::Marked(marked.into_iter().map(|one| one.index).collect())),
        Prompt::Write { message, initial } => Text::new(message)
            .with_initial_value(initial)
            .with_help_message("enter goes on, esc goes back")
            // Nothing is suggested: each change is told, so that nothing typed is ever lost.
            .with_autocomplete(|typed: &str| {
                say(&Reply::Typing(typed.to_owned()));
                Ok(Vec::new())
            })
            .prompt()
            .map(Reply::Written),
    }
}

fn say(reply: &Reply) {
    // Whoever started this is gone when it cannot be told, and then nobody waits for it.
    let told = serde_json::to_string(reply).map_err(io::Error::other).and_then(|line| {
        let mut stdout = io::stdout().lock();
        writeln!(stdout, "{line}").and_then(|()| stdout.flush())
    });
    if told.is_err() {
        terminal::Modes::now().restore();
    }
}
