//! What is done with any bytes; the same that ordinary tests do.

#[path = "../../tests/fuzz/bodies/mod.rs"]
pub mod bodies;
