//! AdminService.

use super::convert;
use super::server::{Api, Reply, reply};
use super::status::status;
use super::v1::{self, admin_service_server::AdminService};
use crate::session::Principal;
use tonic::{Request, async_trait};

#[async_trait]
impl AdminService for Api {
    async fn get_status(
        &self,
        request: Request<v1::GetStatusRequest>,
    ) -> Reply<v1::GetStatusResponse> {
        let (caller, _) = self.enter(request).await?;
        let found = self.service.status(&caller).await.map_err(status)?;
        let session = match &found.caller.principal {
            Principal::Session(by) => Some(convert::session_ref(by)),
            Principal::Host(_) | Principal::Person(_) => None,
        };
        let caller = match &found.caller.principal {
            Principal::Session(by) => format!("session {} ({})", by.agent, by.session),
            Principal::Host(host) => format!("host {host}"),
            Principal::Person(person) => format!("person {person}"),
        };
        let failure = found.notice_failure;
        reply(v1::GetStatusResponse {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            caller,
            session,
            start_time: Some(convert::timestamp(found.start_time)),
            service_time: Some(convert::timestamp(found.service_time)),
            waiting_on_people: found.waiting_on_people as u64,
            waiting_on_sessions: found.waiting_on_sessions as u64,
            oldest_open_time: found.oldest_open_time.map(convert::timestamp),
            untold: found.untold as u64,
            notice_failure_time: failure.as_ref().map(|failure| convert::timestamp(failure.time)),
            notice_failure: failure.map(|failure| failure.why).unwrap_or_default(),
        })
    }
}
