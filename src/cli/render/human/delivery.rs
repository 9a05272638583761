//! What is on its way to an asker, for people.

use super::{BOLD, PLAIN, barred, future, millis};
use crate::ask::text::visible_line;
use crate::grpc::v1;
use std::borrow::Cow;

/// One delivery: whose it is, until when, and what a language model is told of it.
pub fn delivery(
    delivery: &v1::Delivery,
    until: Option<prost_types::Timestamp>,
    now: i64,
) -> String {
    let kind = if delivery.turn.is_some() { "a turn" } else { "the outcome" };
    let ask = delivery.ask.as_ref();
    let of = ask.and_then(|ask| ask.asker.as_ref());
    let agent = of.map_or(Cow::Borrowed("somebody"), |asker| visible_line(&asker.agent));
    let mut text = format!("{BOLD}{}{PLAIN}  {kind}, for {agent}", visible_line(&delivery.id));
    if !delivery.lease_token.is_empty() {
        let token = visible_line(&delivery.lease_token);
        text.push_str(&format!(", yours with {token} until that is over {}", future(until, now)));
    } else if let Some(lease) = ask.and_then(|ask| in_force(ask.lease.as_ref(), now)) {
        let who = holder(lease);
        text.push_str(&format!(", in hand of {who}, over {}", future(lease.expire_time, now)));
    }
    if !delivery.follow_up.is_empty() {
        text.push('\n');
        text.push_str(&barred(delivery.follow_up.trim_end()));
    }
    text
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
