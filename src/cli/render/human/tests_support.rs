//! A terminal that says what was done to it, and the widths at which everything is looked at.

use crate::cli::look::Look;
use std::num::NonZeroU16;

/// The looks of a narrow, an ordinary and a wide terminal; the ordinary one in colour.
pub fn widths() -> [Look; 3] {
    [(40, false), (80, true), (120, false)].map(|(width, colour)| Look {
        width,
        colour,
        ascii: false,
        terminal: true,
    })
}

/// What a screen's text did to a terminal.
pub struct OnTerminal {
    parser: vt100::Parser<Obeyed>,
    lines: Vec<String>,
}

/// What no text of ours asks of a terminal.
#[derive(Default)]
struct Obeyed(Vec<String>);

impl Obeyed {
    fn note(&mut self, what: impl Into<String>) {
        self.0.push(what.into());
    }
}

impl vt100::Callbacks for Obeyed {
    fn audible_bell(&mut self, _: &mut vt100::Screen) {
        self.note("bell");
    }
    fn visual_bell(&mut self, _: &mut vt100::Screen) {
        self.note("flash");
    }
    fn resize(&mut self, _: &mut vt100::Screen, size: (u16, u16)) {
        self.note(format!("resize {size:?}"));
    }
    fn set_window_icon_name(&mut self, _: &mut vt100::Screen, name: &[u8]) {
        self.note(format!("icon {name:?}"));
    }
    fn set_window_title(&mut self, _: &mut vt100::Screen, title: &[u8]) {
        self.note(format!("title {title:?}"));
    }
    fn copy_to_clipboard(&mut self, _: &mut vt100::Screen, _: &[u8], data: &[u8]) {
        self.note(format!("clipboard {data:?}"));
    }
    fn paste_from_clipboard(&mut self, _: &mut vt100::Screen, kind: &[u8]) {
        self.note(format!("paste {kind:?}"));
    }
    fn unhandled_char(&mut self, _: &mut vt100::Screen, c: char) {
        // The sign for what is no character is reported, and shown.
        if c != '\u{fffd}' {
            self.note(format!("character {c:?}"));
        }
    }
    fn unhandled_control(&mut self, _: &mut vt100::Screen, byte: u8) {
        self.note(format!("control {byte}"));
    }
    fn unhandled_escape(&mut self, _: &mut vt100::Screen, _: Option<u8>, _: Option<u8>, byte: u8) {
        self.note(format!("escape {byte}"));
    }
    fn unhandled_csi(
        &mut self,
        _: &mut vt100::Screen,
        _: Option<u8>,
        _: Option<u8>,
        _: &[&[u16]],
        c: char,
    ) {
        self.note(format!("sequence {c:?}"));
    }
    fn unhandled_osc(&mut self, _: &mut vt100::Screen, _: &[&[u8]]) {
        self.note("command");
    }
}

impl OnTerminal {
    /// Shows `text` on a terminal of so many columns that is high enough for all of it.
    pub fn of(text: &str, width: usize) -> Self {
        let lines: Vec<_> =
            text.lines().map(|line| anstream::adapter::strip_str(line).to_string()).collect();
        let size = |size: usize| u16::try_from(size).ok().and_then(NonZeroU16::new);
        let rows = size(lines.len() + 3).expect("a screen");
        let columns = size(width).expect("a screen");
        let mut parser = vt100::Parser::new_with_callbacks(rows, columns, 0, Obeyed::default());
        if !text.is_empty() {
            parser.process(text.replace('\n', "\r\n").as_bytes());
            parser.process(b"\r\n");
        }
        Self { parser, lines }
    }

    /// Each line stands in a row of its own, the cursor where plain text would have left it, and
    /// nothing else was asked of the terminal.
    pub fn is_undisturbed(&self, of: &str) {
        let screen = self.parser.screen();
        assert_eq!(self.parser.callbacks().0, [""; 0], "{of}");
        let below = u16::try_from(self.lines.len()).expect("a screen");
        assert_eq!(screen.cursor_position(), (below, 0), "{of}\n{}", screen.contents());
        assert!(!screen.alternate_screen() && !screen.hide_cursor(), "{of}");
        assert!(!screen.application_keypad() && !screen.application_cursor(), "{of}");
        assert!(!screen.bracketed_paste(), "{of}");
        assert_eq!(screen.mouse_protocol_mode(), vt100::MouseProtocolMode::None, "{of}");
        assert_eq!(screen.fgcolor(), vt100::Color::Default, "{of}");
        assert!(!screen.bold() && !screen.dim() && !screen.inverse(), "{of}");
        let (_, columns) = screen.size();
        for (row, line) in screen.rows(0, columns.get()).zip(&self.lines) {
            // A cell keeps only so many marks on one character, and no sign for what is none.
            let bare = |text: &str| -> String {
                let keep = |c: &char| !matches!(c, '\u{300}'..='\u{36f}' | '\u{fffd}');
                text.trim_end().chars().filter(keep).collect()
            };
            assert_eq!(bare(&row), bare(line), "{of}");
        }
    }
}
