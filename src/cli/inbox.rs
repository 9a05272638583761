//! `askway inbox`: the open asks that wait on the caller; with `--wait`, blocks until there is one.

use super::render::human;
use super::{Context, Exit, Failure, Out, typed};
use crate::client::Client;
use crate::grpc::v1;
use std::cmp::Reverse;
use std::time::Duration;
use tokio::time::timeout;
use tokio_stream::StreamExt;

const HELP: &str = "\
Examples:
  askway inbox --all
  askway inbox --wait 10m --json

With --wait it ends with 0 when something waits on you, with 5 when the time is up.";

/// Which asks, and whether to wait for one.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    /// List also what waits on others
    #[arg(long)]
    all: bool,
    /// Block so long until something waits on you
    #[arg(long, value_name = "TIME", value_parser = typed::duration, conflicts_with = "all")]
    wait: Option<Duration>,
}

/// Lists what waits, the most pressing first.
pub(super) async fn run(args: Args, context: &Context, out: &mut Out) -> Result<Exit, Failure> {
    let scope = match args.all {
        true => v1::AskScope::Visible,
        false => v1::AskScope::WaitingOnMe,
    };
    // The first look is not patient: a daemon that is away is never an empty inbox.
    let mut asks = context.client.list_asks(scope).await?;
    if let (true, Some(limit)) = (asks.is_empty(), args.wait) {
        asks = match timeout(limit, first(&context.patient(), scope)).await {
            Ok(asks) => asks?,
            Err(_) => context.client.list_asks(scope).await?,
        };
    }
    list(&mut asks, args.all, out)?;
    out.flush()?;
    Ok(match (asks.is_empty(), args.wait) {
        (true, Some(_)) => Exit::Open,
        (true, None) | (false, _) => Exit::Done,
    })
}

/// The asks as soon as there is one. The watch only says when to look.
async fn first(client: &Client, scope: v1::AskScope) -> Result<Vec<v1::Ask>, Failure> {
    use v1::watch_inbox_response::Message;
    let mut watch = client.watch_inbox(scope);
    while let Some(message) = watch.next().await.transpose()? {
        let total = match message {
            Message::Snapshot(snapshot) => snapshot.total,
            Message::Change(change) => change.total,
            Message::Idle(_) => 0,
        };
        if total > 0 {
            let asks = client.list_asks(scope).await?;
            if !asks.is_empty() {
                return Ok(asks);
            }
        }
    }
    Err(Failure::unexpected("the watch ended by itself; wait again").then("askway inbox"))
}

fn list(asks: &mut [v1::Ask], all: bool, out: &mut Out) -> Result<(), Failure> {
    // They come oldest first, and stay so among their equals.
    asks.sort_by_key(|ask| Reverse(rank(ask.priority())));
    let now = human::now();
    for ask in asks.iter() {
        out.ask(ask, |ask| human::listed(ask, now, all))?;
    }
    match asks.first() {
        None if all => out.note("Nothing is open."),
        None => out.note("Nothing waits on you. What waits on others: askway inbox --all"),
        Some(ask) => out.note(&format!("next: askway show {}", ask.id)),
    }
    Ok(())
}

fn rank(priority: v1::Priority) -> u8 {
    match priority {
        v1::Priority::Low => 0,
        v1::Priority::Normal | v1::Priority::Unspecified => 1,
        v1::Priority::High => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::render::fixture;

    #[test]
    fn the_most_pressing_comes_first_then_the_oldest() {
        use v1::Priority as P;
        let ask = |(id, priority): (&str, P)| v1::Ask {
            id: id.into(),
            priority: priority.into(),
            ..fixture::open()
        };
        let given = [("a", P::Low), ("b", P::Normal), ("c", P::High), ("d", P::Unspecified)];
        let mut asks: Vec<_> = given.into_iter().chain([("e", P::High)]).map(ask).collect();
        list(&mut asks, false, &mut Out::new(std::io::sink(), true)).expect("written");
        let order: String = asks.iter().map(|ask| ask.id.as_str()).collect();
        assert_eq!(order, "cebda");
    }
}
