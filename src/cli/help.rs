//! The program as clap knows it, with what stands below the flags of a verb.

use super::Cli;
use clap::CommandFactory;

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
