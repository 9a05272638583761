//! `askway completions`: the script that makes a shell ask us what could stand there. What it is
//! told then: [`complete`](super::complete).

use super::complete::{VAR, shells};
use super::render::Out;
use super::{Exit, Failure};

/// Print what makes a shell complete verbs, flags, ids and labels
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Evaluate it when the shell starts, rather than keep it: it belongs to this version of the program.
What is open is read from the daemon while you type, where one runs; none is ever started.

Examples:
  askway completions bash
  source <(askway completions bash)            # in ~/.bashrc; zsh in ~/.zshrc
  askway completions fish | source             # in ~/.config/fish/config.fish")]
#[group(skip)]
pub struct Args {
    /// The shell
    #[arg(value_parser = ["bash", "zsh", "fish"])]
    shell: String,
}

/// Prints it.
pub(super) fn run(args: Args, out: &mut Out) -> Result<Exit, Failure> {
    let shells = shells();
    let shell = shells.completer(&args.shell).expect("clap lets through only what is known");
    let program = std::env::current_exe()
        .map_err(|error| Failure::io("the system does not say where this program is", &error))?;
    let program = program.to_string_lossy();
    let mut script = Vec::new();
    shell
        .write_registration(VAR, "askway", "askway", &program, &mut script)
        .map_err(|error| Failure::io("the script could not be made", &error))?;
    out.line(String::from_utf8_lossy(&script).trim_end())?;
    out.flush()?;
    Ok(Exit::Done)
}
