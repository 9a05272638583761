//! The typed client: a request id for each intent, retries with jitter, watches that resume.
//! The command line and the examples stand on it; programs in Rust may too.

use crate::grpc::v1;
use std::path::PathBuf;
use std::time::Duration;

/// Where a daemon listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// A Unix socket: `unix:PATH`.
    Unix(PathBuf),
    /// Loopback TCP: `http://127.0.0.1:PORT`.
    Http(String),
}

/// Why a call failed, after its retries.
#[derive(Clone, Debug)]
pub struct ClientError {
    /// The gRPC status code.
    pub code: tonic::Code,
    /// A name of the closed list, where the server gave one.
    pub reason: Option<String>,
    /// What went wrong, in words.
    pub message: String,
    /// Every wrong field with what it must be.
    pub fields: Vec<(String, String)>,
    /// What the ErrorInfo carried beside (matches of an ambiguous id under `matches`, the revision to resume at under `revision`).
    pub metadata: std::collections::BTreeMap<String, String>,
}

/// A connection to a daemon, made when first used and again when lost. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Client {}

/// An item of a resuming ask watch.
#[derive(Clone, Debug)]
pub enum Watched {
    /// The whole ask, on attaching and after each re-attaching where it moved on meanwhile.
    Ask(Box<v1::Ask>),
    /// One event.
    Event(Box<v1::Event>),
    /// The connection was lost; it is being made again.
    Reconnecting,
    /// Settled, everything was delivered: the last item.
    End,
}
