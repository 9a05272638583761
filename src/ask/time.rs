//! Instants and lengths of time, as data. No clock is read here: time arrives with each command.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::Add;
use std::time::Duration;

/// An instant in service time: milliseconds since 1970-01-01T00:00:00Z.
///
/// Service time is made by [`engine::clock`](crate::engine::clock) and never goes back for a store.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Timestamp(u64);

impl Timestamp {
    /// The instant `millis` milliseconds after the epoch.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis)
    }

    /// Milliseconds since the epoch.
    pub const fn as_millis(self) -> u64 {
        self.0
    }

    /// How long after `earlier` this instant is; zero when it is not after it.
    pub fn since(self, earlier: Timestamp) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
}

impl Add<Span> for Timestamp {
    type Output = Timestamp;

    fn add(self, span: Span) -> Timestamp {
        Timestamp(self.0.saturating_add(span.0))
    }
}

/// A length of time in milliseconds.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Span(u64);

impl Span {
    /// `millis` milliseconds.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis)
    }

    /// `secs` seconds.
    pub const fn from_secs(secs: u64) -> Self {
        Self(secs * 1_000)
    }

    /// `minutes` minutes.
    pub const fn from_mins(minutes: u64) -> Self {
        Self(minutes * 60_000)
    }

    /// `hours` hours.
    pub const fn from_hours(hours: u64) -> Self {
        Self(hours * 3_600_000)
    }

    /// `days` days of 24 hours.
    pub const fn from_days(days: u64) -> Self {
        Self(days * 86_400_000)
    }

    /// Milliseconds.
    pub const fn as_millis(self) -> u64 {
        self.0
    }
}

impl Add for Span {
    type Output = Span;

    fn add(self, other: Span) -> Span {
        Span(self.0.saturating_add(other.0))
    }
}

impl From<Span> for Duration {
    fn from(span: Span) -> Duration {
        Duration::from_millis(span.0)
    }
}

impl From<Duration> for Span {
    /// Rounds down to a millisecond; a length beyond `u64` milliseconds becomes the longest one.
    fn from(duration: Duration) -> Span {
        Span(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX))
    }
}

/// The present, as a decision sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Now {
    /// Service time.
    pub time: Timestamp,
    /// The end of the last gap (a time in which nothing ran); a person's window counts from here.
    pub awake_since: Timestamp,
}

impl Now {
    /// A present without a gap behind it: for tests, and for stores that have just been made.
    pub fn at(time: Timestamp) -> Self {
        Self { time, awake_since: Timestamp::from_millis(0) }
    }
}

impl fmt::Display for Span {
    /// As people write it: `15m`, `1h 30m`, `45s`, `250ms`. At most the two largest units.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [(u64, &str); 5] =
            [(86_400_000, "d"), (3_600_000, "h"), (60_000, "m"), (1_000, "s"), (1, "ms")];
        if self.0 == 0 {
            return f.write_str("0s");
        }
        let mut rest = self.0;
        let mut written = 0;
        for (size, unit) in UNITS {
            let count = rest / size;
            rest %= size;
            if count == 0 {
                if written > 0 {
                    break;
                }
                continue;
            }
            if written > 0 {
                f.write_str(" ")?;
            }
            write!(f, "{count}{unit}")?;
            written += 1;
            if written == 2 || unit == "s" {
                break;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_added_and_are_lengths_of_the_systems() {
        let (minute, hour) = (Span::from_mins(1), Span::from_hours(1));
        assert_eq!((minute + hour).as_millis(), 3_660_000);
        assert_eq!(Span::from_days(2).as_millis(), 172_800_000);
        assert_eq!(Duration::from(minute), Duration::from_secs(60));
        assert_eq!(Span::from(Duration::from_micros(1_999)), Span::from_millis(1));
        assert_eq!(Span::from(Duration::MAX), Span::from_millis(u64::MAX));
    }

    #[test]
    fn spans_read_as_people_write_them() {
        let cases = [
            (0, "0s"),
            (250, "250ms"),
            (1_500, "1s"),
            (60_000, "1m"),
            (900_000, "15m"),
            (5_400_000, "1h 30m"),
            (90_061_000, "1d 1h"),
            (86_400_001, "1d"),
        ];
        for (millis, text) in cases {
            assert_eq!(Span::from_millis(millis).to_string(), text);
        }
    }
}
