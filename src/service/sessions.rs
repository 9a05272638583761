//! Sessions.
use super::*;
use crate::ask::*;
use crate::error::Error;
use crate::session::{Secret, Session};

/// SendWork's answer.
#[derive(Debug)]
pub struct Sent {
    /// The work.
    pub work: WorkId,
    /// The ticket, unless it was redeemed.
    pub ticket: Option<Secret>,
    /// Until when.
    pub expire_time: Timestamp,
    /// Replayed.
    pub replayed: bool,
}
/// Enroll's answer.
#[derive(Debug)]
pub struct Enrolled {
    /// The session.
    pub session: Arc<Session>,
    /// Its first work.
    pub work: WorkId,
    /// Its token and its holder's secret, unless used.
    pub secrets: Option<(Secret, Secret)>,
    /// Replayed.
    pub replayed: bool,
}
/// AcceptWork's answer.
#[derive(Debug)]
pub struct Accepted {
    /// The work.
    pub work: WorkId,
    /// Replayed.
    pub replayed: bool,
}
/// ResumeSession's answer.
#[derive(Debug)]
pub struct Resumed {
    /// The session.
    pub session: Arc<Session>,
    /// Its token and its holder's secret, unless used.
    pub secrets: Option<(Secret, Secret)>,
    /// Replayed.
    pub replayed: bool,
}
/// While it lives the session is held; dropping it starts the grace.
#[derive(Debug)]
pub struct HoldGuard {}

impl Service {
    /// SendWork.
    pub async fn send_work(
        &self,
        _caller: &Caller,
        _request: RequestId,
        _from: Option<WorkId>,
        _blocking: bool,
    ) -> Result<Sent, Error> {
        todo!()
    }
    /// Enroll. `caller` is none where only the ticket speaks for the call.
    pub async fn enroll(
        &self,
        _caller: Option<&Caller>,
        _request: RequestId,
        _agent: AgentName,
        _ticket: Option<Secret>,
    ) -> Result<Enrolled, Error> {
        todo!()
    }
    /// AcceptWork.
    pub async fn accept_work(
        &self,
        _caller: &Caller,
        _request: RequestId,
        _ticket: Secret,
    ) -> Result<Accepted, Error> {
        todo!()
    }
    /// HoldSession.
    pub async fn hold(
        &self,
        _caller: &Caller,
        _secret: Secret,
    ) -> Result<(Arc<Session>, HoldGuard), Error> {
        todo!()
    }
    /// PauseSession; none is the caller itself.
    pub async fn pause(
        &self,
        _caller: &Caller,
        _request: RequestId,
        _session: Option<SessionId>,
    ) -> Result<(Arc<Session>, bool), Error> {
        todo!()
    }
    /// ResumeSession.
    pub async fn resume(
        &self,
        _caller: &Caller,
        _request: RequestId,
        _session: SessionId,
    ) -> Result<Resumed, Error> {
        todo!()
    }
    /// EndSession; none is the caller itself.
    pub async fn end(
        &self,
        _caller: &Caller,
        _request: RequestId,
        _session: Option<SessionId>,
    ) -> Result<(Arc<Session>, bool), Error> {
        todo!()
    }
    /// ListSessions.
    pub async fn sessions(
        &self,
        _caller: &Caller,
        _include_ended: bool,
        _after: Option<SessionId>,
        _page: usize,
    ) -> Result<(Vec<Arc<Session>>, Option<SessionId>), Error> {
        todo!()
    }
}
