//! The one binary: the daemon, and the command line.

use std::panic;

fn main() -> std::process::ExitCode {
    quiet_about_damaged_files();
    askway::cli::main(std::env::args_os())
}

/// The store's engine panics on a file that is damaged; that is caught where it is called, and told in
/// words. Its own account of it says nothing to whoever typed a verb.
fn quiet_about_damaged_files() {
    let tell = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        let is_of_store = panic.location().is_some_and(|place| place.file().contains("/redb-"));
        if !is_of_store {
            tell(panic);
        }
    }));
}
