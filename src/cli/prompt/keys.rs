//! What keys mean at a prompt. The library that draws prompts takes a letter that is pressed with ctrl
//! for the letter itself, and knows nothing of numbers in a menu; so keys pass here first, byte by byte
//! as a terminal sends them, and become the keys it knows.

use super::Prompt;
use super::written::Written;

const HOME: &[u8] = b"\x1b[H";
const END: &[u8] = b"\x1b[F";
const LEFT: &[u8] = b"\x1b[D";
const RIGHT: &[u8] = b"\x1b[C";
const DOWN: &[u8] = b"\x1b[B";
const DELETE: &[u8] = b"\x1b[3~";
const WORD_LEFT: &[u8] = b"\x1b[1;5D";
const WORD_RIGHT: &[u8] = b"\x1b[1;5C";
const DELETE_WORD: &[u8] = b"\x1b[3;5~";
const PASTE: &[u8] = b"\x1b[200~";
const PASTED: &[u8] = b"\x1b[201~";

const ESC: u8 = 0x1b;
const BACKSPACE: u8 = 0x7f;
const CTRL_A: u8 = 0x01;
const CTRL_B: u8 = 0x02;
const CTRL_C: u8 = 0x03;
const CTRL_D: u8 = 0x04;
const CTRL_E: u8 = 0x05;
const CTRL_F: u8 = 0x06;
const CTRL_G: u8 = 0x07;
const CTRL_H: u8 = 0x08;
const CTRL_K: u8 = 0x0b;
const CTRL_N: u8 = 0x0e;
const CTRL_P: u8 = 0x10;
const CTRL_U: u8 = 0x15;
const CTRL_W: u8 = 0x17;

/// The keys of one prompt.
pub(super) struct Keys {
    at: At,
    in_paste: bool,
    /// The beginning of what may end a paste.
    held: Vec<u8>,
}

enum At {
    /// A menu with so many numbered entries, and the number that was typed.
    Menu { numbered: usize, number: usize },
    /// A line of text.
    Line(Written),
}

impl Keys {
    /// Those of `prompt`.
    pub fn of(prompt: &Prompt) -> Self {
        let at = match prompt {
            Prompt::Choose { entries, .. } | Prompt::Mark { entries, .. } => {
                At::Menu { numbered: numbered(entries), number: 0 }
            }
            Prompt::Write { initial, .. } => At::Line(Written::new(initial)),
        };
        Self { at, in_paste: false, held: Vec::new() }
    }

    /// What the library is given for `bytes`.
    pub fn pass(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut come = std::mem::take(&mut self.held);
        come.extend_from_slice(bytes);
        let (mut rest, mut passed) = (&come[..], Vec::new());
        while let Some(&first) = rest.first() {
            let taken = match (self.in_paste, first) {
                (true, _) => self.pasted(rest, &mut passed),
                (false, ESC) => self.sequence(rest, &mut passed),
                (false, _) => {
                    self.key(first, &mut passed);
                    1
                }
            };
            if taken == 0 {
                self.held = rest.to_vec();
                break;
            }
            rest = &rest[taken..];
        }
        passed
    }

    /// A part of what is pasted; how many bytes it is, none where more must come first.
    fn pasted(&mut self, rest: &[u8], passed: &mut Vec<u8>) -> usize {
        if rest.starts_with(PASTED) {
            self.in_paste = false;
            passed.extend_from_slice(PASTED);
            return PASTED.len();
        }
        if PASTED.starts_with(rest) {
            return 0;
        }
        let byte = rest[0];
        if !byte.is_ascii_control() || matches!(byte, b'\n' | b'\r' | b'\t') {
            if let At::Line(written) = &mut self.at {
                // An end of a line is one character, however many bytes it has.
                let is_second = byte == b'\n' && passed.last() == Some(&b'\r');
                let byte = if byte == b'\r' { b'\n' } else { byte };
                if !is_second {
                    written.byte(byte);
                }
            }
            passed.push(byte);
        }
        1
    }

    /// What begins with escape: the key alone, a key that sends several bytes, or one with alt.
    fn sequence(&mut self, rest: &[u8], passed: &mut Vec<u8>) -> usize {
        if rest.starts_with(PASTE) {
            self.in_paste = true;
            passed.extend_from_slice(PASTE);
            return PASTE.len();
        }
        let length = match rest.get(1) {
            None | Some(&ESC) => 1,
            Some(b'[') => {
                let ends = |byte: &u8| (0x40..=0x7e).contains(byte);
                rest[2..].iter().position(ends).map_or(rest.len(), |end| end + 3)
            }
            Some(b'O') => rest.len().min(3),
            Some(&with_alt) => {
                self.with_alt(with_alt, passed);
                return 2;
            }
        };
        let sequence = &rest[..length];
        if let At::Line(written) = &mut self.at {
            follow(sequence, written);
        }
        passed.extend_from_slice(sequence);
        length
    }

    fn with_alt(&mut self, key: u8, passed: &mut Vec<u8>) {
        let At::Line(written) = &mut self.at else { return };
        match key {
            b'b' => send(WORD_LEFT, written, passed),
            b'f' => send(WORD_RIGHT, written, passed),
            b'd' => send(DELETE_WORD, written, passed),
            BACKSPACE => self.key(CTRL_W, passed),
            // What has no meaning here must not type a letter.
            _ => {}
        }
    }

    fn key(&mut self, key: u8, passed: &mut Vec<u8>) {
        match &mut self.at {
            At::Menu { numbered, number } => in_menu(key, *numbered, number, passed),
            At::Line(written) if is_letter(key) => {
                written.byte(key);
                passed.push(key);
            }
            At::Line(written) => in_line(key, written, passed),
        }
    }
}

/// How many entries of a menu bear their number.
pub(super) fn numbered(entries: &[String]) -> usize {
    let bears = |(place, entry): &(usize, &String)| entry.starts_with(&format!("{}. ", place + 1));
    entries.iter().enumerate().take_while(bears).count()
}

fn is_letter(key: u8) -> bool {
    !key.is_ascii_control()
}

/// A digit goes to the entry with that number, or with the number it makes with those before it.
fn in_menu(key: u8, numbered: usize, number: &mut usize, passed: &mut Vec<u8>) {
    if !key.is_ascii_digit() {
        *number = 0;
        match key {
            b'\n' => passed.push(b'\r'),
            key if is_letter(key) || is_for_menus(key) => passed.push(key),
            _ => {}
        }
        return;
    }
    let digit = usize::from(key - b'0');
    let longer = *number * 10 + digit;
    *number = if longer <= numbered { longer } else { digit };
    if (1..=numbered).contains(number) {
        passed.extend_from_slice(HOME);
        passed.extend(DOWN.repeat(*number - 1));
    }
}

/// Keys that type no letter, in a line of text.
fn in_line(key: u8, written: &mut Written, passed: &mut Vec<u8>) {
    let mut erase = |count: usize, written: &mut Written| {
        written.erase(count);
        passed.extend([BACKSPACE].repeat(count));
    };
    match key {
        BACKSPACE | CTRL_H => erase(1, written),
        CTRL_U => erase(written.cursor(), written),
        CTRL_W => erase(written.word_before(), written),
        b'\r' | b'\n' => passed.push(b'\r'),
        CTRL_C => passed.push(key),
        // With nothing typed it is the end, as elsewhere.
        CTRL_D if written.length() == 0 => passed.push(key),
        CTRL_D => send(DELETE, written, passed),
        CTRL_A => send(HOME, written, passed),
        CTRL_E => send(END, written, passed),
        CTRL_B => send(LEFT, written, passed),
        CTRL_F => send(RIGHT, written, passed),
        CTRL_K => {
            let after = written.length() - written.cursor();
            passed.extend(DELETE.repeat(after));
            written.delete(after);
        }
        _ => {}
    }
}

/// Passes a key that sends several bytes, and does what it does.
fn send(sequence: &[u8], written: &mut Written, passed: &mut Vec<u8>) {
    follow(sequence, written);
    passed.extend_from_slice(sequence);
}

/// Does what the library does for a key that sends these bytes: `ESC [ NUMBER ; MODIFIERS LETTER`, or
/// `ESC O LETTER`. Those that do nothing to a line are none of these.
fn follow(sequence: &[u8], written: &mut Written) {
    let Some((&letter, rest)) = sequence.split_last() else { return };
    let numbers = std::str::from_utf8(rest.get(2..).unwrap_or_default()).unwrap_or_default();
    let mut numbers = numbers.split(';').map(|number| number.parse::<u8>().unwrap_or(1));
    let (number, modifiers) = (numbers.next().unwrap_or(1), numbers.next().unwrap_or(1));
    let with_ctrl = modifiers.saturating_sub(1) & 4 != 0;
    let (cursor, end) = (written.cursor(), written.length());
    match (letter, number) {
        (b'D', _) if with_ctrl => written.go(written.word_left()),
        (b'D', _) => written.go(cursor.saturating_sub(1)),
        (b'C', _) if with_ctrl => written.go(written.word_right()),
        (b'C', _) => written.go(cursor + 1),
        (b'H', _) | (b'~', 1 | 7) => written.go(0),
        (b'F', _) | (b'~', 4 | 8) => written.go(end),
        (b'~', 3) if with_ctrl => written.delete(written.word_right() - cursor),
        (b'~', 3) => written.delete(1),
        _ => {}
    }
}

/// Enter, what leaves, and up and down without arrows.
fn is_for_menus(key: u8) -> bool {
    [b'\r', CTRL_C, CTRL_D, CTRL_G, CTRL_N, CTRL_P].contains(&key)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(initial: &str) -> Keys {
        Keys::of(&Prompt::Write {
            message: "Why?".into(),
            initial: initial.into(),
            help: String::new(),
        })
    }

    fn menu(entries: &[&str]) -> Keys {
        let entries = entries.iter().map(|&entry| entry.to_owned()).collect();
        Keys::of(&Prompt::Choose { message: "Which?".into(), entries })
    }

    #[test]
    fn a_letter_with_ctrl_or_alt_does_what_it_does_elsewhere_or_nothing() {
        let word: &[u8] = b"ab\x7f\x7f";
        for (typed, passed) in [
            (&b"ab"[..], &b"ab"[..]),
            (b"ab\x15", b"ab\x7f\x7f"),
            (b"ab\x01\x0b\x15", b"ab\x1b[H\x1b[3~\x1b[3~"),
            (b"ab\x01c\x05\x15", b"ab\x1b[Hc\x1b[F\x7f\x7f\x7f"),
            (b"ab\x17", word),
            (b"ab\x1b\x7f", word),
            (b"ab\x01\x17", b"ab\x1b[H"),
            // Back at the beginning by arrows, within a word, and behind spaces.
            (b"ab\x1b[D\x1bOD\x17", b"ab\x1b[D\x1bOD"),
            (b"ab cd\x02\x17", b"ab cd\x1b[D\x7f"),
            (b"ab cd \x17", b"ab cd \x7f\x7f\x7f"),
            (b"ab-cd\x17", b"ab-cd\x7f\x7f\x7f\x7f\x7f"),
            (b"ab cd\x1bb\x17", b"ab cd\x1b[1;5D\x7f\x7f\x7f"),
            (b"ab cd\x1b[1;5D\x1b[3~\x0b", b"ab cd\x1b[1;5D\x1b[3~\x1b[3~"),
            (b"ab cd\x1b[H\x1b[3;5~\x0b", b"ab cd\x1b[H\x1b[3;5~\x1b[3~\x1b[3~\x1b[3~"),
            ("日é\x17".as_bytes(), "日é\x7f\x7f".as_bytes()),
            (b"ab\x08\x02\x06", b"ab\x7f\x1b[D\x1b[C"),
            (b"ab\x1bb\x1bf\x1bd\x1bx", b"ab\x1b[1;5D\x1b[1;5C\x1b[3;5~"),
            (b"\x04", b"\x04"),
            (b"a\x04", b"a\x1b[3~"),
            (b"\x03", b"\x03"),
            (b"a\n", b"a\r"),
            (b"\x07\x0c\x0e\x10\x12\x13\x14\x16\x19\x1a\x1c", b""),
            (b"\x1b", b"\x1b"),
            (b"\x1b[A\x1bOB\x1b[1;2C", b"\x1b[A\x1bOB\x1b[1;2C"),
            ("日é".as_bytes(), "日é".as_bytes()),
        ] {
            assert_eq!(line("").pass(typed), passed, "{typed:?}");
        }
        assert_eq!(line("ab").pass(b"\x15"), b"\x7f\x7f", "what stood there goes too");
    }

    #[test]
    fn what_is_pasted_stays_as_it_is_but_for_what_would_be_keys() {
        let mut keys = line("");
        assert_eq!(keys.pass(b"\x1b[200~a\x15b\n1\x1b[20"), b"\x1b[200~ab\n1");
        assert_eq!(keys.pass(b"1~\x17"), b"\x1b[201~\x7f", "the word is on a line of its own");
        let mut keys = line("");
        assert_eq!(
            keys.pass(b"\x1b[200~a\r\nb\x1b[201~\x15"),
            b"\x1b[200~a\r\nb\x1b[201~\x7f\x7f\x7f"
        );
    }

    #[test]
    fn a_number_goes_to_the_entry_that_bears_it() {
        let labels: Vec<_> = (1..=12).map(|number| format!("{number}. x")).collect();
        let mut labels: Vec<_> = labels.iter().map(String::as_str).collect();
        labels.push("leave");
        let down = |times: usize| [HOME, &DOWN.repeat(times)].concat();
        let mut keys = menu(&labels);
        assert_eq!(keys.pass(b"3"), down(2));
        assert_eq!(keys.pass(b"1"), down(0));
        assert_eq!(keys.pass(b"2"), down(11), "twelve");
        assert_eq!(keys.pass(b"x2"), [b"x", &down(1)[..]].concat(), "two, after another key");
        assert_eq!(menu(&labels).pass(b"0"), b"");
        assert_eq!(menu(&["1. a", "leave"]).pass(b"2"), b"", "it bears no number");
        assert_eq!(menu(&["send it", "leave"]).pass(b"1"), b"");
        assert_eq!(menu(&["1. a"]).pass(b"\x15\x17\x1bd\r\n\x03 "), b"\r\r\x03 ");
    }
}
