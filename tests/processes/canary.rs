//! Secrets that went through every call, in the right place and in wrong ones, at the loudest log: they
//! are in what was handed out, and nowhere else.

use crate::daemon::Daemon;
use crate::rows::{self, About};
use askway::cli::place;
use askway::client::{Address, Client};
use askway::grpc::v1;
use askway::session::Secret;
use std::fs;
use tonic::transport::Endpoint;
use v1::create_token_request::Principal as Named;

/// What every call is about, and every secret there is.
struct Scene {
    about: About,
    /// Who calls: all that is good for a caller, one of them mistyped, and none.
    callers: Vec<Option<String>>,
    secrets: Vec<String>,
}

async fn scene(daemon: &Daemon) -> Scene {
    let host = daemon.client(None);
    let enroll = async |by: &Client, ticket: String| {
        let request = v1::EnrollRequest { agent: "worker".into(), ticket, ..Default::default() };
        by.enroll(request).await.expect("enrolled")
    };
    let first = enroll(&host, String::new()).await;
    let lead = daemon.client(Some(&first.token));
    let ticket =
        async || lead.send_work(v1::SendWorkRequest::default()).await.expect("sent").ticket;
    let (spent, ticket) = (ticket().await, ticket().await);
    let second = enroll(&lead, spent.clone()).await;
    let worker = daemon.client(Some(&second.token));
    let ask = worker.ask(rows::question("which?")).await.expect("filed").ask.expect("an ask");
    let add = v1::AddPersonRequest { name: "ann".into(), ..Default::default() };
    host.add_person(add).await.expect("added");
    let principal = Some(Named::Person("ann".into()));
    let create = v1::CreateTokenRequest { principal, ..Default::default() };
    let ann = host.create_token(create).await.expect("made");
    let file = |name| fs::read_to_string(daemon.data().join(name)).expect("a token");
    let kept = [file(place::OWNER_TOKEN), file(place::HOST_TOKEN)];
    let [owner, local] = kept.map(|token| token.trim_end().to_owned());
    let mut mistyped = owner.clone();
    mistyped.replace_range(70.., if owner.ends_with("0000000") { "1111111" } else { "0000000" });
    let about = About {
        ask,
        session_id: first.session.expect("a session").id,
        hold_secret: second.hold_secret.clone(),
        ticket: ticket.clone(),
        token_id: ann.token.expect("a token").id,
    };
    let callers = [&first.token, &second.token, &ann.secret, &owner, &local, &mistyped, &ticket];
    let callers = callers.into_iter().cloned().map(Some).chain([None]).collect();
    let secrets = vec![
        first.token,
        first.hold_secret,
        second.token,
        second.hold_secret,
        ann.secret,
        owner,
        local,
        spent,
        ticket,
    ];
    Scene { about, callers, secrets }
}

/// What is random of it: the prefix is everywhere.
fn heart(secret: &str) -> &str {
    &secret[10..40]
}

#[tokio::test]
async fn every_secret_through_every_call_at_the_loudest_log_is_written_nowhere() {
    let daemon = Daemon::start(&["--log", "trace", "--listen", "127.0.0.1:0"]);
    let url = daemon.ready["address"].as_str().expect("it listens").to_owned();
    let Scene { about, callers, secrets } = scene(&daemon).await;
    let channel = Endpoint::from_shared(url.clone()).unwrap().connect().await.expect("it listens");
    let mut calls = rows::calls();
    // What takes a caller away goes last.
    calls.sort_by_key(|row| row.name.starts_with("Revoke") || row.name.starts_with("End"));
    let (mut made, mut told) = (Vec::new(), Vec::new());
    for (number, row) in calls.iter().enumerate() {
        // Right, and with a secret wherever a request has an id.
        let mut abouts = vec![about.clone()];
        abouts.extend(secrets.iter().map(|secret| About {
            ask: v1::Ask { id: secret.clone(), ..about.ask.clone() },
            session_id: secret.clone(),
            hold_secret: secret.clone(),
            ticket: secret.clone(),
            token_id: secret.clone(),
        }));
        for (nth, about) in abouts.iter().enumerate() {
            // Everybody says it right; said wrong, one is as good as another.
            let callers = if nth == 0 { &callers[..] } else { &callers[nth % 5..][..1] };
            for (who, caller) in callers.iter().enumerate() {
                let id = format!("canary {number} {nth} {who}");
                let request = rows::request(&row.name, about, &id);
                let opened = rows::open(&channel, &row.path, caller.as_deref(), request).await;
                let first = match opened {
                    // A stream's first message may be long in coming.
                    Ok(_) if row.streams => continue,
                    Ok(mut opened) => opened.message().await,
                    Err(status) => Err(status),
                };
                match first {
                    Ok(reply) => made.extend(reply.unwrap_or_default()),
                    Err(status) => told.push(format!("{status:?} {}", status.message())),
                }
            }
        }
    }
    daemon.is_loud();
    let log = daemon.log();
    assert!(!log.contains("panicked"), "and nothing fell over");
    let store = fs::read(daemon.data().join("askway.redb")).expect("it is there");
    let has =
        |bytes: &[u8], text: &str| bytes.windows(text.len()).any(|part| part == text.as_bytes());
    for secret in &secrets {
        let kind = &secret[..5];
        assert!(!log.contains(heart(secret)), "a secret of {kind} is in the log");
        assert!(!has(&store, heart(secret)), "a secret of {kind} is in the store");
        let told = told.iter().find(|told| told.contains(heart(secret)));
        assert_eq!(told, None, "a secret of {kind} is in an error");
        assert!(!has(&made, heart(secret)), "a secret of {kind} is in a reply");
    }
    // Those that were made on the way are shown once, in the reply that made them, and no more.
    let text = String::from_utf8_lossy(&made);
    let fresh = text.match_indices("ask").filter_map(|(at, _)| text.get(at..at + 77));
    let fresh: Vec<_> = fresh.filter(|text| Secret::read(text).is_some()).collect();
    assert!(fresh.len() >= 5, "sessions, tickets and tokens were made");
    for secret in fresh {
        assert!(!log.contains(heart(secret)) && !has(&store, heart(secret)));
        assert_eq!(text.matches(secret).count(), 1, "it is shown once");
    }
    let address = Address::parse(&url).expect("an address");
    let owner = Client::new(address, Secret::read(&secrets[5]));
    owner.status().await.expect("it goes on");
}
