//! How old a request id is, and for how long what became of it is remembered.

use super::RequestId;
use crate::ask::{Timestamp, limits};

impl RequestId {
    /// Until when what became of it is remembered at least, where that was committed at `time`. It is
    /// refused as too old by when it was made, so one from a clock that is ahead is remembered for as
    /// long as it is good, within reason.
    pub fn remembered_until(&self, time: Timestamp) -> Timestamp {
        let made = self.made_at().unwrap_or_default().min(time + limits::KEEP_MAX);
        time.max(made) + limits::RECEIPT_KEEP
    }

    /// Whether it was made too long ago to tell what became of it (rule 7).
    pub fn is_too_old(&self, now: Timestamp) -> bool {
        self.made_at().is_some_and(|made| made + limits::RECEIPT_KEEP <= now)
    }

    /// When it was made, by its maker's clock, where it is a UUID of version 7.
    pub fn made_at(&self) -> Option<Timestamp> {
        let text = self.as_str();
        let hyphens = [8, 13, 18, 23];
        let shaped = text.len() == 36
            && text.bytes().enumerate().all(|(place, byte)| match hyphens.contains(&place) {
                true => byte == b'-',
                false => byte.is_ascii_hexdigit(),
            });
        if !shaped || text.as_bytes()[14] != b'7' {
            return None;
        }
        let millis = u64::from_str_radix(&format!("{}{}", &text[..8], &text[9..13]), 16);
        millis.ok().map(Timestamp::from_millis)
    }
}
