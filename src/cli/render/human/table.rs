//! Rows: aligned under their heads and as wide as the terminal, or with tabs between them for programs,
//! whole and without heads.

use super::{BOLD, FAINT, PLAIN};
use crate::cli::look::Look;
use crate::cli::render::lay::{columns, cut, fill};

/// What parts two columns.
const GAP: usize = 2;

/// A table in the making.
pub struct Table {
    look: Look,
    heads: &'static [&'static str],
    rows: Vec<Row>,
}

struct Row {
    cells: Vec<String>,
    /// Lines below it, for a terminal.
    below: Vec<String>,
}

impl Table {
    /// One with these heads. The last column takes what is left of the width.
    pub fn new(look: Look, heads: &'static [&'static str]) -> Self {
        Self { look, heads, rows: Vec::new() }
    }

    /// A row, of text that was made visible on one line, and what stands below it on a terminal.
    pub fn row(&mut self, cells: Vec<String>, below: Vec<String>) {
        debug_assert_eq!(cells.len(), self.heads.len(), "a cell for each head");
        self.rows.push(Row { cells, below });
    }

    /// Its lines.
    pub fn lines(&self) -> Vec<String> {
        if !self.look.terminal {
            return self.rows.iter().map(|row| row.cells.join("\t")).collect();
        }
        if self.rows.is_empty() {
            return Vec::new();
        }
        let widths = self.widths();
        let heads: Vec<_> = self.heads.iter().map(|head| format!("{FAINT}{head}{PLAIN}")).collect();
        let mut lines = vec![self.line(&heads, &widths)];
        for row in &self.rows {
            let mut cells = row.cells.clone();
            cells[0] = format!("{BOLD}{}{PLAIN}", cells[0]);
            lines.push(self.line(&cells, &widths));
            lines.extend(row.below.iter().cloned());
        }
        lines
    }

    /// Each column as wide as its widest cell, except that none but the first takes more than its
    /// share, so that the last has room.
    fn widths(&self) -> Vec<usize> {
        let share = self.look.width / self.heads.len().max(1);
        let widest = |place: usize| {
            let cells = self.rows.iter().map(|row| columns(&row.cells[place]));
            cells.chain([columns(self.heads[place])]).max().unwrap_or_default()
        };
        (0..self.heads.len())
            .map(|place| if place == 0 { widest(place) } else { widest(place).min(share) })
            .collect()
    }

    fn line(&self, cells: &[String], widths: &[usize]) -> String {
        let (mut line, mut left) = (String::new(), self.look.width);
        for (place, cell) in cells.iter().enumerate() {
            let is_last = place + 1 == cells.len();
            let room = if is_last { left } else { widths[place].min(left) };
            let cell = cut(cell, room, self.look.ellipsis());
            line.push_str(&if is_last { cell.into_owned() } else { fill(&cell, room) });
            left = left.saturating_sub(room);
            if !is_last {
                let gap = GAP.min(left);
                line.push_str(&" ".repeat(gap));
                left -= gap;
            }
        }
        line.trim_end_matches(' ').to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(look: Look) -> Vec<String> {
        let mut table = Table::new(look, &["ID", "WHO", "WHAT"]);
        let row = |cells: [&str; 3]| cells.map(str::to_owned).to_vec();
        table.row(row(["a", "日本", "a long question that is cut"]), vec!["  below".into()]);
        table.row(row(["bbb", "x", "short"]), Vec::new());
        table.lines().iter().map(|line| anstream::adapter::strip_str(line).to_string()).collect()
    }

    #[test]
    fn a_terminal_gets_columns_and_programs_get_tabs() {
        let look = Look { width: 24, terminal: true, ..Look::PLAIN };
        let lines = ["ID   WHO   WHAT", "a    日本  a long quest…", "  below", "bbb  x     short"];
        assert_eq!(table(look), lines);
        let lines = ["a\t日本\ta long question that is cut", "bbb\tx\tshort"];
        assert_eq!(table(Look::PLAIN), lines);
        assert!(Table::new(look, &["ID"]).lines().is_empty());
    }
}
