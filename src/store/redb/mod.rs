//! redb
