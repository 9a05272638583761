//! An answer typed on the line: labels and text, and what was meant by a label that is not offered.

use crate::ask::text::{brief, visible_line};
use crate::cli::render::human;
use crate::cli::{Failure, shell};
use crate::grpc::v1;
use std::collections::HashMap;

/// How alike two labels are, from 0 to 1, before one is taken for the other mistyped: a letter or two
/// of a word.
const ALIKE: f64 = 0.8;

/// Labels and text answer the one question there is.
///
/// # Errors
///
/// Where there are several.
pub(super) fn to_the_one_question(
    ask: &v1::Ask,
    selected: Vec<String>,
    text: Option<String>,
) -> Result<HashMap<String, v1::Answer>, Failure> {
    let ids: Vec<_> = ask.questions.iter().map(|question| question.id.as_str()).collect();
    match ids[..] {
        [id] => {
            let answer = v1::Answer { selected, text, default: false };
            Ok(HashMap::from([(id.to_owned(), answer)]))
        }
        _ => Err(Failure::usage(format!(
            "it has {} questions ({}); answer them all, from a file",
            ids.len(),
            ids.join(", ")
        ))
        .then(to_type(ask, "--file FILE; askway answer --help shows one"))),
    }
}

/// No choice was typed where nobody can be asked for one: which there are, and how they are typed.
pub(super) fn missing(ask: &v1::Ask) -> Failure {
    let offered = |question: &v1::Question| {
        let id = visible_line(&question.id);
        let labels: Vec<_> = question.options.iter().map(quoted).collect();
        match labels.is_empty() {
            true => format!("{id} offers nothing and takes --text TEXT"),
            false => format!("{id} offers {}", labels.join(", ")),
        }
    };
    let offered: Vec<_> = ask.questions.iter().map(offered).collect();
    let message = format!("no choice was typed: {}", offered.join("; "));
    let how = match &ask.questions[..] {
        [one] if one.options.is_empty() => "--text TEXT",
        [_] => "LABEL, or --text TEXT",
        _ => "--file FILE",
    };
    Failure::usage(message).then(to_type(ask, how))
}

/// The command that answers `ask` in this way.
fn to_type(ask: &v1::Ask, how: &str) -> String {
    let id = human::typed_id(ask);
    format!("askway answer {id} {how}")
}

fn quoted(option: &v1::Option) -> String {
    format!("`{}`", visible_line(&option.label))
}

/// What was refused as it was typed, with the label that was meant where one is much alike.
pub(super) fn did_you_mean(failure: Failure, ask: &v1::Ask, typed: &[String]) -> Failure {
    let [question] = &ask.questions[..] else { return failure };
    let is_offered = |label: &str| question.options.iter().any(|option| option.label == label);
    let Some(wrong) = typed.iter().find(|label| !is_offered(label)) else { return failure };
    let offered: Vec<_> = question.options.iter().map(quoted).collect();
    let wrong_shown = brief(wrong);
    let failure = Failure {
        message: match offered.is_empty() {
            true => format!("`{wrong_shown}` is not offered, nothing is: say it with --text"),
            false => format!("`{wrong_shown}` is not offered; offered are: {}", offered.join(", ")),
        },
        ..failure
    };
    match meant(wrong, question) {
        Some(label) => {
            let next = to_type(ask, &shell::argument_or(label, "LABEL"));
            let message = format!("{}. Did you mean `{}`?", failure.message, visible_line(label));
            Failure { message, ..failure }.then(next)
        }
        None if offered.is_empty() => failure.then(to_type(ask, "--text TEXT")),
        None => failure.then(to_type(ask, "LABEL")),
    }
}

/// The label that is most alike, small letters or large.
fn meant<'a>(wrong: &str, question: &'a v1::Question) -> Option<&'a str> {
    let wrong = wrong.to_lowercase();
    let likeness = |label: &str| {
        let label = label.to_lowercase();
        // In a short word one slip is much of it; in one of two letters it is another word.
        let one_slip = label.chars().count() > 2 && strsim::osa_distance(&wrong, &label) <= 1;
        if one_slip { 1.0 } else { strsim::jaro(&wrong, &label) }
    };
    let labels = question.options.iter().map(|option| (likeness(&option.label), &*option.label));
    let best = labels.max_by(|one, other| one.0.total_cmp(&other.0));
    best.filter(|(alike, _)| *alike >= ALIKE).map(|(_, label)| label)
}

/// What was chosen, in a few words: the labels, and that there are words beside.
pub(super) fn in_brief(ask: &v1::Ask, answers: &HashMap<String, v1::Answer>) -> String {
    let each = ask.questions.iter().filter_map(|question| {
        let answer = answers.get(&question.id)?;
        let words = answer.text.iter().map(|text| format!("\"{}\"", brief(text)));
        let all: Vec<_> = answer.selected.iter().map(|label| brief(label)).chain(words).collect();
        Some(format!("{} {}", brief(&question.question), all.join(", ")))
    });
    each.collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Exit;
    use crate::cli::render::fixture;

    #[test]
    fn labels_answer_the_one_question_there_is() {
        let ask = fixture::open();
        let answers = to_the_one_question(&ask, vec!["SQLite".into()], Some("so".into()));
        let answers = answers.expect("one question");
        let expected =
            v1::Answer { selected: vec!["SQLite".into()], text: Some("so".into()), default: false };
        assert_eq!(answers, HashMap::from([("q1".to_owned(), expected)]));
        assert_eq!(in_brief(&ask, &answers), "Which store for the cache? SQLite, \"so\"");
    }

    #[test]
    fn several_questions_want_a_file() {
        let mut ask = fixture::open();
        ask.questions.push(v1::Question { id: "q2".into(), ..v1::Question::default() });
        let failure = to_the_one_question(&ask, vec!["SQLite".into()], None).expect_err("two");
        assert_eq!(failure.exit, Exit::Usage);
        assert!(failure.message.contains("q1, q2"), "{failure}");
        assert!(failure.next.is_some_and(|next| next.contains("--file")));
        let failure = missing(&ask);
        assert!(failure.message.contains("q2 offers nothing"), "{failure}");
        assert!(failure.next.is_some_and(|next| next.ends_with("--file FILE")));
    }

    #[test]
    fn a_label_that_was_meant_is_no_command_to_whoever_pastes_it() {
        let mut ask = fixture::open();
        ask.questions[0].options.truncate(1);
        let next = |ask: &v1::Ask, label: &str| {
            did_you_mean(Failure::usage("no"), ask, &[label.to_owned()]).next.expect("a next")
        };
        for (label, typed, quoted) in [
            ("z$(touch X)", "Z$(touch X)", "'z$(touch X)'"),
            ("y; touch `X`", "y; touch X", "'y; touch `X`'"),
            ("it's so", "its so", r"'it'\''s so'"),
            ("-1 or so", "-1 or sos", "-- '-1 or so'"),
            // As it is shown it is another label.
            ("post\u{202e}gres", "postgres", "LABEL"),
        ] {
            ask.questions[0].options[0].label = label.into();
            let id = human::typed_id(&ask);
            assert_eq!(next(&ask, typed), format!("askway answer {id} {quoted}"));
        }
    }

    #[test]
    fn a_label_with_a_slip_is_known_again_and_another_word_is_not() {
        let ask = fixture::open();
        let typed = |label: &str| did_you_mean(Failure::usage("no"), &ask, &[label.to_owned()]);
        for slip in ["sqlite", "SQLit", "SQLiet", "Postgras", "postgres"] {
            let failure = typed(slip);
            assert!(failure.message.contains("Did you mean `"), "{slip}: {failure}");
            assert!(failure.next.is_some_and(|next| next.contains("askway answer")));
        }
        let mut short = fixture::open();
        short.questions[0].options.truncate(2);
        for (option, label) in short.questions[0].options.iter_mut().zip(["yes", "no"]) {
            option.label = label.into();
        }
        let failure = did_you_mean(Failure::usage("no"), &short, &["yse".to_owned()]);
        assert!(failure.message.contains("Did you mean `yes`"), "{failure}");
        for other in ["MySQL", "Yes", "", "Redis"] {
            let failure = typed(other);
            assert!(!failure.message.contains("Did you mean"), "{other}: {failure}");
            assert!(failure.message.contains("`SQLite`, `Postgres`"), "{failure}");
        }
        assert_eq!(typed("SQLite").message, "no", "it is offered: something else was wrong");
    }
}
