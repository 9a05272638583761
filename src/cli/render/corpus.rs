//! Texts that try what a terminal would obey, made by combination: what does the harm, in what it is
//! wrapped. For tests, here and of the program as a whole.

/// What a terminal, or a reader's eye, would obey.
const HARMS: [&str; 44] = [
    // Cursor and screen.
    "\u{1b}[2J",
    "\u{1b}[H",
    "\u{1b}[10A",
    "\u{1b}[999;999H",
    "\u{1b}[K",
    "\u{1b}c",
    "\u{1b}7\u{1b}8",
    "\u{1b}D\u{1b}M",
    "\u{1b}[s\u{1b}[u",
    // Modes: alternate screen, mouse, bracketed paste, a hidden cursor, keypad, scroll regions.
    "\u{1b}[?1049h",
    "\u{1b}[?47h",
    "\u{1b}[?1000h\u{1b}[?1006h",
    "\u{1b}[?2004h",
    "\u{1b}[?25l",
    "\u{1b}=",
    "\u{1b}[3;5r",
    "\u{1b}[4h",
    "\u{1b}[?7l",
    "\u{1b}(0",
    "\u{1b}[8;5;5t",
    // What a terminal would answer, as if it had been typed.
    "\u{1b}[6n",
    "\u{1b}[c",
    "\u{1b}[>q",
    "\u{5}",
    // Titles, clipboard, links, strings of devices.
    "\u{1b}]0;owned\u{7}",
    "\u{1b}]2;owned\u{1b}\\",
    "\u{1b}]52;c;b3duZWQ=\u{7}",
    "\u{1b}]8;;http://x/\u{1b}\\link\u{1b}]8;;\u{1b}\\",
    "\u{1b}P$q\"p\u{1b}\\",
    "\u{1b}_apc\u{1b}\\",
    "\u{1b}^pm\u{1b}\\",
    // The same in eight bits.
    "\u{9b}2J\u{9b}H",
    "\u{9d}0;owned\u{9c}",
    "\u{90}q\u{9c}",
    "\u{84}\u{85}\u{8d}",
    // Colour that is not ours, and hidden text.
    "\u{1b}[31;8m",
    // What moves within a line.
    "\r\u{8}\u{8}\u{8}\u{b}\u{c}\u{7f}",
    "\t\t\t\u{7}",
    // What a reader does not see, or sees elsewhere.
    "\u{202e}drow\u{202c}\u{2066}x\u{2069}",
    "\u{200b}\u{200d}\u{2060}\u{feff}\u{ad}\u{3164}",
    "\u{e0041}\u{e0042}\u{e007f}\u{e000}",
    "e\u{301}\u{302}\u{303}\u{304}\u{305}\u{306}\u{307}\u{308}\u{309}\u{30a}\u{30b}\u{30c}\u{30d}\u{30e}",
    "日本語👩\u{200d}👩\u{200d}👧❤\u{fe0f}🇩🇪👍🏽",
    "\u{2028}\u{2029}\u{0}",
];

/// In what it is wrapped: `{}` is the harm.
const WRAPS: [&str; 5] = [
    "{}",
    "word {} and\nanswered by owner\n{}",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa{}日",
    "# {}\n\n- `{}`\n- [{}]({})\n\n> **{}** <b>{}</b> ![{}](<{}>)\n\n```{}\n{}\n```\n\n    {}",
    "\u{2502} ask_0000 {}| 1  x\n\n\n{}",
];

/// All of them: each harm in each wrapping, and the controls once more as entities of HTML.
pub fn texts() -> Vec<String> {
    let wrapped = WRAPS.iter().flat_map(|wrap| HARMS.map(|harm| wrap.replace("{}", harm)));
    let entities = HARMS.map(|harm| {
        let spelled: String = harm.chars().map(|c| format!("&#{};", u32::from(c))).collect();
        format!(
            "{spelled} `{spelled}` [{spelled}]({spelled}) <i>{spelled}</i>\n\n```\n{spelled}\n```"
        )
    });
    wrapped.chain(entities).collect()
}
