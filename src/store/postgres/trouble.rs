//! What the database says went wrong, in the two words a store has for it, and what that means for the
//! connection: by the class of its SQLSTATE, in one table.

use crate::store::Fault;
use std::error::Error as _;
use tokio_postgres::Error;
use tokio_rustls::rustls;

/// What becomes of the connection on which something was said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Then {
    /// It goes on.
    Stays,
    /// It is made again: it ends, or what was prepared on it is gone.
    Ends,
    /// All of them are: the server is no place to write, and another of the hosts may be.
    AllEnd,
}

/// Which word of a store it comes to: what may be over in a while, or what another try finds the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Word {
    Unavailable,
    Unreadable,
}

use Then::{AllEnd, Ends, Stays};
use Word::{Unavailable, Unreadable};

/// How a SQLSTATE begins, what that means, and what to do about it. The first that fits is taken; what is
/// not here comes to *unavailable*, and its connection stays.
const STATES: [(&str, Word, Then, &str); 21] = [
    // A feature that is not supported: above all a plan that no longer fits its tables.
    ("0A", Unavailable, Ends, ""),
    ("08", Unavailable, Ends, ""),
    (
        "25006",
        Unavailable,
        AllEnd,
        "name every host in the URL: the one that may be written to is taken",
    ),
    ("26", Unavailable, Ends, "a pooler is between: it has to keep prepared statements"),
    ("28", Unavailable, Ends, "look at the user and the password in the URL, and at pg_hba.conf"),
    ("3D", Unavailable, Ends, "make the database, or name another"),
    // Two that would wait for each other; one is told.
    ("40", Unavailable, Stays, ""),
    (
        "42501",
        Unavailable,
        Stays,
        "the role needs CREATE on the database, once, and then its own tables",
    ),
    ("42", Unreadable, Stays, "the schema askway is not as askway made it"),
    ("53100", Unavailable, Stays, "its disk is full"),
    ("53300", Unavailable, Ends, "each daemon needs seven connections: raise max_connections"),
    ("53", Unavailable, Stays, ""),
    ("54", Unavailable, Stays, ""),
    ("55", Unavailable, Stays, ""),
    // A statement that took longer than the role may; shutdowns and crashes are the rest of them.
    ("57014", Unavailable, Stays, ""),
    ("57", Unavailable, Ends, ""),
    ("58", Unavailable, Ends, "look at the server's disk"),
    ("P0", Unavailable, Stays, ""),
    // Damage that the server found.
    ("XX001", Unreadable, Stays, ""),
    ("XX002", Unreadable, Stays, "its index is to be made again: reindex schema askway"),
    ("XX", Unavailable, Ends, ""),
];

fn state(code: &str) -> (Word, Then, &'static str) {
    let known = STATES.iter().find(|(begins, ..)| code.starts_with(begins));
    known.map_or((Unavailable, Stays, ""), |&(_, word, then, next)| (word, then, next))
}

/// What an error comes to. No message has a password in it.
pub(super) fn fault(error: &Error) -> Fault {
    let Some(told) = error.as_db_error() else {
        let cause = error.source().map(|cause| format!(": {cause}")).unwrap_or_default();
        return Fault::Unavailable(format!("{error}{cause}{}", of_certificate(error)));
    };
    let code = told.code().code();
    let (word, _, next) = state(code);
    let next = if next.is_empty() { String::new() } else { format!("; {next}") };
    let said = format!("PostgreSQL says {} ({code}){next}", told.message());
    match word {
        Unavailable => Fault::Unavailable(said),
        Unreadable => Fault::Unreadable(said),
    }
}

/// What to do where the server's certificate is not believed.
fn of_certificate(error: &Error) -> &'static str {
    let said = error.source().and_then(|cause| cause.downcast_ref::<std::io::Error>());
    let said = said.and_then(|said| said.get_ref()?.downcast_ref::<rustls::Error>());
    match said {
        Some(rustls::Error::InvalidCertificate(_)) => {
            "; name its authority with sslrootcert=FILE, and the host as the certificate does"
        }
        _ => "",
    }
}

/// What becomes of the connection that says so.
pub(super) fn then(error: &Error) -> Then {
    match error.code() {
        _ if error.is_closed() => Ends,
        None => Ends,
        Some(code) => state(code.code()).1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_class_of_what_is_said_decides_what_it_comes_to() {
        for (code, word, then) in [
            ("08006", Unavailable, Ends),
            ("25006", Unavailable, AllEnd),
            ("25P02", Unavailable, Stays),
            ("40001", Unavailable, Stays),
            ("40P01", Unavailable, Stays),
            ("42501", Unavailable, Stays),
            ("42P01", Unreadable, Stays),
            ("53100", Unavailable, Stays),
            ("53300", Unavailable, Ends),
            ("57014", Unavailable, Stays),
            ("57P01", Unavailable, Ends),
            ("57P03", Unavailable, Ends),
            ("XX000", Unavailable, Ends),
            ("XX001", Unreadable, Stays),
            ("99999", Unavailable, Stays),
        ] {
            let (is, becomes, _) = state(code);
            assert_eq!((is, becomes), (word, then), "{code}");
        }
    }

    #[test]
    fn every_row_of_the_table_is_met() {
        for (number, (begins, word, then, next)) in STATES.iter().enumerate() {
            let met = state(begins);
            assert_eq!(met, (*word, *then, *next), "row {number} is hidden by one before it");
        }
    }
}
