//! Generates the wire's types and services from `proto/`, without `protoc`: protox makes the
//! descriptor set, which reflection serves as it is.

use prost::Message;
use std::error::Error;
use std::path::PathBuf;
use std::{env, fs};

const FILES: [&str; 4] = [
    "askway/v1/types.proto",
    "askway/v1/ask_service.proto",
    "askway/v1/session_service.proto",
    "askway/v1/admin_service.proto",
];

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=proto");
    // Bugs on purpose (src/planted.rs), for `scripts/planted` alone. Set here rather than in RUSTFLAGS, so
    // that nothing but this crate is built again for them.
    println!("cargo::rerun-if-env-changed=ASKWAY_PLANT");
    if env::var_os("ASKWAY_PLANT").is_some() {
        println!("cargo::rustc-cfg=askway_planted");
    }
    let descriptors = protox::compile(FILES, ["proto"])?;
    let out = PathBuf::from(env::var("OUT_DIR")?);
    fs::write(out.join("descriptors.bin"), descriptors.encode_to_vec())?;
    tonic_prost_build::configure().compile_fds(descriptors)?;
    Ok(())
}
