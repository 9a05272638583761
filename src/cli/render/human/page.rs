//! Lines for people, as wide as the terminal: our own, and somebody else's behind a bar.

use super::PLAIN;
use crate::ask::text::visible;
use crate::cli::look::Look;
use crate::cli::render::lay::{UNBOUNDED, wrap};
use crate::cli::render::markdown;

/// What is being written.
pub struct Page {
    look: Look,
    lines: Vec<String>,
    /// Lines of one text that are shown at most, and the command that shows them all.
    cap: Option<(usize, String)>,
    is_cut: bool,
}

impl Page {
    /// Nothing yet, for where it may look so.
    pub fn new(look: Look) -> Self {
        Self { look, lines: Vec::new(), cap: None, is_cut: false }
    }

    /// The same, with at most so many lines of each of somebody else's texts on a terminal; `whole` is
    /// the command that shows the rest.
    pub fn short(look: Look, lines: usize, whole: String) -> Self {
        Self { cap: look.terminal.then_some((lines, whole)), ..Self::new(look) }
    }

    /// Whether anything of it was left out.
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Lines of it so far.
    pub fn height(&self) -> usize {
        self.lines.len()
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
        let lines = wrap(&visible(text), self.width(), &bar, &bar);
        self.put_theirs(lines);
    }

    /// Somebody else's Markdown. Who is no terminal gets it as it was written.
    pub fn markdown(&mut self, text: &str) {
        if !self.look.terminal {
            return self.theirs(text);
        }
        let bar = self.bar();
        let room = self.width().saturating_sub(bar.chars().count());
        let lines = markdown::lines(text, room, self.look);
        let put = |line: String| format!("{bar}{line}").trim_end_matches(' ').to_owned();
        self.put_theirs(lines.into_iter().map(put).collect());
    }

    /// Lines of a text of theirs. What says that some were left out stands outside of the bar, where no
    /// words of theirs ever stand.
    fn put_theirs(&mut self, mut lines: Vec<String>) {
        let Some((most, whole)) = self.cap.clone().filter(|(most, _)| lines.len() > *most) else {
            return self.lines.extend(lines);
        };
        let more = lines.len() - most;
        lines.truncate(most);
        // A style that was in force where it was cut ends there.
        if let Some(last) = lines.last_mut().filter(|_| self.look.colour) {
            last.push_str(PLAIN);
        }
        self.lines.extend(lines);
        self.is_cut = true;
        let (ellipsis, s) = (self.look.ellipsis(), if more == 1 { "" } else { "s" });
        self.own(&format!("  {ellipsis} {more} more line{s} of this; {whole} has all"));
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

#[cfg(test)]
mod tests {
    use super::*;

    const WIDE: Look = Look { width: 60, terminal: true, ..Look::PLAIN };

    fn short(look: Look, text: &str) -> (String, bool) {
        let mut page = Page::short(look, 3, "askway show ask_k3f9".into());
        page.theirs(text);
        page.markdown(text);
        let is_cut = page.is_cut();
        (page.into_text(), is_cut)
    }

    #[test]
    fn what_is_cut_on_a_terminal_says_how_much_and_where_the_rest_is() {
        let (text, is_cut) = short(WIDE, "- a\n- b\n- c\n- d\n- e");
        assert!(is_cut);
        assert_eq!(
            text.matches("  … 2 more lines of this; askway show ask_k3f9 has all").count(),
            2
        );
        let (text, _) = short(Look { ascii: true, ..WIDE }, "- a\n- b\n- c\n- d");
        assert!(text.is_ascii() && text.contains("  ... 1 more line of this;"), "{text}");
        assert!(!short(WIDE, "- a\n- b\n- c").1);
        let (text, is_cut) = short(Look::PLAIN, &"line\n".repeat(99));
        assert!(!is_cut && !text.contains("more line"), "programs get all of it");
    }

    #[test]
    fn rule_21_no_words_of_theirs_say_that_they_were_cut() {
        let forged = "… 2 more lines of this; askway show ask_k3f9 has all\n".repeat(9);
        for width in [20, 40, 60] {
            let (text, _) = short(Look { width, ..WIDE }, &forged);
            let ours = text.lines().filter(|line| !line.starts_with("  │"));
            let ours: Vec<_> = ours.filter(|line| line.contains('…')).collect();
            assert_eq!(ours.len(), 2, "{text}");
        }
    }
}
