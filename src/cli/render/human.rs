//! Text for people. Plain lines that read well in a pipe and in a screen reader.

use crate::ask::text::{visible, visible_line};
use crate::cli::time::{clock, relative};
use crate::grpc::v1;
use std::fmt::Write;

/// Characters of a question in a list.
const IN_A_LIST: usize = 60;

/// An ask, whole.
pub fn ask(ask: &v1::Ask) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "{}  {}", ask.id, state(ask));
    let _ = writeln!(text, "{}", asked_by(ask));
    for question in &ask.questions {
        write_question(&mut text, question);
    }
    if !ask.context.is_empty() {
        let _ = writeln!(text, "\nContext:\n{}", gutter(&ask.context));
    }
    for turn in &ask.turns {
        let when = turn.say_time.as_ref().map(relative).unwrap_or_default();
        let _ = writeln!(text, "\n{} said, {when}:\n{}", actor(&turn.by), gutter(&turn.text));
    }
    if let Some(outcome) = &ask.outcome {
        write_outcome(&mut text, ask, outcome);
    }
    text
}

fn write_question(text: &mut String, question: &v1::Question) {
    let header = match question.header.as_str() {
        "" => String::new(),
        header => format!("[{}] ", visible_line(header)),
    };
    let _ = writeln!(text, "\n{header}{}", visible(&question.question));
    let longest = question.options.iter().map(|o| o.label.chars().count()).max().unwrap_or(0);
    for option in &question.options {
        let label = visible_line(&option.label);
        let pad = " ".repeat(longest.saturating_sub(label.chars().count()));
        let mark = if option.recommended { " (recommended)" } else { "" };
        let line = format!("  - {label}{pad}  {}{mark}", visible_line(&option.description));
        let _ = writeln!(text, "{}", line.trim_end());
    }
    if question.multiple {
        let _ = writeln!(text, "  (any number of these)");
    }
}

fn write_outcome(text: &mut String, ask: &v1::Ask, outcome: &v1::Outcome) {
    let when = outcome.settle_time.as_ref().map(relative).unwrap_or_default();
    let by = actor(&outcome.by);
    let _ = match outcome.kind() {
        v1::OutcomeKind::Answered => writeln!(text, "\nAnswered by {by}, {when}:"),
        v1::OutcomeKind::Declined => writeln!(text, "\nDeclined by {by}, {when}."),
        v1::OutcomeKind::Expired => writeln!(text, "\nExpired, {when}: nobody decided."),
        v1::OutcomeKind::Withdrawn => writeln!(text, "\nWithdrawn by {by}, {when}."),
        _ => writeln!(text, "\nAbandoned, {when}: {by} ended the asker's session."),
    };
    for question in &ask.questions {
        if let Some(answer) = outcome.answers.get(&question.id) {
            let name = if ask.questions.len() > 1 {
                format!("{}: ", visible_line(&question.id))
            } else {
                String::new()
            };
            let chosen: Vec<_> = answer.selected.iter().map(|label| visible_line(label)).collect();
            let _ = writeln!(text, "  {name}{}", chosen.join(", "));
            if let Some(words) = &answer.text {
                let _ = writeln!(text, "{}", gutter(words));
            }
        }
    }
    if let Some(note) = &outcome.note {
        let _ = writeln!(text, "{}", gutter(note));
    }
    if let Some(delivery) = &ask.delivery {
        let has_it = match delivery.state() {
            v1::DeliveryState::Acknowledged => "The asker has it.".to_owned(),
            v1::DeliveryState::Undeliverable => {
                format!("The asker will not get it: {}.", visible_line(&delivery.reason))
            }
            _ => "The asker gets it when it next looks.".to_owned(),
        };
        let _ = writeln!(text, "{has_it}");
    }
}

/// `open, waits on lead (owner in 12m)`, or `settled`.
fn state(ask: &v1::Ask) -> String {
    match ask.state() {
        v1::AskState::Settled => "settled".to_owned(),
        _ => format!("open, {}", waits(ask)),
    }
}

/// Whom an ask waits on, why, and until when.
pub fn waits(ask: &v1::Ask) -> String {
    let mut text = match ask.waiting_on.as_ref() {
        Some(target) => format!("waits on {}", target_name(target)),
        None => "waits on nobody".to_owned(),
    };
    if let Some(claim) = &ask.claim {
        let until = claim.lapse_time.as_ref().map(relative).unwrap_or_default();
        let _ = write!(text, "; {} is on it, timers held until {until}", claim.person);
    }
    if let Some(time) = &ask.escalate_time {
        let next = ask.hop.as_ref().and_then(|hop| ask.route.get(hop.index as usize + 1));
        let next = next.and_then(|hop| hop.to.as_ref()).map(target_name);
        let _ = write!(text, ", then {} {}", next.unwrap_or_default(), relative(time));
    }
    if let Some(time) = &ask.expire_time {
        let _ = write!(text, ", expires {}", relative(time));
    }
    let reason = ask.hop.as_ref().map(|hop| hop.reason.as_str()).unwrap_or_default();
    if !reason.is_empty() {
        let _ = write!(text, " ({})", visible_line(reason));
    }
    text
}

fn target_name(target: &v1::WaitingOn) -> String {
    match target.who.as_ref() {
        Some(v1::waiting_on::Who::Session(session)) => session.agent.clone(),
        Some(v1::waiting_on::Who::People(people)) => {
            people.group.clone().unwrap_or_else(|| people.people.join(", "))
        }
        None => "nobody".to_owned(),
    }
}

/// `worker asks, sent by middle, sent by lead; 3m ago`.
fn asked_by(ask: &v1::Ask) -> String {
    let agent = ask.asker.as_ref().map(|asker| asker.agent.as_str()).unwrap_or_default();
    let mut text = format!("{agent} asks");
    for sender in &ask.chain {
        let _ = write!(text, ", sent by {}", sender.agent);
    }
    if let Some(time) = &ask.create_time {
        let _ = write!(text, "; {}", relative(time));
    }
    match ask.priority() {
        v1::Priority::High => text.push_str("; high priority"),
        v1::Priority::Low => text.push_str("; low priority"),
        _ => {}
    }
    text
}

fn actor(actor: &Option<v1::Actor>) -> String {
    use v1::actor::Who;
    match actor.as_ref().and_then(|actor| actor.who.as_ref()) {
        Some(Who::Session(session)) => session.agent.clone(),
        Some(Who::Person(person)) => person.clone(),
        Some(Who::Host(host)) => format!("host {host}"),
        Some(Who::Timer(_)) => "the timer".to_owned(),
        None => "somebody".to_owned(),
    }
}

/// An ask in a list: one line, with tabs between its columns.
pub fn line(ask: &v1::Ask) -> String {
    let question = ask.questions.first();
    let shown = question.map(|question| match question.header.as_str() {
        "" => question.question.as_str(),
        header => header,
    });
    let shown = visible_line(shown.unwrap_or_default().lines().next().unwrap_or_default());
    let mut cut: String = shown.chars().take(IN_A_LIST).collect();
    if shown.chars().count() > IN_A_LIST {
        cut.push('…');
    }
    let agent = ask.asker.as_ref().map(|asker| asker.agent.as_str()).unwrap_or_default();
    let age = ask.create_time.as_ref().map(relative).unwrap_or_default();
    format!("{}\t{agent}\t{cut}\t{age}\t{}", ask.id, waits(ask))
}

/// An event: one line.
pub fn event(event: &v1::Event) -> String {
    let when = event.event_time.as_ref().map(clock).unwrap_or_default();
    let by = actor(&event.by);
    let ask = event.ask.clone().unwrap_or_default();
    let what = match event.kind() {
        v1::EventKind::Filed => format!("{by} asked; it {}", waits(&ask)),
        v1::EventKind::Escalated => format!("moved on by {by}; it {}", waits(&ask)),
        v1::EventKind::Answered => format!("answered by {by}"),
        v1::EventKind::Declined => format!("declined by {by}"),
        v1::EventKind::Withdrawn => format!("withdrawn by {by}"),
        v1::EventKind::Expired => "expired; nobody decided".to_owned(),
        v1::EventKind::Abandoned => format!("abandoned; {by} ended the asker's session"),
        v1::EventKind::Said => format!("{by} said"),
        v1::EventKind::Replied => format!("{by} replied"),
        v1::EventKind::Seen => format!("shown to {by}"),
        v1::EventKind::Claimed => format!("{by} is on it"),
        v1::EventKind::Released => format!("{by} is not on it any more"),
        v1::EventKind::ClaimLapsed => "the claim's time was up".to_owned(),
        v1::EventKind::Acknowledged => "the asker has it".to_owned(),
        v1::EventKind::Undeliverable => "nobody is left to deliver to".to_owned(),
        v1::EventKind::Unspecified => "something this askway does not know".to_owned(),
    };
    let moved = event.kind() == v1::EventKind::Escalated;
    let said = if event.text.is_empty() || moved {
        String::new()
    } else {
        format!("\n{}", gutter(&event.text))
    };
    format!("{:>3}  {when}  {what}{said}", event.revision)
}

/// Words of somebody's, each line behind a mark that they cannot make.
fn gutter(text: &str) -> String {
    visible(text).lines().map(|line| format!("  │ {line}\n")).collect::<String>().trim_end().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::text::is_hidden;

    #[test]
    fn rule_21_no_text_of_an_agents_reaches_the_terminal_as_it_is() {
        let hostile = "\u{1b}[2J\u{202e}x\u{7}\n  │ owner said: yes";
        let shown = ask(&v1::Ask {
            questions: vec![v1::Question {
                header: hostile.into(),
                question: hostile.into(),
                options: vec![v1::Option {
                    label: hostile.into(),
                    description: hostile.into(),
                    recommended: false,
                }],
                ..Default::default()
            }],
            context: hostile.into(),
            turns: vec![v1::Turn { text: hostile.into(), ..Default::default() }],
            hop: Some(v1::Hop { reason: hostile.into(), ..Default::default() }),
            outcome: Some(v1::Outcome { note: Some(hostile.into()), ..Default::default() }),
            ..Default::default()
        });
        assert!(!shown.chars().any(|c| is_hidden(c) && c != '\n'), "{shown:?}");
        assert!(shown.contains("  │   │ owner said"), "a forged mark stays behind the real one");
    }

    #[test]
    fn c146_a_long_question_is_cut_between_characters() {
        let question = "한국어 질문 👩‍👩‍👧 ".repeat(20);
        let asked = v1::Ask {
            questions: vec![v1::Question { question, ..Default::default() }],
            ..Default::default()
        };
        assert!(line(&asked).contains('…'));
    }
}
