//! `askway reply`: the asker speaks to whoever is asked, and may offer other options.

use super::render::human;
use super::typed::{Intent, Offered, Words};
use super::{Context, Exit, Failure, Out, receipt};
use crate::grpc::v1;

const HELP: &str = "\
Examples:
  askway reply ask_k3f9 \"About a million.\"
  askway reply ask_k3f9 \"Then one of these.\" -o SQLite -o \"Redis=a service more\"";

/// On which ask, and what.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    /// The ask's id, or its first characters
    id: String,
    #[command(flatten)]
    words: Words,
    /// All options of the question from now on
    #[command(flatten)]
    offered: Offered,
    /// The question they are for, by its id; needed where there are several
    #[arg(long, value_name = "ID", requires = "option")]
    question: Option<String>,
    #[command(flatten)]
    intent: Intent,
}

/// Says it.
pub(super) async fn run(args: Args, context: &Context, out: &mut Out) -> Result<Exit, Failure> {
    let ask = context.read(&args.id).await?;
    let replaced = match args.offered.is_empty() {
        true => Vec::new(),
        false => vec![v1::ReplacedOptions {
            question_id: question_id(&ask, args.question)?,
            options: args.offered.into_options()?,
        }],
    };
    let request = v1::ReplyRequest {
        request_id: args.intent.into_id(),
        ask_id: ask.id,
        text: args.words.into_text(),
        replaced,
    };
    let receipt = context.client.reply(request).await?;
    receipt::finish(&receipt, out, |ask| {
        format!("replied on {}, which waits on {}", ask.id, human::waited_on(ask))
    })
}

/// The question that was named, else the only one.
fn question_id(ask: &v1::Ask, named: Option<String>) -> Result<String, Failure> {
    match (named, &ask.questions[..]) {
        (Some(named), _) => Ok(named),
        (None, [only]) => Ok(only.id.clone()),
        (None, several) => {
            let ids: Vec<_> = several.iter().map(|question| question.id.as_str()).collect();
            let message = format!("say which question they are for: {}", ids.join(", "));
            Err(Failure::usage(message).then("the same with --question ID"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::render::fixture;

    #[test]
    fn options_are_for_the_only_question_or_the_named_one() {
        let mut ask = fixture::open();
        assert_eq!(question_id(&ask, None).expect("one"), "q1");
        ask.questions.push(v1::Question { id: "q2".into(), ..v1::Question::default() });
        assert_eq!(question_id(&ask, Some("q2".into())).expect("named"), "q2");
        let failure = question_id(&ask, None).expect_err("two");
        assert!(failure.message.contains("q1, q2"), "{failure}");
    }
}
