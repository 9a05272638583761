//! Files read from any text as the verbs read them, for tests that throw text at it. Not an
//! interface: nothing of the program calls it, and it may change with any version.

use super::file::{self, AskFile};
use crate::grpc::v1;
use std::collections::HashMap;

/// The questions in a file of them, with their defaults.
///
/// # Errors
///
/// What whoever typed the verb would be told.
pub fn questions(text: &str) -> Result<(Vec<v1::Question>, HashMap<String, v1::Answer>), String> {
    let mut read: AskFile = file::ask(text).map_err(|failure| failure.message)?;
    let defaults = read.take_defaults();
    Ok((read.questions.into_iter().map(Into::into).collect(), defaults))
}

/// The answers in a file of them.
///
/// # Errors
///
/// What whoever typed the verb would be told.
pub fn answers(text: &str) -> Result<HashMap<String, v1::Answer>, String> {
    file::answers(text).map_err(|failure| failure.message)
}
