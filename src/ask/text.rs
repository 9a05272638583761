//! What may be hidden in text, and how it is shown (rule 21).
//!
//! Text from agents and people is stored as it came and made visible where it is shown. This module
//! decides which characters can hide something or move a terminal's cursor; it does not lay out.

use std::borrow::Cow;
use unicode_normalization::char::is_combining_mark;
use unicode_properties::{GeneralCategory, UnicodeEmoji, UnicodeGeneralCategory};
use unicode_security::MixedScript;
use unicode_security::confusable_detection::skeleton;
use unicode_security::mixed_script::AugmentedScriptSet;

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
/// Says that what stands before it is drawn as an emoji, and is not seen.
const VARIATION: char = '\u{fe0f}';

/// Whether `c` holds emoji together, or says how one is drawn: alone it is nothing.
pub(super) fn is_of_emoji(c: char) -> bool {
    matches!(c, JOINER | VARIATION)
}

/// Whether a joiner between these holds emoji together: what it stands behind may bear a variation or a
/// tone of skin. Anywhere else it only hides.
fn joins(before: Option<char>, after: Option<char>) -> bool {
    let is_emoji = |c: char| !c.is_ascii() && c.is_emoji_char();
    before.is_some_and(|c| is_emoji(c) || c == VARIATION) && after.is_some_and(is_emoji)
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

/// `text` with every hidden character shown as a mark (`\u{1b}`), and every letter that is not of the
/// script it seems to be of (`p\u{430}ypal`); line feeds and tabs stay.
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
    let disguised = disguised_letters(text);
    let hides = with_loose(text).any(|(c, is_loose)| piled.is_over(c) || is_loose || hide(c));
    if !hides && disguised.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut piled = Piled::default();
    let mut disguised = disguised.into_iter().peekable();
    let mut shown = String::with_capacity(text.len() + 16);
    for (place, (c, is_loose)) in with_loose(text).enumerate() {
        let is_disguised = disguised.next_if_eq(&place).is_some();
        match c {
            c if !piled.is_over(c) && !is_loose && !hide(c) && !is_disguised => shown.push(c),
            '\n' => shown.push_str("\\n"),
            '\t' => shown.push_str("\\t"),
            '\r' => shown.push_str("\\r"),
            c => shown.extend(c.escape_unicode()),
        }
    }
    Cow::Owned(shown)
}

/// Whether `c` is of a word, and not between two.
pub(super) fn is_of_a_word(c: char) -> bool {
    c.is_alphanumeric() || (!c.is_ascii() && is_combining_mark(c))
}

/// Whether `word` mixes letters of several scripts and looks as if all were Latin, as a Latin word with a
/// Cyrillic `а` in it does. Where a reader sees that scripts are mixed, or they are used together, as in
/// Japanese, nothing is disguised.
pub(super) fn is_disguised(word: &str) -> bool {
    if word.is_ascii() {
        return false;
    }
    // Two characters for one unit of measure: this one is Greek by its name alone.
    let word = &*word.replace('\u{3bc}', "\u{b5}");
    let is_of_east_asia = |c: char| {
        let scripts = AugmentedScriptSet::for_char(c);
        !scripts.is_all() && (scripts.hanb || scripts.jpan || scripts.kore)
    };
    let is_foreign = |c: &char| c.is_alphabetic() && !is_latin(*c);
    !word.is_single_script()
        && !word.chars().any(is_of_east_asia)
        && word
            .chars()
            .filter(is_foreign)
            .all(|c| as_it_looks(c.encode_utf8(&mut [0; 4])).is_ascii())
}

/// Whether `c` is Latin, or of every script.
fn is_latin(c: char) -> bool {
    let mut both = AugmentedScriptSet::for_char(c);
    both.intersect_with(AugmentedScriptSet::for_char('a'));
    !both.is_empty()
}

/// `word` in the letters that it looks to be made of. Those of ASCII stay: an `m` may be taken for `rn`, but is
/// of the same script.
pub(super) fn as_it_looks(word: &str) -> String {
    let mut bytes = [0; 4];
    let looks = |c: char| -> String {
        let one = &*c.encode_utf8(&mut bytes);
        if c.is_ascii() { one.to_owned() } else { skeleton(one).collect() }
    };
    word.chars().map(looks).collect()
}

/// The places of letters that are of another script than most of their word, where that is disguised.
fn disguised_letters(text: &str) -> Vec<usize> {
    let mut found = Vec::new();
    if text.is_ascii() {
        return found;
    }
    let mut begin = 0;
    for part in text.split_inclusive(|c| !is_of_a_word(c)) {
        let word = part.trim_end_matches(|c| !is_of_a_word(c));
        if is_disguised(word) {
            let letters = || word.chars().enumerate().filter(|(_, c)| c.is_alphabetic());
            let latin = letters().filter(|(_, c)| is_latin(*c)).count();
            // The fewer are the odd ones; where there are as many, those that are not Latin.
            let is_latin_odd = 0 < latin && latin < letters().count() - latin;
            let odd = letters().filter(|(_, c)| is_latin(*c) == is_latin_odd);
            found.extend(odd.map(|(place, _)| begin + place));
        }
        begin += part.chars().count();
    }
    found
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
    fn a_letter_that_seems_to_be_of_its_words_script_and_is_not_is_shown() {
        for (text, shown) in [
            ("p\u{430}ypal", "p\\u{430}ypal"),
            ("p\u{430}yp\u{e1}l", "p\\u{430}yp\u{e1}l"),
            ("use \u{420}ostgres, now", "use \\u{420}ostgres, now"),
            ("\u{3bf}wner", "\\u{3bf}wner"),
            // Of a Cyrillic word it is the Latin letter.
            ("c\u{435}\u{440}\u{430}", "\\u{63}\u{435}\u{440}\u{430}"),
            ("a\u{430}", "a\\u{430}"),
            ("de\u{440}loy\nnow", "de\\u{440}loy\nnow"),
            // None of them is what they look like.
            ("\u{3a1}\u{430}\u{443}", "\\u{3a1}\\u{430}\\u{443}"),
        ] {
            assert_eq!(visible(text), shown, "{text}");
            assert_eq!(visible(shown), shown);
            assert!(is_one_safe_line(text) || text.contains('\n'), "it may be said: {text}");
        }
    }

    #[test]
    fn words_of_one_script_and_scripts_that_are_used_together_stay_as_they_are() {
        for text in [
            "сервер",
            "сор",
            "API-сервер за 5 минут",
            "SQLзапрос",
            "USBшный",
            "日本語Postgres",
            "データベースをPostgreSQLに移行",
            "ノA",
            "한국어API",
            "ใช้Postgres",
            "10μs",
            "5µm",
            "Ωm",
            "Δt",
            "ελληνικά",
            "Việt Nam naïve größe",
            "ﬁt ①",
        ] {
            assert_eq!(visible(text), text);
        }
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
