//! What files hold: the questions of an ask, the answers to one. Read whole, or with the place of
//! what is wrong; whether it makes sense is the daemon's to say.

use super::Failure;
use super::typed::{Assurance, Length, OnExpire, Priority};
use crate::grpc::v1;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Display;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// The most bytes read from a file: more than any limit lets through.
const FILE_BYTES: u64 = 1 << 20;

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
    /// The default that stands then, by question id.
    #[serde(default)]
    defaults: BTreeMap<String, AnswerInFile>,
    /// Which route of the configuration.
    #[serde(default)]
    pub route: Option<String>,
    /// Whether a person's no that still stands is to be asked over.
    #[serde(default)]
    pub again: bool,
    /// `local` or `token`: how surely a person's word must be theirs.
    #[serde(default)]
    pub assurance: Option<Assurance>,
}

impl AskFile {
    /// The default, as a request carries it.
    pub fn take_defaults(&mut self) -> HashMap<String, v1::Answer> {
        on_the_wire(std::mem::take(&mut self.defaults))
    }
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
    from_json(text).map(on_the_wire)
}

fn on_the_wire(answers: BTreeMap<String, AnswerInFile>) -> HashMap<String, v1::Answer> {
    let wire = |answer: AnswerInFile| v1::Answer {
        selected: answer.selected,
        text: answer.text,
        default: false,
    };
    answers.into_iter().map(|(id, answer)| (id, wire(answer))).collect()
}

/// An ask as a file holds it.
///
/// # Errors
///
/// Where the text is anything else, with the place.
pub fn ask(text: &str) -> Result<AskFile, Failure> {
    // What serde would say of a list of questions is about a struct that nobody knows.
    if text.trim_start().starts_with('[') {
        let message = "the file is not as it must be: must be an object: {\"questions\": [...]}";
        return Err(Failure::usage(message).then(HOW));
    }
    from_json(text)
}

/// What to type against a file that is not as it must be.
const HOW: &str = "the same verb with --help, for what the file holds";

/// What a file's JSON says.
///
/// # Errors
///
/// Where it says something else, with the place.
pub fn from_json<T: DeserializeOwned>(text: &str) -> Result<T, Failure> {
    serde_json::from_str(text).map_err(|error| {
        Failure::usage(format!("the file is not as it must be: {error}")).then(HOW)
    })
}

/// The text of a file, or of stdin for `-`.
///
/// # Errors
///
/// When it cannot be read, or is not UTF-8.
pub async fn read(path: PathBuf) -> Result<String, Failure> {
    let shown = shown(&path);
    String::from_utf8(read_bytes(path).await?).map_err(|_| unreadable(&shown, "it is not UTF-8"))
}

/// The same of a file that need not hold text.
///
/// # Errors
///
/// When it cannot be read.
pub async fn read_bytes(path: PathBuf) -> Result<Vec<u8>, Failure> {
    let shown = shown(&path);
    // On a thread of its own, so that Ctrl-C is heard while nobody types.
    let read = tokio::task::spawn_blocking(move || match is_stdin(&path) {
        true => bounded(io::stdin().lock()),
        false => fs::File::open(path).and_then(bounded),
    });
    match read.await {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(error)) => Err(unreadable(&shown, error)),
        Err(error) => Err(Failure::unexpected(format!("{shown} was not read: {error}"))),
    }
}

/// Whether a path says that stdin is meant.
pub fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}

fn shown(path: &Path) -> String {
    if is_stdin(path) { "stdin".into() } else { path.display().to_string() }
}

fn unreadable(shown: &str, why: impl Display) -> Failure {
    Failure::usage(format!("{shown} cannot be read: {why}"))
        .then("the same with a file that can be read, or - for stdin")
}

fn bounded(from: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(FILE_BYTES + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > FILE_BYTES {
        true => Err(io::Error::other(format!("it has more than {FILE_BYTES} bytes"))),
        false => Ok(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_file_of_questions_is_read_whole_or_its_fault_is_placed() {
        let text = r#"{"questions":[{"question":"Which?","options":[{"label":"A"}]},
            {"id":"two","header":"h","question":"And?","multiple":true}],"priority":"high","expire":"1h 30m",
            "on_expire":"default","defaults":{"q1":{"selected":["A"]}},"route":"climb","again":true}"#;
        let mut file: AskFile = from_json(text).expect("it is good");
        assert_eq!(file.priority, Some(Priority::High));
        assert_eq!(file.expire.map(|length| length.0), Some(Duration::from_secs(5_400)));
        assert_eq!(file.on_expire, Some(OnExpire::Default));
        assert_eq!((file.route.as_deref(), file.again), (Some("climb"), true));
        assert_eq!(file.take_defaults()["q1"].selected, ["A"]);
        let questions: Vec<v1::Question> = file.questions.into_iter().map(Into::into).collect();
        assert_eq!(questions[0].options[0].label, "A");
        assert_eq!((questions[1].id.as_str(), questions[1].multiple), ("two", true));
        for bad in [
            "",
            r#"{"questions":[{"question":"Which?","option":[]}]}"#,
            r#"{"questions":[],"expire":"1"}"#,
        ] {
            let failure = ask(bad).expect_err("it is bad");
            assert!(failure.message.contains("line 1"), "{failure}");
        }
    }

    #[test]
    fn a_list_of_questions_is_said_to_want_its_object() {
        let failure = ask(r#" [{"question":"Which?"}]"#).expect_err("it is a list");
        assert!(
            failure.message.ends_with(r#"must be an object: {"questions": [...]}"#),
            "{failure}"
        );
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
