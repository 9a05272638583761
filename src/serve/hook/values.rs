//! What is put in for the placeholders of the notice hook. Text from agents and people is one line,
//! with whatever may hide in it made visible (rule 21), and of bounded length.

use crate::ask::{Ask, Ending, NoticeWhy, Priority, Target, text};
use crate::config::Placeholder;

/// Bytes of one value: more than any desktop shows of a notice. All of it comes as JSON.
const VALUE_BYTES: usize = 1_024;

/// What `placeholder` stands for.
pub(super) fn of(placeholder: Placeholder, ask: &Ask, why: NoticeWhy) -> String {
    let first = ask.content.questions.first();
    match placeholder {
        Placeholder::Id => ask.id.to_string(),
        Placeholder::Header => header(ask),
        Placeholder::Question => one_line(first.map_or("", |question| question.question.as_str())),
        Placeholder::Asker => one_line(&format!("{} ({})", ask.asker.agent, ask.asker.session)),
        Placeholder::Agent => one_line(ask.asker.agent.as_str()),
        Placeholder::Priority => match ask.priority {
            Priority::Low => "low",
            Priority::Normal => "normal",
            Priority::High => "high",
        }
        .to_owned(),
        Placeholder::People => people(ask),
        Placeholder::Reason => reason(ask, why),
        Placeholder::Notice => why.word().to_owned(),
    }
}

/// Never empty: a notice without a title is none for some desktops.
fn header(ask: &Ask) -> String {
    let first = ask.content.questions.first().map_or("", |question| question.header.as_str());
    let header = match one_line(first) {
        header if header.is_empty() => format!("{} asks", ask.asker.agent),
        header => header,
    };
    match ask.content.questions.len() {
        0 | 1 => header,
        many => format!("{header} (and {} more)", many - 1),
    }
}

/// Their names, also of a group's.
fn people(ask: &Ask) -> String {
    match ask.route.target(ask.hop.index) {
        Target::People { people, .. } => {
            let names: Vec<_> = people.iter().map(ToString::to_string).collect();
            one_line(&names.join(", "))
        }
        Target::Session(session) => one_line(session.agent.as_str()),
    }
}

fn reason(ask: &Ask, why: NoticeWhy) -> String {
    match (why, ask.outcome()) {
        (NoticeWhy::Came, _) => match &ask.hop.reason {
            Some(reason) => one_line(reason),
            None => "it was filed".to_owned(),
        },
        (NoticeWhy::Settled, Some(outcome)) => {
            let how = match outcome.ending {
                Ending::Answered(_) => "answered",
                Ending::Declined => "declined",
                Ending::Expired(_) => "expired",
                Ending::Withdrawn => "withdrawn",
                Ending::Abandoned => "abandoned",
            };
            one_line(&format!("{how} by {}", outcome.by))
        }
        _ => why.sentence().to_owned(),
    }
}

/// Text on one line, what may hide in it made visible, cut where it is long.
fn one_line(text: &str) -> String {
    let words: Vec<_> = text.split_whitespace().collect();
    let line = text::visible_line(&words.join(" ")).into_owned();
    match text::begin(&line, VALUE_BYTES) {
        whole if whole.len() == line.len() => line,
        begun => format!("{begun}…"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_one_line_and_hides_nothing_and_is_cut() {
        let hostile = "a\nb\r\n\tc \u{1b}[2J\u{202e}\u{2028}d\u{85}\u{0}";
        assert_eq!(one_line(hostile), "a b c \\u{1b}[2J\\u{202e} d \\u{0}");
        assert!(text::is_one_safe_line(&one_line(hostile)));
        assert_eq!(one_line(&"x".repeat(VALUE_BYTES)).len(), VALUE_BYTES);
        let long = one_line(&"é".repeat(VALUE_BYTES));
        assert_eq!(long, format!("{}…", "é".repeat(VALUE_BYTES / 2)));
        assert_eq!(one_line(" \n "), "");
    }
}
