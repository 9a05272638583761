//! Every call on an ask, by everybody, in every state: what comes of it. The table in
//! `docs/matrix.md` is what this test finds; `ASKWAY_WRITE=1 cargo test --test all matrix` writes it
//! anew.

use crate::bench::*;
use askway::ask::{Ask, ExpiryAction, RequestId, Span, limits};
use askway::error::Error;
use askway::grpc::status::status;
use askway::service::{AskFilter, AskScope, Caller, Hold, Receipt, Verdict, Worker};
use std::fmt::Write;
use std::sync::Arc;
use tonic_types::StatusExt;

const STATES: [&str; 10] = [
    "on a session",
    "on people",
    "claimed",
    "answered",
    "declined",
    "expired",
    "withdrawn",
    "abandoned",
    "undeliverable",
    "purged",
];
const CALLERS: [&str; 5] = ["asker", "sender", "person", "host", "stranger"];
const CALLS: [&str; 16] = [
    "GetAsk",
    "ListAsks",
    "ListEvents",
    "WatchAsk",
    "Answer",
    "AnswerAgent",
    "Decline",
    "Escalate",
    "Withdraw",
    "Say",
    "Reply",
    "MarkSeen",
    "Claim",
    "Release",
    "AcknowledgeDelivery",
    "TakeDeliveries",
];

/// Everybody there is, each held so that time alone does not end them, and an ask.
struct Cast {
    bench: Bench,
    lead: Agent,
    worker: Agent,
    stranger: Agent,
    ask: Arc<Ask>,
    _holds: Vec<Hold>,
}

impl Cast {
    async fn in_state(state: &str) -> Self {
        let bench = Bench::new().await;
        let (lead, worker) = bench.pair().await;
        let stranger = bench.root("stranger").await;
        let mut holds = Vec::new();
        for agent in [&lead, &worker, &stranger] {
            holds.push(bench.service.hold(&agent.caller, agent.hold.clone()).await.unwrap().1);
        }
        let mut draft = draft("which store?");
        draft.expire = Some((Span::from_mins(60), ExpiryAction::Stop));
        let ask = accepted(bench.service.ask(&worker.caller, fresh(), None, draft).await);
        // Something to acknowledge, in every state.
        bench.service.say(&bench.owner, fresh(), ask.id, "how large is it?".into()).await.unwrap();
        let mut cast = Self { bench, lead, worker, stranger, ask, _holds: holds };
        cast.bring_to(state).await;
        cast
    }

    async fn bring_to(&mut self, state: &str) {
        let (bench, ask) = (&self.bench, self.ask.clone());
        let owner = &bench.owner;
        match state {
            "on a session" => {}
            "on people" => drop(accepted(bench.escalate(&self.lead, &ask).await)),
            "claimed" => {
                let claim = bench.service.claim(owner, fresh(), ask.id, limits::CLAIM, false);
                accepted(claim.await);
            }
            "answered" => drop(accepted(bench.answer(&ask).await)),
            "declined" => {
                accepted(bench.service.decline(owner, fresh(), ask.id, ask.digest, None).await);
            }
            "expired" => {
                accepted(bench.escalate(&self.lead, &ask).await);
                // Unread, the person's turn would hold the expiry.
                let asker = &self.worker.caller;
                let turn = bench.get(ask.id).await.turns[0].revision;
                accepted(bench.service.acknowledge(asker, fresh(), ask.id, turn, None).await);
                bench.advance(Span::from_hours(2));
                bench.until(ask.id, |ask| !ask.is_open()).await;
            }
            "withdrawn" | "purged" => {
                let asker = &self.worker.caller;
                accepted(bench.service.withdraw(asker, fresh(), ask.id, None).await);
            }
            "abandoned" => self.end_the_asker().await,
            "undeliverable" => {
                accepted(bench.answer(&ask).await);
                self.end_the_asker().await;
            }
            _ => panic!("no ask is known that is {state}"),
        }
        self.ask = self.bench.get(ask.id).await;
        if state == "purged" {
            self.bench.advance(limits::KEEP);
            while self.bench.service.get(&self.bench.owner, &ask.id.to_string()).await.is_ok() {
                tokio::task::yield_now().await;
            }
        }
    }

    async fn end_the_asker(&self) {
        let id = Some(self.worker.id());
        self.bench.service.end(&self.bench.host, fresh(), id).await.unwrap();
        while self.bench.get(self.ask.id).await.is_unread()
            || self.bench.get(self.ask.id).await.is_open()
        {
            tokio::task::yield_now().await;
        }
    }

    fn caller(&self, name: &str) -> &Caller {
        match name {
            "asker" => &self.worker.caller,
            "sender" => &self.lead.caller,
            "person" => &self.bench.owner,
            "host" => &self.bench.host,
            "stranger" => &self.stranger.caller,
            _ => panic!("nobody is called {name}"),
        }
    }

    async fn call(&self, name: &str, by: &Caller) -> Result<String, Error> {
        let (service, ask) = (&self.bench.service, &self.ask);
        let (id, digest, hop) = (ask.id, ask.digest, ask.hop.index);
        let request: RequestId = fresh();
        let outcome = ask.outcome().map(|outcome| outcome.revision);
        let unread = outcome.or(ask.turns.last().map(|turn| turn.revision)).unwrap_or(1);
        let receipt = match name {
            "GetAsk" => return service.get(by, &id.to_string()).await.map(|_| "shown".into()),
            "ListEvents" => return service.events(by, id, 0, 9).await.map(|_| "shown".into()),
            "WatchAsk" => return service.watch_ask(by, id, None).await.map(|_| "shown".into()),
            "ListAsks" => {
                let all = AskFilter { settled: true, ..AskFilter::default() };
                let page = service.list(by, AskScope::Visible, &all, None, 9).await?;
                let listed = page.asks.iter().any(|ask| ask.id == id);
                return Ok(if listed { "shown" } else { "not there" }.into());
            }
            "TakeDeliveries" => {
                let worker = Worker { length: limits::LEASE, holder: "a worker".into() };
                let taken = service.take_deliveries(by, &request, 9, &worker).await?;
                return Ok(if taken.asks.is_empty() { "nothing" } else { "taken" }.into());
            }
            "Answer" => service.answer(by, request, id, digest, yes()).await,
            "AnswerAgent" => service.answer_agent(by, request, id, digest, yes()).await,
            "Decline" => service.decline(by, request, id, digest, None).await,
            "Escalate" => service.escalate(by, request, id, hop, None).await,
            "Withdraw" => service.withdraw(by, request, id, None).await,
            "Say" => service.say(by, request, id, "why?".into()).await,
            "Reply" => service.reply(by, request, id, "so".into(), [].into()).await,
            "MarkSeen" => service.mark_seen(by, request, id, digest).await,
            "Claim" => service.claim(by, request, id, limits::CLAIM, false).await,
            "Release" => service.release(by, request, id).await,
            "AcknowledgeDelivery" => service.acknowledge(by, request, id, unread, None).await,
            _ => panic!("no call is called {name}"),
        };
        receipt.map(said)
    }
}

fn said(receipt: Receipt) -> String {
    match receipt.verdict {
        Verdict::Accepted => "accepted".into(),
        Verdict::Closed => "closed".into(),
        Verdict::Refused(reason) => format!("`{reason}`"),
    }
}

/// A cell. An internal error is none that may stand there.
async fn cell(state: &str, call: &str, caller: &str) -> String {
    let cast = Cast::in_state(state).await;
    let found = match cast.call(call, cast.caller(caller)).await {
        Ok(said) => said,
        Err(fault) => {
            let status = status(fault);
            let details = status.get_error_details();
            let reason = details.error_info().expect("every status has a reason").reason.clone();
            assert_ne!(status.code(), tonic::Code::Internal, "{call} by {caller}, {state}");
            format!("`{reason}`")
        }
    };
    cast.bench.stop().await;
    found
}

#[tokio::test(flavor = "multi_thread")]
async fn c37_every_call_in_every_state_by_everybody_is_as_the_matrix_says() {
    let mut table = HEAD.to_owned();
    let _ = writeln!(table, "| call | by | {} |", STATES.join(" | "));
    let _ = writeln!(table, "|---|---|{}", "---|".repeat(STATES.len()));
    for call in CALLS {
        for caller in CALLERS {
            let mut row = Vec::new();
            for state in STATES {
                row.push(cell(state, call, caller).await);
            }
            let _ = writeln!(table, "| {call} | {caller} | {} |", row.join(" | "));
        }
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/matrix.md");
    if std::env::var_os("ASKWAY_WRITE").is_some() {
        std::fs::create_dir_all(concat!(env!("CARGO_MANIFEST_DIR"), "/docs")).unwrap();
        std::fs::write(path, &table).unwrap();
    }
    let written = std::fs::read_to_string(path).unwrap_or_default();
    let differ = table.lines().zip(written.lines()).find(|(found, written)| found != written);
    assert_eq!(differ, None, "docs/matrix.md is not what happens; write it with ASKWAY_WRITE=1");
    assert_eq!(table.lines().count(), written.lines().count());
}

const HEAD: &str = "# Every call on an ask, in every state

Found by a test, which fails when this page says something else (`tests/all/matrix.rs`).

The ask waits on its *sender* first and then on the person `owner`; a person has spoken, and the asker
has not read it. The *asker* filed it; the *host* enrolled both sessions, and those of others; the
*stranger* is a session that has nothing to do with it. Each cell is a fresh ask.

*accepted*: it was done, or was done before · *closed*: it had ended, and the receipt says how, by whom
and when · a name in `CAPITALS`: the reason of a refusal or a fault, and nothing changed · *shown* ·
*not there*: it is not in the list · *taken*, *nothing*: a worker took it, or there was nothing to take.
A purged ask, one of others, and one that never was look alike.

";
