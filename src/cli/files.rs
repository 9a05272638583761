//! What verbs read from files and stdin: asks and answers as JSON, texts as they are.

use super::{Failure, time};
use crate::grpc::v1;
use serde::Deserialize;
use std::collections::{BTreeMap, HashMap};
use std::io::Read;
use std::path::Path;
use std::time::Duration;

/// The most bytes read from a file: more than any limit lets through.
const BYTES: u64 = 1 << 20;

/// How much an ask matters.
#[derive(Clone, Copy, Debug, Default, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// When there is time.
    Low,
    /// As it comes.
    #[default]
    Normal,
    /// Before others.
    High,
}

impl From<Level> for v1::Priority {
    fn from(level: Level) -> Self {
        match level {
            Level::Low => v1::Priority::Low,
            Level::Normal => v1::Priority::Normal,
            Level::High => v1::Priority::High,
        }
    }
}

/// What happens at an ask's own deadline.
#[derive(Clone, Copy, Debug, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum OnExpire {
    /// It ends as expired; nothing is chosen.
    Stop,
    /// The default that each question names is taken.
    Default,
}

impl OnExpire {
    /// The action of the wire.
    ///
    /// # Errors
    ///
    /// For the default, which this version does not take.
    pub fn action(self) -> Result<v1::ExpiryAction, Failure> {
        match self {
            OnExpire::Stop => Ok(v1::ExpiryAction::Stop),
            OnExpire::Default => Err(Failure::usage(
                "--on-expire default is not in this version: silence is never taken for consent",
            )
            .then("askway ask … --expire 1h --on-expire stop")),
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct AskFile {
    questions: Vec<QuestionFile>,
    #[serde(default)]
    context: String,
    #[serde(default)]
    priority: Level,
    expire: Option<String>,
    on_expire: Option<OnExpire>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct QuestionFile {
    #[serde(default)]
    id: String,
    #[serde(default)]
    header: String,
    question: String,
    #[serde(default)]
    options: Vec<OptionFile>,
    #[serde(default)]
    multiple: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct OptionFile {
    label: String,
    #[serde(default)]
    description: String,
    #[serde(default)]
    recommended: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct AnswerFile {
    #[serde(default)]
    selected: Vec<String>,
    text: Option<String>,
}

/// An ask from a file of JSON.
///
/// # Errors
///
/// When it cannot be read, or is not such JSON: with the place.
pub fn ask(file: &Path) -> Result<v1::AskRequest, Failure> {
    let ask: AskFile = json(file)?;
    let option = |option: OptionFile| v1::Option {
        label: option.label,
        description: option.description,
        recommended: option.recommended,
    };
    let question = |question: QuestionFile| v1::Question {
        id: question.id,
        header: question.header,
        question: question.question,
        options: question.options.into_iter().map(option).collect(),
        multiple: question.multiple,
    };
    let expire = match ask.expire {
        Some(text) => Some(length(time::parse(&text).map_err(Failure::usage)?)?),
        None => None,
    };
    Ok(v1::AskRequest {
        questions: ask.questions.into_iter().map(question).collect(),
        context: ask.context,
        priority: v1::Priority::from(ask.priority).into(),
        expire,
        on_expire: ask.on_expire.unwrap_or(OnExpire::Stop).action()?.into(),
        ..Default::default()
    })
}

/// Answers from a file of JSON: `{"q1": {"selected": ["A"], "text": "…"}}`.
///
/// # Errors
///
/// As [`ask`].
pub fn answers(file: &Path) -> Result<HashMap<String, v1::Answer>, Failure> {
    let answers: BTreeMap<String, AnswerFile> = json(file)?;
    let answer = |(id, answer): (String, AnswerFile)| {
        (id, v1::Answer { selected: answer.selected, text: answer.text, default: false })
    };
    Ok(answers.into_iter().map(answer).collect())
}

fn json<T: serde::de::DeserializeOwned>(file: &Path) -> Result<T, Failure> {
    serde_json::from_str(&text(file)?)
        .map_err(|error| Failure::usage(format!("{}: {error}", file.display())))
}

/// The text of a file; `-` is stdin.
///
/// # Errors
///
/// When it cannot be read, is too long, or is not UTF-8.
pub fn text(file: &Path) -> Result<String, Failure> {
    let failed = |error: std::io::Error| Failure::usage(format!("{}: {error}", file.display()));
    let mut text = String::new();
    let read = if file == Path::new("-") {
        std::io::stdin().take(BYTES + 1).read_to_string(&mut text)
    } else {
        std::fs::File::open(file).map_err(failed)?.take(BYTES + 1).read_to_string(&mut text)
    };
    if read.map_err(failed)? as u64 > BYTES {
        return Err(Failure::usage(format!("{} has more than {BYTES} bytes", file.display())));
    }
    Ok(text)
}

/// A length of time, for the wire.
///
/// # Errors
///
/// When it is longer than any the wire carries.
pub fn length(length: Duration) -> Result<prost_types::Duration, Failure> {
    prost_types::Duration::try_from(length)
        .map_err(|_| Failure::usage("a length of time is too long"))
}
