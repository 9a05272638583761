//! A store in PostgreSQL, and several services over one.

#[path = "../../shared/cluster.rs"]
mod cluster;
mod held;
mod killed;
mod looks;
mod lost;
mod parted;
mod shared_out;
mod tls;

use crate::bench::*;
use askway::ask::{Ask, Timestamp};
use askway::engine::clock::Manual;
use askway::service::WatchMessage;
use askway::store::postgres::Postgres;
use askway::store::suite::{self, World};
use askway::store::{Batch, Change, Committed, Fault, Heard, Key, Record, Store};
use cluster::{Cluster, name_of};
use std::sync::Arc;
use tokio_stream::StreamExt;

async fn opened(url: &str) -> Arc<Postgres> {
    Arc::new(Postgres::open(url).await.unwrap_or_else(|fault| panic!("{fault}")))
}

#[tokio::test]
async fn the_database_keeps_every_law() {
    let cluster = Cluster::shared();
    suite::all(|| async { opened(&cluster.database("t")).await as Arc<dyn Store> }).await;
}

#[tokio::test]
async fn opened_again_it_says_the_same() {
    let url = Cluster::shared().database("t");
    let mut world = World::new(11);
    let mut incarnation = None;
    for _ in 0..3 {
        let store = opened(&url).await;
        world.check(&*store).await;
        let before = incarnation.replace(store.incarnation());
        assert!(before.is_none_or(|before| before == store.incarnation()));
        for _ in 0..20 {
            let batch = world.steps();
            let mark = batch.mark.clone().map(Record::Clock);
            store.commit(batch).await.unwrap();
            assert_eq!(store.load(&[Key::Clock]).await, Ok(vec![mark]));
        }
    }
}

#[tokio::test]
async fn a_newer_schema_is_refused_with_a_sentence_and_not_touched() {
    let cluster = Cluster::shared();
    let url = cluster.database("t");
    drop(opened(&url).await);
    let newer = "update askway.marker set format = 99, least_reader = 99, written_by = 'askway 9'";
    cluster.sql(name_of(&url), newer);
    let Err(Fault::Unreadable(why)) = Postgres::open(&url).await else { panic!("it was opened") };
    assert!(why.contains("format 99, made by askway 9, and this askway reads up to"), "{why}");
    assert_eq!(cluster.sql(name_of(&url), "select format from askway.marker"), "99");
}

#[tokio::test]
async fn ten_that_start_at_once_make_one_schema() {
    let url = Cluster::shared().database("t");
    let all = futures_util::future::join_all((0..10).map(|_| opened(&url))).await;
    let first = all[0].incarnation();
    assert!(all.iter().all(|store| store.incarnation() == first), "one store");
}

#[tokio::test]
async fn a_database_that_would_lose_what_it_acknowledged_is_refused() {
    let cluster = Cluster::shared();
    let url = cluster.database("t");
    let name = name_of(&url);
    cluster.sql("postgres", &format!("alter database {name} set synchronous_commit = off"));
    let Err(Fault::Unavailable(why)) = Postgres::open(&url).await else { panic!("it was opened") };
    assert!(why.contains("synchronous_commit is off"), "{why}");
}

#[tokio::test]
async fn no_fault_repeats_the_password() {
    let folder = tempfile::tempdir().unwrap();
    let nowhere = folder.path().display().to_string().replace('/', "%2F");
    let urls = [
        format!("postgres://askway:hunter2@{nowhere}/none"),
        "postgres://askway:hunter2@localhost:seven/none".to_owned(),
        "password=hunter2 prot=7".to_owned(),
    ];
    for url in urls {
        let fault = Postgres::open(&url).await.expect_err("there is none").to_string();
        assert!(!fault.contains("hunter2"), "{fault}");
    }
}

/// Two that read the same and write on it: one is first, the other is told, whichever it is; and what
/// one holds another never waits for.
#[tokio::test(flavor = "multi_thread")]
async fn of_two_writers_of_one_record_each_step_is_one_s() {
    let url = Cluster::shared().database("t");
    let (one, other) = (opened(&url).await, opened(&url).await);
    let count = |store: Arc<Postgres>| async move {
        let mut done = 0;
        while done < 50 {
            let found = store.load(&[suite_session().key()]).await.unwrap().pop().flatten();
            let before = found.as_ref().map_or(0, Record::revision);
            let Record::Session(session) = found.unwrap_or_else(suite_session) else { panic!() };
            let next = askway::session::Session { revision: before + 1, ..(*session).clone() };
            let change = Change {
                expects: vec![(Key::Session(next.id), before)],
                writes: vec![Record::Session(next.into())],
                ..Change::default()
            };
            done += u64::from(suite::commit(&*store, change).await == Committed::Done);
        }
    };
    tokio::join!(count(one.clone()), count(other));
    let found = one.load(&[suite_session().key()]).await.unwrap().pop().flatten();
    assert_eq!(found.map(|record| record.revision()), Some(100), "no step was lost");
}

/// A change that was decided on an earlier one of its batch is not kept without it, though another wrote a
/// revision of that very number: an ask would be settled on what nobody decided.
#[tokio::test]
async fn rule_02_what_rests_on_a_change_that_was_not_kept_is_not_kept() {
    let url = Cluster::shared().database("t");
    let (one, other) = (opened(&url).await, opened(&url).await);
    let at = |revision| {
        let session = askway::session::Session { revision, ..suite::session(1) };
        let record = Record::Session(session.into());
        Change {
            expects: vec![(record.key(), revision - 1)],
            writes: vec![record],
            ..Change::default()
        }
    };
    let unrelated =
        || Change { writes: vec![Record::Token(suite::token(7).into())], ..Change::default() };
    assert_eq!(suite::commit(&*one, at(1)).await, Committed::Done);
    assert_eq!(suite::commit(&*other, at(2)).await, Committed::Done);
    // Decided on the first: its second, and what only reads what that was to write.
    let read = Change {
        expects: vec![(suite_session().key(), 2)],
        writes: vec![Record::Twin(suite::twin(1).into())],
        ..Change::default()
    };
    let batch = Batch { changes: vec![at(2), at(3), read, unrelated()], mark: None };
    let became = one.commit(batch).await.unwrap();
    let (conflict, done) = (Committed::Conflict, Committed::Done);
    assert_eq!(became, [conflict, conflict, conflict, done]);
    let found = one.load(&[suite_session().key()]).await.unwrap().pop().flatten();
    assert_eq!(found.map(|record| record.revision()), Some(2));
}

fn suite_session() -> Record {
    Record::Session(suite::session(1).into())
}

/// What is not there is guarded too: of two that each rest on the absence of what the other writes, one
/// is kept.
#[tokio::test(flavor = "multi_thread")]
async fn an_absence_that_was_only_read_is_guarded() {
    let url = Cluster::shared().database("t");
    let stores = [opened(&url).await, opened(&url).await];
    for number in 0..60 {
        let twin = Record::Twin(suite::twin(number).into());
        let no = Record::StandingNo(suite::standing_no(number).into());
        let rests_on = |read: &Record, written: &Record| Change {
            expects: vec![(read.key(), 0), (written.key(), 0)],
            writes: vec![written.clone()],
            ..Change::default()
        };
        let (first, second) = tokio::join!(
            suite::commit(&*stores[0], rests_on(&twin, &no)),
            suite::commit(&*stores[1], rests_on(&no, &twin)),
        );
        let both = first == Committed::Done && second == Committed::Done;
        assert!(!both, "both were kept: {number}");
        if first == second {
            // Each was in the way of the other: whoever tries again alone is not.
            assert_eq!(suite::commit(&*stores[0], rests_on(&twin, &no)).await, Committed::Done);
        }
        let keys = [twin.key(), no.key()];
        let found = stores[1].load(&keys).await.unwrap();
        assert_eq!(found.iter().flatten().count(), 1, "one of the two is there: {found:?}");
        // And stays so, whoever comes later.
        assert_eq!(suite::commit(&*stores[1], rests_on(&twin, &no)).await, Committed::Conflict);
        assert_eq!(suite::commit(&*stores[1], rests_on(&no, &twin)).await, Committed::Conflict);
    }
}

#[tokio::test]
async fn what_one_tells_the_others_hear_and_not_itself() {
    let url = Cluster::shared().database("t");
    let (one, other) = (opened(&url).await, opened(&url).await);
    // A connection begins with everything: nobody knows what was told before it.
    assert_eq!(one.heard().await, Heard::Everything);
    assert_eq!(other.heard().await, Heard::Everything);
    one.tell(&mut [7, u64::MAX].into_iter());
    assert_eq!(other.heard().await, Heard::Hints(vec![7, u64::MAX]));
    other.tell(&mut [8].into_iter());
    assert_eq!(one.heard().await, Heard::Hints(vec![8]), "and nothing of its own");
    one.tell(&mut (0..5_000));
    assert_eq!(other.heard().await, Heard::Everything, "too much to say is everything");
    let ends = "select count(pg_terminate_backend(pid)) from pg_stat_activity \
                where datname = current_database() and application_name = 'askway' \
                and query in ('listen askway', 'show transaction_read_only')";
    assert_eq!(Cluster::shared().sql(name_of(&url), ends), "2");
    assert_eq!(one.heard().await, Heard::Everything, "after a new connection");
}

/// A service of its own over the database; its machine's clock is an hour off, each by more.
async fn replica(url: &str, number: u64) -> Bench {
    Bench::on(opened(url).await, Manual::at(wall(number))).await
}

/// What a machine's clock says: so many hours after another's.
fn wall(hours: u64) -> Timestamp {
    Timestamp::from_millis(1_000_000_000_000 + hours * 3_600_000)
}

#[tokio::test(flavor = "multi_thread")]
async fn rule_08_what_is_answered_at_one_replica_wakes_whoever_watches_at_another() {
    let url = Cluster::shared().database("t");
    let (one, other) = (replica(&url, 1).await, replica(&url, 2).await);
    let (lead, worker) = one.pair().await;
    let ask = one.ask(&worker, "which store?").await;
    let mut watch = one.service.watch_ask(&one.owner, ask.id, None).await.unwrap();
    assert!(matches!(watch.next().await, Some(Ok(WatchMessage::Ask(_)))));
    let lead_there = Agent { caller: other.log_in(&lead.token).await.unwrap(), ..lead.clone() };
    let said = other.service.say(&lead_there.caller, fresh(), ask.id, "hm".into()).await;
    accepted(said);
    let next = tokio::time::timeout(PATIENCE, watch.next()).await.expect("it is woken");
    let Some(Ok(WatchMessage::Event(event, seen))) = next else { panic!("{next:?}") };
    assert_eq!((event.revision, seen.revision), (2, 2));
    // The replica is gone; whoever watched takes it up at another, where it was.
    drop(watch);
    one.stop().await;
    let caller = other.log_in(&worker.token).await.unwrap();
    let watch = other.service.watch_ask(&caller, ask.id, Some(seen.revision)).await.unwrap();
    accepted(other.answer_agent(&lead_there, &ask).await);
    let rest: Vec<_> = watch.map(Result::unwrap).collect().await;
    let told: Vec<u64> = rest
        .iter()
        .filter_map(|message| match message {
            WatchMessage::Event(event, _) => Some(event.revision),
            _ => None,
        })
        .collect();
    assert_eq!(told, [3], "no gap, no repeat");
    other.stop().await;
}

/// The same request at two replicas, whichever gets it, is one ask.
#[tokio::test(flavor = "multi_thread")]
async fn rule_07_a_request_that_two_replicas_get_is_done_once() {
    let url = Cluster::shared().database("t");
    let (one, other) = (replica(&url, 1).await, replica(&url, 2).await);
    let (_, worker) = one.pair().await;
    let there = other.log_in(&worker.token).await.unwrap();
    for _ in 0..20 {
        let request = fresh();
        let question = draft(&format!("which store for {request}?"));
        let (first, second) = tokio::join!(
            one.service.ask(&worker.caller, request.clone(), None, question.clone()),
            other.service.ask(&there, request.clone(), None, question.clone()),
        );
        let (first, second) = (accepted_or_again(first), accepted_or_again(second));
        assert_eq!(first.id, second.id);
        let answered = (one.answer(&first).await, other.answer(&second).await);
        assert!(answered.0.is_ok() && answered.1.is_ok(), "{answered:?}");
        let outcome = one.get(first.id).await.outcome().cloned();
        assert!(outcome.is_some() && outcome == other.get(first.id).await.outcome().cloned());
        one.acknowledge(&worker, first.id).await;
    }
    one.stop().await;
    other.stop().await;
}

fn accepted_or_again(receipt: Result<askway::service::Receipt, askway::error::Error>) -> Arc<Ask> {
    receipt.unwrap_or_else(|error| panic!("{error}")).ask.expect("it is there")
}
