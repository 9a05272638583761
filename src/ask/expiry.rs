//! The asker's own deadline: how its clock runs, and what happens when it comes (rule 4).
//!
//! | it comes while …                                        | then                                   |
//! |---------------------------------------------------------|----------------------------------------|
//! | a session is asked                                      | to the first people, the expiry is gone |
//! | people are asked, *stop*                                | expired                                |
//! | people are asked, *default*, a person's no to it stands | open; a person decides                 |
//! | people are asked, *default*, a person spoke last        | open; the asker's reply starts it anew |
//! | people are asked, *default*, nobody was shown it        | open; a showing starts the window      |
//! | people are asked, *default*, shown for less than the window | open until the window has run      |
//! | people are asked, *default*, shown for the window       | expired, with the defaults             |
//!
//! Its clock stands still under a claim and while a person's turn is unread, and has at least a
//! minute left after that.

use super::event::EventKind;
use super::{
    Answers, Ask, Content, Now, Span, StandingNo, Timestamp, Violation, answer, limits, text,
};
use serde::{Deserialize, Serialize};

/// The asker's own deadline, and what happens then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Expiry {
    /// Its length when filed; a reply starts it anew.
    pub after: Span,
    /// What happens then.
    pub action: ExpiryAction,
    /// How its clock runs.
    pub clock: ExpiryClock,
}

/// What an expiry does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExpiryAction {
    /// The ask ends as expired; nothing is chosen.
    Stop,
    /// The ask ends as expired with what the asker named for it, once a person could object.
    Default,
}

/// How an expiry's clock runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExpiryClock {
    /// It comes at this instant.
    Runs(Timestamp),
    /// It stands still, with this much left.
    Stands(Span),
    /// It came, and its default may not be applied; time alone does not change that.
    Waits(WhyNoDefault),
}

/// Why a default is not applied when its time has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WhyNoDefault {
    /// Nobody was shown the ask.
    NotShown,
    /// Somebody was, and may still be reading.
    ShownLately,
    /// The last turn is a person's.
    PersonSpoke,
    /// A person has said no to the same content in this tree, and that still stands.
    Declined,
}

impl WhyNoDefault {
    /// The same as a sentence.
    pub fn sentence(self) -> &'static str {
        match self {
            WhyNoDefault::NotShown => "nobody has been shown it yet",
            WhyNoDefault::ShownLately => "a person may still be reading it",
            WhyNoDefault::PersonSpoke => "a person spoke, and the asker replies next",
            WhyNoDefault::Declined => "a person has said no to this, and that stands",
        }
    }
}

impl Expiry {
    /// One that comes `after` from `time` on.
    pub fn new(after: Span, action: ExpiryAction, time: Timestamp) -> Self {
        Self { after, action, clock: ExpiryClock::Runs(time + after) }
    }

    /// When it comes, where its clock runs.
    pub fn due(&self) -> Option<Timestamp> {
        match self.clock {
            ExpiryClock::Runs(time) => Some(time),
            ExpiryClock::Stands(_) | ExpiryClock::Waits(_) => None,
        }
    }

    /// Its clock as it runs after `time`, `held` or not.
    pub(super) fn settled(mut self, held: bool, time: Timestamp) -> Self {
        self.clock = match self.clock {
            ExpiryClock::Runs(due) if held => ExpiryClock::Stands(due.since(time)),
            ExpiryClock::Stands(left) if !held => {
                ExpiryClock::Runs(time + left.max(limits::EXPIRE_LEFT_MIN.min(self.after)))
            }
            clock => clock,
        };
        self
    }
}

/// What an expiry that is due does to an ask that waits on people.
pub(super) fn at_expiry(
    ask: &Ask,
    action: ExpiryAction,
    standing: Option<&StandingNo>,
    now: Now,
) -> EventKind {
    if action == ExpiryAction::Stop {
        return EventKind::Expired { answers: None };
    }
    if standing.is_some_and(|standing| standing.stands(now)) {
        return EventKind::DefaultHeld { why: WhyNoDefault::Declined, until: None };
    }
    if ask.person_spoke_last() && !planted!("default_after_a_persons_turn") {
        return EventKind::DefaultHeld { why: WhyNoDefault::PersonSpoke, until: None };
    }
    let unseen = planted!("default_unseen").then_some(ask.create_time);
    let Some(shown) = ask.shown_since().or(unseen) else {
        return EventKind::DefaultHeld { why: WhyNoDefault::NotShown, until: None };
    };
    // After a gap nobody can say what a person saw in it.
    let stands = shown.max(now.awake_since) + ask.terms.person_window;
    if stands > now.time {
        return EventKind::DefaultHeld { why: WhyNoDefault::ShownLately, until: Some(stands) };
    }
    let answers = ask.content.named_default(&ask.defaults);
    EventKind::Expired { answers: Some(answers.expect("a default is named as long as it stands")) }
}

impl Content {
    /// What the asker named as default, whole: what it gave for a question, else its recommended
    /// options. The order of options never implies a choice.
    ///
    /// # Errors
    ///
    /// Each question without one, and everything wrong with those given.
    pub fn named_default(&self, given: &Answers) -> Result<Answers, Vec<Violation>> {
        let mut found = Vec::new();
        let mut named = given.clone();
        for question in self.questions.iter().filter(|question| !given.contains_key(&question.id)) {
            let recommended = question.options.iter().filter(|option| option.recommended);
            let selected: Vec<_> = recommended.map(|option| option.label.clone()).collect();
            if selected.is_empty() {
                let field = format!("defaults[{}]", text::brief(&question.id));
                let why = "a default must be named: recommend an option, or give one here";
                found.push(Violation::new(field, why));
            }
            named.insert(question.id.clone(), super::Answer { selected, ..Default::default() });
        }
        let wrong = answer::violations("defaults", self, &named).into_iter();
        // What is not named at all has been said.
        found.extend(
            wrong
                .filter(|wrong| !found.iter().any(|said| said.field == wrong.field))
                .collect::<Vec<_>>(),
        );
        if !found.is_empty() {
            return Err(found);
        }
        named.values_mut().for_each(|answer| answer.default = true);
        Ok(named)
    }
}
