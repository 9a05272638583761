//! Asks in a list: for people two kinds of lines each, aligned; for programs one line with tabs.

use super::table::Table;
use super::waiting::{is_yours, moves, named, waited_on, why};
use super::{BOLD, FAINT, PLAIN, PRESSING, delivery, gone, millis, outcome_line, past, standing};
use crate::ask::Span;
use crate::ask::text::visible_line;
use crate::cli::look::Look;
use crate::cli::render::lay::wrap;
use crate::cli::render::{json, route, words};
use crate::grpc::v1;

/// Characters of an id that are shown at least, behind its `ask_`: two of the open asks of a full
/// daemon are then alike once in a hundred thousand times, and such a one is refused with both.
const ID_CHARS: usize = 6;
/// Columns from which on a list tells the asker in a column of its own.
const WIDE: usize = 60;

/// An inbox to be told.
pub struct Inbox<'a> {
    /// What is listed, in order.
    pub asks: &'a [v1::Ask],
    /// The person that is spoken to; none where a session is.
    pub you: Option<&'a str>,
    /// Whether it lists more than what waits on the caller.
    pub all: bool,
    /// The present, in milliseconds since 1970.
    pub now: i64,
    /// How it may look.
    pub look: Look,
}

impl Inbox<'_> {
    /// All of it: under heads what waits on the caller, on others, and what is settled; for programs one
    /// line each, without heads.
    pub fn text(&self) -> String {
        if !self.look.terminal {
            let rows = self.asks.iter().map(|ask| self.cells(ask, &ask.id).join("\t"));
            return rows.collect::<Vec<_>>().join("\n");
        }
        let settled = |ask: &&v1::Ask| ask.outcome.is_some();
        let yours = |ask: &&v1::Ask| !settled(ask) && (!self.all || is_yours(ask, self.you));
        let others = |ask: &&v1::Ask| !settled(ask) && !yours(ask);
        let mut others: Vec<_> = self.asks.iter().filter(others).collect();
        // What comes next comes first; what does not come by itself, last.
        others.sort_by_key(|ask| route::arrival(ask).map_or(i64::MAX, |(at, ..)| at));
        let sections = [
            ("Waiting on you", self.asks.iter().filter(yours).collect()),
            ("Waiting on others", others),
            ("Settled", self.asks.iter().filter(settled).collect::<Vec<_>>()),
        ];
        let is_there = |(_, asks): &&(&str, Vec<&v1::Ask>)| !asks.is_empty();
        let sections: Vec<_> = sections.iter().filter(is_there).collect();
        let titled = self.all || sections.len() > 1;
        let told = sections.iter().map(|(title, asks)| {
            let mut lines = Vec::new();
            if titled {
                lines.push(format!("{BOLD}{title}{PLAIN}"));
            }
            lines.extend(self.table(asks));
            lines.join("\n")
        });
        told.collect::<Vec<_>>().join("\n\n")
    }

    fn table(&self, asks: &[&v1::Ask]) -> Vec<String> {
        let wide = self.look.width >= WIDE;
        let heads: &[&str] =
            if wide { &["ID", "AGE", "FROM", "QUESTION"] } else { &["ID", "AGE", "QUESTION"] };
        let mut table = Table::new(self.look, heads);
        for ask in asks {
            let id = short_id(&ask.id, self.asks);
            let mut cells = vec![visible_line(id).into_owned(), age(ask, self.now)];
            if wide {
                cells.push(from(ask));
            }
            cells.push(asked(ask));
            table.row(cells, self.below(ask, wide));
        }
        table.lines()
    }

    /// What is to be known of it, below its row.
    fn below(&self, ask: &v1::Ask, wide: bool) -> Vec<String> {
        let mut clauses = Vec::new();
        if !wide {
            clauses.push(format!("from {}", from(ask)));
        }
        clauses.extend(self.clauses(ask));
        let text = clauses.join(self.look.dot());
        match text.is_empty() {
            true => Vec::new(),
            false => wrap(&format!("{FAINT}{text}{PLAIN}"), self.look.width, "  ", "  "),
        }
    }

    /// What presses, where it waits, why it is there, what happens when.
    fn clauses(&self, ask: &v1::Ask) -> Vec<String> {
        let mut clauses = Vec::new();
        match ask.priority() {
            v1::Priority::High => clauses.push(format!("{PLAIN}{PRESSING}high{PLAIN}{FAINT}")),
            v1::Priority::Low => clauses.push("low".to_owned()),
            v1::Priority::Normal | v1::Priority::Unspecified => {}
        }
        clauses.extend(stands(ask, self.you, self.now, !is_yours(ask, self.you) && self.all));
        clauses
    }

    /// The cells of a line for programs: id, priority, filed, from, state, what is to be known,
    /// question.
    fn cells(&self, ask: &v1::Ask, id: &str) -> [String; 7] {
        [
            visible_line(id).into_owned(),
            words::priority(ask.priority()).to_owned(),
            json::time(ask.create_time).unwrap_or_default(),
            from(ask),
            words::state(ask.state()).to_owned(),
            stands(ask, self.you, self.now, self.all).join(", "),
            asked(ask),
        ]
    }
}

/// One ask on one line, for a telling that only ever grows. `whom` says whether to say on whom it waits.
pub fn listed(ask: &v1::Ask, you: Option<&str>, now: i64, whom: bool) -> String {
    let id = visible_line(&ask.id);
    let mut clauses = vec![from(ask), past(ask.create_time, now)];
    if !matches!(ask.priority(), v1::Priority::Normal | v1::Priority::Unspecified) {
        clauses.push(format!("{} priority", words::priority(ask.priority())));
    }
    clauses.extend(stands(ask, you, now, whom));
    format!("{BOLD}{id}{PLAIN}  {} ({})", asked(ask), clauses.join(", "))
}

/// How many wait on others, and when the first of them comes to people; none where none do.
pub fn elsewhere(asks: &[&v1::Ask], you: Option<&str>, now: i64) -> Option<String> {
    let count = match asks.len() {
        0 => return None,
        1 => "1 more waits on others".to_owned(),
        many => format!("{many} more wait on others"),
    };
    let arrivals = asks.iter().filter_map(|ask| route::arrival(ask));
    let next = arrivals.min_by_key(|(at, ..)| *at).map(|(at, whom, _)| {
        format!("; the next comes to {} {}", named(Some(whom), you), super::future_of(at, now))
    });
    Some(format!("{count}{}: askway inbox --all", next.unwrap_or_default()))
}

/// Where it stands, clause by clause. `whom` says whether to say on whom it waits.
fn stands(ask: &v1::Ask, you: Option<&str>, now: i64, whom: bool) -> Vec<String> {
    let mut clauses = Vec::new();
    match (&ask.outcome, &ask.hop) {
        (Some(ended), _) => {
            let when = past(ended.settle_time, now);
            clauses.push(format!("{} {when}", outcome_line(ended)));
        }
        (None, Some(hop)) if whom => {
            let (who, place, of) = (waited_on(ask), hop.index + 1, hop.of);
            clauses.push(format!("waiting on {who} (hop {place} of {of})"));
        }
        (None, _) if whom => clauses.push(format!("waiting on {}", waited_on(ask))),
        (None, _) => {}
    }
    clauses.extend(moves(ask, you, now));
    clauses.extend(why(ask));
    clauses.extend(deadline(ask, now));
    if let Some(claim) = &ask.claim {
        clauses.push(format!("{} is on it", visible_line(&claim.person)));
    }
    clauses.extend(gone(ask, now));
    clauses.extend(standing(ask));
    if let Some(lost) = ask.delivery.as_ref().filter(|delivery| !delivery.reason.is_empty()) {
        clauses.push(delivery::delivered(lost, now));
    }
    clauses
}

/// The asker's own deadline, where it comes while people are asked.
pub(super) fn deadline(ask: &v1::Ask, now: i64) -> Option<String> {
    let expiry = ask.expiry.as_ref().filter(|_| ask.outcome.is_none())?;
    if route::is_session(ask.waiting_on.as_ref()) {
        return None;
    }
    let until = ask.expire_time.map(|time| super::future(Some(time), now));
    // A silence of people who were not shown it is no consent.
    if expiry.applies_default && ask.seen.is_empty() {
        let time = match (&expiry.left, until) {
            (Some(_), _) => "its deadline stands still".to_owned(),
            (None, Some(until)) => format!("its time is up {until}"),
            (None, None) => "its time is up".to_owned(),
        };
        return Some(format!("{time}, its default waits until a person is shown it"));
    }
    let then = if expiry.applies_default { "its default stands" } else { "it ends" };
    Some(match (&expiry.left, until) {
        (Some(_), _) => "its deadline stands still".to_owned(),
        (None, Some(until)) => format!("{then} {until}"),
        (None, None) => "its deadline has come".to_owned(),
    })
}

/// Who asks, and through whom the work came: `worker for lead for chief`.
fn from(ask: &v1::Ask) -> String {
    let chain = ask.chain.iter().map(|sender| words::agent(Some(sender)));
    let all: Vec<_> = std::iter::once(words::agent(ask.asker.as_ref())).chain(chain).collect();
    all.join(" for ")
}

/// Its first question on one line, and how many more.
fn asked(ask: &v1::Ask) -> String {
    let words = |asked: &v1::Question| match asked.header.as_str() {
        "" => visible_line(&asked.question).into_owned(),
        header => format!("{}: {}", visible_line(header), visible_line(&asked.question)),
    };
    let first = ask.questions.first().map(words).unwrap_or_default();
    match ask.questions.len() {
        0 | 1 => first,
        many => format!("(1 of {many}) {first}"),
    }
}

/// How old it is, in the largest unit: `3m`.
fn age(ask: &v1::Ask, now: i64) -> String {
    let age = u64::try_from(now - millis(ask.create_time)).unwrap_or_default();
    let text = Span::from_millis(age / 1_000 * 1_000).to_string();
    text.split(' ').next().unwrap_or_default().to_owned()
}

/// The beginning of an id that no other one of these has.
pub fn short_id<'a>(id: &'a str, among: &[v1::Ask]) -> &'a str {
    let alike =
        |other: &v1::Ask| id.bytes().zip(other.id.bytes()).take_while(|(a, b)| a == b).count();
    let others = among.iter().filter(|other| other.id != id).map(alike);
    let start = crate::ask::AskId::PREFIX.len();
    let enough = others.max().map_or(0, |alike| alike + 1).max(start + ID_CHARS);
    id.get(..enough).unwrap_or(id)
}

/// An ask's id as somebody types it: while it is open as short as lists show it, which of ten thousand
/// open ones not one in a hundred thousand shares; afterwards whole, since only what is open, unread or
/// lately settled is found by its beginning.
pub fn typed_id(ask: &v1::Ask) -> &str {
    if ask.outcome.is_none() { short_id(&ask.id, &[]) } else { &ask.id }
}

#[cfg(test)]
mod tests {
    use super::super::super::fixture;
    use super::*;

    #[test]
    fn an_id_is_as_short_as_it_may_be_among_its_like() {
        let ask = |id: &str| v1::Ask { id: id.into(), ..v1::Ask::default() };
        let asks = [ask("ask_aaaaaaaa1"), ask("ask_aaaaaaaa2"), ask("ask_bbbbbbbb1")];
        assert_eq!(short_id("ask_bbbbbbbb1", &asks), "ask_bbbbbb");
        assert_eq!(short_id("ask_aaaaaaaa1", &asks), "ask_aaaaaaaa1");
        assert_eq!(short_id("x", &asks), "x");
    }

    #[test]
    fn rule_4_a_default_that_nobody_was_shown_is_not_said_to_stand() {
        let now = millis(fixture::time(0));
        let expiry = fixture::with_default().expiry;
        let mut ask = v1::Ask { expiry, ..fixture::with_people() };
        let waits = "its default waits until a person is shown it";
        let told = |ask: &v1::Ask| deadline(ask, now).expect("it has one");
        assert_eq!(told(&ask), format!("its time is up in 1h, {waits}"));
        ask.expire_time = None;
        assert_eq!(told(&ask), format!("its time is up, {waits}"));
        ask.expire_time = fixture::time(3_600_000);
        ask.seen.push(v1::SeenMark { person: "owner".into(), seen_time: fixture::time(0) });
        assert_eq!(told(&ask), "its default stands in 1h");
    }

    #[test]
    fn why_it_is_here_is_said_with_who_did_not_answer() {
        let mut late = fixture::with_people();
        let hop = late.hop.as_mut().expect("a hop");
        (hop.cause, hop.since_time) = (v1::HopCause::Timeout.into(), fixture::time(900_000));
        hop.reason = "lead (ses_0) did not answer in 15m".into();
        assert_eq!(why(&late).as_deref(), Some("lead did not answer in 15m"));
        let refused = why(&fixture::with_people());
        assert_eq!(refused.as_deref(), Some("passed on from lead: not mine to decide"));
        assert_eq!(why(&fixture::open()), None);
        assert_eq!(named(late.waiting_on.as_ref(), Some("owner")), "you");
    }
}
