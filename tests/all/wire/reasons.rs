//! Every reason there is, as a client meets it: one test for each.

use super::*;
use crate::faults::Held;
use askway::ask::{AskId, PersonName, Policy, limits};
use askway::client::ClientError;
use askway::error::{Error, Reason};
use askway::grpc::{Limits, Manner};
use askway::service::{ASKS_A_MINUTE_MAX, Rates};
use askway::store::suite::World;
use askway::store::{Batch, Change, Committed, Key, Record};
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio_stream::StreamExt;
use tonic::transport::Endpoint;
use v1::admin_service_client::AdminServiceClient;
use v1::ask_service_client::AskServiceClient;

/// The test of each reason: what provokes it, and that it is what comes. The match is there so that
/// a new reason does not compile until it has one.
macro_rules! reasons {
    ($($reason:ident $provoked:ident,)*) => {
        mod comes_as {
            $(
                #[tokio::test]
                async fn $provoked() {
                    assert_eq!(super::$provoked().await, super::Reason::$reason.as_str());
                }
            )*
        }

        const _: fn(Reason) = |reason| match reason {
            $(Reason::$reason => {})*
        };
    };
}

reasons! {
    NotSender not_sender,
    NotAsker not_asker,
    LastHop last_hop,
    Stale stale,
    AssuranceTooLow assurance_too_low,
    Claimed claimed,
    NotClaimed not_claimed,
    TooManyTurns too_many_turns,
    StandingDecline standing_decline,
    Leased leased,
    TreeFull tree_full,
    NamespaceFull namespace_full,
    MayNotAsk may_not_ask,
    TooManyOpen too_many_open,
    TooManyWorks too_many_works,
    NoSuchWork no_such_work,
    TooDeep too_deep,
    WorkCycle work_cycle,
    BadTicket bad_ticket,
    TicketExpired ticket_expired,
    RosterFull roster_full,
    SessionPaused session_paused,
    SessionActive session_active,
    SessionEnded session_ended,
    InvalidArgument invalid_argument,
    AmbiguousId ambiguous_id,
    NotFound not_found,
    RevisionAhead revision_ahead,
    NoCredential no_credential,
    BadCredential bad_credential,
    CredentialRevoked credential_revoked,
    CredentialExpired credential_expired,
    WrongPrincipal wrong_principal,
    NotHolder not_holder,
    ForeignOrigin foreign_origin,
    TooSlow too_slow,
    RequestIdReused request_id_reused,
    RequestIdTooOld request_id_too_old,
    Busy busy,
    StoreUnavailable store_unavailable,
    Stopping stopping,
    Internal internal,
}

/// A daemon over loopback, in which `worker` has asked `lead`.
struct Scene {
    daemon: Daemon,
    owner: Client,
    lead: Agent,
    worker: Agent,
    ask: v1::Ask,
}

impl Scene {
    async fn new() -> Self {
        Self::over(Arc::new(Mem::default())).await
    }

    async fn over(store: Arc<dyn Store>) -> Self {
        Self::of(Daemon::over(store).await).await
    }

    async fn of(daemon: Daemon) -> Self {
        let (lead, worker) = daemon.pair(daemon.tcp()).await;
        let ask = worker.ask("which?").await;
        Self { owner: daemon.owner(), daemon, lead, worker, ask }
    }

    fn id(&self) -> String {
        self.ask.id.clone()
    }
}

/// The reason of a fault.
fn fault<T>(result: Result<T, ClientError>) -> String {
    result.err().expect("a fault").reason.expect("every fault has a reason")
}

/// The reason of a refusal to do something about sessions.
fn turned_down(receipt: Option<v1::SessionReceipt>) -> String {
    let receipt = receipt.expect("a receipt");
    assert_eq!(receipt.result(), v1::Result::Refused);
    receipt.reason
}

async fn ticket(from: &Client) -> String {
    from.send_work(v1::SendWorkRequest::default()).await.unwrap().ticket
}

async fn take(by: &Client, ticket: String) -> Option<v1::SessionReceipt> {
    let take = v1::AcceptWorkRequest { ticket, ..Default::default() };
    by.accept_work(take).await.unwrap().receipt
}

async fn not_sender() -> String {
    let scene = Scene::new().await;
    refused(scene.worker.client.answer_agent(answer_agent(&scene.ask)).await.unwrap())
}

async fn roster_full() -> String {
    let daemon = Daemon::start().await;
    let local = daemon.local();
    let add = |number: usize| v1::AddPersonRequest {
        name: format!("person-{number}"),
        ..Default::default()
    };
    // The owner is one of them.
    for number in 1..limits::PEOPLE {
        let added = local.add_person(add(number)).await.unwrap().receipt.unwrap();
        assert_eq!(added.result(), v1::Result::Accepted);
    }
    turned_down(local.add_person(add(0)).await.unwrap().receipt)
}

async fn credential_revoked() -> String {
    let daemon = Daemon::start().await;
    let (client, token) = daemon.token_for_owner(None).await;
    assert_eq!(client.status().await.unwrap().caller, "person owner");
    let revoke = v1::RevokeTokenRequest { token_id: token.id, ..Default::default() };
    daemon.local().revoke_token(revoke).await.unwrap();
    fault(client.status().await)
}

async fn credential_expired() -> String {
    let daemon = Daemon::start().await;
    let (client, _) = daemon.token_for_owner(Some(2)).await;
    assert_eq!(client.status().await.unwrap().caller, "person owner");
    daemon.bench.advance(askway::ask::Span::from_secs(2));
    fault(client.status().await)
}

async fn not_asker() -> String {
    let scene = Scene::new().await;
    let reply = v1::ReplyRequest { ask_id: scene.id(), text: "so?".into(), ..Default::default() };
    refused(scene.lead.client.reply(reply).await.unwrap())
}

async fn last_hop() -> String {
    let scene = Scene::new().await;
    let escalate = v1::EscalateRequest { ask_id: scene.id(), ..Default::default() };
    let moved = accepted(scene.lead.client.escalate(escalate.clone()).await.unwrap());
    let hop = moved.hop.unwrap().index;
    let again = v1::EscalateRequest { hop, ..escalate };
    refused(scene.owner.escalate(again).await.unwrap())
}

async fn stale() -> String {
    let scene = Scene::new().await;
    let old = v1::AnswerRequest { content_digest: "0".repeat(64), ..answer(&scene.ask) };
    refused(scene.owner.answer(old).await.unwrap())
}

async fn assurance_too_low() -> String {
    let scene = Scene::new().await;
    let assurance = v1::Assurance::Token.into();
    let demanding = v1::AskRequest { assurance, ..question("sure?") };
    let ask = accepted(scene.worker.client.ask(demanding).await.unwrap());
    refused(scene.owner.answer(answer(&ask)).await.unwrap())
}

async fn claimed() -> String {
    let scene = Scene::new().await;
    let secret = Secret::new(Kind::Person, [3; 32]);
    let ann: PersonName = "ann".parse().unwrap();
    scene.daemon.bench.service.install(Principal::Person(ann), &secret).await.unwrap();
    let ann = Client::new(scene.daemon.tcp(), Some(secret));
    let claim = v1::ClaimRequest { ask_id: scene.id(), ..Default::default() };
    accepted(ann.claim(claim.clone()).await.unwrap());
    refused(scene.owner.claim(claim).await.unwrap())
}

async fn not_claimed() -> String {
    let scene = Scene::new().await;
    let release = v1::ReleaseRequest { ask_id: scene.id(), ..Default::default() };
    refused(scene.owner.release(release).await.unwrap())
}

async fn too_many_turns() -> String {
    let scene = Scene::new().await;
    let say = || v1::SayRequest { ask_id: scene.id(), text: "hm".into(), ..Default::default() };
    for _ in 0..limits::TURNS {
        accepted(scene.lead.client.say(say()).await.unwrap());
    }
    refused(scene.lead.client.say(say()).await.unwrap())
}

/// The same question of another worker's, which a person has declined meanwhile.
async fn standing_decline() -> String {
    let scene = Scene::new().await;
    let twin = scene.lead.send_work(scene.daemon.tcp()).await;
    let asked = twin.ask("which?").await;
    let (ask_id, content_digest) = (asked.id, asked.content_digest);
    let decline = v1::DeclineRequest { ask_id, content_digest, ..Default::default() };
    accepted(scene.owner.decline(decline).await.unwrap());
    let said = scene.lead.client.answer_agent(answer_agent(&scene.ask)).await.unwrap();
    assert!(said.message.contains("owner has declined this"), "{}", said.message);
    refused(said)
}

async fn leased() -> String {
    let scene = Scene::new().await;
    accepted(scene.owner.answer(answer(&scene.ask)).await.unwrap());
    let take = v1::TakeDeliveriesRequest { holder: "one".into(), ..Default::default() };
    let taken = scene.worker.client.take_deliveries(take).await.unwrap();
    let delivery_id = taken.deliveries[0].id.clone();
    let late = v1::AcknowledgeDeliveryRequest { delivery_id, ..Default::default() };
    let said = scene.worker.client.acknowledge_delivery(late).await.unwrap();
    assert!(said.message.contains("`one` has this in hand"), "{}", said.message);
    refused(said)
}

async fn full(policy: Policy) -> String {
    let settings = Settings { policy, ..Settings::default() };
    let scene = Scene::of(Daemon::with(Arc::new(Mem::default()), settings).await).await;
    let said = scene.worker.client.ask(question("and this?")).await.unwrap();
    assert_eq!(said.open_ask_ids, [scene.id()]);
    refused(said)
}

async fn tree_full() -> String {
    full(Policy { open_in_tree: 1, ..Policy::default() }).await
}

async fn namespace_full() -> String {
    full(Policy { open_in_namespace: 1, ..Policy::default() }).await
}

async fn may_not_ask() -> String {
    let scene = Scene::new().await;
    let send = v1::SendWorkRequest { no_asks: true, ..Default::default() };
    let ticket = scene.lead.client.send_work(send).await.unwrap().ticket;
    take(&scene.worker.client, ticket).await;
    refused(scene.worker.client.ask(question("which one?")).await.unwrap())
}

async fn request_id_too_old() -> String {
    let scene = Scene::new().await;
    scene.daemon.bench.advance(limits::KEEP_MIN + limits::PERSON_WINDOW);
    fault(scene.owner.answer(answer(&scene.ask)).await)
}

async fn too_many_open() -> String {
    let scene = Scene::new().await;
    for n in 1..limits::OPEN_ASKS {
        scene.worker.ask(&format!("and {n}?")).await;
    }
    refused(scene.worker.client.ask(question("and this?")).await.unwrap())
}

async fn too_many_works() -> String {
    let scene = Scene::new().await;
    // It holds the work that it was enrolled with.
    for _ in 1..limits::WORKS {
        let taken = take(&scene.worker.client, ticket(&scene.lead.client).await).await.unwrap();
        assert_eq!(taken.result(), v1::Result::Accepted);
    }
    turned_down(take(&scene.worker.client, ticket(&scene.lead.client).await).await)
}

async fn no_such_work() -> String {
    let scene = Scene::new().await;
    let work_id = "wrk_00000000000000000000".to_owned();
    let ask = v1::AskRequest { work_id, ..question("which?") };
    refused(scene.worker.client.ask(ask).await.unwrap())
}

async fn too_deep() -> String {
    let daemon = Daemon::start().await;
    let mut deepest = daemon.root(daemon.tcp()).await;
    for _ in 0..limits::DEPTH {
        deepest = deepest.send_work(daemon.tcp()).await;
    }
    let sent = deepest.client.send_work(v1::SendWorkRequest::default()).await.unwrap();
    turned_down(sent.receipt)
}

async fn work_cycle() -> String {
    let scene = Scene::new().await;
    turned_down(take(&scene.lead.client, ticket(&scene.worker.client).await).await)
}

async fn bad_ticket() -> String {
    let scene = Scene::new().await;
    let ticket = ticket(&scene.lead.client).await;
    take(&scene.worker.client, ticket.clone()).await;
    turned_down(take(&scene.worker.client, ticket).await)
}

async fn ticket_expired() -> String {
    let scene = Scene::new().await;
    let ticket = ticket(&scene.lead.client).await;
    scene.daemon.bench.advance(limits::TICKET_LIFE);
    turned_down(take(&scene.worker.client, ticket).await)
}

async fn session_paused() -> String {
    let scene = Scene::new().await;
    scene.worker.client.pause_session(v1::PauseSessionRequest::default()).await.unwrap();
    refused(scene.worker.client.ask(question("which?")).await.unwrap())
}

async fn session_active() -> String {
    let scene = Scene::new().await;
    let session_id = scene.worker.session.id.clone();
    let resume = v1::ResumeSessionRequest { session_id, ..Default::default() };
    turned_down(scene.lead.client.resume_session(resume).await.unwrap().receipt)
}

async fn session_ended() -> String {
    let scene = Scene::new().await;
    scene.worker.client.end_session(v1::EndSessionRequest::default()).await.unwrap();
    fault(scene.worker.client.status().await)
}

async fn invalid_argument() -> String {
    let scene = Scene::new().await;
    fault(scene.owner.answer(v1::AnswerRequest { answers: [].into(), ..answer(&scene.ask) }).await)
}

/// Ids are made of chance, so two that begin alike are put there.
async fn ambiguous_id() -> String {
    let (store, mut world) = (Mem::default(), World::new(1));
    let ids = [1, 2, 3, 4].map(|millis| {
        let time = askway::ask::Timestamp::from_millis(1_800_000_000_000 + millis);
        AskId::new(time, [7; 6])
    });
    let changes: Vec<Change> = ids.iter().map(|id| world.file_as(*id)).collect();
    let done = store.commit(Batch { changes, mark: None }).await.unwrap();
    assert!(done.iter().all(|done| *done == Committed::Done));
    let daemon = Daemon::over(Arc::new(store)).await;
    let prefix = &ids[0].to_string()[..AskId::PREFIX.len() + limits::PREFIX_CHARS];
    let error = daemon.owner().get_ask(prefix).await.unwrap_err();
    assert!(error.metadata["matches"].split(',').count() >= 2, "{error:?}");
    fault(Err::<(), _>(error))
}

async fn not_found() -> String {
    let daemon = Daemon::start().await;
    fault(daemon.owner().get_ask("ask_00000000000000000000").await)
}

/// A watch of the client's own begins anew instead, so this is asked without it.
async fn revision_ahead() -> String {
    let scene = Scene::new().await;
    let mut asks = AskServiceClient::new(stop::channel(&scene.daemon, 1 << 16).await);
    let after_revision = Some(scene.ask.revision + 1);
    let request = v1::WatchAskRequest { ask_id: scene.id(), after_revision, ..Default::default() };
    let request = stop::with_owner(&scene.daemon, request);
    fault(asks.watch_ask(request).await.map_err(ClientError::from))
}

async fn no_credential() -> String {
    let daemon = Daemon::start().await;
    fault(Client::new(daemon.tcp(), None).status().await)
}

async fn bad_credential() -> String {
    let daemon = Daemon::start().await;
    let unknown = Secret::new(Kind::Person, [9; 32]);
    fault(Client::new(daemon.tcp(), Some(unknown)).status().await)
}

async fn wrong_principal() -> String {
    let scene = Scene::new().await;
    fault(scene.owner.answer_agent(answer_agent(&scene.ask)).await)
}

async fn not_holder() -> String {
    let scene = Scene::new().await;
    fault(scene.worker.client.hold(scene.lead.hold.clone()).next().await.unwrap())
}

/// A page in a browser has its own name lead here.
async fn foreign_origin() -> String {
    let daemon = Daemon::start().await;
    let origin = "http://evil.example:80".parse().unwrap();
    let endpoint = Endpoint::from_shared(daemon.tcp().to_string()).unwrap().origin(origin);
    let mut admin = AdminServiceClient::new(endpoint.connect().await.unwrap());
    let request = stop::with_owner(&daemon, v1::GetStatusRequest {});
    fault(admin.get_status(request).await.map_err(ClientError::from))
}

/// The message never comes.
async fn too_slow() -> String {
    let message_within = Duration::from_millis(1);
    let limits = Limits { message_within, ..Limits::default() };
    let manner = Manner { limits, ..Manner::default() };
    let daemon = Daemon::serving(manner, Arc::new(Mem::default()), Settings::default()).await;
    let channel = Endpoint::from_shared(daemon.tcp().to_string()).unwrap().connect().await.unwrap();
    let mut call = tonic::client::Grpc::new(channel);
    call.ready().await.unwrap();
    let path = "/askway.v1.AdminService/GetStatus".parse().unwrap();
    let codec = tonic_prost::ProstCodec::<v1::GetStatusRequest, v1::GetStatusResponse>::default();
    let never = tonic::Request::new(tokio_stream::pending());
    fault(call.client_streaming(never, path, codec).await.map_err(ClientError::from))
}

async fn request_id_reused() -> String {
    let scene = Scene::new().await;
    let say = |text: &str| v1::SayRequest {
        request_id: "one".into(),
        ask_id: scene.id(),
        text: text.into(),
    };
    accepted(scene.lead.client.say(say("a")).await.unwrap());
    fault(scene.lead.client.say(say("b")).await)
}

/// The disk holds a commit up until the queue behind it is full.
async fn busy() -> String {
    let store = Held::new();
    // One tree fills it, and faster than a tree may.
    let rates = Rates { asks_a_minute: ASKS_A_MINUTE_MAX, ..Rates::default() };
    let settings = Settings { rates, ..Settings::default() };
    let scene = Scene::of(Daemon::with(store.clone(), settings).await).await;
    let closed = store.disk.write().await;
    let mut waiting = JoinSet::new();
    let asker = scene.daemon.bench.log_in(&scene.worker.token).await.unwrap();
    let refused = loop {
        let (service, asker) = (scene.daemon.bench.service.clone(), asker.clone());
        let (request, draft) = (crate::bench::fresh(), crate::bench::draft("which?"));
        waiting.spawn(async move { service.ask(&asker, request, None, draft).await });
        tokio::task::yield_now().await;
        if let Some(done) = waiting.try_join_next() {
            break done.unwrap();
        }
    };
    assert!(matches!(refused, Err(Error::Busy(_))), "{refused:?}");
    let hasty = scene.worker.client.clone().with_patience(Duration::ZERO);
    let said = fault(hasty.ask(question("which?")).await);
    drop(closed);
    said
}

async fn store_unavailable() -> String {
    let store = Held::new();
    let scene = Scene::over(store.clone()).await;
    store.fails.store(true, Ordering::SeqCst);
    let hasty = scene.owner.clone().with_patience(Duration::ZERO);
    fault(hasty.get_ask(&scene.ask.id).await)
}

async fn stopping() -> String {
    let scene = Scene::new().await;
    let mut stream = stop::watch(&scene.daemon, &scene.ask, 1 << 16).await;
    stream.message().await.unwrap();
    scene.daemon.shutdown.cancel();
    fault(Err::<(), _>(stop::ending(&mut stream).await.into()))
}

/// A session that lost its work is nothing the program makes.
async fn internal() -> String {
    let store = Arc::new(Mem::default());
    let daemon = Daemon::over(store.clone()).await;
    let lead = daemon.root(daemon.tcp()).await;
    let ticket = ticket(&lead.client).await;
    let request_id = "one".to_owned();
    let agent = "worker".into();
    let enroll = v1::EnrollRequest { request_id, agent, ticket, ..Default::default() };
    let anybody = Client::new(daemon.tcp(), None);
    let worker = anybody.enroll(enroll.clone()).await.unwrap().session.unwrap();
    let key = Key::Session(worker.id.parse().unwrap());
    let Some(Some(Record::Session(kept))) = store.load(&[key]).await.unwrap().pop() else {
        panic!("no session")
    };
    let mut torn = (*kept).clone();
    torn.works.clear();
    let writes = vec![Record::Session(Arc::new(torn))];
    let changes = vec![Change { writes, ..Default::default() }];
    store.commit(Batch { changes, mark: None }).await.unwrap();
    fault(anybody.enroll(enroll).await)
}
