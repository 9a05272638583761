//! The terminal a person sits at: whether it can be asked at, whether a line of it can be rewritten,
//! and its modes, which whoever changes them gives back. How wide it is and what it shows: `look`.

use super::look::Look;
use rustix::termios::{OptionalActions, QueueSelector, Termios, tcflush, tcgetattr, tcsetattr};
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
