//! The program as processes: a daemon that is killed, the command line as others script it, and runs.

mod daemon;
mod kills;
