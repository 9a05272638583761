//! What waits on a person, as it comes and goes: the beginning of a notifier, or of an inbox with
//! windows. `ASKWAY_TOKEN` is the person's token.
//!
//! `cargo run --example inbox`

use askway::ask::text::visible_line;
use askway::client::{Address, Client};
use askway::grpc::v1;
use askway::grpc::v1::watch_inbox_response::Message;
use askway::session::Secret;
use std::env;
use std::error::Error;
use tokio_stream::StreamExt;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let client = client()?;
    // It takes itself up again when the daemon was away, with a snapshot of what is there then.
    let mut inbox = client.watch_inbox(v1::AskScope::WaitingOnMe);
    while let Some(message) = inbox.next().await {
        match message? {
            Message::Snapshot(snapshot) => {
                println!("{} wait on you", snapshot.total);
                snapshot.asks.iter().for_each(|ask| show("", ask));
            }
            Message::Change(change) => {
                change.came.iter().for_each(|ask| show("new", ask));
                change.changed.iter().for_each(|ask| show("changed", ask));
                change.left_ask_ids.iter().for_each(|id| println!("gone: {id}"));
            }
            Message::Idle(_) => {}
        }
    }
    Ok(())
}

fn show(what: &str, ask: &v1::Ask) {
    let asker = ask.asker.as_ref().map_or("?", |asker| asker.agent.as_str());
    let hop = ask.hop.clone().unwrap_or_default();
    println!("{what} {} from {asker} ({:?} {})", ask.id, hop.cause(), visible_line(&hop.reason));
    for question in &ask.questions {
        // Text comes as it was written: whoever shows it makes it safe to show.
        println!("  {}", visible_line(&question.question));
        for option in &question.options {
            println!("    - {}", visible_line(&option.label));
        }
    }
}

fn client() -> Result<Client, Box<dyn Error>> {
    let address = Address::parse(&env::var("ASKWAY_ADDR")?)?;
    let token = Secret::read(&env::var("ASKWAY_TOKEN")?).ok_or("ASKWAY_TOKEN is not a token")?;
    Ok(Client::new(address, Some(token)))
}
