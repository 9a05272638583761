//! What the database says went wrong, in the two words a store has for it.

use crate::store::Fault;
use tokio_postgres::Error;
use tokio_postgres::error::SqlState;

/// What an error comes to, by its class. Whatever may be over in a while is *unavailable*; what another
/// try would find the same is *unreadable*. No message has a password in it.
pub(super) fn fault(error: &Error) -> Fault {
    let Some(told) = error.as_db_error() else {
        let cause = std::error::Error::source(error).map(|cause| format!(": {cause}"));
        return Fault::Unavailable(format!("{error}{}", cause.unwrap_or_default()));
    };
    let said = format!("PostgreSQL says {} ({})", told.message(), told.code().code());
    match &told.code().code()[..2] {
        // Damage that the server found; and a table, a column or a function that is not there.
        "XX" | "58" if *told.code() == SqlState::DATA_CORRUPTED => Fault::Unreadable(said),
        "42" if *told.code() == SqlState::INSUFFICIENT_PRIVILEGE => Fault::Unavailable(format!(
            "{said}; the role needs CREATE on the database, once, and then its own tables"
        )),
        "42" => Fault::Unreadable(format!("{said}; the schema askway is not as askway made it")),
        _ => Fault::Unavailable(said),
    }
}

/// Whether a connection that says so is to be made again: it ends, or its server is no place to write.
pub(super) fn ends_connection(error: &Error) -> bool {
    let class = |code: &SqlState| matches!(&code.code()[..2], "08" | "57" | "XX");
    error.is_closed()
        || error.code().is_none()
        || error
            .code()
            .is_some_and(|code| class(code) || *code == SqlState::READ_ONLY_SQL_TRANSACTION)
}
