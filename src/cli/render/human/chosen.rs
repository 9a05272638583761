//! What was answered: on one line, in a few words of each, and whole below an event of the log.

use super::page::Page;
use crate::ask::text::{brief, visible_line};
use crate::grpc::v1;
use std::collections::HashMap;

/// What stands beside what nobody chose.
pub(super) const BY_DEFAULT: &str = " (the default that was named)";

/// Each answer with its question's id, in the order of the ids.
fn in_order(answers: &HashMap<String, v1::Answer>) -> Vec<(&String, &v1::Answer)> {
    let mut all: Vec<_> = answers.iter().collect();
    all.sort_by_key(|(id, _)| *id);
    all
}

/// The labels and the words of `answers` on one line, each made of its parts by `part`; with its
/// question's id where there are several.
fn on_a_line(answers: &HashMap<String, v1::Answer>, part: impl Fn(&str) -> String) -> String {
    let all = in_order(answers).into_iter().map(|(id, answer)| {
        let words = answer.text.iter().map(|text| format!("\"{}\"", part(text)));
        let parts: Vec<_> = answer.selected.iter().map(|label| part(label)).chain(words).collect();
        let chosen = parts.join(", ");
        if answers.len() > 1 { format!("{} = {chosen}", visible_line(id)) } else { chosen }
    });
    all.collect::<Vec<_>>().join("; ")
}

/// What was decided, in a few words: the beginning of each label and text. Empty where nothing was.
pub fn chosen(outcome: &v1::Outcome) -> String {
    on_a_line(&outcome.answers, brief)
}

/// The same, whole, for programs.
pub(super) fn row(outcome: &v1::Outcome) -> String {
    on_a_line(&outcome.answers, |text| visible_line(text).into_owned())
}

/// What was decided, below an event: a line for each label, words behind the bar.
pub(super) fn write(page: &mut Page, outcome: &v1::Outcome) {
    let several = outcome.answers.len() > 1;
    for (id, answer) in in_order(&outcome.answers) {
        if several {
            page.own(&format!("      {}", visible_line(id)));
        }
        labels(page, "      ", answer);
        if let Some(written) = &answer.text {
            page.theirs(written);
        }
    }
}

/// A line for each label that was chosen.
pub(super) fn labels(page: &mut Page, indent: &str, answer: &v1::Answer) {
    let by_default = if answer.default { BY_DEFAULT } else { "" };
    for label in &answer.selected {
        page.own(&format!("{indent}= {}{by_default}", visible_line(label)));
    }
    if answer.selected.is_empty() && answer.default {
        page.own(&format!("{indent}= these words{by_default}:"));
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::fixture;
    use super::*;

    #[test]
    fn what_was_decided_is_said_in_brief_in_the_order_of_the_questions() {
        let mut outcome =
            fixture::settled(v1::OutcomeKind::Answered).outcome.expect("it is settled");
        assert_eq!(chosen(&outcome), "SQLite, \"it fits\"");
        let long = v1::Answer {
            selected: vec!["a\u{1b}b".into()],
            text: Some("word\n".repeat(30)),
            ..v1::Answer::default()
        };
        outcome.answers.insert("q2".into(), long);
        let line = chosen(&outcome);
        assert!(line.starts_with("q1 = SQLite, \"it fits\"; q2 = a\\u{1b}b, \"word\\n"), "{line}");
        assert!(line.ends_with("…\"") && line.len() < 160, "{line}");
        assert!(row(&outcome).len() > 160 && !row(&outcome).contains('\n'), "programs get all");
        outcome.answers.clear();
        assert_eq!(chosen(&outcome), "");
    }
}
