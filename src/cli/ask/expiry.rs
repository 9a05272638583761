//! The asker's own deadline as it is typed: when, what happens then, and which default stands.

use crate::cli::typed::{self, OnExpire};
use crate::cli::{Failure, shell};
use crate::grpc::v1;
use std::collections::HashMap;
use std::time::Duration;

/// As the wire says it.
pub fn action(action: OnExpire) -> v1::ExpiryAction {
    match action {
        OnExpire::Stop => v1::ExpiryAction::Stop,
        OnExpire::Default => v1::ExpiryAction::Default,
    }
}

/// Sets the deadline: what the line says goes before what a file said. Who names a default means it
/// to stand.
pub fn set(
    request: &mut v1::AskRequest,
    length: Option<Duration>,
    on_expire: Option<OnExpire>,
) -> Result<(), Failure> {
    if let Some(length) = length {
        request.expire = Some(typed::to_wire(length));
    }
    if let Some(said) = on_expire {
        request.on_expire = action(said).into();
    }
    let named = !request.defaults.is_empty();
    match (request.on_expire(), named) {
        (v1::ExpiryAction::Stop, true) => {
            return Err(Failure::usage("a default is named, and the expiry only stops")
                .then("the same with --on-expire default, or without the default"));
        }
        (v1::ExpiryAction::Unspecified, true) => {
            request.on_expire = v1::ExpiryAction::Default.into();
        }
        _ => {}
    }
    let acts = request.on_expire() != v1::ExpiryAction::Unspecified;
    if acts && request.expire.is_none() {
        return Err(Failure::usage("what happens at a deadline is said, and not when that is")
            .then("the same with --expire 1h"));
    }
    Ok(())
}

/// The default that was typed: labels of the one question, or `QUESTION=LABEL`.
pub fn defaults(
    questions: &[v1::Question],
    typed: &[String],
) -> Result<HashMap<String, v1::Answer>, Failure> {
    let mut defaults: HashMap<String, v1::Answer> = HashMap::new();
    for text in typed {
        let (id, label) = default(questions, text)?;
        defaults.entry(id).or_default().selected.push(label);
    }
    Ok(defaults)
}

/// A label may have an `=` of its own, so what one question offers is looked at first.
fn default(questions: &[v1::Question], text: &str) -> Result<(String, String), Failure> {
    let named = || questions.iter().enumerate().map(|(place, asked)| (id(place, asked), asked));
    if let [only] = questions
        && only.options.iter().any(|option| option.label == text)
    {
        return Ok((id(0, only), text.to_owned()));
    }
    let (question, label) = match (text.split_once('='), questions) {
        (Some((question, label)), _) => (question.to_owned(), label),
        (None, [only]) => (id(0, only), text),
        (None, _) => (String::new(), text),
    };
    let Some((id, asked)) = named().find(|(id, _)| *id == question) else {
        let ids: Vec<_> = named().map(|(id, _)| shell::word_or(&id, "QUESTION")).collect();
        let message = format!("the default `{text}` names none of the questions");
        let typed_each = ids.join("=LABEL --default ");
        let next = format!("the same with --default {typed_each}=LABEL");
        return Err(Failure::usage(message).then(next));
    };
    if !asked.options.iter().any(|option| option.label == label) {
        let labels: Vec<_> = asked.options.iter().map(|o| format!("`{}`", o.label)).collect();
        let message = match labels.is_empty() {
            true => format!("`{label}` is the default of {id}, which offers nothing"),
            false => format!("`{label}` is not offered; offered are: {}", labels.join(", ")),
        };
        return Err(Failure::usage(message).then("the same with a label that is offered"));
    }
    Ok((id, label.to_owned()))
}

/// The id that the daemon gives a question which has none: by its place.
fn id(place: usize, question: &v1::Question) -> String {
    match question.id.is_empty() {
        true => format!("q{}", place + 1),
        false => question.id.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(id: &str, labels: &[&str]) -> v1::Question {
        let option = |label: &&str| v1::Option { label: (*label).into(), ..Default::default() };
        let options = labels.iter().map(option).collect();
        v1::Question { id: id.into(), options, ..Default::default() }
    }

    fn of(questions: &[v1::Question], typed: &[&str]) -> Result<Vec<(String, Vec<String>)>, ()> {
        let typed: Vec<_> = typed.iter().map(|&text| text.to_owned()).collect();
        let defaults = defaults(questions, &typed).map_err(|_| ())?;
        let mut all: Vec<_> = defaults.into_iter().map(|(id, a)| (id, a.selected)).collect();
        all.sort();
        Ok(all)
    }

    #[test]
    fn a_default_finds_its_question() {
        let one = [question("", &["A", "q1=A", "B"])];
        assert_eq!(of(&one, &["A"]), Ok(vec![("q1".into(), vec!["A".into()])]));
        assert_eq!(of(&one, &["q1=A"]), Ok(vec![("q1".into(), vec!["q1=A".into()])]));
        assert_eq!(of(&one, &["q1=B"]), Ok(vec![("q1".into(), vec!["B".into()])]));
        assert_eq!(of(&one, &["A", "B"]), Ok(vec![("q1".into(), vec!["A".into(), "B".into()])]));
        let two = [question("store", &["A"]), question("", &["Yes"])];
        let both = vec![("q2".into(), vec!["Yes".into()]), ("store".into(), vec!["A".into()])];
        assert_eq!(of(&two, &["store=A", "q2=Yes"]), Ok(both));
        for bad in ["A", "q1=A", "store=B"] {
            assert_eq!(of(&two, &[bad]), Err(()), "{bad}");
        }
    }
}
