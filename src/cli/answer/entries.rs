//! What can be chosen at a question: its options, the recommended ones first, and the other ways. An
//! option bears a number and the other ways do not, so that no label can look like one of them.

use crate::ask::text::visible_line;
use crate::cli::look::Look;
use crate::cli::render::lay::cut;
use crate::grpc::v1;

/// Columns of a question or a description on one line; the whole of it stands above the prompt.
const SHOWN_COLUMNS: usize = 61;

/// What a person can do at a question.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Way {
    /// Choose the option at this place of the question.
    Option(usize),
    /// Look at the options of a question that takes several.
    Options,
    /// Write a line.
    Write,
    /// Write in the editor.
    Editor,
    /// Say something to the asker, and leave it open.
    Say,
    /// Say no.
    Decline,
    /// Send nothing.
    Leave,
}

/// The places of a question's options, the recommended first, else as they came.
pub(super) fn order(question: &v1::Question) -> Vec<usize> {
    let mut places: Vec<_> = (0..question.options.len()).collect();
    places.sort_by_key(|place| !question.options[*place].recommended);
    places
}

/// The options in that order, one line each.
pub(super) fn options(question: &v1::Question, look: Look) -> Vec<String> {
    let line = |(number, place): (usize, usize)| {
        let option = &question.options[place];
        let mut line = format!("{}. {}", number + 1, visible_line(&option.label));
        if option.recommended {
            line.push_str(" (recommended)");
        }
        if let Some(first) = option.description.lines().next() {
            line.push_str(": ");
            line.push_str(&short(first, look));
        }
        one_row(&line, look)
    };
    order(question).into_iter().enumerate().map(line).collect()
}

/// As much of a line as stands in one row behind the mark of what is chosen: the rest would begin at the
/// left edge, like a line of ours. Blanks in a row are one.
fn one_row(line: &str, look: Look) -> String {
    const MARK: usize = 6;
    let words = line.split_whitespace().collect::<Vec<_>>().join(" ");
    cut(&words, look.width.saturating_sub(MARK), look.ellipsis()).into_owned()
}

/// Everything that can be done at a question, with its line. `editor` is the program's name.
pub(super) fn ways(
    question: &v1::Question,
    editor: Option<&str>,
    look: Look,
) -> Vec<(Way, String)> {
    let mut all: Vec<_> = match question.multiple && !question.options.is_empty() {
        true => vec![(Way::Options, "choose among the options".to_owned())],
        false => {
            let places = order(question).into_iter().map(Way::Option);
            places.zip(options(question, look)).collect()
        }
    };
    all.push((Way::Write, "write an answer".to_owned()));
    if let Some(program) = editor {
        all.push((Way::Editor, format!("write an answer in {}", visible_line(program))));
    }
    all.push((Way::Say, "say something to the asker".to_owned()));
    all.push((Way::Decline, "decline (with a note)".to_owned()));
    all.push((Way::Leave, "leave".to_owned()));
    all
}

/// The question on one line, with its place among several.
pub(super) fn message(ask: &v1::Ask, place: usize, look: Look) -> String {
    let question = short(&ask.questions[place].question, look);
    match ask.questions.len() {
        1 => one_row(&question, look),
        of => one_row(&format!("({} of {of}) {question}", place + 1), look),
    }
}

/// The beginning of a text's first line, with nothing hidden in it.
fn short(text: &str, look: Look) -> String {
    cut(&visible_line(text), SHOWN_COLUMNS, look.ellipsis()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::limits;
    use crate::cli::render::fixture;

    #[test]
    fn the_recommended_option_is_first_and_marked_and_the_rest_as_they_came() {
        let mut question = fixture::open().questions.remove(0);
        question.options[0].recommended = false;
        question.options[1].recommended = true;
        question.options[0].description = "one\ntwo".into();
        assert_eq!(
            options(&question, Look::PLAIN),
            ["1. Postgres (recommended)", "2. SQLite: one"]
        );
        let ways: Vec<_> =
            ways(&question, None, Look::PLAIN).into_iter().map(|(way, _)| way).collect();
        let others = [Way::Write, Way::Say, Way::Decline, Way::Leave];
        assert_eq!(ways[..2], [Way::Option(1), Way::Option(0)]);
        assert_eq!(ways[2..], others);
    }

    #[test]
    fn rule_21_no_label_can_be_filed_that_says_what_a_way_says() {
        let mut question = fixture::open().questions.remove(0);
        let mut lines = ways(&question, None, Look::PLAIN).split_off(question.options.len());
        question.multiple = true;
        lines.extend(ways(&question, None, Look::PLAIN));
        for (_, line) in lines {
            assert!(limits::RESERVED_LABELS.contains(&line.as_str()), "{line}");
        }
        question.options[0].recommended = true;
        question.options[0].description.clear();
        assert!(options(&question, Look::PLAIN)[0].ends_with(limits::RECOMMENDED_MARK));
    }

    #[test]
    fn rule_21_no_label_looks_like_a_way_of_ours_or_hides_anything() {
        let mut ask = fixture::open();
        ask.questions[0].options[0].label = "decline (with a note)".into();
        ask.questions[0].options[1].label = "le\u{1b}[2Jave".into();
        ask.questions[0].options[1].description = "\u{202e}x".repeat(100);
        ask.questions[0].question = "Which\n\u{9b}31m?".repeat(100);
        let lines = ways(&ask.questions[0], Some("vi\u{7}"), Look::PLAIN);
        let alike = lines.iter().filter(|(_, line)| line == "decline (with a note)");
        assert_eq!(alike.count(), 1, "{lines:?}");
        for line in lines.iter().map(|(_, line)| line).chain([&message(&ask, 0, Look::PLAIN)]) {
            assert!(!line.contains(crate::ask::text::is_hidden), "{line:?}");
            assert!(line.chars().count() < 120, "{line:?}");
        }
    }

    #[test]
    fn what_was_cut_says_so_in_ascii_where_that_is_asked_for() {
        let mut ask = fixture::open();
        ask.questions[0].question = "long ".repeat(99);
        assert!(message(&ask, 0, Look::PLAIN).ends_with('…'));
        let ascii = message(&ask, 0, Look { ascii: true, ..Look::PLAIN });
        assert!(ascii.is_ascii() && ascii.ends_with("..."), "{ascii}");
    }
}
