//! What people type, read once and shared by the verbs: lengths of time, options, request ids, and
//! questions and answers from a file. Whether they make sense is the daemon's to say.

use super::Failure;
use crate::ask::RequestId;
use crate::grpc::v1;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::collections::{BTreeMap, HashMap};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fs, io};

/// The most bytes read from a file: more than any limit lets through.
const FILE_BYTES: u64 = 1 << 20;

/// The caller's own id for what it wants done.
#[derive(Debug, clap::Args)]
pub struct Intent {
    /// Your own id for this call: the same again is the same call, and gives the same receipt
    #[arg(long, value_name = "ID")]
    request_id: Option<RequestId>,
}

impl Intent {
    /// As a request carries it; empty where the client is to make one.
    pub fn into_id(self) -> String {
        self.request_id.map(String::from).unwrap_or_default()
    }

    /// Whether it was typed.
    pub fn is_typed(&self) -> bool {
        self.request_id.is_some()
    }
}

/// The options of one question.
#[derive(Debug, clap::Args)]
pub struct Offered {
    /// An option, with what it would mean after the first `=`
    #[arg(short, long = "option", value_name = "LABEL[=DESCRIPTION]", allow_hyphen_values = true)]
    option: Vec<String>,
    /// The option that you would choose; never a choice by itself
    #[arg(long, value_name = "LABEL", allow_hyphen_values = true, requires = "option")]
    recommend: Vec<String>,
}

impl Offered {
    /// Whether no option was typed.
    pub fn is_empty(&self) -> bool {
        self.option.is_empty()
    }

    /// The options as a request carries them.
    ///
    /// # Errors
    ///
    /// When something is recommended that is not offered.
    pub fn into_options(self) -> Result<Vec<v1::Option>, Failure> {
        let mut options: Vec<_> = self.option.iter().map(|text| option(text)).collect();
        for label in &self.recommend {
            match options.iter_mut().find(|option| option.label == *label) {
                Some(option) => option.recommended = true,
                None => {
                    let labels: Vec<_> = options.iter().map(|o| format!("`{}`", o.label)).collect();
                    let labels = labels.join(", ");
                    return Err(Failure::usage(format!(
                        "`{label}` is recommended and not offered; offered are: {labels}"
                    ))
                    .then("the same with --recommend and one of them"));
                }
            }
        }
        Ok(options)
    }
}

/// `LABEL=DESCRIPTION`, split at the first `=`; a label alone means only itself.
fn option(text: &str) -> v1::Option {
    let (label, description) = text.split_once('=').unwrap_or((text, ""));
    v1::Option { label: label.into(), description: description.into(), recommended: false }
}

/// A length of time as people write it: `90s`, `15m`, `1h 30m`, `2d`. A day has 24 hours.
///
/// # Errors
///
/// A sentence that says how it is written.
pub fn duration(text: &str) -> Result<Duration, String> {
    let wrong = || "write a length of time with its unit, as in 90s, 15m, 1h 30m or 2d".to_owned();
    let span: jiff::Span = text.trim().parse().map_err(|_| wrong())?;
    let days = jiff::SpanRelativeTo::days_are_24_hours();
    let length = span.to_duration(days).map_err(|_| wrong())?;
    Duration::try_from(length).map_err(|_| "a length of time cannot be negative".to_owned())
}

/// A length of time as a request carries it.
pub fn to_wire(length: Duration) -> prost_types::Duration {
    let seconds = i64::try_from(length.as_secs()).unwrap_or(i64::MAX);
    prost_types::Duration { seconds, nanos: length.subsec_nanos() as i32 }
}

/// An ask as a file holds it: the fields of `askway show --json` that an asker sends.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AskFile {
    /// One to four.
    pub questions: Vec<QuestionInFile>,
    /// What a reader should know first.
    #[serde(default)]
    pub context: Option<String>,
    /// `low`, `normal` or `high`.
    #[serde(default)]
    pub priority: Option<Priority>,
    /// The asker's own deadline, as people write a length of time.
    #[serde(default)]
    pub expire: Option<Length>,
    /// What happens at that deadline.
    #[serde(default)]
    pub on_expire: Option<OnExpire>,
}

/// A length of time in a file.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "String")]
pub struct Length(pub Duration);

impl TryFrom<String> for Length {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        duration(&text).map(Length)
    }
}

/// What happens at an asker's own deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnExpire {
    /// The ask ends as expired; nothing is chosen
    Stop,
    /// A default that you named stands for an answer (not there yet)
    Default,
}

/// One question of a file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QuestionInFile {
    #[serde(default)]
    id: String,
    #[serde(default)]
    header: String,
    question: String,
    #[serde(default)]
    options: Vec<OptionInFile>,
    #[serde(default)]
    multiple: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct OptionInFile {
    label: String,
    #[serde(default)]
    description: String,
    #[serde(default)]
    recommended: bool,
}

/// How much an ask matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Priority {
    /// When there is time
    Low,
    /// As it comes
    Normal,
    /// Before others
    High,
}

impl From<Priority> for v1::Priority {
    fn from(priority: Priority) -> Self {
        match priority {
            Priority::Low => v1::Priority::Low,
            Priority::Normal => v1::Priority::Normal,
            Priority::High => v1::Priority::High,
        }
    }
}

impl From<QuestionInFile> for v1::Question {
    fn from(question: QuestionInFile) -> Self {
        let options = question.options.into_iter().map(|option| v1::Option {
            label: option.label,
            description: option.description,
            recommended: option.recommended,
        });
        v1::Question {
            id: question.id,
            header: question.header,
            question: question.question,
            options: options.collect(),
            multiple: question.multiple,
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct AnswerInFile {
    #[serde(default)]
    selected: Vec<String>,
    #[serde(default)]
    text: Option<String>,
    /// Stands in an outcome; the daemon alone says it, so it is read past here.
    #[serde(default, rename = "default")]
    _default: bool,
}

/// Answers as a file holds them: `{"QUESTION ID": {"selected": [...], "text": "..."}}`, as the
/// `answers` of an outcome.
///
/// # Errors
///
/// Where the text is anything else, with the place.
pub fn answers(text: &str) -> Result<HashMap<String, v1::Answer>, Failure> {
    let answers: BTreeMap<String, AnswerInFile> = from_json(text)?;
    let wire = |answer: AnswerInFile| v1::Answer {
        selected: answer.selected,
        text: answer.text,
        default: false,
    };
    Ok(answers.into_iter().map(|(id, answer)| (id, wire(answer))).collect())
}

/// What a file's JSON says.
///
/// # Errors
///
/// Where it says something else, with the place.
pub fn from_json<T: DeserializeOwned>(text: &str) -> Result<T, Failure> {
    serde_json::from_str(text).map_err(|error| {
        Failure::usage(format!("the file is not as it must be: {error}"))
            .then("the same verb with --help, for what the file holds")
    })
}

/// The text of a file, or of stdin for `-`.
///
/// # Errors
///
/// When it cannot be read, or is not UTF-8.
pub async fn read_file(path: PathBuf) -> Result<String, Failure> {
    let shown = if path == Path::new("-") { "stdin".into() } else { path.display().to_string() };
    // On a thread of its own, so that Ctrl-C is heard while nobody types.
    let read = tokio::task::spawn_blocking(move || match path == Path::new("-") {
        true => bounded(io::stdin().lock()),
        false => fs::File::open(path).and_then(bounded),
    });
    match read.await {
        Ok(Ok(text)) => Ok(text),
        Ok(Err(error)) => Err(Failure::usage(format!("{shown} cannot be read: {error}"))
            .then("the same with a file that can be read, or - for stdin")),
        Err(error) => Err(Failure::unexpected(format!("{shown} was not read: {error}"))),
    }
}

fn bounded(from: impl Read) -> io::Result<String> {
    let mut text = String::new();
    from.take(FILE_BYTES + 1).read_to_string(&mut text)?;
    match text.len() as u64 > FILE_BYTES {
        true => Err(io::Error::other(format!("it has more than {FILE_BYTES} bytes"))),
        false => Ok(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        offered: Offered,
    }

    fn offered(line: &[&str]) -> Result<Vec<v1::Option>, Failure> {
        let line = Line::try_parse_from(["x"].iter().chain(line)).expect("it parses");
        line.offered.into_options()
    }

    #[test]
    fn lengths_of_time_are_read_as_people_write_them() {
        let good = [
            ("90s", 90_000),
            ("15m", 900_000),
            ("1h 30m", 5_400_000),
            ("1h30m", 5_400_000),
            ("2d", 172_800_000),
            ("250ms", 250),
            ("0s", 0),
            (" 10 minutes ", 600_000),
        ];
        for (text, millis) in good {
            assert_eq!(duration(text), Ok(Duration::from_millis(millis)), "{text}");
        }
        for text in ["", "15", "m", "-5m", "5m ago", "1 month", "ten minutes", "1h-30m"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn an_option_is_split_at_its_first_equals_sign() {
        let options = offered(&["-o", "SQLite=one file, a=b", "-o", "Postgres", "-o", "-1=less"]);
        let options = options.expect("they are good");
        let each: Vec<_> =
            options.iter().map(|o| (o.label.as_str(), o.description.as_str())).collect();
        assert_eq!(each, [("SQLite", "one file, a=b"), ("Postgres", ""), ("-1", "less")]);
        assert!(options.iter().all(|option| !option.recommended));
    }

    #[test]
    fn only_what_is_offered_is_recommended() {
        let options = offered(&["-o", "A=a", "-o", "B", "--recommend", "B"]).expect("it is good");
        assert_eq!(options.iter().map(|o| o.recommended).collect::<Vec<_>>(), [false, true]);
        let failure = offered(&["-o", "A", "--recommend", "B"]).expect_err("B is not offered");
        assert!(failure.message.contains("`A`"), "{failure}");
    }

    #[test]
    fn a_file_of_questions_is_read_whole_or_its_fault_is_placed() {
        let text = r#"{"questions":[{"question":"Which?","options":[{"label":"A"}]},
            {"id":"two","header":"h","question":"And?","multiple":true}],"priority":"high","expire":"1h 30m","on_expire":"stop"}"#;
        let file: AskFile = from_json(text).expect("it is good");
        assert_eq!(file.priority, Some(Priority::High));
        assert_eq!(file.expire.map(|length| length.0), Some(Duration::from_secs(5_400)));
        assert_eq!(file.on_expire, Some(OnExpire::Stop));
        let questions: Vec<v1::Question> = file.questions.into_iter().map(Into::into).collect();
        assert_eq!(questions[0].options[0].label, "A");
        assert_eq!((questions[1].id.as_str(), questions[1].multiple), ("two", true));
        for bad in [
            "",
            "[]",
            r#"{"questions":[{"question":"Which?","option":[]}]}"#,
            r#"{"questions":[],"expire":"1"}"#,
        ] {
            let failure = from_json::<AskFile>(bad).expect_err("it is bad");
            assert!(failure.message.contains("line 1"), "{failure}");
        }
    }

    #[test]
    fn a_file_of_answers_is_what_an_outcome_shows() {
        let text = r#"{"q1":{"selected":["A"],"text":null,"default":true},"q2":{"text":"so"}}"#;
        let answers = answers(text).expect("they are good");
        let expected = v1::Answer { selected: vec!["A".into()], text: None, default: false };
        assert_eq!(answers["q1"], expected);
        assert_eq!(answers["q2"].text.as_deref(), Some("so"));
        assert!(super::answers(r#"{"q1":"A"}"#).is_err());
    }
}
