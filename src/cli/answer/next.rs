//! Which ask a person is asked about: the one that was named, else what waits on them, one after
//! another, the most pressing first and the oldest of those.

use super::Args;
use super::dialog::{Dialog, End};
use crate::cli::prompt::{Heard, Prompt, Prompter, Reply};
use crate::cli::{Context, Exit, Failure, Out, receipt, render};
use crate::grpc::v1;
use std::cmp::Reverse;
use std::collections::HashSet;
use std::future::pending;

/// Asks about it.
pub(super) async fn run(args: Args, context: &Context, out: &mut Out) -> Result<Exit, Failure> {
    let mut prompter = Prompter::new()?;
    let request_id = args.intent.into_id();
    if let Some(id) = &args.id {
        let ask = context.read(id).await?;
        if ask.outcome.is_some() {
            return Err(receipt::settled_before(&ask));
        }
        let dialog = Dialog::new(context, out, &mut prompter, ask, request_id);
        return dialog.run(args.claim).await.map(End::exit);
    }
    let (mut passed, mut last) = (HashSet::new(), Exit::Done);
    loop {
        let mut waiting = waiting(context).await?;
        waiting.retain(|ask| !passed.contains(&ask.id));
        if waiting.is_empty() {
            if passed.is_empty() {
                out.note("Nothing waits on you. What waits on others: askway inbox --all");
            }
            return Ok(last);
        }
        if !passed.is_empty() && !goes_on(&mut prompter, waiting.len()).await? {
            return Ok(last);
        }
        let ask = waiting.remove(0);
        passed.insert(ask.id.clone());
        let dialog = Dialog::new(context, out, &mut prompter, ask, request_id.clone());
        match dialog.run(args.claim).await {
            Ok(End::Done(exit)) => last = exit,
            Ok(left) => return Ok(left.exit()),
            // Somebody was faster; what else waits is not held up by that.
            Err(failure) if failure.exit == Exit::Closed => {
                render::failure(&failure, out.json);
                last = failure.exit;
            }
            Err(failure) => return Err(failure),
        }
    }
}

/// What waits on the person, in that order. Where the asker's word is next, it waits on nobody here.
async fn waiting(context: &Context) -> Result<Vec<v1::Ask>, Failure> {
    let mut asks = context.client.list_asks(v1::AskScope::WaitingOnMe).await?;
    asks.retain(|ask| !ask.awaiting_reply && ask.outcome.is_none());
    // They come oldest first, and stay so among their equals.
    asks.sort_by_key(|ask| {
        Reverse(match ask.priority() {
            v1::Priority::Low => 0,
            v1::Priority::Normal | v1::Priority::Unspecified => 1,
            v1::Priority::High => 2,
        })
    });
    Ok(asks)
}

/// Whether the person goes on. A key that was meant for what has just left the screen decides
/// nothing here.
async fn goes_on(prompter: &mut Prompter, more: usize) -> Result<bool, Failure> {
    let message = match more {
        1 => "1 more waits on you: go on?".to_owned(),
        more => format!("{more} more wait on you: go on?"),
    };
    let prompt = Prompt::Choose { message, entries: vec!["go on".into(), "leave".into()] };
    let heard = prompter.ask(&prompt, pending::<()>()).await?;
    Ok(matches!(heard, Heard::Reply(Reply::Chosen(0))))
}
