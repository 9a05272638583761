//! `askway admin`: copies of all that the daemon keeps. While it runs it is asked for them, on its
//! socket; where it does not, the data folder is read under its lock. What is done to files:
//! [`archive`].

mod progress;

use super::context::host_client;
use super::file::is_stdin;
use super::serve::of_faults;
use super::{Exit, Failure, Out, agents, place};
use crate::ask::PersonName;
use crate::client::Client;
use crate::config::{self, Config, KeptIn};
use crate::files;
use crate::serve::archive::{self, Lines, Summary};
use crate::session::{Kind, Secret};
use progress::Progress;
use serde_json::json;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use tokio::io::AsyncReadExt;
use tokio_stream::StreamExt;

const HELP: &str = "\
Examples:
  askway admin backup monday.redb
  askway admin verify monday.redb
  askway admin restore monday.redb
  askway admin check
  askway admin export --out all.jsonl
  askway admin import all.jsonl

Backup and export work while the daemon runs; check, restore and import need it stopped. A copy holds
all asks of every namespace, and no token, only their fingerprints: tokens that were good stay good.
What is restored is a store of its own: whoever has seen more of the one before is told so.";

/// Bytes read of a file at once.
const PIECE: usize = 64 * 1024;

/// What to do with copies.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    #[command(subcommand)]
    deed: Deed,
}

#[derive(Debug, clap::Subcommand)]
enum Deed {
    /// Copy all that is kept to a new file, and look it over
    Backup(To),
    /// Look a copy over, and change nothing
    Verify {
        /// The copy
        file: PathBuf,
    },
    /// Put a copy into the data folder
    Restore(From),
    /// Look the data folder's store over, and change nothing
    Check,
    /// Print all that is kept, as lines of JSON
    Export {
        /// Write it to this new file, for you alone, instead of to stdout
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
    /// Put what was exported into the data folder, or into the database that ASKWAY_STORE names
    Import(From),
}

#[derive(Debug, clap::Args)]
struct To {
    /// The new file
    file: PathBuf,
    /// Also where there is one
    #[arg(long)]
    replace: bool,
}

#[derive(Debug, clap::Args)]
struct From {
    /// The copy; for what was exported, `-` is stdin
    file: PathBuf,
    /// Also where there is a store, which is kept beside it
    #[arg(long)]
    replace: bool,
}

/// Does it.
pub(super) async fn run(
    args: Args,
    as_person: Option<PersonName>,
    out: &mut Out,
) -> Result<Exit, Failure> {
    let data = place::data()?;
    let by = By::of_environment(&data, as_person)?;
    let json = out.json;
    let telling = |what: &str| Progress::of(what, json);
    match args.deed {
        Deed::Backup(To { file, replace }) => {
            let progress = telling("copying");
            let lines = progress.count(source(&data, by).await?);
            let summary = archive::backup(lines, &file, replace).await?;
            drop(progress);
            say(out, Became::Copied, &file, &summary, None)
        }
        Deed::Verify { file } => {
            let progress = telling("looking it over");
            let summary = archive::verify(&file).await?;
            drop(progress);
            say(out, Became::Checked, &file, &summary, None)
        }
        Deed::Check => {
            let progress = telling("looking it over");
            let summary = archive::check(&data).await?;
            drop(progress);
            say(out, Became::Checked, &data, &summary, None)
        }
        Deed::Restore(From { file, replace }) => {
            let progress = telling("restoring");
            let lines = progress.count(archive::lines_of_copy(&file).await?);
            let (summary, before) = archive::import(&data, lines, replace).await?;
            drop(progress);
            say(out, Became::Restored, &data, &summary, before.as_deref())
        }
        Deed::Import(From { file, replace }) => {
            let config = Config::load(config::Args::default()).map_err(of_faults)?;
            let progress = telling("importing");
            let lines = progress.count(lines_of(file).await?);
            let (place, summary, before) = match config.store {
                KeptIn::Postgres(url) => {
                    let summary = archive::import_shared(&data, &url, lines).await?;
                    (PathBuf::from(url.to_string()), summary, None)
                }
                KeptIn::Folder => {
                    let (summary, before) = archive::import(&data, lines, replace).await?;
                    (data, summary, before)
                }
            };
            drop(progress);
            say(out, Became::Imported, &place, &summary, before.as_deref())
        }
        Deed::Export { out: file } => {
            let progress = telling("exporting");
            let lines = progress.count(source(&data, by).await?);
            export(lines, progress, file, out).await
        }
    }
}

/// What became of what is kept.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Became {
    Copied,
    Checked,
    Restored,
    Imported,
}

impl Became {
    fn word(self) -> &'static str {
        match self {
            Became::Copied => "copied",
            Became::Checked => "whole:",
            Became::Restored => "restored",
            Became::Imported => "imported",
        }
    }

    /// Whether what a copy holds counts now, and nothing that came after it.
    fn is_in_force(self) -> bool {
        matches!(self, Became::Restored | Became::Imported)
    }
}

/// Who does it.
struct By {
    /// The caller's own token, which then says who calls; else the folder's host does.
    own: Option<Secret>,
    in_agent: bool,
}

impl By {
    /// As the environment says. A session's token is an agent's, as what marks one is.
    ///
    /// # Errors
    ///
    /// Where an agent runs it, and no person who is known here says that they mean it.
    fn of_environment(data: &Path, as_person: Option<PersonName>) -> Result<Self, Failure> {
        let own = place::own_token()?;
        let is_session = own.as_ref().is_some_and(|token| token.kind() == Kind::Session);
        let marker = agents::marker().or(is_session.then_some(place::TOKEN_VAR));
        match (marker, &as_person) {
            (Some(marker), None) => return Err(agents::refused(marker)),
            // Whoever is named is known by a token here; where there is none yet, by the folder.
            (_, Some(person)) if data.join(place::OWNER_TOKEN).exists() => {
                place::token_of_person(data, person)?;
            }
            _ => {}
        }
        Ok(Self { own: own.filter(|_| !is_session), in_agent: marker.is_some() })
    }

    fn client(self, data: &Path) -> Result<Client, Failure> {
        let address = place::address(data)?;
        let client = match self.own {
            Some(token) => Client::new(address, Some(token)),
            None => host_client(&address, data)?,
        };
        Ok(client.typed_in_agent(self.in_agent))
    }
}

/// All that is kept: by the daemon where one has the folder, or where its address is given.
async fn source(data: &Path, by: By) -> Result<Lines, Failure> {
    if place::set(place::ADDRESS_VAR).is_none() {
        match archive::lines_of_folder(data).await {
            Err(cannot) if cannot.reason == "HELD" => {}
            lines => return Ok(lines?),
        }
    }
    let pieces = by.client(data)?.export().await?;
    Ok(Box::pin(pieces.map(|piece| piece.map_err(|error| error.to_string()))))
}

/// What a file holds, or stdin, in pieces.
async fn lines_of(path: PathBuf) -> Result<Lines, Failure> {
    let file: Box<dyn tokio::io::AsyncRead + Send + Unpin> = match is_stdin(&path) {
        true => Box::new(tokio::io::stdin()),
        false => {
            let opened = tokio::fs::File::open(&path).await;
            let failed = |error| {
                Failure::io(path.display(), &error)
                    .then("the same with a file that can be read, or - for stdin")
            };
            Box::new(opened.map_err(failed)?)
        }
    };
    Ok(Box::pin(futures_util::stream::unfold(file, |mut file| async move {
        let mut piece = vec![0; PIECE];
        match file.read(&mut piece).await {
            Ok(0) => None,
            Ok(count) => {
                piece.truncate(count);
                Some((Ok(piece), file))
            }
            Err(error) => Some((Err(error.to_string()), file)),
        }
    })))
}

async fn export(
    mut lines: Lines,
    progress: Progress,
    to: Option<PathBuf>,
    out: &mut Out,
) -> Result<Exit, Failure> {
    let cut =
        |why: String| Failure::new(Exit::Unavailable, "CUT_SHORT", why).then("the same again");
    let Some(path) = to else {
        if std::io::stdout().is_terminal() {
            let message = "all that is kept is not for a terminal to show";
            return Err(Failure::usage(message).then("askway admin export --out FILE"));
        }
        while let Some(piece) = lines.next().await {
            out.bytes(&piece.map_err(cut)?)?;
        }
        return match out.flush()? {
            true => Ok(Exit::Done),
            false => Err(cut("nobody read it to its end".into())),
        };
    };
    let failed = |error: &std::io::Error| Failure::io(path.display(), error);
    let file = tempfile::NamedTempFile::new_in(files::folder_of(&path));
    let mut file = file.map_err(|error| failed(&error))?;
    while let Some(piece) = lines.next().await {
        file.write_all(&piece.map_err(cut)?).map_err(|error| failed(&error))?;
    }
    file.as_file().sync_all().map_err(|error| failed(&error))?;
    file.persist_noclobber(&path).map_err(|error| failed(&error.error))?;
    files::sync_name(&path).map_err(|error| failed(&error))?;
    drop(progress);
    match out.json {
        true => out.object(&json!({ "file": path.display().to_string() }))?,
        false => out.line(&format!("exported to {}", path.display()))?,
    }
    Ok(Exit::Done)
}

fn say(
    out: &mut Out,
    became: Became,
    place: &Path,
    summary: &Summary,
    before: Option<&Path>,
) -> Result<Exit, Failure> {
    let Summary { counts, bytes, incarnation } = summary;
    let place = place.display().to_string();
    if out.json {
        out.object(&json!({
            "place": place,
            "asks": counts.asks,
            "open": counts.open,
            "events": counts.events,
            "sessions": counts.sessions,
            "others": counts.others,
            "bytes": bytes,
            "incarnation": incarnation,
            "before": before.map(|before| before.display().to_string()),
        }))?;
        return Ok(Exit::Done);
    }
    let count = |number: u64, what: &str| match number {
        1 => format!("1 {what}"),
        _ => format!("{number} {what}s"),
    };
    let kept = [
        format!("{} ({} open)", count(counts.asks, "ask"), counts.open),
        count(counts.events, "event"),
        count(counts.sessions, "session"),
        count(counts.others, "other record"),
        format!("{} KiB", bytes.div_ceil(1024)),
    ];
    out.line(&format!("{} {place}: {}", became.word(), kept.join(", ")))?;
    if became.is_in_force() {
        out.note(
            "what was revoked, removed or declined since that copy is so no more: look at askway token \
             ls, askway person ls and askway inbox",
        );
    }
    if let Some(before) = before {
        out.note(&format!("what was there is kept as {}", before.display()));
    }
    out.flush()?;
    Ok(Exit::Done)
}
