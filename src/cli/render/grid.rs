//! Tables in somebody's Markdown: in columns where they fit, else each row as its cells below one
//! another. Their cells are as their Markdown made them, visible and each on one line.

use super::lay::{columns, fill};
use crate::cli::look::Look;

/// What parts two columns.
const GAP: &str = "  ";

/// The lines of `rows`, the first of which is their head, in so many columns; an empty one parts two
/// rows. Those that are too wide are for the caller to break.
pub fn lines(rows: &[Vec<String>], room: usize, look: Look) -> Vec<String> {
    let count = rows.iter().map(Vec::len).max().unwrap_or_default();
    let width = |at: usize| {
        let cells = rows.iter().filter_map(|row| row.get(at));
        cells.map(|cell| columns(cell)).max().unwrap_or_default()
    };
    let widths: Vec<_> = (0..count).map(width).collect();
    let gaps = GAP.len() * count.saturating_sub(1);
    match widths.iter().sum::<usize>() + gaps <= room {
        true => aligned(rows, &widths, look),
        false => stacked(rows),
    }
}

fn aligned(rows: &[Vec<String>], widths: &[usize], look: Look) -> Vec<String> {
    let line = |row: &Vec<String>| {
        let cells: Vec<_> =
            row.iter().zip(widths).map(|(cell, width)| fill(cell, *width)).collect();
        cells.join(GAP).trim_end_matches(' ').to_owned()
    };
    let mut lines: Vec<_> = rows.iter().map(line).collect();
    let mark = if look.ascii { "-" } else { "─" };
    let under: Vec<_> = widths.iter().map(|width| mark.repeat(*width)).collect();
    lines.insert(lines.len().min(1), under.join(GAP));
    lines
}

fn stacked(rows: &[Vec<String>]) -> Vec<String> {
    let Some((head, rows)) = rows.split_first() else { return Vec::new() };
    if rows.is_empty() {
        return vec![head.join(", ")];
    }
    let mut lines = Vec::new();
    for row in rows {
        for (at, cell) in row.iter().enumerate().filter(|(_, cell)| !cell.is_empty()) {
            let name = head.get(at).filter(|name| !name.is_empty());
            lines.push(name.map_or_else(|| cell.clone(), |name| format!("{name}: {cell}")));
        }
        lines.push(String::new());
    }
    lines
}
