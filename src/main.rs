//! The one binary; everything it does is in [`askway::cli`].

use std::process::ExitCode;

fn main() -> ExitCode {
    askway::cli::main()
}
