//! `askway demo`: the whole of it at work, on a folder of its own, told as it happens. A real daemon,
//! a real lead and a real worker; each step is checked, and the code is 0 only if all of it happened.

mod stage;

use super::render::{Out, human, json};
use super::{Exit, Failure};
use crate::client::Watched;
use crate::grpc::v1::{self, watch_inbox_response::Message};
use serde::Serialize;
use stage::{SENDER_ASKED_FOR, STEP, Stage};
use std::io::{BufRead, IsTerminal, Write};
use std::time::Instant;
use tokio::signal::unix::{SignalKind, signal};
use tokio_stream::StreamExt;

/// See the whole of it work: a daemon, a lead, a worker and you, in less than a minute.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  askway demo")]
pub struct Args {}

pub(super) async fn run(_: Args, out: &mut Out) -> Result<Exit, Failure> {
    let listen = |kind| signal(kind).map_err(|error| Failure::io("signals", &error));
    let mut interrupted = listen(SignalKind::interrupt())?;
    let mut terminated = listen(SignalKind::terminate())?;
    let mut stage = Stage::set().await?;
    let mut story = Story { begun: Instant::now(), json: out.json };
    let told = tokio::select! {
        told = story.tell(&mut stage) => told,
        _ = interrupted.recv() => Ok(Exit::Interrupted),
        _ = terminated.recv() => Ok(Exit::Interrupted),
    };
    match told {
        Ok(exit) => {
            stage.clear(true).await;
            Ok(exit)
        }
        Err(failure) => {
            stage.clear(false).await;
            let kept = format!("look at what happened in {}", stage.folder.display());
            Err(failure.then(kept))
        }
    }
}

struct Story {
    begun: Instant,
    json: bool,
}

/// A step of the story, for programs.
#[derive(Serialize)]
struct Told<'a> {
    seconds: f64,
    told: &'a str,
}

impl Story {
    async fn tell(&mut self, stage: &mut Stage) -> Result<Exit, Failure> {
        self.say(&format!(
            "A daemon serves on a folder of its own; a sender is asked for {SENDER_ASKED_FOR} there."
        ));
        stage.start_lead()?;
        self.say("A lead runs in a session, and has sent work to a worker in another.");

        let mut seen = Vec::new();
        let first = self.next_ask(stage, &mut seen).await?;
        stage.told()?;
        let first = self.until_settled(stage, &first).await?;
        check(
            "the sender answers",
            &first,
            |by| matches!(by, v1::actor::Who::Session(s) if s.agent == "lead"),
        )?;
        self.say("The lead answered. The worker has it and goes on.");

        let second = self.next_ask(stage, &mut seen).await?;
        self.say("The lead says nothing this time.");
        let second = self.until(stage, &second, "the route timer", |ask| {
            ask.hop.as_ref().is_some_and(|hop| hop.cause() == v1::HopCause::Timeout)
        });
        let second = second.await?;
        self.say(&format!("The route timer ran out: {}.", waits(&second)));
        self.person_answers(stage, &second).await?;
        let second = self.until_settled(stage, &second).await?;
        check("the person answers", &second, is_owner)?;

        let third = self.next_ask(stage, &mut seen).await?;
        let third = self.until(stage, &third, "the refusal", |ask| {
            ask.hop.as_ref().is_some_and(|hop| hop.cause() == v1::HopCause::Refused)
        });
        let third = third.await?;
        self.say(&format!("The lead refused: {}.", waits(&third)));
        stage.kill_daemon().await?;
        self.say("The daemon was killed with SIGKILL while the worker waits…");
        stage.start_daemon().await?;
        self.say("…and started again. Nothing is lost; the worker's wait has gone on by itself.");
        self.person_answers(stage, &third).await?;
        let third = self.until_settled(stage, &third).await?;
        check("the person answers after the kill", &third, is_owner)?;

        stage.lead_ends().await?;
        let third = stage.ask(&third.id).await?;
        let has_it = third.delivery.as_ref().map(v1::DeliveryStatus::state);
        if has_it != Some(v1::DeliveryState::Acknowledged) {
            return Err(failed("the answer reaches the worker", "it was not acknowledged"));
        }
        self.say("The answer streamed back to the worker, which has finished. That is all of it.");
        Ok(Exit::Done)
    }

    fn say(&self, line: &str) {
        let seconds = self.begun.elapsed().as_secs_f64();
        match self.json {
            true => println!("{}", json::line(&Told { seconds, told: line })),
            false => println!("{seconds:>5.1}s  {line}"),
        }
    }

    /// The next ask that comes, told.
    async fn next_ask(&self, stage: &Stage, seen: &mut Vec<String>) -> Result<v1::Ask, Failure> {
        let come = async {
            let mut watch = stage.client.watch_inbox(v1::AskScope::Visible);
            while let Some(message) = watch.next().await {
                let asks = match message? {
                    Message::Snapshot(snapshot) => snapshot.asks,
                    Message::Change(change) => change.came,
                    Message::Idle(_) => Vec::new(),
                };
                if let Some(ask) = asks.into_iter().find(|ask| !seen.contains(&ask.id)) {
                    return Ok(ask);
                }
            }
            Err(failed("the worker asks", "the watch ended"))
        };
        let ask = stage::within("the worker asks", STEP, come).await?;
        seen.push(ask.id.clone());
        let asked = ask.questions.first().map(|question| question.question.as_str());
        self.say(&format!("The worker asks: {}", asked.unwrap_or_default()));
        Ok(ask)
    }

    /// The ask, once `wanted` is true of it.
    async fn until(
        &self,
        stage: &Stage,
        ask: &v1::Ask,
        step: &str,
        wanted: impl Fn(&v1::Ask) -> bool,
    ) -> Result<v1::Ask, Failure> {
        let come = async {
            let mut watch = stage.client.watch_ask(&ask.id, None);
            while let Some(item) = watch.next().await {
                let now = match item? {
                    Watched::Ask(ask) => Some(*ask),
                    Watched::Event(event) => event.ask,
                    Watched::Reconnecting | Watched::Stale | Watched::Current => None,
                    Watched::End => break,
                };
                if now.is_some_and(|now| wanted(&now)) {
                    return Ok(());
                }
            }
            Ok::<(), Failure>(())
        };
        stage::within(step, STEP, come).await?;
        let now = stage.ask(&ask.id).await?;
        if wanted(&now) { Ok(now) } else { Err(failed(step, "the ask ended otherwise")) }
    }

    async fn until_settled(&self, stage: &Stage, ask: &v1::Ask) -> Result<v1::Ask, Failure> {
        self.until(stage, ask, "the ask is settled", |ask| ask.outcome.is_some()).await
    }

    /// The person's answer: typed where there is a terminal, given by a process of its own where
    /// there is none.
    async fn person_answers(&self, stage: &Stage, ask: &v1::Ask) -> Result<(), Failure> {
        self.say("A person types: askway show …");
        let shown = stage.show(&ask.id).await?;
        if !self.json {
            println!();
            shown.lines().for_each(|line| println!("{}", format!("        {line}").trim_end()));
            println!();
        }
        let answer = if !self.json && std::io::stdin().is_terminal() {
            let shown = stage.ask(&ask.id).await?;
            tokio::task::spawn_blocking(move || typed(&shown)).await.ok().flatten()
        } else {
            None
        };
        let answer = match answer {
            Some(answer) => answer,
            None => {
                self.say("A person types: askway answer … Yes");
                vec!["Yes".to_owned()]
            }
        };
        stage.answer(&ask.id, &answer).await
    }
}

/// What a person types to the question on the screen: a number, or words of their own.
fn typed(ask: &v1::Ask) -> Option<Vec<String>> {
    let question = ask.questions.first()?;
    for (place, option) in question.options.iter().enumerate() {
        println!("         {}  {}", place + 1, crate::ask::text::visible_line(&option.label));
    }
    print!("       Your answer (a number, or your own words): ");
    std::io::stdout().flush().ok()?;
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line).ok()?;
    println!();
    let line = line.trim();
    let chosen = line.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
    match chosen.and_then(|place| question.options.get(place)) {
        Some(option) => Some(vec![option.label.clone()]),
        None if line.is_empty() => None,
        None => Some(vec!["--text".to_owned(), line.to_owned()]),
    }
}

/// Why it is with whom it waits on now.
fn waits(ask: &v1::Ask) -> String {
    let reason = ask.hop.as_ref().map(|hop| hop.reason.as_str()).unwrap_or_default();
    let reason = crate::ask::text::visible_line(reason).into_owned();
    format!("it waits on {} now ({reason})", human::waited_on(ask))
}

fn is_owner(who: &v1::actor::Who) -> bool {
    matches!(who, v1::actor::Who::Person(person) if person == "owner")
}

/// Whether the ask was answered, by whom it should be.
fn check(step: &str, ask: &v1::Ask, by: impl Fn(&v1::actor::Who) -> bool) -> Result<(), Failure> {
    let outcome = ask.outcome.as_ref().filter(|o| o.kind() == v1::OutcomeKind::Answered);
    let who = outcome.and_then(|outcome| outcome.by.as_ref()).and_then(|by| by.who.as_ref());
    match who {
        Some(who) if by(who) => Ok(()),
        _ => Err(failed(step, "the outcome is another")),
    }
}

fn failed(step: &str, why: &str) -> Failure {
    Failure::new(Exit::Unexpected, "DEMO", format!("the step \"{step}\" did not happen: {why}"))
}
