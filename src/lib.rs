//! askway carries an agent's question to the session that sent it the work, holds it durably with a
//! route timer, moves it to a person on timeout or refusal, and streams the answer to whoever waits.
//!
//! Start with [`ask`], the domain; ARCHITECTURE.md draws how the rest hangs together.

#[macro_use]
mod planted;

pub mod ask;
pub mod cli;
pub mod client;
pub mod config;
pub mod engine;
pub mod error;
pub mod files;
pub mod grpc;
pub mod serve;
pub mod service;
pub mod session;
pub mod store;
