//! The program as a process: what it prints, which codes it ends with, what signals do to it. Each test
//! has a data folder and a daemon of its own; nothing waits by sleeping.

mod admin;
mod agents;
mod canary;
mod clocks;
mod command_line;
mod complete;
mod daemon;
mod deliveries;
mod demo;
mod disk;
mod hostile;
mod identity;
mod kills;
mod load;
mod notices;
mod prompts;
#[path = "../shared/raw.rs"]
mod raw;
mod readme;
mod replicas;
mod replicas_fleet;
mod replicas_killed;
mod replicas_kubernetes;
mod replicas_moved;
#[path = "../shared/rows.rs"]
mod rows;
mod rules;
mod run;
mod screens;
mod serve;
mod terminal;
mod tls;
mod transport;
