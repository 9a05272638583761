//! What is asked: questions, their options, the context; checking them, and their fingerprint.

use super::{limits, text};
use data_encoding::HEXLOWER;
use serde::{Deserialize, Serialize, Serializer};
use sha2::{Digest, Sha256};
use std::collections::HashSet;
use std::fmt;
use std::str::FromStr;
use unicode_normalization::UnicodeNormalization;

/// What a reader sees and decides on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Content {
    /// One to four questions.
    pub questions: Vec<Question>,
    /// What a reader should know first; may be empty.
    pub context: String,
}

/// One thing to be decided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    /// The key of its answer, unique in the ask.
    pub id: String,
    /// A few words for a list; may be empty.
    pub header: String,
    /// The question itself.
    pub question: String,
    /// What is offered; may be empty, then only free text answers it.
    pub options: Vec<QuestionOption>,
    /// Whether several options may be selected.
    pub multiple: bool,
}

/// One offered choice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuestionOption {
    /// What an answer names. Exact: nothing is normalised on anybody's behalf.
    pub label: String,
    /// What it would mean; may be empty.
    pub description: String,
    /// Whether the asker would choose it. Never a choice by itself.
    pub recommended: bool,
}

/// What is wrong with one field, in words for whoever sent it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The field's path, as in `questions[0].options[2].label`.
    pub field: String,
    /// What it must be.
    pub description: String,
}

impl Violation {
    /// A violation of `field`.
    pub fn new(field: impl Into<String>, description: impl Into<String>) -> Self {
        Self { field: field.into(), description: description.into() }
    }
}

/// Fingerprint of questions, options, marks and context: what a reader saw (rule 20).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(try_from = "String")]
pub struct ContentDigest([u8; 32]);

impl ContentDigest {
    /// Its 32 bytes.
    pub const fn to_bytes(self) -> [u8; 32] {
        self.0
    }
}

impl fmt::Display for ContentDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HEXLOWER.encode_mut_str(&self.0, &mut [0; 64]))
    }
}

impl Serialize for ContentDigest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(HEXLOWER.encode_mut_str(&self.0, &mut [0; 64]))
    }
}

impl fmt::Debug for ContentDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for ContentDigest {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || "must be the 64 hexadecimal digits of the content that was shown".to_owned();
        if text.len() != 64 {
            return Err(wrong());
        }
        let mut bytes = [0; 32];
        HEXLOWER.decode_mut(text.as_bytes(), &mut bytes).map_err(|_| wrong())?;
        Ok(Self(bytes))
    }
}

impl TryFrom<String> for ContentDigest {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl Content {
    /// The fingerprint. Each text goes in with its length before it, so that no two contents share
    /// one by moving characters across a border.
    pub fn digest(&self) -> ContentDigest {
        let mut hash = Sha256::new();
        let mut put = |bytes: &[u8]| {
            hash.update((bytes.len() as u64).to_be_bytes());
            hash.update(bytes);
        };
        put(b"askway content 1");
        put(self.context.as_bytes());
        put(&(self.questions.len() as u64).to_be_bytes());
        for question in &self.questions {
            put(question.id.as_bytes());
            put(question.header.as_bytes());
            put(question.question.as_bytes());
            put(&[u8::from(question.multiple)]);
            put(&(question.options.len() as u64).to_be_bytes());
            for option in &question.options {
                put(option.label.as_bytes());
                put(option.description.as_bytes());
                put(&[u8::from(option.recommended)]);
            }
        }
        ContentDigest(hash.finalize().into())
    }

    /// The question with this id.
    pub fn question(&self, id: &str) -> Option<&Question> {
        self.questions.iter().find(|question| question.id == id)
    }

    /// Everything that is wrong, at once; empty when the content may be filed.
    pub fn violations(&self) -> Vec<Violation> {
        let mut found = Vec::new();
        let count = self.questions.len();
        if count == 0 || count > limits::QUESTIONS {
            found.push(Violation::new(
                "questions",
                format!("must be 1 to {} questions, not {count}", limits::QUESTIONS),
            ));
        }
        check_length(&mut found, "context", &self.context, limits::CONTEXT_BYTES);
        let mut ids = HashSet::new();
        for (place, question) in self.questions.iter().enumerate().take(limits::QUESTIONS + 1) {
            let field = format!("questions[{place}]");
            if !ids.insert(question.id.as_str()) {
                let id = text::brief(&question.id);
                found.push(Violation::new(
                    format!("{field}.id"),
                    format!("`{id}` is the id of another question of this ask"),
                ));
            }
            question.check(&field, &mut found);
        }
        found
    }
}

impl Question {
    /// The option with exactly this label.
    pub fn option(&self, label: &str) -> Option<&QuestionOption> {
        self.options.iter().find(|option| option.label == label)
    }

    fn check(&self, field: &str, found: &mut Vec<Violation>) {
        let of = |name: &str| format!("{field}.{name}");
        check_line(found, &of("id"), &self.id, limits::QUESTION_ID_BYTES);
        check_length(found, &of("header"), &self.header, limits::HEADER_BYTES);
        if !text::is_one_safe_line(&self.header) {
            found.push(Violation::new(of("header"), "must be one line without hidden characters"));
        }
        check_length(found, &of("question"), &self.question, limits::QUESTION_BYTES);
        if is_blank(&self.question) {
            found.push(Violation::new(of("question"), "must say what is to be decided"));
        }
        check_options(&self.options, self.multiple, field, found);
    }
}

/// Everything wrong with `options`, of a filed question or of a reply that replaces them.
pub(super) fn check_options(
    options: &[QuestionOption],
    multiple: bool,
    field: &str,
    found: &mut Vec<Violation>,
) {
    let field = format!("{field}.options");
    let count = options.len();
    if count > limits::OPTIONS {
        found.push(Violation::new(
            &field,
            format!("must be at most {} options, not {count}", limits::OPTIONS),
        ));
    }
    let recommended = options.iter().filter(|option| option.recommended).count();
    if recommended > 1 && !multiple {
        found
            .push(Violation::new(&field, "only one option may be recommended where one is chosen"));
    }
    let mut looks = HashSet::new();
    for (place, option) in options.iter().enumerate().take(limits::OPTIONS + 1) {
        let label = format!("{field}[{place}].label");
        check_line(found, &label, &option.label, limits::LABEL_BYTES);
        if option.label.trim() != option.label {
            found.push(Violation::new(&label, "must not begin or end with a space"));
        }
        if let Some(why) = reserved(&look(&option.label)) {
            found.push(Violation::new(&label, why));
        }
        if !looks.insert(look(&option.label)) {
            let text = text::brief(&option.label);
            found.push(Violation::new(&label, format!("`{text}` looks like another label here")));
        }
        let description = format!("{field}[{place}].description");
        check_length(found, &description, &option.description, limits::DESCRIPTION_BYTES);
    }
}

/// What a label looks like to a reader in a hurry: compatibility forms and case folded together,
/// without what holds emoji together and alone is nothing.
fn look(label: &str) -> String {
    let shown = label.chars().filter(|&c| !text::is_of_emoji(c));
    shown.nfkc().flat_map(char::to_lowercase).collect()
}

/// Why a label that looks like this may not be one: a surface says it of its own.
fn reserved(look: &str) -> Option<String> {
    let words = look.split_whitespace().collect::<Vec<_>>().join(" ");
    let plain = words.trim_matches(|c: char| c.is_ascii_punctuation() && c != '(' && c != ')');
    if limits::RESERVED_LABELS.contains(&plain.trim()) {
        return Some(format!("`{plain}` is offered beside the options; say more than that"));
    }
    let mark = limits::RECOMMENDED_MARK;
    words.ends_with(mark).then(|| format!("must not say `{mark}`: mark the option as recommended"))
}

/// Whether a reader would see nothing.
pub(super) fn is_blank(text: &str) -> bool {
    text.chars().all(|c| c.is_whitespace() || text::is_hidden(c) || c == '\u{200d}')
}

pub(super) fn check_length(found: &mut Vec<Violation>, field: &str, text: &str, max: usize) {
    if text.len() > max {
        found.push(Violation::new(
            field,
            format!("must be at most {max} bytes, not {}", text.len()),
        ));
    }
}

fn check_line(found: &mut Vec<Violation>, field: &str, text: &str, max: usize) {
    check_length(found, field, text, max);
    if is_blank(text) || !text::is_one_safe_line(text) {
        found.push(Violation::new(field, "must be one line of visible text"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn option(label: &str) -> QuestionOption {
        QuestionOption { label: label.into(), description: String::new(), recommended: false }
    }

    fn content(labels: &[&str]) -> Content {
        Content {
            questions: vec![Question {
                id: "q1".into(),
                header: String::new(),
                question: "Which?".into(),
                options: labels.iter().map(|label| option(label)).collect(),
                multiple: false,
            }],
            context: String::new(),
        }
    }

    #[test]
    fn every_fault_is_named_at_once() {
        let mut bad = content(&["a", "A", "", "two\nlines", " x", &"l".repeat(129)]);
        bad.questions[0].question = " \u{200b}".into();
        bad.questions[0].header = "h".repeat(limits::HEADER_BYTES + 1);
        bad.context = "c".repeat(limits::CONTEXT_BYTES + 1);
        let second = bad.questions[0].clone();
        bad.questions.push(second);
        let fields: Vec<_> = bad.violations().into_iter().map(|v| v.field).collect();
        for field in [
            "context",
            "questions[0].header",
            "questions[0].question",
            "questions[0].options[1].label",
            "questions[0].options[2].label",
            "questions[0].options[3].label",
            "questions[0].options[4].label",
            "questions[0].options[5].label",
            "questions[1].id",
        ] {
            assert!(fields.iter().any(|found| found == field), "{field} in {fields:?}");
        }
    }

    #[test]
    fn each_limit_holds_at_its_number() {
        let full = |bytes: usize| "x".repeat(bytes);
        let check = |change: &dyn Fn(&mut Content, usize), limit: usize| {
            let mut fits = content(&["a", "b"]);
            change(&mut fits, limit);
            assert_eq!(fits.violations(), []);
            let mut over = content(&["a", "b"]);
            change(&mut over, limit + 1);
            assert_ne!(over.violations(), []);
        };
        check(&|c, n| c.context = full(n), limits::CONTEXT_BYTES);
        check(&|c, n| c.questions[0].id = full(n), limits::QUESTION_ID_BYTES);
        check(&|c, n| c.questions[0].header = full(n), limits::HEADER_BYTES);
        check(&|c, n| c.questions[0].question = full(n), limits::QUESTION_BYTES);
        check(&|c, n| c.questions[0].options[0].label = full(n), limits::LABEL_BYTES);
        check(&|c, n| c.questions[0].options[0].description = full(n), limits::DESCRIPTION_BYTES);
        check(
            &|c, n| c.questions[0].options = (0..n).map(|i| option(&i.to_string())).collect(),
            limits::OPTIONS,
        );
        check(
            &|c, n| {
                let one = c.questions[0].clone();
                c.questions =
                    (0..n).map(|i| Question { id: i.to_string(), ..one.clone() }).collect();
            },
            limits::QUESTIONS,
        );
    }

    #[test]
    fn c145_labels_that_look_alike_are_refused() {
        let nothing = ["Yes\u{200d}", "Yes\u{fe0f}"].map(|twin| ["Yes", twin]);
        for labels in [["Yes", "yes"], ["1", "１"], ["ﬁt", "fit"]].into_iter().chain(nothing) {
            assert_eq!(content(&labels).violations().len(), 1, "{labels:?}");
        }
        assert!(content(&["a,b", "a=b", "a\"b", "🙂", "👩\u{200d}🚀"]).violations().is_empty());
    }

    #[test]
    fn rule_21_no_label_is_what_a_surface_says_of_its_own() {
        for reserved in limits::RESERVED_LABELS {
            let wide = |c: char| match c {
                '!'..='~' => char::from_u32(u32::from(c) + 0xfee0).unwrap(),
                c => c,
            };
            let spelled = [
                reserved.to_owned(),
                reserved.to_uppercase(),
                reserved.replace(' ', "  "),
                reserved.chars().map(wide).collect(),
                format!("{reserved}\u{200d}"),
                format!("{reserved}."),
            ];
            for label in spelled {
                let found = content(&[&label, "b"]).violations();
                assert!(!found.is_empty(), "{label:?}");
                assert_eq!(found[0].field, "questions[0].options[0].label");
            }
        }
        for label in ["A (recommended)", "A (Recommended)", "A\u{ff08}Recommended\u{ff09}"] {
            assert_eq!(content(&[label]).violations().len(), 1, "{label}");
        }
        let free = ["Yes", "No", "Cancel the job", "Cancel", "Skip", "Decline the offer"];
        assert_eq!(content(&free).violations(), []);
        let more = ["Leave it as it is", "Write an answer to them", "The recommended one", "(a) b"];
        assert_eq!(content(&more).violations(), []);
    }

    #[test]
    fn a_changed_byte_changes_the_digest() {
        let one = content(&["ab", "c"]);
        assert_ne!(one.digest(), content(&["a", "bc"]).digest());
        let mut marked = one.clone();
        marked.questions[0].options[0].recommended = true;
        assert_ne!(one.digest(), marked.digest());
        assert_eq!(one.digest(), one.clone().digest());
        assert_eq!(one.digest().to_string().parse(), Ok(one.digest()));
    }
}
