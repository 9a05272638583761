//! `askway token`: credentials for people and hosts. A token is shown once, where it is made: on stdout,
//! or in a file that its owner alone can read. It is never an argument, which other users can see.

use super::person::said;
use super::render::{human, json};
use super::session::whole_id;
use super::typed::{Intent, Within, duration, to_wire};
use super::{Context, Exit, Failure, Out, receipt};
use crate::ask::{HostName, PersonName, limits};
use crate::client::Client;
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
    #[arg(long, value_name = "TIME", value_parser = life)]
    ttl: Option<Duration>,
    /// What it is for
    #[arg(long, value_name = "TEXT", default_value = "")]
    note: String,
    #[command(flatten)]
    within: Within,
    /// Make the namespace, where there is none of that name
    #[arg(long, requires = "namespace")]
    new_namespace: bool,
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
    #[arg(long, value_name = "SESSION", conflicts_with_all = ["id", "namespace"])]
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
        new_namespace: args.new_namespace,
    };
    let namespace = request.namespace.clone();
    let made = match client.create_token(request).await {
        Ok(made) => made,
        Err(error) => {
            // Nothing came to be written: no empty file stays.
            file.into_iter().for_each(|(path, _)| drop(std::fs::remove_file(path)));
            return Err(error.into());
        }
    };
    let exit = match (hand_over(&made, file, out), &made.token) {
        (Ok(exit), _) => exit,
        (Err(failure), Some(token)) if !made.secret.is_empty() => {
            return Err(taken_back(failure, &client, token, namespace).await);
        }
        (Err(failure), _) => return Err(failure),
    };
    let token = made.token.unwrap_or_default();
    let (is_again, id) = (made.receipt.is_some_and(|receipt| receipt.replayed), token.id);
    if is_again && made.secret.is_empty() {
        let message =
            "this request made it before, and since it has been used it is not shown again";
        return Err(Failure::new(Exit::Refused, "TOKEN_USED", message)
            .then(format!("askway token revoke {id}, and the same with another --request-id")));
    }
    if is_again {
        out.note("the one that this request made before is void: this stands in its place");
    }
    Ok(exit)
}

/// Writes what was made to where it is wanted: the secret once, to `file` or to stdout.
///
/// # Errors
///
/// When it was refused, or not all of it arrived.
fn hand_over(
    made: &v1::CreateTokenResponse,
    file: Option<(&Path, std::fs::File)>,
    out: &mut Out,
) -> Result<Exit, Failure> {
    let written = match file {
        Some((path, mut file)) if !made.secret.is_empty() => {
            let written = file.write_all(format!("{}\n", made.secret).as_bytes());
            let written = written.and_then(|()| file.sync_all());
            written.map_err(|error| {
                let _ = std::fs::remove_file(path);
                Failure::io(path.display(), &error).then("the same with another --out")
            })?;
            Some(path)
        }
        Some((path, _)) => {
            let _ = std::fs::remove_file(path);
            None
        }
        None => None,
    };
    if out.json {
        out.line(&json::made(made, written.is_none()))?;
    }
    let exit = receipt::session_verdict(made.receipt.as_ref())?;
    let token = made.token.clone().unwrap_or_default();
    match written {
        _ if out.json || made.secret.is_empty() => {}
        Some(path) => out.line(&format!("{} is in {}", token.id, path.display()))?,
        None => out.line(&made.secret)?,
    }
    let arrived = out.flush()?;
    if !arrived && !made.secret.is_empty() && written.is_none() {
        return Err(Failure::new(Exit::Unexpected, "IO", "nobody took the token from stdout")
            .then("the same with --out FILE"));
    }
    if !out.json && !made.secret.is_empty() && written.is_none() {
        let line = human::token_line(&token, human::now());
        out.note(&format!("{line}; it is not shown again"));
    }
    Ok(exit)
}

/// Revokes a token that nobody has: its secret was not written. Says so, or how it is done.
async fn taken_back(
    failure: Failure,
    client: &Client,
    token: &v1::Token,
    namespace: String,
) -> Failure {
    let id = &token.id;
    let (request_id, token_id) = (String::new(), id.clone());
    let typed_place = Within::typed(&namespace);
    let request = v1::RevokeTokenRequest { request_id, token_id, namespace };
    match client.revoke_token(request).await {
        Ok(response) if receipt::session_verdict(response.receipt.as_ref()).is_ok() => {
            let message =
                format!("{}; {id} is revoked again, since nobody has it", failure.message);
            Failure { message, ..failure }
        }
        Ok(_) | Err(_) => {
            let message = format!("{}; {id} is good, and nobody has it", failure.message);
            Failure { message, ..failure }.then(format!("askway token revoke {id}{typed_place}"))
        }
    }
}

/// How long a token is good, as it is typed.
fn life(text: &str) -> Result<Duration, String> {
    let (least, most) = (limits::TOKEN_TTL_MIN, limits::TOKEN_TTL_MAX);
    let days = most.as_millis() / 86_400_000;
    let bound = format!("must be {least} to {days}d long, or not be said: until it is revoked");
    let is_number = text.trim().starts_with(|c: char| c.is_ascii_digit());
    let length =
        duration(text).map_err(|why| if is_number { format!("{why}; it {bound}") } else { why })?;
    let millis = length.as_millis();
    match millis < u128::from(least.as_millis()) || millis > u128::from(most.as_millis()) {
        true => Err(bound),
        false => Ok(length),
    }
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
    let token_id = meant(tokens.iter().map(|token| token.id.as_str()), &typed)?;
    let request = v1::RevokeTokenRequest { request_id, token_id: token_id.clone(), namespace };
    let response = client.revoke_token(request).await?;
    let also = response.also_revoked_token_ids;
    let exit = said(response.receipt, out, &format!("revoked {token_id}"))?;
    if !also.is_empty() {
        out.note(&format!("revoked with it, since it made them: {}", also.join(", ")));
    }
    Ok(exit)
}

/// The id that is meant. Revoked ones are not listed: of one that is no id there the daemon says what
/// became of it.
fn meant<'a>(ids: impl Iterator<Item = &'a str>, typed: &str) -> Result<String, Failure> {
    let found: Vec<_> = ids.filter(|id| begins(id, typed)).collect();
    match found[..] {
        [only] => Ok(only.to_owned()),
        [] => Ok(typed.to_owned()),
        _ => {
            let message = format!("it could be any of {}", found.join(", "));
            // Not one of them: to revoke the first is seldom what was meant.
            Err(Failure::new(Exit::Usage, "AMBIGUOUS_ID", message)
                .then("askway token ls, and the same with more of the id"))
        }
    }
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
    fn of_several_tokens_that_may_be_meant_none_is_named_to_be_revoked() {
        let ids = || ["tok_k3f9", "tok_k3a0", "tok_x111"].into_iter();
        assert_eq!(meant(ids(), "tok_x").expect("one"), "tok_x111");
        assert_eq!(meant(ids(), "tok_9").expect("the daemon says"), "tok_9");
        let failure = meant(ids(), "k3").expect_err("two");
        let next = failure.next.expect("what to type");
        assert!(next.starts_with("askway token ls") && !next.contains("tok_"), "{next}");
    }

    #[test]
    fn a_life_that_no_token_may_have_names_the_bound() {
        assert_eq!(life("30d"), Ok(Duration::from_secs(30 * 86_400)));
        for bad in ["99999999999d", "0", "0s", "500ms", "3651d"] {
            let why = life(bad).expect_err(bad);
            assert!(why.contains("1s to 3650d"), "{bad}: {why}");
        }
        assert!(life("soon").is_err_and(|why| !why.contains("3650d")));
    }

    #[test]
    fn an_id_is_any_beginning_of_it() {
        assert!(begins("tok_k3f9", "tok_k3") && begins("tok_k3f9", "k3"));
        assert!(!begins("tok_k3f9", "tok_") && !begins("tok_k3f9", "3f"));
    }
}
