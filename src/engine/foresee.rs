//! What requests will surely look at, so that it is loaded at once and not one look after another. A
//! guess and no rule: what is not foreseen is found missing, and what is foreseen in vain was loaded in vain.

use super::request::{Deed, File, Request};
use super::world::World;
use crate::ask::{Ask, Asked, Target, WorkId};
use crate::session::Principal;
use crate::store::{Key, Record, Scope};

/// Notes in `world` what `request` will look at, by what is loaded already.
pub(super) fn foresee(world: &mut World, request: &Request) {
    if let Some(secret) = request.credential
        && let Some(Record::Token(token)) = world.want(Key::Token(secret))
        && let Principal::Session(session) = &token.principal
    {
        world.want(Key::Session(session.session));
    }
    if let Some(intent) = &request.intent {
        world.want(Key::Receipt(intent.key.clone()));
    }
    match &request.deed {
        Deed::File(file) => foresee_filing(world, file),
        Deed::OnAsk(ask, _) | Deed::Gone(ask, _) | Deed::Tick(ask) => {
            if let Some(Record::Ask(ask)) = world.want(Key::Ask(*ask)) {
                foresee_asked(world, request, &ask);
            }
        }
        Deed::OnSession(session, _) | Deed::AcceptWork(session, _) => {
            world.want(Key::Session(*session));
        }
        _ => {}
    }
}

fn foresee_filing(world: &mut World, file: &File) {
    let Some(Record::Session(asker)) = world.want(Key::Session(file.asker.session)) else { return };
    world.want(Key::Roster(asker.namespace.clone()));
    world.want_count(Scope::Open(asker.namespace.clone()));
    let Ok(work) = asker.work(file.work) else { return };
    if let Some(Record::Twin(twin)) = world.want(Key::Twin((work, file.asked().digest))) {
        world.want(Key::Ask(twin.ask));
    }
    let Some(Record::Work(work)) = world.want(Key::Work(work)) else { return };
    foresee_no(world, work.tree, file.asked());
    world.want_count(Scope::Tree(work.tree));
    for sender in &work.chain {
        world.want(Key::Session(sender.session));
        world.want_count(Scope::WaitingOnSession(sender.session));
    }
}

/// A no to what is asked, by either of its names.
pub(super) fn foresee_no(world: &mut World, tree: WorkId, asked: Asked) {
    world.want(Key::StandingNo((tree, asked.gist)));
    world.want(Key::StandingNo((tree, asked.digest)));
}

fn foresee_asked(world: &mut World, request: &Request, ask: &Ask) {
    if request.asked.is_some() {
        foresee_no(world, ask.tree, request.asked_by(ask));
    }
    world.want(Key::Session(ask.asker.session));
    if let Some(Target::Session(asked)) = ask.waiting_on() {
        world.want(Key::Session(asked.session));
    }
}
