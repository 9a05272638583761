//! Messages that cannot be read: what tonic says of them before a handler is reached, in the words of
//! every other fault.
//!
//! tonic refuses them as it decodes, so it is done on the way out: every status of ours has details,
//! and one without them is tonic's own.

use super::limits::MESSAGE_BYTES;
use super::status::{info, status, with_reason};
use crate::error::{Error, Reason};
use tonic::body::Body;
use tonic::codegen::http::Response;
use tonic::{Code, Status};

/// In an ErrorInfo: how many bytes a message may have.
pub const LIMIT: &str = "limit_bytes";
/// How prost begins what it could not decode; then come the fields it was in.
const UNDECODABLE: &str = "failed to decode Protobuf message: ";
/// What prost says of text that is none.
const NOT_TEXT: &str = "not UTF-8";

/// What tonic says of a message that is compressed: it is not unpacked.
const COMPRESSED: &str = "is compressed";

/// The response, with our words where tonic could not read the request.
pub(super) fn explained(response: Response<Body>) -> Response<Body> {
    let said = Status::from_header_map(response.headers());
    let said = said.filter(|said| said.details().is_empty());
    let ours = said.and_then(|said| match said.code() {
        Code::OutOfRange => Some(too_large()),
        Code::Internal => Some(undecodable(said.message())),
        Code::Unimplemented if said.message().contains(COMPRESSED) => Some(compressed()),
        _ => None,
    });
    ours.map_or(response, Status::into_http)
}

fn too_large() -> Status {
    let message = format!("a message must be at most {MESSAGE_BYTES} bytes");
    let details = info(&[(LIMIT, MESSAGE_BYTES.to_string())]);
    with_reason(Code::InvalidArgument, Reason::InvalidArgument, message, details)
}

fn compressed() -> Status {
    let message = "a message must not be compressed; send it as it is".to_owned();
    with_reason(Code::Unimplemented, Reason::InvalidArgument, message, info(&[]))
}

/// What `said` is about: `Message.field: ` for each level, then the cause.
fn undecodable(said: &str) -> Status {
    let said = said.strip_prefix(UNDECODABLE).unwrap_or(said);
    let mut parts: Vec<_> = said.split(": ").collect();
    let is_field = |part: &&str| part.contains('.') && !part.contains(' ');
    let levels = parts.iter().take_while(|part| is_field(part)).count();
    let cause = parts.split_off(levels).join(": ");
    let description = match cause.contains(NOT_TEXT) {
        true => "must be text in UTF-8".to_owned(),
        false => cause,
    };
    // The innermost is named first.
    let names = parts.iter().rev().filter_map(|part| part.rsplit('.').next());
    let field = names.collect::<Vec<_>>().join(".");
    if field.is_empty() {
        let message = format!("the message cannot be read: {description}");
        return with_reason(Code::InvalidArgument, Reason::InvalidArgument, message, info(&[]));
    }
    status(Error::invalid(field, description))
}
