//! `askway man`: the manual, made of the same words as `--help`.

use super::help::command;
use super::render::Out;
use super::{Exit, Failure, shell};
use clap::Command;
use clap_mangen::Man;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

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
        write_all(&program, &folder).map_err(failed)?;
        let page = folder.join("askway.1");
        let typed_page = shell::word_or(&page.to_string_lossy(), "FILE");
        out.note(&format!("next: man {typed_page}"));
        return Ok(Exit::Done);
    }
    let mut text = Vec::new();
    page(verb(&program, &args.verb)?, &mut text)
        .map_err(|error| Failure::io("the page could not be made", &error))?;
    out.line(String::from_utf8_lossy(&text).trim_end())?;
    out.flush()?;
    Ok(Exit::Done)
}

/// The page of `program` and of every verb below it, each in a file.
fn write_all(program: &Command, folder: &Path) -> io::Result<()> {
    let file = folder.join(Man::new(program.clone()).get_filename());
    page(program, &mut fs::File::create(file)?)?;
    let mut shown = program.get_subcommands().filter(|verb| !verb.is_hide_set());
    shown.try_for_each(|verb| write_all(verb, folder))
}

/// The page of a verb. What stands below its flags is told apart: examples stay line by line.
fn page(verb: &Command, to: &mut dyn Write) -> io::Result<()> {
    let man = Man::new(verb.clone()).manual("askway");
    let man = man.source(format!("askway {}", env!("CARGO_PKG_VERSION")));
    man.render_title(to)?;
    man.render_name_section(to)?;
    man.render_synopsis_section(to)?;
    man.render_description_section(to)?;
    man.render_options_section(to)?;
    if verb.get_subcommands().any(|below| !below.is_hide_set()) {
        man.render_subcommands_section(to)?;
    }
    let below = verb.get_after_help().map(ToString::to_string).unwrap_or_default();
    let (examples, notes) = examples(&below);
    for (title, lines) in [("EXAMPLES", examples), ("NOTES", notes)] {
        if lines.iter().any(|line| !line.is_empty()) {
            writeln!(to, ".SH {title}")?;
            section(&lines, to)?;
        }
    }
    Ok(())
}

/// The lines of what stands below the flags: the examples, and what follows them.
fn examples(below: &str) -> (Vec<&str>, Vec<&str>) {
    let Some((before, after)) = below.split_once("Examples:\n") else {
        return (Vec::new(), below.lines().collect());
    };
    let is_example = |line: &&str| line.starts_with("  ");
    let examples = after.lines().take_while(is_example);
    let notes = before.lines().chain(after.lines().skip_while(is_example));
    (examples.collect(), notes.skip_while(|line| line.is_empty()).collect())
}

/// Indented lines as they are, the others filled.
fn section(lines: &[&str], to: &mut dyn Write) -> io::Result<()> {
    let mut is_kept = false;
    for line in lines {
        if line.starts_with("  ") != is_kept {
            is_kept = !is_kept;
            writeln!(to, "{}", if is_kept { ".nf" } else { ".fi" })?;
        }
        match line.is_empty() {
            true => writeln!(to, ".PP")?,
            false => writeln!(to, "{}", escaped(line))?,
        }
    }
    if is_kept { writeln!(to, ".fi") } else { Ok(()) }
}

/// A line that roff takes for text, with dashes that can be pasted.
fn escaped(line: &str) -> String {
    let line = line.replace('\\', "\\e").replace('-', "\\-").replace('\'', "\\(aq");
    if line.starts_with('.') { format!("\\&{line}") } else { line }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_stay_line_by_line_and_are_told_from_notes() {
        let (examples, notes) = examples("Examples:\n  a --b\n  c 'd'\n\nWords:\n  e\n");
        assert_eq!(
            (&examples[..], &notes[..]),
            (&["  a --b", "  c 'd'"][..], &["Words:", "  e"][..])
        );
        let mut page = Vec::new();
        section(&examples, &mut page).expect("written");
        let page = String::from_utf8(page).expect("text");
        assert_eq!(page, ".nf\n  a \\-\\-b\n  c \\(aqd\\(aq\n.fi\n");
        assert_eq!(escaped(".x\\"), "\\&.x\\e");
    }
}
