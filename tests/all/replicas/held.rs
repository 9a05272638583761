//! A hold at one replica counts at all, and so does a host's watch.

use super::cluster::{Cluster, name_of};
use super::replica;
use crate::bench::*;
use askway::service::{AskScope, InboxMessage, Presence};
use askway::session::{Manner, Session};
use askway::store::Store;
use std::sync::Arc;
use tokio_stream::StreamExt;

async fn session(bench: &Bench, agent: &Agent) -> Arc<Session> {
    let (sessions, _) = bench.service.sessions(&bench.host, true, None, 500).await.unwrap();
    sessions.into_iter().find(|session| session.id == agent.id()).unwrap()
}

/// Half a minute is not waited for: the time of a replica that is gone is set back in the database, and the
/// grace, where there is any, runs in service time, which is the database's.
fn forget(url: &str, replica: &str) {
    let old = format!("update askway.replicas set seen = 0 where name = '{replica}'");
    Cluster::shared().sql(name_of(url), &old);
}

fn names(url: &str) -> Vec<String> {
    let sql = "select name from askway.replicas order by seen";
    Cluster::shared().sql(name_of(url), sql).lines().map(str::to_owned).collect()
}

fn unheld(url: &str) -> String {
    let sql = "select count(*) from askway.places p where list = 'held' and not exists \
               (select from askway.attached a join askway.replicas r on r.name = a.replica \
               where a.kind = 1 and a.name = p.key and r.seen > 0)";
    Cluster::shared().sql(name_of(url), sql)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_whose_holder_has_gone_to_another_replica_is_held() {
    let url = Cluster::shared().database("t");
    let (one, other) = (replica(&url, 1).await, replica(&url, 2).await);
    let lead = one.root("lead").await;
    let there = Agent { caller: other.log_in(&lead.token).await.unwrap(), ..lead.clone() };
    let first = one.hold(&lead).await;
    assert_eq!(unheld(&url), "0", "it counts before its holder is told");
    let second = other.hold(&there).await;
    drop(first);
    eventually(async || attached(&url) == "1").await;
    assert_eq!(unheld(&url), "0");
    // Nobody holds it: whoever looks finds it, and its grace begins.
    drop(second);
    eventually(async || unheld(&url) == "1").await;
    let taken = one.hold(&lead).await;
    assert_eq!(unheld(&url), "0");
    assert!(session(&one, &lead).await.is_active());
    drop(taken);
    one.stop().await;
    other.stop().await;
    assert_eq!(attached(&url), "0");
}

fn attached(url: &str) -> String {
    Cluster::shared().sql(name_of(url), "select count(*) from askway.attached")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_is_held_nowhere_is_paused_after_its_grace_and_no_other() {
    let url = Cluster::shared().database("t");
    let (one, other) = (replica(&url, 1).await, replica(&url, 2).await);
    let (lead, kept) = (one.root("lead").await, one.root("kept").await);
    let there = Agent { caller: other.log_in(&kept.token).await.unwrap(), ..kept.clone() };
    let ask = one.ask(&lead, "which store?").await;
    let mut inbox =
        other.service.watch_inbox(&other.owner, AskScope::WaitingOnMe, None).await.unwrap();
    drop(one.hold(&lead).await);
    let moved = one.hold(&kept).await;
    let _held = other.hold(&there).await;
    drop(moved);
    // Whoever sees its ask is told that its asker is away.
    let paused = async {
        while let Some(message) = inbox.next().await {
            if let InboxMessage::Change { away, .. } = message.unwrap()
                && away.contains_key(&lead.id())
            {
                return;
            }
        }
        panic!("the watch of {} ended", ask.id);
    };
    tokio::time::timeout(3 * PATIENCE, paused).await.expect("it is paused after half a minute");
    assert!(session(&other, &kept).await.is_active(), "it is held at the other");
    // What was lost can be told of again: the database is as it was after a crash of its own.
    Cluster::shared().sql(name_of(&url), "delete from askway.attached");
    eventually(async || attached(&url) == "1").await;
    one.stop().await;
    other.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_dead_replica_held_is_not_held() {
    let url = Cluster::shared().database("t");
    let one = replica(&url, 1).await;
    let lead = one.root("lead").await;
    let _hold = one.hold(&lead).await;
    let store = super::opened(&url).await;
    let whole = askway::store::share::Share::whole();
    assert_eq!(store.unheld(&whole).await, Ok(vec![]));
    let first = names(&url).remove(0);
    one.service.shutdown();
    // As if it had died: nothing says that it has left.
    eventually(async || {
        forget(&url, &first);
        store.unheld(&whole).await == Ok(vec![lead.id()])
    })
    .await;
    one.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn rule_12_an_asker_that_watches_at_one_replica_is_live_at_all_while_that_is_there() {
    let url = Cluster::shared().database("t");
    let (one, other) = (replica(&url, 1).await, replica(&url, 2).await);
    let (_, worker) = one.pair().await;
    let ask = one.ask(&worker, "which store?").await;
    let is = async |wanted| {
        let id = ask.id.to_string();
        eventually(async || other.service.get(&other.owner, &id).await.unwrap().1 == wanted).await;
    };
    is(Presence::Parked).await;
    let watch = one.service.watch_ask(&worker.caller, ask.id, None).await.unwrap();
    let deliveries = one.service.watch_deliveries(&worker.caller).await.unwrap();
    is(Presence::Live).await;
    let said = other.service.say(&other.owner, fresh(), ask.id, "hm".into()).await.unwrap();
    assert_eq!(said.asker, Some(Presence::Live), "whoever speaks is told");
    drop(watch);
    // It looks at something else still.
    assert_eq!(attached(&url), "1");
    drop(deliveries);
    is(Presence::Parked).await;
    let watch = one.service.watch_ask(&worker.caller, ask.id, None).await.unwrap();
    is(Presence::Live).await;
    let answered = other.answer(&ask).await.unwrap();
    assert_eq!(answered.asker, Some(Presence::Live), "whose watch this has ended");
    drop(watch);
    // One that is gone without a word says nothing of its askers.
    let _watch = one.service.watch_deliveries(&worker.caller).await.unwrap();
    is(Presence::Live).await;
    let first = names(&url).into_iter().find(|name| attached_to(&url, name) > 0).unwrap();
    one.service.shutdown();
    eventually(async || {
        forget(&url, &first);
        let (_, presence) = other.service.get(&other.owner, &ask.id.to_string()).await.unwrap();
        presence == Presence::Parked
    })
    .await;
    one.stop().await;
    other.stop().await;
}

fn attached_to(url: &str, replica: &str) -> u64 {
    let sql = format!("select count(*) from askway.attached where replica = '{replica}'");
    Cluster::shared().sql(name_of(url), &sql).parse().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_that_watches_at_one_replica_wakes_its_sessions_for_all() {
    let url = Cluster::shared().database("t");
    let (one, other) = (replica(&url, 1).await, replica(&url, 2).await);
    let manner = Manner { answers_asks: true, wakeable: true };
    let lead = one.enroll("lead", Some(&one.host), manner, None).await;
    let worker = one.child("worker", &lead, false).await;
    let mut inbox = one.service.watch_inbox(&one.host, AskScope::WaitingOnMe, None).await.unwrap();
    let Some(Ok(InboxMessage::Snapshot { .. })) = inbox.next().await else { panic!() };
    one.service.pause(&lead.caller, fresh(), None).await.unwrap();
    // Until the other has heard of it.
    eventually(async || attached(&url) == "1").await;
    let number = |sql: &str| Cluster::shared().sql(name_of(&url), sql).parse::<u64>().unwrap();
    let told = number("select max(seen) from askway.replicas");
    eventually(async || number("select min(seen) from askway.replicas") > told).await;
    let there = Agent { caller: other.log_in(&worker.token).await.unwrap(), ..worker.clone() };
    let ask = other.ask(&there, "which store?").await;
    assert_eq!(ask.hop.index, 0, "its host would wake it: {ask:?}");
    drop(inbox);
    one.stop().await;
    other.stop().await;
}
