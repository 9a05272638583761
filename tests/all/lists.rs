//! Lists of asks: each filter, and pages while others write.

use crate::bench::*;
use askway::ask::{AskId, PersonName, Span};
use askway::service::{AskFilter, AskScope, Caller, InboxMessage, Way};
use tokio_stream::StreamExt;

/// Every page of a list, at most `page` on each.
async fn all(
    bench: &Bench,
    by: &Caller,
    scope: AskScope,
    filter: &AskFilter,
    page: usize,
) -> Vec<AskId> {
    let (mut ids, mut after) = (Vec::new(), None);
    loop {
        let some = bench.service.list(by, scope, filter, after, page).await.unwrap();
        assert!(some.asks.len() <= page);
        ids.extend(some.asks.iter().map(|ask| ask.id));
        after = some.next;
        if after.is_none() {
            return ids;
        }
    }
}

#[tokio::test]
async fn a_list_has_what_every_part_of_its_filter_names() {
    let bench = Bench::new().await;
    let (lead, worker) = bench.pair().await;
    let other = bench.root("other").await;
    let on_lead = bench.ask(&worker, "Which STORE?").await;
    bench.advance(Span::from_mins(1));
    let on_owner = bench.ask(&lead, "which store, then?").await;
    bench.advance(Span::from_mins(1));
    let elsewhere = bench.ask(&other, "which colour?").await;
    bench.advance(Span::from_mins(1));
    let declined = bench.ask(&other, "drop it?").await;
    accepted(bench.decline(&declined, "no").await);
    let owner = PersonName::owner();
    let none = AskFilter::default;
    let cases = [
        (none(), vec![&on_lead, &on_owner, &elsewhere]),
        (AskFilter { settled: true, ..none() }, vec![&on_lead, &on_owner, &elsewhere, &declined]),
        (AskFilter { outcome: Some(Way::Declined), ..none() }, vec![&declined]),
        (AskFilter { outcome: Some(Way::Answered), ..none() }, vec![]),
        (AskFilter { asker: Some(lead.id()), ..none() }, vec![&on_owner]),
        (AskFilter { asker: Some(other.id()), ..none() }, vec![&elsewhere]),
        (
            AskFilter { asker: Some(other.id()), settled: true, ..none() },
            vec![&elsewhere, &declined],
        ),
        (AskFilter { waiting_on_session: Some(lead.id()), ..none() }, vec![&on_lead]),
        (AskFilter { waiting_on_person: Some(owner), ..none() }, vec![&on_owner, &elsewhere]),
        (AskFilter { tree: Some(on_lead.tree), ..none() }, vec![&on_lead, &on_owner]),
        (AskFilter { text: Some("store".into()), ..none() }, vec![&on_lead, &on_owner]),
        (AskFilter { from: Some(on_owner.create_time), ..none() }, vec![&on_owner, &elsewhere]),
        (AskFilter { until: Some(on_owner.create_time), ..none() }, vec![&on_lead]),
        (
            AskFilter { tree: Some(on_lead.tree), asker: Some(worker.id()), ..none() },
            vec![&on_lead],
        ),
    ];
    for (filter, expected) in cases {
        let expected: Vec<_> = expected.iter().map(|ask| ask.id).collect();
        for page in [1, 3, 500] {
            let found = all(&bench, &bench.owner, AskScope::Visible, &filter, page).await;
            assert_eq!(found, expected, "{filter:?}, {page} a page");
        }
    }
}

#[tokio::test]
async fn an_askers_own_list_has_the_unread_whatever_it_is_filtered_by() {
    let bench = Bench::new().await;
    let (lead, worker) = bench.pair().await;
    let open = bench.ask(&worker, "open?").await;
    bench.advance(Span::from_millis(1));
    let unread = bench.ask(&worker, "unread?").await;
    accepted(bench.answer_agent(&lead, &unread).await);
    let both = [open.id, unread.id];
    let in_tree = AskFilter { tree: Some(open.tree), ..AskFilter::default() };
    for filter in [&AskFilter::default(), &in_tree] {
        assert_eq!(all(&bench, &worker.caller, AskScope::Mine, filter, 9).await, both);
        assert_eq!(all(&bench, &bench.host, AskScope::Mine, filter, 9).await, both);
        assert_eq!(all(&bench, &lead.caller, AskScope::Visible, filter, 9).await, [open.id]);
    }
    bench.acknowledge(&worker, unread.id).await;
    let none = AskFilter::default();
    assert_eq!(all(&bench, &worker.caller, AskScope::Mine, &none, 9).await, [open.id]);
}

#[tokio::test]
async fn rule_15_a_filter_shows_nothing_foreign() {
    let bench = Bench::new().await;
    let (_, worker) = bench.pair().await;
    let stranger = bench.root("stranger").await;
    let ask = bench.ask(&worker, "which store?").await;
    let filters = [
        AskFilter { tree: Some(ask.tree), ..AskFilter::default() },
        AskFilter { asker: Some(worker.id()), ..AskFilter::default() },
        AskFilter { settled: true, ..AskFilter::default() },
    ];
    for filter in &filters {
        for scope in [AskScope::Visible, AskScope::Mine, AskScope::WaitingOnMe] {
            let found = all(&bench, &stranger.caller, scope, filter, 9).await;
            assert!(found.is_empty(), "{filter:?} {scope:?}");
        }
    }
}

#[tokio::test]
async fn pages_neither_skip_nor_repeat_while_others_write() {
    let bench = Bench::new().await;
    let mut standing = Vec::new();
    let mut passing = Vec::new();
    for n in 0..25 {
        let asker = bench.root(&format!("asker-{n}")).await;
        standing.push(bench.ask(&asker, "stays?").await.id);
        passing.push(bench.ask(&asker, "goes?").await);
        bench.advance(Span::from_millis(1));
    }
    let (mut seen, mut after) = (Vec::new(), None);
    let late = bench.root("late").await;
    loop {
        let filter = AskFilter::default();
        let page = bench.service.list(&bench.owner, AskScope::Visible, &filter, after, 3).await;
        let page = page.unwrap();
        seen.extend(page.asks.iter().map(|ask| ask.id));
        // Something is settled behind and before the reader, and something comes.
        for _ in 0..2 {
            if let Some(ask) = passing.pop() {
                accepted(bench.answer(&ask).await);
            }
        }
        let new = bench.ask(&late, "late?").await;
        accepted(bench.service.withdraw(&late.caller, fresh(), new.id, None).await);
        match page.next {
            Some(next) => after = Some(next),
            None => break,
        }
    }
    let mut once = seen.clone();
    once.sort_unstable();
    once.dedup();
    assert_eq!(once.len(), seen.len(), "nothing comes twice");
    let stayed: Vec<_> = seen.iter().filter(|id| standing.contains(id)).copied().collect();
    assert_eq!(stayed, standing, "nothing that stayed is skipped, and all is in order");
}

#[tokio::test]
async fn an_inbox_of_a_tree_has_that_tree_and_of_it_what_was_asked_for() {
    let bench = Bench::new().await;
    let (lead, worker) = bench.pair().await;
    let other = bench.root("other").await;
    let on_lead = bench.ask(&worker, "one?").await;
    bench.advance(Span::from_millis(1));
    let on_owner = bench.ask(&lead, "two?").await;
    bench.ask(&other, "elsewhere?").await;
    let cases = [
        (&bench.owner, AskScope::Visible, vec![on_lead.id, on_owner.id]),
        (&bench.owner, AskScope::WaitingOnMe, vec![on_owner.id]),
        (&lead.caller, AskScope::WaitingOnMe, vec![on_lead.id]),
        (&lead.caller, AskScope::Visible, vec![on_lead.id, on_owner.id]),
        (&worker.caller, AskScope::Visible, vec![on_lead.id]),
        (&other.caller, AskScope::Visible, vec![]),
    ];
    for (by, scope, expected) in cases {
        let watch = bench.service.watch_inbox(by, scope, Some(on_lead.tree)).await;
        let message = watch.unwrap().next().await;
        let Some(Ok(InboxMessage::Snapshot { asks, total, .. })) = message else { panic!() };
        assert_eq!(asks.iter().map(|ask| ask.id).collect::<Vec<_>>(), expected, "{by:?} {scope:?}");
        assert_eq!(total, expected.len());
    }
}

#[tokio::test]
async fn c161_a_person_sees_also_what_waits_on_sessions_with_whom_and_until_when() {
    let bench = Bench::new().await;
    let (lead, worker) = bench.pair().await;
    let ask = bench.ask(&worker, "which store?").await;
    assert!(bench.inbox(&bench.owner).await.is_empty());
    let page = bench
        .service
        .list(&bench.owner, AskScope::Visible, &AskFilter::default(), None, 9)
        .await
        .unwrap();
    let shown = &page.asks[0];
    assert!(shown.id == ask.id && shown.waits_on_session(&lead.reference()));
    assert_eq!((shown.hop.since, shown.hop.deadline), (ask.hop.since, ask.hop.deadline));
    assert!(shown.hop.deadline.is_some(), "when it will come to people");
    let status = bench.service.status(&bench.owner).await.unwrap();
    assert_eq!((status.waiting_on_people, status.waiting_on_sessions), (0, 1));
}
