//! `askway answer`: a person's answer, or that of the session waited on.

use super::{Context, Exit, Failure, files};
use crate::grpc::v1;
use std::collections::HashMap;
use std::path::PathBuf;

/// Answer an ask: labels of its options, words of your own, or both.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  askway answer ask_8f3k SQLite
  askway answer ask_8f3k --text \"neither; use the one we have\"
  askway answer ask_8f3k --file answers.json")]
pub struct Args {
    /// The ask: its id or the first characters of it.
    id: String,
    /// The option's label; several where several may be selected.
    #[arg(value_name = "LABEL")]
    labels: Vec<String>,
    /// Words of your own.
    #[arg(long)]
    text: Option<String>,
    /// Several questions from a file of JSON, `{"q1": {"selected": ["A"], "text": "…"}}`; `-` is
    /// stdin.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["labels", "text"])]
    file: Option<PathBuf>,
    /// Your id for this intent: the same again is the same.
    #[arg(long, value_name = "ID")]
    request_id: Option<String>,
}

pub(super) async fn run(args: Args, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let ask = context.ask(&args.id).await?;
    let answers = answers(&args, &ask)?;
    let request_id = args.request_id.unwrap_or_default();
    let (ask_id, content_digest) = (ask.id, ask.content_digest);
    let receipt = if context.is_session {
        let request = v1::AnswerAgentRequest { request_id, ask_id, content_digest, answers };
        context.client.answer_agent(request).await?
    } else {
        let request = v1::AnswerRequest { request_id, ask_id, content_digest, answers };
        context.client.answer(request).await?
    };
    let heard = match receipt.asker() {
        v1::AskerPresence::Live => "answered; the asker is waiting for it",
        v1::AskerPresence::Gone => "answered; the asker's session has ended, nobody will read it",
        _ => "answered; the asker gets it when it next looks",
    };
    context.out.receipt(&receipt, heard)?;
    Ok(Exit::of_receipt(&receipt))
}

fn answers(args: &Args, ask: &v1::Ask) -> Result<HashMap<String, v1::Answer>, Failure> {
    if let Some(file) = &args.file {
        return files::answers(file);
    }
    let id = &ask.id;
    if args.labels.is_empty() && args.text.is_none() {
        let labels = ask.questions.iter().flat_map(|question| &question.options);
        let labels: Vec<_> = labels.map(|option| format!("\"{}\"", option.label)).collect();
        let labels = if labels.is_empty() { "--text TEXT".into() } else { labels.join(" | ") };
        return Err(Failure::usage("an answer needs a label or --text")
            .then(format!("askway answer {id} {labels}")));
    }
    let [question] = ask.questions.as_slice() else {
        let count = ask.questions.len();
        return Err(Failure::usage(format!("it has {count} questions; answer them from a file"))
            .then(format!("askway answer {id} --file answers.json")));
    };
    let answer =
        v1::Answer { selected: args.labels.clone(), text: args.text.clone(), default: false };
    Ok([(question.id.clone(), answer)].into())
}
