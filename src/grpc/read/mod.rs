//! Reading requests: fields of the wire as values of the domain, with everything that is wrong with
//! a request said at once. What belongs together is read in one place: `draft`, `lists`,
//! `deliveries`.

mod deliveries;
mod draft;
mod lists;

pub use deliveries::delivery_id;

use super::status::status;
use crate::ask::content::Violation;
use crate::ask::{AskId, ContentDigest, RequestId, Span, limits};
use crate::error::Error;
use crate::session::{Kind, Secret};
use std::fmt::Display;
use std::str::FromStr;
use std::time::Duration;
use tonic::Status;

/// Reads fields one by one and gathers what is wrong with them.
#[derive(Default)]
pub(in crate::grpc) struct Fields {
    found: Vec<Violation>,
}

impl Fields {
    /// The values read, unless anything was wrong.
    pub(in crate::grpc) fn done<T>(self, values: Option<T>) -> Result<T, Status> {
        match values {
            Some(values) if self.found.is_empty() => Ok(values),
            _ => Err(status(Error::Invalid(self.found))),
        }
    }

    pub(in crate::grpc) fn wrong<T>(
        &mut self,
        field: &str,
        description: impl Display,
    ) -> Option<T> {
        self.found.push(Violation::new(field, description.to_string()));
        None
    }

    /// Anything that is read from text.
    pub(in crate::grpc) fn text<T: FromStr<Err: Display>>(
        &mut self,
        field: &str,
        text: &str,
    ) -> Option<T> {
        text.parse().map_or_else(|error| self.wrong(field, error), Some)
    }

    /// The same where empty means none.
    pub(in crate::grpc) fn optional<T: FromStr<Err: Display>>(
        &mut self,
        field: &str,
        text: &str,
    ) -> Option<Option<T>> {
        if text.is_empty() { Some(None) } else { self.text(field, text).map(Some) }
    }

    pub(in crate::grpc) fn request_id(&mut self, text: &str) -> Option<RequestId> {
        self.text("request_id", text)
    }

    pub(in crate::grpc) fn ask_id(&mut self, text: &str) -> Option<AskId> {
        self.text("ask_id", text)
    }

    /// What every mutating call on an ask names.
    pub(in crate::grpc) fn ids(&mut self, request: &str, ask: &str) -> Option<(RequestId, AskId)> {
        let (request, ask) = (self.request_id(request), self.ask_id(ask));
        request.zip(ask)
    }

    pub(in crate::grpc) fn digest(&mut self, text: &str) -> Option<ContentDigest> {
        self.text("content_digest", text)
    }

    /// Words that may be left out: a note, a reason.
    pub(in crate::grpc) fn note(
        &mut self,
        field: &str,
        note: Option<String>,
    ) -> Option<Option<String>> {
        match &note {
            Some(text) if text.len() > limits::NOTE_BYTES => {
                self.wrong(field, too_long(text, limits::NOTE_BYTES))
            }
            _ => Some(note),
        }
    }

    /// What is said in a turn of talk.
    pub(in crate::grpc) fn turn(&mut self, text: String) -> Option<String> {
        if text.len() > limits::TURN_BYTES {
            return self.wrong("text", too_long(&text, limits::TURN_BYTES));
        }
        Some(text)
    }

    pub(in crate::grpc) fn secret(
        &mut self,
        field: &str,
        kind: Kind,
        text: &str,
    ) -> Option<Secret> {
        match Secret::read(text).filter(|secret| secret.kind() == kind) {
            Some(secret) => Some(secret),
            None => {
                let must = format!("must be `{}` and 72 hexadecimal digits, whole", kind.prefix());
                self.wrong(field, must)
            }
        }
    }

    /// A length of time; whether it is in bounds the domain says.
    pub(in crate::grpc) fn span(
        &mut self,
        field: &str,
        duration: prost_types::Duration,
    ) -> Option<Span> {
        match Duration::try_from(duration) {
            Ok(duration) => Some(duration.into()),
            Err(_) => self.wrong(field, "must be a length of time that is not negative"),
        }
    }

    /// How long a claim holds; unset is as long as one may.
    pub(in crate::grpc) fn claim_length(
        &mut self,
        length: Option<prost_types::Duration>,
    ) -> Option<Span> {
        let Some(length) = length else { return Some(limits::CLAIM) };
        let span = self.span("length", length)?;
        if (limits::CLAIM_MIN..=limits::CLAIM).contains(&span) {
            return Some(span);
        }
        self.wrong("length", format!("must be from {} to {}", limits::CLAIM_MIN, limits::CLAIM))
    }
}

fn too_long(text: &str, most: usize) -> String {
    format!("must be at most {most} bytes, not {}", text.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grpc::v1;
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
}
