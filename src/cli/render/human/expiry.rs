//! The asker's own deadline, for people: what happens then, and that nobody chose it.

use super::{future, past, put};
use crate::ask::Span;
use crate::ask::text::visible_line;
use crate::grpc::v1;

/// Lines on the deadline of an open ask; none where it has none.
pub(super) fn expiry(ask: &v1::Ask, now: i64) -> Option<String> {
    let expiry = ask.expiry.as_ref()?;
    if ask.outcome.is_some() {
        return None;
    }
    let when = match (&expiry.left, ask.expire_time) {
        (Some(left), _) => {
            let left = Span::from_millis(u64::try_from(left.seconds).unwrap_or_default() * 1_000);
            format!("its deadline stands still, with {left} left")
        }
        (None, Some(time)) => format!("expires {}", future(Some(time), now)),
        (None, None) => "its deadline has come".to_owned(),
    };
    let mut text = String::new();
    let who = ask.waiting_on.as_ref().and_then(|waiting_on| waiting_on.who.as_ref());
    if matches!(who, Some(v1::waiting_on::Who::Session(_))) {
        let then = "then it comes to people, without a deadline, and nothing is chosen";
        let when = when.replace("expires in", "its deadline comes in");
        return Some(format!("{when}; {then}"));
    }
    match expiry.applies_default {
        false => put(&mut text, &format!("{when}; then it ends, and nothing is chosen")),
        true => {
            let then =
                "then, if a person was shown it and nobody has chosen, the asker's default stands:";
            put(&mut text, &format!("{when}; {then}"));
            for asked in &ask.questions {
                let Some(answer) = expiry.defaults.get(&asked.id) else { continue };
                let labels = answer.selected.iter().map(|label| visible_line(label).into_owned());
                let words = answer.text.iter().map(|text| visible_line(text).into_owned());
                let all: Vec<_> = labels.chain(words).collect();
                put(&mut text, &format!("    {} = {}", visible_line(&asked.id), all.join(", ")));
            }
        }
    }
    if !expiry.waits_reason.is_empty() {
        put(&mut text, &format!("the default waits: {}", visible_line(&expiry.waits_reason)));
    }
    Some(text.trim_end().to_owned())
}

/// Who was shown the ask as it is.
pub(super) fn seen(ask: &v1::Ask, now: i64) -> Option<String> {
    let shown = |mark: &v1::SeenMark| {
        format!("{} {}", visible_line(&mark.person), past(mark.seen_time, now))
    };
    let all: Vec<_> = ask.seen.iter().map(shown).collect();
    (!all.is_empty()).then(|| format!("shown to {}", all.join(", ")))
}
