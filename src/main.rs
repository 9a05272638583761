//! The one binary: the daemon, and the command line.

fn main() -> std::process::ExitCode {
    askway::cli::main(std::env::args_os())
}
