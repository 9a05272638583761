//! The documented shapes, field for field and in their order, borrowed from the wire's messages.
//! Fields may be added; none is ever changed. How they become lines: [`super`].

use super::way::{self, Stage};
use crate::cli::render::words;
use crate::grpc::v1;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};

/// An instant as RFC 3339 in UTC, to the millisecond; none where it is unset or out of all range.
pub fn time(time: Option<prost_types::Timestamp>) -> Option<String> {
    let time = time?;
    let time = jiff::Timestamp::new(time.seconds, time.nanos).ok()?;
    Some(format!("{time:.3}"))
}

/// `text`; none where it is empty.
pub fn text(text: &str) -> Option<&str> {
    (!text.is_empty()).then_some(text)
}

#[derive(Serialize)]
pub struct Ask<'a> {
    pub id: &'a str,
    pub state: &'static str,
    pub revision: u64,
    pub content_digest: &'a str,
    pub questions: Vec<Question<'a>>,
    pub context: &'a str,
    pub priority: &'static str,
    pub asker: Option<SessionRef<'a>>,
    pub work: &'a str,
    pub chain: Vec<SessionRef<'a>>,
    pub waiting_on: Option<WaitingOn<'a>>,
    pub hop: Option<Hop<'a>>,
    pub escalate_time: Option<String>,
    pub expire_time: Option<String>,
    pub create_time: Option<String>,
    pub turns: Vec<Turn<'a>>,
    pub claim: Option<Claim<'a>>,
    pub outcome: Option<Outcome<'a>>,
    pub delivery: Option<Delivery<'a>>,
    pub tree: &'a str,
    pub route_name: &'a str,
    pub expiry: Option<Expiry<'a>>,
    pub awaiting_reply: bool,
    pub asked_again: u32,
    pub required_assurance: Option<&'static str>,
    pub asker_gone_time: Option<String>,
    pub seen: Vec<Seen<'a>>,
    /// Every hop, with when it was, is or will be asked.
    pub route: Vec<Stage<'a>>,
    /// When it comes to people, while sessions are asked and stay silent.
    pub people_time: Option<String>,
}

#[derive(Serialize)]
pub struct Question<'a> {
    pub id: &'a str,
    pub header: &'a str,
    pub question: &'a str,
    pub options: Vec<Offer<'a>>,
    pub multiple: bool,
}

#[derive(Serialize)]
pub struct Offer<'a> {
    pub label: &'a str,
    pub description: &'a str,
    pub recommended: bool,
}

#[derive(Serialize)]
pub struct SessionRef<'a> {
    pub agent: &'a str,
    pub session: &'a str,
}

#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum WaitingOn<'a> {
    Session(SessionRef<'a>),
    People { group: Option<&'a str>, people: &'a [String] },
}

#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum By<'a> {
    Session(SessionRef<'a>),
    Person { person: &'a str },
    Host { host: &'a str },
    Timer,
}

#[derive(Serialize)]
pub struct Hop<'a> {
    pub index: u32,
    pub of: u32,
    pub cause: &'static str,
    pub reason: Option<&'a str>,
    pub since: Option<String>,
    pub skipped: Vec<Skipped<'a>>,
}

#[derive(Serialize)]
pub struct Skipped<'a> {
    pub index: u32,
    pub reason: &'a str,
}

#[derive(Serialize)]
pub struct Turn<'a> {
    pub revision: u64,
    pub by: Option<By<'a>>,
    pub text: &'a str,
    pub time: Option<String>,
    pub unread: bool,
    /// Whether a person's words were typed in an agent's environment.
    pub in_agent: bool,
    /// How surely a person's words are theirs.
    pub assurance: Option<&'static str>,
}

#[derive(Serialize)]
pub struct Claim<'a> {
    pub person: &'a str,
    pub since: Option<String>,
    pub lapse_time: Option<String>,
    pub in_agent: bool,
}

#[derive(Serialize)]
pub struct Outcome<'a> {
    pub kind: &'static str,
    pub answers: BTreeMap<&'a str, Answer<'a>>,
    pub by: Option<By<'a>>,
    pub note: Option<&'a str>,
    pub time: Option<String>,
    /// The ask whose decline still stood, and declined this one too.
    pub stands_from: Option<&'a str>,
    /// How surely the person who ended it is who they say.
    pub assurance: Option<&'static str>,
    /// Whether that was typed in an agent's environment.
    pub in_agent: bool,
}

#[derive(Serialize)]
pub struct Answer<'a> {
    pub selected: &'a [String],
    pub text: Option<&'a str>,
    pub default: bool,
}

#[derive(Serialize)]
pub struct Delivery<'a> {
    pub state: &'static str,
    pub reason: Option<&'a str>,
    pub lease: Option<Lease<'a>>,
}

#[derive(Serialize)]
pub struct Lease<'a> {
    pub holder: &'a str,
    pub expire_time: Option<String>,
}

/// The asker's own deadline: what it was when filed, and what it has left where its clock stands
/// still, in whole seconds.
#[derive(Serialize)]
pub struct Expiry<'a> {
    pub length_seconds: Option<i64>,
    pub applies_default: bool,
    pub left_seconds: Option<i64>,
    pub waits_reason: Option<&'a str>,
    pub defaults: BTreeMap<&'a str, Answer<'a>>,
}

#[derive(Serialize)]
pub struct Seen<'a> {
    pub person: &'a str,
    pub time: Option<String>,
}

#[derive(Serialize)]
pub struct Followed<'a> {
    pub what: &'static str,
    pub time: Option<String>,
    pub ask: Option<Ask<'a>>,
}

#[derive(Serialize)]
pub struct Receipt<'a> {
    pub result: &'static str,
    pub replayed: bool,
    pub reason: Option<&'a str>,
    pub message: Option<&'a str>,
    pub asker: Option<&'static str>,
    pub open_asks: &'a [String],
    pub ask: Option<Ask<'a>>,
    pub differs: &'a [String],
}

#[derive(Serialize)]
pub struct Event<'a> {
    pub ask: &'a str,
    pub revision: u64,
    pub time: Option<String>,
    pub kind: &'static str,
    pub by: Option<By<'a>>,
    pub text: Option<&'a str>,
    pub waiting_on: Option<WaitingOn<'a>>,
    pub hop: Option<Hop<'a>>,
    pub outcome: Option<Outcome<'a>>,
    pub content_digest: Option<&'a str>,
    pub in_agent: bool,
}

impl<'a> Ask<'a> {
    pub fn of(ask: &'a v1::Ask) -> Self {
        Self::with(ask, &[])
    }

    /// The same, with what its history tells of its way.
    pub fn with(ask: &'a v1::Ask, events: &'a [v1::Event]) -> Self {
        Self {
            id: &ask.id,
            state: words::state(ask.state()),
            revision: ask.revision,
            content_digest: &ask.content_digest,
            questions: ask.questions.iter().map(Question::of).collect(),
            context: &ask.context,
            priority: words::priority(ask.priority()),
            asker: ask.asker.as_ref().map(SessionRef::of),
            work: &ask.work_id,
            chain: ask.chain.iter().map(SessionRef::of).collect(),
            waiting_on: ask.waiting_on.as_ref().and_then(WaitingOn::of),
            hop: ask.hop.as_ref().map(Hop::of),
            escalate_time: time(ask.escalate_time),
            expire_time: time(ask.expire_time),
            create_time: time(ask.create_time),
            turns: ask.turns.iter().map(Turn::of).collect(),
            claim: ask.claim.as_ref().map(Claim::of),
            outcome: ask.outcome.as_ref().map(Outcome::of),
            delivery: ask.delivery.as_ref().map(Delivery::of),
            tree: &ask.tree_work_id,
            route_name: &ask.route_name,
            expiry: ask.expiry.as_ref().map(Expiry::of),
            awaiting_reply: ask.awaiting_reply,
            asked_again: ask.asked_again,
            required_assurance: words::assurance(ask.required_assurance()),
            asker_gone_time: time(ask.asker_gone_time),
            seen: ask.seen.iter().map(Seen::of).collect(),
            route: way::stages(ask, events),
            people_time: way::people_time(ask),
        }
    }
}

impl<'a> Question<'a> {
    pub fn of(question: &'a v1::Question) -> Self {
        let offer = |option: &'a v1::Option| Offer {
            label: &option.label,
            description: &option.description,
            recommended: option.recommended,
        };
        Self {
            id: &question.id,
            header: &question.header,
            question: &question.question,
            options: question.options.iter().map(offer).collect(),
            multiple: question.multiple,
        }
    }
}

impl<'a> SessionRef<'a> {
    pub fn of(session: &'a v1::SessionRef) -> Self {
        Self { agent: &session.agent, session: &session.session }
    }
}

impl<'a> WaitingOn<'a> {
    pub fn of(waiting_on: &'a v1::WaitingOn) -> Option<Self> {
        Some(match waiting_on.who.as_ref()? {
            v1::waiting_on::Who::Session(session) => WaitingOn::Session(SessionRef::of(session)),
            v1::waiting_on::Who::People(people) => {
                WaitingOn::People { group: people.group.as_deref(), people: &people.people }
            }
        })
    }
}

impl<'a> By<'a> {
    pub fn of(actor: &'a v1::Actor) -> Option<Self> {
        Some(match actor.who.as_ref()? {
            v1::actor::Who::Session(session) => By::Session(SessionRef::of(session)),
            v1::actor::Who::Person(person) => By::Person { person },
            v1::actor::Who::Host(host) => By::Host { host },
            v1::actor::Who::Timer(_) => By::Timer,
        })
    }
}

impl<'a> Hop<'a> {
    pub fn of(hop: &'a v1::Hop) -> Self {
        Self {
            index: hop.index,
            of: hop.of,
            cause: words::cause(hop.cause()),
            reason: text(&hop.reason),
            since: time(hop.since_time),
            skipped: hop
                .skipped
                .iter()
                .map(|one| Skipped { index: one.index, reason: &one.reason })
                .collect(),
        }
    }
}

impl<'a> Turn<'a> {
    pub fn of(turn: &'a v1::Turn) -> Self {
        Self {
            revision: turn.revision,
            by: turn.by.as_ref().and_then(By::of),
            text: &turn.text,
            time: time(turn.say_time),
            unread: turn.unread,
            in_agent: turn.in_agent,
            assurance: words::assurance(turn.assurance()),
        }
    }
}

impl<'a> Claim<'a> {
    pub fn of(claim: &'a v1::Claim) -> Self {
        Self {
            person: &claim.person,
            since: time(claim.since_time),
            lapse_time: time(claim.lapse_time),
            in_agent: claim.in_agent,
        }
    }
}

impl<'a> Outcome<'a> {
    pub fn of(outcome: &'a v1::Outcome) -> Self {
        Self {
            kind: words::outcome(outcome.kind()),
            answers: answers(&outcome.answers),
            by: outcome.by.as_ref().and_then(By::of),
            note: outcome.note.as_deref(),
            time: time(outcome.settle_time),
            stands_from: text(&outcome.stands_from_ask_id),
            assurance: words::assurance(outcome.assurance()),
            in_agent: outcome.in_agent,
        }
    }
}

impl<'a> Delivery<'a> {
    pub fn of(delivery: &'a v1::DeliveryStatus) -> Self {
        let lease = |lease: &'a v1::Lease| Lease {
            holder: &lease.holder,
            expire_time: time(lease.expire_time),
        };
        Self {
            state: words::delivery(delivery.state()),
            reason: text(&delivery.reason),
            lease: delivery.lease.as_ref().map(lease),
        }
    }
}

impl<'a> Expiry<'a> {
    pub fn of(expiry: &'a v1::Expiry) -> Self {
        let seconds = |length: Option<prost_types::Duration>| length.map(|length| length.seconds);
        Self {
            length_seconds: seconds(expiry.length),
            applies_default: expiry.applies_default,
            left_seconds: seconds(expiry.left),
            waits_reason: text(&expiry.waits_reason),
            defaults: answers(&expiry.defaults),
        }
    }
}

impl<'a> Seen<'a> {
    pub fn of(mark: &'a v1::SeenMark) -> Self {
        Self { person: &mark.person, time: time(mark.seen_time) }
    }
}

fn answers(answers: &HashMap<String, v1::Answer>) -> BTreeMap<&str, Answer<'_>> {
    let each = answers.iter().map(|(id, answer)| {
        let (selected, text) = (answer.selected.as_slice(), answer.text.as_deref());
        (id.as_str(), Answer { selected, text, default: answer.default })
    });
    each.collect()
}
