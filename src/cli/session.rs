//! `askway session`: the sessions there are, and ending one.

use super::{Context, Exit, Failure, render, time};
use crate::grpc::v1;
use serde_json::json;

/// List and end sessions.
#[derive(Debug, clap::Subcommand)]
pub enum Verb {
    /// List sessions: all, or, in a session, itself and those it enrolled.
    #[command(after_help = "Examples:\n  askway session ls\n  askway session ls --all --json")]
    Ls {
        /// Ended ones too.
        #[arg(long)]
        all: bool,
    },
    /// End a session for good: its open asks are abandoned, what waits on it moves on.
    #[command(after_help = "Examples:\n  askway session end ses_8f3k0000000000000000")]
    End {
        /// The session's id.
        id: String,
        /// Your id for this intent: the same again is the same.
        #[arg(long, value_name = "ID")]
        request_id: Option<String>,
    },
}

pub(super) async fn run(verb: Verb, context: &mut Context<'_>) -> Result<Exit, Failure> {
    match verb {
        Verb::Ls { all } => list(all, context).await,
        Verb::End { id, request_id } => end(id, request_id.unwrap_or_default(), context).await,
    }
}

async fn list(all: bool, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let sessions = context.client.list_sessions(all).await?;
    for session in &sessions {
        match context.out.json {
            true => context.out.object(&render::session_json(session))?,
            false => context.out.line(&line(session))?,
        }
    }
    if sessions.is_empty() {
        context.out.note("no sessions; start one: askway run --as NAME -- COMMAND");
    }
    Ok(Exit::Done)
}

fn line(session: &v1::Session) -> String {
    let state = match session.state() {
        v1::SessionState::Paused => "paused",
        v1::SessionState::Ended => "ended",
        _ => "active",
    };
    let parent = session
        .parent
        .as_ref()
        .map_or_else(String::new, |parent| format!("sent by {}", parent.agent));
    let (id, agent, open) = (&session.id, &session.agent, session.open_ask_ids.len());
    let age = session.create_time.as_ref().map(time::relative).unwrap_or_default();
    format!("{id}\t{agent}\t{state}\t{open} open\t{age}\t{parent}").trim_end().to_owned()
}

async fn end(
    session_id: String,
    request_id: String,
    context: &mut Context<'_>,
) -> Result<Exit, Failure> {
    let request = v1::EndSessionRequest { request_id, session_id };
    let response = context.host_client()?.end_session(request).await?;
    let receipt = response.receipt.unwrap_or_default();
    let accepted = receipt.result() == v1::Result::Accepted;
    if context.out.json {
        let session = response.session.as_ref().map(render::session_json);
        context.out.object(&render::session_receipt(&receipt, json!({ "session": session })))?;
    } else if accepted {
        context.out.line("ended")?;
    } else {
        context.out.note(&format!("askway: {}", receipt.message));
    }
    Ok(if accepted { Exit::Done } else { Exit::Refused })
}
