//! The command line: one file for each verb, [`render`] for what they print. What was typed becomes
//! calls of the client; their answers become text for people or JSON for programs.

mod answer;
mod ask;
mod background;
mod claim;
mod decline;
mod demo;
mod escalate;
mod exit;
mod files;
mod inbox;
mod log;
pub mod place;
mod release;
pub mod render;
mod reply;
mod run;
mod say;
mod send_work;
mod serve;
mod session;
mod shim;
mod show;
mod status;
mod time;
mod wait;
mod withdraw;

pub use exit::{Exit, Failure};
pub use time::parse as length_of_time;

use crate::client::Client;
use crate::session::Secret;
use clap::error::ErrorKind;
use clap::{Parser, Subcommand};
use render::Out;
use std::ffi::OsString;
use std::io::ErrorKind as Io;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// How long a call on a terminal or in a script waits for a daemon that is not there.
const PATIENCE: Duration = Duration::from_secs(3);

/// Carries an agent's question to the session that sent the work, then to a person, and back.
#[derive(Debug, Parser)]
#[command(name = "askway", version, max_term_width = 100, arg_required_else_help = true)]
struct Cli {
    /// Print JSON, one object a line; errors as one object on stderr.
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Start the daemon.
    Serve(serve::Args),
    /// See the whole of it work, on a folder of its own.
    Demo(demo::Args),
    /// Run a command as an agent's session.
    Run(run::Args),
    /// Ask, as the session this runs in.
    Ask(ask::Args),
    /// Wait for an ask's outcome.
    Wait(wait::Args),
    /// List what waits on you.
    Inbox(inbox::Args),
    /// Show an ask.
    Show(show::Args),
    /// Show what happened to an ask.
    Log(log::Args),
    /// Answer an ask.
    Answer(answer::Args),
    /// Say no to an ask.
    Decline(decline::Args),
    /// Move an ask on to whoever is asked next.
    Escalate(escalate::Args),
    /// Take back an ask of this session's.
    Withdraw(withdraw::Args),
    /// Say something to the asker of an ask.
    Say(say::Args),
    /// Reply to what was said about an ask of this session's.
    Reply(reply::Args),
    /// Be on it: its timers stand still for a while.
    Claim(claim::Args),
    /// Be on it no more.
    Release(release::Args),
    /// List and end sessions.
    #[command(subcommand)]
    Session(session::Verb),
    /// Mint a ticket for work, as the session this runs in.
    SendWork(send_work::Args),
    /// Say who you are and how the daemon does.
    Status(status::Args),
    #[command(name = "__exec", hide = true)]
    Exec(shim::Args),
    #[command(name = "__background", hide = true)]
    Background(background::Args),
}

/// Runs the command line; what is typed is `arguments`.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let wants_json = arguments.iter().take_while(|word| *word != "--").any(|word| word == "--json");
    let cli = match Cli::try_parse_from(&arguments) {
        Ok(cli) => cli,
        Err(error) => return mistyped(&error, wants_json),
    };
    let mut out = Out::new(cli.json);
    // The shim becomes another program; a runtime's threads would be in its way.
    if let Verb::Exec(args) = cli.verb {
        return finish(&mut out, shim::run(args));
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => return finish(&mut out, Err(Failure::io("no runtime", &error))),
    };
    let result = runtime.block_on(go(cli.verb, &mut out));
    // A read of a terminal that nobody ends must not hold the end of the program.
    runtime.shutdown_background();
    finish(&mut out, result)
}

async fn go(verb: Verb, out: &mut Out) -> Result<ExitCode, Failure> {
    let exit = match verb {
        Verb::Serve(args) => serve::run(args, out).await?,
        Verb::Demo(args) => demo::run(args, out).await?,
        Verb::Run(args) => return run::run(args).await,
        Verb::Background(args) => return background::run(args).await,
        Verb::Exec(args) => return shim::run(args),
        other => {
            let mut context = Context::of_environment(out)?;
            let interrupted = tokio::signal::ctrl_c();
            tokio::select! {
                done = interruptible(other, &mut context) => done?,
                Ok(()) = interrupted => Exit::Interrupted,
            }
        }
    };
    Ok(ExitCode::from(exit as u8))
}

async fn interruptible(verb: Verb, context: &mut Context<'_>) -> Result<Exit, Failure> {
    match verb {
        Verb::Ask(args) => ask::run(args, context).await,
        Verb::Wait(args) => wait::run(args, context).await,
        Verb::Inbox(args) => inbox::run(args, context).await,
        Verb::Show(args) => show::run(args, context).await,
        Verb::Log(args) => log::run(args, context).await,
        Verb::Answer(args) => answer::run(args, context).await,
        Verb::Decline(args) => decline::run(args, context).await,
        Verb::Escalate(args) => escalate::run(args, context).await,
        Verb::Withdraw(args) => withdraw::run(args, context).await,
        Verb::Say(args) => say::run(args, context).await,
        Verb::Reply(args) => reply::run(args, context).await,
        Verb::Claim(args) => claim::run(args, context).await,
        Verb::Release(args) => release::run(args, context).await,
        Verb::Session(verb) => session::run(verb, context).await,
        Verb::SendWork(args) => send_work::run(args, context).await,
        Verb::Status(args) => status::run(args, context).await,
        Verb::Serve(_) | Verb::Demo(_) | Verb::Run(_) | Verb::Exec(_) | Verb::Background(_) => {
            unreachable!("these need no context")
        }
    }
}

/// What the verbs of people and agents need to know.
struct Context<'a> {
    client: Client,
    /// Whether the caller is a session; else it is a person.
    is_session: bool,
    data: PathBuf,
    out: &'a mut Out,
}

impl<'a> Context<'a> {
    /// The caller is the session of `ASKWAY_TOKEN` where that is set, else the person whose token
    /// the data folder holds.
    fn of_environment(out: &'a mut Out) -> Result<Self, Failure> {
        let data = place::data()?;
        let address = place::address(&data)?;
        let (token, is_session) = match place::session_token()? {
            Some(token) => (token, true),
            None => (place::token_in(&data, place::OWNER_TOKEN)?, false),
        };
        let client = Client::new(address, Some(token)).with_patience(PATIENCE);
        Ok(Self { client, is_session, data, out })
    }

    /// The ask of an id or a prefix, as typed.
    async fn ask(&self, typed: &str) -> Result<crate::grpc::v1::Ask, Failure> {
        let found = self.client.get_ask(typed).await?;
        found
            .ask
            .ok_or_else(|| Failure::new(Exit::Unexpected, "INTERNAL", "a reply without an ask"))
    }

    /// The client of whoever may end sessions from here: the session itself, or the host.
    fn host_client(&self) -> Result<Client, Failure> {
        if self.is_session {
            return Ok(self.client.clone());
        }
        Ok(host_client(self.client.address(), &self.data)?.with_patience(PATIENCE))
    }
}

/// A client as the host: on the socket the daemon's own user is one, elsewhere its token says so.
fn host_client(
    address: &crate::client::Address,
    data: &std::path::Path,
) -> Result<Client, Failure> {
    let token: Option<Secret> = match address {
        crate::client::Address::Unix(_) => None,
        crate::client::Address::Http(_) => Some(place::token_in(data, place::HOST_TOKEN)?),
    };
    Ok(Client::new(address.clone(), token))
}

/// Help and versions go where they are read; everything else is a failure of usage.
fn mistyped(error: &clap::Error, wants_json: bool) -> ExitCode {
    let shows = matches!(
        error.kind(),
        ErrorKind::DisplayHelp
            | ErrorKind::DisplayVersion
            | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
    );
    if !wants_json || shows {
        let code = if error.exit_code() == 0 { Exit::Done } else { Exit::Usage };
        let _ = error.print();
        return ExitCode::from(code as u8);
    }
    let message = error.to_string();
    let message = message.strip_prefix("error: ").unwrap_or(&message);
    let message = message.split("\n\n").next().unwrap_or_default().trim().to_owned();
    finish(&mut Out::new(true), Err(Failure::usage(message).then("askway --help")))
}

fn finish(out: &mut Out, result: Result<ExitCode, Failure>) -> ExitCode {
    match result {
        Ok(code) => code,
        // Whoever read our output has read enough.
        Err(failure) if failure.reason == render::BROKEN_PIPE => ExitCode::SUCCESS,
        Err(failure) => {
            out.failure(&failure);
            ExitCode::from(failure.exit as u8)
        }
    }
}

/// Whether an error of writing means that nobody reads any more.
fn is_broken_pipe(error: &std::io::Error) -> bool {
    error.kind() == Io::BrokenPipe
}
