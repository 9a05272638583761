//! The gRPC surface: words in, words out. A handler converts, calls the service, converts; it
//! decides nothing and keeps nothing.

mod admin;
mod asks;
mod connections;
pub mod convert;
#[doc(hidden)]
pub mod fuzzed;
pub mod malformed;
mod read;
mod server;
mod sessions;
pub mod status;

pub use server::{Listeners, MESSAGE_BYTES, serve};

/// What `proto/` generates; the proto files are its documentation.
#[allow(missing_docs, clippy::all)]
pub mod v1 {
    tonic::include_proto!("askway.v1");
}

/// The descriptor set the services were generated from, for reflection.
pub const DESCRIPTORS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/descriptors.bin"));
