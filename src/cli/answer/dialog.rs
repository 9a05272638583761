//! One ask, decided at the terminal: shown, each question in turn, a summary, one submit.
//!
//! What is on screen is what is answered. While a prompt is open a watch runs beside it: when the
//! content has changed, what was chosen is void and the new content is shown; when somebody else has
//! settled it, the prompt ends and says so. What is asked, step by step: `steps`.

use super::answer;
use crate::ask::text::visible;
use crate::cli::look::Look;
use crate::cli::prompt::{Heard, Prompt, Prompter, Reply};
use crate::cli::render::human;
use crate::cli::{Context, Exit, Failure, Out, context, receipt, show};
use crate::client::{Client, Watched};
use crate::grpc::v1;
use std::collections::HashMap;
use std::future::pending;
use tokio_stream::StreamExt;

/// How a dialog ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// Something was sent.
    Done(Exit),
    /// Nothing was.
    Left(Exit),
}

impl End {
    /// How the verb ends.
    pub fn exit(self) -> Exit {
        let (End::Done(exit) | End::Left(exit)) = self;
        exit
    }
}

/// What a person has decided to do.
pub(super) enum Deed {
    Answer,
    Say(String),
    Decline(String),
}

/// Why a prompt gave nothing.
pub(super) enum Stop {
    Interrupted,
    Left,
    /// The ask as it is now, and what was typed until then.
    News(Box<v1::Ask>, String),
    Failed(Failure),
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Stop::Failed(failure)
    }
}

/// One ask on screen.
pub(super) struct Dialog<'a> {
    context: &'a Context,
    pub(super) out: &'a mut Out,
    pub(super) prompter: &'a mut Prompter,
    /// As it is shown.
    pub(super) ask: v1::Ask,
    /// What was chosen of that; void when the content changes.
    pub(super) answers: HashMap<String, v1::Answer>,
    /// What was typed when a prompt was cut off.
    pub(super) draft: String,
    /// Whether the content has just been replaced under the person's eyes.
    pub(super) is_replaced: bool,
    request_id: String,
}

impl<'a> Dialog<'a> {
    /// About an open ask.
    pub fn new(
        context: &'a Context,
        out: &'a mut Out,
        prompter: &'a mut Prompter,
        ask: v1::Ask,
        request_id: String,
    ) -> Self {
        let (answers, draft) = (HashMap::new(), String::new());
        Self { context, out, prompter, ask, answers, draft, is_replaced: false, request_id }
    }

    /// Asks until something is sent, or nothing is to be.
    ///
    /// # Errors
    ///
    /// When somebody else has settled it, and when it could not be sent.
    pub async fn run(mut self, claims: bool) -> Result<End, Failure> {
        if claims {
            let request = v1::ClaimRequest { ask_id: self.ask.id.clone(), ..Default::default() };
            receipt::verdict(&self.context.client.claim(request).await?)?;
            self.ask = self.context.read(&self.ask.id).await?;
        }
        let ended = self.until_decided().await;
        if claims && !matches!(ended, Ok(End::Done(Exit::Done))) {
            let request = v1::ReleaseRequest { ask_id: self.ask.id.clone(), ..Default::default() };
            // It lapses by itself; and of a settled ask nothing is left to release.
            let _ = self.context.client.release(request).await;
        }
        ended
    }

    async fn until_decided(&mut self) -> Result<End, Failure> {
        self.show().await?;
        loop {
            let stop = match self.decide().await {
                Ok(deed) => match self.send(deed).await {
                    Ok(exit) => return Ok(End::Done(exit)),
                    Err(stop) => stop,
                },
                Err(stop) => stop,
            };
            match stop {
                Stop::Interrupted => {
                    self.nothing_was_sent();
                    return Ok(End::Left(Exit::Interrupted));
                }
                Stop::Left => {
                    self.nothing_was_sent();
                    return Ok(End::Left(Exit::Open));
                }
                Stop::Failed(failure) => return Err(failure),
                Stop::News(ask, typed) => self.learn(*ask, typed).await?,
            }
        }
    }

    fn nothing_was_sent(&self) {
        let id = human::typed_id(&self.ask);
        self.out.note(&format!("nothing was sent; next: askway answer {id}"));
    }

    /// Shows it, which makes it what an answer is bound to.
    async fn show(&mut self) -> Result<(), Failure> {
        let you = self.context.person();
        let events = self.context.client.list_events(&self.ask.id).await?;
        let look = self.out.look;
        let (text, is_cut) = human::short(&self.ask, &events, you, human::now(), look);
        self.out.ask(&self.ask, |_| text)?;
        if let Some(you) = you.filter(|_| self.out.flush().unwrap_or(false)) {
            self.context.has_shown(&self.ask);
            // A silence after a part of it is none to a default.
            if !is_cut {
                show::tell_seen(self.context, &self.ask, you).await;
            }
        }
        self.out.note("");
        Ok(())
    }

    /// Takes in what has happened while a prompt was open, and tells it.
    async fn learn(&mut self, now: v1::Ask, typed: String) -> Result<(), Failure> {
        let before = std::mem::replace(&mut self.ask, now);
        if !typed.is_empty() {
            self.draft = typed;
        }
        if self.ask.outcome.is_some() {
            self.tell_draft();
            return Err(receipt::settled_before(&self.ask));
        }
        for turn in self.ask.turns.iter().skip(before.turns.len()) {
            self.out.note(&human::turn(turn, human::now(), Look::of_stderr()));
        }
        if before.content_digest != self.ask.content_digest {
            self.answers.clear();
            self.tell_draft();
            self.out.note("The asker has changed it meanwhile. Nothing was sent; as it is now:\n");
            self.is_replaced = true;
            return self.show().await;
        }
        let hop = |ask: &v1::Ask| ask.hop.as_ref().map(|hop| hop.index);
        if hop(&before) != hop(&self.ask) {
            let whom = human::waited_on(&self.ask);
            self.out.note(&format!("It waits on {whom} now; you may answer it all the same."));
        }
        Ok(())
    }

    fn tell_draft(&self) {
        if !self.draft.is_empty() {
            self.out.note(&format!("What you had typed: {}", visible(&self.draft)));
        }
    }

    pub(super) async fn prompt(&mut self, prompt: &Prompt) -> Result<Reply, Stop> {
        let client = self.context.patient();
        match self.prompter.ask(prompt, news(&client, &self.ask)).await? {
            Heard::Reply(Reply::Interrupted) => Err(Stop::Interrupted),
            Heard::Reply(reply) => Ok(reply),
            Heard::News(ask, typed) => Err(Stop::News(Box::new(ask?), typed)),
        }
    }

    /// Sends it, bound to what is on screen. While the daemon is away it is asked whether to try
    /// again: the same call, so that it is done once.
    async fn send(&mut self, deed: Deed) -> Result<Exit, Stop> {
        let mut request_id = std::mem::take(&mut self.request_id);
        if request_id.is_empty() {
            request_id = uuid::Uuid::now_v7().to_string();
        }
        let receipt = loop {
            match self.call(&deed, &request_id).await {
                Ok(receipt) => break receipt,
                Err(failure) if failure.exit == Exit::Unavailable => {
                    self.out.note(&failure.message);
                    let (message, entries) =
                        ("Not sent: try again?".into(), ["try again", "leave"]);
                    let entries = entries.map(str::to_owned).to_vec();
                    let prompt = Prompt::Choose { message, entries };
                    match self.prompter.ask(&prompt, pending::<()>()).await? {
                        Heard::Reply(Reply::Chosen(0)) => {}
                        Heard::Reply(Reply::Interrupted) => return Err(Stop::Interrupted),
                        _ => return Err(Stop::Left),
                    }
                }
                Err(failure) => return Err(failure.into()),
            }
        };
        match (receipt.result(), receipt.reason.as_str(), &receipt.ask) {
            (v1::Result::Refused, "STALE", _) | (v1::Result::Closed, ..) => {
                let now = self.context.read(&self.ask.id).await?;
                self.prompter.forget_keys();
                return Err(Stop::News(Box::new(now), String::new()));
            }
            _ => {}
        }
        let (said, exit) = match &deed {
            Deed::Answer => ("answered", Exit::Done),
            Deed::Decline(_) => ("declined", Exit::Done),
            Deed::Say(_) => ("said on", Exit::Open),
        };
        receipt::finish(&receipt, self.out, |ask| {
            format!("{said} {}{}", ask.id, receipt::asker(&receipt, ask))
        })?;
        Ok(exit)
    }

    async fn call(&self, deed: &Deed, request_id: &str) -> Result<v1::Receipt, Failure> {
        let (client, request_id) = (&self.context.client, request_id.to_owned());
        let (ask_id, content_digest) = (self.ask.id.clone(), self.ask.content_digest.clone());
        Ok(match deed {
            Deed::Answer => {
                let answers = self.answers.clone();
                answer(self.context, &self.ask, content_digest, request_id, answers).await?
            }
            Deed::Decline(note) => {
                let note = Some(note.clone()).filter(|note| !note.trim().is_empty());
                let request = v1::DeclineRequest { request_id, ask_id, content_digest, note };
                client.decline(request).await?
            }
            Deed::Say(text) => {
                let text = text.clone();
                client.say(v1::SayRequest { request_id, ask_id, text }).await?
            }
        })
    }
}

/// The ask as soon as it is another than the one on screen in what matters to whoever looks at it.
async fn news(client: &Client, shown: &v1::Ask) -> Result<v1::Ask, Failure> {
    let mut watch = client.watch_ask(&shown.id, Some(shown.revision));
    while let Some(item) = watch.next().await.transpose()? {
        if matches!(item, Watched::Reconnecting | Watched::Stale | Watched::Current) {
            continue;
        }
        let now = context::read(client, &shown.id).await?;
        if is_news(shown, &now) {
            return Ok(now);
        }
    }
    context::read(client, &shown.id).await
}

fn is_news(shown: &v1::Ask, now: &v1::Ask) -> bool {
    let hop = |ask: &v1::Ask| ask.hop.as_ref().map(|hop| hop.index);
    now.outcome.is_some()
        || now.content_digest != shown.content_digest
        || now.turns.len() != shown.turns.len()
        || hop(now) != hop(shown)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::render::fixture;

    #[test]
    fn marks_and_claims_are_no_news_to_whoever_looks_at_it() {
        let shown = fixture::open();
        let mut now = shown.clone();
        now.revision += 2;
        now.claim = Some(v1::Claim::default());
        now.seen.push(v1::SeenMark::default());
        assert!(!is_news(&shown, &now));
        assert!(is_news(&shown, &fixture::settled(v1::OutcomeKind::Withdrawn)));
        assert!(is_news(&shown, &fixture::spoken()));
        now.content_digest = "11".repeat(32);
        assert!(is_news(&shown, &now));
        now = shown.clone();
        now.hop.as_mut().expect("a hop").index += 1;
        assert!(is_news(&shown, &now));
    }
}
