//! `askway ask`: files a question; with `--wait`, waits for what becomes of it.

use super::render::human;
use super::typed::{self, AskFile, Intent, Offered, Priority};
use super::{Context, Exit, Failure, Output, context, receipt, wait};
use crate::grpc::v1;
use crate::session::Kind;
use std::path::{Path, PathBuf};
use std::time::Duration;

const HELP: &str = r#"Examples:
  askway ask "Which store for the cache?" -o "SQLite=one file, no service" -o Postgres --wait 10m
  echo '{"questions":[{"question":"Ship it?","options":[{"label":"Yes"},{"label":"No"}]}]}' |
    askway ask --file - --json

A file holds the fields of `askway show --json` that an asker says: questions (id, header, question,
multiple, options with label, description, recommended), context, priority."#;

/// What to ask, and how.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    /// What is to be decided
    #[arg(required_unless_present = "file", conflicts_with = "file")]
    question: Option<String>,
    #[command(flatten)]
    offered: Offered,
    /// Several options may be chosen
    #[arg(long, conflicts_with = "file")]
    multiple: bool,
    /// A few words for a list
    #[arg(long, value_name = "TEXT", conflicts_with = "file", allow_hyphen_values = true)]
    header: Option<String>,
    /// One to four questions as JSON; `-` is stdin
    #[arg(long, conflicts_with_all = ["option", "recommend"])]
    file: Option<PathBuf>,
    /// What a reader should know first
    #[arg(long, value_name = "TEXT", conflicts_with = "context_file", allow_hyphen_values = true)]
    context: Option<String>,
    /// The same from a file; `-` is stdin
    #[arg(short = 'F', long, value_name = "FILE")]
    context_file: Option<PathBuf>,
    /// How much it matters; orders an inbox, moves no timer
    #[arg(long, value_enum)]
    priority: Option<Priority>,
    /// Your own deadline, one minute to seven days
    #[arg(long, value_name = "TIME", value_parser = typed::duration)]
    expire: Option<Duration>,
    /// What happens at that deadline
    #[arg(long, value_enum, requires = "expire")]
    on_expire: Option<OnExpire>,
    /// The work it belongs to; your latest where nothing is said
    #[arg(long, value_name = "WORK")]
    work: Option<String>,
    /// Wait so long for what becomes of it
    #[arg(long, value_name = "TIME", value_parser = typed::duration)]
    wait: Option<Duration>,
    #[command(flatten)]
    intent: Intent,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum OnExpire {
    /// The ask ends as expired; nothing is chosen
    Stop,
    /// A default that you named stands for an answer (not there yet)
    Default,
}

/// Only a session has somebody to ask: says so before anything else is looked at.
pub(super) fn needs_a_session() -> Result<(), Failure> {
    match context::told_token()? {
        Some(token) if token.kind() == Kind::Session => Ok(()),
        Some(_) | None => Err(Failure::new(
            Exit::Refused,
            "WRONG_PRINCIPAL",
            "only a session asks; you are not in one (ASKWAY_TOKEN holds no session's token)",
        )
        .with_next("askway run --as NAME -- COMMAND, and ask from inside of it")),
    }
}

/// Files it, prints its receipt, and waits where that was asked for.
pub(super) async fn run(args: Args, context: &Context, out: &mut Output) -> Result<Exit, Failure> {
    let limit = args.wait;
    let receipt = context.client.ask(request(args).await?).await?;
    match limit {
        None => receipt::finish(&receipt, out, |ask| ask.id.clone()),
        Some(limit) => {
            // For people the outcome alone goes to stdout; for programs the receipt goes before it.
            if out.is_json() {
                out.receipt(&receipt, |ask| ask.id.clone())?;
                out.flush()?;
            }
            receipt::verdict(&receipt)?;
            let Some(ask) = receipt.ask else {
                return Err(Failure::unexpected("the daemon sent no ask; see its log"));
            };
            out.note(&format!("{}, waiting on {}", ask.id, human::waited_on(&ask)));
            wait::until_news(context, out, ask, true, Some(limit)).await
        }
    }
}

async fn request(args: Args) -> Result<v1::AskRequest, Failure> {
    if args.on_expire == Some(OnExpire::Default) {
        let message =
            "a default that stands for an answer is not there yet; an expiry can only stop";
        let mut failure = Failure::usage(message).with_next("the same with --on-expire stop");
        failure.fields.push(("on_expire".into(), "must be stop for now".into()));
        return Err(failure);
    }
    let stdin = [&args.file, &args.context_file];
    if stdin.iter().all(|path| path.as_deref() == Some(Path::new("-"))) {
        return Err(Failure::usage("stdin cannot hold both the questions and the context")
            .with_next("the same with one of them in a file of its own"));
    }
    let (questions, file_context, file_priority) = match args.file {
        Some(path) => {
            let file: AskFile = typed::from_json(&typed::read_file(path).await?)?;
            let questions = file.questions.into_iter().map(Into::into).collect();
            (questions, file.context, file.priority)
        }
        None => {
            let question = v1::Question {
                id: String::new(),
                header: args.header.unwrap_or_default(),
                question: args.question.unwrap_or_default(),
                options: args.offered.into_options()?,
                multiple: args.multiple,
            };
            (vec![question], None, None)
        }
    };
    let typed_context = match args.context_file {
        Some(path) => Some(typed::read_file(path).await?),
        None => args.context,
    };
    let priority = args.priority.or(file_priority).map(v1::Priority::from).unwrap_or_default();
    Ok(v1::AskRequest {
        request_id: args.intent.into_id(),
        work_id: args.work.unwrap_or_default(),
        questions,
        context: typed_context.or(file_context).unwrap_or_default(),
        priority: priority.into(),
        expire: args.expire.map(typed::to_wire),
        on_expire: match args.expire {
            Some(_) => v1::ExpiryAction::Stop.into(),
            None => v1::ExpiryAction::Unspecified.into(),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        args: Args,
    }

    fn parse(line: &[&str]) -> Result<Args, clap::Error> {
        Line::try_parse_from(["ask"].iter().chain(line)).map(|line| line.args)
    }

    #[tokio::test]
    async fn what_is_typed_is_what_is_asked() {
        let line = [
            "Which?",
            "-o",
            "A=first",
            "-o",
            "B",
            "--recommend",
            "A",
            "--multiple",
            "--context",
            "- a list",
            "--priority",
            "high",
            "--expire",
            "1h 30m",
            "--on-expire",
            "stop",
            "--request-id",
            "one",
        ];
        let request = request(parse(&line).expect("it parses")).await.expect("it is good");
        assert_eq!(request.request_id, "one");
        assert_eq!(request.context, "- a list");
        assert_eq!(request.priority(), v1::Priority::High);
        assert_eq!(request.expire.map(|expire| expire.seconds), Some(5_400));
        assert_eq!(request.on_expire(), v1::ExpiryAction::Stop);
        let [question] = &request.questions[..] else { panic!("one question") };
        assert!(question.multiple);
        assert_eq!(question.question, "Which?");
        assert!(question.options[0].recommended && !question.options[1].recommended);
    }

    #[tokio::test]
    async fn a_file_says_what_the_line_does_not() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("ask.json");
        let text = r#"{"questions":[{"question":"One?"},{"question":"Two?"}],"context":"c","priority":"low"}"#;
        std::fs::write(&path, text).expect("written");
        let path = path.to_str().expect("UTF-8");
        let plain = parse(&["--file", path]).expect("it parses");
        let plain = request(plain).await.expect("it is good");
        assert_eq!(plain.questions.len(), 2);
        assert_eq!((plain.context.as_str(), plain.priority()), ("c", v1::Priority::Low));
        let over = parse(&["--file", path, "--context", "mine"]).expect("it parses");
        assert_eq!(request(over).await.expect("it is good").context, "mine");
    }

    #[tokio::test]
    async fn what_is_not_there_yet_is_refused_with_what_is() {
        let line = ["Which?", "--expire", "1h", "--on-expire", "default"];
        let failure = request(parse(&line).expect("it parses")).await.expect_err("not there yet");
        assert_eq!(failure.exit, Exit::Usage);
        assert_eq!(failure.next.as_deref(), Some("the same with --on-expire stop"));
        assert_eq!(failure.fields[0].0, "on_expire");
    }

    #[tokio::test]
    async fn stdin_is_read_once() {
        let both = parse(&["--file", "-", "-F", "-"]).expect("it parses");
        assert_eq!(request(both).await.expect_err("one stdin").exit, Exit::Usage);
    }

    #[test]
    fn what_makes_no_sense_together_is_not_parsed() {
        let bad: [&[&str]; 7] = [
            &[],
            &["Which?", "--file", "f"],
            &["--file", "f", "-o", "A"],
            &["Which?", "--recommend", "A"],
            &["Which?", "--on-expire", "stop"],
            &["Which?", "--context", "c", "-F", "f"],
            &["Which?", "--wait", "10"],
        ];
        for line in bad {
            assert!(parse(line).is_err(), "{line:?}");
        }
    }
}
