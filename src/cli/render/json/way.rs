//! The documented shape of an ask's way: its route, hop by hop. The ask's: [`super::shapes`].

use super::shapes::{WaitingOn, time};
use crate::cli::render::route;
use crate::grpc::v1;
use serde::Serialize;

/// One hop. `state` is `past`, `passed_over`, `now`, `to_come` or `never_asked`; times are when it was
/// asked, or will be at the latest; `reason` is why the ask left it, or passed over it.
#[derive(Serialize)]
pub struct Stage<'a> {
    pub index: usize,
    pub to: Option<WaitingOn<'a>>,
    pub state: &'static str,
    pub from_time: Option<String>,
    pub until_time: Option<String>,
    pub timeout_seconds: Option<i64>,
    pub reason: Option<&'a str>,
}

/// The whole way; with `events` also the times of all that is past.
pub fn stages<'a>(ask: &'a v1::Ask, events: &'a [v1::Event]) -> Vec<Stage<'a>> {
    let stages = route::stages(ask, events).into_iter().map(|stage| Stage {
        index: stage.index,
        to: stage.to.and_then(WaitingOn::of),
        state: stage.state.word(),
        from_time: instant(stage.from),
        until_time: instant(stage.until),
        timeout_seconds: stage.timeout.map(|millis| millis / 1_000),
        reason: stage.why,
    });
    stages.collect()
}

/// When it comes to people.
pub fn people_time(ask: &v1::Ask) -> Option<String> {
    instant(route::arrival(ask).map(|(at, ..)| at))
}

fn instant(millis: Option<i64>) -> Option<String> {
    let millis = millis?;
    let nanos = millis.rem_euclid(1_000) as i32 * 1_000_000;
    time(Some(prost_types::Timestamp { seconds: millis.div_euclid(1_000), nanos }))
}
