//! Which asks to list or to watch, and how many at a time.

use super::{Fields, too_long};
use crate::ask::{Timestamp, limits};
use crate::grpc::v1;
use crate::service::{AskFilter, AskScope, PAGE, PAGE_MAX, Way};
use std::str::FromStr;

impl Fields {
    pub(in crate::grpc) fn scope(&mut self, scope: i32) -> Option<AskScope> {
        match v1::AskScope::try_from(scope) {
            Ok(v1::AskScope::Unspecified | v1::AskScope::WaitingOnMe) => {
                Some(AskScope::WaitingOnMe)
            }
            Ok(v1::AskScope::Mine) => Some(AskScope::Mine),
            Ok(v1::AskScope::Visible) => Some(AskScope::Visible),
            Err(_) => self.wrong("scope", "must be waiting on me, mine or visible"),
        }
    }

    pub(in crate::grpc) fn filter(&mut self, filter: v1::AskFilter) -> Option<AskFilter> {
        let outcome = match v1::OutcomeKind::try_from(filter.outcome) {
            Ok(v1::OutcomeKind::Unspecified) => Some(None),
            Ok(v1::OutcomeKind::Answered) => Some(Some(Way::Answered)),
            Ok(v1::OutcomeKind::Declined) => Some(Some(Way::Declined)),
            Ok(v1::OutcomeKind::Expired) => Some(Some(Way::Expired)),
            Ok(v1::OutcomeKind::Withdrawn) => Some(Some(Way::Withdrawn)),
            Ok(v1::OutcomeKind::Abandoned) => Some(Some(Way::Abandoned)),
            Err(_) => self.wrong("filter.outcome", "must be a way an ask ends"),
        };
        let asker = self.optional("filter.asker_session_id", &filter.asker_session_id);
        let session = self.optional("filter.waiting_on_session_id", &filter.waiting_on_session_id);
        let person = self.optional("filter.waiting_on_person", &filter.waiting_on_person);
        let tree = self.optional("filter.tree_work_id", &filter.tree_work_id);
        let from = self.time("filter.create_time_from", filter.create_time_from);
        let until = self.time("filter.create_time_until", filter.create_time_until);
        if filter.text.len() > limits::HEADER_BYTES {
            self.wrong::<()>("filter.text", too_long(&filter.text, limits::HEADER_BYTES));
        }
        Some(AskFilter {
            settled: filter.settled,
            outcome: outcome?,
            asker: asker?,
            waiting_on_session: session?,
            waiting_on_person: person?,
            tree: tree?,
            from: from?,
            until: until?,
            text: Some(filter.text).filter(|text| !text.is_empty()),
        })
    }

    /// An instant; unset is none.
    fn time(
        &mut self,
        field: &str,
        time: Option<prost_types::Timestamp>,
    ) -> Option<Option<Timestamp>> {
        let Some(time) = time else { return Some(None) };
        let millis = u64::try_from(time.seconds).ok().and_then(|seconds| {
            seconds.checked_mul(1_000)?.checked_add(u64::try_from(time.nanos).ok()? / 1_000_000)
        });
        match millis {
            Some(millis) => Some(Some(Timestamp::from_millis(millis))),
            None => self.wrong(field, "must be a time since 1970"),
        }
    }

    /// A page's size; 0 is as many as where nothing is said.
    pub(in crate::grpc) fn page_size(&mut self, size: u32) -> Option<usize> {
        match size as usize {
            0 => Some(PAGE),
            size if size <= PAGE_MAX => Some(size),
            _ => self.wrong("page_size", format!("must be 1 to {PAGE_MAX}, or 0 for {PAGE}")),
        }
    }

    /// Where a page begins; empty is the first. A token is the last id of the page before.
    pub(in crate::grpc) fn page_token<T: FromStr>(&mut self, token: &str) -> Option<Option<T>> {
        match token.parse() {
            _ if token.is_empty() => Some(None),
            Ok(last) => Some(Some(last)),
            Err(_) => self.wrong("page_token", "must be the next_page_token of the page before"),
        }
    }
}
