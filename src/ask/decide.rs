//! The transition table: what each command does to an ask in each state.
//!
//! ```text
//!            Ask                    Escalate, Tick, SessionGone
//!   (none) ──────► OPEN ◄──────────────────────────────┐
//!                   │ │  next hop: refused, timeout,   │
//!                   │ └─────────────────────────────►──┘
//!                   │    sender gone or blocked, asker's expiry
//!                   │
//!                   │ Say, Reply, MarkSeen, Claim, Release, Acknowledge, Noticed: stays open
//!                   │
//!                   │ AnswerAgent, Answer ► answered     Withdraw ► withdrawn
//!                   │ Decline ► declined                 Tick ► expired
//!                   ▼ SessionGone (ended) ► abandoned
//!                SETTLED ── Acknowledge, SessionGone ► its delivery; Noticed; everything else: closed
//! ```
//!
//! Nothing is armed or cancelled anywhere: a deadline is derived from the state
//! ([`Ask::deadline`]), and a tick that is not due decides to nothing.

use super::command::{Command, Filing, Gone, Rejection};
use super::content::{Content, Violation, check_length, check_options, is_blank};
use super::event::{Escalated, Event, EventKind, Filed};
use super::moves::{escalate, person_gone, session_gone, tick};
use super::names::{Actor, PersonName, SessionRef};
use super::route::Cause;
use super::time::{Now, Span};
use super::{
    Answers, Ask, Assurance, ContentDigest, Delivery, Expiry, ExpiryAction, QuestionOption,
    StandingNo, State,
};
use super::{answer, deliveries, limits, text};
use std::collections::BTreeMap;

/// The events that `command` makes of `ask` at `now`, in order; none when nothing changes.
///
/// # Errors
///
/// Why nothing may happen. The ask is then exactly as it was.
pub fn decide(ask: Option<&Ask>, command: &Command, now: Now) -> Result<Vec<Event>, Rejection> {
    use Command as C;
    let Some(ask) = ask else {
        return match command {
            C::Ask(filing) => file(filing, now),
            _ => Err(Rejection::Unknown),
        };
    };
    let once = |kind: EventKind| Ok(vec![Event::new(ask.revision + 1, now.time, kind)]);
    let nothing = || Ok(Vec::new());

    let answered_again = planted!("settled_twice") && matches!(command, C::Answer { .. });
    match (if answered_again { &State::Open } else { &ask.state }, command) {
        // An id is made by the server for one filing; its retry is found by its receipt.
        (_, C::Ask(_)) => unreachable!("{} is filed once", ask.id),
        (_, C::InAgent(command)) => {
            let events = decide(Some(ask), command, now)?.into_iter();
            Ok(events.map(|event| Event { in_agent: true, ..event }).collect())
        }

        (State::Open, C::AnswerAgent { by, digest, answers, standing }) => {
            whose_turn(ask, by)?;
            whole(ask, *digest, answers)?;
            not_declined(standing.as_ref(), now)?;
            let (by, answers) = (Actor::Session(by.clone()), answers.clone());
            once(EventKind::Answered { by, answers, assurance: None })
        }
        (State::Open, C::Answer { .. })
            if planted!("a_person_waits_their_turn")
                && ask.waiting_on().is_some_and(|on| on.session().is_some()) =>
        {
            Err(Rejection::NotSender)
        }
        (State::Open, C::Answer { by, digest, answers, assurance }) => {
            sure(ask, *assurance)?;
            whole(ask, *digest, answers)?;
            let (by, answers) = (Actor::Person(by.clone()), answers.clone());
            once(EventKind::Answered { by, answers, assurance: Some(*assurance) })
        }
        (State::Open, C::Decline { by, digest, note, assurance }) => {
            sure(ask, *assurance)?;
            shown(ask, *digest)?;
            within("note", note.as_deref().unwrap_or_default(), limits::NOTE_BYTES)?;
            let (by, note, assurance) = (by.clone(), note.clone(), Some(*assurance));
            once(EventKind::Declined { by, note, stands_from: None, assurance })
        }
        (State::Open, C::Escalate { by, hop, reason, idle, assurance }) => {
            if matches!(by, Actor::Person(_)) {
                // It takes the ask from whoever is asked, before their time is over.
                sure(ask, assurance.unwrap_or(Assurance::Local))?;
            }
            escalate(ask, by, *hop, reason, idle, now)
        }
        (State::Open, C::Withdraw { by, note }) => {
            only_asker(ask, by)?;
            within("note", note.as_deref().unwrap_or_default(), limits::NOTE_BYTES)?;
            once(EventKind::Withdrawn { by: by.clone(), note: note.clone() })
        }
        (State::Open, C::Say { by, text, assurance }) => {
            match by {
                Actor::Session(session) => whose_turn(ask, session)?,
                // A person's word holds the expiry, and the asker acts on it.
                _ => sure(ask, assurance.unwrap_or(Assurance::Local))?,
            }
            turn(ask, text)?;
            once(EventKind::Said { by: by.clone(), text: text.clone(), assurance: *assurance })
        }
        (State::Open, C::Reply { by, text, options, standing }) => {
            only_asker(ask, by)?;
            turn(ask, text)?;
            let content = replaced(ask, options)?;
            not_declined(standing.as_ref(), now)?;
            let expiry =
                ask.expiry.map(|expiry| Expiry::new(expiry.after, expiry.action, now.time));
            once(EventKind::Replied { by: by.clone(), text: text.clone(), content, expiry })
        }
        (State::Open, C::MarkSeen { by, digest }) => {
            shown(ask, *digest)?;
            if ask.seen.iter().any(|seen| seen.by == *by && seen.digest == *digest) {
                return nothing();
            }
            once(EventKind::Seen { by: by.clone(), digest: *digest })
        }
        (State::Open, C::Claim { by, length, take_over, assurance }) => {
            // It holds every timer.
            sure(ask, *assurance)?;
            once(claim(ask, by, *length, *take_over, now)?)
        }
        (State::Open, C::Release { by }) => match &ask.claim {
            Some(claim) if claim.by == *by => once(EventKind::Released { by: by.clone() }),
            Some(claim) => Err(Rejection::Claimed(claim.by.clone())),
            None => Err(Rejection::NotClaimed),
        },
        (State::Open, C::SessionGone { session, gone, idle }) => {
            Ok(session_gone(ask, *session, gone, idle, now))
        }
        // Told is told, whatever became of the ask meanwhile.
        (_, C::Noticed { why, of, failure }) => {
            let failure =
                failure.as_deref().map(|why| text::begin(why, limits::NOTICE_FAILURE_BYTES));
            once(EventKind::Noticed { why: *why, of: *of, failure: failure.map(str::to_owned) })
        }
        (State::Open, C::PersonGone { person, idle }) => Ok(person_gone(ask, person, idle, now)),
        (State::Open, C::Tick { idle, standing }) => Ok(tick(ask, idle, standing.as_ref(), now)),
        (_, C::Lease { by, lease, holder, length, extend }) => {
            let until = now.time + deliveries::lease(ask, by, holder, *length, *extend, now)?;
            if !ask.is_unread() {
                return nothing();
            }
            // An extended lease keeps its name, so that what it was given for stays its own.
            let held = ask.lease.as_ref().filter(|_| extend.is_some() && holder.is_empty());
            let holder = held.map_or_else(|| holder.clone(), |held| held.holder.clone());
            let (by, lease) = (by.clone(), extend.unwrap_or(*lease));
            once(EventKind::Leased { by, lease, holder, until })
        }
        (State::Open, C::Acknowledge { by, delivery, lease }) => {
            deliveries::receives(ask, by, *lease, now)?;
            match ask.turns.iter().find(|turn| turn.revision == *delivery) {
                Some(turn) if turn.unread => once(EventKind::Acknowledged { delivery: *delivery }),
                Some(_) => nothing(),
                None => Err(Rejection::Unknown),
            }
        }

        (
            State::Settled { outcome, delivery },
            C::Acknowledge { by, delivery: revision, lease },
        ) => {
            if let Some(told) = deliveries::told(ask, outcome, by, *revision) {
                return told.map_or_else(nothing, once);
            }
            deliveries::receives(ask, by, *lease, now)?;
            let turn = ask.turns.iter().find(|turn| turn.revision == *revision);
            let unread = match turn {
                Some(turn) => turn.unread,
                None if outcome.revision == *revision => *delivery == Delivery::Unread,
                None => return Err(Rejection::Unknown),
            };
            if unread {
                return once(EventKind::Acknowledged { delivery: *revision });
            }
            nothing()
        }
        (State::Settled { .. }, C::SessionGone { session, gone, .. }) => {
            let for_nobody =
                ask.asker.session == *session && ask.is_unread() && matches!(gone, Gone::Ended(_));
            if for_nobody {
                let reason = "the asker's session has ended".to_owned();
                return once(EventKind::Undeliverable { reason });
            }
            nothing()
        }
        // Purging is the store's removal, asked for by the engine once `is_past_retention`.
        (State::Settled { .. }, C::Tick { .. } | C::PersonGone { .. }) => nothing(),
        (
            State::Settled { .. },
            C::AnswerAgent { .. }
            | C::Answer { .. }
            | C::Decline { .. }
            | C::Escalate { .. }
            | C::Withdraw { .. }
            | C::Say { .. }
            | C::Reply { .. }
            | C::MarkSeen { .. }
            | C::Claim { .. }
            | C::Release { .. },
        ) => Err(Rejection::Closed),
    }
}

fn file(filing: &Filing, now: Now) -> Result<Vec<Event>, Rejection> {
    valid(filing.draft.violations())?;
    let by_default = matches!(filing.draft.expire, Some((_, ExpiryAction::Default)));
    if filing.assurance.is_some() && by_default {
        let why = "must not be default: only a person can answer this, and silence is nobody";
        return Err(Rejection::Invalid(vec![Violation::new("on_expire", why)]));
    }
    admit(filing)?;
    let landing = filing.route.first_awake(0, &filing.idle, Span::default());
    let landing = landing.expect("a route has at least its hop of people");
    let why = landing.skipped.last().map(|skipped| {
        (skipped.why.cause(), Some(skipped.why.sentence(&filing.route.target(skipped.hop))))
    });
    let (cause, reason) = why.unwrap_or((Cause::Filed, None));
    let first = Escalated {
        hop: landing.index,
        cause,
        by: Actor::Session(filing.asker.clone()),
        reason,
        deadline: filing.route.hops[landing.index].deadline(now.time, now.time),
        skipped: landing.skipped,
    };
    let draft = filing.draft.clone();
    let standing = filing.standing.as_ref().filter(|standing| standing.stands(now));
    // A no that was less sure than is demanded here is not the one that was asked for.
    let standing = standing.filter(|no| filing.assurance.is_none_or(|a| a.is_met_by(no.assurance)));
    let filed = Filed {
        id: filing.id,
        namespace: filing.namespace.clone(),
        content: draft.content,
        priority: draft.priority,
        asker: filing.asker.clone(),
        host: filing.host.clone(),
        work: filing.work,
        tree: filing.tree,
        chain: filing.chain.clone(),
        route_name: draft.route.unwrap_or_default(),
        route: filing.route.clone(),
        terms: filing.policy.terms,
        first,
        expiry: draft.expire.map(|(after, action)| Expiry::new(after, action, now.time)),
        defaults: draft.defaults,
        carried: draft.carried,
        assurance: filing.assurance,
        again: standing.filter(|_| draft.again).map_or(0, |standing| standing.again + 1),
    };
    let in_agent = standing.is_some_and(|standing| standing.in_agent);
    let mut events = vec![EventKind::Filed(Box::new(filed))];
    if let Some(standing) = standing.filter(|_| !draft.again) {
        let (by, note, assurance) =
            (standing.by.clone(), standing.note.clone(), standing.assurance);
        let stands_from = Some(standing.ask);
        events.push(EventKind::Declined { by, note, stands_from, assurance });
    }
    let numbered = events.into_iter().zip(1..);
    Ok(numbered
        .map(|(kind, revision)| {
            // The no that stands is as it was said; the filing is the asker's.
            let in_agent = in_agent && kind.settles();
            Event { in_agent, ..Event::new(revision, now.time, kind) }
        })
        .collect())
}

/// Rule 14, where it is counted at admission.
fn admit(filing: &Filing) -> Result<(), Rejection> {
    let (tree, namespace) = (&filing.crowd.tree, &filing.crowd.namespace);
    if tree.0 >= filing.policy.open_in_tree && !planted!("tree_has_no_end") {
        return Err(Rejection::TreeFull(tree.0, tree.1.clone()));
    }
    if namespace.0 >= filing.policy.open_in_namespace {
        return Err(Rejection::NamespaceFull(namespace.0, namespace.1.clone()));
    }
    Ok(())
}

/// Rule 5: exactly that agent id and session id.
fn whose_turn(ask: &Ask, session: &SessionRef) -> Result<(), Rejection> {
    if ask.waits_on_session(session) || planted!("any_session_answers") {
        Ok(())
    } else {
        Err(Rejection::NotSender)
    }
}

fn only_asker(ask: &Ask, session: &SessionRef) -> Result<(), Rejection> {
    if ask.asker == *session { Ok(()) } else { Err(Rejection::NotAsker) }
}

/// No session says otherwise than a person whose no still stands, nor asks for another answer to it.
fn not_declined(standing: Option<&StandingNo>, now: Now) -> Result<(), Rejection> {
    match standing.filter(|standing| standing.stands(now)) {
        Some(standing) => Err(Rejection::StandingDecline(Box::new(standing.clone()))),
        None => Ok(()),
    }
}

/// Whether a person's word is as surely theirs as this ask demands.
fn sure(ask: &Ask, assurance: Assurance) -> Result<(), Rejection> {
    match ask.assurance.filter(|demanded| !demanded.is_met_by(Some(assurance))) {
        Some(demanded) => Err(Rejection::TooUnsure(demanded)),
        None => Ok(()),
    }
}

/// Rule 20: what was decided on is what is there.
fn shown(ask: &Ask, digest: ContentDigest) -> Result<(), Rejection> {
    if ask.digest == digest || planted!("stale_is_taken") { Ok(()) } else { Err(Rejection::Stale) }
}

fn whole(ask: &Ask, digest: ContentDigest, answers: &Answers) -> Result<(), Rejection> {
    shown(ask, digest)?;
    valid(answer::violations("answers", &ask.content, answers))
}

fn valid(violations: Vec<Violation>) -> Result<(), Rejection> {
    if violations.is_empty() { Ok(()) } else { Err(Rejection::Invalid(violations)) }
}

pub(super) fn within(field: &str, text: &str, max: usize) -> Result<(), Rejection> {
    let mut found = Vec::new();
    check_length(&mut found, field, text, max);
    valid(found)
}

fn turn(ask: &Ask, text: &str) -> Result<(), Rejection> {
    let mut found = Vec::new();
    check_length(&mut found, "text", text, limits::TURN_BYTES);
    if is_blank(text) {
        found.push(Violation::new("text", "must say something"));
    }
    valid(found)?;
    if ask.turns.len() >= limits::TURNS {
        return Err(Rejection::TooManyTurns);
    }
    Ok(())
}

/// A claim by `by`. Renewed or taken over, the timers keep what they had when they were first held.
fn claim(
    ask: &Ask,
    by: &PersonName,
    length: Span,
    take_over: bool,
    now: Now,
) -> Result<EventKind, Rejection> {
    if !(limits::CLAIM_MIN..=limits::CLAIM).contains(&length) {
        let bounds = format!("must be from {} to {}", limits::CLAIM_MIN, limits::CLAIM);
        return Err(Rejection::Invalid(vec![Violation::new("length", bounds)]));
    }
    let route_left = match &ask.claim {
        Some(held) if held.by != *by && !take_over => {
            return Err(Rejection::Claimed(held.by.clone()));
        }
        Some(held) => held.route_left,
        None => ask.hop.deadline.map(|deadline| deadline.since(now.time)),
    };
    Ok(EventKind::Claimed { by: by.clone(), lapse: now.time + length, route_left })
}

/// The content with the options a reply replaces; none when it replaces none.
pub(super) fn replaced(
    ask: &Ask,
    options: &BTreeMap<String, Vec<QuestionOption>>,
) -> Result<Option<Content>, Rejection> {
    if options.is_empty() {
        return Ok(None);
    }
    let mut content = Content::clone(&ask.content);
    let mut found = Vec::new();
    // One more than there can be questions is enough to say that there are too many.
    for (id, replacement) in options.iter().take(limits::QUESTIONS + 1) {
        let field = format!("replaced[{}]", text::brief(id));
        match content.questions.iter_mut().find(|question| question.id == *id) {
            None => found.push(Violation::new(field, "no such question here")),
            Some(question) => {
                check_options(replacement, question.multiple, &field, &mut found);
                question.options.clone_from(replacement);
            }
        }
    }
    valid(found)?;
    if ask.expiry.is_some_and(|expiry| expiry.action == ExpiryAction::Default) {
        content.named_default(&ask.defaults).map_err(Rejection::Invalid)?;
    }
    Ok(Some(content))
}
