//! `askway show`: one ask, whole. A person who was shown it has seen it, and the daemon is told so; an
//! agent that looks is not a person, and a pager that was left early may have shown a part.

use super::pager::{self, Paging, Shown};
use super::render::{human, json};
use super::{Context, Exit, Failure, Out};
use crate::grpc::v1;

const HELP: &str = "\
Examples:
  askway show ask_k3f9
  askway show k3f9 --json";

/// Which ask.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    /// The ask's id, or its first characters
    id: String,
    #[command(flatten)]
    paging: Paging,
}

/// Prints it.
pub(super) async fn run(args: Args, context: &Context, out: &mut Out) -> Result<Exit, Failure> {
    let ask = context.read(&args.id).await?;
    let you = context.person();
    let events = context.client.list_events(&ask.id).await?;
    let shown = match out.json {
        true => {
            out.line(&json::whole(&ask, &events))?;
            out.flush()?;
            // A program that reads it has shown it to nobody yet.
            Shown::Nothing
        }
        false => {
            let (text, asked) = human::ask(&ask, &events, you, human::now(), out.look);
            pager::show(&args.paging, &text, asked, out)?
        }
    };
    if let Some(you) = context.onlooker().filter(|_| shown != Shown::Nothing) {
        // What is answered later is bound to this, however much of it was read.
        context.has_shown(&ask);
        match shown {
            Shown::Asked => tell_seen(context, &ask, you).await,
            Shown::Part | Shown::Nothing => tell_unseen(&ask, you, out),
        }
    }
    let with = match &ask.questions[..] {
        [one] if one.options.is_empty() => "--text TEXT",
        [_] => "LABEL",
        _ => "--file FILE",
    };
    match &ask.outcome {
        None => out.note(&format!("next: askway answer {} {with}", ask.id)),
        Some(outcome) if !outcome.stands_from_ask_id.is_empty() => {
            out.note(&format!("next: askway show {}", outcome.stands_from_ask_id));
        }
        Some(_) => {}
    }
    Ok(Exit::Done)
}

/// Says that it does not count as shown to `you`, where that holds its default up.
fn tell_unseen(ask: &v1::Ask, you: &str, out: &Out) {
    let names_default = ask.expiry.as_ref().is_some_and(|expiry| expiry.applies_default);
    let is_seen = ask.seen.iter().any(|mark| mark.person == you);
    if ask.outcome.is_none() && names_default && !is_seen {
        out.note(&format!(
            "Not all that it asks may have been on your screen, so it does not count as shown to \
             you, and its default waits for that: askway show {} --no-pager",
            ask.id
        ));
    }
}

/// Tells the daemon that the whole of an open ask was shown to `you`, where it does not know yet.
pub(super) async fn tell_seen(context: &Context, ask: &v1::Ask, you: &str) {
    if ask.outcome.is_some() || ask.seen.iter().any(|mark| mark.person == you) {
        return;
    }
    let request = v1::MarkSeenRequest {
        request_id: String::new(),
        ask_id: ask.id.clone(),
        content_digest: ask.content_digest.clone(),
    };
    // It was shown; that the daemon does not know is no failure of showing.
    let _ = context.client.mark_seen(request).await;
}
