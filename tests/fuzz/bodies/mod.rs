//! What is done with any bytes, one function for each target: it panics where something is wrong. The
//! fuzzers in `fuzz/` call these, and so do ordinary tests, over the seeds that lie beside them.

mod config;
mod decide;
mod json;
mod records;
mod store;
mod text;
mod tokens;

/// Something that bytes are thrown at.
pub struct Target {
    /// What it is called, on the command line and in the folder of seeds.
    pub name: &'static str,
    /// Whether these bytes were taken for something: a target that takes none of its seeds says
    /// nothing.
    pub run: fn(&[u8]) -> bool,
}

/// Every target.
pub const TARGETS: [Target; 7] = [
    Target { name: "decide", run: decide::run },
    Target { name: "records", run: records::run },
    Target { name: "tokens", run: tokens::run },
    Target { name: "config", run: config::run },
    Target { name: "json", run: json::run },
    Target { name: "text", run: text::run },
    Target { name: "store", run: store::run },
];

/// The target of this name.
///
/// # Panics
///
/// When there is none.
pub fn target(name: &str) -> &'static Target {
    let found = TARGETS.iter().find(|target| target.name == name);
    found.unwrap_or_else(|| panic!("there is no target {name}"))
}
