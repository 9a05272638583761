//! What can go wrong below the store: redb's errors and its panics, as faults.

use crate::store::Fault;
use crate::store::record::damaged;
use ::redb::{CommitError, DatabaseError, StorageError, TableError, TransactionError};
use std::any::Any;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A fault, and what it says of the file.
#[derive(Debug)]
pub(super) struct Trouble {
    /// For the caller.
    pub fault: Fault,
    /// Whether it comes from redb, and not from what a record holds.
    pub of_redb: bool,
    /// Whether the file must be opened again before anything else.
    pub closes: bool,
}

impl Trouble {
    /// Whatever redb says while it writes, the file must be opened again: it may refuse writes, or
    /// have dropped what it knew of its free pages.
    pub fn in_commit(why: impl Into<Trouble>) -> Self {
        let trouble = why.into();
        Self { closes: trouble.of_redb, ..trouble }
    }
}

impl From<Fault> for Trouble {
    fn from(fault: Fault) -> Self {
        Self { fault, of_redb: false, closes: false }
    }
}

impl From<::redb::Error> for Trouble {
    fn from(why: ::redb::Error) -> Self {
        match why {
            ::redb::Error::Corrupted(why) => {
                Self { fault: damaged("the file", why), of_redb: true, closes: false }
            }
            why => {
                let fault = Fault::Unavailable(format!("{why}; see to the disk"));
                Self { fault, of_redb: true, closes: true }
            }
        }
    }
}

macro_rules! from_redb {
    ($($error:ty),*) => {
        $(impl From<$error> for Trouble {
            fn from(why: $error) -> Self {
                ::redb::Error::from(why).into()
            }
        })*
    };
}

from_redb!(CommitError, DatabaseError, StorageError, TableError, TransactionError, io::Error);

/// Works, and turns a panic into trouble: redb says of itself that it may panic on a file that was
/// changed behind its back.
pub(super) fn without_panic<T>(work: impl FnOnce() -> Result<T, Trouble>) -> Result<T, Trouble> {
    // Nothing that the panic left half done is used again: the file is closed for it.
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let fault = damaged("the file", sentence(&*panic));
        Err(Trouble { fault, of_redb: true, closes: true })
    })
}

fn sentence(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "a panic".into())
}
