//! Reading requests: fields of the wire as values of the domain, with everything that is wrong with
//! a request said at once.

use super::status::status;
use super::v1;
use crate::ask::content::Violation;
use crate::ask::text::{is_one_safe_line, visible_line};
use crate::ask::{
    Answer, Answers, AskId, Carried, Content, ContentDigest, Draft, ExpiryAction, LeaseId,
    Priority, Question, QuestionOption, RequestId, Span, Timestamp, limits,
};
use crate::error::Error;
use crate::service::{AskFilter, AskScope, PAGE, PAGE_MAX, TAKE_MAX, Way, Worker};
use crate::session::{Kind, Secret};
use std::collections::{BTreeMap, HashMap};
use std::fmt::Display;
use std::str::FromStr;
use std::time::Duration;
use tonic::Status;

/// Reads fields one by one and gathers what is wrong with them.
#[derive(Default)]
pub(super) struct Fields {
    found: Vec<Violation>,
}

impl Fields {
    /// The values read, unless anything was wrong.
    pub(super) fn done<T>(self, values: Option<T>) -> Result<T, Status> {
        match values {
            Some(values) if self.found.is_empty() => Ok(values),
            _ => Err(status(Error::Invalid(self.found))),
        }
    }

    fn wrong<T>(&mut self, field: &str, description: impl Display) -> Option<T> {
        self.found.push(Violation::new(field, description.to_string()));
        None
    }

    /// Anything that is read from text.
    pub(super) fn text<T: FromStr<Err: Display>>(&mut self, field: &str, text: &str) -> Option<T> {
        text.parse().map_or_else(|error| self.wrong(field, error), Some)
    }

    /// The same where empty means none.
    pub(super) fn optional<T: FromStr<Err: Display>>(
        &mut self,
        field: &str,
        text: &str,
    ) -> Option<Option<T>> {
        if text.is_empty() { Some(None) } else { self.text(field, text).map(Some) }
    }

    pub(super) fn request_id(&mut self, text: &str) -> Option<RequestId> {
        self.text("request_id", text)
    }

    pub(super) fn ask_id(&mut self, text: &str) -> Option<AskId> {
        self.text("ask_id", text)
    }

    /// What every mutating call on an ask names.
    pub(super) fn ids(&mut self, request: &str, ask: &str) -> Option<(RequestId, AskId)> {
        let (request, ask) = (self.request_id(request), self.ask_id(ask));
        request.zip(ask)
    }

    pub(super) fn digest(&mut self, text: &str) -> Option<ContentDigest> {
        self.text("content_digest", text)
    }

    /// Words that may be left out: a note, a reason.
    pub(super) fn note(&mut self, field: &str, note: Option<String>) -> Option<Option<String>> {
        match &note {
            Some(text) if text.len() > limits::NOTE_BYTES => {
                self.wrong(field, too_long(text, limits::NOTE_BYTES))
            }
            _ => Some(note),
        }
    }

    /// What is said in a turn of talk.
    pub(super) fn turn(&mut self, text: String) -> Option<String> {
        if text.len() > limits::TURN_BYTES {
            return self.wrong("text", too_long(&text, limits::TURN_BYTES));
        }
        Some(text)
    }

    pub(super) fn secret(&mut self, field: &str, kind: Kind, text: &str) -> Option<Secret> {
        match Secret::read(text).filter(|secret| secret.kind() == kind) {
            Some(secret) => Some(secret),
            None => {
                let must = format!("must be `{}` and 64 hexadecimal digits", kind.prefix());
                self.wrong(field, must)
            }
        }
    }

    /// A length of time; whether it is in bounds the domain says.
    pub(super) fn span(&mut self, field: &str, duration: prost_types::Duration) -> Option<Span> {
        match Duration::try_from(duration) {
            Ok(duration) => Some(duration.into()),
            Err(_) => self.wrong(field, "must be a length of time that is not negative"),
        }
    }

    /// How long a claim holds; unset is as long as one may.
    pub(super) fn claim_length(&mut self, length: Option<prost_types::Duration>) -> Option<Span> {
        let Some(length) = length else { return Some(limits::CLAIM) };
        let span = self.span("length", length)?;
        if (limits::CLAIM_MIN..=limits::CLAIM).contains(&span) {
            return Some(span);
        }
        self.wrong("length", format!("must be from {} to {}", limits::CLAIM_MIN, limits::CLAIM))
    }

    /// Answers are checked against their questions by the domain; here only that they can be held.
    pub(super) fn answers(
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
    pub(super) fn draft(&mut self, request: v1::AskRequest) -> Option<Draft> {
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
        let content = Content { questions, context: request.context };
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
        let carried = self.carried(request.carried.unwrap_or_default());
        let draft = Draft {
            content,
            priority: priority.unwrap_or_default(),
            expire,
            defaults: defaults.unwrap_or_default(),
            carried: carried.unwrap_or_default(),
            route: route.flatten(),
            again: request.again,
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
    pub(super) fn replaced(
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

    pub(super) fn scope(&mut self, scope: i32) -> Option<AskScope> {
        match v1::AskScope::try_from(scope) {
            Ok(v1::AskScope::Unspecified | v1::AskScope::WaitingOnMe) => {
                Some(AskScope::WaitingOnMe)
            }
            Ok(v1::AskScope::Mine) => Some(AskScope::Mine),
            Ok(v1::AskScope::Visible) => Some(AskScope::Visible),
            Err(_) => self.wrong("scope", "must be waiting on me, mine or visible"),
        }
    }

    pub(super) fn filter(&mut self, filter: v1::AskFilter) -> Option<AskFilter> {
        let outcome = match v1::OutcomeKind::try_from(filter.outcome) {
            Ok(v1::OutcomeKind::Unspecified) => Some(None),
            Ok(v1::OutcomeKind::Answered) => Some(Some(Way::Answered)),
            Ok(v1::OutcomeKind::Declined) => Some(Some(Way::Declined)),
            Ok(v1::OutcomeKind::Expired) => Some(Some(Way::Expired)),
            Ok(v1::OutcomeKind::Withdrawn) => Some(Some(Way::Withdrawn)),
            Ok(v1::OutcomeKind::Abandoned) => Some(Some(Way::Abandoned)),
            Err(_) => self.wrong("filter.outcome", "must be a way an ask ends"),
        };
        let asker = self.optional("filter.asker_session_id", &filter.asker_session_id);
        let session = self.optional("filter.waiting_on_session_id", &filter.waiting_on_session_id);
        let person = self.optional("filter.waiting_on_person", &filter.waiting_on_person);
        let tree = self.optional("filter.tree_work_id", &filter.tree_work_id);
        let from = self.time("filter.create_time_from", filter.create_time_from);
        let until = self.time("filter.create_time_until", filter.create_time_until);
        if filter.text.len() > limits::HEADER_BYTES {
            self.wrong::<()>("filter.text", too_long(&filter.text, limits::HEADER_BYTES));
        }
        Some(AskFilter {
            settled: filter.settled,
            outcome: outcome?,
            asker: asker?,
            waiting_on_session: session?,
            waiting_on_person: person?,
            tree: tree?,
            from: from?,
            until: until?,
            text: Some(filter.text).filter(|text| !text.is_empty()),
        })
    }

    /// An instant; unset is none.
    fn time(
        &mut self,
        field: &str,
        time: Option<prost_types::Timestamp>,
    ) -> Option<Option<Timestamp>> {
        let Some(time) = time else { return Some(None) };
        let millis = u64::try_from(time.seconds).ok().and_then(|seconds| {
            seconds.checked_mul(1_000)?.checked_add(u64::try_from(time.nanos).ok()? / 1_000_000)
        });
        match millis {
            Some(millis) => Some(Some(Timestamp::from_millis(millis))),
            None => self.wrong(field, "must be a time since 1970"),
        }
    }

    /// How many asks' deliveries are taken; 0 is one.
    pub(super) fn take_max(&mut self, max: u32) -> Option<usize> {
        match max as usize {
            0 => Some(1),
            max if max <= TAKE_MAX => Some(max),
            _ => self.wrong("max", format!("must be 1 to {TAKE_MAX}, or 0 for 1")),
        }
    }

    /// Who takes deliveries, for how long.
    pub(super) fn worker(
        &mut self,
        lease: Option<prost_types::Duration>,
        holder: String,
    ) -> Option<Worker> {
        let length = lease.map_or(Some(limits::LEASE), |lease| self.span("lease", lease));
        if !length.is_none_or(|length| (limits::LEASE_MIN..=limits::LEASE_MAX).contains(&length)) {
            let bounds = format!("must be from {} to {}", limits::LEASE_MIN, limits::LEASE_MAX);
            self.wrong::<()>("lease", bounds);
        }
        if holder.len() > limits::HOLDER_BYTES || !is_one_safe_line(&holder) {
            let must = format!("must be one line of at most {} bytes", limits::HOLDER_BYTES);
            self.wrong::<()>("holder", must);
        }
        Some(Worker { length: length?, holder })
    }

    /// Leases that are to hold for longer.
    pub(super) fn leases(
        &mut self,
        extend: Vec<v1::ExtendedLease>,
    ) -> Option<Vec<(AskId, LeaseId)>> {
        if extend.len() > TAKE_MAX {
            return self.wrong("extend", format!("must be at most {TAKE_MAX} leases"));
        }
        let mut leases = Vec::with_capacity(extend.len());
        for (place, one) in extend.into_iter().enumerate() {
            let ask = self.text(&format!("extend[{place}].ask_id"), &one.ask_id);
            let lease = self.text(&format!("extend[{place}].lease_token"), &one.lease_token);
            leases.push(ask.zip(lease));
        }
        leases.into_iter().collect()
    }

    /// A page's size; 0 is as many as where nothing is said.
    pub(super) fn page_size(&mut self, size: u32) -> Option<usize> {
        match size as usize {
            0 => Some(PAGE),
            size if size <= PAGE_MAX => Some(size),
            _ => self.wrong("page_size", format!("must be 1 to {PAGE_MAX}, or 0 for {PAGE}")),
        }
    }

    /// Where a page begins; empty is the first. A token is the last id of the page before.
    pub(super) fn page_token<T: FromStr>(&mut self, token: &str) -> Option<Option<T>> {
        match token.parse() {
            _ if token.is_empty() => Some(None),
            Ok(last) => Some(Some(last)),
            Err(_) => self.wrong("page_token", "must be the next_page_token of the page before"),
        }
    }

    /// `dlv_`, the ask's 20 characters, `_`, and the revision.
    pub(super) fn delivery(&mut self, id: &str) -> Option<(AskId, u64)> {
        let parts = id.strip_prefix(DELIVERY).and_then(|rest| rest.split_once('_'));
        let read = parts.and_then(|(ask, revision)| {
            let ask = format!("{}{ask}", AskId::PREFIX).parse().ok()?;
            Some((ask, revision.parse().ok()?))
        });
        match read {
            Some(delivery) => Some(delivery),
            None => self.wrong("delivery_id", "must be a delivery's id, as it was offered"),
        }
    }
}

/// What every delivery's id begins with.
const DELIVERY: &str = "dlv_";

/// The id of the delivery of `revision` of `ask`: the same each time it is offered.
pub fn delivery_id(ask: &str, revision: u64) -> String {
    let characters = ask.strip_prefix(AskId::PREFIX).unwrap_or(ask);
    format!("{DELIVERY}{characters}_{revision}")
}

fn too_long(text: &str, most: usize) -> String {
    format!("must be at most {most} bytes, not {}", text.len())
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
    use tonic_types::StatusExt;

    #[test]
    fn every_wrong_field_of_a_request_is_named_at_once() {
        let mut fields = Fields::default();
        let request = v1::AskRequest {
            questions: vec![],
            priority: 9,
            on_expire: 9,
            expire: Some(prost_types::Duration { seconds: -1, nanos: 0 }),
            ..Default::default()
        };
        fields.request_id("");
        fields.optional::<crate::ask::WorkId>("work_id", "wrk_x");
        let draft = fields.draft(request);
        let details = fields.done(draft).unwrap_err().get_error_details();
        let found = &details.bad_request().unwrap().field_violations;
        let named: Vec<_> = found.iter().map(|violation| violation.field.as_str()).collect();
        assert_eq!(
            named,
            ["request_id", "work_id", "priority", "on_expire", "expire", "questions"]
        );
    }

    #[test]
    fn a_delivery_id_reads_back() {
        let id = AskId::new(crate::ask::Timestamp::from_millis(7), [9; 6]);
        let text = delivery_id(&id.to_string(), 12);
        assert_eq!(Fields::default().delivery(&text), Some((id, 12)));
        for bad in ["", "dlv_", "dlv_x_1", &text[..20], &format!("{text}x")] {
            assert_eq!(Fields::default().delivery(bad), None, "{bad}");
        }
    }

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
