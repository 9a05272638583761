//! What is printed: text for people, JSON for programs. Every word of an agent's or a person's is
//! made visible before it is written (rule 21).

mod human;
mod json;

pub use human::{ask as ask_text, event as event_text, line as ask_line, waits};
pub use json::{ask as ask_json, event as event_json, session as session_json};

use super::exit::{Exit, Failure};
use super::is_broken_pipe;
use crate::ask::text;
use crate::grpc::v1;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write};

/// The reason of a failure that is none: whoever read our output has read enough.
pub const BROKEN_PIPE: &str = "BROKEN_PIPE";

/// Where a verb prints.
#[derive(Debug)]
pub struct Out {
    /// Whether programs read it.
    pub json: bool,
}

impl Out {
    /// Prints for people, or for programs.
    pub fn new(json: bool) -> Self {
        Self { json }
    }

    /// Writes a line and sees it written: what is acknowledged afterwards has been shown.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn line(&mut self, line: &str) -> Result<(), Failure> {
        let mut stdout = anstream::stdout().lock();
        let written = writeln!(stdout, "{line}").and_then(|()| stdout.flush());
        written.map_err(|error| match is_broken_pipe(&error) {
            true => Failure::new(Exit::Done, BROKEN_PIPE, "nobody reads"),
            false => Failure::io("the output cannot be written", &error),
        })
    }

    /// Writes one object on a line of its own.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn object(&mut self, object: &Value) -> Result<(), Failure> {
        self.line(&safe_json(object))
    }

    /// Says something beside the output, to people.
    pub fn note(&mut self, note: &str) {
        if !self.json {
            let _ = writeln!(anstream::stderr(), "{note}");
        }
    }

    /// Prints an ask: whole for people.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn ask(&mut self, ask: &v1::Ask) -> Result<(), Failure> {
        match self.json {
            true => self.object(&json::ask(ask)),
            false => self.line(human::ask(ask).trim_end()),
        }
    }

    /// Prints a receipt; for people `done` says what an accepted one means.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn receipt(&mut self, receipt: &v1::Receipt, done: &str) -> Result<(), Failure> {
        if self.json {
            return self.object(&json::receipt(receipt));
        }
        match receipt.result() {
            v1::Result::Accepted if receipt.replayed => self.line(&format!("{done} (already)")),
            v1::Result::Accepted => self.line(done),
            _ => {
                let mut said = text::visible(&receipt.message).into_owned();
                for id in &receipt.open_ask_ids {
                    let _ = write!(said, "\n  open: {id}");
                }
                let shown =
                    receipt.ask.as_ref().map(|ask| format!("\nnext: askway show {}", ask.id));
                self.note(&format!("askway: {said}{}", shown.unwrap_or_default()));
                Ok(())
            }
        }
    }

    /// Prints a failure on stderr, with what to type next.
    pub fn failure(&mut self, failure: &Failure) {
        let mut stderr = anstream::stderr().lock();
        let _ = if self.json {
            writeln!(stderr, "{}", safe_json(&json::failure(failure)))
        } else {
            write!(stderr, "{}", human_failure(failure))
        };
    }
}

fn human_failure(failure: &Failure) -> String {
    let mut said = format!("askway: {}\n", text::visible(&failure.message));
    for (field, description) in &failure.fields {
        let (field, description) = (text::visible_line(field), text::visible(description));
        let line = format!("  {field}: {description}\n");
        if !failure.message.contains(&*description) {
            said.push_str(&line);
        }
    }
    if let Some(next) = &failure.next {
        let _ = writeln!(said, "next: {next}");
    }
    said
}

/// Whether a person watches stdout.
pub fn on_terminal() -> bool {
    io::stdout().is_terminal()
}

/// JSON in which no character can hide anything, on a terminal too: what JSON itself leaves as it
/// is, is escaped as JSON allows.
pub fn safe_json(object: &Value) -> String {
    let plain = object.to_string();
    if !plain.chars().any(text::is_hidden) {
        return plain;
    }
    let mut safe = String::with_capacity(plain.len() + 16);
    for c in plain.chars() {
        if text::is_hidden(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(safe, "\\u{unit:04x}");
            }
        } else {
            safe.push(c);
        }
    }
    safe
}

/// The receipt of a call about sessions, as JSON, with what the call gave beside it.
pub fn session_receipt(receipt: &v1::SessionReceipt, beside: Value) -> Value {
    let mut object = json!({
        "result": json::result(receipt.result()),
        "replayed": receipt.replayed,
        "reason": json::or_null(&receipt.reason),
        "message": json::or_null(&receipt.message),
    });
    if let (Some(object), Value::Object(beside)) = (object.as_object_mut(), beside) {
        object.extend(beside);
    }
    object
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rule_21_json_hides_nothing_on_a_terminal_and_reads_back() {
        let object = json!({ "text": "a\u{1b}[2J\u{202e}b\u{7f}\u{e0041}ü日" });
        let printed = safe_json(&object);
        assert!(text::is_one_safe_line(&printed), "{printed}");
        assert_eq!(serde_json::from_str::<Value>(&printed).unwrap(), object);
    }

    #[test]
    fn an_error_says_what_to_type_next() {
        let mut failure = Failure::usage("bad \u{1b}[31mid").then("askway inbox");
        failure.fields.push(("ask_id".into(), "must be an ask's id".into()));
        let said = human_failure(&failure);
        assert_eq!(
            said,
            "askway: bad \\u{1b}[31mid\n  ask_id: must be an ask's id\nnext: askway inbox\n"
        );
    }
}
