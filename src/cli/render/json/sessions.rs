//! The documented shapes of sessions, their work, and the daemon. The asks': [`super::shapes`].

use super::shapes::{SessionRef, time};
use crate::cli::render::words;
use crate::grpc::v1;
use serde::Serialize;

#[derive(Serialize)]
pub struct Session<'a> {
    pub id: &'a str,
    pub agent: &'a str,
    pub host: &'a str,
    pub parent: Option<SessionRef<'a>>,
    pub state: &'static str,
    pub state_time: Option<String>,
    pub works: &'a [String],
    pub open_asks: &'a [String],
    pub create_time: Option<String>,
    pub answers_none: bool,
    pub wakeable: bool,
    pub deadline_time: Option<String>,
}

#[derive(Serialize)]
pub struct SessionReceipt<'a> {
    pub result: &'static str,
    pub replayed: bool,
    pub reason: Option<&'a str>,
    pub session: Option<Session<'a>>,
}

#[derive(Serialize)]
pub struct Sent<'a> {
    pub result: &'static str,
    pub replayed: bool,
    pub reason: Option<&'a str>,
    pub work: Option<&'a str>,
    pub ticket: Option<&'a str>,
    pub expire_time: Option<String>,
}

#[derive(Serialize)]
pub struct Status<'a> {
    pub version: &'a str,
    pub caller: &'a str,
    pub address: String,
    pub data: String,
    pub start_time: Option<String>,
    pub service_time: Option<String>,
    pub waiting_on_people: u64,
    pub waiting_on_sessions: u64,
    pub oldest_open_time: Option<String>,
    pub untold: u64,
    pub notice_failure_time: Option<String>,
    pub notice_failure: Option<&'a str>,
    /// Where the daemon says that it listens.
    pub listening: &'a [String],
    /// The namespaces beside `default`, for the daemon's user.
    pub namespaces: &'a [String],
}

impl<'a> Session<'a> {
    pub fn of(session: &'a v1::Session) -> Self {
        Self {
            id: &session.id,
            agent: &session.agent,
            host: &session.host,
            parent: session.parent.as_ref().map(SessionRef::of),
            state: words::session(session.state()),
            state_time: time(session.state_time),
            works: &session.work_ids,
            open_asks: &session.open_ask_ids,
            create_time: time(session.create_time),
            answers_none: session.answers_none,
            wakeable: session.wakeable,
            deadline_time: time(session.deadline_time),
        }
    }
}
