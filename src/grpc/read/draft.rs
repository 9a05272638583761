//! What an asker and an answerer send: drafts, answers, replaced options.

use super::{Fields, too_long};
use crate::ask::text::visible_line;
use crate::ask::{
    Answer, Answers, Assurance, Carried, Content, Draft, ExpiryAction, Priority, Question,
    QuestionOption, limits,
};
use crate::grpc::v1;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

impl Fields {
    /// Answers are checked against their questions by the domain; here only that they can be held.
    pub(in crate::grpc) fn answers(
        &mut self,
        name: &str,
        answers: HashMap<String, v1::Answer>,
    ) -> Option<Answers> {
        if answers.len() > limits::QUESTIONS {
            let must = format!("must be at most {} answers", limits::QUESTIONS);
            return self.wrong(name, must);
        }
        let before = self.found.len();
        let answers: BTreeMap<_, _> = answers.into_iter().collect();
        let read = |(id, answer): (String, v1::Answer)| {
            let field = format!("{name}[{}]", visible_line(&id));
            let text = answer.text.as_deref().unwrap_or_default();
            if text.len() > limits::ANSWER_TEXT_BYTES {
                let must = too_long(text, limits::ANSWER_TEXT_BYTES);
                self.wrong::<()>(&format!("{field}.text"), must);
            }
            if answer.selected.len() > limits::OPTIONS {
                let must = format!("must be at most {} labels", limits::OPTIONS);
                self.wrong::<()>(&format!("{field}.selected"), must);
            }
            let (selected, text) = (answer.selected, answer.text);
            (id, Answer { selected, text, default: false })
        };
        let answers = answers.into_iter().map(read).collect();
        (self.found.len() == before).then_some(answers)
    }

    /// A draft; a question without an id gets one by its place.
    pub(in crate::grpc) fn draft(&mut self, request: v1::AskRequest) -> Option<Draft> {
        let named = |(place, question): (usize, v1::Question)| {
            let question = question_of(question);
            match question.id.is_empty() {
                true => Question { id: format!("q{}", place + 1), ..question },
                false => question,
            }
        };
        // More questions than may be are all the domain needs to see to say so.
        let some = request.questions.into_iter().take(limits::QUESTIONS + 1);
        let questions = some.enumerate().map(named).collect();
        let content = Arc::new(Content { questions, context: request.context });
        let priority = match v1::Priority::try_from(request.priority) {
            Ok(v1::Priority::Unspecified | v1::Priority::Normal) => Some(Priority::Normal),
            Ok(v1::Priority::Low) => Some(Priority::Low),
            Ok(v1::Priority::High) => Some(Priority::High),
            Err(_) => self.wrong("priority", "must be low, normal or high"),
        };
        let action = match v1::ExpiryAction::try_from(request.on_expire) {
            Ok(v1::ExpiryAction::Unspecified | v1::ExpiryAction::Stop) => Some(ExpiryAction::Stop),
            Ok(v1::ExpiryAction::Default) => Some(ExpiryAction::Default),
            Err(_) => self.wrong("on_expire", "must be stop or default"),
        };
        let expire = match request.expire {
            Some(after) => self.span("expire", after).map(Some),
            None => Some(None),
        };
        let expire = expire.flatten().map(|after| (after, action.unwrap_or(ExpiryAction::Stop)));
        let defaults = self.answers("defaults", request.defaults);
        let route = self.optional("route", &request.route);
        let assurance = match v1::Assurance::try_from(request.assurance) {
            Ok(v1::Assurance::Unspecified) => Some(None),
            Ok(v1::Assurance::Local) => Some(Some(Assurance::Local)),
            Ok(v1::Assurance::Token) => Some(Some(Assurance::Token)),
            Err(_) => self.wrong("assurance", "must be local or token"),
        };
        let carried = self.carried(request.carried.unwrap_or_default());
        let draft = Draft {
            content,
            priority: priority.unwrap_or_default(),
            expire,
            defaults: defaults.unwrap_or_default(),
            carried: carried.unwrap_or_default(),
            route: route.flatten(),
            again: request.again,
            assurance: assurance.flatten(),
        };
        // What the domain will say of it is said together with what is wrong here.
        if !self.found.is_empty() {
            self.found.extend(draft.violations());
        }
        Some(draft)
    }

    fn carried(&mut self, carried: v1::Carried) -> Option<Carried> {
        if carried.asker_state.len() > limits::ASKER_STATE_BYTES {
            let must = format!("must be at most {} bytes", limits::ASKER_STATE_BYTES);
            return self.wrong("carried.asker_state", must);
        }
        let (parent, state) = (carried.trace_parent, carried.trace_state);
        Some(Carried::new(&carried.asker_state, parent, state))
    }

    /// The options that a reply replaces; whether they may stand there the domain says.
    pub(in crate::grpc) fn replaced(
        &mut self,
        replaced: Vec<v1::ReplacedOptions>,
    ) -> Option<BTreeMap<String, Vec<QuestionOption>>> {
        if replaced.len() > limits::QUESTIONS {
            let must = format!("must be at most {} questions", limits::QUESTIONS);
            return self.wrong("replaced", must);
        }
        let before = self.found.len();
        let mut options = BTreeMap::new();
        for (place, one) in replaced.into_iter().enumerate() {
            if one.options.len() > limits::OPTIONS {
                let must = format!("must be at most {} options", limits::OPTIONS);
                self.wrong::<()>(&format!("replaced[{place}].options"), must);
            }
            let replacement = one.options.into_iter().take(limits::OPTIONS).map(option_of);
            if options.insert(one.question_id, replacement.collect()).is_some() {
                let field = format!("replaced[{place}].question_id");
                self.wrong::<()>(&field, "must not be the question of another entry");
            }
        }
        (self.found.len() == before).then_some(options)
    }
}

fn question_of(question: v1::Question) -> Question {
    let options = question.options.into_iter().take(limits::OPTIONS + 1);
    Question {
        id: question.id,
        header: question.header,
        question: question.question,
        options: options.map(option_of).collect(),
        multiple: question.multiple,
    }
}

fn option_of(option: v1::Option) -> QuestionOption {
    let (label, description) = (option.label, option.description);
    QuestionOption { label, description, recommended: option.recommended }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_without_ids_are_named_by_place() {
        let question = || v1::Question { question: "?".into(), ..Default::default() };
        let request =
            v1::AskRequest { questions: vec![question(), question()], ..Default::default() };
        let draft = Fields::default().draft(request).unwrap();
        assert_eq!(draft.content.questions[1].id, "q2");
        assert_eq!(draft.violations(), []);
    }
}
