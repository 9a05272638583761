//! `askway status`: who the caller is and how the daemon does.

use super::{Context, Exit, Failure, time};
use serde_json::json;

/// Say who you are and how the daemon does.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  askway status\n  askway status --json")]
pub struct Args {}

pub(super) async fn run(_: Args, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let status = context.client.status().await?;
    let address = context.client.address().to_string();
    if context.out.json {
        let exact = |time: &Option<_>| time.as_ref().map(time::exact);
        context.out.object(&json!({
            "version": status.version,
            "caller": status.caller,
            "address": address,
            "data": context.data.display().to_string(),
            "start_time": exact(&status.start_time),
            "service_time": exact(&status.service_time),
            "waiting_on_people": status.waiting_on_people,
            "waiting_on_sessions": status.waiting_on_sessions,
            "oldest_open_time": exact(&status.oldest_open_time),
        }))?;
        return Ok(Exit::Done);
    }
    let since = status.start_time.as_ref().map(time::relative).unwrap_or_default();
    let oldest = status.oldest_open_time.as_ref().map(time::relative);
    context.out.line(&format!("you are {}", status.caller))?;
    context.out.line(&format!("askway {} serves on {address}, started {since}", status.version))?;
    context.out.line(&format!(
        "open: {} wait on people, {} on sessions{}",
        status.waiting_on_people,
        status.waiting_on_sessions,
        oldest.map(|oldest| format!("; the oldest was asked {oldest}")).unwrap_or_default(),
    ))?;
    Ok(Exit::Done)
}
