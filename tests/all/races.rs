//! Everything at once on one ask: exactly one outcome, and every receipt agrees with it.

use crate::bench::*;
use askway::ask::{Ask, AskId, Ending, limits};
use askway::error::Reason;
use askway::service::{Receipt, Verdict};
use std::sync::Arc;

/// Whether an ending is the one a call would have made.
type IsIts = fn(&Ending) -> bool;

/// Rounds of the race; enough to meet every order on two cores.
const ROUNDS: usize = 10_000;

#[tokio::test(flavor = "multi_thread")]
async fn rule_02_settled_once_in_ten_thousand_races() {
    let bench = Arc::new(Bench::new().await);
    let (lead, mut worker) = bench.pair().await;
    // Weeks pass for them, in which they make no call by their tokens.
    let mut holds = vec![bench.hold(&lead).await, bench.hold(&worker).await];
    for round in 0..ROUNDS {
        if round % 1_000 == 999 {
            // Outcomes gather unread with one asker; another takes over.
            worker = bench.child("worker", &lead, false).await;
            holds.push(bench.hold(&worker).await);
        }
        let ask = bench.ask(&worker, &format!("round {round}?")).await;
        let watcher = tokio::spawn(last_seen(bench.clone(), ask.id));
        let timer = async {
            if round % 10 == 0 {
                bench.advance(limits::ROUTE_TIMEOUT);
            }
        };
        let (agent, person, no, moved, back, ()) = tokio::join!(
            bench.answer_agent(&lead, &ask),
            bench.answer(&ask),
            bench.service.decline(&bench.owner, fresh(), ask.id, ask.digest, None),
            bench.escalate(&lead, &ask),
            bench.service.withdraw(&worker.caller, fresh(), ask.id, None),
            timer,
        );
        let settled = bench.get(ask.id).await;
        let outcome = settled.outcome().expect("somebody was first");
        let receipts: [(Receipt, IsIts); 4] = [
            (agent.unwrap(), |ending| matches!(ending, Ending::Answered(_))),
            (person.unwrap(), |ending| matches!(ending, Ending::Answered(_))),
            (no.unwrap(), |ending| matches!(ending, Ending::Declined)),
            (back.unwrap(), |ending| matches!(ending, Ending::Withdrawn)),
        ];
        let mut winners = 0;
        for (receipt, is_its) in receipts {
            match receipt.verdict {
                Verdict::Accepted => {
                    winners += 1;
                    assert!(is_its(&outcome.ending), "{outcome:?}");
                }
                Verdict::Closed => assert_eq!(receipt.ask.unwrap().outcome(), Some(outcome)),
                Verdict::Refused(reason) => assert_eq!(reason, Reason::NotSender),
            }
        }
        assert_eq!(winners, 1, "exactly one outcome");
        assert!(matches!(moved.unwrap().verdict, Verdict::Accepted | Verdict::Closed));
        let seen = tokio::time::timeout(PATIENCE, watcher).await.expect("no waiter is lost");
        assert_eq!(seen.unwrap().outcome(), Some(outcome));
    }
}

/// The ask as its watch ended with it.
async fn last_seen(bench: Arc<Bench>, id: AskId) -> Arc<Ask> {
    bench.until(id, |ask| !ask.is_open()).await
}
