//! redb
pub struct Redb;
