//! One start of the daemon: its own gRPC layer, service, engine and file store, on the machine's disk and
//! clocks.

use super::kept::Kept;
use super::network::Listening;
use super::world::{World, token};
use askway::ask::{PersonName, Plan, PlanHop, PlanTo, Plans, Policy, Span, Terms};
use askway::engine::clock::Clock;
use askway::grpc::{Listeners, Manner, serve_over};
use askway::service::{LOCAL_HOST, Service, Settings, WriterOn};
use askway::session::{Kind, Principal};
use askway::store::{Key, Record, Store};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// How long a hop is asked.
pub const ROUTE_TIMEOUT: Span = Span::from_secs(120);
/// How long a person must have been shown an ask before its default applies.
pub const PERSON_WINDOW: Span = Span::from_secs(30);
/// The people.
pub const PEOPLE: [&str; 2] = ["owner", "ann"];

/// Starts, and serves until the machine is no more.
pub async fn run(world: Arc<World>) -> turmoil::Result {
    let kept = Kept::open(world.clone()).await;
    let begun = world.clocks.passed();
    let mark = match kept.load(&[Key::Clock]).await?.pop().flatten() {
        Some(Record::Clock(mark)) => Some(mark),
        _ => None,
    };
    // As the engine is about to read it.
    let service_time = Clock::resume(world.clocks.clone(), mark.as_ref()).now().time;
    world.book().starts.push((begun, service_time.as_millis()));
    world.book().up(begun);
    let service = Service::start_with(kept, settings(), world.clocks.clone()).await?;
    let host = (Principal::Host(LOCAL_HOST.parse()?), token(Kind::Host, 100));
    let people = PEOPLE.iter().zip(0..).map(|(name, number)| {
        let name: PersonName = name.parse().expect("a name");
        (Principal::Person(name), token(Kind::Person, number))
    });
    for (principal, secret) in people.chain([host]) {
        service.install(principal, &secret).await?;
    }
    let tcp = Some(Listening::bind().await?);
    world.note("up");
    let listeners = Listeners { unix: None, tcp };
    serve_over(Manner::default(), service, listeners, CancellationToken::new()).await?;
    Ok(())
}

fn settings() -> Settings {
    let person = |name: &str| PlanTo::Person(name.parse().expect("a name"));
    let hop = |to| PlanHop { to, timeout: Some(ROUTE_TIMEOUT) };
    let hops = vec![hop(PlanTo::Sender), hop(person("owner")), hop(person("ann"))];
    let round = Plan::new("round".parse().expect("a name"), hops, 3, ROUTE_TIMEOUT);
    let terms = Terms { person_window: PERSON_WINDOW, ..Terms::default() };
    Settings {
        routes: Plans::new([round.expect("a plan")], ROUTE_TIMEOUT),
        policy: Policy { terms, ..Policy::default() },
        writer: WriterOn::Runtime,
        ..Settings::default()
    }
}
