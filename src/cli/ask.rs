//! `askway ask`: files a question; with `--wait`, waits for what becomes of it.

use super::render::human;
use super::typed::{self, AskFile, Intent, Offered, OnExpire, Priority};
use super::{Context, Exit, Failure, Out, place, receipt, wait};
use crate::grpc::v1;
use std::path::{Path, PathBuf};
use std::time::Duration;

const HELP: &str = r#"Examples:
  askway ask "Which store for the cache?" -o "SQLite=one file, no service" -o Postgres --wait 10m
  echo '{"questions":[{"question":"Ship it?","options":[{"label":"Yes"},{"label":"No"}]}]}' |
    askway ask --file - --json

A file holds the fields of `askway show --json` that an asker says: questions (id, header, question,
multiple, options with label, description, recommended), context, priority; and expire, on_expire."#;

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
    /// Wait for what becomes of it, at most so long; without a time, until it comes
    #[arg(long, value_name = "TIME", value_parser = typed::duration)]
    wait: Option<Option<Duration>>,
    #[command(flatten)]
    intent: Intent,
}

/// Only a session has somebody to ask: says so before anything else is looked at.
pub(super) fn needs_a_session() -> Result<(), Failure> {
    match place::session_token()? {
        Some(_) => Ok(()),
        None => Err(Failure::new(
            Exit::Refused,
            "WRONG_PRINCIPAL",
            "a person has no session to ask from; run the agent's command in one",
        )
        .then("askway run --as NAME -- COMMAND")),
    }
}

/// Files it, prints its receipt, and waits where that was asked for.
pub(super) async fn run(args: Args, context: &Context, out: &mut Out) -> Result<Exit, Failure> {
    let limit = args.wait;
    let receipt = context.client.ask(request(args).await?).await?;
    match limit {
        None => receipt::finish(&receipt, out, |ask| ask.id.clone()),
        Some(limit) => {
            // For people the outcome alone goes to stdout; for programs the receipt goes before it.
            if out.json {
                out.receipt(&receipt, |ask| ask.id.clone())?;
                out.flush()?;
            }
            receipt::verdict(&receipt)?;
            let Some(ask) = receipt.ask else {
                return Err(Failure::unexpected("the daemon sent no ask; see its log"));
            };
            out.note(&format!("{}, waiting on {}", ask.id, human::waited_on(&ask)));
            wait::until_news(context, out, ask, true, limit).await
        }
    }
}

async fn request(args: Args) -> Result<v1::AskRequest, Failure> {
    let stdin = [&args.file, &args.context_file];
    if stdin.iter().all(|path| path.as_deref() == Some(Path::new("-"))) {
        return Err(Failure::usage("stdin cannot hold both the questions and the context")
            .then("the same with one of them in a file of its own"));
    }
    let mut request = match args.file {
        Some(path) => of_file(typed::from_json(&typed::read_file(path).await?)?)?,
        None => {
            let question = v1::Question {
                id: String::new(),
                header: args.header.unwrap_or_default(),
                question: args.question.unwrap_or_default(),
                options: args.offered.into_options()?,
                multiple: args.multiple,
            };
            v1::AskRequest { questions: vec![question], ..v1::AskRequest::default() }
        }
    };
    request.request_id = args.intent.into_id();
    request.work_id = args.work.unwrap_or_default();
    if let Some(path) = args.context_file {
        request.context = typed::read_file(path).await?;
    } else if let Some(context) = args.context {
        request.context = context;
    }
    if let Some(priority) = args.priority {
        request.priority = v1::Priority::from(priority).into();
    }
    if let Some(length) = args.expire {
        set_expiry(&mut request, length, args.on_expire)?;
    }
    Ok(request)
}

fn of_file(file: AskFile) -> Result<v1::AskRequest, Failure> {
    let mut request = v1::AskRequest {
        questions: file.questions.into_iter().map(Into::into).collect(),
        context: file.context.unwrap_or_default(),
        priority: file.priority.map(v1::Priority::from).unwrap_or_default().into(),
        ..v1::AskRequest::default()
    };
    match (file.expire, file.on_expire) {
        (Some(length), action) => set_expiry(&mut request, length.0, action)?,
        (None, None) => {}
        (None, Some(_)) => {
            return Err(Failure::usage("the file says on_expire and no expire")
                .then("the same with \"expire\": \"1h\" in the file"));
        }
    }
    Ok(request)
}

fn set_expiry(
    request: &mut v1::AskRequest,
    length: Duration,
    action: Option<OnExpire>,
) -> Result<(), Failure> {
    if action == Some(OnExpire::Default) {
        let message =
            "a default that stands for an answer is not there yet; an expiry can only stop";
        let mut failure = Failure::usage(message).then("the same with --on-expire stop");
        failure.fields.push(("on_expire".into(), "must be stop for now".into()));
        return Err(failure);
    }
    request.expire = Some(typed::to_wire(length));
    request.on_expire = v1::ExpiryAction::Stop.into();
    Ok(())
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
        let text = r#"{"questions":[{"question":"One?"},{"question":"Two?"}],"context":"c","priority":"low","expire":"1h"}"#;
        std::fs::write(&path, text).expect("written");
        let path = path.to_str().expect("UTF-8");
        let plain = parse(&["--file", path]).expect("it parses");
        let plain = request(plain).await.expect("it is good");
        assert_eq!(plain.questions.len(), 2);
        assert_eq!((plain.context.as_str(), plain.priority()), ("c", v1::Priority::Low));
        assert_eq!(plain.expire.map(|expire| expire.seconds), Some(3_600));
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
    fn a_wait_has_an_end_only_where_one_is_said() {
        let wait = |line: &[&str]| parse(line).expect("it parses").wait;
        assert_eq!(wait(&["Which?"]), None);
        assert_eq!(wait(&["Which?", "--wait"]), Some(None));
        assert_eq!(wait(&["Which?", "--wait", "10m"]), Some(Some(Duration::from_secs(600))));
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
