//! The gRPC surface: words in, words out. A handler converts, calls the service, converts; it
//! decides nothing and keeps nothing.

mod accept;
mod admin;
mod admission;
mod asks;
mod connections;
pub mod convert;
mod door;
#[doc(hidden)]
pub mod fuzzed;
pub mod limits;
pub mod malformed;
mod read;
mod sent;
mod server;
mod sessions;
mod shed;
mod stalls;
pub mod status;

pub use accept::Accepts;
pub use limits::{Limits, MESSAGE_BYTES};
pub use server::{IN_AGENT, Listeners, Manner, serve, serve_as, serve_over};

/// What `proto/` generates; the proto files are its documentation.
#[allow(missing_docs, clippy::all)]
pub mod v1 {
    tonic::include_proto!("askway.v1");
}

/// The descriptor set the services were generated from, for reflection.
pub const DESCRIPTORS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/descriptors.bin"));
