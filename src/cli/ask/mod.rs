//! `askway ask`: files a question; with `--wait`, waits for what becomes of it.

mod expiry;
mod trace;

use super::file::{self, AskFile};
use super::render::human;
use super::typed::{self, Intent, Offered, OnExpire, Priority};
use super::{Context, Exit, Failure, Out, place, receipt, wait};
use crate::grpc::v1;
use std::path::PathBuf;
use std::time::Duration;

const HELP: &str = r#"Examples:
  askway ask "Which store for the cache?" -o "SQLite=one file, no service" -o Postgres --wait 10m
  echo '{"questions":[{"question":"Ship it?","options":[{"label":"Yes"},{"label":"No"}]}]}' |
    askway ask --file - --json
  askway ask "Delete it?" -o Yes -o No --expire 1h --default No --wait

A file holds the fields of `askway show --json` that an asker says: questions (id, header, question,
multiple, options with label, description, recommended), context, priority; and expire, on_expire,
defaults (as the answers of an outcome), route, again. TRACEPARENT and TRACESTATE of the environment
go along."#;

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
    /// What happens at that deadline: the ask just stops, or your default stands for an answer, once
    /// a person was shown the ask for long enough
    #[arg(long, value_enum)]
    on_expire: Option<OnExpire>,
    /// Your default: a label, or QUESTION=LABEL where there are several; the recommended options
    /// where nothing is said
    #[arg(long, value_name = "LABEL", allow_hyphen_values = true)]
    default: Vec<String>,
    /// The route of the configuration that it takes
    #[arg(long, value_name = "NAME")]
    route: Option<String>,
    /// Ask although a person's no to the very same still stands: straight to people, who are told so
    #[arg(long)]
    again: bool,
    /// How surely a person's word must be theirs: `local` any person's, `token` by a token that was
    /// made for them. Sessions are passed over then, and there is no default
    #[arg(long, value_name = "LEVEL")]
    assurance: Option<typed::Assurance>,
    /// Your own state, at most 16 KiB: it comes back with the outcome; `-` is stdin
    #[arg(long, value_name = "FILE")]
    state: Option<PathBuf>,
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
pub(super) fn needs_a_session(is_person: bool) -> Result<(), Failure> {
    match place::session_token()? {
        Some(_) if !is_person => Ok(()),
        Some(_) | None => Err(Failure::new(
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
    let Some(limit) = limit else {
        let exit = receipt::finish(&receipt, out, |ask| ask.id.clone())?;
        receipt.ask.iter().for_each(|ask| note(&receipt, ask, "", out));
        return Ok(exit);
    };
    // For people the outcome alone goes to stdout; for programs the receipt goes before it.
    if out.json {
        out.receipt(&receipt, |ask| ask.id.clone())?;
        out.flush()?;
    }
    receipt::verdict(&receipt)?;
    let Some(ask) = &receipt.ask else {
        return Err(Failure::unexpected("the daemon sent no ask; see its log"));
    };
    // Nothing else names it until something becomes of it.
    note(&receipt, ask, &format!("{}, ", ask.id), out);
    wait::until_news(context, out, ask.clone(), true, limit).await
}

/// What an asker should know of its ask beside the id, behind `which` it is.
fn note(receipt: &v1::Receipt, ask: &v1::Ask, which: &str, out: &Out) {
    if receipt.replayed {
        out.note("it was filed before; this is the same ask");
    }
    if !receipt.differs.is_empty() {
        let what = receipt.differs.join(", ");
        out.note(&format!("it differs from what you sent in: {what}; what it has holds"));
    }
    match &ask.outcome {
        None => out.note(&format!("{which}waiting on {}", human::waited_on(ask))),
        Some(outcome) => {
            let how = human::outcome_line(outcome);
            out.note(&how);
            let id = &ask.id;
            out.note(&format!("next: askway wait {id}"));
        }
    }
}

async fn request(args: Args) -> Result<v1::AskRequest, Failure> {
    let read = [&args.file, &args.context_file, &args.state];
    if read.iter().filter(|path| path.as_deref().is_some_and(file::is_stdin)).count() > 1 {
        return Err(Failure::usage("stdin can be read only once")
            .then("the same with one of them in a file of its own"));
    }
    let mut request = match args.file {
        Some(path) => of_file(file::ask(&file::read(path).await?)?),
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
        request.context = file::read(path).await?;
    } else if let Some(context) = args.context {
        request.context = context;
    }
    if let Some(priority) = args.priority {
        request.priority = v1::Priority::from(priority).into();
    }
    if let Some(route) = args.route {
        request.route = route;
    }
    request.again |= args.again;
    if let Some(assurance) = args.assurance {
        request.assurance = v1::Assurance::from(assurance).into();
    }
    if !args.default.is_empty() {
        request.defaults = expiry::defaults(&request.questions, &args.default)?;
    }
    expiry::set(&mut request, args.expire, args.on_expire)?;
    let (trace_parent, trace_state) = trace::of_environment();
    let asker_state = match args.state {
        Some(path) => file::read_bytes(path).await?,
        None => Vec::new(),
    };
    request.carried = Some(v1::Carried { asker_state, trace_parent, trace_state });
    Ok(request)
}

fn of_file(mut file: AskFile) -> v1::AskRequest {
    // Whether its expiry makes sense is seen when the line has had its say.
    let expire = file.expire.map(|length| typed::to_wire(length.0));
    let on_expire = file.on_expire.map(expiry::action).unwrap_or_default().into();
    v1::AskRequest {
        defaults: file.take_defaults(),
        questions: file.questions.into_iter().map(Into::into).collect(),
        context: file.context.unwrap_or_default(),
        priority: file.priority.map(v1::Priority::from).unwrap_or_default().into(),
        route: file.route.unwrap_or_default(),
        again: file.again,
        assurance: file.assurance.map(v1::Assurance::from).unwrap_or_default().into(),
        expire,
        on_expire,
        ..v1::AskRequest::default()
    }
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
    async fn a_default_is_named_for_one_question_or_for_each() {
        let line =
            ["Which?", "-o", "A", "-o", "B=b", "--expire", "1h", "--default", "A", "--route", "r"];
        let named = request(parse(&line).expect("it parses")).await.expect("it is good");
        assert_eq!(named.on_expire(), v1::ExpiryAction::Default);
        assert_eq!(named.defaults["q1"].selected, ["A"]);
        assert_eq!((named.route.as_str(), named.again), ("r", false));

        let line = ["Which?", "-o", "A", "--expire", "1h", "--on-expire", "default", "--again"];
        let recommended = request(parse(&line).expect("it parses")).await.expect("it is good");
        assert_eq!(recommended.on_expire(), v1::ExpiryAction::Default);
        assert!(recommended.defaults.is_empty() && recommended.again);

        let bad: [&[&str]; 4] = [
            &["Which?", "-o", "A", "--default", "A"],
            &["Which?", "-o", "A", "--on-expire", "stop"],
            &["Which?", "-o", "A", "--expire", "1h", "--on-expire", "stop", "--default", "A"],
            &["Which?", "-o", "A", "--expire", "1h", "--default", "q2=A"],
        ];
        for line in bad {
            let failure = request(parse(line).expect("it parses")).await.expect_err("no sense");
            assert_eq!(failure.exit, Exit::Usage, "{line:?}");
            assert!(failure.next.is_some(), "{line:?}");
        }
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
        let bad: [&[&str]; 6] = [
            &[],
            &["Which?", "--file", "f"],
            &["--file", "f", "-o", "A"],
            &["Which?", "--recommend", "A"],
            &["Which?", "--context", "c", "-F", "f"],
            &["Which?", "--wait", "10"],
        ];
        for line in bad {
            assert!(parse(line).is_err(), "{line:?}");
        }
    }
}
