//! `askway namespace`: which namespaces the daemon has.

use super::render::{human, json};
use super::{Context, Exit, Failure, Out};

const HELP: &str = "\
Examples:
  askway namespace ls
  askway namespace ls --json

The daemon's user alone is told. One is made with --namespace NAME --new-namespace, by askway person add
or askway token create.";

/// What to do with namespaces.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    #[command(subcommand)]
    deed: Deed,
}

#[derive(Debug, clap::Subcommand)]
enum Deed {
    /// List them, each with how many people and tokens it has
    Ls,
}

/// A namespace, and what is in it.
pub(super) struct Namespace {
    /// Its name.
    pub name: String,
    /// How many people may answer there.
    pub people: usize,
    /// How many tokens of people and hosts there are that were not revoked.
    pub tokens: usize,
}

/// Does it.
pub(super) async fn run(args: Args, context: &Context, out: &mut Out) -> Result<Exit, Failure> {
    let Deed::Ls = args.deed;
    let client = context.as_host()?;
    let status = client.status().await?;
    // Others are told of none, which would look as if there were none.
    if status.caller != "host local" {
        let message = "only the daemon's own user is told which namespaces there are";
        return Err(Failure::new(Exit::Refused, "WRONG_PRINCIPAL", message)
            .then("askway namespace ls, as the daemon's user and without a token"));
    }
    let names = std::iter::once("default".to_owned()).chain(status.namespaces);
    let mut all = Vec::new();
    for name in names {
        let people = client.list_people(&name).await?.len();
        let tokens = client.list_tokens(&name).await?.len();
        all.push(Namespace { name, people, tokens });
    }
    match out.json {
        true => all.iter().try_for_each(|one| out.line(&json::namespace(one)))?,
        false => out.lines(&human::namespaces(&all, out.look))?,
    }
    out.flush()?;
    Ok(Exit::Done)
}
