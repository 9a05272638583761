//! Asking a person at the terminal. A prompt blocks until a key is pressed, and a thread that blocks
//! cannot be ended; so each prompt is a process of its own ([`asker`]) that is ended when what it asks
//! about has changed. Nothing that is typed afterwards reaches it, and the terminal is as it was.

pub(super) mod asker;
mod keys;
mod written;

use super::terminal::{self, Modes};
use super::{Exit, Failure};
use serde::{Deserialize, Serialize};
use std::io::{self, BufRead, BufReader, Write};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;

/// The hidden verb.
pub(super) const VERB: &str = "__prompt";

/// What is asked. Every text is on one line, with nothing hidden in it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Prompt {
    /// One of these.
    Choose {
        /// What is asked.
        message: String,
        /// What there is.
        entries: Vec<String>,
    },
    /// Any of these.
    Mark {
        /// What is asked.
        message: String,
        /// What there is.
        entries: Vec<String>,
        /// Which are marked at first.
        marked: Vec<usize>,
    },
    /// A line of text.
    Write {
        /// What is asked.
        message: String,
        /// What stands there at first.
        initial: String,
        /// Which keys do what.
        help: String,
    },
}

/// What comes of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Reply {
    /// Not the end: what stands in the line of text now.
    Typing(String),
    /// The entry at this place.
    Chosen(usize),
    /// The entries at these places, none where nothing was marked.
    Marked(Vec<usize>),
    /// This text.
    Written(String),
    /// Esc.
    Back,
    /// Ctrl-C.
    Interrupted,
    /// It could not be asked.
    Failed(String),
}

/// What was heard first.
pub(super) enum Heard<N> {
    /// What the person said; never [`Reply::Typing`], never [`Reply::Failed`].
    Reply(Reply),
    /// What was waited for beside it. The prompt is gone; this was typed until then.
    News(N, String),
}

/// Asks one thing after another at one terminal.
pub(super) struct Prompter {
    modes: Modes,
    terminated: Signal,
    hung_up: Signal,
}

impl Prompter {
    /// At the terminal of this process.
    ///
    /// # Errors
    ///
    /// When signals cannot be heard.
    pub fn new() -> Result<Self, Failure> {
        let hear = |kind| signal(kind).map_err(|error| Failure::io("signals", &error));
        let (terminated, hung_up) = (hear(SignalKind::terminate())?, hear(SignalKind::hangup())?);
        Ok(Self { modes: Modes::now(), terminated, hung_up })
    }

    /// Asks, until there is a reply, or `news`.
    ///
    /// # Errors
    ///
    /// When it cannot be asked.
    pub async fn ask<N>(
        &mut self,
        prompt: &Prompt,
        news: impl Future<Output = N>,
    ) -> Result<Heard<N>, Failure> {
        let (mut asking, mut said) = Asking::begin(prompt, &self.modes)?;
        let (mut typed, mut news) = (String::new(), std::pin::pin!(news));
        loop {
            tokio::select! {
                biased;
                news = &mut news => {
                    drop(asking);
                    return Ok(Heard::News(news, typed));
                }
                _ = self.terminated.recv() => return Ok(Heard::Reply(Reply::Interrupted)),
                _ = self.hung_up.recv() => return Ok(Heard::Reply(Reply::Interrupted)),
                reply = said.recv() => match reply {
                    Some(Reply::Typing(text)) => typed = text,
                    Some(Reply::Failed(why)) => return Err(failed(&why)),
                    None => return Err(failed("it ended by itself")),
                    // It is left where it stands; what is below goes with it.
                    Some(Reply::Interrupted) => return Ok(Heard::Reply(Reply::Interrupted)),
                    Some(reply) => {
                        asking.ended_by_itself();
                        return Ok(Heard::Reply(reply));
                    }
                },
            }
        }
    }

    /// Gives the terminal to another program, and takes it back.
    pub fn restore(&self) {
        self.modes.restore();
    }

    /// Forgets what was typed for something that is not on screen any more.
    pub fn forget_keys(&self) {
        terminal::forget_keys();
    }
}

fn failed(why: &str) -> Failure {
    Failure::new(Exit::Unexpected, "PROMPT", format!("nothing can be asked here: {why}"))
        .then("askway answer ID LABEL")
}

/// A prompt on screen. When this goes, so does the prompt, and the terminal is as it was.
struct Asking<'a> {
    child: Child,
    modes: &'a Modes,
    is_done: bool,
}

impl<'a> Asking<'a> {
    fn begin(
        prompt: &Prompt,
        modes: &'a Modes,
    ) -> Result<(Self, mpsc::UnboundedReceiver<Reply>), Failure> {
        let io = |error: io::Error| Failure::io("a prompt", &error);
        let text = serde_json::to_string(prompt).map_err(io::Error::other).map_err(io)?;
        let program = std::env::current_exe().map_err(io)?;
        let mut command = Command::new(program);
        command.arg(VERB).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(io)?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        let asking = Self { child, modes, is_done: false };
        if let Some(mut stdin) = stdin {
            stdin.write_all(text.as_bytes()).map_err(io)?;
        }
        let (send, said) = mpsc::unbounded_channel();
        if let Some(stdout) = stdout {
            // It ends with the prompt, whose pipe it reads.
            thread::spawn(move || hear(stdout, &send));
        }
        Ok((asking, said))
    }

    fn ended_by_itself(&mut self) {
        let _ = self.child.wait();
        self.is_done = true;
        self.modes.restore();
    }
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        if !self.is_done {
            let _ = self.child.kill();
            let _ = self.child.wait();
            self.modes.tidy();
        }
    }
}

fn hear(stdout: ChildStdout, send: &mpsc::UnboundedSender<Reply>) {
    for line in BufReader::new(stdout).lines().map_while(Result::ok) {
        let reply = serde_json::from_str(&line).unwrap_or(Reply::Failed(line));
        if send.send(reply).is_err() {
            return;
        }
    }
}
