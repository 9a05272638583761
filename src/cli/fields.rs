//! What the daemon calls the fields of a request, and what a person typed for them. Programs are told
//! the former, as they are in every other error of the API; people the latter.

use super::Failure;
use clap::ArgMatches;

/// The verb that was typed, with those below it, and whether a file says the rest.
#[derive(Debug, Default)]
pub(super) struct Typed {
    verb: String,
    by_file: bool,
}

impl Typed {
    /// As it was parsed.
    pub fn of(found: &ArgMatches) -> Self {
        let (mut verbs, mut found) = (Vec::new(), found);
        while let Some((verb, below)) = found.subcommand() {
            verbs.push(verb);
            found = below;
        }
        let by_file = found.try_contains_id("file").is_ok_and(|is_there| is_there);
        Self { verb: verbs.join(" "), by_file }
    }

    /// The failure with every field that was typed named by how it was.
    pub fn name_fields(&self, failure: Failure) -> Failure {
        let named = |(field, description): (String, String)| {
            (self.name(&field).unwrap_or(field), description)
        };
        Failure { fields: failure.fields.into_iter().map(named).collect(), ..failure }
    }

    /// What was typed for a field; none where a file says it, or nothing was typed for it.
    fn name(&self, field: &str) -> Option<String> {
        let of_verb = |(verb, ..): &&(&str, &str, &str)| verb.is_empty() || *verb == self.verb;
        let (_, _, typed) =
            WORDS.iter().filter(of_verb).find(|(_, known, _)| fits(field, known))?;
        let of_file = |name: &str| fits(field, name) || fits(field, &format!("{name}[]"));
        if self.by_file && IN_FILES.iter().any(|name| of_file(name)) {
            return None;
        }
        let place = field.rsplit_once("options[").and_then(|(_, rest)| rest.split(']').next());
        let place = place.and_then(|place| place.parse::<usize>().ok());
        Some(match place.filter(|_| *typed == "--option") {
            Some(place) => format!("{typed} ({} of them)", ordinal(place + 1)),
            None => (*typed).to_owned(),
        })
    }
}

/// Whether `field` is the one that is known so, or a part of it. `[]` is any place of a list.
fn fits(field: &str, known: &str) -> bool {
    let mut rest = field;
    for part in known.split_inclusive("[]") {
        let (name, is_list) = match part.strip_suffix("[]") {
            Some(name) => (name, true),
            None => (part, false),
        };
        let Some(after) = rest.strip_prefix(name) else { return false };
        rest = after;
        if is_list {
            let within = rest.strip_prefix('[').and_then(|rest| rest.split_once(']'));
            let Some((_, after)) = within else { return false };
            rest = after;
        }
    }
    rest.is_empty() || rest.starts_with(['.', '['])
}

fn ordinal(number: usize) -> String {
    let end = match (number % 10, number % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("the {number}{end}")
}

/// What a file may say, by the names it has there.
const IN_FILES: [&str; 9] = [
    "questions",
    "context",
    "priority",
    "expire",
    "on_expire",
    "defaults",
    "route",
    "assurance",
    "answers",
];

/// The verb (any where it is empty), a field of its requests, and what is typed for it. The first that
/// fits is the one.
const WORDS: &[(&str, &str, &str)] = &[
    ("", "request_id", "--request-id"),
    ("", "content_digest", "--digest"),
    ("", "namespace", "--namespace"),
    ("ask", "work_id", "--work"),
    ("ask", "questions[].options", "--option"),
    ("ask", "questions[].header", "--header"),
    ("ask", "questions[]", "QUESTION"),
    ("ask", "questions", "QUESTION"),
    ("ask", "context", "--context"),
    ("ask", "priority", "--priority"),
    ("ask", "expire", "--expire"),
    ("ask", "on_expire", "--on-expire"),
    ("ask", "defaults", "--default"),
    ("ask", "route", "--route"),
    ("ask", "assurance", "--assurance"),
    ("ask", "carried.asker_state", "--state"),
    ("ask", "asker_state", "--state"),
    ("ask", "trace_parent", "TRACEPARENT"),
    ("ask", "trace_state", "TRACESTATE"),
    ("answer", "answers[].selected", "LABEL"),
    ("answer", "answers[].text", "--text"),
    ("answer", "answers[]", "LABEL"),
    ("decline", "note", "--message"),
    ("withdraw", "note", "--message"),
    ("escalate", "reason", "--message"),
    ("say", "text", "TEXT"),
    ("reply", "text", "TEXT"),
    ("reply", "replaced[].options", "--option"),
    ("reply", "replaced[].question_id", "--question"),
    ("reply", "replaced[]", "--question"),
    ("claim", "length", "--for"),
    ("inbox", "filter.asker_session_id", "--asker"),
    ("inbox", "filter.tree_work_id", "--tree"),
    ("inbox", "tree_work_id", "--tree"),
    ("inbox", "filter.text", "--text"),
    ("inbox", "filter.waiting_on_session_id", "--waiting-on"),
    ("inbox", "filter.waiting_on_person", "--waiting-on"),
    ("inbox", "filter.create_time_from", "--since"),
    ("inbox", "filter.create_time_until", "--older"),
    ("inbox", "filter.outcome", "--outcome"),
    ("deliveries take", "max", "--max"),
    ("deliveries take", "lease", "--lease"),
    ("deliveries take", "holder", "--as"),
    ("deliveries ack", "delivery_id", "DELIVERY"),
    ("deliveries ack", "lease_token", "--lease"),
    ("deliveries extend", "ask_id", "ASK"),
    ("deliveries extend", "extend[].ask_id", "ASK"),
    ("deliveries extend", "extend[].lease_token", "--lease"),
    ("deliveries extend", "lease", "--for"),
    ("deliveries extend", "holder", "--as"),
    ("session end", "session_id", "ID"),
    ("send-work", "from_work_id", "--from"),
    ("run", "agent", "--as"),
    ("run", "session_id", "--resume"),
    ("person add", "name", "NAME"),
    ("person rm", "name", "NAME"),
    ("token create", "person", "--person"),
    ("token create", "host", "--host"),
    ("token create", "ttl", "--ttl"),
    ("token create", "note", "--note"),
    ("token revoke", "token_id", "ID"),
    ("token revoke", "session_id", "--session"),
    ("", "ask_id", "ID"),
];

#[cfg(test)]
mod tests {
    use super::super::help::command;
    use super::*;

    fn typed(verb: &str, by_file: bool) -> Typed {
        Typed { verb: verb.into(), by_file }
    }

    #[test]
    fn a_field_is_named_by_what_was_typed_for_it() {
        for (verb, field, word) in [
            ("show", "ask_id", "ID"),
            ("deliveries extend", "ask_id", "ASK"),
            ("ask", "request_id", "--request-id"),
            ("ask", "expire", "--expire"),
            ("ask", "questions[0].question", "QUESTION"),
            ("ask", "questions[0].options", "--option"),
            ("ask", "questions[0].options[1].label", "--option (the 2nd of them)"),
            ("ask", "questions[0].options[11].description", "--option (the 12th of them)"),
            ("ask", "defaults[q1].selected", "--default"),
            ("reply", "replaced[q1].options[0].label", "--option (the 1st of them)"),
            ("answer", "answers[q1].selected", "LABEL"),
            ("answer", "answers[q1].text", "--text"),
            ("decline", "note", "--message"),
            ("token create", "note", "--note"),
            ("deliveries take", "lease", "--lease"),
            ("deliveries extend", "lease", "--for"),
        ] {
            assert_eq!(typed(verb, false).name(field).as_deref(), Some(word), "{verb} {field}");
        }
        assert_eq!(typed("show", false).name("page_token"), None, "nobody typed that");
        assert_eq!(typed("ask", false).name("expired"), None);
    }

    #[test]
    fn what_a_file_says_keeps_the_names_that_it_has_there() {
        let by_file = typed("ask", true);
        for field in
            ["questions[0].options[1].label", "questions[2].id", "defaults[q1].text", "expire"]
        {
            assert_eq!(by_file.name(field), None, "{field}");
        }
        assert_eq!(by_file.name("request_id").as_deref(), Some("--request-id"));
    }

    #[test]
    fn every_word_can_be_typed_with_its_verb() {
        let mut command = command();
        command.build();
        for (verb, field, word) in WORDS.iter().filter(|(verb, ..)| !verb.is_empty()) {
            let of = |found: &clap::Command, verb: &str| {
                found.find_subcommand(verb).unwrap_or_else(|| panic!("{verb}")).clone()
            };
            let found = verb.split(' ').fold(command.clone(), |found, verb| of(&found, verb));
            let is_it = |arg: &clap::Arg| match word.strip_prefix("--") {
                Some(flag) => arg.get_long() == Some(flag),
                None => arg
                    .get_value_names()
                    .is_some_and(|names| names.iter().any(|name| name.as_str() == *word)),
            };
            let is_variable = word.starts_with("TRACE");
            assert!(is_variable || found.get_arguments().any(is_it), "{verb} {field}: {word}");
        }
    }

    #[test]
    fn the_verb_and_its_file_are_those_that_were_typed() {
        let of = |line: &[&str]| {
            let found = command().try_get_matches_from(["askway"].iter().chain(line));
            let typed = Typed::of(&found.expect("it parses"));
            (typed.verb, typed.by_file)
        };
        assert_eq!(of(&["deliveries", "ack", "dlv_0"]), ("deliveries ack".into(), false));
        assert_eq!(of(&["ask", "--file", "-"]), ("ask".into(), true));
        assert_eq!(of(&["ask", "Which?"]), ("ask".into(), false));
    }
}
