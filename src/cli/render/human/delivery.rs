//! What is on its way to an asker, for people.

use super::page::Page;
use super::table::Table;
use super::{BOLD, FAINT, PLAIN, future, millis};
use crate::ask::text::visible_line;
use crate::cli::look::Look;
use crate::cli::render::lay::wrap;
use crate::grpc::v1;
use std::borrow::Cow;

/// Columns below which a delivery's name alone stands in its line.
const NARROW: usize = 60;

/// What is unread, a line each: its id, what it is, for whom, in whose hand.
pub fn deliveries(all: &[v1::Delivery], now: i64, look: Look) -> String {
    let narrow = look.terminal && look.width < NARROW;
    let heads: &[&str] = match narrow {
        true => &["DELIVERY"],
        false => &["DELIVERY", "WHAT", "FOR", "IN HAND OF"],
    };
    let mut table = Table::new(look, heads);
    for delivery in all {
        let ask = delivery.ask.as_ref();
        let lease = ask.and_then(|ask| in_force(ask.lease.as_ref(), now));
        let hand = lease
            .map(|lease| format!("{}, over {}", holder(lease), future(lease.expire_time, now)))
            .unwrap_or_else(|| "nobody".to_owned());
        let (id, kind, agent) = (visible_line(&delivery.id), kind(delivery), agent(delivery));
        if narrow {
            let below = format!("{FAINT}{kind}, for {agent}, in hand of {hand}{PLAIN}");
            table.row(vec![id.into_owned()], wrap(&below, look.width, "  ", "  "));
        } else {
            let cells = vec![id.into_owned(), kind.to_owned(), agent.into_owned(), hand];
            table.row(cells, Vec::new());
        }
    }
    table.lines().join("\n")
}

fn kind(delivery: &v1::Delivery) -> &'static str {
    if delivery.turn.is_some() { "a turn" } else { "the outcome" }
}

fn agent(delivery: &v1::Delivery) -> Cow<'_, str> {
    let of = delivery.ask.as_ref().and_then(|ask| ask.asker.as_ref());
    of.map_or(Cow::Borrowed("somebody"), |asker| visible_line(&asker.agent))
}

/// One delivery: whose it is, until when, and what a language model is told of it.
pub fn delivery(
    delivery: &v1::Delivery,
    until: Option<prost_types::Timestamp>,
    now: i64,
    look: Look,
) -> String {
    let (kind, agent) = (kind(delivery), agent(delivery));
    let ask = delivery.ask.as_ref();
    let mut page = Page::new(look);
    let mut text = format!("{BOLD}{}{PLAIN}  {kind}, for {agent}", visible_line(&delivery.id));
    if !delivery.lease_token.is_empty() {
        let token = visible_line(&delivery.lease_token);
        text.push_str(&format!(", yours with {token} until that is over {}", future(until, now)));
    } else if let Some(lease) = ask.and_then(|ask| in_force(ask.lease.as_ref(), now)) {
        let who = holder(lease);
        text.push_str(&format!(", in hand of {who}, over {}", future(lease.expire_time, now)));
    }
    page.own(&text);
    if !delivery.follow_up.is_empty() {
        page.theirs(delivery.follow_up.trim_end());
    }
    page.into_text()
}

/// Whether the asker has an outcome.
pub(super) fn delivered(delivery: &v1::DeliveryStatus, now: i64) -> String {
    match delivery.state() {
        v1::DeliveryState::Unread => match in_force(delivery.lease.as_ref(), now) {
            None => "the asker has yet to see it".to_owned(),
            Some(lease) => {
                let who = holder(lease);
                let until = future(lease.expire_time, now);
                format!("{who} has it in hand for the asker; that is over {until}")
            }
        },
        v1::DeliveryState::Acknowledged => "the asker has it".to_owned(),
        v1::DeliveryState::Undeliverable => {
            format!("it cannot be delivered: {}", visible_line(&delivery.reason))
        }
        v1::DeliveryState::Unspecified => "delivery unknown".to_owned(),
    }
}

/// A lease that is over is nobody's.
fn in_force(lease: Option<&v1::Lease>, now: i64) -> Option<&v1::Lease> {
    lease.filter(|lease| millis(lease.expire_time) > now)
}

fn holder(lease: &v1::Lease) -> Cow<'_, str> {
    match lease.holder.as_str() {
        "" => Cow::Borrowed("a worker"),
        holder => visible_line(holder),
    }
}
