//! What may be hidden in text, and how it is shown (rule 21).
//!
//! Text from agents and people is stored as it came and made visible where it is shown. This module
//! decides which characters can hide something or move a terminal's cursor; it does not lay out.

use std::borrow::Cow;
use unicode_properties::{GeneralCategory, UnicodeEmoji, UnicodeGeneralCategory};

/// Whether `c` must not reach a terminal, a log or a page as it is: control characters, escape
/// sequences' beginnings, bidirectional overrides, zero-width and tag characters, private use,
/// line separators that only some programs take for one, and what is assigned to nothing.
pub fn is_hidden(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_control();
    }
    if planted!("hidden_is_shown") {
        return false;
    }
    // The Hangul fillers and the braille blank are letters and symbols by category, and invisible.
    // Variation selectors belong to emoji, but a run of them carries hidden bytes.
    let blank = matches!(
        c,
        '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}' | '\u{2800}' | '\u{034f}'
            | '\u{fe00}'..='\u{fe0e}' | '\u{e0100}'..='\u{e01ef}'
    );
    let joiner = c == JOINER; // whether it holds emoji together is for what stands around it to say
    blank
        || (!joiner
            && matches!(
                c.general_category(),
                GeneralCategory::Control
                    | GeneralCategory::Format
                    | GeneralCategory::LineSeparator
                    | GeneralCategory::ParagraphSeparator
                    | GeneralCategory::PrivateUse
                    | GeneralCategory::Surrogate
                    | GeneralCategory::Unassigned
            ))
}

/// Holds emoji together, and is not seen.
const JOINER: char = '\u{200d}';

/// Whether a joiner between these holds emoji together: what it stands behind may bear a variation or a
/// tone of skin. Anywhere else it only hides.
fn joins(before: Option<char>, after: Option<char>) -> bool {
    let is_emoji = |c: char| !c.is_ascii() && c.is_emoji_char();
    before.is_some_and(|c| is_emoji(c) || c == '\u{fe0f}') && after.is_some_and(is_emoji)
}

/// Each character with whether it is a joiner that holds nothing together.
fn with_loose(text: &str) -> impl Iterator<Item = (char, bool)> {
    let mut all = text.chars().peekable();
    let mut before = None;
    std::iter::from_fn(move || {
        let c = all.next()?;
        let is_loose = c == JOINER && !joins(before, all.peek().copied());
        before = Some(c);
        Some((c, is_loose))
    })
}

/// Marks on one character that stay as they are: more than any script needs, and too few to be drawn
/// over the lines above and below.
const MARKS: usize = 8;

/// `text` with every hidden character shown as a mark (`\u{1b}`); line feeds and tabs stay.
pub fn visible(text: &str) -> Cow<'_, str> {
    show(text, |c| is_hidden(c) && c != '\n' && c != '\t')
}

/// `text` on one line: as [`visible`], and line feeds and tabs are marks too.
pub fn visible_line(text: &str) -> Cow<'_, str> {
    show(text, is_hidden)
}

/// The beginning of `text` as [`visible_line`], to name in a message what somebody sent: a message
/// must not grow with it.
pub fn brief(text: &str) -> String {
    const CHARS: usize = 40; // enough to know it again
    let mut rest = text.chars();
    let start: String = rest.by_ref().take(CHARS).collect();
    let more = if rest.next().is_some() { "…" } else { "" };
    format!("{}{more}", visible_line(&start))
}

/// The beginning of `text`, at most `bytes` of it, whole characters.
pub fn begin(text: &str, bytes: usize) -> &str {
    let fits = |end: &usize| text.is_char_boundary(*end);
    let end = (0..=bytes.min(text.len())).rev().find(fits).unwrap_or(0);
    &text[..end]
}

fn show(text: &str, hide: impl Fn(char) -> bool) -> Cow<'_, str> {
    let mut piled = Piled::default();
    if !with_loose(text).any(|(c, is_loose)| piled.is_over(c) || is_loose || hide(c)) {
        return Cow::Borrowed(text);
    }
    let mut piled = Piled::default();
    let mut shown = String::with_capacity(text.len() + 16);
    for (c, is_loose) in with_loose(text) {
        match c {
            c if !piled.is_over(c) && !is_loose && !hide(c) => shown.push(c),
            '\n' => shown.push_str("\\n"),
            '\t' => shown.push_str("\\t"),
            '\r' => shown.push_str("\\r"),
            c => shown.extend(c.escape_unicode()),
        }
    }
    Cow::Owned(shown)
}

/// Counts the marks on the character under way.
#[derive(Default)]
struct Piled(usize);

impl Piled {
    /// Whether `c`, which comes next, is one too many.
    fn is_over(&mut self, c: char) -> bool {
        let is_mark = !c.is_ascii()
            && matches!(
                c.general_category(),
                GeneralCategory::NonspacingMark | GeneralCategory::EnclosingMark
            );
        self.0 = if is_mark { self.0 + 1 } else { 0 };
        self.0 > MARKS
    }
}

/// Whether `text` is one line with nothing hidden in it.
pub fn is_one_safe_line(text: &str) -> bool {
    !text.chars().any(is_hidden)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rule 21 at its source: what every surface calls before it shows text.
    #[test]
    fn rule_21_nothing_hidden_in_text() {
        let hostile = [
            "\u{1b}[2J",
            "\u{9b}31m",
            "\u{7}",
            "\u{8}",
            "\u{7f}",
            "\u{0}",
            "\r",
            "\u{202e}",
            "\u{2066}",
            "\u{200b}",
            "\u{feff}",
            "\u{e0041}",
            "\u{e000}",
            "\u{2028}",
            "\u{85}",
            "\u{3164}",
            "\u{ad}",
            "\u{fe00}",
            "\u{10ffff}",
        ];
        for text in hostile {
            assert!(!is_one_safe_line(text), "{text:?}");
            assert!(is_one_safe_line(&visible(text)), "{text:?}");
        }
        assert_eq!(visible("rm \u{202e}fdp.exe"), "rm \\u{202e}fdp.exe");
    }

    #[test]
    fn a_joiner_that_holds_no_emoji_together_is_shown() {
        for text in ["a\u{200d}b", "\u{200d}", "👩\u{200d}", "\u{200d}👩", "1\u{200d}2"] {
            let shown = visible_line(text).into_owned();
            assert_eq!(shown, text.replace('\u{200d}', "\\u{200d}"), "{text:?}");
            assert_eq!(visible(text), shown);
            assert_eq!(visible(&shown), shown);
        }
    }

    #[test]
    fn marks_piled_on_a_character_stay_in_its_line() {
        let piled = |marks: usize| format!("e{}x", "\u{301}".repeat(marks));
        assert_eq!(visible(&piled(MARKS)), piled(MARKS));
        let over = visible(&piled(MARKS + 2)).into_owned();
        assert_eq!(over, format!("e{}\\u{{301}}\\u{{301}}x", "\u{301}".repeat(MARKS)));
        assert_eq!(visible(&over), over);
        let apart = format!("{}{}", piled(MARKS), piled(MARKS));
        assert_eq!(visible(&apart), apart);
    }

    #[test]
    fn what_was_sent_is_named_in_brief() {
        assert_eq!(brief("Postgres"), "Postgres");
        assert_eq!(brief("a\u{1b}b"), "a\\u{1b}b");
        assert_eq!(brief(&"日".repeat(40)), "日".repeat(40));
        assert_eq!(brief(&"日".repeat(1_000_000)), format!("{}…", "日".repeat(40)));
    }

    #[test]
    fn ordinary_text_of_any_script_stays_as_it_is() {
        for text in [
            "Grüße",
            "日本語",
            "한국어",
            "नमस्ते",
            "שלום",
            "👩‍👩‍👧 ✅",
            "❤\u{fe0f}",
            "❤\u{fe0f}\u{200d}🔥👩🏽\u{200d}🚀",
            "a\nb\tc",
        ] {
            assert_eq!(visible(text), text);
        }
        assert_eq!(visible_line("a\nb\tc"), "a\\nb\\tc");
    }
}
