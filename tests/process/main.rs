//! The program as processes: a daemon that is killed, the command line as others script it, and runs.

mod command_line;
mod daemon;
mod kills;
mod runs;
