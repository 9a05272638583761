//! Laying text out: how many columns it takes, where it is cut, where its lines break. It may hold our
//! own marks of weight and colour, which take no columns; anybody else's text was made visible before
//! (rule 21).
//!
//! Terminals do not agree on how wide some emoji are. What is reckoned here is the widest that any of
//! them takes, so that a line may come out too short, and never too long.

use super::human::PLAIN;
use std::borrow::Cow;
use textwrap::core::Fragment;
use textwrap::wrap_algorithms::wrap_first_fit;
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// How wide a line may be that nobody keeps to a width.
pub const UNBOUNDED: usize = usize::MAX;
/// Spaces that stand for a tab: where a tab ends depends on what stands before it.
const TAB: &str = "    ";

/// The columns that `text` takes.
pub fn columns(text: &str) -> usize {
    pieces(text).map(|(_, width)| width).sum()
}

/// `text` in at most `width` columns, with `ellipsis` in place of what is missing.
pub fn cut<'a>(text: &'a str, width: usize, ellipsis: &str) -> Cow<'a, str> {
    if columns(text) <= width {
        return Cow::Borrowed(text);
    }
    let room = width.saturating_sub(columns(ellipsis));
    let (mut used, mut kept, mut styled) = (0, String::new(), false);
    for (piece, columns) in pieces(text) {
        if used + columns > room {
            break;
        }
        styled = piece != PLAIN && (styled || is_mark(piece));
        used += columns;
        kept.push_str(piece);
    }
    kept.truncate(kept.trim_end_matches(' ').len());
    if styled {
        kept.push_str(PLAIN);
    }
    if columns(ellipsis) <= width {
        kept.push_str(ellipsis);
    }
    Cow::Owned(kept)
}

/// `text` with spaces after it to fill `width` columns.
pub fn fill(text: &str, width: usize) -> String {
    let missing = width.saturating_sub(columns(text));
    format!("{text}{}", " ".repeat(missing))
}

/// The lines of `text`, none wider than `width` with `first` before the first of each and `rest` before
/// those it is broken into. Line feeds break too. A line keeps the spaces it begins with.
pub fn wrap(text: &str, width: usize, first: &str, rest: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut style = String::new();
    for line in text.split('\n') {
        let line = line.replace('\t', TAB);
        let before = if lines.is_empty() { first } else { rest };
        wrap_line(&line, width, before, rest, &mut style, &mut lines);
    }
    lines
}

/// One line; `style` is what is in force where it begins, and then where it ends.
fn wrap_line(
    line: &str,
    width: usize,
    first: &str,
    rest: &str,
    style: &mut String,
    lines: &mut Vec<String>,
) {
    let room = |before: &str| width.saturating_sub(columns(before)).max(1);
    let indent = line.len() - line.trim_start_matches(' ').len();
    // What is indented by more than half of the room is not worth keeping so.
    let indent = if indent > room(rest) / 2 { 0 } else { indent };
    let hanging = " ".repeat(indent);
    let (first, rest) = (format!("{first}{hanging}"), format!("{rest}{hanging}"));
    let narrowest = room(&first).min(room(&rest));
    let words = words(&line[indent..], narrowest);
    let widths = [room(&first) as f64, room(&rest) as f64];
    let mut broken = wrap_first_fit(&words, &widths);
    if broken.is_empty() {
        broken.push(&[]);
    }
    for (place, words) in broken.into_iter().enumerate() {
        let mut text = if place == 0 { first.clone() } else { rest.clone() };
        text.push_str(style);
        for (place, word) in words.iter().enumerate() {
            text.push_str(word.text);
            if place + 1 < words.len() {
                text.push_str(&" ".repeat(word.spaces));
            }
            note_style(word.text, style);
        }
        if style.is_empty() {
            text.truncate(text.trim_end_matches(' ').len());
        } else {
            text.push_str(PLAIN);
        }
        lines.push(text);
    }
}

/// What is in force after `text`.
fn note_style(text: &str, style: &mut String) {
    for (piece, _) in pieces(text).filter(|(piece, _)| is_mark(piece)) {
        match piece {
            PLAIN => style.clear(),
            mark => style.push_str(mark),
        }
    }
}

/// A stretch of text that is not broken, and the spaces after it.
#[derive(Debug)]
struct Word<'a> {
    text: &'a str,
    width: usize,
    spaces: usize,
}

impl Fragment for Word<'_> {
    fn width(&self) -> f64 {
        self.width as f64
    }

    fn whitespace_width(&self) -> f64 {
        self.spaces as f64
    }

    fn penalty_width(&self) -> f64 {
        0.0
    }
}

/// The words of a line, those that are wider than `widest` broken between characters.
fn words(line: &str, widest: usize) -> Vec<Word<'_>> {
    let mut words = Vec::new();
    let (mut start, mut end, mut width, mut spaces) = (0, 0, 0_usize, 0);
    let mut at = 0;
    for (piece, columns) in pieces(line) {
        let is_space = piece == " ";
        let begins = spaces > 0 && !is_space;
        if begins || (!is_space && width > 0 && width.saturating_add(columns) > widest) {
            words.push(Word { text: &line[start..end], width, spaces });
            (start, width, spaces) = (at, 0, 0);
        }
        at += piece.len();
        if is_space {
            spaces += 1;
        } else {
            width += columns;
            end = at;
        }
    }
    if at > start {
        words.push(Word { text: &line[start..end.max(start)], width, spaces });
    }
    words
}

/// What `text` is made of: our own marks, which take no columns, and what readers take for one
/// character each, with its columns.
fn pieces(text: &str) -> impl Iterator<Item = (&str, usize)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if let Some(end) = rest.strip_prefix("\u{1b}[").and_then(|rest| rest.find('m')) {
            let (mark, after) = rest.split_at("\u{1b}[".len() + end + 1);
            rest = after;
            return Some((mark, 0));
        }
        let piece = rest.graphemes(true).next()?;
        rest = &rest[piece.len()..];
        Some((piece, widest(piece)))
    })
}

fn is_mark(piece: &str) -> bool {
    piece.starts_with("\u{1b}[")
}

/// The most columns that a terminal gives to a character: as one, or as the parts it is made of.
fn widest(character: &str) -> usize {
    let parts = character.chars().filter_map(UnicodeWidthChar::width).sum();
    character.width().max(parts)
}

#[cfg(test)]
mod tests {
    use super::super::human::BOLD;
    use super::*;

    #[test]
    fn columns_are_those_of_the_widest_terminal() {
        for (text, width) in [
            ("", 0),
            ("abc", 3),
            ("日本", 4),
            ("e\u{301}", 1),
            ("👩\u{200d}👩\u{200d}👧", 6),
            ("❤\u{fe0f}", 2),
            ("\u{1b}[1mab\u{1b}[0m", 2),
        ] {
            assert_eq!(columns(text), width, "{text:?}");
        }
    }

    #[test]
    fn a_cut_is_between_characters_and_says_that_it_was_made() {
        for (text, width, expected) in [
            ("abc", 3, "abc"),
            ("abcd", 3, "ab…"),
            ("日本語", 5, "日本…"),
            ("日本語", 4, "日…"),
            ("e\u{301}e\u{301}e\u{301}", 2, "e\u{301}…"),
            ("👩\u{200d}👩\u{200d}👧 ok", 6, "…"),
            ("ab cd", 4, "ab…"),
            ("abc", 0, ""),
            ("\u{1b}[1mabcd\u{1b}[0m", 3, "\u{1b}[1mab\u{1b}[0m…"),
            ("\u{1b}[1ma\u{1b}[0mbcd", 3, "\u{1b}[1ma\u{1b}[0mb…"),
        ] {
            assert_eq!(cut(text, width, "…"), expected, "{text:?} in {width}");
        }
    }

    #[test]
    fn lines_break_between_words_and_long_words_between_characters() {
        assert_eq!(wrap("one two three", 8, "", ""), ["one two", "three"]);
        assert_eq!(wrap("one two", 6, "- ", "  "), ["- one", "  two"]);
        assert_eq!(wrap("abcdefgh", 3, "", ""), ["abc", "def", "gh"]);
        assert_eq!(wrap("日本語", 4, "", ""), ["日本", "語"]);
        assert_eq!(wrap("a\n\nb", 9, "| ", "| "), ["| a", "|", "| b"]);
        assert_eq!(wrap("  in one", 7, "", ""), ["  in", "  one"]);
        assert_eq!(wrap("a\tb", UNBOUNDED, "", ""), ["a    b"]);
        assert_eq!(wrap("", 9, "", ""), [""]);
        assert_eq!(wrap("日", 1, "", ""), ["日"], "what does not fit at all is shown");
    }

    #[test]
    fn weight_is_ended_with_each_line_and_begun_anew() {
        let text = format!("{BOLD}one two{PLAIN} three");
        let lines = [format!("{BOLD}one{PLAIN}"), format!("{BOLD}two{PLAIN}"), "three".to_owned()];
        assert_eq!(wrap(&text, 5, "", ""), lines);
    }

    #[test]
    fn no_line_is_too_wide_whatever_is_in_it() {
        let parts = ["a", " ", "日", "e\u{301}", "👩\u{200d}👧", "\t", "wordwordword", "\n", "  "];
        for seed in 0_usize..500 {
            let mut dice = seed;
            let text: String = (0..20)
                .map(|_| {
                    dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    parts[(dice >> 33) % parts.len()]
                })
                .collect();
            for width in [10, 13, 40] {
                for line in wrap(&text, width, "| ", "| ") {
                    assert!(columns(&line) <= width, "{line:?} of {text:?} in {width}");
                }
            }
        }
    }
}
