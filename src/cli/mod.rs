//! The command line: one file for each verb, `render` for what they print. Each verb has its
//! `Args` and a `run`; what was typed becomes calls of the client, their answers become text or JSON.

use crate::client::Client;
use std::path::PathBuf;

/// What every verb needs to know.
pub struct Context {
    /// The daemon, with the caller's credential.
    pub client: Client,
    /// Whether the caller is a session (its token is in `ASKWAY_TOKEN`).
    pub is_session: bool,
    /// The data folder.
    pub data: PathBuf,
    /// Whether programs read what is printed.
    pub json: bool,
}

/// How a verb ends: the exit codes others script against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// Done, answered, or expired with the default the asker named.
    Done = 0,
    /// Something nobody expected.
    Unexpected = 1,
    /// It was typed wrongly.
    Usage = 2,
    /// A person said no.
    Declined = 3,
    /// Expired with stop, withdrawn or abandoned: do not go on.
    Stopped = 4,
    /// Still open; not an error.
    Open = 5,
    /// Settled by somebody else before.
    Closed = 6,
    /// The caller may not.
    Refused = 7,
    /// No such thing.
    NotFound = 8,
    /// The daemon or its store is not there; try again.
    Unavailable = 9,
    /// Somebody spoke: reply, and wait again.
    Spoken = 10,
    /// The caller was interrupted.
    Interrupted = 130,
}

/// Why a verb failed, with what to type next.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The exit code.
    pub exit: Exit,
    /// A name of the closed list.
    pub reason: String,
    /// What went wrong.
    pub message: String,
    /// Every wrong field with what it must be.
    pub fields: Vec<(String, String)>,
    /// The next command to type, or what else to do.
    pub next: Option<String>,
}
