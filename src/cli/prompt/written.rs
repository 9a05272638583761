//! What stands in the line of a prompt, and where its cursor is: the library that draws it does not
//! say. It has what is typed from the same keys, and does with each what is done here.

use unicode_segmentation::UnicodeSegmentation;

/// A line of text under way. Places and lengths are in characters as a reader takes them.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Written {
    text: String,
    cursor: usize,
    /// The bytes of a character of which some are still to come.
    begun: Vec<u8>,
}

impl Written {
    /// With this in it, and the cursor behind it.
    pub fn new(text: &str) -> Self {
        let cursor = text.graphemes(true).count();
        Self { text: text.to_owned(), cursor, begun: Vec::new() }
    }

    /// How many characters there are.
    pub fn length(&self) -> usize {
        self.text.graphemes(true).count()
    }

    /// How many of them stand before the cursor.
    pub fn cursor(&self) -> usize {
        self.cursor
    }

    /// A byte is typed at the cursor; a character is there with its last one.
    pub fn byte(&mut self, byte: u8) {
        self.begun.push(byte);
        match std::str::from_utf8(&self.begun) {
            Ok(character) => {
                let character = character.to_owned();
                self.begun.clear();
                self.insert(&character);
            }
            Err(error) if error.error_len().is_some() => self.begun.clear(),
            Err(_) => {}
        }
    }

    fn insert(&mut self, character: &str) {
        let before = self.length();
        self.text.insert_str(self.offset(self.cursor), character);
        // What joins the character before it makes no other one.
        if self.length() != before {
            self.cursor += 1;
        }
    }

    /// So many characters before the cursor go.
    pub fn erase(&mut self, count: usize) {
        let from = self.cursor.saturating_sub(count);
        self.remove(from, self.cursor);
        self.cursor = from;
    }

    /// So many after it go.
    pub fn delete(&mut self, count: usize) {
        self.remove(self.cursor, self.cursor + count);
    }

    fn remove(&mut self, from: usize, to: usize) {
        let range = self.offset(from)..self.offset(to);
        self.text.replace_range(range, "");
    }

    /// The cursor goes to this place, or to the end.
    pub fn go(&mut self, place: usize) {
        self.cursor = place.min(self.length());
    }

    /// Where the word begins that is before the cursor.
    pub fn word_left(&self) -> usize {
        let before: Vec<_> = self.text.graphemes(true).take(self.cursor).collect();
        let after_gap = before.iter().rposition(|c| is_of_word(c)).map_or(0, |at| at + 1);
        before[..after_gap].iter().rposition(|c| !is_of_word(c)).map_or(0, |at| at + 1)
    }

    /// Where the word ends that is after the cursor.
    pub fn word_right(&self) -> usize {
        let all: Vec<_> = self.text.graphemes(true).collect();
        let from = |place: usize, is: &dyn Fn(&str) -> bool| {
            all[place..].iter().position(|c| is(c)).map_or(all.len(), |at| place + at)
        };
        let begin = from(self.cursor.min(all.len()), &is_of_word);
        from(begin, &|c| !is_of_word(c))
    }

    /// How many characters before the cursor are its word, as shells erase one: what has no space in it,
    /// and the spaces after that.
    pub fn word_before(&self) -> usize {
        let before: Vec<_> = self.text.graphemes(true).take(self.cursor).collect();
        let is_space = |c: &str| c.chars().all(char::is_whitespace);
        let end = before.iter().rposition(|c| !is_space(c)).map_or(0, |at| at + 1);
        let begin = before[..end].iter().rposition(|c| is_space(c)).map_or(0, |at| at + 1);
        before.len() - begin
    }

    fn offset(&self, place: usize) -> usize {
        self.text.grapheme_indices(true).nth(place).map_or(self.text.len(), |(at, _)| at)
    }
}

/// As the library has it.
fn is_of_word(character: &str) -> bool {
    character.unicode_words().next().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(text: &str) -> Written {
        let mut written = Written::default();
        text.bytes().for_each(|byte| written.byte(byte));
        written
    }

    #[test]
    fn what_is_typed_stands_where_the_cursor_is() {
        let mut line = typed("größe 日本 e\u{301}");
        assert_eq!((line.length(), line.cursor()), (10, 10), "a reader sees so many characters");
        assert_eq!(line, Written::new("größe 日本 e\u{301}"));
        line.go(0);
        line.byte(b'x');
        assert_eq!((line.text.as_str(), line.cursor()), ("xgröße 日本 e\u{301}", 1));
        line.delete(5);
        line.go(99);
        line.erase(1);
        assert_eq!((line.text.as_str(), line.cursor()), ("x 日本 ", 5));
        line.erase(99);
        line.delete(99);
        assert_eq!(line, Written::default());
        line.byte(0xff);
        line.byte(b'a');
        assert_eq!(line.text, "a", "what is no text is not there");
    }

    #[test]
    fn words_are_found_on_both_sides() {
        let mut line = typed("one, two-three  ");
        assert_eq!((line.word_left(), line.word_before()), (9, 11));
        line.go(7);
        assert_eq!((line.word_left(), line.word_right(), line.word_before()), (5, 8, 2));
        line.go(0);
        assert_eq!((line.word_left(), line.word_right(), line.word_before()), (0, 3, 0));
        line.go(3);
        assert_eq!((line.word_right(), line.word_before()), (8, 3));
        assert_eq!(typed("   ").word_before(), 3);
    }
}
