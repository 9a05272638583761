//! The gRPC surface: words in, words out. A handler converts, calls the service, converts.

/// What `proto/` generates.
#[allow(missing_docs, clippy::all, reason = "generated; the proto files are the documentation")]
pub mod v1 {
    tonic::include_proto!("askway.v1");
}

/// The descriptor set the services were generated from, for reflection.
pub const DESCRIPTORS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/descriptors.bin"));
