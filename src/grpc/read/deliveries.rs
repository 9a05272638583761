//! Which delivery, and who takes it for how long.

use super::Fields;
use crate::ask::text::is_one_safe_line;
use crate::ask::{AskId, LeaseId, limits};
use crate::grpc::v1;
use crate::service::{TAKE_MAX, Worker};

impl Fields {
    /// `dlv_`, the ask's 20 characters, `_`, and the revision.
    pub(in crate::grpc) fn delivery(&mut self, id: &str) -> Option<(AskId, u64)> {
        let parts = id.strip_prefix(DELIVERY).and_then(|rest| rest.split_once('_'));
        let read = parts.and_then(|(ask, revision)| {
            let ask = format!("{}{ask}", AskId::PREFIX).parse().ok()?;
            Some((ask, revision.parse().ok()?))
        });
        match read {
            Some(delivery) => Some(delivery),
            None => self.wrong("delivery_id", "must be a delivery's id, as it was offered"),
        }
    }
    /// How many asks' deliveries are taken; 0 is one.
    pub(in crate::grpc) fn take_max(&mut self, max: u32) -> Option<usize> {
        match max as usize {
            0 => Some(1),
            max if max <= TAKE_MAX => Some(max),
            _ => self.wrong("max", format!("must be 1 to {TAKE_MAX}, or 0 for 1")),
        }
    }

    /// Who takes deliveries, for how long.
    pub(in crate::grpc) fn worker(
        &mut self,
        lease: Option<prost_types::Duration>,
        holder: String,
    ) -> Option<Worker> {
        let length = lease.map_or(Some(limits::LEASE), |lease| self.span("lease", lease));
        if !length.is_none_or(|length| (limits::LEASE_MIN..=limits::LEASE_MAX).contains(&length)) {
            let bounds = format!("must be from {} to {}", limits::LEASE_MIN, limits::LEASE_MAX);
            self.wrong::<()>("lease", bounds);
        }
        if holder.len() > limits::HOLDER_BYTES || !is_one_safe_line(&holder) {
            let must = format!("must be one line of at most {} bytes", limits::HOLDER_BYTES);
            self.wrong::<()>("holder", must);
        }
        Some(Worker { length: length?, holder })
    }

    /// Leases that are to hold for longer.
    pub(in crate::grpc) fn leases(
        &mut self,
        extend: Vec<v1::ExtendedLease>,
    ) -> Option<Vec<(AskId, LeaseId)>> {
        if extend.len() > TAKE_MAX {
            return self.wrong("extend", format!("must be at most {TAKE_MAX} leases"));
        }
        let mut leases = Vec::with_capacity(extend.len());
        for (place, one) in extend.into_iter().enumerate() {
            let ask = self.text(&format!("extend[{place}].ask_id"), &one.ask_id);
            let lease = self.text(&format!("extend[{place}].lease_token"), &one.lease_token);
            leases.push(ask.zip(lease));
        }
        leases.into_iter().collect()
    }
}

/// What every delivery's id begins with.
const DELIVERY: &str = "dlv_";

/// The id of the delivery of `revision` of `ask`: the same each time it is offered.
pub fn delivery_id(ask: &str, revision: u64) -> String {
    let characters = ask.strip_prefix(AskId::PREFIX).unwrap_or(ask);
    format!("{DELIVERY}{characters}_{revision}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delivery_id_reads_back() {
        let id = AskId::new(crate::ask::Timestamp::from_millis(7), [9; 6]);
        let text = delivery_id(&id.to_string(), 12);
        assert_eq!(Fields::default().delivery(&text), Some((id, 12)));
        for bad in ["", "dlv_", "dlv_x_1", &text[..20], &format!("{text}x")] {
            assert_eq!(Fields::default().delivery(bad), None, "{bad}");
        }
    }
}
