//! The same content asked once more: when it is the same ask (rule 13), and when a person's no to it
//! still stands.

use super::names::{AskId, Namespace, PersonName, WorkId};
use super::text::{as_it_looks, is_disguised, is_hidden, is_of_a_word, is_of_emoji};
use super::{
    Actor, Ask, Assurance, Content, ContentDigest, Delivery, Draft, Ending, Now, Question,
    QuestionOption, State, Timestamp,
};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use unicode_normalization::UnicodeNormalization;
use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};

/// Which ask a work filed last with this content. A record of its own, so that its absence can be
/// guarded too.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Twin {
    /// The work.
    pub work: WorkId,
    /// The content.
    pub digest: ContentDigest,
    /// The ask.
    pub ask: AskId,
    /// How often this record was written.
    pub revision: u64,
}

/// A person's no to some content, which binds in the whole tree of works for a while.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StandingNo {
    /// The root of the works it binds.
    pub tree: WorkId,
    /// What was declined, however it is spelled ([`Asked::gist`]); as it was spelled, where askway 0.1
    /// wrote it.
    pub digest: ContentDigest,
    /// Where it lives.
    pub namespace: Namespace,
    /// The ask that was declined.
    pub ask: AskId,
    /// Who declined it.
    pub by: PersonName,
    /// What they said.
    pub note: Option<String>,
    /// When.
    pub time: Timestamp,
    /// Until when it binds; the time of a person's answer once one has lifted it.
    pub until: Timestamp,
    /// How often it was asked again all the same.
    pub again: u32,
    /// How often this record was written.
    pub revision: u64,
    /// How surely they are who they say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assurance: Option<Assurance>,
    /// Whether it was typed in an agent's environment.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_agent: bool,
}

/// What a no to some content is found by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    /// Of what is asked, however it is spelled: a no to it is a no to all that differs in capitals,
    /// spaces, punctuation and characters that look the same, in the names of the questions, in the order
    /// of the options and in which of them are recommended.
    pub gist: ContentDigest,
    /// Of the content as it is.
    pub digest: ContentDigest,
}

impl Content {
    /// What a person's no to it is found by.
    pub fn asked(&self) -> Asked {
        Asked { gist: self.gist(), digest: self.digest() }
    }

    fn gist(&self) -> ContentDigest {
        let option = |option: &QuestionOption| QuestionOption {
            label: plain(&option.label),
            description: plain(&option.description),
            recommended: false,
        };
        let question = |question: &Question| {
            let mut options: Vec<_> = question.options.iter().map(option).collect();
            options.sort_by(|a, b| (&a.label, &a.description).cmp(&(&b.label, &b.description)));
            Question {
                id: String::new(),
                header: plain(&question.header),
                question: plain(&question.question),
                options,
                multiple: question.multiple,
            }
        };
        let questions = self.questions.iter().map(question).collect();
        Content { questions, context: plain(&self.context) }.digest()
    }
}

/// `text` as everything that is spelled like it reads to a person: what looks the same is the same, and
/// of what stands between words only that stays which means something, as in `C++`, `1.5` or `a < b`.
fn plain(text: &str) -> String {
    let is_seen = |c: &char| c.is_whitespace() || !(is_hidden(*c) || is_of_emoji(*c));
    // It is made for every ask that is filed, and most are in ASCII.
    let seen: Cow<'_, str> = match text.is_ascii() {
        true => text.into(),
        false => text.nfkc().filter(is_seen).collect::<String>().into(),
    };
    let mut plain = String::with_capacity(seen.len());
    let (mut rest, mut before) = (&*seen, None);
    while let Some(c) = rest.chars().next() {
        let length = rest.find(|c| !is_of_a_word(c)).unwrap_or(rest.len());
        let (part, after) = rest.split_at(length.max(c.len_utf8()));
        if length > 0 {
            put_word(&mut plain, part);
        } else if means_something(before, c, after.chars().next()) {
            plain.push(c);
        }
        before = part.chars().next_back();
        rest = after;
    }
    // Nothing but punctuation: then that is what it says.
    if plain.is_empty() { seen.into_owned() } else { plain }
}

/// A word without capitals, in the letters that it looks to be made of.
fn put_word(plain: &mut String, word: &str) {
    if word.is_ascii() {
        plain.extend(word.chars().map(|c| c.to_ascii_lowercase()));
        return;
    }
    if is_disguised(word) {
        plain.extend(as_it_looks(word).chars().flat_map(char::to_lowercase));
        return;
    }
    // A whole word of letters that look like Latin ones, as Cyrillic `а` does. Which they look like may
    // depend on whether they are capitals: one answer for both, or capitals would make a difference.
    let latin = |c: &str| {
        let looks = as_it_looks(c);
        let is_one = looks.len() == 1 && looks.chars().all(|c| c.is_ascii_alphabetic());
        is_one.then(|| looks.to_ascii_lowercase())
    };
    for c in word.chars() {
        let small = c.to_lowercase().collect::<String>();
        let looks = latin(&small).or_else(|| latin(&small.to_uppercase()));
        plain.push_str(looks.as_deref().unwrap_or(&small));
    }
}

/// Whether `c`, of no word, changes what is said between these.
fn means_something(before: Option<char>, c: char, after: Option<char>) -> bool {
    let is = |of: fn(char) -> bool| (before.is_some_and(of), after.is_some_and(of));
    match c {
        '.' | ',' | ':' => is(|c| c.is_ascii_digit()) == (true, true),
        '-' | '\u{2212}' => {
            matches!((is(is_of_a_word), is(|c| c.is_ascii_digit())), ((false, _), (_, true)))
        }
        '*' => is(is_of_a_word) == (true, true),
        '#' | '%' | '&' | '@' | '/' | '\\' => is(is_of_a_word) != (false, false),
        '|' | '~' => false,
        c => matches!(
            c.general_category(),
            GeneralCategory::MathSymbol
                | GeneralCategory::CurrencySymbol
                | GeneralCategory::OtherSymbol
        ),
    }
}

impl Ask {
    /// What a person's no to it is found by.
    pub fn what_is_asked(&self) -> Asked {
        Asked { gist: self.content.gist(), digest: self.digest }
    }

    /// Whether the same content in the same work is this very ask: it is open, or its outcome is on
    /// its way (rule 13). What was withdrawn or abandoned is asked anew.
    pub fn is_same_once_more(&self) -> bool {
        match &self.state {
            State::Open => true,
            State::Settled { outcome, delivery } => {
                let ended = matches!(outcome.ending, Ending::Withdrawn | Ending::Abandoned);
                !ended && (*delivery == Delivery::Unread || planted!("read_is_the_same_ask"))
            }
        }
    }
}

impl Draft {
    /// Where `ask`, which is the same question, differs from what was sent beside it: field by field.
    /// An expiry that was dropped on the way to people differs: it is not in force any more.
    pub fn differs(&self, ask: &Ask) -> Vec<&'static str> {
        let expire = ask.expiry.map(|expiry| (expiry.after, expiry.action));
        let route = self.route.clone().unwrap_or_default();
        let differ = [
            ("route", ask.route_name != route),
            ("assurance", ask.assurance > self.assurance),
            ("expire", expire != self.expire || ask.defaults != self.defaults),
        ];
        differ.into_iter().filter(|(_, differs)| *differs).map(|(field, _)| field).collect()
    }
}

impl StandingNo {
    /// Whether it binds.
    pub fn stands(&self, now: Now) -> bool {
        self.until > now.time && !planted!("a_no_is_forgotten")
    }

    /// Whether a no may be kept of `ask`: a person declined it, and not only because an earlier no stood.
    pub fn may_be_of(ask: &Ask) -> bool {
        ask.outcome().is_some_and(|outcome| {
            let by_person = matches!(outcome.by, Actor::Person(_));
            matches!(outcome.ending, Ending::Declined) && by_person && outcome.stands_from.is_none()
        })
    }

    /// What the end of `ask` makes of the no to what was `asked` by it in its tree, `before`; none where
    /// it leaves it as it is. A decline puts it there, a person's answer lifts it.
    pub fn after(ask: &Ask, asked: Asked, before: Option<&StandingNo>) -> Option<StandingNo> {
        let outcome = ask.outcome()?;
        match (&outcome.ending, &outcome.by) {
            // A decline that only repeats a standing one prolongs nothing.
            (Ending::Declined, Actor::Person(by)) if outcome.stands_from.is_none() => {
                let still = before.filter(|before| before.until > outcome.time);
                let until = outcome.time + ask.terms.decline_stands;
                let digest = asked.gist;
                // One that was kept by another name is no earlier writing of this record.
                let written = before.filter(|before| before.digest == digest);
                Some(StandingNo {
                    tree: ask.tree,
                    digest,
                    namespace: ask.namespace.clone(),
                    ask: ask.id,
                    by: by.clone(),
                    note: outcome.note.clone(),
                    time: outcome.time,
                    // A second no neither shortens the first nor forgets how often it was asked again.
                    until: still.map_or(until, |still| still.until.max(until)),
                    again: still.map_or(ask.again, |still| still.again.max(ask.again)),
                    revision: written.map_or(0, |before| before.revision) + 1,
                    assurance: outcome.assurance,
                    in_agent: outcome.in_agent,
                })
            }
            (Ending::Answered(_), Actor::Person(_)) => {
                let before = before.filter(|before| before.until > outcome.time)?;
                let revision = before.revision + 1;
                Some(StandingNo { until: outcome.time, revision, ..before.clone() })
            }
            _ => None,
        }
    }

    /// The same, asked again all the same.
    pub fn asked_again(&self) -> Self {
        Self { again: self.again + 1, revision: self.revision + 1, ..self.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(question: &str, labels: &[&str]) -> Content {
        let option = |label: &&str| QuestionOption {
            label: (*label).into(),
            description: format!("what {label} means"),
            recommended: false,
        };
        let question = Question {
            id: "q1".into(),
            header: "Data".into(),
            question: question.into(),
            options: labels.iter().map(option).collect(),
            multiple: false,
        };
        Content { questions: vec![question], context: "It is old.".into() }
    }

    #[test]
    fn however_it_is_spelled_it_is_the_same_question() {
        for (one, other) in [
            ("Drop the table?", "drop the TABLE"),
            ("Drop the table?", "  Drop\n the   table ?!"),
            ("Drop the table?", "“Drop” the table…"),
            ("Drop the table?", "**Drop** the `table`?"),
            ("Drop the table?", "Ｄｒｏｐ the \u{feff}table\u{200b}?"),
            ("Drop the table?", "Dr\u{43e}p the t\u{430}ble?"),
            ("Delete a file?", "Delete \u{430} file?"),
            ("Copy it?", "\u{421}\u{43e}\u{440}\u{443} it?"),
            ("Use \u{420}g?", "use pg"),
            ("Commit the m\u{430}in branch 10?", "commit the main branch 10"),
            ("e\u{301}tat", "\u{c9}TAT"),
            ("Удалить Вывод?", "удалить вывод"),
            ("ΣΟΦΟΣ ΝΕΡΟ", "σοφοσ νερο"),
            ("Re-deploy?", "redeploy"),
            ("Use 1\u{200d}.5?", "use 1.5"),
            ("Use 1\u{200b}.5?", "use 1.5"),
        ] {
            assert_eq!(plain(one), plain(other), "{one} {other}");
            assert_eq!(content(one, &["A"]).asked().gist, content(other, &["A"]).asked().gist);
        }
    }

    #[test]
    fn another_question_stays_another_one() {
        for (one, other) in [
            ("Use C?", "Use C++?"),
            ("Use C?", "Use C#?"),
            ("Wait 1.5 s?", "Wait 15 s?"),
            ("Set it to -5?", "Set it to 5?"),
            ("Is a < b?", "Is a > b?"),
            ("Pay 5 $?", "Pay 5 €?"),
            ("Delete /a/b?", "Delete /ab?"),
            ("Multiply 2*3?", "Multiply 23?"),
            ("👍", "👎"),
            ("?", "!"),
            ("modern", "modem"),
            ("кров", "кровь"),
            ("\u{153}uvre", "oeuvre"),
            ("\u{1a7}", "2"),
            ("x\u{301}y", "xy"),
        ] {
            assert_ne!(plain(one), plain(other), "{one} {other}");
        }
    }

    #[test]
    fn what_no_person_decides_on_makes_no_other_question() {
        let one = content("Which?", &["A", "B"]);
        let mut other = content("Which?", &["B", "A"]);
        other.questions[0].id = "another".into();
        other.questions[0].options[0].recommended = true;
        assert_eq!(one.asked().gist, other.asked().gist);
        assert_ne!(one.digest(), other.digest(), "an answer is bound to all of it");
        assert_eq!(one.asked().digest, one.digest());
        let mut more = content("Which?", &["A", "B"]);
        more.context.push_str(" And slow.");
        for changed in [content("Which?", &["A", "C"]), content("Which one?", &["A", "B"]), more] {
            assert_ne!(one.asked().gist, changed.asked().gist);
        }
    }
}
