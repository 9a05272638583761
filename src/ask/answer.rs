//! Answers, and when they are whole (rule 10).

use super::content::{Content, Question, Violation, check_length, is_blank};
use super::limits;
use super::text;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashSet};

/// What was decided, question by question: the key is a question's id.
pub type Answers = BTreeMap<String, Answer>;

/// What was decided of one question.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// Labels of offered options, each at most once; one unless the question is *multiple*.
    pub selected: Vec<String>,
    /// Words of the answerer's own, with a selection or instead of one.
    pub text: Option<String>,
    /// Whether nobody chose this and the asker's named default stands for an answer.
    pub default: bool,
}

/// Everything that keeps `answers` from being a whole answer to `content`; empty when nothing does.
/// The only place where an answer is checked: every surface passes through here.
/// `name` is the field they came in.
pub fn violations(name: &str, content: &Content, answers: &Answers) -> Vec<Violation> {
    let mut found = Vec::new();
    for question in &content.questions {
        let field = format!("{name}[{}]", text::brief(&question.id));
        match answers.get(&question.id) {
            None if planted!("answered_in_part") => {}
            None => found.push(Violation::new(field, "this question has no answer")),
            Some(answer) => check(question, answer, &field, &mut found),
        }
    }
    let known = content.questions.iter().map(|q| q.id.as_str()).collect::<Vec<_>>().join(", ");
    for id in answers.keys().filter(|id| content.question(id).is_none()).take(limits::QUESTIONS) {
        found.push(Violation::new(
            format!("{name}[{}]", text::brief(id)),
            format!("no such question here; the questions are: {known}"),
        ));
    }
    found
}

fn check(question: &Question, answer: &Answer, field: &str, found: &mut Vec<Violation>) {
    let written = answer.text.as_deref().unwrap_or_default();
    check_length(found, &format!("{field}.text"), written, limits::ANSWER_TEXT_BYTES);
    if answer.selected.is_empty() && is_blank(written) {
        found.push(Violation::new(field, "an answer needs a selected option or some text"));
    }
    if answer.default {
        found.push(Violation::new(format!("{field}.default"), "only the server sets it; leave it"));
    }
    if answer.selected.len() > 1 && !question.multiple {
        found.push(Violation::new(format!("{field}.selected"), "only one option may be selected"));
    }
    let mut seen = HashSet::new();
    let mut hinted = false;
    for label in answer.selected.iter().take(limits::OPTIONS + 1) {
        let shown = text::brief(label);
        if question.option(label).is_none() {
            // What is offered is said once: sixteen long labels, sixteen times, fit no status.
            let hint = if hinted { String::new() } else { offered(question) };
            hinted = true;
            found.push(Violation::new(
                format!("{field}.selected"),
                format!("`{shown}` is not offered{hint}"),
            ));
        } else if !seen.insert(label) {
            found.push(Violation::new(
                format!("{field}.selected"),
                format!("`{shown}` is selected twice"),
            ));
        }
    }
    if answer.selected.len() > limits::OPTIONS + 1 {
        found.push(Violation::new(format!("{field}.selected"), "more labels than options"));
    }
}

fn offered(question: &Question) -> String {
    if question.options.is_empty() {
        return "; nothing is, answer with text".to_owned();
    }
    let labels = question.options.iter().map(|option| format!("`{}`", option.label));
    format!("; offered are: {}", labels.collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::content::QuestionOption;

    fn question(id: &str, labels: &[&str], multiple: bool) -> Question {
        let options = labels.iter().map(|label| QuestionOption {
            label: (*label).into(),
            description: String::new(),
            recommended: false,
        });
        Question {
            id: id.into(),
            header: String::new(),
            question: "?".into(),
            options: options.collect(),
            multiple,
        }
    }

    fn answer(selected: &[&str], text: Option<&str>) -> Answer {
        Answer {
            selected: selected.iter().map(|label| (*label).into()).collect(),
            text: text.map(Into::into),
            default: false,
        }
    }

    fn faults(answers: &[(&str, Answer)]) -> usize {
        let content = Content {
            questions: vec![
                question("one", &["a", "b"], false),
                question("many", &["x", "y", "z"], true),
            ],
            context: String::new(),
        };
        let answers = answers.iter().cloned().map(|(id, answer)| (id.into(), answer)).collect();
        violations("answers", &content, &answers).len()
    }

    #[test]
    fn rule_10_an_ask_is_answered_whole() {
        let many = || ("many", answer(&["x", "z"], None));
        assert_eq!(faults(&[("one", answer(&["a"], None)), many()]), 0);
        assert_eq!(faults(&[("one", answer(&[], Some("neither"))), many()]), 0);
        assert_eq!(faults(&[("one", answer(&["a"], Some("but slowly"))), many()]), 0);
        assert_eq!(faults(&[many()]), 1, "a missing question");
        assert_eq!(faults(&[("one", answer(&["a", "b"], None)), many()]), 1, "two of one");
        assert_eq!(
            faults(&[("one", answer(&["a"], None)), ("many", answer(&["x", "x"], None))]),
            1
        );
        assert_eq!(
            faults(&[("one", answer(&["a"], None)), many(), ("three", answer(&["a"], None))]),
            1
        );
    }

    #[test]
    fn c01_an_empty_answer_is_no_answer() {
        let many = || ("many", answer(&["x"], None));
        for empty in [answer(&[], None), answer(&[], Some("")), answer(&[], Some(" \n\u{200b}"))] {
            assert_eq!(faults(&[("one", empty), many()]), 1);
        }
    }

    #[test]
    fn c143_a_label_is_exact() {
        for label in ["A", "a ", "one", "x", ""] {
            let answers = [("one", answer(&[label], None)), ("many", answer(&["x"], None))];
            assert_eq!(faults(&answers), 1, "{label:?}");
        }
    }
}
