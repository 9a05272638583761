//! Attacks on the wire, bounded in number and time, against the program itself: after each of them an
//! ordinary client is served, and what the attack took is given back.

use crate::daemon::{Daemon, PATIENCE};
use crate::raw::{
    CONTINUATION, DATA, END_HEADERS, END_STREAM, HEADERS, PREFACE, RST_STREAM, Raw, call, frame,
    message,
};
use crate::rows::question;
use askway::client::{Address, Client, Watched};
use askway::grpc::v1;
use askway::session::Secret;
use futures_util::StreamExt;
use futures_util::future::join_all;
use rustix::process::Signal;
use std::fs;
use std::future::Future;
use std::process::Command;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// What a daemon may have grown by when an attack is over: caches of the allocator and of the store,
/// in a debug build. Nothing of an attack is in it: each sends many times this.
const GROWTH: u64 = 48 << 20;
const STATUS: &str = "/askway.v1.AdminService/GetStatus";

/// A number of `/proc/PID/status`, in bytes.
fn memory(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("it runs");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("it has memory");
    line.trim().trim_end_matches(" kB").trim().parse::<u64>().expect("a number") << 10
}

fn files(pid: u32) -> usize {
    fs::read_dir(format!("/proc/{pid}/fd")).expect("it runs").count()
}

/// The daemon under attack.
struct Target {
    daemon: Daemon,
    address: String,
    files: usize,
    memory: u64,
}

impl Target {
    async fn start(file: &str) -> Self {
        let daemon = Daemon::start_with(file, &["--listen", "127.0.0.1:0"]);
        let url = daemon.ready["address"].as_str().expect("it listens");
        let address = url.strip_prefix("http://").unwrap().to_owned();
        // What the first calls allocate for good is not counted.
        for _ in 0..20 {
            daemon.owner().status().await.expect("it is served");
        }
        let (files, memory) = (files(daemon.pid()), memory(daemon.pid()));
        Self { daemon, address, files, memory }
    }

    async fn tcp(&self) -> TcpStream {
        TcpStream::connect(&self.address).await.expect("it listens")
    }

    async fn raw(&self) -> Raw<TcpStream> {
        Raw::open(self.tcp().await).await
    }

    fn headers(&self, path: &str, more: &[(&str, &str)]) -> Vec<u8> {
        call(&self.address, path, more)
    }

    fn bearer(&self) -> String {
        let token = fs::read_to_string(self.daemon.data().join("owner.token")).expect("a token");
        format!("Bearer {}", token.trim_end())
    }

    /// An ordinary client is served over TCP and on the socket; files and memory come back.
    async fn is_well_after(&self, attack: &str) {
        let token = Secret::read(&self.bearer()["Bearer ".len()..]);
        let tcp = Address::parse(&format!("http://{}", self.address)).unwrap();
        let tcp = Client::new(tcp, token).with_patience(PATIENCE);
        assert_eq!(tcp.status().await.expect(attack).caller, "person owner");
        drop(tcp);
        assert_eq!(self.daemon.owner().status().await.expect(attack).caller, "person owner");
        let pid = self.daemon.pid();
        let came_back = || files(pid) <= self.files + 4 && memory(pid) <= self.memory + GROWTH;
        soon(async {
            let mut again = tokio::time::interval(Duration::from_millis(20));
            while !came_back() {
                again.tick().await;
            }
        })
        .await
        .unwrap_or_else(|| {
            let (files, memory) = (files(pid), memory(pid));
            panic!("{attack}: {} files became {files}, {} bytes {memory}", self.files, self.memory)
        });
    }
}

/// What comes in time; none where it does not.
async fn soon<T>(what: impl Future<Output = T>) -> Option<T> {
    tokio::time::timeout(PATIENCE, what).await.ok()
}

#[tokio::test]
async fn connections_that_never_open_are_cut_and_leave_nothing() {
    let target = Target::start("").await;
    let beginnings: [&[u8]; 4] = [b"", &PREFACE[..10], PREFACE, b"GET / HTTP/1.1\r\n"];
    let attack = (0..400).map(|number| {
        let target = &target;
        async move {
            let mut stream = target.tcp().await;
            let _ = stream.write_all(beginnings[number % beginnings.len()]).await;
            let mut rest = Vec::new();
            let _ = stream.read_to_end(&mut rest).await;
        }
    });
    soon(join_all(attack)).await.expect("each is cut in time");
    target.is_well_after("half-open handshakes").await;
    for garbage in [[0_u8; 4_096], [0xff; 4_096], [b'P'; 4_096]] {
        let attack = (0..50).map(|_| async {
            let mut stream = target.tcp().await;
            let _ = stream.write_all(&garbage).await;
            let mut rest = Vec::new();
            let _ = stream.read_to_end(&mut rest).await;
        });
        soon(join_all(attack)).await.expect("each is closed");
    }
    target.is_well_after("garbage").await;
}

#[tokio::test]
async fn connections_that_came_while_the_daemon_was_busy_are_all_taken_and_none_is_lost_half_way() {
    let target = Target::start("").await;
    target.daemon.signal(Signal::STOP);
    let came = soon(join_all((0..400).map(|_| target.tcp()))).await;
    target.daemon.signal(Signal::CONT);
    let came = came.expect("there is room for them to wait");
    drop(came);
    target.is_well_after("a crowd").await;
}

#[tokio::test]
async fn floods_of_streams_resets_and_headers_end_with_their_connections() {
    let target = Target::start("").await;
    let headers = target.headers(STATUS, &[]);
    let attack = (0..20).map(|_| async {
        let mut raw = target.raw().await;
        for stream in (0..10_000).map(|n| 2 * n + 1) {
            let open = frame(HEADERS, END_HEADERS, stream, &headers);
            let reset = frame(RST_STREAM, 0, stream, &8_u32.to_be_bytes());
            if !raw.send(&[open, reset].concat()).await {
                break;
            }
        }
        raw.closed().await;
    });
    soon(join_all(attack)).await.expect("rapid reset ends the connection");
    target.is_well_after("rapid reset").await;

    let attack = (0..20).map(|_| async {
        let mut raw = target.raw().await;
        for stream in (0..2_000).map(|n| 2 * n + 1) {
            if !raw.send(&frame(HEADERS, END_HEADERS, stream, &headers)).await {
                break;
            }
        }
    });
    soon(join_all(attack)).await.expect("they are taken or refused");
    target.is_well_after("a flood of streams").await;

    let more = [vec![0x10, 1, b'x', 0x7f, 0xff, 0x01], vec![b'y'; 254]].concat();
    let attack = (0..20).map(|_| async {
        let mut raw = target.raw().await;
        raw.send(&frame(HEADERS, 0, 1, &headers)).await;
        for _ in 0..20_000 {
            if !raw.send(&frame(CONTINUATION, 0, 1, &more)).await {
                break;
            }
        }
        raw.closed().await;
    });
    soon(join_all(attack)).await.expect("headers without end are cut");
    target.is_well_after("giant headers").await;
}

/// What a call with this message is answered with, by a client that says what no good one says.
async fn refused(target: &Target, encoding: &str, body: Vec<u8>) -> Option<tonic::Status> {
    let (mut client, connection) = h2::client::handshake(target.tcp().await).await.ok()?;
    let connection = tokio::spawn(connection);
    let uri = format!("http://{}/askway.v1.AskService/Say", target.address);
    let request = http::Request::post(uri)
        .header("content-type", "application/grpc")
        .header("te", "trailers")
        .header("authorization", target.bearer());
    let request = match encoding {
        "" => request,
        encoding => request.header("grpc-encoding", encoding),
    };
    let (response, mut send) = client.send_request(request.body(()).unwrap(), false).ok()?;
    // What does not fit into the window waits here for more of it.
    let _ = send.send_data(body.into(), true);
    let response = response.await.ok()?;
    connection.abort();
    tonic::Status::from_header_map(response.headers())
}

#[tokio::test]
async fn bombs_deep_messages_and_lengths_that_lie_are_refused_in_our_words_and_take_no_memory() {
    use tonic_types::StatusExt;
    let target = Target::start("").await;
    // Groups in groups in a field nobody knows; then lengths that lie.
    let groups = [vec![0x7b; 60_000], vec![0x7c; 60_000]].concat();
    let lie = [0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f];
    // So many zeros, packed, would be two hundred megabytes; none of it is unpacked.
    let bomb = [&[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3][..], &[0; 200 << 10]].concat();
    let cases = [
        ("groups in groups", "", message(false, &groups)),
        ("a length that lies", "", message(false, &lie)),
        ("a frame that lies", "", [&[0][..], &u32::MAX.to_be_bytes(), &[0; 16]].concat()),
        ("packed", "gzip", message(true, &bomb)),
        ("packed, and not said so", "", message(true, &bomb)),
        ("packed in a way nobody knows", "lzma", message(true, &bomb)),
    ];
    for (name, encoding, body) in cases {
        for _ in 0..20 {
            let refused = soon(refused(&target, encoding, body.clone())).await.expect("in time");
            let refused = refused.unwrap_or_else(|| panic!("{name}: it is answered"));
            assert_ne!(refused.code(), tonic::Code::Ok, "{name}");
            let details = refused.get_error_details();
            let info = details.error_info().unwrap_or_else(|| panic!("{name}: {refused:?}"));
            assert_eq!(
                (info.reason.as_str(), info.domain.as_str()),
                ("INVALID_ARGUMENT", "askway")
            );
        }
        target.is_well_after(name).await;
    }
}

#[tokio::test]
async fn who_asks_for_much_and_reads_nothing_holds_no_more_than_a_buffer_each() {
    let target = Target::start("").await;
    let (_, worker) = pair(&target.daemon).await;
    for number in 0..4 {
        let context = "c".repeat(65_536);
        let mut request = question(&format!("which of {number}?"));
        request.context = context;
        worker.ask(request).await.expect("it is filed");
    }
    let bearer = target.bearer();
    let path = "/askway.v1.AskService/ListAsks";
    let headers = target.headers(path, &[("authorization", &bearer)]);
    let list = prost::Message::encode_to_vec(&v1::ListAsksRequest {
        scope: v1::AskScope::Visible.into(),
        ..Default::default()
    });
    let mut deaf = Vec::new();
    for _ in 0..4 {
        let mut raw = target.raw().await;
        for stream in (0..200).map(|n| 2 * n + 1) {
            raw.send(&frame(HEADERS, END_HEADERS, stream, &headers)).await;
            raw.send(&frame(DATA, END_STREAM, stream, &message(false, &list))).await;
        }
        deaf.push(raw);
    }
    // Eight hundred lists of a quarter of a megabyte: what is owed is bounded long before that.
    let most = target.memory + (64 << 20) + 2 * GROWTH + (800 * (64 << 10));
    assert!(memory(target.daemon.pid()) < most, "{}", memory(target.daemon.pid()));
    drop(deaf);
    target.is_well_after("deaf readers").await;
}

/// What an idle watch, and what an open ask, may take: see docs/limits.md.
const A_WATCH: u64 = 12 << 10;
const AN_ASK: u64 = 2 << 10;
/// What a daemon takes beside them.
const BESIDE: u64 = 64 << 20;

/// So many of these, as the environment says, or as many as take seconds.
fn count(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// ASKWAY_WATCHES=10000 ASKWAY_ASKS=100000 is what the bound is stated for.
#[tokio::test]
async fn idle_watches_and_open_asks_take_no_more_memory_than_is_stated() {
    let (watches, asks) = (count("ASKWAY_WATCHES", 1_000), count("ASKWAY_ASKS", 400));
    let limits = "[limits]\nnamespace = 1000000\nstreams_a_principal = 100000\ncalls = 100000\n";
    let target = Target::start(limits).await;
    let host = target.daemon.client(None);
    let filed = (0..asks.div_ceil(4)).map(|_| async {
        let session = enroll(&host, String::new()).await;
        // The daemon's own client, so that all go over one connection.
        let session = host.clone().with_token(Secret::read(&session).expect("a token"));
        let mut last = String::new();
        for number in 0..4 {
            let receipt = session.ask(question(&format!("number {number}?"))).await.expect("filed");
            last = receipt.ask.expect("an ask").id;
        }
        last
    });
    let filed: Vec<_> = futures_util::stream::iter(filed).buffered(64).collect().await;
    let mut watching = Vec::new();
    let mut owner = target.daemon.owner();
    for number in 0..watches as usize {
        if number % 500 == 0 {
            owner = target.daemon.owner();
        }
        let mut watch = owner.watch_ask(&filed[number % filed.len()], None);
        let first = soon(watch.next()).await.expect("in time").expect("it is open");
        assert!(matches!(first, Ok(Watched::Ask(_))), "{first:?}");
        watching.push(watch);
    }
    let (has, bound) = (memory(target.daemon.pid()), BESIDE + watches * A_WATCH + asks * AN_ASK);
    println!("{watches} watches and {asks} asks: {} of {} KiB", has >> 10, bound >> 10);
    assert!(has <= bound, "{has} bytes, and {bound} are stated");
    target.daemon.owner().status().await.expect("it is served");
}

/// With no file left nothing can be accepted; once some are free, everything is as before.
#[tokio::test]
async fn with_no_file_descriptor_left_the_daemon_goes_on_and_serves_when_there_are_some() {
    let target = Target::start("").await;
    let pid = target.daemon.pid().to_string();
    let limit = |soft: usize| {
        let mut prlimit = Command::new("prlimit");
        prlimit.args(["--pid", &pid, &format!("--nofile={soft}:")]);
        assert!(prlimit.status().expect("prlimit runs").success());
    };
    limit(target.files + 8);
    let mut held = Vec::new();
    for _ in 0..64 {
        held.push(target.raw().await);
    }
    let logged = async {
        let mut again = tokio::time::interval(Duration::from_millis(20));
        while !target.daemon.log().contains("a connection could not be accepted") {
            again.tick().await;
        }
    };
    soon(logged).await.expect("it says so");
    drop(held);
    target.is_well_after("no files").await;
}

async fn enroll(by: &Client, ticket: String) -> String {
    let request = v1::EnrollRequest { agent: "worker".into(), ticket, ..Default::default() };
    by.enroll(request).await.expect("enrolled").token
}

/// A lead, and a worker it sent work to.
async fn pair(daemon: &Daemon) -> (Client, Client) {
    let lead = daemon.client(Some(&enroll(&daemon.client(None), String::new()).await));
    let sent = lead.send_work(v1::SendWorkRequest::default()).await.expect("sent");
    let worker = daemon.client(Some(&enroll(&lead, sent.ticket).await));
    (lead, worker)
}
