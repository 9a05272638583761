//! Lists of asks, said the plain way.

use super::sample::{name, reference, work};
use super::world::{HOSTS, NAMESPACES, PEOPLE, SESSIONS};
use crate::ask::{Ask, Namespace, Target};
use crate::store::Scope;

/// Every scope there is in the world.
pub(super) fn scopes() -> Vec<Scope> {
    let mut scopes = Vec::new();
    for number in 1..=SESSIONS {
        let session = reference(number);
        scopes.push(Scope::WaitingOnSession(session.session));
        scopes.push(Scope::InboxOf(session.session));
        scopes.push(Scope::Tree(work(number).id));
        scopes.push(Scope::AskedBy(session.session));
        scopes.push(Scope::VisibleTo(session));
    }
    for namespace in NAMESPACES.map(name::<Namespace>) {
        scopes.push(Scope::Open(namespace.clone()));
        scopes.push(Scope::OnPeople(namespace.clone()));
        scopes.push(Scope::Untold(namespace.clone()));
        scopes.extend(HOSTS.map(|host| Scope::OfHost(namespace.clone(), name(host))));
        let person = |text| Scope::WaitingOnPerson(namespace.clone(), name(text));
        scopes.extend(PEOPLE.map(person));
    }
    scopes
}

/// Whether a scope lists an ask, said the plain way.
pub(super) fn lists(scope: &Scope, ask: &Ask) -> bool {
    let on_people = matches!(ask.waiting_on(), Some(Target::People { .. }));
    match scope {
        Scope::WaitingOnSession(session) => match ask.waiting_on() {
            Some(Target::Session(waiting)) => waiting.session == *session,
            Some(Target::People { .. }) | None => false,
        },
        Scope::InboxOf(session) => {
            let to_tell = ask.orphan_of().is_some_and(|sender| sender.session == *session);
            to_tell || lists(&Scope::WaitingOnSession(*session), ask)
        }
        Scope::WaitingOnPerson(namespace, person) => {
            ask.namespace == *namespace && ask.waits_on_person(person)
        }
        Scope::AskedBy(session) => {
            ask.asker.session == *session && (ask.is_open() || ask.is_unread())
        }
        Scope::OfHost(namespace, host) => {
            let of_host = ask.namespace == *namespace && ask.host == *host;
            of_host && (ask.is_open() || ask.is_unread())
        }
        Scope::Tree(tree) => ask.is_open() && ask.tree == *tree,
        Scope::VisibleTo(session) => ask.is_open() && ask.is_visible_to(session),
        Scope::Open(namespace) => ask.is_open() && ask.namespace == *namespace,
        Scope::Untold(namespace) => {
            let failed = ask.notice_failure.is_some() && ask.is_open();
            failed && ask.namespace == *namespace
        }
        Scope::OnPeople(namespace) => on_people && ask.namespace == *namespace,
    }
}
