//! What keys mean at a prompt. The library that draws prompts takes a letter that is pressed with ctrl
//! for the letter itself, and knows nothing of numbers in a menu; so keys pass here first, byte by byte
//! as a terminal sends them, and become the keys it knows.

use super::Prompt;

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
    /// A line of text with at most so many characters, and whether the cursor is known to be at its
    /// beginning.
    Line { most: usize, at_start: bool },
}

impl Keys {
    /// Those of `prompt`.
    pub fn of(prompt: &Prompt) -> Self {
        let at = match prompt {
            Prompt::Choose { entries, .. } | Prompt::Mark { entries, .. } => {
                At::Menu { numbered: numbered(entries), number: 0 }
            }
            Prompt::Write { initial, .. } => {
                At::Line { most: initial.chars().count(), at_start: initial.is_empty() }
            }
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
            self.typed();
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
        if let At::Line { at_start, .. } = &mut self.at {
            let is_home = [HOME, b"\x1bOH", b"\x1b[1~"].contains(&sequence);
            *at_start = is_home || (*at_start && [LEFT, b"\x1bOD"].contains(&sequence));
        }
        passed.extend_from_slice(sequence);
        length
    }

    fn with_alt(&mut self, key: u8, passed: &mut Vec<u8>) {
        let At::Line { at_start, .. } = &mut self.at else { return };
        match key {
            b'b' => passed.extend_from_slice(WORD_LEFT),
            b'f' => {
                *at_start = false;
                passed.extend_from_slice(WORD_RIGHT);
            }
            b'd' => passed.extend_from_slice(DELETE_WORD),
            BACKSPACE => self.key(CTRL_W, passed),
            // What has no meaning here must not type a letter.
            _ => {}
        }
    }

    fn key(&mut self, key: u8, passed: &mut Vec<u8>) {
        match &mut self.at {
            At::Menu { numbered, number } => in_menu(key, *numbered, number, passed),
            At::Line { .. } if is_letter(key) => {
                self.typed();
                passed.push(key);
            }
            At::Line { most, at_start } => in_line(key, *most, at_start, passed),
        }
    }

    fn typed(&mut self) {
        if let At::Line { most, at_start } = &mut self.at {
            *most += 1;
            *at_start = false;
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

/// Keys that type no letter, in a line of at most so many.
fn in_line(key: u8, most: usize, at_start: &mut bool, passed: &mut Vec<u8>) {
    let was_at_start = *at_start;
    match key {
        b'\r' | b'\n' => passed.push(b'\r'),
        CTRL_C => passed.push(key),
        // With nothing typed it is the end, as elsewhere.
        CTRL_D if most == 0 => passed.push(key),
        CTRL_D => passed.extend_from_slice(DELETE),
        BACKSPACE | CTRL_H => passed.push(BACKSPACE),
        CTRL_A => {
            *at_start = true;
            passed.extend_from_slice(HOME);
        }
        CTRL_E => {
            *at_start = false;
            passed.extend_from_slice(END);
        }
        CTRL_B => passed.extend_from_slice(LEFT),
        CTRL_F => {
            *at_start = false;
            passed.extend_from_slice(RIGHT);
        }
        // More than there are take nothing more.
        CTRL_U => {
            *at_start = true;
            passed.extend([BACKSPACE].repeat(most));
        }
        CTRL_K => passed.extend(DELETE.repeat(most)),
        CTRL_W if !was_at_start => {
            passed.extend_from_slice(WORD_LEFT);
            passed.extend_from_slice(DELETE_WORD);
        }
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
        let word: &[u8] = b"ab\x1b[1;5D\x1b[3;5~";
        for (typed, passed) in [
            (&b"ab"[..], &b"ab"[..]),
            (b"ab\x15", b"ab\x7f\x7f"),
            (b"ab\x01\x0b", b"ab\x1b[H\x1b[3~\x1b[3~"),
            (b"ab\x01c\x05", b"ab\x1b[Hc\x1b[F"),
            (b"ab\x17", word),
            (b"ab\x1b\x7f", word),
            (b"ab\x01\x17", b"ab\x1b[H"),
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
        assert_eq!(keys.pass(b"1~\x17"), b"\x1b[201~\x1b[1;5D\x1b[3;5~");
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
