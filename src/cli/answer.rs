//! `askway answer`: answers an ask, as the session it waits on or as a person.

use super::typed::Intent;
use super::{Context, Exit, Failure, Out, file, receipt};
use crate::grpc::v1;
use std::collections::HashMap;
use std::path::PathBuf;

const HELP: &str = r#"Examples:
  askway answer ask_k3f9 SQLite --text "it fits on one machine"
  echo '{"q1":{"selected":["Yes"]},"q2":{"text":"not before May"}}' | askway answer k3f9 --file -"#;

/// Which ask, and what is decided.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    /// The ask's id, or its first characters
    id: String,
    /// What is chosen, exactly as it is offered
    #[arg(value_name = "LABEL", required_unless_present_any = ["text", "file"])]
    labels: Vec<String>,
    /// Words of your own, with a choice or instead of one
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    text: Option<String>,
    /// Answers to several questions as JSON, by question id; `-` is stdin
    #[arg(long, conflicts_with_all = ["labels", "text"])]
    file: Option<PathBuf>,
    /// The content that was decided on, where that was read before; what it is now otherwise
    #[arg(long, value_name = "DIGEST")]
    content_digest: Option<String>,
    #[command(flatten)]
    intent: Intent,
}

/// Sends the answer, bound to the content that was shown.
pub(super) async fn run(args: Args, context: &Context, out: &mut Out) -> Result<Exit, Failure> {
    let typed = match args.file {
        Some(path) => Some(file::answers(&file::read(path).await?)?),
        None => None,
    };
    let ask = context.read(&args.id).await?;
    let answers = match typed {
        Some(answers) => answers,
        None => to_the_one_question(&ask, args.labels, args.text)?,
    };
    let request_id = args.intent.into_id();
    let content_digest = context.bound_to(args.content_digest, &ask);
    let ask_id = ask.id;
    let receipt = if context.is_session {
        let request = v1::AnswerAgentRequest { request_id, ask_id, content_digest, answers };
        context.client.answer_agent(request).await?
    } else {
        let request = v1::AnswerRequest { request_id, ask_id, content_digest, answers };
        context.client.answer(request).await?
    };
    receipt::finish(&receipt, out, |ask| {
        format!("answered {}{}", ask.id, receipt::asker(&receipt, ask))
    })
}

/// Labels and text answer the one question there is.
fn to_the_one_question(
    ask: &v1::Ask,
    selected: Vec<String>,
    text: Option<String>,
) -> Result<HashMap<String, v1::Answer>, Failure> {
    let ids: Vec<_> = ask.questions.iter().map(|question| question.id.as_str()).collect();
    match ids[..] {
        [id] => {
            let answer = v1::Answer { selected, text, default: false };
            Ok(HashMap::from([(id.to_owned(), answer)]))
        }
        _ => Err(Failure::usage(format!(
            "it has {} questions ({}); answer them all, from a file",
            ids.len(),
            ids.join(", ")
        ))
        .then(format!("askway answer {} --file FILE; askway answer --help shows one", ask.id))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::render::fixture;

    #[test]
    fn labels_answer_the_one_question_there_is() {
        let ask = fixture::open();
        let answers = to_the_one_question(&ask, vec!["SQLite".into()], Some("so".into()));
        let answers = answers.expect("one question");
        let expected =
            v1::Answer { selected: vec!["SQLite".into()], text: Some("so".into()), default: false };
        assert_eq!(answers, HashMap::from([("q1".to_owned(), expected)]));
    }

    #[test]
    fn several_questions_want_a_file() {
        let mut ask = fixture::open();
        ask.questions.push(v1::Question { id: "q2".into(), ..v1::Question::default() });
        let failure = to_the_one_question(&ask, vec!["SQLite".into()], None).expect_err("two");
        assert_eq!(failure.exit, Exit::Usage);
        assert!(failure.message.contains("q1, q2"), "{failure}");
        assert!(failure.next.is_some_and(|next| next.contains("--file")));
    }
}
