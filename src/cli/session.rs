//! `askway session`: lists sessions, or ends one for good.

use super::render::{human, json};
use super::typed::Intent;
use super::{Context, Exit, Failure, Out, receipt};
use crate::ask::{SessionId, limits};
use crate::client::Client;
use crate::grpc::v1;

const HELP: &str = "\
Examples:
  askway session ls --all
  askway session end ses_k3f9";

/// What to do with sessions.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    #[command(subcommand)]
    deed: Deed,
}

#[derive(Debug, clap::Subcommand)]
enum Deed {
    /// List them, oldest first
    Ls {
        /// List also those that have ended
        #[arg(long)]
        all: bool,
    },
    /// End one for good: its open asks are abandoned, what waits on it moves on
    End {
        /// The session's id, or its first characters; your own where nothing is said
        id: Option<String>,
        #[command(flatten)]
        intent: Intent,
    },
}

/// Does it.
pub(super) async fn run(args: Args, context: &Context, out: &mut Out) -> Result<Exit, Failure> {
    match args.deed {
        Deed::Ls { all } => list(context, all, out).await,
        Deed::End { id, intent } => end(context, id, intent, out).await,
    }
}

async fn list(context: &Context, all: bool, out: &mut Out) -> Result<Exit, Failure> {
    let sessions = context.client.list_sessions(all).await?;
    match out.json {
        true => sessions.iter().try_for_each(|session| out.line(&json::session(session)))?,
        false => out.lines(&human::sessions(&sessions, human::now(), out.look))?,
    }
    out.flush()?;
    if sessions.is_empty() {
        out.note("No session is here. Begin one: askway run --as NAME -- COMMAND");
    }
    Ok(Exit::Done)
}

async fn end(
    context: &Context,
    id: Option<String>,
    intent: Intent,
    out: &mut Out,
) -> Result<Exit, Failure> {
    let client = context.as_host()?;
    let session_id = match id {
        Some(id) => whole_id(&client, &id).await?,
        None if context.is_session => String::new(),
        None => {
            return Err(
                Failure::usage("say which session; you are not in one").then("askway session ls")
            );
        }
    };
    let request = v1::EndSessionRequest { request_id: intent.into_id(), session_id };
    let response = client.end_session(request).await?;
    if out.json {
        let receipt = response.receipt.clone().unwrap_or_default();
        out.line(&json::session_receipt(&receipt, response.session.as_ref()))?;
    }
    let exit = receipt::session_verdict(response.receipt.as_ref())?;
    if let (false, Some(session)) = (out.json, &response.session) {
        out.line(&format!("ended {}", session.id))?;
    }
    out.flush()?;
    Ok(exit)
}

/// The id itself, or the one session whose id begins so.
pub(super) async fn whole_id(client: &Client, id: &str) -> Result<String, Failure> {
    if id.parse::<SessionId>().is_ok() {
        return Ok(id.to_owned());
    }
    let sessions = client.list_sessions(true).await?;
    resolve(id, sessions.iter().map(|session| session.id.as_str()))
}

fn resolve<'a>(id: &str, known: impl Iterator<Item = &'a str>) -> Result<String, Failure> {
    let start = id.strip_prefix(SessionId::PREFIX).unwrap_or(id);
    if start.len() < limits::PREFIX_CHARS {
        let message = format!("an id needs {} characters at least", limits::PREFIX_CHARS);
        return Err(Failure::usage(message).then("askway session ls --all"));
    }
    let own = |known: &str| known.trim_start_matches(SessionId::PREFIX).starts_with(start);
    let found: Vec<_> = known.filter(|known| own(known)).take(limits::PREFIX_MATCHES).collect();
    match found[..] {
        [only] => Ok(only.to_owned()),
        [] => Err(Failure::new(Exit::NotFound, "NOT_FOUND", format!("no session {id}"))
            .then("askway session ls --all")),
        _ => {
            let message = format!("it could be any of {}", found.join(", "));
            Err(Failure::new(Exit::Usage, "AMBIGUOUS_ID", message)
                .then("askway session ls --all, and the same with more of the id"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: [&str; 3] =
        ["ses_aaaa0000000000000000", "ses_aaab0000000000000000", "ses_aaabb000000000000000"];

    fn exit_of(id: &str) -> Result<String, Exit> {
        resolve(id, KNOWN.into_iter()).map_err(|failure| failure.exit)
    }

    #[test]
    fn an_id_is_any_unique_beginning_of_four_characters() {
        assert_eq!(exit_of("ses_aaaa"), Ok(KNOWN[0].to_owned()));
        assert_eq!(exit_of("aaabb"), Ok(KNOWN[2].to_owned()));
        assert_eq!(exit_of("aaa"), Err(Exit::Usage));
        assert_eq!(exit_of("zzzz"), Err(Exit::NotFound));
        assert_eq!(exit_of("aaab"), Err(Exit::Usage));
        let failure = resolve("aaab", KNOWN.into_iter()).expect_err("two");
        assert!(failure.message.contains(KNOWN[1]) && failure.message.contains(KNOWN[2]));
    }
}
