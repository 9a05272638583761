//! What callers say, and how they say it until they know what came of it.

use super::world::{World, insist};
use askway::client::{Client, ClientError};
use askway::grpc::v1;
use std::collections::HashMap;
use std::sync::Arc;
use tonic::Code;

/// Somebody who calls.
#[derive(Clone)]
pub struct Caller {
    /// The world it is in.
    pub world: Arc<World>,
    /// Its own client.
    pub client: Client,
    /// Who it is, as histories say it.
    pub name: String,
}

/// One mutating call on an ask.
macro_rules! deeds {
    ($($(#[$doc:meta])* $method:ident($request:ident);)*) => {
        $(
            $(#[$doc])*
            pub async fn $method(&self, request: v1::$request) -> Result<v1::Receipt, ClientError> {
                let begun = self.world.clocks.passed();
                let known = insist(|| self.client.$method(request.clone())).await;
                self.told(&request.request_id, begun, &known);
                known
            }
        )*
    };
}

impl Caller {
    deeds! {
        /// Files an ask.
        ask(AskRequest);
        /// A person answers.
        answer(AnswerRequest);
        /// The sender answers.
        answer_agent(AnswerAgentRequest);
        /// A person says no.
        decline(DeclineRequest);
        /// Moves it on.
        escalate(EscalateRequest);
        /// Takes it back.
        withdraw(WithdrawRequest);
        /// Speaks to the asker.
        say(SayRequest);
        /// Speaks back.
        reply(ReplyRequest);
        /// A person was shown it.
        mark_seen(MarkSeenRequest);
        /// A person is on it.
        claim(ClaimRequest);
        /// A person is not.
        release(ReleaseRequest);
        /// The asker has it.
        acknowledge_delivery(AcknowledgeDeliveryRequest);
    }

    /// Writes down what came of a request.
    fn told(&self, request: &str, begun: u64, known: &Result<v1::Receipt, ClientError>) {
        let mut book = self.world.book();
        match known {
            Ok(receipt) => book.told(&self.name, request, begun, receipt),
            Err(error) => {
                let (by, code, reason) = (&self.name, error.code, &error.reason);
                book.trace(&format!("told {by} {request} {code:?} {reason:?}"));
                // What a store cannot do is passing; anything else that is no refusal is a bug.
                let fine = !matches!(code, Code::Internal | Code::Unknown | Code::DataLoss);
                book.check("rule_17_unknown_is_not_empty", fine, || format!("{by}: {error:?}"));
            }
        }
    }
}

/// What is asked: so many questions.
pub fn questions(words: &str, count: u64) -> Vec<v1::Question> {
    let option = |label: &str| v1::Option { label: label.into(), ..Default::default() };
    let question = |number: u64| v1::Question {
        question: format!("{words}, {number}?"),
        options: vec![option("Yes"), option("No")],
        ..Default::default()
    };
    (1..=count).map(question).collect()
}

/// An answer to every question.
pub fn answers(ask: &v1::Ask, label: &str) -> HashMap<String, v1::Answer> {
    let answer = || v1::Answer { selected: vec![label.into()], ..Default::default() };
    ask.questions.iter().map(|question| (question.id.clone(), answer())).collect()
}

/// A length of time on the wire.
pub fn seconds(count: u64) -> prost_types::Duration {
    prost_types::Duration { seconds: count as i64, nanos: 0 }
}
