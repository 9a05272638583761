//! The book: what the store committed and when, what each caller was told, and what is wrong with it.
//!
//! A rule that is broken is found by the check of its name, here while it happens or in `checks` at the
//! end.

use askway::ask::{Ask, Event, EventKind, SessionId};
use askway::grpc::v1;
use askway::store::{Batch, Change, Committed, Record};
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};

/// All that was seen in a run.
#[derive(Debug, Default)]
pub struct Book {
    /// Every ask the store has, by its id.
    pub asks: BTreeMap<String, Noted>,
    /// What each caller was told first of each request.
    pub first: BTreeMap<(String, String), First>,
    /// The sessions that the store has as active, and as ended.
    pub active: BTreeSet<SessionId>,
    /// See `active`; and when they were.
    pub ended: BTreeMap<String, u64>,
    /// Watches that go on.
    pub watching: usize,
    /// Service time at each start of the daemon, and when that was in truth.
    pub starts: Vec<(u64, u64)>,
    /// Suspends, as `downs`.
    pub suspends: Vec<(u64, u64)>,
    /// When nothing ran: power cuts until the daemon had started again, and suspends.
    pub downs: Vec<(u64, u64)>,
    /// When the power failed last; none while the daemon is up.
    pub down_since: Option<u64>,
    /// When the machine was booted.
    pub reboots: Vec<u64>,
    /// How much happened.
    pub counts: Counts,
    /// What was broken: the rule's check, and how.
    pub violations: Vec<String>,
    /// When service time was stored last.
    pub marked: u64,
    found: BTreeSet<String>,
    service: u64,
    trace: DefaultHasher,
    lines: u64,
}

/// How much happened in a run; too little proves nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    /// Calls that changed something, or found it changed, and were told so.
    pub acknowledged: u64,
    /// Times the power failed.
    pub crashes: u64,
    /// Of them, while a start was under way.
    pub in_start: u64,
    /// Events seen by watchers.
    pub events: u64,
    /// Times a watch was taken up again.
    pub resumed: u64,
    /// Moves by a route timer.
    pub escalations: u64,
    /// Calls whose first reply was lost, or which were sent twice on purpose.
    pub replays: u64,
    /// Outcomes and turns that reached their asker.
    pub delivered: u64,
    /// Defaults that were applied.
    pub defaults: u64,
    /// Refusals to whom an ask is foreign, or does not wait on.
    pub refused: u64,
    /// The worst lateness of a move by a route timer, in milliseconds.
    pub worst_late: u64,
}

/// One ask.
#[derive(Debug, Default)]
pub struct Noted {
    /// What the store committed, and when in truth.
    pub events: Vec<(Event, u64)>,
    /// The outcome that anybody was told.
    pub outcome: Option<v1::Outcome>,
    /// What its asker was given, by revision: the delivery's id.
    pub delivered: BTreeMap<u64, String>,
    /// The digests under which an answer was accepted.
    pub answered_for: Vec<String>,
    /// The ask and its history as its callers read them at the end.
    pub last: Option<(v1::Ask, Vec<v1::Event>)>,
}

/// What came first of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct First {
    /// Accepted or closed.
    pub result: v1::Result,
    /// About this ask.
    pub ask: String,
}

impl Noted {
    /// Whether it is settled.
    pub fn is_settled(&self) -> bool {
        self.events.iter().any(|(event, _)| event.kind.settles())
    }

    /// How it was filed.
    pub fn filed(&self) -> Option<&askway::ask::Filed> {
        match &self.events.first()?.0.kind {
            EventKind::Filed(filed) => Some(filed),
            _ => None,
        }
    }
}

impl Book {
    /// Writes a line into the trace.
    pub fn trace(&mut self, line: &str) {
        self.lines += 1;
        line.hash(&mut self.trace);
        if std::env::var_os("ASKWAY_TRACE").is_some() {
            eprintln!("{line}");
        }
    }

    /// The trace so far, as one number, and how long it is.
    pub fn traced(&self) -> (u64, u64) {
        (self.trace.finish(), self.lines)
    }

    /// A rule is broken.
    pub fn broken(&mut self, check: &str, how: &str) {
        self.trace(&format!("broken {check}: {how}"));
        self.violations.push(format!("{check}: {how}"));
    }

    /// Breaks `check` unless it is `fine`.
    pub fn check(&mut self, check: &str, fine: bool, how: impl FnOnce() -> String) {
        if !fine {
            self.broken(check, &how());
        }
    }

    /// The power failed.
    pub fn down(&mut self, since: u64) {
        self.down_since.get_or_insert(since);
    }

    /// It was booted for it: what had passed since service time was stored last is not known to it.
    pub fn booted(&mut self, passed: u64) {
        self.reboots.push(passed);
        let marked = self.marked;
        self.down_since = self.down_since.map(|since| since.min(marked));
    }

    /// The daemon is started.
    pub fn up(&mut self, passed: u64) {
        if let Some(since) = self.down_since.take() {
            self.downs.push((since, passed));
        }
    }

    /// How much of a time the machine was up.
    pub fn up_within(&self, from: u64, to: u64) -> u64 {
        let mut both: Vec<_> = self.downs.iter().chain(&self.suspends).copied().collect();
        both.sort_unstable();
        let (mut counted, mut up_for) = (from, 0);
        for (down, up) in both {
            up_for += down.min(to).saturating_sub(counted);
            counted = counted.max(up.min(to));
        }
        up_for + to.saturating_sub(counted)
    }

    /// The store holds this ask after a power cut.
    pub fn found(&mut self, ask: &Ask, history: &[Event], passed: u64) {
        let id = ask.id.to_string();
        let known = self.asks.entry(id.clone()).or_default();
        let kept =
            known.events.iter().map(|(event, _)| event).eq(history.iter().take(known.events.len()));
        let had = known.events.len();
        // What was on its way to be acknowledged when the power failed.
        let since = self.down_since.unwrap_or(passed);
        known.events.extend(history.iter().skip(had).map(|event| (event.clone(), since)));
        let whole = ask.revision == history.len() as u64;
        let lines: Vec<_> = history
            .iter()
            .skip(had)
            .map(|event| format!("found {id} {}", event.revision))
            .collect();
        lines.iter().for_each(|line| self.trace(line));
        self.check("rule_01_durable_first", kept, || format!("{id} has lost what was committed"));
        self.check("rule_18_history_is_enough", whole, || {
            format!("{id}: {} events", history.len())
        });
        self.found.insert(id);
    }

    /// Nothing else is there.
    pub fn all_found(&mut self) {
        let found = std::mem::take(&mut self.found);
        let lost: Vec<_> = self.asks.keys().filter(|id| !found.contains(*id)).cloned().collect();
        for id in lost {
            self.broken("rule_01_durable_first", &format!("{id} was committed and is gone"));
        }
    }

    /// The store has committed this.
    pub fn committed(&mut self, batch: &Batch, outcomes: &[Committed], passed: u64) {
        if let Some(mark) = &batch.mark {
            let (before, now) = (self.service, mark.service.as_millis());
            self.check("rule_19_no_decision_from_a_broken_clock", before <= now, || {
                format!("service time went back from {before} to {now}")
            });
            self.service = now;
            self.marked = passed;
        }
        for (change, outcome) in batch.changes.iter().zip(outcomes) {
            if *outcome == Committed::Done {
                self.changed(change, passed);
            }
        }
    }

    fn changed(&mut self, change: &Change, passed: u64) {
        for (id, event) in &change.events {
            let id = id.to_string();
            let told = serde_json::to_string(event).expect("an event has a JSON form");
            self.trace(&format!("{passed} {id} {told}"));
            let noted = self.asks.entry(id.clone()).or_default();
            let dense = event.revision == noted.events.len() as u64 + 1;
            let forward = noted.events.last().is_none_or(|(last, _)| last.time <= event.time);
            let open = !noted.is_settled() || !event.kind.settles();
            noted.events.push((event.clone(), passed));
            self.check("rule_18_history_is_enough", dense, || format!("{id}: a hole"));
            self.check("rule_19_no_decision_from_a_broken_clock", forward, || format!("{id} back"));
            self.check("rule_02_settled_once", open, || format!("{id} is settled twice"));
            self.moved(&id, event);
            self.bounded(&id, event);
        }
        for record in &change.writes {
            if let Record::Session(session) = record {
                match session.is_active() {
                    true => self.active.insert(session.id),
                    false => self.active.remove(&session.id),
                };
                if session.is_ended() {
                    self.ended.entry(session.id.to_string()).or_insert(passed);
                }
            }
        }
    }

    /// Rule 9: a hop that cannot answer is not moved to.
    fn moved(&mut self, id: &str, event: &Event) {
        let to = match &event.kind {
            EventKind::Filed(filed) => filed.first.hop,
            EventKind::Escalated(moved) => moved.hop,
            _ => return,
        };
        let Some(filed) = self.asks[id].filed() else { return };
        let session = filed.route.hops[to].to.session().map(|session| session.session);
        let idle = session.is_some_and(|session| !self.active.contains(&session));
        self.check("rule_09_idle_hop_no_waiting", !idle, || format!("{id} waits on who is gone"));
    }

    /// Rule 14: four open asks a session.
    fn bounded(&mut self, id: &str, event: &Event) {
        let EventKind::Filed(filed) = &event.kind else { return };
        let open = self.asks.values().filter(|noted| !noted.is_settled());
        let own = open.filter_map(Noted::filed).filter(|other| other.asker == filed.asker).count();
        self.check("rule_14_bounded", own <= 4, || {
            format!("{id} is open ask {own} of its session")
        });
    }

    /// Somebody was told of an ask as it is: nothing is said before it is durable, nor two outcomes.
    pub fn shown(&mut self, ask: &v1::Ask) {
        let noted = self.asks.entry(ask.id.clone()).or_default();
        let durable = noted.events.len() as u64;
        let other =
            noted.outcome.is_some() && ask.outcome.is_some() && noted.outcome != ask.outcome;
        noted.outcome = noted.outcome.take().or_else(|| ask.outcome.clone());
        let (id, revision) = (&ask.id, ask.revision);
        self.check("rule_01_durable_first", revision <= durable, || {
            format!("{id} was shown at {revision}, and {durable} is on disk")
        });
        self.check("rule_02_settled_once", !other, || format!("two outcomes are told of {id}"));
    }

    /// A caller was told what came of a request that it first sent at `begun`.
    pub fn told(&mut self, by: &str, request: &str, begun: u64, receipt: &v1::Receipt) {
        let result = receipt.result();
        let id = receipt.ask.as_ref().map(|ask| ask.id.clone()).unwrap_or_default();
        let outcome = receipt.ask.as_ref().and_then(|ask| ask.outcome.as_ref());
        let kind = outcome.map_or("open", |outcome| outcome.kind().as_str_name());
        let (replayed, reason) = (receipt.replayed, &receipt.reason);
        self.trace(&format!("told {by} {request} {result:?} {replayed} {reason} {id} {kind}"));
        if let Some(ask) = &receipt.ask {
            self.shown(ask);
            self.presence(ask, begun, receipt.asker());
        }
        if result == v1::Result::Refused {
            self.counts.refused += 1;
            return;
        }
        self.counts.acknowledged += 1;
        self.counts.replays += u64::from(replayed);
        let now = First { result, ask: id };
        let key = (by.to_owned(), request.to_owned());
        match self.first.get(&key).cloned() {
            None => drop(self.first.insert(key, now)),
            Some(first) => {
                let same = first == now && replayed;
                self.check("rule_07_idempotent_by_request_id", same, || {
                    format!("{by} sent {request} again: {first:?}, then {now:?}, {replayed}")
                });
            }
        }
    }

    /// Rule 12: whether the asker is gone for good.
    fn presence(&mut self, ask: &v1::Ask, begun: u64, said: v1::AskerPresence) {
        use v1::AskerPresence as P;
        let asker = ask.asker.as_ref().map(|asker| asker.session.clone()).unwrap_or_default();
        let fine = match self.ended.get(&asker) {
            Some(ended) if *ended < begun => matches!(said, P::Gone | P::Unspecified),
            Some(_) => true,
            None => said != P::Gone,
        };
        self.check("rule_12_the_answerer_knows", fine, || format!("{}: {said:?}", ask.id));
    }
}
