//! A pager for what is longer than a screen: of `ASKWAY_PAGER`, else of `PAGER`, else `less -FRX`. Where
//! there is none that runs, the text is printed.

use super::render::Out;
use super::{Exit, Failure};
use std::io::{self, ErrorKind, Write};
use std::process::{Child, Command, Stdio};
use tokio::signal::unix::{SignalKind, signal};

/// What is run where nobody says: it leaves what fits on a screen alone, and shows colour.
const DEFAULT: &str = "less -FRX";
/// The codes of a shell that found no such program.
const NOT_RUN: [i32; 2] = [126, 127];

/// Whether to page.
#[derive(Debug, Default, clap::Args)]
pub struct Paging {
    /// Print it all at once, also where it is longer than the screen
    #[arg(long)]
    no_pager: bool,
}

/// Shows `text` to whoever is at the terminal, else prints it. Whether all of it arrived.
///
/// # Errors
///
/// When it cannot be written.
pub fn show(paging: &Paging, text: &str, out: &mut Out) -> Result<bool, Failure> {
    if !paging.no_pager
        && !out.json
        && out.look.terminal
        && let Some(words) = chosen(|name| std::env::var(name).ok())
    {
        let shown = out.look.colour.then(|| text.to_owned());
        let shown = shown.unwrap_or_else(|| anstream::adapter::strip_str(text).to_string());
        match page(&words, &shown) {
            Ok(Some(arrived)) => return Ok(arrived),
            Ok(None) => {}
            Err(error) => {
                let message = format!("the pager {} cannot be used", words.program);
                return Err(Failure::new(Exit::Unexpected, "IO", format!("{message}: {error}"))
                    .then("the same with --no-pager"));
            }
        }
    }
    out.line(text)?;
    out.flush()
}

/// A program and what follows it.
#[derive(Debug, PartialEq, Eq)]
struct Words {
    program: String,
    arguments: Vec<String>,
}

/// The pager of the environment. None where one is named that is nothing, or only prints.
fn chosen(variable: impl Fn(&str) -> Option<String>) -> Option<Words> {
    let named = variable("ASKWAY_PAGER").or_else(|| variable("PAGER"));
    let named = named.unwrap_or_else(|| DEFAULT.to_owned());
    let line = named.trim();
    if line.is_empty() || line == "cat" {
        return None;
    }
    // A shell is for what only a shell understands.
    let is_plain = |c: char| c.is_ascii_alphanumeric() || " _./=,:+@%-".contains(c);
    let words = match line.chars().all(is_plain) {
        true => line.split_whitespace().map(str::to_owned).collect(),
        false => vec!["sh".to_owned(), "-c".to_owned(), line.to_owned()],
    };
    let mut words = words.into_iter();
    Some(Words { program: words.next()?, arguments: words.collect() })
}

/// Runs it on `text`. Whether all of that arrived; none where no pager ran.
fn page(words: &Words, text: &str) -> io::Result<Option<bool>> {
    // The keyboard is the pager's: an interrupt is for it, not for who waits for it.
    let _held = signal(SignalKind::interrupt())?;
    let mut command = Command::new(&words.program);
    command.args(&words.arguments).stdin(Stdio::piped());
    // As other programs do: without these `less` shows colour as characters and stays on a short text.
    for (name, value) in [("LESS", "FRX"), ("LV", "-c")] {
        if std::env::var_os(name).is_none() {
            command.env(name, value);
        }
    }
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::PermissionDenied) => {
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    let written = feed(&mut child, text);
    let ended = child.wait()?;
    let not_run = ended.code().is_some_and(|code| NOT_RUN.contains(&code));
    if not_run && words.program == "sh" {
        return Ok(None);
    }
    match written {
        Ok(()) => Ok(Some(true)),
        // Whoever has read enough leaves.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(Some(false)),
        Err(error) => Err(error),
    }
}

fn feed(child: &mut Child, text: &str) -> io::Result<()> {
    let Some(mut input) = child.stdin.take() else { return Ok(()) };
    input.write_all(text.as_bytes())?;
    input.write_all(b"\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(ask: Option<&str>, pager: Option<&str>) -> Option<Words> {
        let variable = |name: &str| match name {
            "ASKWAY_PAGER" => ask.map(str::to_owned),
            "PAGER" => pager.map(str::to_owned),
            _ => None,
        };
        chosen(variable)
    }

    #[test]
    fn the_pager_is_the_one_that_was_named_and_plain_words_need_no_shell() {
        let plain = |line: &str| {
            let mut words = line.split(' ').map(str::to_owned);
            Some(Words { program: words.next().expect("a word"), arguments: words.collect() })
        };
        assert_eq!(words(None, None), plain("less -FRX"));
        assert_eq!(words(None, Some("more")), plain("more"));
        assert_eq!(words(Some("less  -R"), Some("more")), plain("less -R"));
        for none in ["", " ", "cat"] {
            assert_eq!(words(Some(none), Some("more")), None, "{none:?}");
        }
        let shell = words(None, Some("less | tee $HOME/x")).expect("a pager");
        assert_eq!(
            (shell.program.as_str(), shell.arguments[1].as_str()),
            ("sh", "less | tee $HOME/x")
        );
    }

    #[tokio::test]
    async fn a_pager_that_is_missing_leaves_the_text_to_be_printed_and_one_may_be_left_early() {
        let run = |line: &str, text: &str| {
            page(&words(Some(line), None).expect("a pager"), text).expect("it runs")
        };
        assert_eq!(run("no-such-pager-here", "x"), None);
        // Whether it had ended before anything came is a race.
        assert!(run("no-such-pager-here | head", "x").is_some(), "the shell ran head");
        assert_eq!(run("no-such-pager-here $x", "x"), None);
        assert_eq!(run("true", &"x".repeat(1 << 20)), Some(false));
        assert_eq!(run("grep -q no-such-word", "x"), Some(true), "it reads to the end");
    }
}
