//! The command line: one file for each verb, `render` for what they print. Each verb has its
//! `Args` and a `run`; what was typed becomes calls of the client, their answers become text or JSON.
//!
//! This module says which verbs there are and how they end. Who calls and which daemon: `context`
//! and [`place`]. How a verb ends, and why it failed: `exit`. What was typed: `typed`.

mod admin;
mod agents;
mod answer;
mod ask;
mod background;
mod claim;
mod complete;
mod completions;
mod context;
mod decline;
mod deliveries;
mod demo;
mod escalate;
mod exit;
mod fields;
mod file;
#[doc(hidden)]
pub mod fuzzed;
mod help;
mod inbox;
mod log;
mod look;
mod man;
mod namespace;
mod pager;
mod person;
pub mod place;
mod prompt;
mod receipt;
mod release;
pub mod render;
mod reply;
mod run;
mod say;
mod send_work;
mod serve;
mod session;
pub(crate) mod shell;
mod shim;
mod show;
mod shown;
mod status;
mod terminal;
mod token;
mod typed;
mod wait;
mod withdraw;

pub use context::Context;
pub use exit::{Exit, Failure};
pub use typed::duration as length_of_time;

use context::host_client;
use fields::Typed;
use help::{command, typed_wrongly};

use crate::ask::PersonName;
use clap::{FromArgMatches, Parser, Subcommand};
use render::Out;
use std::ffi::OsString;
use std::process::ExitCode;

/// Carries an agent's question to the session that sent it the work, then to a person.
#[derive(Debug, Parser)]
#[command(name = "askway", version, max_term_width = 100, after_help = help::PROGRAM)]
struct Cli {
    /// Print for programs: one JSON object a line on stdout, an error as one object on stderr
    #[arg(long, global = true)]
    json: bool,
    /// Call as this person, where that is not the owner; inside a session, or where a coding agent
    /// runs its commands, as a person at all
    #[arg(long, global = true, value_name = "NAME")]
    as_person: Option<PersonName>,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Run the daemon
    Serve(serve::Args),
    /// See the whole of it work, on a folder of its own
    Demo(demo::Args),
    /// Run a command as an agent's session
    Run(run::Args),
    /// File an ask; with --wait, wait for what becomes of it
    Ask(ask::Args),
    /// Wait until an ask is settled, or somebody asked speaks
    Wait(wait::Args),
    /// List the open asks that wait on you
    Inbox(inbox::Args),
    /// Show one ask, whole
    Show(show::Args),
    /// List what happened to an ask
    Log(log::Args),
    /// Answer an ask
    Answer(answer::Args),
    /// Say no to an ask, as a person
    Decline(decline::Args),
    /// Move an ask on to whoever is asked next
    Escalate(escalate::Args),
    /// Take an ask of your own back
    Withdraw(withdraw::Args),
    /// Speak to the asker without answering
    Say(say::Args),
    /// Speak to whoever is asked, as the asker
    Reply(reply::Args),
    /// Say that you are on it: its timers stand still for a while
    Claim(claim::Args),
    /// Say that you are not on it any more
    Release(release::Args),
    /// List what is on its way to askers, take it, acknowledge it
    Deliveries(deliveries::Args),
    /// List sessions, or end one
    Session(session::Args),
    /// Make a ticket that hands work to another session
    SendWork(send_work::Args),
    /// Add, list or remove the people who may answer
    Person(person::Args),
    /// Make, list or revoke the tokens of people and hosts
    Token(token::Args),
    /// List the namespaces
    Namespace(namespace::Args),
    /// Copy all that is kept, look a copy over, put one back
    Admin(admin::Args),
    /// Say who you are to the daemon, and how it does
    Status(status::Args),
    /// Print what makes a shell complete verbs, flags, ids and labels
    Completions(completions::Args),
    /// Print the manual page of a verb, or write all of them to a folder
    Man(man::Args),
    #[command(name = "__exec", hide = true)]
    Exec(shim::Args),
    #[command(name = prompt::VERB, hide = true)]
    Prompt(prompt::asker::Args),
    #[command(name = "__background", hide = true)]
    Background(background::Args),
}

fn parsed(arguments: &[OsString]) -> Result<(Cli, Typed), clap::Error> {
    let mut command = command();
    let found = command.clone().try_get_matches_from(arguments)?;
    let cli = Cli::from_arg_matches(&found).map_err(|error| error.format(&mut command))?;
    Ok((cli, Typed::of(&found)))
}

/// The program: reads the arguments, does what they say, and gives the exit code.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments: Vec<_> = arguments.into_iter().collect();
    match complete::told(&arguments) {
        Ok(false) => {}
        Ok(true) => return Exit::Done.into(),
        Err(error) => return typed_wrongly(&error, false),
    }
    let (cli, typed) = match parsed(&arguments) {
        Ok(parsed) => parsed,
        Err(error) => return typed_wrongly(&error, asks_for_json(&arguments)),
    };
    let json = cli.json;
    let ended = match cli.verb {
        // The shim becomes another program; a runtime's threads would be in its way.
        Verb::Exec(args) => shim::run(args),
        // It blocks, and is ended from outside.
        Verb::Prompt(args) => prompt::asker::run(args),
        verb => in_runtime(verb, cli.as_person, json),
    };
    ended.unwrap_or_else(|failure| {
        let failure = if json { failure } else { typed.name_fields(failure) };
        render::failure(&failure, json);
        failure.exit.into()
    })
}

fn in_runtime(verb: Verb, as_person: Option<PersonName>, json: bool) -> Result<ExitCode, Failure> {
    let runtime = tokio::runtime::Runtime::new()
        .map_err(|error| Failure::io("the system gave no threads", &error))?;
    let ended = runtime.block_on(dispatch(verb, as_person, &mut Out::stdout(json)));
    // A read of stdin may still be under way; nobody waits for it.
    runtime.shutdown_background();
    ended
}

/// Verbs that are no client's look after their own signals and credentials.
async fn dispatch(
    verb: Verb,
    as_person: Option<PersonName>,
    out: &mut Out,
) -> Result<ExitCode, Failure> {
    match verb {
        Verb::Serve(args) => serve::run(args, out).await.map(Into::into),
        Verb::Demo(args) => demo::run(args, out).await.map(Into::into),
        Verb::Run(args) => run::run(args, out).await,
        Verb::Background(args) => background::run(args, out.json).await,
        Verb::Completions(args) => completions::run(args, out).map(Into::into),
        Verb::Man(args) => man::run(args, out).map(Into::into),
        verb => tokio::select! {
            ended = call(verb, as_person, out) => ended.map(Into::into),
            _ = tokio::signal::ctrl_c() => Ok(Exit::Interrupted.into()),
        },
    }
}

async fn call(verb: Verb, as_person: Option<PersonName>, out: &mut Out) -> Result<Exit, Failure> {
    if let Verb::Admin(args) = verb {
        return admin::run(args, as_person, out).await;
    }
    if let Verb::Ask(_) = verb {
        ask::needs_a_session(as_person.is_some())?;
    }
    let context = Context::of_environment(as_person)?;
    let context = if verb.is_a_persons() { context.for_a_person()? } else { context };
    let context = &context.named().await?;
    match verb {
        Verb::Ask(args) => ask::run(args, context, out).await,
        Verb::Wait(args) => wait::run(args, context, out).await,
        Verb::Inbox(args) => inbox::run(args, context, out).await,
        Verb::Show(args) => show::run(args, context, out).await,
        Verb::Log(args) => log::run(args, context, out).await,
        Verb::Answer(args) => answer::run(args, context, out).await,
        Verb::Decline(args) => decline::run(args, context, out).await,
        Verb::Escalate(args) => escalate::run(args, context, out).await,
        Verb::Withdraw(args) => withdraw::run(args, context, out).await,
        Verb::Say(args) => say::run(args, context, out).await,
        Verb::Reply(args) => reply::run(args, context, out).await,
        Verb::Claim(args) => claim::run(args, context, out).await,
        Verb::Release(args) => release::run(args, context, out).await,
        Verb::Deliveries(args) => deliveries::run(args, context, out).await,
        Verb::Session(args) => session::run(args, context, out).await,
        Verb::SendWork(args) => send_work::run(args, context, out).await,
        Verb::Person(args) => person::run(args, context, out).await,
        Verb::Token(args) => token::run(args, context, out).await,
        Verb::Namespace(args) => namespace::run(args, context, out).await,
        Verb::Status(args) => status::run(args, context, out).await,
        Verb::Admin(_)
        | Verb::Serve(_)
        | Verb::Demo(_)
        | Verb::Run(_)
        | Verb::Exec(_)
        | Verb::Prompt(_)
        | Verb::Background(_)
        | Verb::Completions(_)
        | Verb::Man(_) => unreachable!("these are dispatched before"),
    }
}

/// Whether `--json` stands among the arguments of askway itself, where they could not be parsed.
fn asks_for_json(arguments: &[OsString]) -> bool {
    arguments.iter().take_while(|argument| *argument != "--").any(|argument| argument == "--json")
}

/// An ask as `askway show --json` prints it: one line, nothing hidden in it.
pub fn ask_json(ask: &crate::ask::Ask) -> String {
    render::json::ask(&crate::grpc::convert::ask(ask))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &[&str]) -> Result<Cli, clap::Error> {
        Cli::try_parse_from(["askway"].iter().chain(line))
    }

    #[test]
    fn the_parser_is_whole() {
        command().debug_assert();
    }

    #[test]
    fn every_verb_has_help_with_an_example() {
        // `demo` has nothing to be typed after it.
        let typed = |verb: &&mut clap::Command| !verb.is_hide_set() && verb.get_name() != "demo";
        for verb in command().get_subcommands_mut().filter(typed) {
            let name = verb.get_name().to_owned();
            let help = verb.render_long_help().to_string();
            assert!(help.contains(&format!("  askway {name}")), "{name}: {help}");
        }
    }

    /// The examples of a verb's help and of those below it, as a shell would read them.
    fn examples(verb: &mut clap::Command) -> Vec<Vec<String>> {
        let help = verb.render_long_help().to_string();
        let lines = help.lines().map(str::trim_start).filter(|line| line.starts_with("askway "));
        let alone = lines.map(|line| line.split(" | ").next().unwrap_or(line));
        let read = |line: &str| shlex::split(line).unwrap_or_else(|| panic!("{line}"));
        let mut all: Vec<_> = alone.map(read).collect();
        all.extend(verb.get_subcommands_mut().flat_map(examples));
        all
    }

    #[test]
    fn the_examples_of_every_help_can_be_typed() {
        let all = examples(&mut command());
        assert!(all.len() > 30, "{all:?}");
        for line in all {
            let parsed = Cli::try_parse_from(&line);
            assert!(parsed.is_ok(), "{line:?}: {}", parsed.expect_err("it is wrong"));
        }
    }

    #[test]
    fn every_verb_takes_json_and_every_mutating_one_a_request_id() {
        let mutating: [&[&str]; 15] = [
            &["ask", "Which?"],
            &["answer", "ask_0000", "A"],
            &["decline", "ask_0000"],
            &["escalate", "ask_0000"],
            &["withdraw", "ask_0000"],
            &["say", "ask_0000", "words"],
            &["reply", "ask_0000", "words"],
            &["claim", "ask_0000"],
            &["release", "ask_0000"],
            &["session", "end"],
            &["send-work"],
            &["person", "add", "ann"],
            &["person", "rm", "ann"],
            &["token", "create", "--person", "ann"],
            &["token", "revoke", "tok_0000"],
        ];
        let reading: [&[&str]; 9] = [
            &["wait", "ask_0000"],
            &["inbox"],
            &["show", "ask_0000"],
            &["log", "ask_0000"],
            &["session", "ls"],
            &["person", "ls"],
            &["token", "ls"],
            &["namespace", "ls"],
            &["status"],
        ];
        for line in mutating.iter().chain(&reading) {
            let cli = parse(&[line, &["--json"][..]].concat()).expect("it parses");
            assert!(cli.json, "{line:?}");
        }
        for line in mutating {
            let line = [line, &["--request-id", "one"][..]].concat();
            assert!(parse(&line).is_ok(), "{line:?}");
            let empty = [&line[..line.len() - 1], &[""][..]].concat();
            assert!(parse(&empty).is_err(), "{empty:?}");
        }
    }

    #[test]
    fn what_is_typed_wrongly_is_an_error_for_programs_too() {
        let error = parse(&["wait", "--json"]).expect_err("an id is missing");
        let failure = Failure::of_clap(&error);
        assert_eq!((failure.exit, failure.reason.as_str()), (Exit::Usage, "USAGE"));
        assert!(failure.message.contains("required"), "{}", failure.message);
        assert!(failure.next.is_some_and(|next| next.ends_with("--help")));
    }

    #[test]
    fn json_after_two_dashes_belongs_to_somebody_else() {
        let words = |line: &[&str]| line.iter().map(OsString::from).collect::<Vec<_>>();
        assert!(asks_for_json(&words(&["askway", "wait", "--json"])));
        assert!(!asks_for_json(&words(&["askway", "run", "--", "cmd", "--json"])));
    }

    #[test]
    fn exit_codes_are_the_documented_numbers() {
        let all = [
            (Exit::Done, 0),
            (Exit::Unexpected, 1),
            (Exit::Usage, 2),
            (Exit::Declined, 3),
            (Exit::Stopped, 4),
            (Exit::Open, 5),
            (Exit::Closed, 6),
            (Exit::Refused, 7),
            (Exit::NotFound, 8),
            (Exit::Unavailable, 9),
            (Exit::Spoken, 10),
            (Exit::Interrupted, 130),
        ];
        for (exit, code) in all {
            assert_eq!(exit as u8, code);
        }
    }
}
