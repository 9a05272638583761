//! What verbs print: JSON for programs ([`json`]), text for people ([`human`]), and the one place
//! that writes it ([`Out`]). Nothing from agents or people gets here unchecked and out again
//! (rule 21): `human` makes it visible, `json` escapes it.

#[cfg(test)]
mod corpus;
#[cfg(test)]
pub(super) mod fixture;
mod grid;
pub(super) mod human;
pub(super) mod json;
pub(super) mod lay;
mod markdown;
mod route;
pub(super) mod words;

pub(super) use lay::cut;

use super::Failure;
use super::look::Look;
use crate::ask::text::{visible, visible_line};
use crate::grpc::v1;
use anstream::stream::{AsLockedWrite, RawStream};
use anstream::{AutoStream, ColorChoice};
use human::{BOLD, PLAIN};
use serde::Serialize;
use std::fmt::Write as _;
use std::io::{self, ErrorKind, Write};

/// Where a verb's results go, in the form that was asked for. A reader that has gone away is no
/// error: what it did not want is dropped, and [`flush`](Self::flush) says so.
pub struct Out {
    /// Whether programs read it.
    pub json: bool,
    /// How it may look.
    pub look: Look,
    sink: Box<dyn Write + Send>,
    broken: bool,
}

impl Out {
    /// Stdout, with colour only where a terminal takes it.
    pub fn stdout(json: bool) -> Self {
        match json {
            true => Self::new(io::stdout(), json),
            false => Self::looking(Look::of_stdout(), io::stdout()),
        }
    }

    /// Any other place: no terminal.
    pub fn new(sink: impl Write + Send + 'static, json: bool) -> Self {
        Self { sink: Box::new(sink), json, look: Look::PLAIN, broken: false }
    }

    /// For people, where it may look so.
    pub fn looking<S: RawStream + AsLockedWrite + Send + 'static>(look: Look, sink: S) -> Self {
        let choice = if look.colour { ColorChoice::AlwaysAnsi } else { ColorChoice::Never };
        Self { look, ..Self::new(AutoStream::new(sink, choice), false) }
    }

    /// An ask: one line for programs; for people what `human` makes of it.
    ///
    /// # Errors
    ///
    /// When it cannot be written, as every method here.
    pub fn ask(
        &mut self,
        ask: &v1::Ask,
        human: impl FnOnce(&v1::Ask) -> String,
    ) -> Result<(), Failure> {
        let text = if self.json { json::ask(ask) } else { human(ask) };
        self.line(&text)
    }

    /// A receipt: one line for programs; for people the sentence `said`, where it was accepted. What
    /// was not accepted is a [`Failure`], which says the rest.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn receipt(
        &mut self,
        receipt: &v1::Receipt,
        said: impl FnOnce(&v1::Ask) -> String,
    ) -> Result<(), Failure> {
        if self.json {
            return self.line(&json::receipt(receipt));
        }
        match &receipt.ask {
            Some(ask) if receipt.result() == v1::Result::Accepted => {
                self.line(&said(ask))?;
                self.note_again(receipt.replayed);
                Ok(())
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Any object, on a line of its own, handed over at once.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn object(&mut self, object: &impl Serialize) -> Result<(), Failure> {
        self.line(&json::line(object))?;
        self.flush().map(|_| ())
    }

    /// One or more lines as they are, with a line feed after them.
    ///
    /// # Errors
    ///
    /// When they cannot be written.
    pub fn line(&mut self, text: &str) -> Result<(), Failure> {
        if self.broken {
            return Ok(());
        }
        let written =
            self.sink.write_all(text.as_bytes()).and_then(|()| self.sink.write_all(b"\n"));
        self.noted(written)
    }

    /// Bytes as they are: what programs read.
    ///
    /// # Errors
    ///
    /// When they cannot be written.
    pub fn bytes(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        if self.broken {
            return Ok(());
        }
        let written = self.sink.write_all(bytes);
        self.noted(written)
    }

    /// The same, and nothing at all where there is none.
    ///
    /// # Errors
    ///
    /// When they cannot be written.
    pub fn lines(&mut self, text: &str) -> Result<(), Failure> {
        if text.is_empty() { Ok(()) } else { self.line(text) }
    }

    /// Hands everything over. Whether all of it arrived: what did not, is not to be acknowledged.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn flush(&mut self) -> Result<bool, Failure> {
        if !self.broken {
            let flushed = self.sink.flush();
            self.noted(flushed)?;
        }
        Ok(!self.broken)
    }

    fn noted(&mut self, written: io::Result<()>) -> Result<(), Failure> {
        match written {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {
                self.broken = true;
                Ok(())
            }
            Err(error) => Err(Failure::io("stdout cannot be written", &error)
                .then("the same with its output to a place that has room")),
        }
    }

    /// Says that what was asked for was `done` before: beside the result, from which scripts take ids.
    pub fn note_again(&self, done: bool) {
        if done {
            self.note("it was done before; nothing was done again");
        }
    }

    /// A word beside the result, for people only: to stderr.
    pub fn note(&self, text: &str) {
        if !self.json {
            // Nobody is left to be told when stderr is gone.
            let _ = writeln!(anstream::stderr(), "{text}");
        }
    }
}

/// Prints to stderr why a verb failed: one object for programs, sentences for people.
pub fn failure(failure: &Failure, json: bool) {
    // Nobody is left to be told when stderr is gone.
    let _ = match json {
        true => writeln!(io::stderr(), "{}", json::failure(failure)),
        false => write!(anstream::stderr(), "{}", failure_for_people(failure)),
    };
}

fn failure_for_people(failure: &Failure) -> String {
    let mut text = format!("{BOLD}askway:{PLAIN} {}\n", visible(&failure.message));
    // Writing to a string does not fail. What the sentence says already is not said twice.
    let more = |(_, said): &&(String, String)| !failure.message.contains(said);
    for (field, description) in failure.fields.iter().filter(more) {
        let _ = writeln!(text, "  {}: {}", visible_line(field), visible_line(description));
    }
    if let Some(next) = &failure.next {
        let _ = writeln!(text, "next: {}", visible_line(next));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    /// Takes so many writes, then fails in this way.
    struct Sink {
        kind: ErrorKind,
        left: usize,
        got: Arc<Mutex<Vec<u8>>>,
    }

    impl Write for Sink {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if self.left == 0 {
                return Err(self.kind.into());
            }
            self.left -= 1;
            self.got.lock().expect("one thread").extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            if self.left == 0 { Err(self.kind.into()) } else { Ok(()) }
        }
    }

    fn output(kind: ErrorKind, left: usize, json: bool) -> (Out, Arc<Mutex<Vec<u8>>>) {
        let got = Arc::new(Mutex::new(Vec::new()));
        (Out::new(Sink { kind, left, got: got.clone() }, json), got)
    }

    #[test]
    fn a_reader_that_has_gone_is_no_error_and_has_not_got_it() {
        let (mut whole, got) = output(ErrorKind::BrokenPipe, 9, false);
        whole.line("words").expect("written");
        assert!(whole.flush().expect("flushed"));
        assert_eq!(*got.lock().expect("one thread"), b"words\n");

        let (mut cut, _) = output(ErrorKind::BrokenPipe, 1, false);
        cut.line("words").expect("no error");
        cut.line("more").expect("no error");
        assert!(!cut.flush().expect("no error"));

        let (mut late, _) = output(ErrorKind::BrokenPipe, 2, false);
        late.line("words").expect("written");
        assert!(!late.flush().expect("no error"), "cut between the write and the flush");
    }

    #[test]
    fn a_full_disk_is_an_error() {
        let (mut full, _) = output(ErrorKind::StorageFull, 1, true);
        let failure = full.line("words").expect_err("no room");
        assert_eq!(failure.exit, super::super::Exit::Unexpected);
    }

    #[test]
    fn people_get_a_sentence_and_programs_the_receipt() {
        let receipt = fixture::receipt(v1::Result::Accepted, "");
        let (mut people, got) = output(ErrorKind::BrokenPipe, 9, false);
        let replayed = v1::Receipt { replayed: true, ..receipt.clone() };
        people.receipt(&replayed, |ask| format!("did {}", ask.id)).expect("written");
        let text = String::from_utf8(got.lock().expect("one thread").clone()).expect("UTF-8");
        assert_eq!(text, format!("did {}\n", fixture::ID));

        let (mut programs, got) = output(ErrorKind::BrokenPipe, 9, true);
        programs.receipt(&receipt, |_| unreachable!("no sentence for programs")).expect("written");
        let text = String::from_utf8(got.lock().expect("one thread").clone()).expect("UTF-8");
        assert_eq!(text, format!("{}\n", json::receipt(&receipt)));
    }

    #[test]
    fn what_an_error_says_is_said_once() {
        let mut failure = Failure::usage("`yse` is not offered. Did you mean `yes`?");
        failure.fields.push(("LABEL".into(), "`yse` is not offered".into()));
        failure.fields.push(("--text".into(), "must be shorter".into()));
        let text = anstream::adapter::strip_str(&failure_for_people(&failure)).to_string();
        assert_eq!(text.matches("yse").count(), 1, "{text}");
        assert!(text.contains("  --text: must be shorter"), "{text}");
    }

    #[test]
    fn rule_21_an_error_shows_nothing_hidden() {
        let mut hostile = Failure::usage("a\u{1b}[2Jb").then("askway show \u{202e}x");
        hostile.fields.push(("f\nnext: rm".into(), "must\u{7} be\nnext: rm -r".into()));
        let text = anstream::adapter::strip_str(&failure_for_people(&hostile)).to_string();
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines.len(), 3, "{text}");
        assert!(lines[0].contains("a\\u{1b}[2Jb"), "{text}");
        assert!(lines[1].contains("must\\u{7} be\\nnext: rm -r"), "{text}");
        assert!(lines[2].starts_with("next: askway show \\u{202e}x"), "{text}");
    }
}
