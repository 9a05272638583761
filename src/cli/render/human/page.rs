//! Lines for people, as wide as the terminal: our own, and somebody else's behind a bar.

use crate::ask::text::visible;
use crate::cli::look::Look;
use crate::cli::render::lay::{UNBOUNDED, wrap};
use crate::cli::render::markdown;

/// What is being written.
pub struct Page {
    look: Look,
    lines: Vec<String>,
}

impl Page {
    /// Nothing yet, for where it may look so.
    pub fn new(look: Look) -> Self {
        Self { look, lines: Vec::new() }
    }

    /// The columns there are. What goes elsewhere than to a terminal is as wide as it is.
    pub fn width(&self) -> usize {
        if self.look.terminal { self.look.width } else { UNBOUNDED }
    }

    /// How it may look.
    pub fn look(&self) -> Look {
        self.look
    }

    /// A line of ours, broken where it is too long. One that is empty parts what stands around it.
    pub fn own(&mut self, line: &str) {
        let indent = " ".repeat(line.len() - line.trim_start_matches(' ').len());
        let line = line.trim_start_matches(' ');
        self.hanging(&indent, &format!("{indent}  "), line);
    }

    /// The same with `first` before its first line and `rest` before the others.
    pub fn hanging(&mut self, first: &str, rest: &str, line: &str) {
        self.lines.extend(wrap(line, self.width(), first, rest));
    }

    /// Somebody else's words as they are, each line behind a bar that no words can pretend to be.
    pub fn theirs(&mut self, text: &str) {
        let bar = self.bar();
        self.lines.extend(wrap(&visible(text), self.width(), &bar, &bar));
    }

    /// Somebody else's Markdown. Who is no terminal gets it as it was written.
    pub fn markdown(&mut self, text: &str) {
        if !self.look.terminal {
            return self.theirs(text);
        }
        let bar = self.bar();
        let room = self.width().saturating_sub(bar.chars().count());
        for line in markdown::lines(text, room, self.look) {
            self.lines.push(format!("{bar}{line}").trim_end_matches(' ').to_owned());
        }
    }

    /// All of it, without a line feed at its end.
    pub fn into_text(mut self) -> String {
        while self.lines.last().is_some_and(String::is_empty) {
            self.lines.pop();
        }
        self.lines.join("\n")
    }

    fn bar(&self) -> String {
        format!("  {}", self.look.gutter())
    }
}
