//! A namespace beside a busy one is told what it is told beside none: the replies of every call, byte
//! by byte. Ids and secrets alone are made by chance, and are told apart by the order they come in.

use super::principals::socket;
use super::*;
use crate::rows::{self, About, Row};
use askway::ask::{AskId, SessionId, Span, TokenId};
use std::collections::HashMap;
use tonic::transport::{Channel, Endpoint};
use v1::create_token_request::Principal as Named;

/// How ids and secrets begin; an underscore follows.
const KINDS: [&str; 11] =
    ["ask", "ses", "wrk", "tok", "lse", "dlv", "askp", "askh", "asks", "askt", "askl"];
/// How long what follows is: ids, and secrets with their check.
const LENGTHS: [usize; 2] = [20, 72];

/// Replies with what is made by chance replaced, at the same length.
#[derive(Default)]
struct Masks(HashMap<Vec<u8>, usize>);

impl Masks {
    fn mask(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut masked = bytes.to_vec();
        let mut at = 0;
        while at < bytes.len() {
            let length = by_chance(&bytes[at..]);
            if length > 0 {
                let next = self.0.len();
                let number = *self.0.entry(bytes[at..at + length].to_vec()).or_insert(next);
                let name = format!("{number:#>length$}");
                masked[at..at + length].copy_from_slice(name.as_bytes());
            }
            at += length.max(1);
        }
        masked
    }
}

/// How many bytes of these are an id or a secret.
fn by_chance(bytes: &[u8]) -> usize {
    let of = |kind: &str| {
        let rest = bytes.strip_prefix(kind.as_bytes())?.strip_prefix(b"_")?;
        let is_part = |byte: &&u8| byte.is_ascii_digit() || byte.is_ascii_lowercase();
        let length = rest.iter().take_while(is_part).count();
        // A longer run than an id's is one with the tag of the next field behind it.
        let length = LENGTHS.iter().rev().find(|known| **known <= length)?;
        Some(kind.len() + 1 + length)
    };
    KINDS.iter().filter_map(|kind| of(kind)).max().unwrap_or(0)
}

/// What the other namespace has, to be spoken of; of the same names as in this one.
pub(super) async fn busy(daemon: &Daemon) -> About {
    let host = daemon.token("busy", Named::Host("ci".into()), None).await;
    let client = Client::new(daemon.tcp(), Some(host.0));
    let lead = enroll(&client, daemon.tcp(), "lead", String::new()).await;
    let worker = lead.send_work(daemon.tcp()).await;
    let ask = worker.ask("which?").await;
    for name in ["ann", "bob"] {
        let (name, namespace) = (name.to_owned(), "busy".to_owned());
        let add = v1::AddPersonRequest { name, namespace, ..Default::default() };
        daemon.local().add_person(add).await.unwrap();
    }
    let owner = daemon.token("busy", Named::Person("owner".into()), None).await.0;
    let owner = Client::new(daemon.tcp(), Some(owner));
    for number in 0..20 {
        accepted(owner.answer(answer(&worker.ask(&format!("{number}?")).await)).await.unwrap());
    }
    let ticket = lead.client.send_work(v1::SendWorkRequest::default()).await.unwrap().ticket;
    let hold_secret = worker.hold.expose().to_owned();
    About { ask, session_id: lead.session.id, hold_secret, ticket, token_id: host.1.id }
}

/// The same, where none of it was ever made. A ticket and a secret of nobody's are no ids: who has
/// one is let in by it. Their time is that of the other's: where a list goes on by an id, it is that.
fn nothing(like: &v1::Ask, time: Timestamp) -> About {
    let ask = v1::Ask { id: AskId::new(time, [1; 6]).to_string(), ..like.clone() };
    About {
        ask,
        session_id: SessionId::new(time, [2; 6]).to_string(),
        hold_secret: Secret::new(Kind::Hold, [3; 32]).expose().to_owned(),
        ticket: Secret::new(Kind::Ticket, [4; 32]).expose().to_owned(),
        token_id: TokenId::new(time, [5; 6]).to_string(),
    }
}

/// Blots out every `text`, at the same length.
fn blank(bytes: &mut [u8], text: &str) {
    let is_there = |at: &usize| bytes[*at..].starts_with(text.as_bytes());
    let places: Vec<_> = (0..bytes.len()).filter(is_there).collect();
    for at in places {
        bytes[at..at + text.len()].fill(b'#');
    }
}

/// What is called, by whom, about what; and what was said, masked.
struct Told {
    daemon: Daemon,
    tcp: Channel,
    socket: Channel,
    masks: Masks,
    lines: Vec<(String, Vec<u8>)>,
}

impl Told {
    fn note(&mut self, what: String, came: Result<Vec<u8>, tonic::Status>) {
        let mut bytes = came.unwrap_or_else(|status| {
            let said = format!("{:?} {}: ", status.code(), status.message());
            [said.as_bytes(), status.details()].concat()
        });
        // Where a daemon listens is left to chance here, and as long everywhere.
        for address in [self.daemon.unix(), self.daemon.tcp()] {
            blank(&mut bytes, &address.to_string());
        }
        self.lines.push((what, self.masks.mask(&bytes)));
    }

    /// Lists are in the order of time, and time stands still here: each call has its own instant.
    async fn call(&mut self, row: &Row, who: &(&str, Option<String>), about: &About, of: &str) {
        let number = self.lines.len();
        let request = rows::request(&row.name, about, &format!("twin {number}"));
        self.send(row, who, request, of).await;
    }

    async fn send(&mut self, row: &Row, who: &(&str, Option<String>), bytes: Vec<u8>, of: &str) {
        let channel = if who.0 == "local" { &self.socket } else { &self.tcp };
        let came = rows::call(channel, &row.path, who.1.as_deref(), bytes);
        let came = tokio::time::timeout(PATIENCE, came).await.expect("it is answered");
        // The daemon's own user alone is told which namespaces there are.
        let untold = |bytes: Vec<u8>| {
            use prost::Message as _;
            let told = v1::GetStatusResponse::decode(&bytes[..]).expect("it is a status");
            v1::GetStatusResponse { namespaces: Vec::new(), ..told }.encode_to_vec()
        };
        let is_told = (who.0, &*row.name) == ("local", "GetStatus");
        let came = came.map(|bytes| if is_told { untold(bytes) } else { bytes });
        self.note(format!("{} by {} of {of}", row.name, who.0), came);
        self.daemon.bench.advance(Span::from_millis(1));
    }
}

/// Every call by everybody, about what is its own and about what is the other's.
async fn script(daemon: Daemon, other: Option<About>) -> Vec<(String, Vec<u8>)> {
    let step = || daemon.bench.advance(Span::from_millis(1));
    // What the other has is older than all of this.
    step();
    let lead = daemon.root(daemon.tcp()).await;
    let id: SessionId = lead.session.id.parse().unwrap();
    let begun = Timestamp::from_millis(id.time().as_millis() - 1);
    step();
    let worker = lead.send_work(daemon.tcp()).await;
    step();
    let spare = lead.client.send_work(v1::SendWorkRequest::default()).await.unwrap().ticket;
    step();
    let ask = worker.ask("which?").await;
    step();
    let (ann, token_id) = {
        let add = v1::AddPersonRequest { name: "ann".into(), ..Default::default() };
        daemon.local().add_person(add).await.unwrap();
        let (secret, token) = daemon.token("", Named::Person("ann".into()), None).await;
        (secret, token.id)
    };
    step();
    let other_session = daemon.root(daemon.tcp()).await.session.id;
    step();
    let (ask_id, text) = (ask.id.clone(), "which ones?".to_owned());
    lead.client.say(v1::SayRequest { ask_id, text, ..Default::default() }).await.unwrap();
    let ask = daemon.owner().get_ask(&ask.id).await.unwrap().ask.unwrap();
    let text = |secret: &Secret| Some(secret.expose().to_owned());
    let callers = [
        ("nobody", None),
        ("asker", text(&worker.token)),
        ("asked", text(&lead.token)),
        ("host", text(&daemon.host)),
        ("ann", text(&ann)),
        ("owner", text(&daemon.owner)),
        ("local", None),
    ];
    let (session_id, hold_secret) = (other_session, text(&worker.hold).unwrap());
    let own = About { ask: ask.clone(), session_id, hold_secret, ticket: spare, token_id };
    let foreign = other.unwrap_or_else(|| nothing(&ask, begun));
    let tcp = Endpoint::from_shared(daemon.tcp().to_string()).unwrap().connect().await.unwrap();
    let socket = socket(&daemon).await;
    let mut told = Told { daemon, tcp, socket, masks: Masks::default(), lines: Vec::new() };

    // What only looks goes first, then what changes something; what takes away tokens last.
    let rank = |row: &Row| match row.name.as_str() {
        // Whether somebody still waits for them is seen by others, and a stream's end comes late.
        "WatchDeliveries" | "HoldSession" => 3,
        _ if row.only_looks() => 0,
        "RemovePerson" | "RevokeToken" | "RevokeSession" | "EndSession" | "PauseSession" => 2,
        _ => 1,
    };
    let mut calls = rows::calls();
    calls.sort_by_key(rank);
    for row in &calls {
        if row.name == "HoldSession" {
            unread(&worker, &lead).await;
        }
        for who in &callers {
            // Without a word until something happens.
            if row.name == "WatchDeliveries" && ["asked", "local"].contains(&who.0) {
                continue;
            }
            // All that is kept is every namespace's, and the daemon's own user's alone.
            if row.name == "Export" && who.0 == "local" {
                continue;
            }
            // The daemon's own user alone may reach into every namespace.
            if who.0 != "local" {
                told.call(row, who, &foreign, "theirs").await;
            }
            told.call(row, who, &own, "its own").await;
        }
    }
    let find = |name: &str| calls.iter().find(|row| row.name == name).expect("a row").clone();
    pages(&mut told, &callers, &foreign, (find("ListAsks"), find("ListSessions"))).await;
    resumed(&mut told, &callers, &foreign, &find("WatchAsk")).await;
    let Told { daemon, lines, .. } = told;
    daemon.stop().await;
    lines
}

/// Something for the asker to be told of.
async fn unread(worker: &Agent, lead: &Agent) {
    let ask_id = worker.ask("and now?").await.id;
    let say = v1::SayRequest { ask_id, text: "why?".into(), ..Default::default() };
    lead.client.say(say).await.unwrap();
}

type Callers<'a> = [(&'a str, Option<String>)];

/// Pages that begin at an id of the other's, and labels and names of theirs as filters.
async fn pages(told: &mut Told, callers: &Callers<'_>, foreign: &About, rows: (Row, Row)) {
    use prost::Message as _;
    for who in callers {
        for settled in [false, true] {
            let list = v1::ListAsksRequest {
                scope: v1::AskScope::Visible.into(),
                page_size: 1,
                page_token: foreign.ask.id.clone(),
                filter: Some(v1::AskFilter { settled, ..Default::default() }),
            };
            told.send(&rows.0, who, list.encode_to_vec(), "a page from theirs").await;
            let session = foreign.session_id.clone();
            let filter = v1::AskFilter { settled, asker_session_id: session, ..Default::default() };
            let (filter, page_token) = (Some(filter), String::new());
            let list = v1::ListAsksRequest { filter, page_token, ..list };
            told.send(&rows.0, who, list.encode_to_vec(), "what theirs ask").await;
        }
        let page_token = foreign.session_id.clone();
        let list = v1::ListSessionsRequest { page_size: 1, page_token, include_ended: true };
        told.send(&rows.1, who, list.encode_to_vec(), "a page from theirs").await;
    }
}

/// A watch taken up at a revision that theirs has, and at one that it has not.
async fn resumed(told: &mut Told, callers: &Callers<'_>, foreign: &About, row: &Row) {
    use prost::Message as _;
    for who in callers.iter().filter(|who| who.0 != "local") {
        for after_revision in [Some(1), Some(1_000)] {
            let ask_id = foreign.ask.id.clone();
            let watch = v1::WatchAskRequest { ask_id, after_revision, ..Default::default() };
            told.send(row, who, watch.encode_to_vec(), "theirs, taken up").await;
        }
    }
}

#[tokio::test]
async fn c134_every_reply_of_every_call_is_byte_for_byte_the_same_beside_a_busy_namespace() {
    let clock = wall_clock();
    let alone = script(Daemon::at(clock).await, None).await;
    let beside = Daemon::at(clock).await;
    let theirs = busy(&beside).await;
    let beside = script(beside, Some(theirs)).await;
    assert_eq!(alone.len(), beside.len());
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    for ((what, alone), (_, beside)) in alone.iter().zip(&beside) {
        assert!(alone == beside, "{what}:\n{}\nbeside:\n{}", text(alone), text(beside));
    }
    let names: std::collections::HashSet<_> =
        alone.iter().filter_map(|(what, _)| what.split(' ').next()).collect();
    assert_eq!(names.len(), rows::calls().len(), "each call was made");
}

/// More than one page looks at is another's.
#[tokio::test]
async fn a_list_of_what_is_settled_is_as_long_and_ends_as_soon_beside_a_thousand_of_theirs() {
    let daemon = Daemon::start().await;
    let host = daemon.token("busy", Named::Host("ci".into()), None).await.0;
    let theirs = Client::new(daemon.tcp(), Some(host));
    let theirs = enroll(&theirs, daemon.tcp(), "lead", String::new()).await;
    let mine = daemon.root(daemon.tcp()).await;
    accepted(daemon.owner().answer(answer(&mine.ask("first?").await)).await.unwrap());
    let their_owner = daemon.token("busy", Named::Person("owner".into()), None).await.0;
    let their_owner = Client::new(daemon.tcp(), Some(their_owner));
    daemon.bench.advance(Span::from_millis(1));
    for number in 0..1_100 {
        let ask = theirs.ask(&format!("{number}?")).await;
        accepted(their_owner.answer(answer(&ask)).await.unwrap());
    }
    daemon.bench.advance(Span::from_millis(1));
    let last = mine.ask("last?").await;
    let owner = daemon.bench.owner.clone();
    let filter = askway::service::AskFilter { settled: true, ..Default::default() };
    let scope = askway::service::AskScope::Visible;
    let page = daemon.bench.service.list(&owner, scope, &filter, None, 10).await.unwrap();
    assert_eq!((page.asks.len(), page.next), (2, None));
    assert_eq!(page.asks[1].id.to_string(), last.id);
    daemon.stop().await;
}
