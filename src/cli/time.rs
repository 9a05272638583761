//! Lengths of time and instants, as people type and read them.

use crate::ask::Span;
use jiff::SpanRelativeTo;
use std::time::Duration;

/// Reads `90s`, `15m`, `1h 30m`, `2d`.
///
/// # Errors
///
/// A sentence that says how it is written.
pub fn parse(text: &str) -> Result<Duration, String> {
    let wrong = || format!("`{text}` is not a length of time; write 90s, 15m, 1h 30m or 2d");
    let span: jiff::Span = text.parse().map_err(|_| wrong())?;
    let duration = span.to_duration(SpanRelativeTo::days_are_24_hours()).map_err(|_| wrong())?;
    Duration::try_from(duration).map_err(|_| wrong())
}

/// An instant of the wire.
pub fn instant(time: &prost_types::Timestamp) -> jiff::Timestamp {
    jiff::Timestamp::new(time.seconds, time.nanos).unwrap_or_default()
}

/// For programs: RFC 3339 in UTC, to the millisecond.
pub fn exact(time: &prost_types::Timestamp) -> String {
    instant(time).strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}

/// For people: `3m ago`, `in 12m`, `just now`.
pub fn relative(time: &prost_types::Timestamp) -> String {
    let away = instant(time).as_millisecond() - jiff::Timestamp::now().as_millisecond();
    let span = Span::from_millis(away.unsigned_abs());
    match away {
        -999..=999 => "just now".to_owned(),
        1_000.. => format!("in {span}"),
        _ => format!("{span} ago"),
    }
}

/// For people: the hour and minute where they are, with the zone.
pub fn clock(time: &prost_types::Timestamp) -> String {
    let zoned = instant(time).to_zoned_datetime(jiff::tz::TimeZone::system());
    zoned.strftime("%Y-%m-%d %H:%M:%S %Z").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_read_as_people_type_them() {
        let cases =
            [("90s", 90), ("15m", 900), ("1h 30m", 5_400), ("2d", 172_800), ("10 minutes", 600)];
        for (text, seconds) in cases {
            assert_eq!(parse(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        for bad in ["", "15", "soon", "-5m", "1mo"] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn instants_are_exact_for_programs() {
        let time = prost_types::Timestamp { seconds: 1_800_000_000, nanos: 5_000_000 };
        assert_eq!(exact(&time), "2027-01-15T08:00:00.005Z");
    }
}
