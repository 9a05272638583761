//! One ask, whole: where it stands, its way, what it asks, what was said, how it ended.

use super::page::Page;
use super::{
    BOLD, FAINT, PLAIN, actor, chosen, delivery, expiry, future, gone, outcome_line, past,
};
use super::{session, standing, waiting};
use crate::ask::text::visible_line;
use crate::cli::look::Look;
use crate::cli::render::words;
use crate::grpc::v1;

/// The ask, with the times of its way from its history; and how many of its lines there are to the end
/// of its last question. What is asked comes first: whoever leaves a pager early has seen that.
pub fn ask(
    ask: &v1::Ask,
    events: &[v1::Event],
    you: Option<&str>,
    now: i64,
    look: Look,
) -> (String, usize) {
    let mut page = Page::new(look);
    head(&mut page, ask, you, now);
    questions(&mut page, ask);
    let asked = page.height();
    outcome_and_delivery(&mut page, ask, now);
    context(&mut page, ask);
    talk(&mut page, ask, now);
    page.own("");
    waiting::way(&mut page, ask, events, you, now);
    (page.into_text(), asked)
}

/// Lines of each text that stand above a prompt: what is asked, and what can be chosen, must still be
/// on a screen together.
const SHORT_LINES: usize = 40;

/// The same above a prompt, where long texts are cut; and whether any was. The questions stand last,
/// beside what is chosen.
pub fn short(
    ask: &v1::Ask,
    events: &[v1::Event],
    you: Option<&str>,
    now: i64,
    look: Look,
) -> (String, bool) {
    let id = visible_line(&ask.id);
    let whole = format!("askway show {id}");
    let mut page = Page::short(look, SHORT_LINES, whole);
    head(&mut page, ask, you, now);
    page.own("");
    waiting::way(&mut page, ask, events, you, now);
    context(&mut page, ask);
    questions(&mut page, ask);
    talk(&mut page, ask, now);
    outcome_and_delivery(&mut page, ask, now);
    let is_cut = page.is_cut();
    (page.into_text(), is_cut)
}

fn context(page: &mut Page, ask: &v1::Ask) {
    if !ask.context.is_empty() {
        page.own("");
        page.own(&format!("{FAINT}context{PLAIN}"));
        page.markdown(&ask.context);
    }
}

fn questions(page: &mut Page, ask: &v1::Ask) {
    for asked in &ask.questions {
        page.own("");
        question(page, asked);
    }
}

fn talk(page: &mut Page, ask: &v1::Ask, now: i64) {
    if !ask.turns.is_empty() {
        page.own("");
        ask.turns.iter().for_each(|said| turn(page, said, now));
    }
}

fn outcome_and_delivery(page: &mut Page, ask: &v1::Ask, now: i64) {
    if ask.outcome.is_some() {
        page.own("");
        outcome(page, ask, now);
        if let Some(delivery) = &ask.delivery {
            page.own(&delivery::delivered(delivery, now));
        }
    }
}

fn head(page: &mut Page, ask: &v1::Ask, you: Option<&str>, now: i64) {
    page.own(&format!(
        "{BOLD}{}{PLAIN}  {}, {} priority",
        visible_line(&ask.id),
        words::state(ask.state()),
        words::priority(ask.priority()),
    ));
    let asker = session(ask.asker.as_ref());
    page.own(&format!("asked by {asker} {}", past(ask.create_time, now)));
    if !ask.chain.is_empty() {
        let chain: Vec<_> = ask.chain.iter().map(|sender| session(Some(sender))).collect();
        page.own(&format!("sent by {}", chain.join(", sent by ")));
    }
    if !ask.work_id.is_empty() {
        page.own(&format!("{FAINT}work {}{PLAIN}", visible_line(&ask.work_id)));
    }
    if let Some(gone) = gone(ask, now) {
        page.own(&gone);
    }
    waiting::waiting(page, ask, you, now);
    if let Some(claim) = &ask.claim {
        let person = visible_line(&claim.person);
        let lapses = future(claim.lapse_time, now);
        let typed = words::in_agent(claim.in_agent);
        page.own(&format!("{person}{typed} is on it; that lapses {lapses}"));
    }
    if let Some(standing) = standing(ask) {
        page.own(&standing);
    }
    for part in [expiry::expiry(ask, now), expiry::seen(ask, now)].iter().flatten() {
        part.lines().for_each(|line| page.own(line));
    }
}

fn question(page: &mut Page, question: &v1::Question) {
    let id = visible_line(&question.id);
    match question.header.is_empty() {
        true => page.own(&format!("{FAINT}{id}{PLAIN}")),
        false => page.own(&format!("{FAINT}{id}{PLAIN}  {}", visible_line(&question.header))),
    }
    page.theirs(&question.question);
    for option in &question.options {
        let recommended = if option.recommended { " (recommended)" } else { "" };
        let label = visible_line(&option.label);
        page.own(&format!("  - {BOLD}{label}{PLAIN}{recommended}"));
        if !option.description.is_empty() {
            page.theirs(&option.description);
        }
    }
    page.own(match (question.options.is_empty(), question.multiple) {
        (true, _) => "  answer in your own words",
        (false, true) => "  several may be chosen; own words may be added",
        (false, false) => "  one may be chosen; own words may be added",
    });
}

/// One turn of talk.
pub fn turn(page: &mut Page, turn: &v1::Turn, now: i64) {
    let unread = if turn.unread { " (unread)" } else { "" };
    let by = actor(turn.by.as_ref());
    let worth = words::assurance(turn.assurance()).map(|worth| format!("assurance {worth}"));
    let typed = turn.in_agent.then(|| words::IN_AGENT.to_owned());
    let how: Vec<_> = worth.into_iter().chain(typed).collect();
    let how = if how.is_empty() { String::new() } else { format!(" ({})", how.join(", ")) };
    page.own(&format!("{by}{how} said {}{unread}:", past(turn.say_time, now)));
    page.theirs(&turn.text);
}

/// How it ended, and what was decided of each question.
pub fn outcome(page: &mut Page, ask: &v1::Ask, now: i64) {
    let Some(outcome) = &ask.outcome else { return };
    let line = outcome_line(outcome);
    page.own(&format!("{BOLD}{line}{PLAIN} {}", past(outcome.settle_time, now)));
    for asked in &ask.questions {
        let Some(answer) = outcome.answers.get(&asked.id) else { continue };
        page.own(&format!("  {}", visible_line(&asked.question)));
        chosen::labels(page, "    ", answer);
        if let Some(written) = &answer.text {
            page.theirs(written);
        }
    }
    if let Some(note) = &outcome.note {
        page.theirs(note);
    }
}
