//! The hidden verb that asks one thing at the terminal, for [`super::Prompter`]: what to ask comes on
//! stdin, what was answered goes to stdout, and the person sees stderr.

use super::keys::{self, Keys};
use super::{Prompt, Reply};
use crate::cli::look::Look;
use crate::cli::{Failure, file};
use inquire::error::InquireResult;
use inquire::list_option::ListOption;
use inquire::ui::{RenderConfig, Styled};
use inquire::{InquireError, MultiSelect, Select, Text};
use rustix::fs::{Mode, OFlags, open};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{OptionalActions, QueueSelector, Termios, tcflush, tcgetattr, tcsetattr};
use std::fs::File;
use std::io::{self, Read, Write};
use std::process::ExitCode;
use std::thread;

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
    // Without whom nobody would hear the answer, nor give the terminal back.
    #[cfg(target_os = "linux")]
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))
        .map_err(|error| Failure::io("a prompt", &error.into()))?;
    let taken = keys_pass(Keys::of(&prompt));
    let modes = taken.map_err(|error| Failure::io("the terminal", &error))?;
    // Esc goes back more often than it ends anything.
    let left = Styled::new("(esc)");
    let look = match Look::of_stderr().colour {
        true => RenderConfig::default_colored(),
        false => RenderConfig::empty(),
    };
    inquire::set_global_render_config(look.with_canceled_prompt_indicator(left));
    let reply = match ask(&prompt) {
        Ok(reply) => reply,
        Err(InquireError::OperationCanceled) => Reply::Back,
        Err(InquireError::OperationInterrupted) => Reply::Interrupted,
        Err(error) => Reply::Failed(error.to_string()),
    };
    // A terminal that is gone needs no modes.
    let _ = tcsetattr(rustix::stdio::stderr(), OptionalActions::Now, &modes);
    say(&reply);
    Ok(ExitCode::SUCCESS)
}

/// Lets the keys of the terminal that stderr is pass through `keys` into another, which is stdin from
/// now on. Gives the modes that the terminal had.
fn keys_pass(mut keys: Keys) -> io::Result<Termios> {
    let mut person = File::from(rustix::io::dup(rustix::stdio::stderr())?);
    let own = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
    grantpt(&own)?;
    unlockpt(&own)?;
    let flags = OFlags::RDWR | OFlags::NOCTTY;
    let other = open(ptsname(&own, Vec::new())?, flags, Mode::empty())?;
    let modes = tcgetattr(&person)?;
    let mut raw = modes.clone();
    raw.make_raw();
    tcsetattr(&person, OptionalActions::Now, &raw)?;
    tcsetattr(&other, OptionalActions::Now, &raw)?;
    rustix::stdio::dup2_stdin(&other)?;
    // What was typed before it is on screen was not typed for it.
    tcflush(&person, QueueSelector::IFlush)?;
    let mut own = File::from(own);
    // It ends with this process.
    thread::spawn(move || {
        // Kept open: where nobody holds the other side, what is written to this one is an error.
        let _other = other;
        let mut bytes = [0; 1_024];
        while let Ok(count @ 1..) = person.read(&mut bytes) {
            if own.write_all(&keys.pass(&bytes[..count])).is_err() {
                break;
            }
        }
    });
    Ok(modes)
}

fn ask(prompt: &Prompt) -> InquireResult<Reply> {
    match prompt {
        Prompt::Choose { message, entries } => Select::new(message, entries.clone())
            .with_page_size(PAGE)
            .with_help_message(match keys::numbered(entries) {
                0 => "up and down, enter chooses, esc leaves",
                _ => "up and down or a number, enter chooses, esc leaves",
            })
            .without_filtering()
            .raw_prompt()
            .map(|chosen| Reply::Chosen(chosen.index)),
        Prompt::Mark { message, entries, marked } => MultiSelect::new(message, entries.clone())
            .with_page_size(PAGE)
            .with_default(marked)
            .with_help_message("a number or arrows, space marks, enter goes on (none: other ways)")
            .with_formatter(&|marked: &[ListOption<&String>]| match marked.len() {
                0 => "none of them".to_owned(),
                _ => marked.iter().map(|one| one.value.as_str()).collect::<Vec<_>>().join("; "),
            })
            .without_filtering()
            .raw_prompt()
            .map(|marked| Reply::Marked(marked.into_iter().map(|one| one.index).collect())),
        Prompt::Write { message, initial, help } => Text::new(message)
            .with_initial_value(initial)
            .with_help_message(help)
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
    let _ = serde_json::to_string(reply).map_err(io::Error::other).and_then(|line| {
        let mut stdout = io::stdout().lock();
        writeln!(stdout, "{line}").and_then(|()| stdout.flush())
    });
}
