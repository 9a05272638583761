//! A credential is good, or it is an error; it is never nobody's.

use super::*;
use tonic::transport::{Channel, Endpoint, Uri};
use tonic::{Code, Request, Status};
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;
use tonic_types::StatusExt;
use v1::admin_service_client::AdminServiceClient;
use v1::session_service_client::SessionServiceClient;

pub async fn raw(daemon: &Daemon, on_socket: bool) -> Channel {
    if !on_socket {
        return Endpoint::from_shared(daemon.tcp().to_string()).unwrap().connect().await.unwrap();
    }
    let path = daemon.folder.path().join("socket");
    let to_socket = tower::service_fn(move |_: Uri| {
        let path = path.clone();
        async { tokio::net::UnixStream::connect(path).await.map(hyper_util::rt::TokioIo::new) }
    });
    let endpoint = Endpoint::from_static("http://localhost");
    endpoint.connect_with_connector(to_socket).await.unwrap()
}

fn reason(status: &Status) -> String {
    let details = status.get_error_details();
    details.error_info().expect("every fault has an ErrorInfo").reason.clone()
}

async fn caller(channel: &Channel, headers: &[&str]) -> Result<String, Status> {
    let mut request = Request::new(v1::GetStatusRequest {});
    for header in headers {
        request.metadata_mut().append("authorization", header.parse().unwrap());
    }
    let answer = AdminServiceClient::new(channel.clone()).get_status(request).await?;
    Ok(answer.into_inner().caller)
}

#[tokio::test]
async fn a_bad_credential_is_nobody_on_the_socket_and_on_loopback() {
    let daemon = Daemon::start().await;
    let lead = daemon.root(daemon.unix()).await;
    let sent = lead.client.send_work(v1::SendWorkRequest::default()).await.unwrap();
    let owner = format!("Bearer {}", daemon.owner.expose());
    let (ticket, hold) =
        (format!("Bearer {}", sent.ticket), format!("Bearer {}", lead.hold.expose()));
    let unknown = format!("Bearer {}", Secret::new(Kind::Person, [9; 32]).expose());
    for on_socket in [true, false] {
        let channel = raw(&daemon, on_socket).await;
        assert_eq!(caller(&channel, &[&owner]).await.unwrap(), "person owner");
        let bad: [&[&str]; 9] = [
            &["Basic b3duZXI6"],
            &["Bearer"],
            &["Bearer "],
            &["bearer askp_"],
            &[daemon.owner.expose()],
            &[&unknown],
            &[&ticket],
            &[&hold],
            &[&owner, &owner],
        ];
        for headers in bad {
            let status = caller(&channel, headers).await.unwrap_err();
            assert_eq!(status.code(), Code::Unauthenticated, "{headers:?}");
            assert_eq!(reason(&status), "BAD_CREDENTIAL", "{headers:?}");
            assert!(!status.message().contains("ask"), "no secret is said again");
        }
    }
    // Without one the socket's own user is a host, and loopback is nobody.
    assert_eq!(caller(&raw(&daemon, true).await, &[]).await.unwrap(), "host local");
    let status = caller(&raw(&daemon, false).await, &[]).await.unwrap_err();
    assert_eq!((status.code(), reason(&status)), (Code::Unauthenticated, "NO_CREDENTIAL".into()));
    daemon.stop().await;
}

#[tokio::test]
async fn a_ticket_enrolls_without_a_credential_and_not_with_a_bad_one() {
    let daemon = Daemon::start().await;
    let lead = daemon.root(daemon.tcp()).await;
    let sent = lead.client.send_work(v1::SendWorkRequest::default()).await.unwrap();
    let mut sessions = SessionServiceClient::new(raw(&daemon, false).await);
    let enroll = |ticket: &str| v1::EnrollRequest {
        request_id: "one".into(),
        agent: "worker".into(),
        ticket: ticket.into(),
        ..Default::default()
    };
    let status = sessions.enroll(enroll("")).await.unwrap_err();
    assert_eq!(reason(&status), "NO_CREDENTIAL");
    let mut with_header = Request::new(enroll(&sent.ticket));
    with_header.metadata_mut().insert("authorization", "Basic x".parse().unwrap());
    let status = sessions.enroll(with_header).await.unwrap_err();
    assert_eq!(reason(&status), "BAD_CREDENTIAL");
    let first = sessions.enroll(enroll(&sent.ticket)).await.unwrap().into_inner();
    let again = sessions.enroll(enroll(&sent.ticket)).await.unwrap().into_inner();
    assert!(again.receipt.unwrap().replayed);
    assert_eq!(first.session.unwrap().parent, again.session.unwrap().parent);
    daemon.stop().await;
}

#[tokio::test]
async fn health_and_reflection_answer_anybody() {
    use tonic_reflection::pb::v1::{
        ServerReflectionRequest, server_reflection_client::ServerReflectionClient,
        server_reflection_request::MessageRequest, server_reflection_response::MessageResponse,
    };
    let daemon = Daemon::start().await;
    let channel = raw(&daemon, false).await;
    let services = ["askway.v1.AskService", "askway.v1.SessionService", "askway.v1.AdminService"];
    for service in services.into_iter().chain([""]) {
        let request = tonic_health::pb::HealthCheckRequest { service: service.into() };
        let health = HealthClient::new(channel.clone()).check(request).await.unwrap();
        assert_eq!(health.into_inner().status(), ServingStatus::Serving, "{service}");
    }
    let list = ServerReflectionRequest {
        host: String::new(),
        message_request: Some(MessageRequest::ListServices(String::new())),
    };
    let mut reflection = ServerReflectionClient::new(channel);
    let answers = reflection.server_reflection_info(tokio_stream::once(list)).await.unwrap();
    let answer = answers.into_inner().message().await.unwrap().unwrap();
    let Some(MessageResponse::ListServicesResponse(listed)) = answer.message_response else {
        panic!("not a list")
    };
    let names: Vec<_> = listed.service.iter().map(|service| service.name.as_str()).collect();
    assert!(services.iter().all(|service| names.contains(service)), "{names:?}");
    daemon.stop().await;
}
