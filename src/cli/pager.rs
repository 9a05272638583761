//! A pager for what is longer than a screen: of `ASKWAY_PAGER`, else of `PAGER`, else `less -FRX`. Where
//! there is none that runs, or it fails before it has read anything, the text is printed.

use super::look::Look;
use super::render::Out;
use super::{Exit, Failure};
use std::io::{self, ErrorKind, Write};
use std::process::Command;
use std::thread;
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

/// How much of a text somebody had before them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// Nothing that is known of.
    Nothing,
    /// Some of it: the pager was left before it had read what matters, or that is more than a screen
    /// of it, and a pager does not say how far somebody went.
    Part,
    /// All that matters of it.
    Asked,
}

/// Shows `text` to whoever is at the terminal, else prints it. What matters of it is its first `asked`
/// lines.
///
/// # Errors
///
/// When it cannot be written.
pub fn show(paging: &Paging, text: &str, asked: usize, out: &mut Out) -> Result<Shown, Failure> {
    if !paging.no_pager
        && !out.json
        && out.look.terminal
        && let Some(words) = chosen(|name| std::env::var(name).ok())
    {
        let shown = out.look.colour.then(|| text.to_owned());
        let shown = shown.unwrap_or_else(|| anstream::adapter::strip_str(text).to_string());
        match page(&words, shown.clone()) {
            Ok(Some(taken)) => return Ok(taken.shown(&shown, asked, Look::rows_of_stdout())),
            Ok(None) => {}
            Err(error) => {
                let message = format!("the pager {} cannot be used", words.program);
                return Err(Failure::new(Exit::Unexpected, "IO", format!("{message}: {error}"))
                    .then("the same with --no-pager"));
            }
        }
    }
    out.line(text)?;
    Ok(if out.flush()? { Shown::Asked } else { Shown::Nothing })
}

/// What a pager did with a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Taken {
    /// Bytes that it read.
    bytes: usize,
    /// Whether it said that all went well.
    well: bool,
}

impl Taken {
    /// How much of `text` somebody had before them in a terminal of so many rows. The last row is the
    /// pager's own.
    fn shown(self, text: &str, asked: usize, rows: usize) -> Shown {
        let ends = text.split_inclusive('\n').take(asked).map(str::len).sum();
        match self.well && self.bytes > 0 {
            false => Shown::Nothing,
            true if self.bytes >= ends && asked < rows => Shown::Asked,
            true => Shown::Part,
        }
    }
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

/// Runs it on `text`. What it did; none where no pager ran.
fn page(words: &Words, text: String) -> io::Result<Option<Taken>> {
    // The keyboard is the pager's: an interrupt is for it, not for who waits for it.
    let _held = signal(SignalKind::interrupt())?;
    let mut command = Command::new(&words.program);
    let (input, mut output) = io::pipe()?;
    // What it leaves in the pipe was on nobody's screen.
    let mut left = input.try_clone()?;
    command.args(&words.arguments).stdin(input);
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
    let size = text.len() + 1;
    let fed = thread::spawn(move || {
        output.write_all(text.as_bytes())?;
        output.write_all(b"\n")
    });
    let ended = child.wait()?;
    let left = io::copy(&mut left, &mut io::sink())?;
    fed.join().map_err(|_| io::Error::other("what feeds it has failed"))??;
    let not_run = ended.code().is_some_and(|code| NOT_RUN.contains(&code));
    if not_run && words.program == "sh" {
        return Ok(None);
    }
    let left = usize::try_from(left).unwrap_or(size);
    let taken = Taken { bytes: size.saturating_sub(left), well: ended.success() };
    // It showed nothing to anybody.
    let is_for_nothing = taken.bytes == 0 && ended.code().is_some_and(|code| code != 0);
    Ok((!is_for_nothing).then_some(taken))
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
            page(&words(Some(line), None).expect("a pager"), text.to_owned()).expect("it runs")
        };
        let taken = |bytes, well| Some(Taken { bytes, well });
        assert_eq!(run("no-such-pager-here", "x"), None);
        assert_eq!(run("no-such-pager-here | head", "x"), taken(0, true), "the shell ran head");
        assert_eq!(run("no-such-pager-here $x", "x"), None);
        assert_eq!(run("true", &"x".repeat(1 << 20)), taken(0, true));
        assert_eq!(run("false", "x"), None, "it fails and has shown nothing");
        assert_eq!(run("exit 3; # $x", "x"), None);
        assert_eq!(run("grep -q no-such-word", "x"), taken(2, false), "it reads to the end");
        assert_eq!(run("read line; exit 0", "one\ntwo"), taken(4, true), "it reads a line");
    }

    #[test]
    fn what_was_on_the_first_screen_was_shown_and_what_comes_later_may_not_have_been() {
        let text = "one\ntwo\nthree\nfour";
        for (bytes, well, rows, shown) in [
            (19, true, 24, Shown::Asked),
            (8, true, 24, Shown::Asked),
            (7, true, 24, Shown::Part),
            (19, true, 3, Shown::Asked),
            (19, true, 2, Shown::Part),
            (0, true, 24, Shown::Nothing),
            (19, false, 24, Shown::Nothing),
        ] {
            let taken = Taken { bytes, well };
            assert_eq!(taken.shown(text, 2, rows), shown, "{taken:?} in {rows}");
        }
    }
}
