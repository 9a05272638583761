//! The tests that see the program from outside its modules, in one binary so that they link once.

mod assurance;
mod bench;
mod cases;
mod declines;
mod defaults;
mod deliveries;
mod faults;
mod golden;
mod hosts;
mod limits;
mod lists;
mod matrix;
mod notices;
mod once;
mod orphans;
mod purge;
mod races;
#[path = "../shared/raw.rs"]
mod raw;
mod records;
mod replicas;
mod routes;
#[path = "../shared/rows.rs"]
mod rows;
mod rules;
mod sessions;
mod stale;
mod transport;
mod watches;
mod wire;
