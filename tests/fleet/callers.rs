//! The replicas, and those who call them: each call goes to any of them, again under its request id until it is
//! known what came of it.

use super::store::{Clocks, Way};
use super::world::{World, millis};
use askway::ask::{
    AgentName, Answer, Answers, Carried, Content, Draft, PersonName, Plans, Policy, Priority,
    Question, QuestionOption, RequestId, Span,
};
use askway::error::Error;
use askway::service::{ASKS_A_MINUTE_MAX, Caller, Credential, Rates, Service, Settings, WriterOn};
use askway::session::{Manner, Principal, WorkManner};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::timeout;

/// How long a hop has.
pub const ROUTE_TIMEOUT: Span = Span::from_secs(60);
/// Nobody waits longer for one try of a call.
const TRIED_FOR: Duration = Duration::from_secs(30);
/// The options of every question.
pub const LABELS: [&str; 3] = ["one", "two", "three"];

/// All replicas.
pub struct Fleet {
    pub world: Arc<World>,
    slots: Mutex<Vec<Slot>>,
    requests: Mutex<u64>,
}

#[derive(Clone)]
struct Slot {
    service: Service,
    way: Arc<Way>,
}

async fn replica(world: &Arc<World>, number: usize) -> Slot {
    for time in 0.. {
        let way = Way::new(world, format!("replica {number} {} {time}", world.passed()));
        let plans = Plans::built_in(ROUTE_TIMEOUT);
        // Who asks how fast is not what this is about, nor how much may be open in all.
        let rates = Rates { asks_a_minute: ASKS_A_MINUTE_MAX, ..Rates::default() };
        let policy = Policy { open_in_namespace: usize::MAX, ..Policy::default() };
        let writer = WriterOn::Runtime;
        let settings = Settings { routes: plans, rates, policy, writer, ..Settings::default() };
        let clocks = Arc::new(Clocks { world: world.clone(), hours: number as u64 });
        match Service::start_with(way.clone(), settings, clocks).await {
            Ok(service) => return Slot { service, way },
            Err(_) => way.dies(),
        }
        millis(100).await;
    }
    unreachable!("it is tried for ever")
}

impl Fleet {
    pub async fn start(world: &Arc<World>, count: usize) -> Arc<Self> {
        let mut slots = Vec::new();
        for number in 0..count {
            slots.push(replica(world, number).await);
        }
        let (slots, requests) = (Mutex::new(slots), Mutex::new(0));
        Arc::new(Self { world: world.clone(), slots, requests })
    }

    fn slot(&self, number: usize) -> Slot {
        self.slots.lock().unwrap()[number].clone()
    }

    /// Any of them.
    pub fn any(&self) -> Service {
        let count = self.slots.lock().unwrap().len() as u64;
        self.slot(self.world.roll(count) as usize).service
    }

    /// Something is done to one of them, again and again, until all is calm.
    pub async fn suffers(self: Arc<Self>) {
        loop {
            millis(2_000 + self.world.roll(8_000)).await;
            if self.world.state().calm {
                return;
            }
            let count = self.slots.lock().unwrap().len();
            let number = self.world.roll(count as u64) as usize;
            let slot = self.slot(number);
            match self.world.roll(3) {
                0 => {
                    self.world.state().count("partings");
                    slot.way.part();
                    millis(500 + self.world.roll(15_000)).await;
                    slot.way.heal();
                }
                1 => {
                    self.world.state().count("kills");
                    slot.way.dies();
                    slot.service.shutdown();
                    self.replace(number).await;
                }
                _ => {
                    self.world.state().count("restarts");
                    slot.service.shutdown();
                    // Its own limit ends it before.
                    let _ = timeout(TRIED_FOR, slot.service.stopped()).await;
                    self.replace(number).await;
                }
            }
        }
    }

    async fn replace(&self, number: usize) {
        let next = replica(&self.world, number).await;
        self.slots.lock().unwrap()[number] = next;
    }

    pub fn stop(&self) {
        self.slots.lock().unwrap().iter().for_each(|slot| slot.service.shutdown());
    }

    /// A request id nobody has used.
    pub fn fresh(&self) -> RequestId {
        let mut requests = self.requests.lock().unwrap();
        *requests += 1;
        format!("request {requests}").parse().expect("a request id")
    }

    /// What came of a call, however often it had to be made, at whichever replica. An error that does not pass
    /// is a broken promise.
    pub async fn done<T>(&self, what: &str, call: impl AsyncFn(Service) -> Result<T, Error>) -> T {
        for time in 0.. {
            match timeout(TRIED_FOR, call(self.any())).await {
                Ok(Ok(done)) => {
                    if time > 0 {
                        self.world.state().count("tried_again");
                    }
                    return done;
                }
                Ok(Err(Error::Unavailable(..) | Error::Busy(_))) | Err(_) => {}
                Ok(Err(error)) => panic!("{what}: {error:?}"),
            }
            millis(50 + self.world.roll(1_000)).await;
        }
        unreachable!("it is tried for ever")
    }
}

fn caller(principal: Principal) -> Caller {
    Caller { principal, namespace: Default::default(), token: None, in_agent: false }
}

pub fn owner() -> Caller {
    caller(Principal::Person(PersonName::owner()))
}

/// A session: one that a host begins, or one that `sender` sends work to.
pub async fn session(fleet: &Fleet, sender: Option<&Caller>) -> Caller {
    let request = fleet.fresh();
    let ticket = match sender {
        Some(sender) => {
            let manner = WorkManner::default();
            let sent = fleet.done("a ticket", async |service| {
                service.send_work(sender, request.clone(), None, manner).await
            });
            sent.await.ticket
        }
        None => None,
    };
    let (name, host): (AgentName, _) = ("agent".parse().unwrap(), caller(Principal::Host(local())));
    let (request, by) = (fleet.fresh(), sender.is_none().then_some(&host));
    // A ticket that was spent is good for what it was spent on.
    let enrolled = fleet.done("a session", async |service| {
        let (request, name, ticket) = (request.clone(), name.clone(), ticket.clone());
        service.enroll(by, request, name, Manner::default(), ticket).await
    });
    let (token, _) = enrolled.await.secrets.expect("they were not used");
    fleet
        .done("a token", async |service| {
            let token = Some(token.expose().to_owned());
            let credential = Credential { token, local_user: false, in_agent: false };
            service.authenticate(&credential).await
        })
        .await
}

fn local() -> askway::ask::HostName {
    askway::service::LOCAL_HOST.parse().unwrap()
}

pub fn draft(number: usize) -> Draft {
    let option = |label: &str| QuestionOption {
        label: label.to_owned(),
        description: String::new(),
        recommended: false,
    };
    let question = Question {
        id: "q1".to_owned(),
        header: String::new(),
        question: format!("which of these, {number}?"),
        options: LABELS.map(option).into(),
        multiple: false,
    };
    Draft {
        content: Content { questions: vec![question], context: String::new() }.into(),
        priority: Priority::Normal,
        expire: None,
        defaults: Answers::new(),
        carried: Carried::default(),
        route: None,
        again: false,
        assurance: None,
    }
}

pub fn answers(label: usize) -> Answers {
    let selected = vec![LABELS[label].to_owned()];
    [("q1".to_owned(), Answer { selected, text: None, default: false })].into()
}
