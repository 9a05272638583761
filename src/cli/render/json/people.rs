//! The documented shapes of people and tokens.

use super::shapes::{By, time};
use crate::cli::render::words;
use crate::grpc::v1;
use serde::Serialize;

#[derive(Serialize)]
pub struct Person<'a> {
    pub name: &'a str,
    pub by: Option<By<'a>>,
    pub create_time: Option<String>,
}

#[derive(Serialize)]
pub struct Namespace<'a> {
    pub name: &'a str,
    pub people: usize,
    pub tokens: usize,
}

#[derive(Serialize)]
pub struct Token<'a> {
    pub id: &'a str,
    pub person: Option<&'a str>,
    pub host: Option<&'a str>,
    pub note: &'a str,
    pub by: Option<By<'a>>,
    pub create_time: Option<String>,
    pub expire_time: Option<String>,
    pub assurance: Option<&'static str>,
    pub from: Option<&'a str>,
    pub in_agent: bool,
}

#[derive(Serialize)]
pub struct Made<'a> {
    pub result: &'static str,
    pub replayed: bool,
    pub reason: Option<&'a str>,
    pub token: Option<Token<'a>>,
    pub secret: Option<&'a str>,
}

impl<'a> Person<'a> {
    pub fn of(person: &'a v1::Person) -> Self {
        let by = person.by.as_ref().and_then(By::of);
        Self { name: &person.name, by, create_time: time(person.create_time) }
    }
}

impl<'a> Token<'a> {
    pub fn of(token: &'a v1::Token) -> Self {
        use v1::token::Principal;
        let (person, host) = match &token.principal {
            Some(Principal::Person(name)) => (Some(name.as_str()), None),
            Some(Principal::Host(name)) => (None, Some(name.as_str())),
            None => (None, None),
        };
        Self {
            id: &token.id,
            person,
            host,
            note: &token.note,
            by: token.by.as_ref().and_then(By::of),
            create_time: time(token.create_time),
            expire_time: time(token.expire_time),
            assurance: words::assurance(token.assurance()),
            from: Some(token.from_token_id.as_str()).filter(|id| !id.is_empty()),
            in_agent: token.in_agent,
        }
    }
}
