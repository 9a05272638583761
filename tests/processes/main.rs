//! The program as a process: what it prints, which codes it ends with, what signals do to it. Each test
//! has a data folder and a daemon of its own; nothing waits by sleeping.

mod command_line;
mod daemon;
mod deliveries;
mod demo;
mod kills;
#[path = "../shared/raw.rs"]
mod raw;
mod rules;
mod run;
mod serve;
mod transport;
