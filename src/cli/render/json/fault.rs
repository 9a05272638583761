//! The documented shape of why a verb failed.

use serde::Serialize;

#[derive(Serialize)]
pub struct Failed<'a> {
    pub error: Fault<'a>,
}

#[derive(Serialize)]
pub struct Fault<'a> {
    pub reason: &'a str,
    pub message: &'a str,
    pub fields: Vec<Field<'a>>,
    pub next: Option<&'a str>,
}

#[derive(Serialize)]
pub struct Field<'a> {
    pub field: &'a str,
    pub description: &'a str,
}
