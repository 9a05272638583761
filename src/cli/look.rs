//! What the terminal at hand can show, read from the environment once: how wide it is, whether it takes
//! colour, whether more than ASCII. What is printed there is made elsewhere (`render`).

use std::io::{self, IsTerminal};
use std::os::fd::AsFd;

/// Columns where neither the terminal nor anybody else says how many there are.
const WIDTH: usize = 80;
/// Rows where the terminal does not say.
const ROWS: usize = 24;
/// Fewer columns are taken as this many: nothing can be read in less.
const MIN_WIDTH: usize = 20;
/// More columns are taken as this many: no table of ours gets better with more.
const MAX_WIDTH: usize = 1_000;

/// How text may look where it goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// Columns of the terminal. Only a terminal has a width to keep to.
    pub width: usize,
    /// Whether colour and weight are shown.
    pub colour: bool,
    /// Whether our own decorations keep to ASCII.
    pub ascii: bool,
    /// Whether it is a terminal: what goes elsewhere is for programs, neither aligned nor cut.
    pub terminal: bool,
}

impl Look {
    /// No terminal: plain text, as wide as it is.
    pub const PLAIN: Self = Self { width: WIDTH, colour: false, ascii: false, terminal: false };

    /// That of stdout.
    pub fn of_stdout() -> Self {
        Self::of(io::stdout())
    }

    /// How many rows the terminal of stdout has, [`ROWS`] where it does not say.
    pub fn rows_of_stdout() -> usize {
        let size = rustix::termios::tcgetwinsize(io::stdout()).ok();
        size.map(|size| usize::from(size.ws_row)).filter(|&rows| rows > 0).unwrap_or(ROWS)
    }

    /// That of stderr, where notes, talk and progress are told.
    pub fn of_stderr() -> Self {
        Self::of(io::stderr())
    }

    fn of(place: impl IsTerminal + AsFd) -> Self {
        let columns = || rustix::termios::tcgetwinsize(&place).ok().map(|size| size.ws_col);
        let variable = |name: &str| std::env::var(name).ok();
        Self::read(place.is_terminal(), columns, variable)
    }

    /// From what is known of the place and from the environment. `NO_COLOR` goes before
    /// `CLICOLOR_FORCE`, that before everything else; `TERM=dumb` takes no colour. `COLUMNS` goes before
    /// the terminal's own size.
    fn read(
        terminal: bool,
        columns: impl FnOnce() -> Option<u16>,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Self {
        let is_set = |name| variable(name).is_some_and(|value| !value.is_empty());
        let is_on = |name| variable(name).is_some_and(|value| !value.is_empty() && value != "0");
        let able = variable("TERM").is_some_and(|term| !term.is_empty() && term != "dumb");
        let wanted = variable("CLICOLOR").is_none_or(|value| value != "0");
        let colour =
            !is_set("NO_COLOR") && (is_on("CLICOLOR_FORCE") || (terminal && able && wanted));
        let typed = variable("COLUMNS").and_then(|columns| columns.trim().parse().ok());
        let width = match terminal {
            true => typed.or_else(|| columns().map(usize::from)).filter(|&columns| columns > 0),
            false => None,
        };
        Self {
            width: width.unwrap_or(WIDTH).clamp(MIN_WIDTH, MAX_WIDTH),
            colour,
            ascii: is_on("ASKWAY_ASCII"),
            terminal,
        }
    }

    /// What stands where text was cut.
    pub fn ellipsis(self) -> &'static str {
        if self.ascii { "..." } else { "…" }
    }

    /// From one to the next.
    pub fn arrow(self) -> &'static str {
        if self.ascii { "->" } else { "→" }
    }

    /// What each line of somebody else's text stands behind.
    pub fn gutter(self) -> &'static str {
        if self.ascii || !self.terminal { "| " } else { "│ " }
    }

    /// Before an item of a list.
    pub fn bullet(self) -> &'static str {
        if self.ascii { "- " } else { "• " }
    }

    /// Between clauses of a line.
    pub fn dot(self) -> &'static str {
        if self.ascii { " - " } else { " · " }
    }
}

impl Default for Look {
    fn default() -> Self {
        Self::PLAIN
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Variables of an environment.
    type Set = [(&'static str, &'static str)];

    fn look(terminal: bool, columns: Option<u16>, set: &Set) -> Look {
        let variable = |name: &str| {
            set.iter().find(|(set, _)| *set == name).map(|(_, value)| (*value).to_owned())
        };
        Look::read(terminal, || columns, variable)
    }

    #[test]
    fn colour_is_for_terminals_that_take_it_unless_somebody_says_otherwise() {
        let xterm = ("TERM", "xterm");
        let table: &[(bool, &Set, bool)] = &[
            (true, &[xterm], true),
            (false, &[xterm], false),
            (true, &[], false),
            (true, &[("TERM", "")], false),
            (true, &[("TERM", "dumb")], false),
            (true, &[xterm, ("NO_COLOR", "1")], false),
            (true, &[xterm, ("NO_COLOR", "")], true),
            (true, &[xterm, ("CLICOLOR", "0")], false),
            (false, &[("CLICOLOR_FORCE", "1")], true),
            (false, &[("CLICOLOR_FORCE", "0")], false),
            (false, &[("CLICOLOR_FORCE", "")], false),
            (true, &[("TERM", "dumb"), ("CLICOLOR_FORCE", "1")], true),
            (true, &[xterm, ("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1")], false),
        ];
        for (terminal, set, colour) in table {
            assert_eq!(look(*terminal, None, set).colour, *colour, "{terminal} {set:?}");
        }
    }

    #[test]
    fn the_width_is_what_was_said_else_the_terminals_within_reason() {
        let table: &[(Option<u16>, &Set, usize)] = &[
            (Some(132), &[], 132),
            (Some(132), &[("COLUMNS", "40")], 40),
            (Some(132), &[("COLUMNS", "wide")], 132),
            (Some(132), &[("COLUMNS", "0")], WIDTH),
            (Some(0), &[], WIDTH),
            (None, &[], WIDTH),
            (Some(3), &[], MIN_WIDTH),
            (Some(u16::MAX), &[], MAX_WIDTH),
        ];
        for (columns, set, width) in table {
            assert_eq!(look(true, *columns, set).width, *width, "{columns:?} {set:?}");
        }
        assert_eq!(look(false, Some(40), &[("COLUMNS", "40")]), Look::PLAIN);
    }

    #[test]
    fn decorations_keep_to_ascii_where_that_is_asked_for() {
        let marks = |look: Look| {
            [look.ellipsis(), look.arrow(), look.gutter(), look.bullet(), look.dot()].concat()
        };
        let ascii = look(true, None, &[("ASKWAY_ASCII", "1")]);
        assert!(ascii.ascii && marks(ascii).is_ascii());
        let other = look(true, None, &[("ASKWAY_ASCII", "0")]);
        assert!(!other.ascii && !marks(other).is_ascii());
    }
}
