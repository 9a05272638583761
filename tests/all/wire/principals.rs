//! Every call of the descriptor set, by everybody: `docs/authorization.md` is what this test finds.
//! A call without a request here fails. `ASKWAY_WRITE=1 cargo test --test all principals` writes it
//! anew.

use super::*;
use crate::rows::{self, Row};
use askway::ask::Span;
use askway::service::{About, Call, Who};
use std::fmt::Write;
use tonic::transport::{Channel, Endpoint};
use tonic_types::StatusExt;
use v1::create_token_request::Principal as Named;

/// Who calls, a column each.
const CALLERS: [&str; 19] = [
    "nobody",
    "mistyped",
    "unknown",
    "expired",
    "revoked",
    "ticket",
    "hold",
    "ended",
    "paused",
    "asker",
    "asked",
    "stranger",
    "its host",
    "a host",
    "local",
    "owner",
    "ann",
    "their owner",
    "their session",
];
/// Of these nothing is ever served.
const NOBODY: [&str; 8] =
    ["nobody", "mistyped", "unknown", "expired", "revoked", "ticket", "hold", "ended"];

/// A daemon in which `worker` has asked `lead`, and everybody there is.
struct Scene {
    daemon: Daemon,
    tcp: Channel,
    socket: Channel,
    lead: Agent,
    ask: v1::Ask,
    ticket: String,
    spare: String,
    person_token: String,
    held: String,
    tokens: std::collections::HashMap<&'static str, String>,
}

pub(super) async fn socket(daemon: &Daemon) -> Channel {
    let path = daemon.folder.path().join("socket");
    let to_socket = tower::service_fn(move |_: tonic::transport::Uri| {
        let path = path.clone();
        async { tokio::net::UnixStream::connect(path).await.map(hyper_util::rt::TokioIo::new) }
    });
    let endpoint = Endpoint::from_static("http://localhost");
    endpoint.connect_with_connector(to_socket).await.unwrap()
}

async fn ticket_of(client: &Client) -> String {
    client.send_work(v1::SendWorkRequest::default()).await.unwrap().ticket
}

impl Scene {
    async fn new() -> Self {
        let daemon = Daemon::start().await;
        let (lead, worker) = daemon.pair(daemon.tcp()).await;
        let ask = worker.ask("which?").await;
        let (paused, ended) = (daemon.root(daemon.tcp()).await, daemon.root(daemon.tcp()).await);
        let stranger = daemon.root(daemon.unix()).await;
        let (ticket, spare) = (ticket_of(&lead.client).await, ticket_of(&stranger.client).await);
        paused.client.pause_session(v1::PauseSessionRequest::default()).await.unwrap();
        ended.client.end_session(v1::EndSessionRequest::default()).await.unwrap();
        let ann = v1::AddPersonRequest { name: "ann".into(), ..Default::default() };
        daemon.local().add_person(ann).await.unwrap();
        let second = Some(prost_types::Duration { seconds: 1, nanos: 0 });
        let person = |name: &str| Named::Person(name.into());
        let expired = daemon.token("", person("ann"), second).await.0;
        daemon.bench.advance(Span::from_secs(1));
        let revoked = daemon.token("", person("ann"), None).await;
        let revoke = v1::RevokeTokenRequest { token_id: revoked.1.id, ..Default::default() };
        daemon.local().revoke_token(revoke).await.unwrap();
        let (ann, ann_token) = daemon.token("", person("ann"), None).await;
        let host = daemon.token("", Named::Host("other".into()), None).await.0;
        let their_owner = daemon.token("acme", person("owner"), None).await.0;
        let their_host = daemon.token("acme", Named::Host("ci".into()), None).await.0;
        let their_host = Client::new(daemon.tcp(), Some(their_host));
        let theirs = enroll(&their_host, daemon.tcp(), "lead", String::new()).await;
        let text = |secret: &Secret| secret.expose().to_owned();
        let mut mistyped = text(&daemon.owner);
        mistyped.replace_range(10..12, if &mistyped[10..12] == "00" { "11" } else { "00" });
        let tokens = [
            ("mistyped", mistyped),
            ("unknown", text(&Secret::new(Kind::Person, [9; 32]))),
            ("expired", text(&expired)),
            ("revoked", text(&revoked.0)),
            ("ticket", ticket.clone()),
            ("hold", text(&lead.hold)),
            ("ended", text(&ended.token)),
            ("paused", text(&paused.token)),
            ("asker", text(&worker.token)),
            ("asked", text(&lead.token)),
            ("stranger", text(&stranger.token)),
            ("its host", text(&daemon.host)),
            ("a host", text(&host)),
            ("owner", text(&daemon.owner)),
            ("ann", text(&ann)),
            ("their owner", text(&their_owner)),
            ("their session", text(&theirs.token)),
        ];
        let tcp = Endpoint::from_shared(daemon.tcp().to_string()).unwrap().connect().await.unwrap();
        let (socket, held) = (socket(&daemon).await, text(&worker.hold));
        let (tokens, person_token) = (tokens.into(), ann_token.id);
        Self { daemon, tcp, socket, lead, ask, ticket, spare, person_token, held, tokens }
    }

    /// A request that is as it must be, about the ask, the session `lead`, or what is in `default`.
    fn request(&self, call: &str) -> Vec<u8> {
        let (ask, session_id) = (self.ask.clone(), self.lead.session.id.clone());
        let (hold_secret, token_id) = (self.held.clone(), self.person_token.clone());
        // What is redeemed by nobody's token is the asked one's, what by a session's a stranger's.
        let by_ticket = call == "Enroll by ticket";
        let ticket = if by_ticket { self.ticket.clone() } else { self.spare.clone() };
        let about = rows::About { ask, session_id, hold_secret, ticket, token_id };
        rows::request(call, &about, &uuid())
    }

    /// What comes of a call: `done`, or the reason of its status or its receipt.
    async fn call(&self, path: &str, call: &str, streams: bool, caller: &str) -> String {
        let token = self.tokens.get(caller).map(String::as_str);
        let channel = if caller == "local" { &self.socket } else { &self.tcp };
        let answered = rows::open(channel, path, token, self.request(call)).await;
        let first = match answered {
            // That it begins is all there is to see: the first message may be long in coming.
            Ok(_) if streams => return "done".to_owned(),
            Ok(mut response) => response.message().await,
            Err(status) => Err(status),
        };
        match first {
            Ok(bytes) => {
                let receipt = rows::receipt(&bytes.unwrap_or_default()).unwrap_or_default();
                let is_refused = receipt.result == v1::Result::Refused as i32;
                if is_refused { receipt.reason } else { "done".to_owned() }
            }
            Err(status) => {
                let details = status.get_error_details();
                details.error_info().expect("every fault has one").reason.clone()
            }
        }
    }
}

fn uuid() -> String {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(1);
    format!("principals {}", NEXT.fetch_add(1, Ordering::Relaxed))
}

/// The table of the one function that decides it.
fn by_kind() -> String {
    let mut table = HEAD.to_owned();
    let names = Who::ALL.map(|who| format!("{who:?}").to_lowercase());
    let _ = writeln!(table, "| call | about | {} |", names.join(" | "));
    let _ = writeln!(table, "|---|---|{}", "---|".repeat(names.len()));
    for call in Call::ALL {
        let may = |who: &Who| if call.callers().contains(who) { "yes" } else { "" };
        let about = match call.about() {
            About::Itself => "its own",
            About::Ask => "an ask it may know of",
            About::Session => "a session near it",
            About::Namespace => "a namespace",
            About::All => "all that is kept",
        };
        let row = Who::ALL.each_ref().map(may);
        let _ = writeln!(table, "| {call:?} | {about} | {} |", row.join(" | "));
    }
    table
}

#[tokio::test]
async fn every_call_by_every_principal_is_as_the_page_says() {
    let mut table = by_kind();
    table.push_str(TRIED);
    let _ = writeln!(table, "| call | {} |", CALLERS.join(" | "));
    let _ = writeln!(table, "|---|{}", "---|".repeat(CALLERS.len()));
    let mut scene = Scene::new().await;
    let calls = rows::calls();
    assert_eq!(calls.len(), Call::ALL.len(), "each call of the wire is one that is authorized");
    for Row { path, name: call, streams } in calls {
        let is_known = |known: &&Call| format!("{known:?}") == call;
        let known = Call::ALL.iter().find(is_known).expect("it is authorized");
        let mut row = Vec::new();
        for caller in CALLERS {
            let came = scene.call(&path, &call, streams, caller).await;
            if came == "done" {
                assert!(!NOBODY.contains(&caller), "{call} by {caller}");
                scene.daemon.stop().await;
                scene = Scene::new().await;
            }
            let kinds = known.callers();
            let served = came != "WRONG_PRINCIPAL" && !NOBODY.contains(&caller);
            let may = match caller {
                "paused" | "asker" | "asked" | "stranger" | "their session" => {
                    kinds.contains(&Who::Session)
                }
                "its host" | "a host" => kinds.contains(&Who::Host),
                "local" => kinds.contains(&Who::Host) || kinds.contains(&Who::Operator),
                "owner" | "their owner" => {
                    kinds.contains(&Who::Person) || kinds.contains(&Who::Owner)
                }
                "ann" => kinds.contains(&Who::Person),
                _ => false,
            };
            assert_eq!(served, may, "{call} by {caller}: {came}");
            row.push(came);
        }
        let _ = writeln!(table, "| {call} | {} |", row.join(" | "));
    }
    let path = "/askway.v1.SessionService/Enroll";
    assert_eq!(scene.call(path, "Enroll by ticket", false, "nobody").await, "done");
    scene.daemon.stop().await;
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/authorization.md");
    if std::env::var_os("ASKWAY_WRITE").is_some() {
        std::fs::write(path, &table).unwrap();
    }
    let written = std::fs::read_to_string(path).unwrap_or_default();
    let differ = table.lines().zip(written.lines()).find(|(found, written)| found != written);
    assert_eq!(differ, None, "docs/authorization.md is not what happens; look, and ASKWAY_WRITE=1");
    assert_eq!(table.lines().count(), written.lines().count());
}

const HEAD: &str = "# Who may do what

Found by a test, which fails when this page says something else (`tests/all/wire/principals.rs`). The
first table is what `service/authorize.rs` says of each kind of caller: it decides there and nowhere
else. Whose turn it is on an ask, [matrix.md](matrix.md) has.

A *session*, *person* or *host* calls by a token of its own. The *owner* is the person `owner` of a
namespace; the *operator* is the daemon's own user: the host `local`, on the socket without a token, or
by the host's token in the data folder. A *ticket* is no caller's token: it stands in the request and
speaks for that alone. Each is of one namespace, and only the operator may name another.

What is not near a caller is answered as what does not exist: an ask that a session neither filed nor
was asked nor sent the work of, a session that a host did not enroll, anything of another namespace.

";

const TRIED: &str = "
## Tried

Each call with a sound request, over the wire, by everybody: about an ask that *asker* filed, which
waits on *asked*, who sent it the work; about the session *asked*; about people and tokens of the
caller's own namespace. *Its host* enrolled both; *local* is the daemon's user on the socket; *their
owner* and *their session* are of another namespace. *Nobody* has no token, the seven after that a bad
one. *done*: it was served. Anything else is the reason of the status, or of the receipt.

";
