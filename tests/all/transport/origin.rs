//! Pages in a browser: what they can make it send is not taken, whatever name leads here.

use super::*;
use crate::raw::{DATA, END_HEADERS, END_STREAM, HEADERS, Raw, call, frame, message};
use askway::client::Client;
use askway::grpc::v1::admin_service_client::AdminServiceClient;
use askway::grpc::v1::{GetStatusRequest, GetStatusResponse};
use tonic::transport::Endpoint;
use tonic::{Code, Request, Status};

async fn status(
    daemon: &Daemon,
    called: &str,
    headers: &[(&'static str, &str)],
) -> Result<GetStatusResponse, Status> {
    let endpoint = Endpoint::from_shared(daemon.tcp().to_string()).unwrap();
    let channel = endpoint.origin(called.parse().unwrap()).connect().await.unwrap();
    let mut request = Request::new(GetStatusRequest {});
    let bearer = format!("Bearer {}", daemon.owner.expose());
    request.metadata_mut().insert("authorization", bearer.parse().unwrap());
    for (name, value) in headers {
        request.metadata_mut().insert(*name, value.parse().unwrap());
    }
    soon(AdminServiceClient::new(channel).get_status(request)).await.map(|it| it.into_inner())
}

#[tokio::test]
async fn by_a_name_that_is_not_the_daemons_nothing_is_served_not_even_with_a_token() {
    let manner = Manner { names: vec!["box.lan".into()], ..Manner::default() };
    let daemon = Daemon::serving(manner, Arc::new(Mem::default()), Settings::default()).await;
    let port = daemon.port.port();
    for ours in [format!("localhost:{port}"), format!("127.0.0.1:{port}"), "box.lan:9".into()] {
        let said = status(&daemon, &format!("http://{ours}"), &[]).await;
        assert_eq!(said.expect(&ours).caller, "person owner");
    }
    for foreign in [format!("evil.example:{port}"), "localhost:1".into(), "10.1.1.1:80".into()] {
        let refused = status(&daemon, &format!("http://{foreign}"), &[]).await.unwrap_err();
        assert_eq!(refused.code(), Code::PermissionDenied, "{foreign}: {refused:?}");
    }
    // On the socket there is no name to be led by.
    is_well(&daemon).await;
    daemon.stop().await;
}

#[tokio::test]
async fn what_a_browser_marks_as_a_pages_is_refused_and_on_the_socket_is_not_looked_at() {
    let daemon = daemon(Limits::default()).await;
    let called = daemon.tcp().to_string();
    let marks = [
        ("origin", "http://evil.example"),
        ("origin", "null"),
        ("origin", called.as_str()),
        ("sec-fetch-site", "same-origin"),
        ("sec-fetch-mode", "no-cors"),
    ];
    for mark in marks {
        let refused = status(&daemon, &called, &[mark]).await.unwrap_err();
        assert_eq!(refused.code(), Code::PermissionDenied, "{mark:?}");
    }
    let owner = Client::new(daemon.unix(), Some(daemon.owner.clone()));
    assert_eq!(soon(owner.status()).await.unwrap().caller, "person owner");
    daemon.stop().await;
}

#[tokio::test]
async fn what_pages_speak_instead_of_grpc_is_no_language_here() {
    let daemon = daemon(Limits::default()).await;
    let authority = daemon.port.to_string();
    for kind in ["application/grpc-web", "application/grpc-web-text", "application/json"] {
        let mut raw = Raw::open(tcp(&daemon).await).await;
        let path = "/askway.v1.AdminService/GetStatus";
        let plain = call(&authority, path, &[]);
        let grpc = b"application/grpc";
        let at = plain.windows(grpc.len()).position(|part| part == grpc).unwrap();
        let mut headers = plain[..at].to_vec();
        *headers.last_mut().unwrap() = kind.len() as u8;
        headers.extend(kind.as_bytes());
        headers.extend(&plain[at + grpc.len()..]);
        raw.send(&frame(HEADERS, END_HEADERS, 1, &headers)).await;
        raw.send(&frame(DATA, END_STREAM, 1, &message(false, &[]))).await;
        let reply = soon(raw.next_of(HEADERS)).await.expect("it is answered");
        assert_ne!(reply.flags & END_STREAM, 0, "there is no more to it than a status");
        let is_grpc = reply.payload.windows(4).any(|part| part == b"grpc");
        assert!(!is_grpc, "{reply:?}");
    }
    is_well(&daemon).await;
    daemon.stop().await;
}
