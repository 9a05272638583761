//! Why a call failed, in words and for programs.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;
use tonic::{Code, Status};
use tonic_types::StatusExt;

/// Why a call failed, after its retries.
#[derive(Clone, Debug)]
pub struct ClientError {
    /// The gRPC status code.
    pub code: Code,
    /// A name of the closed list, where the server gave one.
    pub reason: Option<String>,
    /// What went wrong, in words.
    pub message: String,
    /// Every wrong field with what it must be.
    pub fields: Vec<(String, String)>,
    /// What the ErrorInfo carried beside: `matches` of an ambiguous id, `revision` to resume at.
    pub metadata: BTreeMap<String, String>,
    /// How long to wait before the same is sent again, where the server said so.
    pub retry_after: Option<Duration>,
}

impl ClientError {
    /// Whether the same request may do later what it did not do now.
    pub fn is_passing(&self) -> bool {
        match self.code {
            Code::Unavailable => true,
            Code::ResourceExhausted => self.retry_after.is_some(),
            _ => false,
        }
    }

    /// Whether this is why.
    pub fn is(&self, reason: crate::error::Reason) -> bool {
        self.reason.as_deref() == Some(reason.as_str())
    }

    /// A daemon that does not keep to its own words.
    pub(super) fn broken(what: &str) -> Self {
        Status::internal(format!("the daemon sent {what}")).into()
    }
}

impl From<Status> for ClientError {
    fn from(status: Status) -> Self {
        let details = status.get_error_details();
        let info = details.error_info();
        let violations = details.bad_request().map(|bad| bad.field_violations.clone());
        let reason = info.map(|info| info.reason.clone());
        // A connection that breaks under a call has no reason of the daemon's, and may come back.
        let code = match (status.code(), &reason) {
            (Code::Unknown | Code::Cancelled | Code::Internal, None) if is_transport(&status) => {
                Code::Unavailable
            }
            (code, _) => code,
        };
        let message = match &reason {
            None if code == Code::Unavailable => {
                format!("the daemon cannot be reached: {}", innermost(&status))
            }
            _ => status.message().to_owned(),
        };
        let named =
            |violation: tonic_types::FieldViolation| (violation.field, violation.description);
        Self {
            code,
            reason,
            message,
            fields: violations.unwrap_or_default().into_iter().map(named).collect(),
            metadata: info
                .map(|info| info.metadata.clone().into_iter().collect())
                .unwrap_or_default(),
            retry_after: details.retry_info().and_then(|retry| retry.retry_delay),
        }
    }
}

/// Whether the status was made here, of a connection that broke.
fn is_transport(status: &Status) -> bool {
    std::error::Error::source(status).is_some()
}

fn innermost(status: &Status) -> String {
    let mut error: &dyn std::error::Error = status;
    let mut said = status.message().to_owned();
    while let Some(source) = error.source() {
        said = source.to_string();
        error = source;
    }
    said
}

impl fmt::Display for ClientError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ClientError {}
