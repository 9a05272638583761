//! The tests that see the program from outside its modules, in one binary so that they link once.

mod bench;
mod faults;
mod matrix;
mod orphans;
mod races;
mod rules;
mod sessions;
mod watches;
mod wire;
