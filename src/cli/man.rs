//! `askway man`: the manual, made of the same words as `--help`.

use super::help::command;
use super::render::Out;
use super::{Exit, Failure};
use clap::Command;
use clap_mangen::Man;
use std::fs;
use std::path::PathBuf;

/// Print the manual page of a verb, or write all of them to a folder
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  askway man | man -l -
  askway man answer | man -l -
  askway man --out ~/.local/share/man/man1")]
#[group(skip)]
pub struct Args {
    /// The verb, as in `answer` or `session ls`; the program itself where none is named
    #[arg(conflicts_with = "out")]
    verb: Vec<String>,
    /// Write every page into this folder; it is made where it is not there
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Prints the page, or writes all.
pub(super) fn run(args: Args, out: &mut Out) -> Result<Exit, Failure> {
    let mut program = command().disable_help_subcommand(true);
    program.build();
    if let Some(folder) = args.out {
        let failed = |error| Failure::io(format!("{} cannot be written", folder.display()), &error);
        fs::create_dir_all(&folder).map_err(failed)?;
        clap_mangen::generate_to(program, &folder).map_err(failed)?;
        out.note(&format!("next: man {}/askway.1", folder.display()));
        return Ok(Exit::Done);
    }
    let page = verb(&program, &args.verb)?;
    let mut text = Vec::new();
    Man::new(page.clone())
        .render(&mut text)
        .map_err(|error| Failure::io("the page could not be made", &error))?;
    out.line(String::from_utf8_lossy(&text).trim_end())?;
    out.flush()?;
    Ok(Exit::Done)
}

/// The verb of these words.
fn verb<'a>(program: &'a Command, words: &[String]) -> Result<&'a Command, Failure> {
    words.iter().try_fold(program, |command, word| {
        command.find_subcommand(word).filter(|found| !found.is_hide_set()).ok_or_else(|| {
            Failure::usage(format!("`{word}` is no verb of {}", command.get_name()))
                .then("askway --help")
        })
    })
}
