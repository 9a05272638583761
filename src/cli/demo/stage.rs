//! The processes of the demo: a daemon, a lead, and what both leave behind; all stopped at the end.

use super::failed;
use crate::cli::{Failure, agents, place};
use crate::client::{Address, Client};
use crate::grpc::v1;
use rustix::process::{Pid, Signal, kill_process_group, test_kill_process};
use std::env;
use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

/// How long a step may take; a person may take longer at a terminal, and is not timed.
pub(super) const STEP: Duration = Duration::from_secs(30);

/// For how long a sender is asked: enough for a lead that is a script on a busy machine.
pub(super) const SENDER_ASKED_FOR: &str = "3s";
/// How long a worker that is done may take to pause its session.
const WORKER_ENDS_WITHIN: Duration = Duration::from_secs(5);
/// How often to look whether it has ended: it is nobody's child here.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// The lead: answers the first ask once it has been told of (an inbox does not show what comes and
/// goes in half a second), lets the second pass, refuses the third.
const LEAD: &str = r#"
waiting() { "$ASKWAY" inbox --json "$@" | sed -n 's/.*"id":"\(ask_[a-z0-9]*\)".*/\1/p'; }
"$ASKWAY" run --background --as worker -- sh -c "$WORKER" || exit 1
first=$(waiting --wait 30s)
while [ ! -e "$DEMO/told" ]; do sleep 0.1; done
"$ASKWAY" answer "$first" SQLite || exit 1
passed=$(waiting --wait 30s)
while [ "$(waiting)" = "$passed" ]; do sleep 0.2; done
"$ASKWAY" escalate "$(waiting --wait 30m)" -m "publishing is not mine to decide" || exit 1
while [ ! -e "$DEMO/done" ]; do sleep 0.2; done
"#;

/// The worker: asks three times, and goes on each time with what it was told.
const WORKER: &str = r#"
echo $PPID > "$DEMO/worker"
"$ASKWAY" ask "Which store for the cache?" -o "SQLite=one file" -o Postgres --wait || exit 1
"$ASKWAY" ask "Delete the old index?" -o Yes -o No --wait || exit 1
"$ASKWAY" ask "Publish the release?" -o Yes -o No --wait || exit 1
touch "$DEMO/done"
"#;

/// Everything that runs.
pub(super) struct Stage {
    pub folder: PathBuf,
    /// Speaks as the owner.
    pub client: Client,
    own: PathBuf,
    daemon: Option<Child>,
    lead: Option<Child>,
}

impl Stage {
    /// Makes the folder, and starts the daemon on it.
    pub async fn set() -> Result<Self, Failure> {
        let own = env::current_exe().map_err(|error| Failure::io("this program", &error))?;
        let folder = env::temp_dir().join(format!("askway-demo-{}", std::process::id()));
        let made = fs::DirBuilder::new().mode(0o700).create(&folder);
        made.map_err(|error| Failure::io(folder.display(), &error))?;
        let address = Address::Unix(folder.join(place::SOCKET));
        let mut stage = Self {
            folder,
            client: Client::new(address.clone(), None),
            own,
            daemon: None,
            lead: None,
        };
        stage.start_daemon().await?;
        let token = place::token_in(&stage.folder, place::OWNER_TOKEN)?;
        stage.client = Client::new(address, Some(token));
        Ok(stage)
    }

    pub async fn start_daemon(&mut self) -> Result<(), Failure> {
        let mut command =
            self.command(&["serve", "--route-timeout", SENDER_ASKED_FOR, "--log", "error"]);
        let log =
            fs::File::options().create(true).append(true).open(self.folder.join("daemon.log"));
        let log = log.map_err(|error| Failure::io("the daemon's log", &error))?;
        let daemon = command.stdout(Stdio::piped()).stderr(log).kill_on_drop(true).spawn();
        let mut daemon = daemon.map_err(|error| Failure::io("the daemon", &error))?;
        let stdout = daemon.stdout.take().expect("its output is piped");
        let ready = async {
            match BufReader::new(stdout).lines().next_line().await {
                Ok(Some(_)) => Ok(()),
                _ => Err(failed("the daemon starts", "it ended before it was ready")),
            }
        };
        within("the daemon starts", STEP, ready).await?;
        self.daemon = Some(daemon);
        Ok(())
    }

    /// SIGKILL: nothing is written, nothing is closed.
    pub async fn kill_daemon(&mut self) -> Result<(), Failure> {
        let Some(mut daemon) = self.daemon.take() else { return Ok(()) };
        daemon.kill().await.map_err(|error| Failure::io("the daemon", &error))
    }

    pub fn start_lead(&mut self) -> Result<(), Failure> {
        let log = fs::File::create(self.folder.join("lead.log"))
            .map_err(|error| Failure::io("the lead's log", &error))?;
        let errors = log.try_clone().map_err(|error| Failure::io("the lead's log", &error))?;
        let lead = self
            .command(&["run", "--as", "lead", "--", "sh", "-c", LEAD])
            .env("WORKER", WORKER)
            .stdin(Stdio::null())
            .stdout(log)
            .stderr(errors)
            .kill_on_drop(true)
            .spawn();
        self.lead = Some(lead.map_err(|error| Failure::io("the lead", &error))?);
        Ok(())
    }

    /// The lead ends when its worker has; both well.
    pub async fn lead_ends(&mut self) -> Result<(), Failure> {
        let Some(mut lead) = self.lead.take() else { return Ok(()) };
        let ended = async {
            let status = lead.wait().await.map_err(|error| Failure::io("the lead", &error))?;
            match status.success() {
                true => Ok(()),
                false => Err(failed("the worker and the lead finish", "the lead failed")),
            }
        };
        within("the worker and the lead finish", STEP, ended).await
    }

    /// Lets the lead answer: its ask has been told of.
    pub fn told(&self) -> Result<(), Failure> {
        let told = fs::write(self.folder.join("told"), "");
        told.map_err(|error| Failure::io(self.folder.display(), &error))
    }

    pub async fn ask(&self, id: &str) -> Result<v1::Ask, Failure> {
        let found = self.client.get_ask(id).await?;
        found.ask.ok_or_else(|| failed("the ask is read", "the reply is empty"))
    }

    /// A third process shows it to the person; what they see.
    pub async fn show(&self, id: &str) -> Result<String, Failure> {
        let shown = self.command(&["show", id]).stderr(Stdio::null()).output().await;
        let shown = shown.map_err(|error| Failure::io("askway show", &error))?;
        match shown.status.success() {
            true => Ok(String::from_utf8_lossy(&shown.stdout).into_owned()),
            false => Err(failed("the person is shown it", "askway show failed")),
        }
    }

    /// A fourth answers, as they would type it.
    pub async fn answer(&self, id: &str, words: &[String]) -> Result<(), Failure> {
        let mut command = self.command(&["answer", id]);
        let status = command.args(words).stdout(Stdio::null()).status().await;
        match status.map_err(|error| Failure::io("askway answer", &error))?.success() {
            true => Ok(()),
            false => Err(failed("the person answers", "askway answer failed")),
        }
    }

    /// Stops whatever still runs; removes the folder where nothing is to be looked at.
    pub async fn clear(&mut self, remove: bool) {
        if let Some(mut lead) = self.lead.take() {
            if let Some(group) = lead.id().and_then(|id| Pid::from_raw(id.cast_signed())) {
                let _ = kill_process_group(group, Signal::KILL);
            }
            let _ = lead.kill().await;
        }
        self.clear_worker().await;
        let _ = self.kill_daemon().await;
        if remove {
            let _ = fs::remove_dir_all(&self.folder);
        }
    }

    /// The worker was left behind in a session of its own, whose group the run that holds it leads.
    /// One that is done is about to end by itself, once it has paused its session.
    async fn clear_worker(&self) {
        let leader = fs::read_to_string(self.folder.join("worker")).ok();
        let leader = leader.and_then(|pid| Pid::from_raw(pid.trim().parse().ok()?));
        let Some(leader) = leader else { return };
        if self.folder.join("done").exists() {
            let gone = async {
                while test_kill_process(leader).is_ok() {
                    tokio::time::sleep(LOOK_AGAIN).await;
                }
                Ok(())
            };
            if within("the worker ends", WORKER_ENDS_WITHIN, gone).await.is_ok() {
                return;
            }
        }
        let _ = kill_process_group(leader, Signal::KILL);
    }

    /// This program with other arguments, in a world and a process group of its own. It dies with the
    /// demo, however that ends.
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.own);
        for name in ["SOCKET", "LISTEN", "ROUTE_TIMEOUT", "LOG", "ADDR", "TOKEN"] {
            command.env_remove(format!("ASKWAY_{name}"));
        }
        // Its people are played, wherever it is played.
        for (marker, _) in agents::MARKERS {
            command.env_remove(marker);
        }
        command
            .args(["__exec", &std::process::id().to_string(), "--"])
            .arg(&self.own)
            .args(arguments)
            .env(place::DATA_VAR, &self.folder)
            .env("ASKWAY", &self.own)
            .env("DEMO", &self.folder)
            .process_group(0);
        command
    }
}

/// A step that has to happen in time.
pub(super) async fn within<T>(
    step: &str,
    limit: Duration,
    happens: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    match tokio::time::timeout(limit, happens).await {
        Ok(happened) => happened,
        Err(_) => Err(failed(step, &format!("not within {} s", limit.as_secs()))),
    }
}
