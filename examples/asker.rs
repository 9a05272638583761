//! An agent that needs a decision: it asks, waits for as long as it takes, and acknowledges what it
//! was told. Kill it, kill the daemon, start both again: the same request id is the same ask.
//!
//! `askway run --as worker -- cargo run --example asker`

use askway::ask::text::visible;
use askway::client::{Address, Client, Watched};
use askway::grpc::{convert, v1};
use askway::session::Secret;
use std::env;
use std::error::Error;
use tokio_stream::StreamExt;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let client = client()?;
    let option = |label: &str| v1::Option { label: label.into(), ..Default::default() };
    let question = v1::Question {
        question: "Which store for the cache?".into(),
        options: vec![option("SQLite"), option("Postgres")],
        ..Default::default()
    };
    // A name of this intent's own: started again, the program finds the ask it has filed.
    let request_id = "cache-store".into();
    let ask = v1::AskRequest { request_id, questions: vec![question], ..Default::default() };
    let receipt = client.ask(ask).await?;
    let ask = receipt.ask.ok_or(receipt.message)?;
    println!("asked: {}", ask.id);

    let mut watch = client.watch_ask(&ask.id, None);
    while let Some(item) = watch.next().await {
        match item? {
            Watched::Ask(ask) => println!("{} things have happened to it", ask.revision),
            Watched::Event(event) => println!("{:?} {}", event.kind(), visible(&event.text)),
            Watched::Reconnecting => println!("the daemon is away; still waiting"),
            Watched::Stale => println!("the daemon's store is away; still waiting"),
            Watched::Current => println!("the daemon's store is back"),
            Watched::End => break,
        }
    }
    let ask = client.get_ask(&ask.id).await?.ask.ok_or("it is gone")?;
    let outcome = ask.outcome.ok_or("a watch ended before its ask was settled")?;
    for (question, answer) in &outcome.answers {
        println!("{question}: {} {}", answer.selected.join(", "), visible(answer.text()));
    }
    println!("{:?}: {}", outcome.kind(), visible(outcome.note()));
    // Only now: what is not acknowledged is offered again.
    let delivery_id = convert::delivery_id(&ask.id, outcome.revision);
    client
        .acknowledge_delivery(v1::AcknowledgeDeliveryRequest { delivery_id, ..Default::default() })
        .await?;
    Ok(())
}

fn client() -> Result<Client, Box<dyn Error>> {
    let address = Address::parse(&env::var("ASKWAY_ADDR")?)?;
    let token = Secret::read(&env::var("ASKWAY_TOKEN")?).ok_or("ASKWAY_TOKEN is not a token")?;
    Ok(Client::new(address, Some(token)))
}
