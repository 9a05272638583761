//! An agent that sent work to others: it answers what it knows and passes on what it does not, so
//! that a person is asked at once and not when the time is up.
//!
//! `askway run --as lead -- cargo run --example answering_lead`

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
    let mut inbox = client.watch_inbox(v1::AskScope::WaitingOnMe);
    while let Some(message) = inbox.next().await {
        let asks = match message? {
            Message::Snapshot(all) => all.asks,
            Message::Change(change) => change.came,
            Message::Idle(_) => continue,
        };
        for ask in asks {
            let receipt = decide(&client, ask).await?;
            // Somebody may have been faster, or the timer: then the receipt says so.
            println!("{:?} {}", receipt.result(), receipt.message);
        }
    }
    Ok(())
}

/// Knows one thing: where a question is about a cache, the first option will do.
async fn decide(client: &Client, ask: v1::Ask) -> Result<v1::Receipt, Box<dyn Error>> {
    let known = |question: &v1::Question| {
        let label = question.options.first()?.label.clone();
        let answer = v1::Answer { selected: vec![label], ..Default::default() };
        question.question.contains("cache").then(|| (question.id.clone(), answer))
    };
    let answers: Option<_> = ask.questions.iter().map(known).collect();
    let (ask_id, content_digest) = (ask.id, ask.content_digest);
    if let Some(answers) = answers {
        let request_id = String::new(); // the client makes one
        let answer = v1::AnswerAgentRequest { request_id, ask_id, content_digest, answers };
        return Ok(client.answer_agent(answer).await?);
    }
    let hop = ask.hop.map_or(0, |hop| hop.index);
    let reason = Some("I do not know; please look".into());
    let refusal = v1::EscalateRequest { ask_id, hop, reason, ..Default::default() };
    Ok(client.escalate(refusal).await?)
}

fn client() -> Result<Client, Box<dyn Error>> {
    let address = Address::parse(&env::var("ASKWAY_ADDR")?)?;
    let token = Secret::read(&env::var("ASKWAY_TOKEN")?).ok_or("ASKWAY_TOKEN is not a token")?;
    Ok(Client::new(address, Some(token)))
}
