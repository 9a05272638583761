//! `askway ask`: files an ask, and waits for it where that is wanted.

use super::files;
use super::wait::{self, Limit};
use super::{Context, Exit, Failure, time};
use crate::grpc::v1;
use std::path::PathBuf;
use std::time::Duration;

/// Ask, as the session this runs in.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  askway ask \"Which store for the cache?\" -o \"SQLite=one file, no service\" -o Postgres
  askway ask \"Delete the old index?\" -o Yes -o No --wait 10m
  askway ask --file ask.json --json")]
pub struct Args {
    /// The question.
    #[arg(required_unless_present = "file")]
    question: Option<String>,
    /// An option: LABEL, or LABEL=DESCRIPTION. Several may be given.
    #[arg(short, long = "option", value_name = "LABEL=DESCRIPTION")]
    option: Vec<String>,
    /// Several options may be selected.
    #[arg(long)]
    multiple: bool,
    /// The option you would choose. It is never chosen by itself.
    #[arg(long, value_name = "LABEL")]
    recommend: Vec<String>,
    /// What a reader should know first.
    #[arg(long, conflicts_with = "context_file")]
    context: Option<String>,
    /// The same from a file; `-` is stdin.
    #[arg(short = 'F', long, value_name = "FILE")]
    context_file: Option<PathBuf>,
    /// How much it matters.
    #[arg(long, value_enum)]
    priority: Option<files::Level>,
    /// A deadline of your own, one minute to seven days.
    #[arg(long, value_parser = time::parse)]
    expire: Option<Duration>,
    /// What happens at that deadline.
    #[arg(long, value_enum, requires = "expire")]
    on_expire: Option<files::OnExpire>,
    /// The work it belongs to; the latest where nothing is said.
    #[arg(long, value_name = "WORK")]
    work: Option<String>,
    /// Several questions from a file of JSON; `-` is stdin.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["question", "option", "multiple", "recommend"])]
    file: Option<PathBuf>,
    /// Your id for this intent: the same again is the same ask.
    #[arg(long, value_name = "ID")]
    request_id: Option<String>,
    /// Wait for the outcome, at most so long; without a length, until it comes.
    #[arg(long, value_name = "LENGTH", num_args = 0..=1, default_missing_value = "", value_parser = limit)]
    wait: Option<Limit>,
}

fn limit(text: &str) -> Result<Limit, String> {
    if text.is_empty() {
        Ok(Limit(None))
    } else {
        time::parse(text).map(|length| Limit(Some(length)))
    }
}

pub(super) async fn run(args: Args, context: &mut Context<'_>) -> Result<Exit, Failure> {
    if !context.is_session {
        return Err(Failure::new(
            Exit::Refused,
            "WRONG_PRINCIPAL",
            "a person has no session to ask from; run the agent's command in one",
        )
        .then("askway run --as NAME -- COMMAND"));
    }
    let wait = args.wait;
    let receipt = context.client.ask(request(args)?).await?;
    let exit = Exit::of_receipt(&receipt);
    let Some(ask) = receipt.ask.clone().filter(|_| exit == Exit::Done) else {
        context.out.receipt(&receipt, "")?;
        return Ok(exit);
    };
    context.out.receipt(&receipt, &ask.id)?;
    match wait {
        Some(limit) => wait::until_settled(context, &ask.id, limit).await,
        None => {
            context.out.note(&format!("it {}", super::render::waits(&ask)));
            Ok(Exit::Done)
        }
    }
}

fn request(args: Args) -> Result<v1::AskRequest, Failure> {
    let mut request = match &args.file {
        Some(file) => files::ask(file)?,
        None => v1::AskRequest { questions: vec![question(&args)?], ..Default::default() },
    };
    request.request_id = args.request_id.unwrap_or_default();
    request.work_id = args.work.unwrap_or_default();
    if let Some(context) = args.context {
        request.context = context;
    }
    if let Some(file) = args.context_file {
        request.context = files::text(&file)?;
    }
    if let Some(priority) = args.priority {
        request.priority = v1::Priority::from(priority).into();
    }
    if let Some(expire) = args.expire {
        request.expire = Some(files::length(expire)?);
        request.on_expire = args.on_expire.unwrap_or(files::OnExpire::Stop).action()?.into();
    }
    Ok(request)
}

fn question(args: &Args) -> Result<v1::Question, Failure> {
    let options = args.option.iter().map(|option| {
        let (label, description) = option.split_once('=').unwrap_or((option, ""));
        v1::Option {
            recommended: args.recommend.iter().any(|recommended| recommended == label),
            label: label.to_owned(),
            description: description.to_owned(),
        }
    });
    let options: Vec<_> = options.collect();
    let offered = |label: &String| options.iter().any(|option| option.label == *label);
    if let Some(label) = args.recommend.iter().find(|label| !offered(label)) {
        return Err(Failure::usage(format!("--recommend {label}: no option has this label"))
            .then(format!("askway ask … -o \"{label}\" --recommend \"{label}\"")));
    }
    Ok(v1::Question {
        question: args.question.clone().unwrap_or_default(),
        options,
        multiple: args.multiple,
        ..Default::default()
    })
}
