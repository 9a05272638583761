//! `askway run`: a command as an agent's session. The session is enrolled, held while the command
//! runs, and paused when it ends; run inside another session, its sender is that one.

mod signals;

use self::signals::{Signals, code_of, wait};
use super::render::Out;
use super::{Exit, Failure, background, host_client, place};
use crate::client::{Address, Client};
use crate::grpc::v1;
use crate::session::Secret;
use std::env;
use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;
use tokio::process::{Child, Command};
use tokio_stream::StreamExt;
use tonic::Code;

/// How long the end of a run waits for a daemon that is not there: its hold is lost anyway, and the
/// session is paused without it.
const AT_THE_END: Duration = Duration::from_secs(3);
/// How long the beginning does.
const AT_THE_BEGINNING: Duration = Duration::from_secs(10);

/// Run a command as an agent's session: a root session at a terminal, a child of the session it is
/// run in otherwise. When the command ends the session is paused, so that it can be resumed.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
Examples:
  askway run --as lead -- claude
  askway run --background --as worker -- ./worker.sh
  askway run --resume ses_8f3k0000000000000000 -- ./worker.sh")]
pub struct Args {
    /// What the agent is called.
    #[arg(long = "as", value_name = "AGENT", required_unless_present = "resume")]
    agent: Option<String>,
    /// Resume a paused session instead of enrolling one.
    #[arg(long, value_name = "SESSION", conflicts_with = "agent")]
    resume: Option<String>,
    /// Return at once and print the session's id; it lives on by itself, and its sender may be asked.
    #[arg(long)]
    background: bool,
    /// End the session for good when the command ends.
    #[arg(long = "final")]
    is_final: bool,
    /// It answers no asks: those of whoever it sends work to go past it.
    #[arg(long, conflicts_with = "resume")]
    answers_none: bool,
    /// Its host resumes it when something waits on it: it may be asked while it is paused, as long as
    /// a host watches for that.
    #[arg(long, conflicts_with = "resume")]
    wakeable: bool,
    /// It may file no asks for this work: for a child of the session it is run in.
    #[arg(long, conflicts_with = "resume")]
    no_asks: bool,
    /// The command and its arguments.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

impl Args {
    /// The session that is wanted, but for its work.
    fn as_agent(&self, agent: &str) -> v1::EnrollRequest {
        let (answers_none, wakeable) = (self.answers_none, self.wakeable);
        v1::EnrollRequest { agent: agent.to_owned(), answers_none, wakeable, ..Default::default() }
    }

    /// The same, as it is typed for the process that stays behind.
    pub(super) fn retyped(&self) -> Vec<OsString> {
        let mut typed: Vec<OsString> = Vec::new();
        let named = [("--as", &self.agent), ("--resume", &self.resume)];
        for (flag, value) in named {
            if let Some(value) = value {
                typed.extend([flag.into(), value.into()]);
            }
        }
        let flags = [
            ("--final", self.is_final),
            ("--answers-none", self.answers_none),
            ("--wakeable", self.wakeable),
            ("--no-asks", self.no_asks),
        ];
        typed.extend(flags.into_iter().filter(|(_, set)| *set).map(|(flag, _)| flag.into()));
        typed.push("--".into());
        typed.extend(self.command.iter().cloned());
        typed
    }
}

pub(super) async fn run(args: Args, out: &mut Out) -> Result<ExitCode, Failure> {
    if args.background {
        return background::leave_behind(&args, out).await;
    }
    let held = Held::begin(&args, false).await.map_err(as_run_failure)?;
    held.run(&args, out.json, None).await
}

/// What `run` itself fails with: 125, so that it is not taken for the command's.
pub(super) fn as_run_failure(failure: Failure) -> Failure {
    Failure { exit: Exit::RunFailed, ..failure }
}

/// A session that is held.
pub(super) struct Held {
    /// The session.
    pub session: v1::Session,
    /// The client that speaks as it.
    client: Client,
    token: Secret,
    address: Address,
    hold: tokio::task::JoinHandle<()>,
}

impl Held {
    /// Enrolls or resumes the session, and holds it.
    pub async fn begin(args: &Args, background: bool) -> Result<Self, Failure> {
        let data = place::data()?;
        let address = absolute(place::address(&data)?)?;
        let given = match (&args.agent, &args.resume, place::session_token()?) {
            (_, Some(session), token) => resume(session, token, &address, &data).await?,
            (Some(agent), None, Some(token)) => {
                let blocking = !background;
                let work =
                    v1::SendWorkRequest { blocking, no_asks: args.no_asks, ..Default::default() };
                enroll_child(args.as_agent(agent), token, work, &address).await?
            }
            (Some(_), None, None) if args.no_asks => {
                let message = "nobody sends a root session its work, so nobody forbids its asks";
                return Err(Failure::usage(message).then("the same without --no-asks"));
            }
            (Some(agent), None, None) => enroll_root(args.as_agent(agent), &address, &data).await?,
            (None, None, _) => return Err(Failure::usage("--as or --resume says which session")),
        };
        let client = Client::new(address.clone(), Some(given.token.clone()));
        match hold(&client, given.hold).await {
            Ok(hold) => {
                Ok(Self { session: given.session, client, token: given.token, address, hold })
            }
            Err(failure) => {
                // Never held, it would be active for ever; a new one has nothing to come back to.
                leave(&client, &given.session, args.is_final || args.resume.is_none()).await;
                Err(failure)
            }
        }
    }

    /// Runs the command in the session; with its output in `log`, where it runs in the background.
    /// Its exit code is ours.
    pub async fn run(
        self,
        args: &Args,
        json: bool,
        log: Option<std::fs::File>,
    ) -> Result<ExitCode, Failure> {
        // Heard from before the command is there: it may be spoken to as soon as it has spoken.
        let waiting = |error| Failure::io("waiting for the command", &error);
        let ended = async {
            let signals = Signals::heard().map_err(waiting)?;
            let mut child = self.spawn(args, json, log)?;
            wait(&mut child, signals).await.map_err(waiting)
        };
        let ended = ended.await;
        self.end(args.is_final).await;
        ended.map(|status| ExitCode::from(code_of(status))).map_err(as_run_failure)
    }

    /// Starts the command, on this thread: on Linux it dies with the thread that started it, and this
    /// is the main one, which ends last.
    fn spawn(&self, args: &Args, json: bool, log: Option<std::fs::File>) -> Result<Child, Failure> {
        let failed = |error| Failure::io("the command does not start", &error);
        let own = env::current_exe().map_err(failed)?;
        let mut command = Command::new(own);
        command
            .args(json.then_some("--json"))
            .arg("__exec")
            .arg(std::process::id().to_string())
            .arg("--")
            .args(&args.command)
            .env(place::TOKEN_VAR, self.token.expose())
            // The token of whoever begins it is not for the agent.
            .env_remove(place::TOKEN_FILE_VAR)
            .env(place::ADDRESS_VAR, self.address.to_string())
            .env("ASKWAY_SESSION", &self.session.id)
            .env("ASKWAY_AGENT", &self.session.agent)
            .kill_on_drop(true);
        if let Some(log) = log {
            let errors = log.try_clone().map_err(failed)?;
            command.stdin(std::process::Stdio::null()).stdout(log).stderr(errors);
        }
        if cfg!(not(target_os = "linux")) {
            command.process_group(0);
        }
        command.spawn().map_err(failed)
    }

    /// Pauses the session, or ends it, and lets go of it.
    pub async fn end(self, for_good: bool) {
        // The hold would say that the session was paused, which is our own doing.
        self.hold.abort();
        leave(&self.client, &self.session, for_good).await;
    }
}

/// Pauses a session, or ends it. A daemon that is not there misses the hold later.
async fn leave(client: &Client, session: &v1::Session, for_good: bool) {
    let client = client.clone().with_patience(AT_THE_END);
    let left = async {
        if for_good {
            client.end_session(v1::EndSessionRequest::default()).await.map(|_| ())
        } else {
            client.pause_session(v1::PauseSessionRequest::default()).await.map(|_| ())
        }
    };
    let said = match tokio::time::timeout(AT_THE_END * 2, left).await {
        Ok(Ok(())) => return,
        // Somebody ended it, or resumed it elsewhere: it is not ours to leave any more.
        Ok(Err(error)) if error.code == Code::Unauthenticated => return,
        Ok(Err(error)) => error.message,
        Err(_) => "the daemon does not answer".to_owned(),
    };
    let note = format!("askway: session {} is not paused yet: {said}", session.id);
    let _ = writeln!(anstream::stderr(), "{note}; it will be when its hold is missed");
}

/// A session with its secrets.
struct Given {
    session: v1::Session,
    token: Secret,
    hold: Secret,
}

impl Given {
    fn of(
        receipt: Option<v1::SessionReceipt>,
        session: Option<v1::Session>,
        token: &str,
        hold: &str,
    ) -> Result<Self, Failure> {
        accepted(receipt)?;
        match (session, Secret::read(token), Secret::read(hold)) {
            (Some(session), Some(token), Some(hold)) => Ok(Self { session, token, hold }),
            _ => Err(Failure::new(Exit::RunFailed, "RUN", "the daemon gave no session")),
        }
    }
}

fn accepted(receipt: Option<v1::SessionReceipt>) -> Result<(), Failure> {
    super::receipt::session_verdict(receipt.as_ref()).map(|_| ())
}

async fn enroll_root(
    agent: v1::EnrollRequest,
    address: &Address,
    data: &Path,
) -> Result<Given, Failure> {
    let client = host_client(address, data)?.with_patience(AT_THE_BEGINNING);
    enroll(&client, agent).await
}

/// The chain of senders comes for free: the session this runs in sends the work.
async fn enroll_child(
    agent: v1::EnrollRequest,
    token: Secret,
    work: v1::SendWorkRequest,
    address: &Address,
) -> Result<Given, Failure> {
    let sender = Client::new(address.clone(), Some(token)).with_patience(AT_THE_BEGINNING);
    let sent = sender.send_work(work).await?;
    accepted(sent.receipt)?;
    enroll(&sender, v1::EnrollRequest { ticket: sent.ticket, ..agent }).await
}

async fn enroll(client: &Client, agent: v1::EnrollRequest) -> Result<Given, Failure> {
    let enrolled = client.enroll(agent).await?;
    let (token, hold) = (&enrolled.token, &enrolled.hold_secret);
    Given::of(enrolled.receipt, enrolled.session, token, hold)
}

async fn resume(
    session: &str,
    token: Option<Secret>,
    address: &Address,
    data: &Path,
) -> Result<Given, Failure> {
    let client = match token {
        Some(token) => Client::new(address.clone(), Some(token)),
        None => host_client(address, data)?,
    };
    let client = client.with_patience(AT_THE_BEGINNING);
    let session_id = session.to_owned();
    let request = v1::ResumeSessionRequest { session_id, ..Default::default() };
    let resumed = client.resume_session(request).await?;
    let (token, hold) = (&resumed.token, &resumed.hold_secret);
    Given::of(resumed.receipt, resumed.session, token, hold)
}

/// Holds the session, and goes on holding it: returns when it is held for the first time.
async fn hold(client: &Client, secret: Secret) -> Result<tokio::task::JoinHandle<()>, Failure> {
    let mut watch = client.hold(secret);
    let first = tokio::time::timeout(AT_THE_BEGINNING, watch.next()).await;
    match first {
        Ok(Some(Ok(_))) => {}
        Ok(Some(Err(error))) => return Err(error.into()),
        Ok(None) | Err(_) => {
            let message = "the daemon does not answer";
            return Err(Failure::new(Exit::Unavailable, "NO_DAEMON", message));
        }
    }
    Ok(tokio::spawn(async move {
        while let Some(item) = watch.next().await {
            if let Err(error) = item {
                let _ =
                    writeln!(anstream::stderr(), "askway: the session is held no more: {error}");
                return;
            }
        }
    }))
}

/// The address with a path that means the same wherever the command goes.
fn absolute(address: Address) -> Result<Address, Failure> {
    match address {
        Address::Unix(path) => std::path::absolute(&path)
            .map(Address::Unix)
            .map_err(|error| Failure::io(path.display(), &error)),
        other @ (Address::Http(_) | Address::Https(_)) => Ok(other),
    }
}

/// Where a background session's output goes.
pub(super) fn log_of(session: &str) -> Result<(PathBuf, std::fs::File), Failure> {
    use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
    let folder = place::data()?.join("runs");
    let path = folder.join(format!("{session}.log"));
    let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder);
    let opened = made.and_then(|()| {
        std::fs::OpenOptions::new().create(true).append(true).mode(0o600).open(&path)
    });
    opened.map(|file| (path.clone(), file)).map_err(|error| Failure::io(path.display(), &error))
}
