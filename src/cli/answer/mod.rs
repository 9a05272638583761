//! `askway answer`: answers an ask, as the session it waits on or as a person. Labels on the line are
//! sent as they are ([`labels`]); without any, a person at a terminal is asked ([`dialog`]).

mod dialog;
mod editor;
mod entries;
mod labels;
mod next;
mod steps;

use super::typed::Intent;
use super::{Context, Exit, Failure, Out, file, receipt, terminal};
use crate::grpc::v1;
use std::path::PathBuf;

const HELP: &str = r#"Examples:
  askway answer
  askway answer ask_k3f9
  askway answer ask_k3f9 SQLite --text "it fits on one machine"
  echo '{"q1":{"selected":["Yes"]},"q2":{"text":"not before May"}}' | askway answer k3f9 --file -

At a terminal, without a choice, it asks you: without an ID for what waits on you longest, the most
pressing first. Nothing is sent before you say so; esc and ctrl-c send nothing, and end it with 5 and
130. $VISUAL or $EDITOR is for long answers."#;

/// Which ask, and what is decided.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    /// The ask's id, or its first characters; what waits on you longest where none is named
    id: Option<String>,
    /// What is chosen, exactly as it is offered; you are asked where nothing is
    #[arg(value_name = "LABEL")]
    labels: Vec<String>,
    /// Words of your own, with a choice or instead of one
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    text: Option<String>,
    /// Answers to several questions as JSON, by question id; `-` is stdin
    #[arg(long, conflicts_with_all = ["labels", "text"])]
    file: Option<PathBuf>,
    /// The content that was decided on; what you were shown here last where nothing is said
    #[arg(long, alias = "content-digest", value_name = "DIGEST")]
    digest: Option<String>,
    /// Say that you are on it while you are asked: its timers stand still
    #[arg(long, conflicts_with_all = ["labels", "text", "file"])]
    claim: bool,
    #[command(flatten)]
    intent: Intent,
}

/// Sends the answer, bound to the content that was shown; asks for it first where none was typed.
pub(super) async fn run(args: Args, context: &Context, out: &mut Out) -> Result<Exit, Failure> {
    if !args.labels.is_empty() || args.text.is_some() || args.file.is_some() {
        return send(args, context, out).await;
    }
    if !out.json && !context.is_session && terminal::takes_prompts() {
        return next::run(args, context, out).await;
    }
    let failure = match &args.id {
        Some(id) => labels::missing(&context.read(id).await?),
        None => Failure::usage("no ask was named, and nobody can be asked here: ID and LABEL")
            .then("askway inbox, then askway answer ID LABEL"),
    };
    Err(match terminal::why_no_prompts().filter(|_| !out.json && !context.is_session) {
        Some(why) => Failure { message: format!("{why}; {}", failure.message), ..failure },
        None => failure,
    })
}

async fn send(args: Args, context: &Context, out: &mut Out) -> Result<Exit, Failure> {
    let typed = match args.file {
        Some(path) => Some(file::answers(&file::read(path).await?)?),
        None => None,
    };
    let Some(id) = &args.id else {
        return Err(Failure::usage("no ask was named").then("askway answer ID, and the same"));
    };
    let ask = context.read(id).await?;
    let answers = match typed {
        Some(answers) => answers,
        None => labels::to_the_one_question(&ask, args.labels.clone(), args.text)?,
    };
    let (content_digest, is_known) = context.bound_to(args.digest, &ask);
    let said = labels::in_brief(&ask, &answers);
    let request_id = args.intent.into_id();
    let answered = answer(context, &ask, content_digest, request_id, answers).await;
    let receipt = answered.map_err(|failure| match failure.reason.as_str() {
        "INVALID_ARGUMENT" => labels::did_you_mean(failure, &ask, &args.labels),
        _ => failure,
    })?;
    let ended = receipt::finish(&receipt, out, |ask| {
        format!("answered {}{}", ask.id, receipt::asker(&receipt, ask))
    })?;
    if !is_known && !context.is_session {
        out.note(&format!("you had not been shown it here; what you answered to: {said}"));
    }
    Ok(ended)
}

async fn answer(
    context: &Context,
    ask: &v1::Ask,
    content_digest: String,
    request_id: String,
    answers: std::collections::HashMap<String, v1::Answer>,
) -> Result<v1::Receipt, Failure> {
    let ask_id = ask.id.clone();
    Ok(match context.is_session {
        true => {
            let request = v1::AnswerAgentRequest { request_id, ask_id, content_digest, answers };
            context.client.answer_agent(request).await?
        }
        false => {
            let request = v1::AnswerRequest { request_id, ask_id, content_digest, answers };
            context.client.answer(request).await?
        }
    })
}
