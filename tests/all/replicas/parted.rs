//! Nothing gets through between a replica and its database, and nobody is told: as behind a firewall that
//! drops, or a cable that was pulled.

use super::cluster::Cluster;
use super::lost::{NOTICED, by};
use super::{opened, replica, wall};
use crate::bench::*;
use crate::wire::line::Line;
use askway::engine::clock::Manual;
use askway::error::{Error, Reason};
use askway::service::{Answers, AskScope, InboxMessage, WatchMessage};
use tokio::time::{Instant, timeout};
use tokio_stream::StreamExt;

#[tokio::test(flavor = "multi_thread")]
async fn a_replica_parted_from_its_database_says_so_and_is_back_by_itself() {
    let cluster = Cluster::shared();
    let url = cluster.database("t");
    let line = Line::to(cluster.address()).await;
    let one = Bench::on(opened(&by(&url, &[line.port])).await, Manual::at(wall(1))).await;
    let other = replica(&url, 2).await;
    let (lead, worker) = one.pair().await;
    let ask = one.ask(&worker, "which store?").await;
    let there = Agent { caller: other.log_in(&lead.token).await.unwrap(), ..lead.clone() };
    // One stream that looks at a token too, and one that does not.
    let mut watch = one.service.watch_ask(&worker.caller, ask.id, None).await.unwrap();
    let mut inbox = one.service.watch_inbox(&one.owner, AskScope::Visible, None).await.unwrap();
    assert!(matches!(watch.next().await, Some(Ok(WatchMessage::Ask(_)))));
    assert!(matches!(inbox.next().await, Some(Ok(InboxMessage::Snapshot { .. }))));
    let mut answers = one.service.store_answers();
    for turn in 0..2 {
        line.part();
        let parted = Instant::now();
        let (away, told, listed) = tokio::join!(
            timeout(NOTICED, answers.wait_for(|answers| !answers.reads)),
            timeout(NOTICED, watch.next()),
            timeout(NOTICED, inbox.next()),
        );
        away.expect("it is noticed").unwrap();
        let told = told.expect("who watches is told");
        let idle = matches!(told, Some(Ok(WatchMessage::Idle { stale: true, revision })) if revision == 1 + turn);
        assert!(idle, "{told:?}");
        let listed = listed.expect("and who watches an inbox");
        assert!(matches!(listed, Some(Ok(InboxMessage::Idle { stale: true }))), "{listed:?}");
        eprintln!("noticed after {:?}", parted.elapsed());
        let asked = timeout(NOTICED, one.service.get(&one.owner, &ask.id.to_string())).await;
        let asked = asked.expect("a call is answered").map(|_| ());
        let unavailable = matches!(asked, Err(Error::Unavailable(Reason::StoreUnavailable, ..)));
        assert!(unavailable, "{asked:?}");
        // Whom nothing keeps from the database goes on.
        accepted(other.service.say(&there.caller, fresh(), ask.id, format!("{turn}")).await);
        line.heal();
        let told = timeout(PATIENCE, watch.next()).await.expect("it is back by itself");
        let Some(Ok(WatchMessage::Event(event, _))) = told else { panic!("{told:?}") };
        assert_eq!(event.revision, 2 + turn, "nothing is missed or repeated");
        let listed = timeout(PATIENCE, inbox.next()).await.expect("and so is this");
        let Some(Ok(InboxMessage::Change { changed, .. })) = listed else { panic!("{listed:?}") };
        assert_eq!(changed[0].revision, 2 + turn);
        timeout(PATIENCE, answers.wait_for(|answers| *answers == Answers::WELL))
            .await
            .expect("ready")
            .unwrap();
    }
    // A request that was made while nothing got through is done once, by whoever gets it again.
    line.part();
    let request = fresh();
    let answer = async |bench: &Bench, agent: &Agent| {
        let service = &bench.service;
        service.answer_agent(&agent.caller, request.clone(), ask.id, ask.digest, yes()).await
    };
    let lost = timeout(2 * NOTICED, answer(&one, &lead)).await.expect("it is answered");
    assert!(matches!(lost, Err(Error::Unavailable(..))), "{lost:?}");
    accepted(answer(&other, &there).await);
    line.heal();
    eventually(async || answer(&one, &lead).await.is_ok_and(|receipt| receipt.replayed)).await;
    one.stop().await;
    other.stop().await;
}
