//! The program as clap knows it, with what stands below the flags of a verb.

use super::exit::{help_of, verb_typed};
use super::{Cli, Exit, Failure, render};
use clap::CommandFactory;
use clap::error::ErrorKind;
use std::io::Write;
use std::process::ExitCode;

/// Below the verbs.
pub(super) const PROGRAM: &str = "\
The caller is whoever the token in ASKWAY_TOKEN, or in the file ASKWAY_TOKEN_FILE, stands for; where
neither is set, the person whose token the data folder holds: owner, or whom --as-person or
ASKWAY_PERSON names. ASKWAY_ADDR says where the daemon is (unix:PATH or
http://127.0.0.1:PORT), ASKWAY_DATA where the data folder is.

Exit codes: 0 done, answered, or expired with your default, 1 unexpected, 2 typed wrongly, 3 declined,
4 expired, withdrawn or abandoned: do not go on, 5 still open, 6 settled before by somebody else,
7 refused, 8 not found, 9 daemon or store unavailable: try again, 10 somebody spoke: reply and wait
again, 130 interrupted.";

/// The program as it is parsed, completed and put in the manual. What stands below the flags of a verb
/// is wrapped by whoever shows it, as wide as it is there.
pub(super) fn command() -> clap::Command {
    whole_paragraphs(Cli::command())
}

/// Which verbs there are, below the verb of this name where it has some.
pub(super) fn verbs_there_are(below: Option<&str>) -> String {
    let program = command();
    let found = below.and_then(|name| program.find_subcommand(name));
    let parent = found.filter(|verb| verb.has_subcommands()).unwrap_or(&program);
    let shown = parent.get_subcommands().filter(|verb| !verb.is_hide_set());
    let names: Vec<_> = shown.map(clap::Command::get_name).collect();
    format!("there are {}", names.join(", "))
}

/// Prints what clap has to say: help and version are no errors.
pub(super) fn typed_wrongly(error: &clap::Error, json: bool) -> ExitCode {
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        // Nobody is left to be told when even this cannot be written.
        let _ = error.print();
        return Exit::Done.into();
    }
    if json {
        render::failure(&Failure::of_clap(error), json);
    } else {
        let _ = error.print();
        if error.kind() == ErrorKind::InvalidSubcommand {
            tell_verbs(verb_typed(error).as_deref());
        }
    }
    Exit::Usage.into()
}

/// Says the same to whoever has read what clap says of a verb that there is not.
fn tell_verbs(below: Option<&str>) {
    let (there_are, command) = (verbs_there_are(below), help_of(below));
    // Nobody is left to be told when stderr is gone.
    let _ = writeln!(anstream::stderr(), "\n{there_are}");
    let _ = writeln!(anstream::stderr(), "next: {command}");
}

fn whole_paragraphs(verb: clap::Command) -> clap::Command {
    let below = verb.get_after_help().map(|text| joined(&text.to_string()));
    let verb = match below {
        Some(text) => verb.after_help(text),
        None => verb,
    };
    verb.mut_subcommands(whole_paragraphs)
}

/// A text whose paragraphs are one line each. Lines that are indented stay as they are.
fn joined(text: &str) -> String {
    let mut joined = String::new();
    let mut before = "";
    for line in text.lines() {
        let goes_on = ![before, line].iter().any(|line| line.is_empty() || line.starts_with(' '));
        if !joined.is_empty() {
            joined.push(if goes_on { ' ' } else { '\n' });
        }
        joined.push_str(line);
        before = line;
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_types_a_verb_that_there_is_not_is_told_which_there_are() {
        let of = |line: &[&str]| {
            let line = ["askway"].iter().chain(line);
            Failure::of_clap(&command().try_get_matches_from(line).expect_err("no verb"))
        };
        let failure = of(&["frobnicate"]);
        assert!(failure.message.contains("inbox, show, log"), "{failure}");
        assert!(!failure.message.contains("__"), "{failure}");
        assert_eq!(failure.next.as_deref(), Some("askway --help"));
        let failure = of(&["session", "frobnicate"]);
        assert!(failure.message.ends_with("there are ls, end"), "{failure}");
        assert_eq!(failure.next.as_deref(), Some("askway session --help"));
    }

    #[test]
    fn help_is_wrapped_once_at_the_width_there_is() {
        assert_eq!(
            joined("a\nb\n\nExamples:\n  c\n  d\n\ne\nf."),
            "a b\n\nExamples:\n  c\n  d\n\ne f."
        );
        for width in [60, 80, 100] {
            let mut program = command().term_width(width);
            program.build();
            for verb in std::iter::once(&program).chain(program.get_subcommands()) {
                let help = verb.clone().render_help().to_string();
                let prose = help.lines().skip_while(|line| !line.starts_with("Examples:"));
                let lines: Vec<_> = prose.collect();
                for pair in lines.windows(2) {
                    let is_prose = |line: &str| !line.is_empty() && !line.starts_with(' ');
                    let (line, next) = (pair[0], pair[1]);
                    // The next line's first word would have had no room here.
                    let word = next.split(' ').next().unwrap_or_default();
                    let is_full = line.chars().count() + 1 + word.chars().count() > width;
                    let (both, name) = (is_prose(line) && is_prose(next), verb.get_name());
                    assert!(!both || is_full, "{name} at {width}: {line}");
                }
            }
        }
    }
}
