//! The terminal a person sits at: whether it can be asked at, whether a line of it can be rewritten,
//! and its modes, which whoever changes them gives back. How wide it is and what it shows: `look`.

use super::look::Look;
use super::render::cut;
use rustix::termios::{OptionalActions, QueueSelector, Termios, tcflush, tcgetattr, tcsetattr};
use std::borrow::Cow;
use std::env;
use std::io::{self, IsTerminal, Write};

/// What a prompt that was cut off may have left behind: pasted text in brackets, no cursor, colour, and
/// lines below the cursor. Ends on a line of its own.
const TIDY: &str = "\u{1b}[?2004l\u{1b}[?25h\u{1b}[0m\u{1b}[J\r\n";

/// Whether somebody can be asked here: keys come from a terminal, and what is said goes to one that
/// moves its cursor.
pub(super) fn takes_prompts() -> bool {
    is_one() && moves()
}

/// Why nobody can be asked at this terminal; none where somebody can, and where there is no terminal.
pub(super) fn why_no_prompts() -> Option<String> {
    let term = env::var("TERM").unwrap_or_default();
    let says = if term.is_empty() { "TERM is not set".to_owned() } else { format!("TERM={term}") };
    (is_one() && !moves()).then(|| {
        format!(
            "you cannot be asked at this terminal, which is said not to move its cursor ({says})"
        )
    })
}

fn is_one() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal() && io::stderr().is_terminal()
}

/// How stderr takes a line that goes on changing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// It is rewritten in place.
    Rewritten,
    /// A new line for each change: a terminal that cannot, or one that is listened to.
    Appended,
}

impl Line {
    /// Tells `text`; where it cannot be told in place of what was told before, only if it `is_new`.
    pub fn put(self, text: &str, is_new: bool) {
        let mut stderr = io::stderr().lock();
        // Nobody is left to be told when stderr is gone.
        let _ = match self {
            Line::Rewritten => {
                let fitting = fitting(text, Look::of_stderr());
                write!(stderr, "\r{fitting}\u{1b}[K").and_then(|()| stderr.flush())
            }
            Line::Appended if is_new => writeln!(stderr, "{text}"),
            Line::Appended => Ok(()),
        };
    }

    /// Takes away what was told in place.
    pub fn clear(self) {
        if self == Line::Rewritten {
            let mut stderr = io::stderr().lock();
            let _ = write!(stderr, "\r\u{1b}[K").and_then(|()| stderr.flush());
        }
    }
}

/// `line` where it stays on one line of that look, with what says that it was cut. The last column stays
/// free: some terminals begin a new line when it is taken.
fn fitting(line: &str, look: Look) -> Cow<'_, str> {
    cut(line, look.width.saturating_sub(1), look.ellipsis())
}

/// How stderr takes such a line; none where it is no terminal, and nobody looks.
pub(super) fn line() -> Option<Line> {
    let look = Look::of_stderr();
    look.terminal.then_some(match moves() && !look.ascii {
        true => Line::Rewritten,
        false => Line::Appended,
    })
}

/// Whether the terminal says of itself that it can move its cursor.
fn moves() -> bool {
    env::var_os("TERM").is_some_and(|term| !term.is_empty() && term != "dumb")
}

/// The modes as they were; they are so again when this is gone.
pub(super) struct Modes(Option<Termios>);

impl Modes {
    /// As they are now.
    pub fn now() -> Self {
        Self(tcgetattr(rustix::stdio::stdin()).ok())
    }

    /// Gives them back.
    pub fn restore(&self) {
        if let Some(modes) = &self.0 {
            // A terminal that is gone needs no modes.
            let _ = tcsetattr(rustix::stdio::stdin(), OptionalActions::Now, modes);
        }
    }

    /// The same after something was cut off: the cursor is there again, on a line of its own, and
    /// keys that were meant for what was cut off are forgotten.
    pub fn tidy(&self) {
        self.restore();
        forget_keys();
        let mut stderr = io::stderr().lock();
        let _ = stderr.write_all(TIDY.as_bytes()).and_then(|()| stderr.flush());
    }
}

impl Drop for Modes {
    fn drop(&mut self) {
        self.restore();
    }
}

/// Forgets what was typed and not read yet: it was meant for something else.
pub(super) fn forget_keys() {
    let _ = tcflush(rustix::stdio::stdin(), QueueSelector::IFlush);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_never_takes_two_and_says_that_it_was_cut() {
        let fit = |line: &'static str, width| fitting(line, Look { width, ..Look::PLAIN });
        assert_eq!(fit("waiting", 80), "waiting");
        assert_eq!(fit("waiting", 8), "waiting");
        assert_eq!(fit("waiting", 7), "waiti…");
        assert_eq!(fit("日本", 5), "日本");
        assert_eq!(fit("日本", 4), "日…");
        let look = Look { width: 7, ascii: true, ..Look::PLAIN };
        assert_eq!(fitting("waiting", look), "wai...");
    }
}
