//! Markdown for a terminal: headings, lists, quotes, code and emphasis, and nothing that a terminal
//! would obey. Links say where they lead, in text; HTML is shown as it was written.
//!
//! Text is made visible before it is parsed and after: an entity such as `&#27;` is a plain word to the
//! one and a control character to the other (rule 21).

use super::grid;
use super::human::{BOLD, PLAIN};
use super::lay::wrap;
use crate::ask::text::visible;
use crate::cli::look::Look;
use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

const ITALIC: &str = "\u{1b}[3m";
const CODE: &str = "\u{1b}[36m";
const STRUCK: &str = "\u{1b}[9m";

/// The lines of `text`, none wider than `width`.
pub fn lines(text: &str, width: usize, look: Look) -> Vec<String> {
    let text = visible(text);
    let mut page = Page { look, width, ..Page::default() };
    let beyond = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    for event in Parser::new_ext(&text, beyond) {
        page.take(event);
    }
    page.end_block();
    while page.lines.last().is_some_and(|line| line.trim_end().is_empty()) {
        page.lines.pop();
    }
    page.lines
}

#[derive(Default)]
struct Page {
    look: Look,
    width: usize,
    lines: Vec<String>,
    /// The block under way, with its marks.
    block: String,
    /// What is in force: emphasis in emphasis.
    styles: Vec<Emphasis>,
    /// What stands before each line: of quotes, and of items.
    before: Vec<Before>,
    /// The numbers of the lists under way; none where its items have none.
    lists: Vec<Option<u64>>,
    /// Where the links under way lead, and where their words begin.
    links: Vec<(String, usize)>,
    in_code: bool,
    /// The rows of the table under way, the first of them its head.
    table: Vec<Vec<String>>,
}

#[derive(Clone, Copy)]
struct Emphasis {
    style: &'static str,
    mark: &'static str,
}

/// What stands before the first line of something, and before the others.
struct Before {
    first: Option<String>,
    rest: String,
}

impl Page {
    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Code(text) => {
                let emphasis = Emphasis { style: CODE, mark: "`" };
                self.begin(emphasis);
                self.say(&text);
                self.leave();
            }
            Event::SoftBreak | Event::HardBreak => self.block.push('\n'),
            Event::Rule => {
                let line = if self.look.ascii { "-" } else { "─" };
                self.block.push_str(&line.repeat(self.width.min(20)));
                self.end_block();
                self.space();
            }
            Event::Text(text)
            | Event::Html(text)
            | Event::InlineHtml(text)
            | Event::InlineMath(text)
            | Event::DisplayMath(text)
            | Event::FootnoteReference(text) => self.say(&text),
            Event::TaskListMarker(done) => self.block.push_str(if done { "[x] " } else { "[ ] " }),
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Heading { level, .. } => {
                self.end_block();
                self.begin(Emphasis { style: BOLD, mark: "" });
                if !self.look.colour {
                    self.block.push_str(&"#".repeat(level as usize));
                    self.block.push(' ');
                }
            }
            Tag::BlockQuote(_) => {
                self.end_block();
                let bar = "> ".to_owned();
                self.before.push(Before { first: None, rest: bar });
            }
            Tag::CodeBlock(kind) => {
                self.end_block();
                self.in_code = true;
                self.before.push(Before { first: None, rest: "    ".to_owned() });
                if let CodeBlockKind::Fenced(words) = kind
                    && !words.is_empty()
                {
                    self.say(&format!("({words})\n"));
                }
            }
            Tag::List(first) => {
                self.end_block();
                self.lists.push(first);
            }
            Tag::Item => {
                self.end_block();
                let first = match self.lists.last_mut() {
                    Some(Some(number)) => {
                        *number = number.saturating_add(1);
                        format!("{}. ", *number - 1)
                    }
                    Some(None) | None => self.look.bullet().to_owned(),
                };
                let rest = " ".repeat(super::lay::columns(&first));
                self.before.push(Before { first: Some(first), rest });
            }
            Tag::Emphasis => self.begin(Emphasis { style: ITALIC, mark: "*" }),
            Tag::Strong => self.begin(Emphasis { style: BOLD, mark: "**" }),
            Tag::Strikethrough => self.begin(Emphasis { style: STRUCK, mark: "~~" }),
            Tag::Table(_) => self.end_block(),
            Tag::TableHead | Tag::TableRow => self.table.push(Vec::new()),
            Tag::Link { dest_url, .. } => self.links.push((dest_url.into(), self.block.len())),
            Tag::Image { dest_url, .. } => {
                self.links.push((dest_url.into(), self.block.len()));
                self.block.push_str("[image] ");
            }
            Tag::Paragraph | Tag::HtmlBlock => self.end_block(),
            // None of these is asked of the parser.
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Heading(_) => {
                self.leave();
                self.end_block();
                self.space();
            }
            TagEnd::Paragraph | TagEnd::HtmlBlock => {
                self.end_block();
                self.space();
            }
            TagEnd::CodeBlock => {
                self.end_block();
                self.in_code = false;
                self.before.pop();
                self.space();
            }
            TagEnd::BlockQuote(_) => {
                self.end_block();
                self.lines.pop_if(|line| is_empty(line));
                self.before.pop();
                self.space();
            }
            TagEnd::Item => {
                self.end_block();
                let unsaid = self.before.last().is_some_and(|before| before.first.is_some());
                if unsaid {
                    self.put_block();
                }
                self.before.pop();
            }
            TagEnd::List(_) => {
                self.end_block();
                self.lists.pop();
                if self.lists.is_empty() {
                    self.space();
                }
            }
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough => self.leave(),
            TagEnd::TableCell => {
                let cell = std::mem::take(&mut self.block).replace('\n', " ");
                if let Some(row) = self.table.last_mut() {
                    row.push(cell);
                }
            }
            TagEnd::Table => {
                self.put_table();
                self.space();
            }
            TagEnd::Link | TagEnd::Image => {
                let Some((to, start)) = self.links.pop() else { return };
                let to = visible(&to).into_owned();
                let words = self.block.get(start..).unwrap_or_default();
                if words != to && !to.is_empty() {
                    self.block.push_str(&format!(" ({})", to.replace('\n', "\\n")));
                }
            }
            _ => {}
        }
    }

    /// Somebody else's words, made visible again.
    fn say(&mut self, text: &str) {
        self.block.push_str(&visible(text));
    }

    fn begin(&mut self, emphasis: Emphasis) {
        self.styles.push(emphasis);
        self.block.push_str(if self.look.colour { emphasis.style } else { emphasis.mark });
    }

    fn leave(&mut self) {
        let Some(left) = self.styles.pop() else { return };
        if !self.look.colour {
            return self.block.push_str(left.mark);
        }
        self.block.push_str(PLAIN);
        self.styles.iter().for_each(|outer| self.block.push_str(outer.style));
    }

    fn end_block(&mut self) {
        if !self.block.is_empty() {
            self.put_block();
        }
    }

    fn put_block(&mut self) {
        let (mut first, mut rest) = (String::new(), String::new());
        for before in &mut self.before {
            // What is nested deeper than half of the width stands where it was.
            let taken = before.first.take();
            if rest.len() + before.rest.len() <= self.width / 2 {
                first.push_str(taken.as_deref().unwrap_or(&before.rest));
                rest.push_str(&before.rest);
            }
        }
        let block = std::mem::take(&mut self.block);
        let block = block.trim_end_matches('\n');
        self.lines.extend(wrap(block, self.width, &first, &rest));
    }

    fn put_table(&mut self) {
        let rows = std::mem::take(&mut self.table);
        let before: usize = self.before.iter().map(|before| before.rest.len()).sum();
        for line in grid::lines(&rows, self.width.saturating_sub(before), self.look) {
            if line.is_empty() {
                self.space();
            } else {
                self.block.push_str(&line);
                self.put_block();
            }
        }
    }

    /// An empty line, unless one is there.
    fn space(&mut self) {
        let mut quoted = String::new();
        for before in &self.before {
            if quoted.len() + before.rest.len() <= self.width / 2 {
                quoted.push_str(&before.rest);
            }
        }
        if self.lines.last().is_some_and(|last| !is_empty(last)) {
            self.lines.push(quoted.trim_end().to_owned());
        }
    }
}

/// Whether nothing stands in a line but what stands before it.
fn is_empty(line: &str) -> bool {
    line.chars().all(|c| c == ' ' || c == '>')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::text::is_one_safe_line;

    const LOOK: Look = Look { width: 40, colour: false, ascii: false, terminal: true };

    /// Rule 21: what entities, code, links and HTML hide is cleaned after it was parsed.
    #[test]
    fn rule_21_entities_make_no_control_characters() {
        let hidden = [
            "&#27;[2J",
            "&#x1b;]52;c;eA==&#7;",
            "&#155;31m",
            "&#x9b;H",
            "&#8;&#8;&#13;gone",
            "&#x202e;fdp.exe",
            "&#x200b;&ZeroWidthSpace;&NoBreak;&shy;",
            "&#xe0041;&#xe000;",
            "`&#27;[2J`",
            "[a&#27;[2J](http://x/&#27;[2J \"t&#27;\")",
            "![&#27;c](&#27;c)",
            "<b title=\"&#27;[2J\">",
            "<http://x/&#27;[2J>",
            "```&#27;[2J\nx\n```",
            "    &#27;[2J",
            "# &#27;[2J",
            "- &#10;&#9;&#x1b;[2J",
            "&Tab;&NewLine;&#x85;&#x2028;x",
            "[x]\n\n[x]: http://&#27;/ '&#27;'",
            "\u{1b}[2J`\u{1b}[2J`",
            "|&#27;[2J|b|\n|-|-|\n|~~&#27;c~~|&NewLine;|",
        ];
        for text in hidden {
            for line in lines(text, 30, LOOK) {
                assert!(is_one_safe_line(&line), "{line:?} of {text:?}");
            }
            let coloured = Look { colour: true, ..LOOK };
            for line in lines(text, 30, coloured) {
                let ours = [BOLD, ITALIC, CODE, STRUCK, PLAIN];
                let line = ours.iter().fold(line, |line, mark| line.replace(mark, ""));
                assert!(is_one_safe_line(&line), "{line:?} of {text:?}");
            }
        }
        assert_eq!(lines("&#27;[2J", 30, LOOK), ["\\u{1b}[2J"]);
    }

    #[test]
    fn what_is_written_in_markdown_reads_as_it_is_meant() {
        let text = "# Cache\n\nIt *must* be **small**, see `a b`\nand [docs](http://x/y).\n\n- one two \
                    three four\n- two\n  1. deep\n\n> said\n> more\n\n```sh\nrm  -r\n```\n\n<b>x</b>\n\n***";
        let expected = [
            "# Cache",
            "",
            "It *must* be **small**,",
            "see `a b`",
            "and docs (http://x/y).",
            "",
            "• one two three four",
            "• two",
            "  1. deep",
            "",
            "> said",
            "> more",
            "",
            "    (sh)",
            "    rm  -r",
            "",
            "<b>x</b>",
            "",
            "────────────────────",
        ];
        assert_eq!(lines(text, 24, LOOK), expected);
    }

    #[test]
    fn a_table_stands_in_columns_and_where_it_does_not_fit_below_one_another() {
        let text = "|Store|Rows|\n|:-|-:|\n|**SQLite**|a million|\n|日本|\\| 2|\n\nand ~~not~~";
        let expected = [
            "Store       Rows",
            "──────────  ─────────",
            "**SQLite**  a million",
            "日本        | 2",
            "",
            "and ~~not~~",
        ];
        assert_eq!(lines(text, 24, LOOK), expected);
        let narrow = ["Store: **SQLite**", "Rows: a million", "", "Store: 日本", "Rows: | 2"];
        assert_eq!(lines(text, 20, LOOK)[..5], narrow);
        assert_eq!(lines("|a|b|\n|-|-|", 20, LOOK), ["a  b", "─  ─"]);
        let ascii = lines(text, 40, Look { ascii: true, ..LOOK }).swap_remove(1);
        assert!(ascii.starts_with("----------  "), "{ascii}");
        assert_eq!(lines("- [x] done\n- [ ] not", 20, LOOK), ["• [x] done", "• [ ] not"]);
        let struck = lines("~~a~~", 20, Look { colour: true, ..LOOK });
        assert_eq!(struck, [format!("{STRUCK}a{PLAIN}")]);
    }

    #[test]
    fn emphasis_is_weight_where_the_terminal_has_it() {
        let look = Look { colour: true, ..LOOK };
        let expected = format!("a {BOLD}b {ITALIC}c{PLAIN}{BOLD} d{PLAIN} {CODE}e{PLAIN}");
        assert_eq!(lines("a **b *c* d** `e`", 80, look), [expected]);
    }

    #[test]
    fn what_is_nested_without_end_stays_in_its_width() {
        let deep = format!("{}x", "> ".repeat(500));
        let list: String = (0..200).map(|n| format!("{}- x\n", "  ".repeat(n))).collect();
        for text in [deep, list, "*".repeat(5_000), "[".repeat(5_000)] {
            for line in lines(&text, 20, LOOK) {
                assert!(super::super::lay::columns(&line) <= 20, "{line:?}");
            }
        }
        assert_eq!(lines("", 20, LOOK), [""; 0]);
        assert_eq!(lines("-\n- x", 20, LOOK), ["•", "• x"]);
    }
}
