//! What people type, read once and shared by the verbs: lengths of time, options, request ids, which
//! ask and why. Whether they make sense is the daemon's to say. What files hold: `file`.

use super::{Failure, shell};
use crate::ask::RequestId;
use crate::grpc::v1;
use serde::Deserialize;
use std::time::Duration;

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

/// Which namespace.
#[derive(Debug, clap::Args)]
pub struct Within {
    /// The namespace; yours where nothing is said
    #[arg(long, value_name = "NAME")]
    namespace: Option<String>,
}

impl Within {
    /// As it was typed; empty where nothing was.
    pub fn named(&self) -> &str {
        self.namespace.as_deref().unwrap_or_default()
    }

    /// The flag as it is typed for a namespace; nothing for the caller's own, which is empty.
    pub fn typed(namespace: &str) -> String {
        match namespace {
            "" => String::new(),
            named => {
                let typed_name = shell::word_or(named, "NAMESPACE");
                format!(" --namespace {typed_name}")
            }
        }
    }

    /// As a request carries it; empty where the caller's own is meant.
    pub fn into_name(self) -> String {
        self.namespace.unwrap_or_default()
    }
}

/// Which ask, and why: what is typed to end it or to move it on.
#[derive(Debug, clap::Args)]
pub struct Why {
    /// The ask's id, or its first characters
    pub id: String,
    /// Why: the other side is told
    #[arg(short, long, value_name = "TEXT", allow_hyphen_values = true)]
    pub message: Option<String>,
    #[command(flatten)]
    pub intent: Intent,
}

/// What is said to the other side: behind the id, or as elsewhere with a flag.
#[derive(Debug, clap::Args)]
#[group(skip)]
pub struct Words {
    /// What is said
    #[arg(required_unless_present = "message")]
    text: Option<String>,
    /// The same, as other verbs take it
    #[arg(short, long, value_name = "TEXT", allow_hyphen_values = true, conflicts_with = "text")]
    message: Option<String>,
}

impl Words {
    /// As it was typed.
    pub fn into_text(self) -> String {
        self.text.or(self.message).unwrap_or_default()
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
    /// The default that you named stands for an answer, once a person was shown the ask
    Default,
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

/// How surely a person's word must be theirs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Assurance {
    /// Any person's
    Local,
    /// By a token that was made for that person alone
    Token,
}

impl From<Assurance> for v1::Assurance {
    fn from(assurance: Assurance) -> Self {
        match assurance {
            Assurance::Local => v1::Assurance::Local,
            Assurance::Token => v1::Assurance::Token,
        }
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
}
