//! What only looks: one ask, lists, histories, how the daemon does.

use super::authorize::{Call, authorize, sees};
use super::{Caller, Presence, Service};
use crate::ask::names::ID_CHARS;
use crate::ask::{Ask, AskId, Ending, Event, NoticeFailure, Timestamp, evolve, limits};
use crate::error::Error;
use crate::store::{Key, Record, Scope};
use std::sync::Arc;

/// Asks or sessions in one page, where nothing is said.
pub const PAGE: usize = 100;
/// The most asks or sessions in one page.
pub const PAGE_MAX: usize = 500;
/// The most bytes of text in one page of asks: well under what a client's message may be. A page is
/// shorter for it, and says where the next begins.
const PAGE_BYTES: usize = 1 << 20;
/// Events read at once.
const EVENTS_AT_ONCE: usize = 512;
/// Asks looked at for a prefix: among these the caller's own are found.
const PREFIX_LOOKED_AT: usize = 1_000;

/// How the daemon does.
#[derive(Clone, Debug)]
pub struct Status {
    /// Who asks.
    pub caller: Caller,
    /// Since when it serves.
    pub start_time: Timestamp,
    /// Service time now.
    pub service_time: Timestamp,
    /// Open asks that wait on people.
    pub waiting_on_people: usize,
    /// Open asks that wait on sessions.
    pub waiting_on_sessions: usize,
    /// When the oldest open ask was filed.
    pub oldest_open_time: Option<Timestamp>,
    /// Open asks that people could not be told of when that was last tried.
    pub untold: usize,
    /// Why, the last time: of the oldest [`PAGE`] of them.
    pub notice_failure: Option<NoticeFailure>,
}

impl Service {
    /// Reads an ask by its id, or by a unique prefix of it, with or without `ask_`; and whether its
    /// asker is there.
    ///
    /// # Errors
    ///
    /// Ambiguous, with the matches; otherwise as every call.
    pub async fn get(&self, caller: &Caller, typed: &str) -> Result<(Arc<Ask>, Presence), Error> {
        authorize(caller, Call::GetAsk, None)?;
        let id = match typed.parse() {
            Ok(id) => id,
            Err(_) => self.resolve(caller, typed).await?,
        };
        let ask = self.visible(caller, Call::GetAsk, id).await?;
        let attached = self.attached.has(ask.asker.session).await?;
        let presence = self.presence(&ask, attached).await?;
        Ok((ask, presence))
    }

    /// The ask, where the caller may make this call on it.
    pub(super) async fn visible(
        &self,
        caller: &Caller,
        call: Call,
        id: AskId,
    ) -> Result<Arc<Ask>, Error> {
        authorize(caller, call, None)?;
        let ask = self.ask_record(id).await?.ok_or_else(|| Error::no_such_ask(id))?;
        authorize(caller, call, Some(&ask))?;
        Ok(ask)
    }

    async fn resolve(&self, caller: &Caller, typed: &str) -> Result<AskId, Error> {
        let characters = typed.strip_prefix(AskId::PREFIX).unwrap_or(typed);
        let shown = crate::ask::text::visible_line(typed);
        let spelled = characters.bytes().all(|b| b.is_ascii_digit() || b.is_ascii_lowercase());
        if !(limits::PREFIX_CHARS..=ID_CHARS).contains(&characters.len()) || !spelled {
            let least = limits::PREFIX_CHARS;
            let must = format!("must be an ask's id, or its first {least} characters or more");
            return Err(Error::invalid("ask_id", must));
        }
        let prefix = format!("{}{characters}", AskId::PREFIX);
        let ids = self.engine.store().resolve(&prefix, PREFIX_LOOKED_AT).await?;
        let seen = self.load_asks(&ids).await?.into_iter().filter(|ask| sees(caller, ask));
        let mut matches: Vec<AskId> = seen.map(|ask| ask.id).collect();
        match matches.as_slice() {
            [] => Err(Error::NotFound(format!("no ask {shown}"))),
            [only] => Ok(*only),
            _ => {
                matches.truncate(limits::PREFIX_MATCHES);
                Err(Error::Ambiguous(matches))
            }
        }
    }

    /// The asks of these ids, in order; those removed meanwhile are left out.
    pub(super) async fn load_asks(&self, ids: &[AskId]) -> Result<Vec<Arc<Ask>>, Error> {
        let keys: Vec<Key> = ids.iter().copied().map(Key::Ask).collect();
        let records = self.engine.store().load(&keys).await?;
        let asks = records.into_iter().flatten().filter_map(|record| match record {
            Record::Ask(ask) => Some(ask),
            _ => None,
        });
        Ok(asks.collect())
    }

    /// What happened to an ask after a revision, at most `page` events, each with the ask as after it.
    ///
    /// # Errors
    ///
    /// As every call.
    pub async fn events(
        &self,
        caller: &Caller,
        ask: AskId,
        after: u64,
        page: usize,
    ) -> Result<Vec<(Event, Arc<Ask>)>, Error> {
        self.visible(caller, Call::ListEvents, ask).await?;
        let (_, mut events) = self.history(ask, after).await?;
        events.truncate(page.min(PAGE_MAX));
        Ok(events)
    }

    /// The ask as after revision `after` (its first, for 0), and every event after that, each with
    /// the ask as after it.
    pub(super) async fn history(
        &self,
        id: AskId,
        after: u64,
    ) -> Result<(Option<Arc<Ask>>, Vec<(Event, Arc<Ask>)>), Error> {
        self.fold(id, None, after).await
    }

    /// Every event after those that made `ask`, each with the ask as after it.
    pub(super) async fn since(&self, ask: &Arc<Ask>) -> Result<Vec<(Event, Arc<Ask>)>, Error> {
        Ok(self.fold(ask.id, Some(ask.clone()), ask.revision).await?.1)
    }

    /// Whether anything happened to an ask after a revision.
    pub(super) async fn goes_on(&self, id: AskId, after: u64) -> Result<bool, Error> {
        Ok(!self.engine.store().history(id, after, 1).await?.is_empty())
    }

    async fn fold(
        &self,
        id: AskId,
        mut ask: Option<Arc<Ask>>,
        after: u64,
    ) -> Result<(Option<Arc<Ask>>, Vec<(Event, Arc<Ask>)>), Error> {
        let (mut base, mut later) = (None, Vec::new());
        loop {
            let at = ask.as_ref().map_or(0, |ask| ask.revision);
            let events = self.engine.store().history(id, at, EVENTS_AT_ONCE).await?;
            let count = events.len();
            for event in events {
                let is_later = event.revision > after;
                if is_later && later.is_empty() {
                    base = ask.clone();
                }
                // Up to the base nobody shares it, and nothing is copied.
                let folded = Arc::new(evolve(ask.map(Arc::unwrap_or_clone), &event));
                if is_later {
                    later.push((event, folded.clone()));
                }
                ask = Some(folded);
            }
            if count < EVENTS_AT_ONCE {
                let first = later.first().map(|(_, ask): &(_, Arc<Ask>)| ask.clone());
                return Ok((base.or(first).or(ask), later));
            }
        }
    }

    /// Who calls, and how the daemon does.
    ///
    /// # Errors
    ///
    /// Unavailable, where the store cannot be read (rule 17).
    pub async fn status(&self, caller: &Caller) -> Result<Status, Error> {
        authorize(caller, Call::GetStatus, None)?;
        let store = self.engine.store();
        let open = store.list(&Scope::Open(caller.namespace.clone()), None, 1).await?;
        let people = store.list(&Scope::OnPeople(caller.namespace.clone()), None, 0).await?.total;
        let untold = store.list(&Scope::Untold(caller.namespace.clone()), None, PAGE).await?;
        let ids: Vec<_> = untold.asks.iter().map(|(id, _)| *id).collect();
        let failing = self.load_asks(&ids).await?;
        let failures = failing.iter().filter_map(|ask| ask.notice_failure());
        Ok(Status {
            caller: caller.clone(),
            start_time: self.start_time,
            service_time: self.engine.now(),
            waiting_on_people: people,
            waiting_on_sessions: open.total.saturating_sub(people),
            oldest_open_time: open.asks.first().map(|(id, _)| id.time()),
            untold: untold.total,
            notice_failure: failures.max_by_key(|failure| failure.time).cloned(),
        })
    }
}

/// How many of these asks, from the first, fit one message; at least one.
pub(super) fn fitting(asks: &[Arc<Ask>]) -> usize {
    let mut bytes = 0;
    let fits = asks.iter().take_while(|ask| {
        bytes += weight(ask);
        bytes <= PAGE_BYTES
    });
    fits.count().max(1)
}

/// About how many bytes an ask takes in a message: its texts, and what names and times add.
fn weight(ask: &Ask) -> usize {
    let options = |question: &crate::ask::Question| {
        let options = question.options.iter();
        options.map(|option| option.label.len() + option.description.len() + 16).sum::<usize>()
    };
    let questions = ask.content.questions.iter();
    let questions: usize =
        questions.map(|q| q.id.len() + q.header.len() + q.question.len() + options(q) + 32).sum();
    let turns: usize = ask.turns.iter().map(|turn| turn.text.len() + 64).sum();
    let answers = match ask.outcome().map(|outcome| &outcome.ending) {
        Some(Ending::Answered(answers) | Ending::Expired(Some(answers))) => {
            answers.values().map(|answer| answer.text.as_ref().map_or(0, String::len) + 128).sum()
        }
        _ => 0,
    };
    1_024 + ask.content.context.len() + questions + turns + answers
}
