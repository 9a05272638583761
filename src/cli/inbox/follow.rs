//! `askway inbox --watch`: what comes, changes and leaves, a line each, for as long as somebody reads.
//! Lines are only ever added, so that it works in a pipe and for who listens to a screen.

use super::turned;
use crate::ask::text::{brief, visible_line};
use crate::cli::render::lay::cut;
use crate::cli::render::{human, json};
use crate::cli::{Context, Exit, Failure, Out, context};
use crate::client::Client;
use crate::grpc::v1;
use std::collections::{BTreeMap, VecDeque};
use std::io::Write;
use tokio_stream::StreamExt;
use v1::watch_inbox_response::Message;

/// Tells until nobody reads any more. The watch takes itself up again over a daemon's restart, and
/// what was told before is not told again. With a filter the watch only says when to look: what is
/// listed then is what `askway inbox` would list.
pub(super) async fn follow(
    context: &Context,
    scope: v1::AskScope,
    filter: v1::AskFilter,
    bell: bool,
    out: &mut Out,
) -> Result<Exit, Failure> {
    let is_narrowed = filter != v1::AskFilter::default();
    let client = context.patient();
    let mut watch = client.follow_inbox(scope);
    let mut told = Told {
        client: &client,
        you: context.person(),
        known: BTreeMap::new(),
        settled: VecDeque::new(),
    };
    let (mut lost, mut is_begun, mut is_stale) = (0_usize, false, false);
    while let Some(message) = watch.next().await.transpose()? {
        match message {
            None => {
                lost += 1;
                away(lost, out)?;
            }
            Some(_) => back(std::mem::take(&mut lost), out)?,
        }
        if let Some(stale) = message.as_ref().and_then(|message| turned(&mut is_stale, message)) {
            store(stale, out)?;
        }
        let may_ring = bell && is_begun;
        match message {
            Some(Message::Snapshot(_) | Message::Change(_)) if is_narrowed => {
                let asks = client.find_asks(scope, filter.clone()).await?;
                told.snapshot(asks, may_ring, out).await?;
            }
            Some(Message::Snapshot(snapshot)) => told.snapshot(snapshot.asks, false, out).await?,
            Some(Message::Change(change)) => {
                if bell && !change.came.is_empty() {
                    ring();
                }
                told.leave(change.left_ask_ids, out).await?;
                told.come(change.came.into_iter().chain(change.changed), out)?;
            }
            Some(Message::Idle(_)) | None => {}
        }
        is_begun |= lost == 0;
        if !out.flush()? {
            return Ok(Exit::Done);
        }
    }
    Err(Failure::unexpected("the watch ended by itself").then("askway inbox --watch"))
}

/// How often in a row the connection is lost before the daemon is said to be away: a connection that
/// has its age is cut once, and made again at once.
const AWAY: usize = 2;

/// Says once that the daemon is away: a silence would look like one in which nothing comes.
fn away(lost: usize, out: &mut Out) -> Result<(), Failure> {
    match lost == AWAY {
        true => {
            say("away", "the daemon is away; what comes meanwhile is told when it is back", out)
        }
        false => Ok(()),
    }
}

fn back(lost: usize, out: &mut Out) -> Result<(), Failure> {
    if lost >= AWAY { say("back", "the daemon is back", out) } else { Ok(()) }
}

/// Says that the daemon's store is away, or back: the daemon is there, and knows nothing new meanwhile.
fn store(is_away: bool, out: &mut Out) -> Result<(), Failure> {
    match is_away {
        true => {
            let line = "the daemon's store is away; what comes meanwhile is told when it is back";
            say("store_away", line, out)
        }
        false => say("store_back", "the daemon's store is back", out),
    }
}

/// Something about no ask.
fn say(what: &'static str, line: &str, out: &mut Out) -> Result<(), Failure> {
    match out.json {
        true => out.line(&json::followed_nothing(what, human::now())),
        false => put(line, out),
    }
}

/// Rings where people listen, which is beside what is told.
fn ring() {
    // That nobody hears it is no failure of telling.
    let _ = std::io::stderr().write_all(b"\x07");
}

/// The asks as they were told last.
struct Told<'a> {
    client: &'a Client,
    you: Option<&'a str>,
    known: BTreeMap<String, v1::Ask>,
    /// The ids of those that were told last as settled: a store that was put back has them open.
    settled: VecDeque<String>,
}

/// How many of those are remembered: more than anybody still thinks of.
const SETTLED: usize = 1_000;

impl Told<'_> {
    /// All there is now. `may_ring` for what was not there before.
    async fn snapshot(
        &mut self,
        asks: Vec<v1::Ask>,
        may_ring: bool,
        out: &mut Out,
    ) -> Result<(), Failure> {
        let is_there = |id: &String| asks.iter().any(|ask| ask.id == *id);
        let left: Vec<_> = self.known.keys().filter(|id| !is_there(id)).cloned().collect();
        if may_ring && asks.iter().any(|ask| !self.known.contains_key(&ask.id)) {
            ring();
        }
        self.leave(left, out).await?;
        self.come(asks, out)
    }

    fn come(
        &mut self,
        asks: impl IntoIterator<Item = v1::Ask>,
        out: &mut Out,
    ) -> Result<(), Failure> {
        for ask in asks {
            match self.known.get(&ask.id) {
                None => {
                    let listed = human::listed(&ask, self.you, human::now(), true);
                    let again = match self.settled.contains(&ask.id) {
                        true => "open again: ",
                        false => "",
                    };
                    self.settled.retain(|id| *id != ask.id);
                    tell("came", &ask, &format!("{again}{listed}"), out)?;
                }
                Some(before) if before.revision > ask.revision => {
                    let listed = human::listed(&ask, self.you, human::now(), true);
                    tell("changed", &ask, &format!("as it was earlier: {listed}"), out)?;
                }
                Some(before) => {
                    for line in news(before, &ask) {
                        tell("changed", &ask, &line, out)?;
                    }
                }
            }
            self.known.insert(ask.id.clone(), ask);
        }
        Ok(())
    }

    async fn leave(&mut self, ids: Vec<String>, out: &mut Out) -> Result<(), Failure> {
        for id in ids {
            let known = self.known.remove(&id);
            let ask = match (context::read(self.client, &id).await, known) {
                (Ok(ask), _) => ask,
                // The store that is there now has never had it, or it is not this caller's to see any
                // more: what was told as open must not be waited for.
                (Err(failure), Some(known)) if failure.exit == Exit::NotFound => {
                    let line = format!("{}  is not here any more", visible_line(&id));
                    tell("gone", &known, &line, out)?;
                    continue;
                }
                (Err(failure), None) if failure.exit == Exit::NotFound => continue,
                (Err(failure), _) => return Err(failure),
            };
            if ask.outcome.is_some() {
                self.settled.push_back(id);
                if self.settled.len() > SETTLED {
                    self.settled.pop_front();
                }
            }
            let how = match &ask.outcome {
                Some(outcome) => ended(outcome),
                None => format!("waits on {} now", human::waited_on(&ask)),
            };
            tell("left", &ask, &format!("{}  {how}", visible_line(&ask.id)), out)?;
        }
        Ok(())
    }
}

/// How it ended, and with what.
fn ended(outcome: &v1::Outcome) -> String {
    let note = outcome.note.as_deref().map(brief).unwrap_or_default();
    let with: Vec<_> =
        [human::chosen(outcome), note].into_iter().filter(|part| !part.is_empty()).collect();
    match with.is_empty() {
        true => human::outcome_line(outcome),
        false => format!("{}: {}", human::outcome_line(outcome), with.join(": ")),
    }
}

fn tell(what: &'static str, ask: &v1::Ask, line: &str, out: &mut Out) -> Result<(), Failure> {
    if out.json {
        return out.line(&json::followed(what, human::now(), ask));
    }
    put(line, out)
}

/// A line with the time of day before it.
fn put(line: &str, out: &mut Out) -> Result<(), Failure> {
    let line = format!("{} {line}", human::clock(human::now()));
    // A terminal would go on at its left edge, where only lines of ours begin.
    match out.look.terminal {
        true => out.line(&cut(&line, out.look.width, out.look.ellipsis())),
        false => out.line(&line),
    }
}

/// What has happened to an ask between two tellings, in words.
fn news(before: &v1::Ask, after: &v1::Ask) -> Vec<String> {
    let id = visible_line(&after.id);
    let mut lines = Vec::new();
    let hop = |ask: &v1::Ask| ask.hop.as_ref().map(|hop| hop.index);
    if hop(before) != hop(after) {
        let reason = after.hop.as_ref().map(|hop| visible_line(&hop.reason)).unwrap_or_default();
        lines.push(format!("{id}  escalated to {}: {reason}", human::waited_on(after)));
    }
    let heard = before.turns.last().map_or(0, |turn| turn.revision);
    for turn in after.turns.iter().filter(|turn| turn.revision > heard) {
        let who = human::actor(turn.by.as_ref());
        lines.push(format!("{id}  {who} said: {}", brief(&turn.text)));
    }
    let on_it = |ask: &v1::Ask| ask.claim.as_ref().map(|claim| claim.person.clone());
    match (on_it(before), on_it(after)) {
        (before, after) if before == after => {}
        (_, Some(person)) => lines.push(format!("{id}  {} is on it", visible_line(&person))),
        (_, None) => lines.push(format!("{id}  nobody is on it any more")),
    }
    match (&before.asker_gone_time, &after.asker_gone_time) {
        (None, Some(_)) => lines.push(format!("{id}  its asker is gone")),
        (Some(_), None) => lines.push(format!("{id}  its asker is back")),
        _ => {}
    }
    let waits = |ask: &v1::Ask| ask.expiry.as_ref().map(|e| e.waits_reason.clone());
    if let Some(why) =
        waits(after).filter(|why| !why.is_empty() && waits(before).as_ref() != Some(why))
    {
        lines.push(format!("{id}  {why}"));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::render::fixture;

    #[test]
    fn how_it_ended_is_said_with_what_was_chosen_or_why_not() {
        let of = |kind| ended(&fixture::settled(kind).outcome.expect("it is settled"));
        assert_eq!(of(v1::OutcomeKind::Answered), "answered by lead: SQLite, \"it fits\"");
        assert_eq!(of(v1::OutcomeKind::Declined), "declined by owner: not this year");
        assert_eq!(of(v1::OutcomeKind::Withdrawn), "withdrawn by worker");
        let mut stood = fixture::settled(v1::OutcomeKind::Expired).outcome.expect("it is settled");
        let answer =
            v1::Answer { selected: vec!["SQLite".into()], default: true, ..v1::Answer::default() };
        stood.answers.insert("q1".into(), answer);
        assert!(ended(&stood).ends_with("nobody chose, and its default stands: SQLite"));
    }

    #[test]
    fn what_happened_between_two_tellings_is_said_once_each() {
        assert_eq!(news(&fixture::open(), &fixture::open()), [""; 0]);
        let moved = news(&fixture::open(), &fixture::with_people());
        assert_eq!(moved.len(), 1);
        assert!(moved[0].ends_with("escalated to owner: not mine to decide"), "{moved:?}");
        let said = news(&fixture::open(), &fixture::spoken());
        assert!(said.len() == 1 && said[0].ends_with("said: How many rows?"), "{said:?}");
        assert_eq!(news(&fixture::spoken(), &fixture::spoken()), [""; 0]);
        let claim = v1::Claim { person: "ann\u{1b}".into(), ..Default::default() };
        let claimed = v1::Ask { claim: Some(claim), ..fixture::open() };
        assert!(news(&fixture::open(), &claimed)[0].ends_with("ann\\u{1b} is on it"));
        assert!(news(&claimed, &fixture::open())[0].ends_with("nobody is on it any more"));
        let gone = v1::Ask { asker_gone_time: Some(Default::default()), ..fixture::open() };
        assert!(news(&fixture::open(), &gone)[0].ends_with("its asker is gone"));
        assert!(news(&gone, &fixture::open())[0].ends_with("its asker is back"));
    }
}
