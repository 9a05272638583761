//! `askway token`: credentials for people and hosts. A token is shown once, where it is made: on stdout,
//! or in a file that its owner alone can read. It is never an argument, which other users can see.

use super::person::said;
use super::render::{human, json};
use super::session::whole_id;
use super::typed::{Intent, Within, duration, to_wire};
use super::{Context, Exit, Failure, Out, receipt};
use crate::ask::{HostName, PersonName};
use crate::grpc::v1;
use rustix::fs::OFlags;
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

const HELP: &str = "\
Examples:
  askway token create --person ann --out ann.token
  askway token create --host ci --ttl 30d --note 'the build machine'
  askway token ls
  askway token revoke tok_k3f9
  askway token revoke --session ses_k3f9

You must be the daemon's user, or the person `owner`. Whoever has a token uses it so:
  export ASKWAY_TOKEN_FILE=ann.token ASKWAY_ADDR=http://127.0.0.1:PORT";

/// What to do with tokens.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    #[command(subcommand)]
    deed: Deed,
}

#[derive(Debug, clap::Subcommand)]
enum Deed {
    /// Make one, and show it this once
    Create(Create),
    /// List those that were not revoked, without what they are
    Ls(Within),
    /// Revoke one at once, or all that a session and those below it have
    Revoke(Revoke),
}

#[derive(Debug, clap::Args)]
#[group(skip)]
struct Create {
    /// For this person, who has been added
    #[arg(long, value_name = "NAME", required_unless_present = "host")]
    person: Option<PersonName>,
    /// For a host by this name: it enrolls root sessions
    #[arg(long, value_name = "NAME", conflicts_with = "person")]
    host: Option<HostName>,
    /// For how long it is good, as in 12h or 30d; until it is revoked where nothing is said
    #[arg(long, value_name = "TIME", value_parser = duration)]
    ttl: Option<Duration>,
    /// What it is for
    #[arg(long, value_name = "TEXT", default_value = "")]
    note: String,
    #[command(flatten)]
    within: Within,
    /// Write it to this new file, for you alone, instead of to stdout
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    intent: Intent,
}

#[derive(Debug, clap::Args)]
#[group(skip)]
struct Revoke {
    /// The token's id, or its first characters
    #[arg(required_unless_present = "session")]
    id: Option<String>,
    /// Instead, the credentials and tickets of this session and of all below it; it is paused
    #[arg(long, value_name = "SESSION", conflicts_with = "id")]
    session: Option<String>,
    #[command(flatten)]
    within: Within,
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
    match args.deed {
        Deed::Create(create) => self::create(create, context, out).await,
        Deed::Ls(within) => list(context, within, out).await,
        Deed::Revoke(revoke) => self::revoke(revoke, context, out).await,
    }
}

async fn create(args: Create, context: &Context, out: &mut Out) -> Result<Exit, Failure> {
    use v1::create_token_request::Principal;
    let client = context.as_host()?;
    // Before anything is made: a token that cannot be written would be lost.
    let file = args.out.as_deref().map(|path| Ok::<_, Failure>((path, new_file(path)?)));
    let file = file.transpose()?;
    let principal = match (&args.person, &args.host) {
        (Some(person), _) => Some(Principal::Person(person.to_string())),
        (None, host) => host.as_ref().map(|host| Principal::Host(host.to_string())),
    };
    let request = v1::CreateTokenRequest {
        request_id: args.intent.into_id(),
        principal,
        ttl: args.ttl.map(to_wire),
        note: args.note,
        namespace: args.within.into_name(),
    };
    let made = client.create_token(request).await;
    let written = match (&made, file) {
        (Ok(made), Some((path, mut file))) if !made.secret.is_empty() => {
            let written = file.write_all(format!("{}\n", made.secret).as_bytes());
            let written = written.and_then(|()| file.sync_all());
            written.map_err(|error| Failure::io(path.display(), &error))?;
            Some(path)
        }
        (_, Some((path, _))) => {
            // Nothing came to be written: no empty file stays.
            let _ = std::fs::remove_file(path);
            None
        }
        (_, None) => None,
    };
    let made = made?;
    if out.json {
        out.line(&json::made(&made, written.is_none()))?;
    }
    let exit = receipt::session_verdict(made.receipt.as_ref())?;
    let token = made.token.unwrap_or_default();
    match (out.json, made.secret.is_empty(), written) {
        (true, ..) => {}
        (false, true, _) => out.note("it has been used, and is not shown again"),
        (false, false, Some(path)) => {
            out.line(&format!("{} is in {}", token.id, path.display()))?;
        }
        (false, false, None) => {
            out.line(&made.secret)?;
            out.note(&format!(
                "{}; it is not shown again",
                human::token_line(&token, human::now())
            ));
        }
    }
    out.flush()?;
    Ok(exit)
}

/// A new file for its owner alone; never one that is there, nor through a link.
fn new_file(path: &Path) -> Result<std::fs::File, Failure> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o600);
    options.custom_flags(OFlags::NOFOLLOW.bits().cast_signed());
    options.open(path).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => Failure::usage(format!("{} is there already", path.display()))
            .then("the same with --out and another name"),
        _ => Failure::io(path.display(), &error).then("the same with another --out"),
    })
}

async fn list(context: &Context, within: Within, out: &mut Out) -> Result<Exit, Failure> {
    let tokens = context.as_host()?.list_tokens(&within.into_name()).await?;
    match out.json {
        true => tokens.iter().try_for_each(|token| out.line(&json::token(token)))?,
        false => out.lines(&human::tokens(&tokens, human::now(), out.look))?,
    }
    out.flush()?;
    Ok(Exit::Done)
}

async fn revoke(args: Revoke, context: &Context, out: &mut Out) -> Result<Exit, Failure> {
    let client = context.as_host()?;
    let request_id = args.intent.into_id();
    if let Some(session) = args.session {
        let session_id = whole_id(&client, &session).await?;
        let request = v1::RevokeSessionRequest { request_id, session_id: session_id.clone() };
        let response = client.revoke_session(request).await?;
        let exit = said(response.receipt, out, &format!("revoked {session_id} and all below it"))?;
        out.note("their asks stay open; to go on: askway run --resume SESSION -- COMMAND");
        return Ok(exit);
    }
    let namespace = args.within.into_name();
    let typed = args.id.unwrap_or_default();
    let tokens = client.list_tokens(&namespace).await?;
    let found: Vec<_> = tokens.iter().filter(|token| begins(&token.id, &typed)).collect();
    let token_id = match found[..] {
        [only] => only.id.clone(),
        // Revoked ones are not listed; the daemon says what became of this one.
        [] => typed,
        _ => {
            let all = found.iter().map(|token| token.id.as_str()).collect::<Vec<_>>().join(", ");
            return Err(Failure::new(
                Exit::Usage,
                "AMBIGUOUS_ID",
                format!("it could be any of {all}"),
            )
            .then(format!("askway token revoke {}", found[0].id)));
        }
    };
    let request = v1::RevokeTokenRequest { request_id, token_id: token_id.clone(), namespace };
    let response = client.revoke_token(request).await?;
    said(response.receipt, out, &format!("revoked {token_id}"))
}

/// Whether an id begins so, with its `tok_` or without.
fn begins(id: &str, typed: &str) -> bool {
    let short = typed.strip_prefix("tok_").unwrap_or(typed);
    !short.is_empty() && id.strip_prefix("tok_").is_some_and(|id| id.starts_with(short))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn a_token_is_written_to_a_new_file_of_its_owners_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("ann.token");
        new_file(&path).expect("it is made");
        let mode = path.metadata().expect("it is there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(new_file(&path).expect_err("it is there").exit, Exit::Usage);
        let (link, other) = (folder.path().join("link"), folder.path().join("other"));
        symlink(&other, &link).expect("made");
        new_file(&link).expect_err("a link is not followed");
        assert!(!other.exists());
    }

    #[test]
    fn an_id_is_any_beginning_of_it() {
        assert!(begins("tok_k3f9", "tok_k3") && begins("tok_k3f9", "k3"));
        assert!(!begins("tok_k3f9", "tok_") && !begins("tok_k3f9", "3f"));
    }
}
