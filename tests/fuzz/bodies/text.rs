//! Text as terminals get it: nothing hidden, the same when it is done again, no longer than its marks.

use askway::ask::text::{begin, brief, is_hidden, is_one_safe_line, visible, visible_line};

/// The longest mark of one character, `\u{10ffff}`, in bytes; the shortest character has one.
const MARK_BYTES: usize = 10;
/// Characters that `brief` names at most, each as its mark, and a sign that there is more.
const BRIEF_BYTES: usize = 40 * MARK_BYTES + 3;

pub fn run(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    let (shown, line, named) = (visible(text), visible_line(text), brief(text));
    assert!(shown.chars().all(|c| !is_hidden(c) || matches!(c, '\n' | '\t')), "{shown:?}");
    assert!(is_one_safe_line(&line), "{line:?}");
    assert!(is_one_safe_line(&named), "{named:?}");
    assert_eq!(visible(&shown), shown, "shown again it is the same");
    assert_eq!(visible_line(&line), line, "shown again it is the same");
    assert!(shown.len() <= MARK_BYTES * text.len(), "{} of {}", shown.len(), text.len());
    assert!(named.len() <= BRIEF_BYTES, "{}", named.len());
    if is_one_safe_line(text) {
        // Whether a joiner holds emoji together is for what stands around it to say.
        let joined = |text: &str| text.replace("\\u{200d}", "\u{200d}");
        assert_eq!(joined(&line), joined(text), "what is safe stays as it is");
    }
    for end in 0..=text.len().min(16) {
        let start = begin(text, end);
        assert!(text.starts_with(start) && start.len() <= end && end - start.len() < 4);
    }
    true
}
