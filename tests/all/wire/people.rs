//! People: added, removed, and what waits on them.

use super::*;
use askway::ask::{PersonName, Plan, PlanHop, PlanTo, Plans, Span};
use askway::client::ClientError;
use v1::create_token_request::Principal as Named;

fn reason<T>(result: Result<T, ClientError>) -> String {
    result.err().expect("a fault").reason.expect("every fault has a reason")
}

fn add(name: &str) -> v1::AddPersonRequest {
    v1::AddPersonRequest { name: name.into(), ..Default::default() }
}

fn rm(name: &str) -> v1::RemovePersonRequest {
    v1::RemovePersonRequest { name: name.into(), ..Default::default() }
}

async fn names(client: &Client) -> Vec<String> {
    client.list_people("").await.unwrap().into_iter().map(|person| person.name).collect()
}

/// Asks go to `first` people in turn, each for an hour but the last.
fn routes(first: &[&[&str]]) -> Settings {
    let hour = Span::from_hours(1);
    let last = first.len() - 1;
    let hop = |(index, names): (usize, &&[&str])| {
        let people: Vec<PersonName> = names.iter().map(|name| name.parse().unwrap()).collect();
        let to = match &people[..] {
            [one] => PlanTo::Person(one.clone()),
            _ => PlanTo::Group("team".parse().unwrap(), people),
        };
        PlanHop { to, timeout: (index < last).then_some(hour) }
    };
    let hops = first.iter().enumerate().map(hop).collect();
    let plan = Plan::new("default".parse().unwrap(), hops, 1, hour).unwrap();
    Settings { routes: Plans::new([plan], hour), ..Settings::default() }
}

fn waits_on(ask: &v1::Ask) -> Vec<String> {
    match ask.waiting_on.as_ref().and_then(|on| on.who.as_ref()) {
        Some(v1::waiting_on::Who::People(people)) => people.people.clone(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn people_come_and_go_once_for_each_request_and_the_owner_stays() {
    let daemon = Daemon::start().await;
    let local = daemon.local();
    let request = v1::AddPersonRequest { request_id: "one".into(), ..add("ann") };
    let first = local.add_person(request.clone()).await.unwrap().receipt.unwrap();
    let again = local.add_person(request.clone()).await.unwrap().receipt.unwrap();
    assert_eq!((first.replayed, again.replayed), (false, true));
    let other = v1::AddPersonRequest { name: "bob".into(), ..request };
    assert_eq!(reason(local.add_person(other).await), "REQUEST_ID_REUSED");
    assert_eq!(names(&local).await, ["ann", "owner"]);
    // The owner may, too; and nobody else.
    daemon.owner().add_person(add("bob")).await.unwrap();
    let (ann, _) = daemon.token("", Named::Person("ann".into()), None).await;
    let ann = Client::new(daemon.tcp(), Some(ann));
    assert_eq!(reason(ann.add_person(add("eve")).await), "WRONG_PRINCIPAL");
    assert_eq!(reason(ann.list_people("").await), "WRONG_PRINCIPAL");
    assert_eq!(reason(local.remove_person(rm("owner")).await), "INVALID_ARGUMENT");
    assert_eq!(reason(local.remove_person(rm("eve")).await), "NOT_FOUND");
    local.remove_person(rm("ann")).await.unwrap();
    assert_eq!(reason(ann.status().await), "CREDENTIAL_REVOKED");
    assert_eq!(names(&local).await, ["bob", "owner"]);
    let person = Some(Named::Person("ann".into()));
    let token = v1::CreateTokenRequest { principal: person, ..Default::default() };
    assert_eq!(reason(local.create_token(token).await), "NOT_FOUND");
    daemon.stop().await;
}

#[tokio::test]
async fn what_waits_on_a_removed_person_alone_moves_on_and_at_the_end_to_the_owner() {
    let settings = routes(&[&["ann", "bob"], &["ann"]]);
    let daemon = Daemon::with(Arc::new(Mem::default()), settings).await;
    let (local, lead) = (daemon.local(), daemon.root(daemon.tcp()).await);
    local.add_person(add("ann")).await.unwrap();
    local.add_person(add("bob")).await.unwrap();
    let ask = lead.ask("which?").await;
    assert_eq!(waits_on(&ask), ["ann", "bob"]);
    let now = async || daemon.owner().get_ask(&ask.id).await.unwrap().ask.unwrap();
    local.remove_person(rm("ann")).await.unwrap();
    assert_eq!(waits_on(&now().await), ["bob"], "the other one is asked as before");
    local.remove_person(rm("bob")).await.unwrap();
    let moved = now().await;
    let hop = moved.hop.clone().unwrap();
    assert_eq!((hop.index, waits_on(&moved)), (1, vec!["owner".to_owned()]));
    assert_eq!(hop.cause(), v1::HopCause::SenderGone);
    assert_eq!(hop.reason, "bob is not asked here any more");
    let inbox = daemon.owner().list_asks(v1::AskScope::WaitingOnMe).await.unwrap();
    assert_eq!(inbox.len(), 1);
    // What is filed from now on does not even try.
    let later = lead.ask("and now?").await;
    assert_eq!(waits_on(&later), ["owner"]);
    local.add_person(add("ann")).await.unwrap();
    assert_eq!(waits_on(&lead.ask("with ann again?").await), ["ann"]);
    daemon.stop().await;
}

#[tokio::test]
async fn a_removed_person_stays_removed_when_the_folders_token_is_installed_again() {
    let daemon = Daemon::start().await;
    let secret = Secret::new(Kind::Person, [7; 32]);
    let ann = || Principal::Person("ann".parse().unwrap());
    let service = &daemon.bench.service;
    assert!(service.install(ann(), &secret).await.unwrap());
    let client = Client::new(daemon.tcp(), Some(secret.clone()));
    assert_eq!(client.status().await.unwrap().caller, "person ann");
    daemon.local().remove_person(rm("ann")).await.unwrap();
    assert!(!service.is_welcome(&"ann".parse().unwrap()).await.unwrap());
    assert!(!service.install(ann(), &secret).await.unwrap(), "that token is void for good");
    let other = Secret::new(Kind::Person, [8; 32]);
    assert!(!service.install(ann(), &other).await.unwrap(), "and no other is good either");
    assert_eq!(reason(client.status().await), "CREDENTIAL_REVOKED");
    daemon.stop().await;
}
