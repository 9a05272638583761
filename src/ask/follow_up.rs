//! What an asker's language model is told of an outcome or a turn: plain text, bounded, beginning
//! with who decided, or that nobody did.
//!
//! Every question and every selection stands in it whole. Long texts share what room is left; what
//! was cut says so, and where the rest is. Words of agents and people stand behind `> `, so that they
//! cannot pass for ours.

use super::names::Actor;
use super::{Answer, Answers, Ask, Assurance, Ending, Outcome, Question, Turn, limits, text};
use std::fmt::Write;

/// Bytes that a cut leaves room for, where it says so.
const CUT_NOTE: usize = 96;

impl Ask {
    /// What to tell the asker of the delivery of `revision`, at most
    /// [`limits::FOLLOW_UP_BYTES`] bytes; empty where that revision delivers nothing.
    pub fn follow_up(&self, revision: u64) -> String {
        if let Some(turn) = self.turns.iter().find(|turn| turn.revision == revision) {
            return self.fill(|room| self.told_turn(turn, room));
        }
        match self.outcome().filter(|outcome| outcome.revision == revision) {
            Some(outcome) => self.fill(|room| self.told_outcome(outcome, room)),
            None => String::new(),
        }
    }

    /// The text with as much room for each long part as fits.
    fn fill(&self, tell: impl Fn(usize) -> String) -> String {
        let rooms = std::iter::successors(Some(limits::FOLLOW_UP_BYTES), |room| Some(room / 2));
        let told = rooms.take_while(|room| *room > 0).map(&tell);
        let mut fitting = told.filter(|text| text.len() <= limits::FOLLOW_UP_BYTES);
        fitting.next().unwrap_or_else(|| tell(0))
    }

    fn told_turn(&self, turn: &Turn, room: usize) -> String {
        let who = who(&turn.by);
        let mut told = format!("{who} spoke to you about your ask {}:\n", self.id);
        told.push_str(worth(turn.assurance));
        told.push_str(typed(turn.in_agent));
        quote(&mut told, &turn.text, room, &self.rest());
        told.push_str("\nYou asked:\n");
        for question in &self.content.questions {
            self.asked(&mut told, question, room);
        }
        let _ = write!(
            told,
            "\nNothing is decided yet. Answer them with a reply on {}, then wait again.\n",
            self.id
        );
        told
    }

    fn told_outcome(&self, outcome: &Outcome, room: usize) -> String {
        let mut told = self.who_decided(outcome);
        told.push('\n');
        told.push_str(worth(outcome.assurance));
        told.push_str(typed(outcome.in_agent));
        if let Some(note) = &outcome.note {
            told.push_str("They said:\n");
            quote(&mut told, note, room, &self.rest());
        }
        let answers = match &outcome.ending {
            Ending::Answered(answers) | Ending::Expired(Some(answers)) => Some(answers),
            Ending::Declined | Ending::Expired(None) | Ending::Withdrawn | Ending::Abandoned => {
                None
            }
        };
        for question in &self.content.questions {
            told.push('\n');
            self.asked(&mut told, question, room);
            if let Some(answers) = answers {
                self.answered(&mut told, question, answers, room);
            }
        }
        let _ = write!(told, "\nThis continues the work {}", self.work);
        match self.chain.first() {
            Some(sender) => {
                let _ = writeln!(
                    told,
                    ", sent by {sender}; a further question of it goes to {sender}."
                );
            }
            None => told.push_str(".\n"),
        }
        told
    }

    fn who_decided(&self, outcome: &Outcome) -> String {
        let id = self.id;
        let by = who(&outcome.by);
        match &outcome.ending {
            Ending::Answered(_) => format!("{by} answered your ask {id}."),
            Ending::Declined if outcome.stands_from.is_some() => format!(
                "{by} has said no to this before, and that still stands for your ask {id}. Nothing \
                 ran. Do not ask it again without new facts."
            ),
            Ending::Declined => format!(
                "{by} said no to your ask {id}. Nothing ran. Do not ask it again without new facts."
            ),
            Ending::Expired(None) => format!(
                "Nobody decided: the time you gave your ask {id} is over and nobody answered. Do \
                 not go on with what it was about."
            ),
            Ending::Expired(Some(_)) => format!(
                "Nobody decided: the time you gave your ask {id} is over, and the default that you \
                 named stands. A person was shown it and did not object."
            ),
            Ending::Withdrawn => format!("Nobody decided: your ask {id} was withdrawn by {by}."),
            Ending::Abandoned => {
                format!("Nobody decided: your ask {id} was abandoned when its session was ended.")
            }
        }
    }

    fn asked(&self, told: &mut String, question: &Question, room: usize) {
        let _ = writeln!(told, "Question {}:", text::visible_line(&question.id));
        quote(told, &question.question, room, &self.rest());
    }

    fn answered(&self, told: &mut String, question: &Question, answers: &Answers, room: usize) {
        let Some(Answer { selected, text, default }) = answers.get(&question.id) else { return };
        let standing = if *default { " (your default; nobody chose it)" } else { "" };
        match selected.is_empty() {
            true => {
                let _ = writeln!(told, "No offered option was selected{standing}.");
            }
            false => {
                let _ = writeln!(told, "Selected{standing}:");
                // A line each: a label may hold whatever would part it from the next one.
                selected.iter().for_each(|label| _ = writeln!(told, "> {label}"));
            }
        }
        if let Some(text) = text {
            told.push_str("In their own words:\n");
            quote(told, text, room, &self.rest());
        }
    }

    /// Where what was cut stands whole.
    fn rest(&self) -> String {
        format!("askway show {}", self.id)
    }
}

fn who(actor: &Actor) -> String {
    match actor {
        Actor::Session(session) => format!("The agent {session}"),
        Actor::Person(person) => format!("The person {person}"),
        Actor::Host(host) => format!("The host {host}"),
        Actor::Timer => "The timer".to_owned(),
    }
}

/// How surely a person's word is theirs; nothing where it is no person's.
fn worth(assurance: Option<Assurance>) -> &'static str {
    match assurance {
        None => "",
        Some(Assurance::Local) => "Assurance: local (by a token in the daemon's folder).\n",
        Some(Assurance::Token) => "Assurance: token (by a token made for them alone).\n",
    }
}

/// What an asker must know of words that were typed where agents type.
fn typed(in_agent: bool) -> &'static str {
    match in_agent {
        true => "It was typed in an agent's environment: an agent may have typed it.\n",
        false => "",
    }
}

/// Somebody's words behind `> `, at most about `room` bytes of them; what was cut says so.
fn quote(told: &mut String, words: &str, room: usize, rest: &str) {
    let safe = text::visible(words);
    let kept = match safe.len() <= room {
        true => &safe[..],
        false => text::begin(&safe, room.saturating_sub(CUT_NOTE)),
    };
    for line in kept.lines() {
        let _ = writeln!(told, "> {line}");
    }
    if kept.len() < safe.len() {
        let (shown, all) = (kept.len(), safe.len());
        let _ = writeln!(told, "[cut: {shown} of {all} bytes; the whole: {rest}]");
    }
}
