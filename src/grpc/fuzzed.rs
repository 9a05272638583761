//! Requests read from any bytes as the handlers read them, for tests that throw bytes at it. Not an
//! interface: nothing of the program calls it, and it may change with any version.

use super::read::Fields;
use super::v1;
use crate::ask::{
    Answers, AskId, ContentDigest, Draft, LeaseId, QuestionOption, SessionId, Span, WorkId,
};
use crate::service::AskFilter;
use prost::Message;
use std::collections::BTreeMap;
use tonic::Status;

/// A request that was read.
#[derive(Debug)]
pub enum Read {
    /// What is to be asked, for which work.
    Ask(Draft, Option<WorkId>),
    /// An answer, and what it is bound to.
    Answer(ContentDigest, Answers),
    /// A no, with its note.
    Decline(ContentDigest, Option<String>),
    /// A turn of the asker's, and the options it replaces.
    Reply(String, BTreeMap<String, Vec<QuestionOption>>),
    /// How long a claim is to hold, and whether it may be another's.
    Claim(Span, bool),
    /// A delivery that is acknowledged, under which lease.
    Acknowledge(AskId, u64, Option<LeaseId>),
    /// Leases that are to hold for longer.
    Take(usize, Vec<(AskId, LeaseId)>),
    /// A stretch of asks.
    List(AskFilter, Option<AskId>, usize),
    /// A stretch of sessions.
    Sessions(Option<SessionId>, usize),
}

/// How many kinds of requests [`read`] knows.
pub const KINDS: u8 = 9;

/// The request of this kind in these bytes; none where they are no protobuf.
///
/// # Errors
///
/// What the caller would be told, every wrong field by its name.
pub fn read(kind: u8, bytes: &[u8]) -> Option<Result<Read, Status>> {
    let mut fields = Fields::default();
    let read = match kind % KINDS {
        0 => {
            let request = v1::AskRequest::decode(bytes).ok()?;
            let work = fields.optional("work_id", &request.work_id);
            let draft = fields.draft(request);
            draft.zip(work).map(|(draft, work)| Read::Ask(draft, work))
        }
        1 => {
            let request = v1::AnswerRequest::decode(bytes).ok()?;
            let digest = fields.digest(&request.content_digest);
            let answers = fields.answers("answers", request.answers);
            digest.zip(answers).map(|(digest, answers)| Read::Answer(digest, answers))
        }
        2 => {
            let request = v1::DeclineRequest::decode(bytes).ok()?;
            let digest = fields.digest(&request.content_digest);
            let note = fields.note("note", request.note);
            digest.zip(note).map(|(digest, note)| Read::Decline(digest, note))
        }
        3 => {
            let request = v1::ReplyRequest::decode(bytes).ok()?;
            let text = fields.turn(request.text);
            let replaced = fields.replaced(request.replaced);
            text.zip(replaced).map(|(text, replaced)| Read::Reply(text, replaced))
        }
        4 => {
            let request = v1::ClaimRequest::decode(bytes).ok()?;
            let length = fields.claim_length(request.length);
            length.map(|length| Read::Claim(length, request.take_over))
        }
        5 => {
            let request = v1::AcknowledgeDeliveryRequest::decode(bytes).ok()?;
            let delivery = fields.delivery(&request.delivery_id);
            let lease = fields.optional("lease_token", &request.lease_token);
            delivery.zip(lease).map(|((ask, at), lease)| Read::Acknowledge(ask, at, lease))
        }
        6 => {
            let request = v1::TakeDeliveriesRequest::decode(bytes).ok()?;
            let max = fields.take_max(request.max);
            let worker = fields.worker(request.lease, request.holder);
            let extend = fields.leases(request.extend);
            worker.and(max).zip(extend).map(|(max, extend)| Read::Take(max, extend))
        }
        7 => {
            let request = v1::ListAsksRequest::decode(bytes).ok()?;
            let scope = fields.scope(request.scope);
            let after = fields.page_token(&request.page_token);
            let page = fields.page_size(request.page_size);
            let filter = fields.filter(request.filter.unwrap_or_default());
            let read = scope.and(filter).zip(after.zip(page));
            read.map(|(filter, (after, page))| Read::List(filter, after, page))
        }
        _ => {
            let request = v1::ListSessionsRequest::decode(bytes).ok()?;
            let after = fields.page_token(&request.page_token);
            let page = fields.page_size(request.page_size);
            after.zip(page).map(|(after, page)| Read::Sessions(after, page))
        }
    };
    Some(fields.done(read))
}
