//! `askway person`: who may answer here.

use super::render::{human, json};
use super::typed::{Intent, Within};
use super::{Context, Exit, Failure, Out, receipt, shell};
use crate::ask::PersonName;
use crate::grpc::v1;

const HELP: &str = "\
Examples:
  askway person add ann
  askway person ls
  askway person rm ann

You must be the daemon's user, or the person `owner`. Whoever is added has no token yet:
  askway token create --person ann";

/// What to do with people.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    #[command(subcommand)]
    deed: Deed,
}

#[derive(Debug, clap::Subcommand)]
enum Deed {
    /// Add a person
    Add(Who),
    /// List them
    Ls(Within),
    /// Remove a person: their tokens are void, and what waits on them alone moves on
    Rm(Whom),
}

#[derive(Debug, clap::Args)]
#[group(skip)]
struct Whom {
    /// The person's name
    name: PersonName,
    #[command(flatten)]
    within: Within,
    #[command(flatten)]
    intent: Intent,
}

#[derive(Debug, clap::Args)]
#[group(skip)]
struct Who {
    /// The person's name
    name: PersonName,
    #[command(flatten)]
    within: Within,
    /// Make the namespace, where there is none of that name
    #[arg(long, requires = "namespace")]
    new_namespace: bool,
    #[command(flatten)]
    intent: Intent,
}

impl Args {
    /// Whether anything is other afterwards.
    pub(super) fn changes(&self) -> bool {
        !matches!(self.deed, Deed::Ls(_))
    }
}

/// Does it.
pub(super) async fn run(args: Args, context: &Context, out: &mut Out) -> Result<Exit, Failure> {
    let client = context.as_host()?;
    match args.deed {
        Deed::Ls(within) => {
            let people = client.list_people(&within.into_name()).await?;
            match out.json {
                true => people.iter().try_for_each(|person| out.line(&json::person(person)))?,
                false => out.lines(&human::people(&people, human::now(), out.look))?,
            }
            out.flush()?;
            Ok(Exit::Done)
        }
        Deed::Add(who) => {
            let name = who.name.to_string();
            let typed_place = Within::typed(who.within.named());
            let typed_name = shell::word_or(&name, "NAME");
            let request = v1::AddPersonRequest {
                request_id: who.intent.into_id(),
                name: name.clone(),
                namespace: who.within.into_name(),
                new_namespace: who.new_namespace,
            };
            let receipt = client.add_person(request).await?.receipt;
            let exit = said(receipt, out, &format!("{name} may answer here"))?;
            out.note(&format!(
                "a token for them: askway token create --person {typed_name}{typed_place}"
            ));
            Ok(exit)
        }
        Deed::Rm(who) => {
            let name = who.name.to_string();
            let request = v1::RemovePersonRequest {
                request_id: who.intent.into_id(),
                name: name.clone(),
                namespace: who.within.into_name(),
            };
            let receipt = client.remove_person(request).await?.receipt;
            said(receipt, out, &format!("{name} may answer here no more"))
        }
    }
}

/// Prints a receipt, or the sentence where it was accepted.
pub(super) fn said(
    receipt: Option<v1::SessionReceipt>,
    out: &mut Out,
    sentence: &str,
) -> Result<Exit, Failure> {
    if out.json {
        out.line(&json::session_receipt(&receipt.clone().unwrap_or_default(), None))?;
    }
    let exit = receipt::session_verdict(receipt.as_ref())?;
    if !out.json {
        out.line(sentence)?;
        out.note_again(receipt.is_some_and(|receipt| receipt.replayed));
    }
    out.flush()?;
    Ok(exit)
}
