//! `askway show`: one ask, whole. A person who was shown it at a terminal has seen it, and the daemon is
//! told so; an agent that looks is not a person, a pager that was left early may have shown a part, and
//! what goes to no terminal was shown to nobody, unless whoever passes it on says so.

use super::pager::{self, Paging, Shown};
use super::render::{human, json};
use super::{Context, Exit, Failure, Out};
use crate::grpc::v1;

const HELP: &str = "\
Examples:
  askway show ask_k3f9
  askway show k3f9 --json
  askway show k3f9 --seen | mail -s \"An ask\" ann

At a terminal it counts as shown to you, which starts the time of a default. Elsewhere it does not,
unless you say --seen: that whatever shows it on does show it to you.";

/// Which ask.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    /// The ask's id, or its first characters
    id: String,
    /// Say that it is shown to you, where the output goes to no terminal
    #[arg(long)]
    seen: bool,
    #[command(flatten)]
    paging: Paging,
}

/// Prints it.
pub(super) async fn run(args: Args, context: &Context, out: &mut Out) -> Result<Exit, Failure> {
    if args.seen {
        context.must_look()?;
    }
    let ask = context.read(&args.id).await?;
    let you = context.person();
    let events = context.client.list_events(&ask.id).await?;
    let shown = match out.json {
        true => {
            out.line(&json::whole(&ask, &events))?;
            // A program that reads it has shown it to nobody yet.
            match out.flush()? && args.seen {
                true => Shown::Asked,
                false => Shown::Nothing,
            }
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
            // Silence is no consent of whoever never saw it: a file or a pipe may be read by nobody.
            Shown::Asked if args.seen || out.look.terminal => tell_seen(context, &ask, you).await,
            Shown::Asked => tell_unseen(&ask, you, ELSEWHERE, out),
            Shown::Part | Shown::Nothing => tell_unseen(&ask, you, IN_PART, out),
        }
    }
    if let Some(command) = next(&ask, context) {
        out.note(&format!("next: {command}"));
    }
    Ok(Exit::Done)
}

/// What to type about it next.
fn next(ask: &v1::Ask, context: &Context) -> Option<String> {
    let with = match &ask.questions[..] {
        [one] if one.options.is_empty() => "--text TEXT",
        [_] => "LABEL",
        _ => "--file FILE",
    };
    let id = human::typed_id(ask);
    let Some(outcome) = &ask.outcome else {
        let command = format!("askway answer {id} {with}");
        // The folder's token is good for whoever sits here, and so is worth less than it asks for.
        let is_worth_less =
            ask.required_assurance() == v1::Assurance::Token && context.is_by_the_folder();
        return Some(match is_worth_less {
            true => format!(
                "export ASKWAY_TOKEN_FILE=FILE, with a token that was made for you; then {command}"
            ),
            false => command,
        });
    };
    let id = &outcome.stands_from_ask_id;
    (!id.is_empty()).then(|| format!("askway show {id}"))
}

/// Why it does not count as shown: what was on screen.
const IN_PART: (&str, &str) = ("Not all that it asks may have been on your screen", "--no-pager");
/// The same: where it went.
const ELSEWHERE: (&str, &str) =
    ("It was printed to no terminal", "at one; or with --seen, where it is shown to you");

/// Says that it does not count as shown to `you`, where that holds its default up.
fn tell_unseen(ask: &v1::Ask, you: &str, (why, how): (&str, &str), out: &Out) {
    let names_default = ask.expiry.as_ref().is_some_and(|expiry| expiry.applies_default);
    let is_seen = ask.seen.iter().any(|mark| mark.person == you);
    if ask.outcome.is_none() && names_default && !is_seen {
        let id = human::typed_id(ask);
        out.note(&format!(
            "{why}, so it does not count as shown to you, and its default waits for that: \
             askway show {id} {how}"
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
