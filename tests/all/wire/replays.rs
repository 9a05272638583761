//! Requests that are sent again: the bytes of every call that changed something, in any order, as who
//! listens on the way could send them, or a client that lost its replies. Nothing is changed by it.

use super::*;
use crate::bench::seed;
use crate::rows::{self, About, Row};
use askway::ask::Span;
use tonic::transport::{Channel, Endpoint};
use v1::create_token_request::Principal as Named;

/// A call that was made and done.
struct Made {
    row: Row,
    token: String,
    request: Vec<u8>,
}

/// Makes each call once, about something of its own, and uses up every secret it gives.
struct Stage {
    daemon: Daemon,
    channel: Channel,
    made: Vec<Made>,
}

/// What is taken is told by what is there, and not kept.
fn has_no_receipt(row: &Row) -> bool {
    row.name == "TakeDeliveries"
}

fn text(secret: &Secret) -> String {
    secret.expose().to_owned()
}

impl Stage {
    async fn start() -> Self {
        let daemon = Daemon::start().await;
        let endpoint = Endpoint::from_shared(daemon.tcp().to_string()).unwrap();
        Self { daemon, channel: endpoint.connect().await.unwrap(), made: Vec::new() }
    }

    /// The row of `name` by `token`, which is done.
    async fn make(&mut self, row: &Row, token: &Secret, about: &About) -> Vec<u8> {
        let number = self.made.len();
        let (token, row) = (text(token), row.clone());
        let request = rows::request(&row.name, about, &format!("once {number}"));
        let sent = rows::call(&self.channel, &row.path, Some(&token), request.clone()).await;
        let reply = sent.unwrap_or_else(|status| panic!("{}: {status:?}", row.name));
        if !has_no_receipt(&row) {
            let receipt = rows::receipt(&reply).expect("each has a receipt");
            assert_eq!(receipt.result, v1::Result::Accepted as i32, "{}: {receipt:?}", row.name);
            assert!(!receipt.replayed);
        }
        self.made.push(Made { row, token, request });
        reply
    }

    /// Whatever `row` is about, made for it alone, and the call by whoever may make it.
    async fn of(&mut self, row: &Row) {
        use prost::Message as _;
        let (lead, worker) = self.daemon.pair(self.daemon.tcp()).await;
        let (owner, host) = (self.daemon.owner.clone(), self.daemon.host.clone());
        let ask = worker.ask("which?").await;
        let ticket = lead.client.send_work(v1::SendWorkRequest::default()).await.unwrap().ticket;
        let ann = v1::AddPersonRequest { name: "ann".into(), ..Default::default() };
        self.daemon.local().add_person(ann).await.unwrap();
        let (_, token) = self.daemon.token("", Named::Person("ann".into()), None).await;
        let session_id = worker.session.id.clone();
        let hold_secret = text(&worker.hold);
        let about = About { ask, session_id, hold_secret, ticket, token_id: token.id };
        let (ask_id, client) = (about.ask.id.clone(), self.daemon.owner());
        let again = |about: &About, ask: v1::Ask| About { ask, ..about.clone() };
        match row.name.as_str() {
            "Ask" => drop(self.make(row, &worker.token, &about).await),
            "Answer" | "Decline" | "MarkSeen" | "Claim" | "AddPerson" | "RemovePerson"
            | "RevokeToken" | "RevokeSession" => drop(self.make(row, &owner, &about).await),
            "AnswerAgent" | "Escalate" | "Say" => drop(self.make(row, &lead.token, &about).await),
            "Withdraw" => drop(self.make(row, &worker.token, &about).await),
            "Reply" => {
                let say =
                    v1::SayRequest { ask_id, text: "which ones?".into(), ..Default::default() };
                accepted(lead.client.say(say).await.unwrap());
                self.make(row, &worker.token, &about).await;
            }
            "Release" => {
                accepted(
                    client.claim(v1::ClaimRequest { ask_id, ..Default::default() }).await.unwrap(),
                );
                self.make(row, &owner, &about).await;
            }
            "AcknowledgeDelivery" | "TakeDeliveries" => {
                let settled = accepted(client.answer(answer(&about.ask)).await.unwrap());
                self.make(row, &worker.token, &again(&about, settled)).await;
            }
            "SendWork" => {
                let reply = self.make(row, &lead.token, &about).await;
                let sent = v1::SendWorkResponse::decode(&reply[..]).unwrap();
                let tcp = self.daemon.tcp();
                enroll(&Client::new(tcp.clone(), None), tcp, "new", sent.ticket).await;
            }
            "Enroll" => {
                let reply = self.make(row, &host, &about).await;
                let token = v1::EnrollResponse::decode(&reply[..]).unwrap().token;
                self.used(&token).await;
            }
            "AcceptWork" => drop(self.make(row, &worker.token, &about).await),
            "PauseSession" | "EndSession" => drop(self.make(row, &host, &about).await),
            "ResumeSession" => {
                worker.client.pause_session(v1::PauseSessionRequest::default()).await.unwrap();
                let reply = self.make(row, &host, &about).await;
                let token = v1::ResumeSessionResponse::decode(&reply[..]).unwrap().token;
                self.used(&token).await;
            }
            "CreateToken" => {
                let reply = self.make(row, &owner, &about).await;
                let token = v1::CreateTokenResponse::decode(&reply[..]).unwrap().secret;
                self.used(&token).await;
            }
            other => panic!("{other} has no row; say here what it is about"),
        }
    }

    /// Until a secret is used, a repeat makes another: nobody knows whether the first came through.
    async fn used(&self, token: &str) {
        let token = Some(Secret::read(token).expect("a token"));
        Client::new(self.daemon.tcp(), token).status().await.unwrap();
    }

    /// All there is to see, by who sees most.
    async fn seen(&self) -> Vec<String> {
        let (local, owner) = (self.daemon.local(), self.daemon.owner());
        let filter = v1::AskFilter { settled: true, ..Default::default() };
        let asks = owner.find_asks(v1::AskScope::Visible, filter).await.unwrap();
        let mut seen = Vec::new();
        for ask in &asks {
            // Whether the asker is there is no record.
            seen.push(format!("{ask:?} {:?}", owner.list_events(&ask.id).await.unwrap()));
        }
        seen.extend(owner.list_sessions(true).await.unwrap().iter().map(|one| format!("{one:?}")));
        seen.push(format!("{:?}", local.list_people("").await.unwrap()));
        seen.push(format!("{:?}", local.list_tokens("").await.unwrap()));
        seen
    }
}

/// Numbers from a seed, one after the other.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        // The constants are Knuth's.
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }

    fn shuffle<T>(&mut self, all: &mut [T]) {
        for last in (1..all.len()).rev() {
            all.swap(last, self.below(last + 1));
        }
    }
}

#[tokio::test]
async fn whatever_was_done_and_is_sent_again_in_any_order_changes_nothing() {
    let mut dice = Dice(seed());
    let mut stage = Stage::start().await;
    let calls = rows::calls();
    for row in calls.iter().filter(|row| !row.only_looks()) {
        stage.of(row).await;
        stage.daemon.bench.advance(Span::from_millis(1));
    }
    // What is swept after an end or a revocation is done when nothing changes any more.
    let settling = async {
        let mut before = stage.seen().await;
        loop {
            let now = stage.seen().await;
            if std::mem::replace(&mut before, now.clone()) == now {
                return before;
            }
        }
    };
    let before = tokio::time::timeout(PATIENCE, settling).await.expect("it settles");
    let mut replayed = 0;
    for _ in 0..3 {
        let mut order: Vec<&Made> = stage.made.iter().collect();
        dice.shuffle(&mut order);
        for Made { row, token, request } in order {
            let again = rows::call(&stage.channel, &row.path, Some(token), request.clone()).await;
            match again {
                Ok(_) if has_no_receipt(row) => {}
                Ok(reply) => {
                    let receipt = rows::receipt(&reply).expect("each has a receipt");
                    let is_no = receipt.result == v1::Result::Refused as i32;
                    assert!(receipt.replayed || is_no, "{}: {receipt:?}", row.name);
                    replayed += usize::from(receipt.replayed);
                }
                // Whose token was taken away by another of these.
                Err(status) => {
                    assert_eq!(status.code(), tonic::Code::Unauthenticated, "{status:?}")
                }
            }
        }
        assert_eq!(stage.seen().await, before);
    }
    assert!(replayed > stage.made.len(), "most were replays");
    stage.daemon.stop().await;
}

/// By another caller they are another intent: bytes that were overheard are worth what one's own
/// token is worth.
#[tokio::test]
async fn an_overheard_request_sent_by_another_is_decided_by_who_sends_it() {
    let mut stage = Stage::start().await;
    let (lead, worker) = stage.daemon.pair(stage.daemon.tcp()).await;
    let thief = stage.daemon.root(stage.daemon.tcp()).await;
    let (first, second) = (worker.ask("one?").await, worker.ask("two?").await);
    let calls = rows::calls();
    let row = calls.iter().find(|row| row.name == "AnswerAgent").expect("a row");
    stage.make(row, &lead.token, &About { ask: first, ..About::default() }).await;
    let Made { request, .. } = &stage.made[0];
    for token in [None, Some(&thief.token), Some(&worker.token), Some(&lead.hold)] {
        let token = token.map(|token| token.expose());
        let path = &row.path;
        let sent = rows::call(&stage.channel, path, token, request.clone()).await;
        let is_no = sent.as_ref().map_or(true, |reply| {
            let receipt = rows::receipt(reply).expect("a receipt");
            !receipt.replayed && receipt.result != v1::Result::Accepted as i32
        });
        assert!(is_no, "{sent:?}");
    }
    // And the same request id does not carry another answer.
    let other = rows::request("AnswerAgent", &About { ask: second, ..About::default() }, "once 0");
    let sent = rows::call(&stage.channel, &row.path, Some(lead.token.expose()), other).await;
    assert_eq!(sent.unwrap_err().code(), tonic::Code::AlreadyExists);
    stage.daemon.stop().await;
}
